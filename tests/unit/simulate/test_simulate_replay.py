"""A replay goes through the real orchestrator, and its dollars are the ledger's."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pytest
from sqlalchemy import select

from warmfront.money.billing import Billing
from warmfront.settings import Settings
from warmfront.simulate.replay import EPOCH_S, Plan, live, outcome, replay
from warmfront.simulate.traces import bursts, poisson, workday
from warmfront.simulate.virtual_time import VirtualClock, VirtualLoop, run_virtual
from warmfront.store import ledger_queries, schema
from warmfront.store.memory_database import MemoryDatabase
from warmfront.store.store import Store

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sqlalchemy import Connection

BILLING = Billing(rate_usd_per_h=Decimal("1.99"))
PLAN = Plan(settings=Settings(max_vms=1), billing=BILLING)


@dataclass
class Expected:
    """What a fixed timer on one VM comes to, by arithmetic alone."""

    usd: Decimal = Decimal(0)
    waited_s: float = 0.0
    cold_starts: int = 0


def by_hand(arrivals: NDArray[np.float64], plan: Plan) -> Expected:
    """One VM, one task after the other, kept for the idle time after each."""
    found, keep_s = Expected(), plan.settings.idle_timeout_s
    started, idle_at = 0.0, -np.inf
    for arrival in arrivals.tolist():
        if arrival > idle_at + keep_s:
            if found.cold_starts:
                found.usd += plan.billing.cost_usd(idle_at + keep_s - started)
            found.cold_starts += 1
            started, idle_at = arrival, arrival + plan.boot_s
        begins = max(arrival, idle_at)
        found.waited_s += begins - arrival
        idle_at = begins + plan.task_s
    found.usd += plan.billing.cost_usd(idle_at + keep_s - started)
    return found


@pytest.mark.parametrize("arrivals", [poisson(20, 4, 7), workday(20, 4, 7), bursts(20, 4, 7)], ids=len)
def test_fixed_timer_costs_what_arithmetic_says(arrivals: NDArray[np.float64]) -> None:
    """A fixed timer that is replayed costs, to the cent, and waits, what is computed by hand."""
    found, expected = replay(arrivals, PLAN), by_hand(arrivals, PLAN)
    assert abs(found.usd - expected.usd) < Decimal("0.01")
    assert found.waited_s.sum() == pytest.approx(expected.waited_s, abs=1e-3)
    assert found.waited_s.size == arrivals.size
    assert found.cold_starts == expected.cold_starts


def test_dollars_are_the_ledgers() -> None:
    """The same life on an ordinary store has the same ledger, whose entries add up to the dollars."""
    arrivals, plan = bursts(30, 3, 2), replace(PLAN, settings=Settings(max_vms=2, idle_timeout_s=120.0))
    quick = replay(arrivals, plan)
    loop, database = VirtualLoop(), MemoryDatabase()
    clock = VirtualClock(loop, EPOCH_S)
    run_virtual(live(arrivals, plan, Store(database), clock), loop=loop)
    slow = asyncio.run(outcome(Store(database)))
    assert slow.usd == quick.usd
    assert slow.usd == database.run(ledger_queries.total_usd)
    assert slow.usd == database.run(_by_entry)
    assert np.array_equal(slow.waited_s, quick.waited_s)
    assert (slow.cold_starts, slow.lived_s, slow.worked_s) == (
        quick.cold_starts,
        quick.lived_s,
        quick.worked_s,
    )
    database.dispose()


def _by_entry(c: Connection) -> Decimal:
    names = [row.vm_id for row in c.execute(select(schema.ledger.c.vm_id).distinct())]
    return sum((entry.amount_usd for name in names for entry in ledger_queries.entries(c, name)), Decimal(0))


def test_nothing_to_replay_costs_nothing() -> None:
    """No arrivals cost nothing; one costs its boot, its work and its idle time."""
    assert replay(np.array([]), PLAN).usd == 0
    one = replay(np.array([10.0]), PLAN)
    assert one.usd == BILLING.cost_usd(450 + 30 + 600)
    assert one.waited_s.tolist() == [450.0]
    assert one.utilisation == pytest.approx(30 / 1080)


def test_arrivals_at_one_moment_are_all_served() -> None:
    """Duplicates in a log are as many tasks, one after the other on one VM."""
    found = replay(np.array([5.0, 5.0, 5.0]), PLAN)
    assert found.waited_s.tolist() == [450.0, 480.0, 510.0]
    assert found.cold_starts == 1
