"""Event streams over HTTP: resumed, kept awake, cut, read slowly; one client costs another nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.support.api_harness import Lab, parse_events, served
from warmfront.errors import StoreUnavailable
from warmfront.store.records import StoredEvent
from warmfront.testing.fake_listeners import Kernel


@served()
async def test_a_stream_has_the_form_of_server_sent_events(lab: Lab) -> None:
    """Each event: its id, its status as the event's name, its data in one line, id and time first."""
    body = (await lab.client.submit(accept="*/*", solution_code="// DOES_NOT_COMPILE\n")).body.decode()
    first = body.split("\n\n")[0].split("\n")
    assert first[:2] == ["id: 1", "event: IN_QUEUE"]
    assert first[2].startswith(
        'data: {"id":1,"time":"2023-11-14T22:13:20.000Z","schema":1,"status":"IN_QUEUE",'
    )
    assert len(first) == 3


@served()
async def test_proxies_are_told_not_to_buffer(lab: Lab) -> None:
    """The headers keep caches and nginx from holding events back."""
    headers = (await lab.client.submit(accept="*/*")).headers
    assert headers["x-accel-buffering"] == "no"
    assert "no-transform" in headers["cache-control"]


@pytest.mark.parametrize("after", [0, 1, 5])
def test_a_stream_goes_on_where_it_was_cut(after: int) -> None:
    """With Last-Event-ID or ?after= come exactly the events that were not seen; the header counts."""

    @served()
    async def ask(lab: Lab) -> None:
        whole = (await lab.client.submit(accept="*/*")).events()
        place = "/api/amd/submissions/sub_1/events"
        assert (await lab.client.get(place, last_event_id=str(after))).events() == whole[after:]
        assert (await lab.client.get(f"{place}?after={after}")).events() == whole[after:]
        both = await lab.client.get(f"{place}?after=2", last_event_id=str(after))
        assert both.events() == whole[after:]

    ask()


@served()
async def test_nothing_more_is_204(lab: Lab) -> None:
    """After the verdict there is no content, which tells a browser not to come again."""
    events = (await lab.client.submit(accept="*/*")).events()
    place = "/api/amd/submissions/sub_1/events"
    answer = await lab.client.get(place, last_event_id=str(len(events)))
    assert (answer.status, answer.body) == (204, b"")


@pytest.mark.parametrize("seen", ["99", "-1", "x", "1.5", "9" * 30])
def test_an_event_that_never_was_is_refused(seen: str) -> None:
    """An id that was not given yet, or is none, is 422 and names the header."""

    @served(start=False)
    async def ask(lab: Lab) -> None:
        await lab.client.submit()
        answer = await lab.client.get("/api/amd/submissions/sub_1/events", last_event_id=seen)
        assert answer.status == 422
        assert answer.json()["field"].lower() == "last-event-id"

    ask()


@served()
async def test_a_silent_stream_is_kept_awake(lab: Lab) -> None:
    """Every 15 s without an event comes a comment, which has no id."""
    kernel = Kernel(key="slow", work_s=400).source()
    began_at = lab.clock.now()
    body = (await lab.client.submit(accept="*/*", solution_code=kernel)).body
    took_s = lab.clock.now() - began_at
    comments = body.count(b": keep-alive\n\n")
    # Six silences of about a hundred seconds and less, each cut into whole fifteens.
    assert took_s / 15 - 12 < comments <= took_s / 15
    ids = [event["id"] for event in parse_events(body)]
    assert ids == list(range(1, len(ids) + 1))


@served()
async def test_a_client_that_leaves_is_forgotten_at_once(lab: Lab) -> None:
    """Its stream ends and nothing of it is kept; the submission goes on to its verdict."""
    taken = await lab.client.submit(solution_code=Kernel(key="slow", work_s=400).source())
    place = taken.json()["urls"]["events"]
    exchange = lab.client.begin("GET", place)
    assert await exchange.piece() is not None
    exchange.gone.set()
    left_at = lab.clock.now()
    assert exchange.task is not None
    await exchange.task
    assert lab.clock.now() == left_at
    assert lab.bus._subscribers == {}
    assert (await lab.client.get(place)).events()[-1]["status"] == "CHECKED"


@served()
async def test_a_client_that_submits_and_leaves_gets_its_verdict_later(lab: Lab) -> None:
    """Hanging up on the stream cancels nothing."""
    exchange = lab.client.begin(
        "POST",
        "/api/amd/submit",
        [b'{"solution_code": "// x", "problem": "relu"}'],
        {"content-type": "application/json"},
    )
    await exchange.piece()
    exchange.gone.set()
    events = (await lab.client.get("/api/amd/submissions/sub_1/events")).events()
    assert events[-1]["status"] == "ACCEPTED"


@served()
async def test_a_slow_reader_holds_up_nobody(lab: Lab) -> None:
    """While one takes nothing, another reads to the end; then the slow one gets every event too."""
    taken = await lab.client.submit()
    place = taken.json()["urls"]["events"]
    slow = lab.client.begin("GET", place)
    slow.reading.clear()
    whole = (await lab.client.get(place)).body
    assert slow.sent.empty()
    slow.reading.set()
    assert slow.task is not None
    await slow.task
    pieces = [slow.sent.get_nowait().get("body", b"") for _ in range(slow.sent.qsize())]
    assert parse_events(b"".join(pieces)) == parse_events(whole)


@served()
async def test_many_streams_see_the_same(lab: Lab) -> None:
    """A hundred clients of one submission get the same events."""
    taken = await lab.client.submit()
    place = taken.json()["urls"]["events"]
    answers = await asyncio.gather(*(lab.client.get(place) for _ in range(100)))
    assert len({str(answer.events()) for answer in answers}) == 1
    assert answers[0].events()[-1]["status"] == "CHECKED"


@served(start=False)
async def test_a_stream_is_cut_where_the_store_goes_away(lab: Lab) -> None:
    """What was sent stays valid; the client comes back with Last-Event-ID and misses nothing."""
    await lab.client.submit()
    real, reads = lab.database.read, 0

    async def read(query: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal reads
        reads += 1
        if reads > 3:  # the key, the submission and the first batch are read before it goes
            raise StoreUnavailable
        return await real(query, *args, **kwargs)

    lab.database.read = read  # type: ignore[method-assign]  # it fails after three reads
    exchange = lab.client.begin("GET", "/api/amd/submissions/sub_1/events")
    assert parse_events(await exchange.piece() or b"")[0]["status"] == "IN_QUEUE"
    # A gap in what is published sends the reader back to the store, which is gone.
    event = StoredEvent(submission_id="sub_1", id=5, time=0.0, fields={"status": "XRAY"})
    lab.bus.publish(event)
    assert await exchange.piece() is None
