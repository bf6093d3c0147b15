"""Event streams over HTTP: resuming, keep-alive comments, disconnects and slow readers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.support.api_harness import ApiHarness, parse_events, served
from warmfront.errors import StoreUnavailable
from warmfront.store import account_queries
from warmfront.store.records import StoredEvent
from warmfront.testing.fake_listeners import FakeKernel


@served()
async def test_a_stream_is_valid_server_sent_events(harness: ApiHarness) -> None:
    """Each event has its id, its status as the event name, and one line of data."""
    body = (await harness.client.submit(accept="*/*", solution_code="// DOES_NOT_COMPILE\n")).body.decode()
    first = body.split("\n\n")[0].split("\n")
    assert first[:2] == ["id: 1", "event: IN_QUEUE"]
    assert first[2].startswith(
        'data: {"id":1,"time":"2023-11-14T22:13:20.000Z","schema":1,"status":"IN_QUEUE",'
    )
    assert len(first) == 3


@served()
async def test_proxies_must_not_buffer(harness: ApiHarness) -> None:
    """The headers disable caching and nginx's buffering."""
    headers = (await harness.client.submit(accept="*/*")).headers
    assert headers["x-accel-buffering"] == "no"
    assert "no-transform" in headers["cache-control"]


@pytest.mark.parametrize("after", [0, 1, 5])
def test_a_stream_resumes_after_the_last_event(after: int) -> None:
    """Last-Event-ID or ?after= selects the events that follow; the header takes precedence."""

    @served()
    async def ask(harness: ApiHarness) -> None:
        whole = (await harness.client.submit(accept="*/*")).events()
        place = "/api/amd/submissions/sub_1/events"
        assert (await harness.client.get(place, last_event_id=str(after))).events() == whole[after:]
        assert (await harness.client.get(f"{place}?after={after}")).events() == whole[after:]
        both = await harness.client.get(f"{place}?after=2", last_event_id=str(after))
        assert both.events() == whole[after:]

    ask()


@served()
async def test_a_complete_stream_is_204(harness: ApiHarness) -> None:
    """After the verdict the response is 204, so that a browser does not reconnect."""
    events = (await harness.client.submit(accept="*/*")).events()
    place = "/api/amd/submissions/sub_1/events"
    answer = await harness.client.get(place, last_event_id=str(len(events)))
    assert (answer.status, answer.body) == (204, b"")


@pytest.mark.parametrize("seen", ["99", "-1", "x", "1.5", "9" * 30])
def test_an_unknown_event_id_is_rejected(seen: str) -> None:
    """An id beyond the last event, or not an id, gets 422 with the name of the header."""

    @served(start=False)
    async def ask(harness: ApiHarness) -> None:
        await harness.client.submit()
        answer = await harness.client.get("/api/amd/submissions/sub_1/events", last_event_id=seen)
        assert answer.status == 422
        assert answer.json()["field"].lower() == "last-event-id"

    ask()


@served()
async def test_a_silent_stream_sends_keep_alives(harness: ApiHarness) -> None:
    """A comment without an id is sent after every 15 s without an event."""
    kernel = FakeKernel(key="slow", work_s=400).source()
    began_at = harness.clock.now()
    body = (await harness.client.submit(accept="*/*", solution_code=kernel)).body
    took_s = harness.clock.now() - began_at
    comments = body.count(b": keep-alive\n\n")
    # Six silent periods of up to a hundred seconds, with one comment per 15 s.
    assert took_s / 15 - 12 < comments <= took_s / 15
    ids = [event["id"] for event in parse_events(body)]
    assert ids == list(range(1, len(ids) + 1))


@served()
async def test_a_disconnected_client_is_released(harness: ApiHarness) -> None:
    """Its stream ends and holds no resources; the submission continues to its verdict."""
    taken = await harness.client.submit(solution_code=FakeKernel(key="slow", work_s=400).source())
    place = taken.json()["urls"]["events"]
    exchange = harness.client.begin("GET", place)
    assert await exchange.next_chunk() is not None
    exchange.gone.set()
    left_at = harness.clock.now()
    assert exchange.task is not None
    await exchange.task
    assert harness.clock.now() == left_at
    assert harness.bus._subscribers == {}
    assert (await harness.client.get(place)).events()[-1]["status"] == "CHECKED"


@served()
async def test_disconnecting_does_not_cancel(harness: ApiHarness) -> None:
    """A submission gets its verdict although its client disconnected."""
    exchange = harness.client.begin(
        "POST",
        "/api/amd/submit",
        [b'{"solution_code": "// x", "problem": "relu"}'],
        {"content-type": "application/json"},
    )
    await exchange.next_chunk()
    exchange.gone.set()
    events = (await harness.client.get("/api/amd/submissions/sub_1/events")).events()
    assert events[-1]["status"] == "ACCEPTED"


