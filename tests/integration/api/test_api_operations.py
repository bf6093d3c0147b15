"""The operations view over HTTP: VMs, queue, timelines, credits, the change stream and visibility."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import pytest

from tests.support.api_harness import ApiHarness, Client, Exchange, parse_events, served
from warmfront.roles import Role
from warmfront.testing.fake_listeners import FakeKernel

PLACE = "/api/amd/operations"

#: A kernel that keeps its VM busy for a while.
SLOW = FakeKernel(key="s", work_s=60.0).source()


async def _look(client: Client, more: str = "") -> dict[str, Any]:
    answer = await client.get(PLACE + more)
    assert answer.status == 200, answer.body
    found: dict[str, Any] = answer.json()
    return found


def _seconds(piece: dict[str, Any]) -> float:
    start, end = (datetime.fromisoformat(piece[name]) for name in ("started_at", "ended_at"))
    return (end - start).total_seconds()


@served()
async def test_a_new_service_is_empty(harness: ApiHarness) -> None:
    """A new service has no VM, an empty queue and all of its credits."""
    seen = await _look(harness.client)
    assert (seen["vms"], seen["lanes"], seen["costs_by_day"], seen["costs_by_user"]) == ([], [], [], [])
    assert seen["queue"] == {"length": 0, "items": []}
    assert (seen["tasks"]["completed"], seen["tasks"]["cost_usd"]) == (0, None)
    money = seen["money"]
    assert (money["remaining_usd"], money["alert_at_usd"], money["alerted"]) == (1400.0, 280.0, False)
    assert [point["remaining_usd"] for point in money["burn_down"]] == [1400.0]


@served()
async def test_a_timeline_has_the_phases_of_a_vm(harness: ApiHarness) -> None:
    """Provisioning, work and idle follow each other; the open segment ends now."""
    await harness.client.submit(accept="*/*")
    await asyncio.sleep(30)
    seen = await _look(harness.client)
    (lane,) = seen["lanes"]
    assert [piece["meter"] for piece in lane["pieces"]][:1] == ["PROVISIONING"]
    assert [piece["meter"] for piece in lane["pieces"]][-2:] == ["WORK", "IDLE"]
    assert [piece["open"] for piece in lane["pieces"]][-2:] == [False, True]
    assert lane["pieces"][-1]["ended_at"] == seen["now"]
    assert _seconds(lane["pieces"][-1]) == pytest.approx(30, abs=1)
    (vm,) = seen["vms"]
    assert (vm["state"], vm["tasks"], vm["id"]) == ("IDLE", [], lane["vm_id"])
    assert vm["cost_usd"] == pytest.approx(float(harness.provider.spent_usd()), abs=1e-5)


@served()
async def test_an_ended_vm_keeps_its_timeline(harness: ApiHarness) -> None:
    """It is not among the live VMs, but its timeline is listed while it overlaps the requested hours."""
    await harness.client.submit(accept="*/*")
    await asyncio.sleep(harness.settings.idle_timeout_s + 60)
    assert (await _look(harness.client))["vms"] == []
    assert len((await _look(harness.client, "?hours=1"))["lanes"]) == 1
    await asyncio.sleep(3600)
    assert (await _look(harness.client, "?hours=1"))["lanes"] == []
    assert len((await _look(harness.client))["lanes"]) == 1


@served(max_vms=1)
async def test_other_users_are_anonymous(harness: ApiHarness) -> None:
    """A user sees that a VM is busy and the queue is not empty, but details only of their own submissions."""
    ada, bob, eve = harness.user("ada"), harness.user("bob"), harness.user("eve", Role.OPERATOR)
    running = (await ada.submit(solution_code=SLOW, problem="relu")).json()["id"]
    await asyncio.sleep(harness.provider.typical_boot_s("MI300X") + 30)
    waiting = (await bob.submit()).json()["id"]
    await asyncio.sleep(1)
    of_ada, of_bob, of_eve = [await _look(client) for client in (ada, bob, eve)]
    assert [of["vms"][0]["tasks"][0]["submission_id"] for of in (of_ada, of_bob, of_eve)] == [
        running,
        None,
        running,
    ]
    assert [of["lanes"][0]["pieces"][-1]["submission_id"] for of in (of_ada, of_bob)] == [running, None]
    assert [of["queue"]["items"][0]["submission_id"] for of in (of_ada, of_bob, of_eve)] == [
        None,
        waiting,
        waiting,
    ]
    assert of_bob["vms"][0]["tasks"][0]["problem"] is None
    assert of_eve["queue"]["items"][0]["user"] == "bob"
    assert (of_bob["everyone"], of_eve["everyone"]) == (False, True)
    assert (await bob.get("/api/amd/vms")).json()["items"][0]["tasks"] == of_bob["vms"][0]["tasks"]


@served()
async def test_costs_add_up(harness: ApiHarness) -> None:
    """Days, users and the burn-down add up to the provider's bill; users see only their own part."""
    ada, bob, eve = harness.user("ada"), harness.user("bob"), harness.user("eve", Role.OPERATOR)
    await ada.submit(accept="*/*")
    await bob.submit(accept="*/*")
    await asyncio.sleep(harness.settings.idle_timeout_s + 60)
    seen = await _look(eve)
    bill = pytest.approx(float(harness.provider.spent_usd()), abs=5e-6)
    assert sum(day["cost_usd"] for day in seen["costs_by_day"]) == bill
    assert sum(row["cost_usd"] for day in seen["costs_by_day"] for row in day["meters"]) == bill
    assert sum(row["cost_usd"] for row in seen["costs_by_user"]) == bill
    left = [point["remaining_usd"] for point in seen["money"]["burn_down"]]
    assert left[0] == 1400.0
    assert 1400.0 - left[-1] == bill
    assert left == sorted(left, reverse=True)
    assert {row["user"] for row in seen["costs_by_user"]} == {"ada", "bob", None}
    assert [row["user"] for row in (await _look(bob))["costs_by_user"]] == ["bob"]
    tasks = seen["tasks"]
    assert (tasks["completed"], tasks["cold_starts"], tasks["warm_reuses"]) == (2, 1, 1)
    assert 2 * tasks["cost_usd"] == bill
    assert tasks["cold_cost_usd"] > tasks["warm_cost_usd"] > 0
    assert seen["latencies_s"]["cold"]["count"] == 1


