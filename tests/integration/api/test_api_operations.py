"""The service at a glance over HTTP: VMs, queue, lanes and money, live, and each user's own alone."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import pytest

from tests.support.api_harness import Client, Exchange, Lab, parse_events, served
from warmfront.store.records import Role
from warmfront.testing.fake_listeners import Kernel

PLACE = "/api/amd/operations"

#: A kernel that keeps its VM busy for a while.
SLOW = Kernel(key="s", work_s=60.0).source()


async def _look(client: Client, more: str = "") -> dict[str, Any]:
    answer = await client.get(PLACE + more)
    assert answer.status == 200, answer.body
    found: dict[str, Any] = answer.json()
    return found


def _seconds(piece: dict[str, Any]) -> float:
    start, end = (datetime.fromisoformat(piece[name]) for name in ("started_at", "ended_at"))
    return (end - start).total_seconds()


@served()
async def test_nothing_yet_is_shown_as_nothing(lab: Lab) -> None:
    """A new service has no VM, nobody waiting and all of its credits."""
    seen = await _look(lab.client)
    assert (seen["vms"], seen["lanes"], seen["costs_by_day"], seen["costs_by_user"]) == ([], [], [], [])
    assert seen["queue"] == {"length": 0, "items": []}
    assert (seen["tasks"]["completed"], seen["tasks"]["cost_usd"]) == (0, None)
    money = seen["money"]
    assert (money["remaining_usd"], money["alert_at_usd"], money["alerted"]) == (1400.0, 280.0, False)
    assert [point["remaining_usd"] for point in money["burn_down"]] == [1400.0]


@served()
async def test_a_lane_tells_a_vms_life(lab: Lab) -> None:
    """It booted, worked and is idle since; the piece that goes on reaches to now."""
    await lab.client.submit(accept="*/*")
    await asyncio.sleep(30)
    seen = await _look(lab.client)
    (lane,) = seen["lanes"]
    assert [piece["meter"] for piece in lane["pieces"]][:1] == ["PROVISIONING"]
    assert [piece["meter"] for piece in lane["pieces"]][-2:] == ["WORK", "IDLE"]
    assert [piece["open"] for piece in lane["pieces"]][-2:] == [False, True]
    assert lane["pieces"][-1]["ended_at"] == seen["now"]
    assert _seconds(lane["pieces"][-1]) == pytest.approx(30, abs=1)
    (vm,) = seen["vms"]
    assert (vm["state"], vm["tasks"], vm["id"]) == ("IDLE", [], lane["vm_id"])
    assert vm["cost_usd"] == pytest.approx(float(lab.provider.spent_usd()), abs=1e-5)


@served()
async def test_a_vm_that_is_over_keeps_its_lane(lab: Lab) -> None:
    """It is alive no more, and its lane is there as long as it reaches into the hours asked for."""
    await lab.client.submit(accept="*/*")
    await asyncio.sleep(lab.settings.idle_timeout_s + 60)
    assert (await _look(lab.client))["vms"] == []
    assert len((await _look(lab.client, "?hours=1"))["lanes"]) == 1
    await asyncio.sleep(3600)
    assert (await _look(lab.client, "?hours=1"))["lanes"] == []
    assert len((await _look(lab.client))["lanes"]) == 1


@served(max_vms=1)
async def test_others_are_seen_as_nobody(lab: Lab) -> None:
    """A user sees that a VM is busy and that someone waits; who and what, only of their own."""
    ada, bob, eve = lab.user("ada"), lab.user("bob"), lab.user("eve", Role.OPERATOR)
    running = (await ada.submit(solution_code=SLOW, problem="relu")).json()["id"]
    await asyncio.sleep(lab.provider.typical_boot_s("MI300X") + 30)
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
async def test_the_money_adds_up(lab: Lab) -> None:
    """Days, users and the burn-down all come to what the provider asks; users see their own part alone."""
    ada, bob, eve = lab.user("ada"), lab.user("bob"), lab.user("eve", Role.OPERATOR)
    await ada.submit(accept="*/*")
    await bob.submit(accept="*/*")
    await asyncio.sleep(lab.settings.idle_timeout_s + 60)
    seen = await _look(eve)
    bill = pytest.approx(float(lab.provider.spent_usd()), abs=5e-6)
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
async def test_a_vm_alive_burns_its_rate(lab: Lab) -> None:
    """What it costs an hour is told, and what it came to since its last interval is in the last point."""
    await lab.client.submit(accept="*/*")
    await asyncio.sleep(100)
    money = (await _look(lab.client))["money"]
    assert money["burn_usd_per_h"] == float(lab.provider.billing("MI300X").rate_usd_per_h)
    assert money["burn_down"][-1]["remaining_usd"] == money["remaining_usd"]
    assert 1400 - money["remaining_usd"] == pytest.approx(float(lab.provider.spent_usd()), abs=1e-5)


@pytest.mark.parametrize("query", ["?hours=0", "?hours=25", "?hours=many"])
def test_hours_are_of_one_day(query: str) -> None:
    """Anything else is refused by name."""

    @served(start=False)
    async def ask(lab: Lab) -> None:
        answer = await lab.client.get(PLACE + query)
        assert (answer.status, answer.json()["field"]) == (422, "hours")

    ask()


async def _event(exchange: Exchange) -> dict[str, Any]:
    """The next event; comments are passed over."""
    while True:
        piece = await exchange.piece()
        assert piece is not None
        if events := parse_events(piece):
            return events[0]


@served()
async def test_a_change_is_told_as_it_comes(lab: Lab) -> None:
    """The first event comes at once; then a VM boots, gets busy and idle, with no one asking."""
    stream = lab.client.begin("GET", f"{PLACE}/stream")
    assert (await _event(stream))["pool"] == {}
    await lab.client.submit(solution_code=SLOW)
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
async def test_quick_changes_are_told_together(lab: Lab) -> None:
    """A hundred submissions at once are no hundred events: at most two come in a second."""
    stream = lab.client.begin("GET", f"{PLACE}/stream")
    await _event(stream)
    before = lab.clock.now()
    for _ in range(100):
        await lab.client.submit()
    told = 0
    while (await _event(stream))["queue_length"] < 50:
        told += 1
    assert told <= 2 * (lab.clock.now() - before) + 1
    stream.gone.set()


@served()
async def test_silence_is_kept_awake(lab: Lab) -> None:
    """While nothing changes there is a comment every 15 s and no event."""
    stream = lab.client.begin("GET", f"{PLACE}/stream")
    await _event(stream)
    before = lab.clock.now()
    comment = await stream.piece()
    assert comment is not None
    assert comment.startswith(b":")
    assert lab.clock.now() - before == pytest.approx(15, abs=0.1)
    stream.gone.set()


@served()
async def test_a_stream_ends_after_as_many_as_asked_for(lab: Lab) -> None:
    """`?limit=1` is the state of things, once."""
    answer = await lab.client.get(f"{PLACE}/stream?limit=1")
    (event,) = answer.events()
    assert (event["queue_length"], event["alerted"]) == (0, False)


@served()
async def test_streams_end_with_the_service(lab: Lab) -> None:
    """Whoever follows is let go when the service stops."""
    stream = lab.client.begin("GET", f"{PLACE}/stream")
    await _event(stream)
    await asyncio.sleep(1)
    lab.log.close()
    assert stream.task is not None
    await stream.task
