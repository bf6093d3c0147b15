"""A figure has the same value everywhere: completed tasks, and the basis of the policy comparison."""

from __future__ import annotations

import asyncio

from tests.support.api_harness import ApiHarness, served
from warmfront.api.routes.forecasts import adaptive_text
from warmfront.wire.forecasts import PolicyCost

ROOT = "/api/amd"


@served()
async def test_every_count_of_tasks_agrees(harness: ApiHarness) -> None:
    """A cancelled submission and a lost attempt are in no figure of the page, API or Prometheus."""
    client = harness.client
    for _ in range(3):
        assert (await client.submit(accept="*/*")).events()[-1]["status"] == "CHECKED"
    running = (await client.submit(solution_code="// key GOOD 500.000\n")).json()["id"]
    await asyncio.sleep(30)
    await client.post(f"{ROOT}/submissions/{running}/cancel")
    lost = (await client.submit(solution_code="// key2 GOOD 50.000\n")).json()["id"]
    await asyncio.sleep(10)
    (vm,) = (await client.get(f"{ROOT}/operations")).json()["vms"]
    await client.post(f"{ROOT}/vms/{vm['id']}/release")
    events = (await client.get(f"{ROOT}/submissions/{lost}/events")).events()
    assert events[-1]["status"] == "CHECKED"
    page = (await client.get(f"{ROOT}/operations")).json()
    headline = (await client.get(f"{ROOT}/metrics?detail=1")).json()
    tasks = page["tasks"]
    assert tasks["completed"] == headline["tasks_completed"] == 4
    assert tasks["cold_starts"] + tasks["warm_reuses"] == 4
    assert headline["cold_starts"] + headline["warm_reuses"] == 4
    for latencies in (page["latencies_s"], headline["latencies_s"]):
        assert latencies["all"]["count"] == 4
        assert latencies["cold"]["count"] == tasks["cold_starts"]
        assert latencies["warm"]["count"] == tasks["warm_reuses"]
    arrivals, _ = await harness.store.arrivals_and_boots(100)  # what the what-if replays
    assert (len(arrivals), await harness.store.completed_since(0.0)) == (5, 4)
    metrics = (await client.get("/metrics")).body.decode()
    assert "warmfront_tasks_completed_total 4.0" in metrics
    attempts = [line for line in metrics.splitlines() if line.startswith("warmfront_attempts_total{")]
    assert sum(float(line.split()[-1]) for line in attempts) == 6


def _row(policy: str, usd: float, wait_s: float, cold: int, cost: float) -> PolicyCost:
    return PolicyCost(policy=policy, best=False, usd=usd, wait_mean_s=wait_s, cold_starts=cold, cost_usd=cost)


DAY_S = 86_400.0
ARRIVALS = [index * DAY_S / 10 for index in range(40)]


def test_it_says_why_the_adaptive_policy_loses() -> None:
    """Each reason is named: waiting saved, too little history, arrivals that did not follow."""
    fixed = _row("fixed 10 minutes", 10.0, 60.0, 20, 40.0)
    assert adaptive_text([fixed, _row("adaptive", 9.0, 50.0, 18, 30.0)], ARRIVALS, 20.0) == ""
    saves = adaptive_text([fixed, _row("adaptive", 14.0, 10.0, 5, 30.0)], ARRIVALS, 20.0)
    assert "$4.00 more for VMs than fixed 10 minutes" in saves
    assert "saves 50 s of waiting per submission" in saves
    young = adaptive_text([fixed, _row("adaptive", 14.0, 60.0, 20, 44.0)], ARRIVALS[:5], 20.0)
    assert "too little history for a forecast (5 submissions in 9.6 h; it needs 12 in 24 h)" in young
    kept = adaptive_text([fixed, _row("adaptive", 14.0, 55.0, 18, 44.0)], ARRIVALS, 20.0)
    assert "avoided 2 cold starts" in kept
    vain = adaptive_text([fixed, _row("adaptive", 14.0, 60.0, 20, 44.0)], ARRIVALS, 20.0)
    assert "did not follow the pattern" in vain