@served()
async def test_a_live_vm_burns_its_rate(harness: ApiHarness) -> None:
    """The hourly rate is shown, and the last point of the burn-down includes the open interval."""
    await harness.client.submit(accept="*/*")
    await asyncio.sleep(100)
    money = (await _look(harness.client))["money"]
    assert money["burn_usd_per_h"] == float(harness.provider.billing("MI300X").rate_usd_per_h)
    assert money["burn_down"][-1]["remaining_usd"] == money["remaining_usd"]
    assert 1400 - money["remaining_usd"] == pytest.approx(float(harness.provider.spent_usd()), abs=1e-5)


@pytest.mark.parametrize("query", ["?hours=0", "?hours=25", "?hours=many"])
def test_hours_out_of_range_are_rejected(query: str) -> None:
    """The response is 422 and names the parameter."""

    @served(start=False)
    async def ask(harness: ApiHarness) -> None:
        answer = await harness.client.get(PLACE + query)
        assert (answer.status, answer.json()["field"]) == (422, "hours")

    ask()


async def _event(exchange: Exchange) -> dict[str, Any]:
    """Return the next event; skip comments."""
    while True:
        piece = await exchange.next_chunk()
        assert piece is not None
        if events := parse_events(piece):
            return events[0]


@served()
async def test_changes_are_streamed(harness: ApiHarness) -> None:
    """The first event is sent immediately; then one for each state of a VM."""
    stream = harness.client.begin("GET", f"{PLACE}/stream")
    assert (await _event(stream))["pool"] == {}
    await harness.client.submit(solution_code=SLOW)
    pools: list[dict[str, int]] = []
    while not pools or "IDLE" not in pools[-1]:
        event = await _event(stream)
        assert event["status"] == "CHANGED"
        pools.append(event["pool"])
    assert {"PROVISIONING": 1} in pools
    assert {"BUSY": 1} in pools
    assert event["spent_usd"] > 0
    stream.gone.set()
    assert stream.task is not None
    await stream.task


@served()
async def test_quick_changes_are_combined(harness: ApiHarness) -> None:
    """A hundred submissions at once cause at most two events per second."""
    stream = harness.client.begin("GET", f"{PLACE}/stream")
    await _event(stream)
    before = harness.clock.now()
    for _ in range(100):
        await harness.client.submit()
    events = 0
    while (await _event(stream))["queue_length"] < 50:
        events += 1
    assert events <= 2 * (harness.clock.now() - before) + 1
    stream.gone.set()


@served()
async def test_a_silent_stream_sends_keep_alives(harness: ApiHarness) -> None:
    """Without a change, a comment is sent every 15 s and no event."""
    stream = harness.client.begin("GET", f"{PLACE}/stream")
    await _event(stream)
    before = harness.clock.now()
    comment = await stream.next_chunk()
    assert comment is not None
    assert comment.startswith(b":")
    assert harness.clock.now() - before == pytest.approx(15, abs=0.1)
    stream.gone.set()


@served()
async def test_limit_ends_the_stream(harness: ApiHarness) -> None:
    """`?limit=1` sends the current state once."""
    answer = await harness.client.get(f"{PLACE}/stream?limit=1")
    (event,) = answer.events()
    assert (event["queue_length"], event["alerted"]) == (0, False)


@served()
async def test_streams_end_when_the_service_stops(harness: ApiHarness) -> None:
    """Open streams are closed when the service stops."""
    stream = harness.client.begin("GET", f"{PLACE}/stream")
    await _event(stream)
    await asyncio.sleep(1)
    harness.log.close()
    assert stream.task is not None
    await stream.task
