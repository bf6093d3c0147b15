"""Replays: their results agree with arithmetic, and their dollars come from the ledger."""

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
from warmfront.simulate.arrival_traces import bursts, poisson, workday
from warmfront.simulate.replay import EPOCH_S, ReplayConfig, read_result, replay, run_service
from warmfront.simulate.virtual_time import VirtualClock, VirtualLoop, run_virtual
from warmfront.store import ledger_queries, schema
from warmfront.store.memory_database import MemoryDatabase
from warmfront.store.store import Store

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sqlalchemy import Connection

BILLING = Billing(rate_usd_per_h=Decimal("1.99"))
CONFIG = ReplayConfig(settings=Settings(max_vms=1), billing=BILLING)


@dataclass
class Expected:
    """The result of a fixed idle timeout on one VM, computed directly."""

    usd: Decimal = Decimal(0)
    waited_s: float = 0.0
    cold_starts: int = 0


def compute(arrivals: NDArray[np.float64], config: ReplayConfig) -> Expected:
    """Return the result for one VM that runs one attempt at a time and is kept for the idle timeout."""
    result, keep_s = Expected(), config.settings.idle_timeout_s
    started, idle_at = 0.0, -np.inf
    for arrival in arrivals.tolist():
        if arrival > idle_at + keep_s:
            if result.cold_starts:
                result.usd += config.billing.cost_usd(idle_at + keep_s - started)
            result.cold_starts += 1
            started, idle_at = arrival, arrival + config.boot_s
        begins = max(arrival, idle_at)
        result.waited_s += begins - arrival
        idle_at = begins + config.task_s
    result.usd += config.billing.cost_usd(idle_at + keep_s - started)
    return result


@pytest.mark.parametrize("arrivals", [poisson(20, 4, 7), workday(20, 4, 7), bursts(20, 4, 7)], ids=len)
def test_a_replay_of_a_fixed_timeout_agrees_with_arithmetic(arrivals: NDArray[np.float64]) -> None:
    """Costs agree to the cent, and waits and cold starts exactly."""
    result, expected = replay(arrivals, CONFIG), compute(arrivals, CONFIG)
    assert abs(result.usd - expected.usd) < Decimal("0.01")
    assert result.waited_s.sum() == pytest.approx(expected.waited_s, abs=1e-3)
    assert result.waited_s.size == arrivals.size
    assert result.cold_starts == expected.cold_starts


def test_dollars_come_from_the_ledger() -> None:
    """The same replay on a store with events and transactions has the same ledger, which sums to the cost."""
    arrivals, config = bursts(30, 3, 2), replace(CONFIG, settings=Settings(max_vms=2, idle_timeout_s=120.0))
    quick = replay(arrivals, config)
    loop, database = VirtualLoop(), MemoryDatabase()
    clock = VirtualClock(loop, EPOCH_S)
    run_virtual(run_service(arrivals, config, Store(database), clock), loop=loop)
    slow = asyncio.run(read_result(Store(database)))
    assert slow.usd == quick.usd
    assert slow.usd == database.run(ledger_queries.total_usd)
    assert slow.usd == database.run(_sum_of_entries)
    assert np.array_equal(slow.waited_s, quick.waited_s)
    assert (slow.cold_starts, slow.lived_s, slow.worked_s) == (
        quick.cold_starts,
        quick.lived_s,
        quick.worked_s,
    )
    database.dispose()


def _sum_of_entries(conn: Connection) -> Decimal:
    names = [row.vm_id for row in conn.execute(select(schema.ledger.c.vm_id).distinct())]
    return sum(
        (entry.amount_usd for name in names for entry in ledger_queries.entries(conn, name)), Decimal(0)
    )


def test_an_empty_replay_costs_nothing() -> None:
    """No arrivals cost nothing; one costs its boot, its attempt and the idle time."""
    assert replay(np.array([]), CONFIG).usd == 0
    one = replay(np.array([10.0]), CONFIG)
    assert one.usd == BILLING.cost_usd(450 + 30 + 600)
    assert one.waited_s.tolist() == [450.0]
    assert one.utilization == pytest.approx(30 / 1080)


def test_arrivals_at_the_same_time_are_all_served() -> None:
    """Arrivals with equal times are separate submissions, which run one after the other on one VM."""
    result = replay(np.array([5.0, 5.0, 5.0]), CONFIG)
    assert result.waited_s.tolist() == [450.0, 480.0, 510.0]
    assert result.cold_starts == 1
