"""The SDK against a service that cuts, doubles, leaves out and refuses."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import threading
from collections import deque
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.stub_service import Part, StubService, encode, events_of
from warmfront import client as sdk
from warmfront import errors
from warmfront.client import AsyncClient, Client, Retry

if TYPE_CHECKING:
    from collections.abc import Iterator

#: As patient as the default, but quick about it.
QUICK = Retry(attempts=5, first_s=0.001, most_s=0.002)
STREAM = events_of(
    "IN_QUEUE", "XRAY", "VM_READY", "CHECKED", "ACCEPTED", simulated=True, cost_usd=0.0331, avg_runtime_ms=1.5
)
STREAM[2]["vm_state"] = "WARM_REUSE"


@pytest.fixture(name="stub")
def _stub() -> Iterator[StubService]:
    with StubService(list(STREAM)) as stub:
        yield stub


@pytest.fixture(name="client")
def _client(stub: StubService) -> Iterator[Client]:
    with Client(stub.url, retry=QUICK) as client:
        yield client


def ids(client: Client, **options: Any) -> list[int]:
    """What came of a stream."""
    return [event.id for event in client.events("sub_1", **options)]


def refusal(status: int, **fields: str) -> tuple[int, bytes]:
    """A problem+json answer."""
    return status, json.dumps(fields).encode()


def test_a_kernel_is_submitted_and_followed_to_its_result(stub: StubService) -> None:
    """The plain function sends what it was given, tells each event, and returns the verdict."""
    told: list[str] = []
    result = sdk.submit_hip_kernel(
        "code", problem="leaky-relu", url=stub.url, on_event=lambda event: told.append(event.status)
    )
    assert told == ["IN_QUEUE", "XRAY", "VM_READY", "CHECKED", "ACCEPTED"]
    assert result.is_success
    assert (result.verdict, result.cost_usd, result.vm_state) == ("ACCEPTED", Decimal("0.0331"), "WARM_REUSE")
    method, path, _, body = stub.requests[0]
    assert (method, path) == ("POST", "/api/amd/submit")
    assert json.loads(body) == {
        "solution_code": "code",
        "problem": "leaky-relu",
        "gpu_type": "MI300X",
        "language": "hip",
        "endpoint": "submit",
    }


def test_a_wrong_kernel_is_a_result_and_no_exception(stub: StubService) -> None:
    """A verdict against the kernel comes with its code, message and hint."""
    stub.events = events_of(
        "IN_QUEUE", "WRONG_ANSWER", code="WRONG_OUTPUT", message="6 of 13 are off", hint="look"
    )
    result = sdk.submit_hip_kernel("code", problem="leaky-relu", url=stub.url)
    assert not result.is_success
    assert (result.code, result.message, result.hint) == ("WRONG_OUTPUT", "6 of 13 are off", "look")


def test_a_submit_that_was_cut_is_sent_again_and_makes_one_submission(
    stub: StubService, client: Client
) -> None:
    """The service took it and its answer was lost: the same key goes out again."""
    stub.drops = 2
    assert client.submit("code", problem="relu") == "sub_1"
    assert len(stub.requests) == 3
    assert len(stub.keys) == 1


def test_two_submits_are_two_submissions(client: Client) -> None:
    """The same code by hand twice is meant twice."""
    assert client.submit("code", problem="relu") != client.submit("code", problem="relu")


@pytest.mark.parametrize("is_clean", [False, True])
@pytest.mark.parametrize("count", range(5))
@pytest.mark.parametrize("then", [b"", encode(STREAM[4])[:20]], ids=["whole", "half"])
def test_no_cut_loses_or_doubles_an_event(
    stub: StubService, client: Client, count: int, then: bytes, *, is_clean: bool
) -> None:
    """After a cut anywhere, also within an event, the stream goes on behind the last whole one."""
    stub.parts.append(Part(count=count, then=then, is_clean=is_clean))
    assert ids(client) == [1, 2, 3, 4, 5]
    assert stub.resumed_from() == [0, count]


def test_a_cut_after_every_event_is_no_reason_to_give_up(stub: StubService, client: Client) -> None:
    """Progress starts the count of tries again: more cuts than tries are survived."""
    stub.events = events_of(*["TEST_RESULT"] * 19, "ACCEPTED")
    stub.parts = deque([Part(count=1)] * 19)
    assert ids(client) == list(range(1, 21))


def test_a_stream_without_progress_is_given_up(stub: StubService, client: Client) -> None:
    """Tries are bounded: a service that only ever cuts is unreachable."""
    stub.parts = deque([Part(count=0)] * 100)
    with pytest.raises(errors.ServerUnreachable):
        ids(client)
    assert len(stub.resumed_from()) == QUICK.attempts + 1


def test_events_that_come_again_are_told_once(stub: StubService, client: Client) -> None:
    """A service that replays more than was asked for doubles nothing."""
    stub.parts.extend([Part(count=3), Part(count=3, back=2)])
    assert ids(client) == [1, 2, 3, 4, 5]


def test_a_gap_is_asked_for_again(stub: StubService, client: Client) -> None:
    """An event that was left out is not passed over."""
    stub.parts.append(Part(skip=2))
    assert ids(client) == [1, 2, 3, 4, 5]
    assert stub.resumed_from() == [0, 0]


def test_a_stream_begins_after_any_event(stub: StubService, client: Client) -> None:
    """`after` leaves out what is known already."""
    assert ids(client, after=3) == [4, 5]


def test_a_check_ends_with_checked(stub: StubService, client: Client) -> None:
    """CHECKED is the verdict of `checker` and a step of `submit`: the service is asked which."""
    stub.events, stub.endpoint = events_of("IN_QUEUE", "CHECKED"), "checker"
    assert ids(client) == [1, 2]
    assert stub.resumed_from() == [0]


def test_what_a_kernel_printed_cannot_break_the_stream(stub: StubService, client: Client) -> None:
    """Unicode's own line ends within a line are text."""
    output = "one\u2028two\x85three\x0bfour"
    stub.events = events_of("ACCEPTED", output=output)
    assert [event.fields["output"] for event in client.events("sub_1")] == [output]


