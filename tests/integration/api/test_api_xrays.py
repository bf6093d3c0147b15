"""X-ray requests: turns between users and submissions, limits, and clients that disconnect."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from tests.support.api_harness import ApiHarness, Client, Exchange, served
from tests.support.api_harness import xray as empty_report
from warmfront.orchestrator.xray_queue import MAX_WAITING_REQUESTS

if TYPE_CHECKING:
    from warmfront.hip.xray import XrayReport

SLOW_S = 60.0


class SlowXrays:
    """X-rays of sources with the word SLOW take a minute."""

    def __init__(self, harness: ApiHarness) -> None:
        self.running = 0
        self.cancelled = 0
        object.__setattr__(harness.service, "xray", self)

    async def __call__(self, source: str, **_options: object) -> XrayReport:
        """Return an empty report, if SLOW after a minute."""
        self.running += 1
        try:
            await asyncio.sleep(SLOW_S if "SLOW" in source else 0)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.running -= 1
        return await empty_report(source, arch="gfx942", problem=None, dtype=None)


def begin_xray(client: Client, source: str = "// SLOW") -> Exchange:
    """Send a request without waiting for its response."""
    body = json.dumps({"solution_code": source}).encode()
    return client.begin("POST", "/api/amd/xray", [body], {"content-type": "application/json"})


@served()
async def test_slow_xrays_of_one_user_delay_no_other(harness: ApiHarness) -> None:
    """While six slow X-rays of one user wait, another user's X-ray and check begin at once."""
    ada, bob = harness.user("ada"), harness.user("bob")
    xrays = SlowXrays(harness)
    began_at = harness.clock.now()
    slow = [begin_xray(ada) for _ in range(6)]
    await asyncio.sleep(1)
    assert xrays.running == 1
    assert (await bob.post("/api/amd/xray", {"solution_code": "// quick"})).status == 200
    assert harness.clock.now() - began_at < 2
    events = (await bob.submit(accept="*/*")).events()
    assert events[-1]["status"] == "CHECKED"
    admitted = next(event for event in events if event["status"] == "XRAY")
    assert admitted["time"] < events[-1]["time"]
    assert harness.clock.now() - began_at < SLOW_S * 5
    for exchange in slow:
        assert exchange.task is not None
        await exchange.task
        assert (await exchange.sent.get())["status"] == 200


@served()
async def test_an_xray_is_dropped_when_its_client_leaves(harness: ApiHarness) -> None:
    """A running X-ray is cancelled, a waiting one never begins, and the next one gets its slot."""
    ada = harness.user("ada")
    xrays = SlowXrays(harness)
    began_at = harness.clock.now()
    running, waiting = begin_xray(ada), begin_xray(ada)
    await asyncio.sleep(1)
    for exchange in (waiting, running):
        exchange.gone.set()
        assert exchange.task is not None
        await exchange.task
    assert (xrays.running, xrays.cancelled) == (0, 1)
    assert (await ada.post("/api/amd/xray", {"solution_code": "// quick"})).status == 200
    assert harness.clock.now() - began_at < 2


@served()
async def test_the_waiting_xrays_of_a_user_are_bounded(harness: ApiHarness) -> None:
    """One more gets 429 that names the limit; another user is not affected."""
    ada, bob = harness.user("ada"), harness.user("bob")
    SlowXrays(harness)
    exchanges = [begin_xray(ada) for _ in range(1 + MAX_WAITING_REQUESTS)]
    await asyncio.sleep(1)
    answer = await ada.post("/api/amd/xray", {"solution_code": "// quick"})
    assert (answer.status, answer.json()["code"]) == (429, "RATE_LIMIT_EXCEEDED")
    assert f"at most {MAX_WAITING_REQUESTS} per user" in answer.json()["detail"]
    assert (await bob.post("/api/amd/xray", {"solution_code": "// quick"})).status == 200
    for exchange in exchanges:
        exchange.gone.set()


@served()
async def test_a_failed_xray_frees_its_place(harness: ApiHarness) -> None:
    """An exception does not reduce how many X-rays can run."""

    async def fail(*_: object, **__: object) -> None:
        raise ValueError

    ada = harness.user("ada")
    object.__setattr__(harness.service, "xray", fail)
    for _ in range(3):
        assert (await ada.post("/api/amd/xray", {"solution_code": "// x"})).status == 500
    SlowXrays(harness)
    assert (await ada.post("/api/amd/xray", {"solution_code": "// quick"})).status == 200
