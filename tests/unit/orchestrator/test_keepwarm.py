"""Keep-warm: what any policy must hold to, and what the one that learns makes of what it has seen."""

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
from warmfront.orchestrator import adaptive as learner
from warmfront.orchestrator.adaptive import AdaptivePolicy, CostModel
from warmfront.settings import Settings
from warmfront.simulate.replay import EPOCH_S, Plan, live, replay
from warmfront.simulate.traces import TRACES
from warmfront.simulate.virtual_time import VirtualClock, VirtualLoop, run_virtual
from warmfront.store import submission_queries
from warmfront.store.memory_database import MemoryDatabase
from warmfront.store.records import Arrival
from warmfront.store.store import Store
from warmfront.vm import VMInstance, VMState

RATE = Decimal("1.99")
HOUR_S, DAY_S = 3600.0, 86_400.0
LONGEST_S = 4 * HOUR_S
#: Hot Aisle's minimum, and every granularity that clouds bill by.
BILLINGS = {
    "second": Billing(rate_usd_per_h=RATE, granularity_s=1),
    "minute": Billing(rate_usd_per_h=RATE, granularity_s=60),
    "hour": Billing(rate_usd_per_h=RATE, granularity_s=3600),
    "minimum of 8 hours": Billing(rate_usd_per_h=RATE, minimum_s=8 * 3600),
    "minimum, then hours": Billing(rate_usd_per_h=RATE, granularity_s=3600, minimum_s=2 * 3600),
}


def adaptive(wait_usd_per_h: float = 20.0, longest_s: float = LONGEST_S) -> AdaptivePolicy:
    """A policy that has seen nothing yet."""
    return AdaptivePolicy(
        CostModel(
            rate_usd_per_h=1.99, wait_usd_per_h=wait_usd_per_h, boot_s=lambda: 450.0, longest_s=longest_s
        )
    )


def idle_vm(tasks_done: int = 1) -> VMInstance:
    """With nothing to do."""
    return VMInstance(
        id="vm1",
        provider="simulated",
        gpu="MI300X",
        state=VMState.IDLE,
        created_at=0.0,
        tasks_done=tasks_done,
    )


def taught(policy: AdaptivePolicy, trace: str, per_day: int, days: int = 30) -> AdaptivePolicy:
    """After some days of a trace."""
    for at_s in TRACES[trace](per_day, days, 7).tolist():
        policy.arrived(EPOCH_S + at_s, "ada")
    return policy


@pytest.mark.parametrize("billing", BILLINGS.values(), ids=BILLINGS)
@given(age_s=st.integers(0, 100_000), stop_s=st.integers(0, 300))
def test_paid_blocks_are_used_to_the_second(billing: Billing, age_s: int, stop_s: int) -> None:
    """Ending a VM when it is no longer free to keep costs what ending it now does; a second later, more."""
    until_s = billing.free_until_s(age_s, stop_s)
    assert until_s >= age_s
    assert billing.cost_usd(until_s + stop_s) == billing.cost_usd(age_s + stop_s)
    assert billing.cost_usd(until_s + stop_s + 1) > billing.cost_usd(age_s + stop_s)


def test_a_vm_is_kept_for_the_hour_that_is_paid() -> None:
    """Billed by the hour, a VM that the policy lets go at once stays to the end of its hour, no longer."""
    arrivals_s = np.array([0.0, 3000.0, 20_000.0])
    by_the_hour = Plan(
        settings=Settings(idle_timeout_s=1.0, max_vms=1),
        billing=Billing(rate_usd_per_h=RATE, granularity_s=3600),
    )
    went = replay(arrivals_s, by_the_hour)
    assert went.cold_starts == 2
    assert went.usd == 2 * RATE


moments = st.floats(EPOCH_S, EPOCH_S + 40 * DAY_S, allow_nan=False)


@settings(max_examples=60, deadline=None)
@given(
    arrivals=st.lists(moments, max_size=60),
    now=moments,
    wait=st.sampled_from([0.0, 5.0, 10_000.0]),
    longest_s=st.floats(1.0, 1e6),
    spare=st.booleans(),
    tasks=st.integers(0, 1),
)
def test_no_decision_is_beyond_the_bound(
    arrivals: list[float], now: float, wait: float, longest_s: float, *, spare: bool, tasks: int
) -> None:
    """Whatever came, in any order, even later than now: a VM is kept from now on and within the bound."""
    policy = adaptive(wait, longest_s)
    for at in arrivals:
        policy.arrived(at, "ada")
    decision = policy.decide(now, idle_vm(tasks), spare=spare)
    assert now <= decision.until <= now + longest_s + 1e-6
    assert "\n" not in decision.reason
    boot_at = policy.prewarm_at(now)
    assert boot_at is None or boot_at >= now