def test_a_service_on_its_way_back_is_waited_for(stub: StubService, client: Client) -> None:
    """503 and what proxies say meanwhile are asked again, for a stream too."""
    stub.answers["/metrics"] = METRICS
    stub.refusals.extend([refusal(503, code="STORE_UNAVAILABLE"), (502, b"<html>Bad Gateway</html>")])
    assert client.metrics().active_vms == 1
    stub.refusals.append(refusal(503, code="STORE_UNAVAILABLE"))
    assert ids(client) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("answer", "kind", "code"),
    [
        (refusal(422, code="BAD_REQUEST", detail="no"), errors.BadRequest, "BAD_REQUEST"),
        (refusal(401, code="NOT_AUTHENTICATED"), errors.NotAuthenticated, "NOT_AUTHENTICATED"),
        (refusal(402, code="BUDGET_EXCEEDED"), errors.BudgetExceeded, "BUDGET_EXCEEDED"),
        (refusal(404, code="UNKNOWN_PROBLEM"), errors.UnknownProblem, "UNKNOWN_PROBLEM"),
        (refusal(429, code="RATE_LIMIT_EXCEEDED"), errors.RateLimitExceeded, "RATE_LIMIT_EXCEEDED"),
        (refusal(418, code="TEAPOT"), errors.UsageError, "TEAPOT"),
        (refusal(500, code="INTERNAL"), errors.InfrastructureError, "INTERNAL"),
        ((500, b"<html>"), errors.InfrastructureError, "INFRASTRUCTURE"),
        ((404, b"[]"), errors.UsageError, "USAGE"),
    ],
)
def test_a_refusal_is_the_error_of_its_code(
    stub: StubService, client: Client, answer: tuple[int, bytes], kind: type[Exception], code: str
) -> None:
    """Known codes are their class; others are told apart by whose fault they are, and keep their code."""
    stub.refusals.append(answer)
    with pytest.raises(errors.WarmfrontError) as caught:
        client.submit("code", problem="relu")
    assert type(caught.value) is kind
    assert caught.value.code == code
    assert len(stub.requests) == 1


def test_a_refusal_keeps_its_words(stub: StubService, client: Client) -> None:
    """Message and hint are the service's own."""
    stub.refusals.append(refusal(404, code="NOT_FOUND", detail="no such submission", hint="see ps"))
    with pytest.raises(errors.NotFound) as caught:
        ids(client)
    assert (caught.value.message, caught.value.hint) == ("no such submission", "see ps")