@served()
async def test_a_slow_reader_does_not_delay_others(harness: ApiHarness) -> None:
    """While one client reads nothing, another reads to the end; the slow one then gets every event."""
    taken = await harness.client.submit()
    place = taken.json()["urls"]["events"]
    slow = harness.client.begin("GET", place)
    slow.reading.clear()
    whole = (await harness.client.get(place)).body
    assert slow.sent.empty()
    slow.reading.set()
    assert slow.task is not None
    await slow.task
    pieces = [slow.sent.get_nowait().get("body", b"") for _ in range(slow.sent.qsize())]
    assert parse_events(b"".join(pieces)) == parse_events(whole)


@served()
async def test_many_streams_get_the_same_events(harness: ApiHarness) -> None:
    """A hundred clients follow one submission."""
    taken = await harness.client.submit()
    place = taken.json()["urls"]["events"]
    answers = await asyncio.gather(*(harness.client.get(place) for _ in range(100)))
    assert len({str(answer.events()) for answer in answers}) == 1
    assert answers[0].events()[-1]["status"] == "CHECKED"


@served(start=False)
async def test_the_streams_of_a_revoked_key_end(harness: ApiHarness) -> None:
    """They end with a comment that says why; those of other keys continue."""
    ada, bob = harness.user("ada"), harness.user("bob")
    ada_stream = ada.begin("GET", (await ada.submit()).json()["urls"]["events"])
    bob_stream = bob.begin("GET", (await bob.submit()).json()["urls"]["events"])
    ada_changes = ada.begin("GET", "/api/amd/operations/stream")
    key = next(key for key in harness.database.run(account_queries.all_keys) if key.user == "ada")
    for stream in (ada_stream, ada_changes, bob_stream):
        assert await stream.next_chunk()
    harness.database.run(account_queries.revoke_key, key.id, harness.clock.now())
    for stream in (ada_stream, ada_changes):
        assert await stream.next_chunk() == b": closed: the API key is revoked\n\n"
        assert await stream.next_chunk() is None
    assert await bob_stream.next_chunk() == b": keep-alive\n\n"
    bob_stream.gone.set()


@served(start=False)
async def test_the_streams_of_the_local_user_end_with_the_first_key(harness: ApiHarness) -> None:
    """The local user exists only before the first key."""
    stream = harness.client.begin("GET", (await harness.client.submit()).json()["urls"]["events"])
    assert await stream.next_chunk()
    harness.key("ada")
    assert b"revoked" in (await stream.next_chunk() or b"")


@served(start=False, streams_per_user=2)
async def test_the_streams_of_a_user_are_bounded(harness: ApiHarness) -> None:
    """One stream too many gets 429 that names the limit, and stores nothing; a closed one frees its place."""
    ada, bob = harness.user("ada"), harness.user("bob")
    place = (await ada.submit()).json()["urls"]["events"]
    streams = [ada.begin("GET", place) for _ in range(2)]
    for stream in streams:
        assert await stream.next_chunk()
    for answer in (await ada.get(place), await ada.submit(accept="*/*")):
        assert (answer.status, answer.json()["code"]) == (429, "RATE_LIMIT_EXCEEDED")
        assert "at most 2 per user" in answer.json()["detail"]
        assert "WARMFRONT_STREAMS_PER_USER" in answer.json()["hint"]
    assert len((await ada.get("/api/amd/submissions")).json()["items"]) == 1
    changes = bob.begin("GET", "/api/amd/operations/stream")
    assert await changes.next_chunk()
    streams[0].gone.set()
    assert streams[0].task is not None
    await streams[0].task
    again = ada.begin("GET", place)
    assert await again.next_chunk()
    for stream in (streams[1], again, changes):
        stream.gone.set()


@served(start=False)
async def test_a_stream_ends_when_the_store_is_unavailable(harness: ApiHarness) -> None:
    """The client reconnects with Last-Event-ID and misses no event."""
    await harness.client.submit()
    real, reads = harness.database.read, 0

    async def read(query: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal reads
        reads += 1
        if reads > 3:  # the key, the submission and the first batch are read first
            raise StoreUnavailable
        return await real(query, *args, **kwargs)

    harness.database.read = read  # type: ignore[method-assign]  # it fails after three reads
    exchange = harness.client.begin("GET", "/api/amd/submissions/sub_1/events")
    assert parse_events(await exchange.next_chunk() or b"")[0]["status"] == "IN_QUEUE"
    # After a gap in the published events, the reader queries the store, which is unavailable.
    event = StoredEvent(submission_id="sub_1", id=5, time=0.0, fields={"status": "XRAY"})
    harness.bus.publish(event)
    assert await exchange.next_chunk() is None
