"""The SDK against a service that drops connections, repeats or omits events, and returns errors."""

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

#: Short delays.
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
    """Return the ids of the received events."""
    return [event.id for event in client.events("sub_1", **options)]


def problem(status: int, **fields: str) -> tuple[int, bytes]:
    """Return a problem+json response."""
    return status, json.dumps(fields).encode()


def test_a_kernel_is_submitted_and_followed_to_its_result(stub: StubService) -> None:
    """`submit_hip_kernel` sends its arguments, calls `on_event` for each event and returns the verdict."""
    statuses: list[str] = []
    result = sdk.submit_hip_kernel(
        "code", problem="leaky-relu", url=stub.url, on_event=lambda event: statuses.append(event.status)
    )
    assert statuses == ["IN_QUEUE", "XRAY", "VM_READY", "CHECKED", "ACCEPTED"]
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


def test_a_wrong_kernel_is_not_an_exception(stub: StubService) -> None:
    """The result has the code, message and hint of the verdict."""
    stub.events = events_of(
        "IN_QUEUE", "WRONG_ANSWER", code="WRONG_OUTPUT", message="6 of 13 are off", hint="look"
    )
    result = sdk.submit_hip_kernel("code", problem="leaky-relu", url=stub.url)
    assert not result.is_success
    assert (result.code, result.message, result.hint) == ("WRONG_OUTPUT", "6 of 13 are off", "look")


def test_a_retried_submit_creates_one_submission(stub: StubService, client: Client) -> None:
    """After a lost response the request is sent again with the same idempotency key."""
    stub.drops = 2
    assert client.submit("code", problem="relu") == "sub_1"
    assert len(stub.requests) == 3
    assert len(stub.keys) == 1


def test_two_submits_are_two_submissions(client: Client) -> None:
    """Each call has its own idempotency key."""
    assert client.submit("code", problem="relu") != client.submit("code", problem="relu")


@pytest.mark.parametrize("is_clean", [False, True])
@pytest.mark.parametrize("count", range(5))
@pytest.mark.parametrize("then", [b"", encode(STREAM[4])[:20]], ids=["whole", "half"])
def test_a_dropped_stream_loses_and_repeats_no_event(
    stub: StubService, client: Client, count: int, then: bytes, *, is_clean: bool
) -> None:
    """Wherever the stream is cut, even within an event, it resumes after the last complete event."""
    stub.parts.append(Part(count=count, then=then, is_clean=is_clean))
    assert ids(client) == [1, 2, 3, 4, 5]
    assert stub.resumed_from() == [0, count]


def test_progress_resets_the_retries(stub: StubService, client: Client) -> None:
    """A stream that is cut after every event is followed to its end, whatever the number of retries."""
    stub.events = events_of(*["TEST_RESULT"] * 19, "ACCEPTED")
    stub.parts = deque([Part(count=1)] * 19)
    assert ids(client) == list(range(1, 21))


def test_retries_without_progress_are_limited(stub: StubService, client: Client) -> None:
    """A service that drops every connection is unreachable."""
    stub.parts = deque([Part(count=0)] * 100)
    with pytest.raises(errors.ServerUnreachable):
        ids(client)
    assert len(stub.resumed_from()) == QUICK.attempts + 1


def test_repeated_events_are_dropped(stub: StubService, client: Client) -> None:
    """A service that replays more than requested causes no duplicates."""
    stub.parts.extend([Part(count=3), Part(count=3, back=2)])
    assert ids(client) == [1, 2, 3, 4, 5]


def test_a_gap_is_requested_again(stub: StubService, client: Client) -> None:
    """An omitted event is not skipped."""
    stub.parts.append(Part(skip=2))
    assert ids(client) == [1, 2, 3, 4, 5]
    assert stub.resumed_from() == [0, 0]


def test_a_stream_begins_after_any_event(stub: StubService, client: Client) -> None:
    """`after` skips the events up to an id."""
    assert ids(client, after=3) == [4, 5]


def test_a_check_ends_with_checked(stub: StubService, client: Client) -> None:
    """CHECKED ends `checker` but not `submit`, so the client asks the service for the state."""
    stub.events, stub.endpoint = events_of("IN_QUEUE", "CHECKED"), "checker"
    assert ids(client) == [1, 2]
    assert stub.resumed_from() == [0]


def test_output_cannot_break_the_stream(stub: StubService, client: Client) -> None:
    """Unicode line separators within a line are text."""
    output = "one\u2028two\x85three\x0bfour"
    stub.events = events_of("ACCEPTED", output=output)
    assert [event.fields["output"] for event in client.events("sub_1")] == [output]