def test_a_service_that_is_not_there_is_said_at_once() -> None:
    """Nobody waits for what was never started; the next step is in the hint."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        with Client(url) as client, pytest.raises(errors.ServerUnreachable) as caught:
            client.submit("code", problem="relu")
    assert url in caught.value.message
    assert "WARMFRONT_URL" in (caught.value.hint or "")


METRICS = {
    "total_cost_usd": 5.25,
    "remaining_credits_usd": 1394.75,
    "credits_used_pct": 0.4,
    "tasks_completed": 42,
    "cold_starts": 3,
    "warm_reuses": 39,
    "active_vms": 1,
}


def test_metrics_come_with_address_and_key_from_the_environment(
    stub: StubService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """WARMFRONT_URL and WARMFRONT_API_KEY are used where nothing is given; money is exact."""
    stub.answers["/metrics"] = METRICS
    monkeypatch.setenv("WARMFRONT_URL", f"{stub.url}/")
    monkeypatch.setenv("WARMFRONT_API_KEY", "wf_1_secret")
    metrics = sdk.get_orchestrator_metrics()
    assert (metrics.total_cost_usd, metrics.remaining_credits_usd) == (Decimal("5.25"), Decimal("1394.75"))
    assert (metrics.credits_used_pct, metrics.warm_reuses) == (0.4, 39)
    _, _, headers, _ = stub.requests[0]
    assert headers["authorization"] == "Bearer wf_1_secret"


@pytest.mark.parametrize(
    ("url", "key"), [("127.0.0.1:3000", None), ("ftp://x", None), ("http://", None), ("http://x", "a\nb")]
)
def test_an_address_or_key_that_cannot_be_one_is_refused(url: str, key: str | None) -> None:
    """The error names the variable."""
    with pytest.raises(errors.BadSetting, match="WARMFRONT_"):
        Client(url, key)


def test_cancelling_what_is_cancelled_is_no_error(stub: StubService, client: Client) -> None:
    """A cancel whose answer was lost, sent again; a verdict of its own is a conflict."""
    stub.events = events_of("IN_QUEUE", "CANCELLED")
    assert client.cancel("sub_1").verdict == "CANCELLED"
    stub.events = events_of("IN_QUEUE", "ACCEPTED")
    with pytest.raises(errors.Conflict):
        client.cancel("sub_1")


def test_the_plain_client_works_where_a_loop_runs_already(stub: StubService) -> None:
    """A notebook has an event loop of its own."""

    async def in_a_notebook() -> list[int]:
        with Client(stub.url) as client:
            return ids(client)

    assert asyncio.run(in_a_notebook()) == [1, 2, 3, 4, 5]


def test_a_stream_can_be_left_early(stub: StubService, client: Client) -> None:
    """Whoever saw enough closes it and goes on with the same client."""
    events = client.events("sub_1")
    assert next(events).id == 1
    events.close()
    assert ids(client, after=4) == [5]


def test_many_streams_share_an_async_client(stub: StubService) -> None:
    """One client follows any number of submissions at once."""

    async def follow() -> list[str]:
        async with AsyncClient(stub.url, retry=QUICK) as client:
            results = await asyncio.gather(*(client.result(f"sub_{n}") for n in range(20)))
            return [f"{result.submission_id} {result.verdict}" for result in results]

    assert asyncio.run(follow()) == [f"sub_{n} ACCEPTED" for n in range(20)]


def test_streams_that_stay_open_hold_up_nothing(stub: StubService) -> None:
    """With a hundred and more verdicts to wait for, the same client still gets its answers."""
    stub.parts = deque([Part(count=1, holds=True)] * 150)
    stub.answers["/metrics"] = METRICS

    async def ask_meanwhile() -> int:
        async with AsyncClient(stub.url, retry=QUICK) as client:
            streams = [client.events(f"sub_{n}") for n in range(150)]
            await asyncio.gather(*(anext(stream) for stream in streams))
            active = (await client.metrics()).active_vms
            await asyncio.gather(*(stream.aclose() for stream in streams))
            return active

    assert asyncio.run(ask_meanwhile()) == 1


def test_ctrl_c_ends_the_wait_and_nothing_else(stub: StubService, client: Client) -> None:
    """An interrupt while an event is awaited is the caller's; the client can be used on."""
    stub.parts.append(Part(count=1, holds=True))
    events = client.events("sub_1")
    assert next(events).id == 1
    interrupt = threading.Thread(
        target=signal.pthread_kill, args=(threading.main_thread().ident, signal.SIGINT)
    )
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - the signal may come before or while it waits
        interrupt.start()
        next(events)
    interrupt.join()
    assert ids(client, after=4) == [5]


def test_a_verdict_of_a_newer_service_is_said_to_be_one(stub: StubService, client: Client) -> None:
    """What this client does not know is no success and no crash."""
    stub.events = events_of("IN_QUEUE", "POSTPONED")
    with pytest.raises(errors.InfrastructureError, match="POSTPONED"):
        client.result("sub_1")
