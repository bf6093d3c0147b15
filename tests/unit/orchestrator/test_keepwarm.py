"""Keep-warm policies: bounds that every policy keeps, and the decisions of the adaptive one."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.world.scenario import Scenario
from tests.support.world.world import simulate
from warmfront.money.billing import Billing
from warmfront.orchestrator import adaptive as adaptive_module
from warmfront.orchestrator.adaptive import AdaptivePolicy, CostModel
from warmfront.settings import Settings
from warmfront.simulate.arrival_traces import TRACES
from warmfront.simulate.replay import EPOCH_S, ReplayConfig, replay, run_service
from warmfront.simulate.virtual_time import VirtualClock, VirtualLoop, run_virtual
from warmfront.store import submission_queries
from warmfront.store.memory_database import MemoryDatabase
from warmfront.store.records import Arrival
from warmfront.store.store import Store
from warmfront.vm import VMInstance, VMState

RATE = Decimal("1.99")
HOUR_S, DAY_S = 3600.0, 86_400.0
MAX_IDLE_S = 4 * HOUR_S
#: Hot Aisle's minimum, and every granularity that clouds bill by.
BILLINGS = {
    "second": Billing(rate_usd_per_h=RATE, granularity_s=1),
    "minute": Billing(rate_usd_per_h=RATE, granularity_s=60),
    "hour": Billing(rate_usd_per_h=RATE, granularity_s=3600),
    "minimum of 8 hours": Billing(rate_usd_per_h=RATE, minimum_s=8 * 3600),
    "minimum, then hours": Billing(rate_usd_per_h=RATE, granularity_s=3600, minimum_s=2 * 3600),
}


def adaptive(wait_usd_per_h: float = 20.0, max_idle_s: float = MAX_IDLE_S) -> AdaptivePolicy:
    """Return an adaptive policy without history."""
    return AdaptivePolicy(
        CostModel(
            rate_usd_per_h=1.99, wait_usd_per_h=wait_usd_per_h, boot_s=lambda: 450.0, max_idle_s=max_idle_s
        )
    )


def idle_vm(tasks_done: int = 1) -> VMInstance:
    """Return a VM in state IDLE."""
    return VMInstance(
        id="vm1",
        provider="simulated",
        gpu="MI300X",
        state=VMState.IDLE,
        created_at=0.0,
        tasks_done=tasks_done,
    )


def with_history(policy: AdaptivePolicy, trace: str, per_day: int, days: int = 30) -> AdaptivePolicy:
    """Return the policy after it has recorded some days of a trace."""
    for at_s in TRACES[trace](per_day, days, 7).tolist():
        policy.arrived(EPOCH_S + at_s, "ada")
    return policy


@pytest.mark.parametrize("billing", BILLINGS.values(), ids=BILLINGS)
@given(age_s=st.integers(0, 100_000), stop_s=st.integers(0, 300))
def test_free_until_is_the_end_of_the_paid_block(billing: Billing, age_s: int, stop_s: int) -> None:
    """Ending a VM at `free_until_s` costs the same as ending it now; ending it a second later costs more."""
    until_s = billing.free_until_s(age_s, stop_s)
    assert until_s >= age_s
    assert billing.cost_usd(until_s + stop_s) == billing.cost_usd(age_s + stop_s)
    assert billing.cost_usd(until_s + stop_s + 1) > billing.cost_usd(age_s + stop_s)


def test_a_vm_is_kept_to_the_end_of_its_paid_hour() -> None:
    """With billing by the hour, a VM that the policy would release at once is kept until its hour ends."""
    arrivals_s = np.array([0.0, 3000.0, 20_000.0])
    billed_per_hour = ReplayConfig(
        settings=Settings(idle_timeout_s=1.0, max_vms=1),
        billing=Billing(rate_usd_per_h=RATE, granularity_s=3600),
    )
    result = replay(arrivals_s, billed_per_hour)
    assert result.cold_starts == 2
    assert result.usd == 2 * RATE


times = st.floats(EPOCH_S, EPOCH_S + 40 * DAY_S, allow_nan=False)


@settings(max_examples=60, deadline=None)
@given(
    arrivals=st.lists(times, max_size=60),
    now=times,
    wait=st.sampled_from([0.0, 5.0, 10_000.0]),
    max_idle_s=st.floats(1.0, 1e6),
    spare=st.booleans(),
    tasks=st.integers(0, 1),
)
def test_no_decision_is_beyond_the_bound(
    arrivals: list[float], now: float, wait: float, max_idle_s: float, *, spare: bool, tasks: int
) -> None:
    """For any arrivals, in any order and even in the future, a VM is kept for 0 to `max_idle_s` seconds."""
    policy = adaptive(wait, max_idle_s)
    for at in arrivals:
        policy.arrived(at, "ada")
    decision = policy.decide(now, idle_vm(tasks), spare=spare)
    assert now <= decision.until <= now + max_idle_s + 1e-6
    assert "\n" not in decision.reason
    prewarm_at = policy.prewarm_at(now)
    assert prewarm_at is None or prewarm_at >= now


@pytest.mark.parametrize("trace", TRACES)
def test_decisions_depend_only_on_the_arrivals(trace: str) -> None:
    """Arrivals in another order, as after a restart, lead to the same decision and the same prewarm."""
    first, again = adaptive(), adaptive()
    arrivals = (EPOCH_S + TRACES[trace](40, 30, 3)).tolist()
    for at in arrivals:
        first.arrived(at, "ada")
    random.Random(1).shuffle(arrivals)  # noqa: S311 - no secret
    for at in arrivals:
        again.arrived(at, "bob")
    for hours in (3, 11, 23):
        now = EPOCH_S + 30 * DAY_S + hours * HOUR_S
        assert first.decide(now, idle_vm()) == again.decide(now, idle_vm())
        assert first.prewarm_at(now) == again.prewarm_at(now)


def test_the_store_returns_every_arrival_after_a_crash() -> None:
    """All arrivals of a service that was killed can be read from its store."""
    loop, database = VirtualLoop(), MemoryDatabase()
    arrivals_s = TRACES["bursts"](20, 2, 5)
    config = ReplayConfig(
        settings=Settings(keep_warm="adaptive", max_vms=1), billing=Billing(rate_usd_per_h=RATE)
    )

    async def run_and_kill() -> None:
        clock = VirtualClock(loop, EPOCH_S)
        service = asyncio.ensure_future(run_service(arrivals_s, config, Store(database), clock))
        await asyncio.sleep(3 * DAY_S)
        service.cancel()

    run_virtual(run_and_kill(), loop=loop)
    arrivals = database.run(submission_queries.arrivals, AdaptivePolicy.memory)
    database.dispose()
    assert arrivals == [Arrival(EPOCH_S + at_s, "trace", "MI300X", "checker") for at_s in arrivals_s.tolist()]


def test_without_history_the_ski_rental_break_even_applies() -> None:
    """Without enough history, a VM is kept until idling has cost as much as a cold start."""
    decision = adaptive(20.0).decide(EPOCH_S, idle_vm())
    assert decision.until - EPOCH_S == pytest.approx(450 * (1 + 20 / 1.99))
    assert "too few submissions so far" in decision.reason


def test_a_vm_is_kept_by_day_and_released_at_night() -> None:
    """With the history of working days, an idle VM is kept at noon and released late at night."""
    policy = with_history(adaptive(), "workday", 50)
    noon, night = EPOCH_S + 28 * DAY_S + 13 * HOUR_S, EPOCH_S + 28 * DAY_S + 26 * HOUR_S
    kept, released = policy.decide(noon, idle_vm()), policy.decide(night, idle_vm())
    assert kept.until - noon > HOUR_S
    assert "chance of a submission before then" in kept.reason
    assert released.until - night < 0.25 * HOUR_S


def test_a_vm_is_prewarmed_in_the_morning_and_only_once() -> None:
    """With a high wait value, a VM is prewarmed before work begins; if it stays unused, no other is."""
    policy = with_history(adaptive(100.0), "workday", 50, days=28)
    night = EPOCH_S + 29 * DAY_S + HOUR_S
    prewarm_at = policy.prewarm_at(night)
    assert prewarm_at is not None
    assert 2 < (prewarm_at - EPOCH_S) % DAY_S / HOUR_S < 9
    policy.decide(prewarm_at + 450, idle_vm(tasks_done=0))
    assert policy.prewarm_at(prewarm_at + 5 * HOUR_S) is None


def test_no_vm_is_prewarmed_if_waiting_has_no_value() -> None:
    """With a wait value of zero, no VM is prewarmed."""
    policy = with_history(adaptive(0.0), "workday", 200)
    assert policy.prewarm_at(EPOCH_S + 31 * DAY_S) is None


@pytest.mark.parametrize("trace", TRACES)
def test_adaptive_costs_less_than_fixed(trace: str) -> None:
    """In a replay, VMs and waiting cost less with the adaptive policy than with the fixed one."""
    arrivals_s = TRACES[trace](30, 21, 11)
    costs = {}
    for policy in ("fixed", "adaptive"):
        config = ReplayConfig(
            settings=Settings(keep_warm=policy, max_vms=1), billing=Billing(rate_usd_per_h=RATE)
        )
        result = replay(arrivals_s, config)
        costs[policy] = float(result.usd) + 20 / 3600 * float(result.waited_s.sum())
    assert costs["adaptive"] < 0.9 * costs["fixed"]


@pytest.mark.parametrize("seed", range(12))
def test_invariants_hold_with_the_adaptive_policy(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """No invariant on budget, ledger or verdicts is violated with the adaptive policy and injected faults."""
    monkeypatch.setattr(adaptive_module, "MIN_ARRIVALS", 3)  # these worlds last for minutes
    monkeypatch.setattr(adaptive_module, "MIN_PERIOD_S", 0.0)
    scenario = Scenario.of(seed)
    adaptive_settings = replace(scenario.settings, keep_warm="adaptive", idle_timeout_max_s=300.0)
    simulate(seed, scenario=replace(scenario, settings=adaptive_settings))