@pytest.mark.parametrize("trace", TRACES)
def test_it_decides_the_same_when_told_again(trace: str) -> None:
    """Arrivals in another order, as after a restart, lead to the same decision and the same boot ahead."""
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


def test_the_store_tells_every_arrival_again() -> None:
    """What a service that was killed had learned from is in the store, to the last arrival."""
    loop, database = VirtualLoop(), MemoryDatabase()
    arrivals_s = TRACES["bursts"](20, 2, 5)
    plan = Plan(settings=Settings(keep_warm="adaptive", max_vms=1), billing=Billing(rate_usd_per_h=RATE))

    async def killed() -> None:
        life = asyncio.ensure_future(live(arrivals_s, plan, Store(database), VirtualClock(loop, EPOCH_S)))
        await asyncio.sleep(3 * DAY_S)
        life.cancel()

    run_virtual(killed(), loop=loop)
    arrivals = database.run(submission_queries.arrivals, AdaptivePolicy.memory)
    database.dispose()
    assert arrivals == [Arrival(EPOCH_S + at_s, "trace", "MI300X") for at_s in arrivals_s.tolist()]


def test_little_data_is_met_with_the_break_even_time() -> None:
    """Until it has seen enough, a VM is kept for as long as a cold start costs: never twice the best."""
    decision = adaptive(20.0).decide(EPOCH_S, idle_vm())
    assert decision.until - EPOCH_S == pytest.approx(450 * (1 + 20 / 1.99))
    assert "few tasks were seen yet" in decision.reason


def test_it_keeps_a_vm_by_day_and_lets_it_go_at_night() -> None:
    """On the habits of a working day the same idle VM is kept at noon and let go late at night."""
    policy = taught(adaptive(), "workday", 50)
    noon, night = EPOCH_S + 28 * DAY_S + 13 * HOUR_S, EPOCH_S + 28 * DAY_S + 26 * HOUR_S
    kept, let_go = policy.decide(noon, idle_vm()), policy.decide(night, idle_vm())
    assert kept.until - noon > HOUR_S
    assert "chance of a task before then" in kept.reason
    assert let_go.until - night < 0.25 * HOUR_S


def test_it_boots_ahead_of_a_morning_it_is_sure_of_and_only_once() -> None:
    """Where waiting is dear, a VM is booted before people come to work; unused, it is not booted again."""
    policy = taught(adaptive(100.0), "workday", 50, days=28)
    night = EPOCH_S + 29 * DAY_S + HOUR_S
    boot_at = policy.prewarm_at(night)
    assert boot_at is not None
    assert 2 < (boot_at - EPOCH_S) % DAY_S / HOUR_S < 9
    policy.decide(boot_at + 450, idle_vm(tasks_done=0))
    assert policy.prewarm_at(boot_at + 5 * HOUR_S) is None


def test_it_does_not_boot_ahead_for_nothing() -> None:
    """Where waiting is worth nothing, nothing is booted before somebody asks."""
    policy = taught(adaptive(0.0), "workday", 200)
    assert policy.prewarm_at(EPOCH_S + 31 * DAY_S) is None


@pytest.mark.parametrize("trace", TRACES)
def test_it_costs_less_than_ten_minutes_for_all(trace: str) -> None:
    """Through the real orchestrator, dollars and waiting come to less than with the fixed time."""
    arrivals_s = TRACES[trace](30, 21, 11)
    costs = {}
    for policy in ("fixed", "adaptive"):
        plan = Plan(settings=Settings(keep_warm=policy, max_vms=1), billing=Billing(rate_usd_per_h=RATE))
        went = replay(arrivals_s, plan)
        costs[policy] = float(went.usd) + 20 / 3600 * float(went.waited_s.sum())
    assert costs["adaptive"] < 0.9 * costs["fixed"]


@pytest.mark.parametrize("seed", range(12))
def test_every_promise_holds_with_it(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Among faults and crashes, no promise on budget, ledger or verdicts breaks where the policy learns."""
    monkeypatch.setattr(learner, "_ENOUGH", 3)  # these worlds last for minutes
    monkeypatch.setattr(learner, "_ENOUGH_S", 0.0)
    scenario = Scenario.of(seed)
    own = replace(scenario.settings, keep_warm="adaptive", idle_timeout_max_s=300.0)
    simulate(seed, scenario=replace(scenario, settings=own))