def test_a_restarting_service_is_retried(stub: StubService, client: Client) -> None:
    """503 and a proxy's 502 are retried, for streams as well."""
    stub.answers["/metrics"] = METRICS
    stub.refusals.extend([problem(503, code="STORE_UNAVAILABLE"), (502, b"<html>Bad Gateway</html>")])
    assert client.metrics().active_vms == 1
    stub.refusals.append(problem(503, code="STORE_UNAVAILABLE"))
    assert ids(client) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("answer", "kind", "code"),
    [
        (problem(422, code="BAD_REQUEST", detail="no"), errors.BadRequest, "BAD_REQUEST"),
        (problem(401, code="NOT_AUTHENTICATED"), errors.NotAuthenticated, "NOT_AUTHENTICATED"),
        (problem(402, code="BUDGET_EXCEEDED"), errors.BudgetExceeded, "BUDGET_EXCEEDED"),
        (problem(404, code="UNKNOWN_PROBLEM"), errors.UnknownProblem, "UNKNOWN_PROBLEM"),
        (problem(429, code="RATE_LIMIT_EXCEEDED"), errors.RateLimitExceeded, "RATE_LIMIT_EXCEEDED"),
        (problem(418, code="TEAPOT"), errors.UsageError, "TEAPOT"),
        (problem(500, code="INTERNAL"), errors.InfrastructureError, "INTERNAL"),
        ((500, b"<html>"), errors.InfrastructureError, "INFRASTRUCTURE"),
        ((404, b"[]"), errors.UsageError, "USAGE"),
    ],
)
def test_an_error_response_raises_the_error_of_its_code(
    stub: StubService, client: Client, answer: tuple[int, bytes], kind: type[Exception], code: str
) -> None:
    """An unknown code is raised as `UsageError` or `InfrastructureError`, by status, and keeps its code."""
    stub.refusals.append(answer)
    with pytest.raises(errors.WarmfrontError) as caught:
        client.submit("code", problem="relu")
    assert type(caught.value) is kind
    assert caught.value.code == code
    assert len(stub.requests) == 1


def test_an_error_keeps_its_message_and_hint(stub: StubService, client: Client) -> None:
    """They are those of the service."""
    stub.refusals.append(problem(404, code="NOT_FOUND", detail="no such submission", hint="see ps"))
    with pytest.raises(errors.NotFound) as caught:
        ids(client)
    assert (caught.value.message, caught.value.hint) == ("no such submission", "see ps")


def test_an_unreachable_service_fails_without_retries() -> None:
    """The error has the address and a hint."""
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


def test_the_address_and_key_default_to_the_environment(
    stub: StubService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """WARMFRONT_URL and WARMFRONT_API_KEY are used; amounts are exact, and the schema version is sent."""
    stub.answers["/metrics"] = METRICS
    monkeypatch.setenv("WARMFRONT_URL", f"{stub.url}/")
    monkeypatch.setenv("WARMFRONT_API_KEY", "wf_1_secret")
    metrics = sdk.get_orchestrator_metrics()
    assert (metrics.total_cost_usd, metrics.remaining_credits_usd) == (Decimal("5.25"), Decimal("1394.75"))
    assert (metrics.credits_used_pct, metrics.warm_reuses) == (0.4, 39)
    _, _, headers, _ = stub.requests[0]
    assert headers["authorization"] == "Bearer wf_1_secret"
    assert headers["warmfront-version"] == "1"


@pytest.mark.parametrize(
    ("url", "key"), [("127.0.0.1:3000", None), ("ftp://x", None), ("http://", None), ("http://x", "a\nb")]
)
def test_an_invalid_address_or_key_is_rejected(url: str, key: str | None) -> None:
    """The error names the variable."""
    with pytest.raises(errors.BadSetting, match="WARMFRONT_"):
        Client(url, key)


def test_cancelling_twice_is_not_an_error(stub: StubService, client: Client) -> None:
    """A cancelled submission is returned; one with another verdict raises `Conflict`."""
    stub.events = events_of("IN_QUEUE", "CANCELLED")
    assert client.cancel("sub_1").verdict == "CANCELLED"
    stub.events = events_of("IN_QUEUE", "ACCEPTED")
    with pytest.raises(errors.Conflict):
        client.cancel("sub_1")


def test_the_sync_client_works_within_a_running_loop(stub: StubService) -> None:
    """A notebook has a running event loop."""

    async def in_a_notebook() -> list[int]:
        with Client(stub.url) as client:
            return ids(client)

    assert asyncio.run(in_a_notebook()) == [1, 2, 3, 4, 5]


def test_a_stream_can_be_closed_early(stub: StubService, client: Client) -> None:
    """The client can be used after closing an unfinished stream."""
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


def test_open_streams_do_not_block_other_requests(stub: StubService) -> None:
    """With 150 open streams, the same client can send other requests."""
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


def test_ctrl_c_interrupts_only_the_wait(stub: StubService, client: Client) -> None:
    """KeyboardInterrupt is raised in the caller, and the client can still be used."""
    stub.parts.append(Part(count=1, holds=True))
    events = client.events("sub_1")
    assert next(events).id == 1
    interrupt = threading.Thread(
        target=signal.pthread_kill, args=(threading.main_thread().ident, signal.SIGINT)
    )
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - the signal may arrive before or during the wait
        interrupt.start()
        next(events)
    interrupt.join()
    assert ids(client, after=4) == [5]


def test_an_unknown_verdict_is_an_error(stub: StubService, client: Client) -> None:
    """A verdict that only a newer service knows raises `InfrastructureError`."""
    stub.events = events_of("IN_QUEUE", "POSTPONED")
    with pytest.raises(errors.InfrastructureError, match="POSTPONED"):
        client.result("sub_1")
