"""Replays arrivals through the real orchestrator, store, ledger and policies on a virtual clock.

What comes out is read from the store: dollars from the ledger, waiting from submissions and attempts. There
is no model of an orchestrator here, only a cloud for it that never fails.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from warmfront.events import Xray
from warmfront.orchestrator.orchestrator import VMOrchestrator
from warmfront.simulate.cloud import SteadyListeners, SteadyProvider
from warmfront.simulate.virtual_time import VirtualClock, VirtualLoop, run_virtual
from warmfront.store.memory_database import MemoryDatabase
from warmfront.store.store import Store
from warmfront.submission import NewSubmission
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from warmfront.clock import Clock
    from warmfront.money.billing import Billing
    from warmfront.settings import Settings
    from warmfront.store.records import LedgerEntry, Meter
    from warmfront.submission import Submission

#: A Monday, so that the days of a trace are the days that its maker had in mind.
EPOCH_S = 1_700_438_400.0
_FIRST_DAY = datetime.fromtimestamp(EPOCH_S, UTC).replace(tzinfo=None)
#: Nothing fails here, so that nobody needs to be asked whether it is well: looking once a month is enough.
_SELDOM_S = 30 * 86_400.0
#: Longer than this after the last task no VM is kept: there is nobody to keep it for.
_TAIL_S = 3600.0


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What arrivals are replayed through."""

    settings: Settings  #: with policy, idle time, VMs at once, wait value
    billing: Billing
    boot_s: float = 450.0
    task_s: float = 30.0
    shown_s: tuple[float, float] = (0.0, 0.0)  #: the part of the trace of which each interval is wanted


@dataclass(frozen=True, kw_only=True)
class Interval:
    """What one VM did for a while, in seconds since the trace began."""

    vm_id: str
    meter: Meter
    began_s: float
    ended_s: float


@dataclass(frozen=True, kw_only=True)
class ReplayResult:
    """How it went, as the store has it."""

    usd: Decimal  #: the ledger's total
    waited_s: NDArray[np.float64]  #: of each task, from its arrival to its start
    cold_starts: int
    lived_s: float  #: by all VMs
    worked_s: float  #: of that, with a task
    usd_by_day: tuple[Decimal, ...] = ()  #: the ledger's, from the trace's first day to the last that cost
    intervals: tuple[Interval, ...] = ()  #: the ledger's, of the part that was to be shown

    @property
    def utilisation(self) -> float:
        """The share of the VMs' time in which they worked."""
        return self.worked_s / self.lived_s if self.lived_s else 0.0


def replay(arrivals_s: NDArray[np.float64], plan: Plan) -> ReplayResult:
    """Send every arrival at its time, wait until all is over and every VM gone, and read the books."""
    loop = VirtualLoop()
    loop.set_task_factory(None)  # plain tasks do: nothing here depends on the order of a set
    database = MemoryDatabase(for_replay=True)
    store = Store(database)
    try:
        with _silence():
            run_virtual(live(arrivals_s, plan, store, VirtualClock(loop, EPOCH_S)), loop=loop)
            return asyncio.run(outcome(store, plan.shown_s))
    finally:
        database.dispose()


async def live(arrivals_s: NDArray[np.float64], plan: Plan, store: Store, clock: Clock) -> None:
    """The life of a service with these arrivals, to the end of its last VM."""
    ids = itertools.count(1)
    orchestrator = VMOrchestrator(
        store=store,
        provider=SteadyProvider(clock=clock, billing=plan.billing, boot_s=plan.boot_s),
        listeners=SteadyListeners(plan.task_s),
        xray=_xray,
        settings=_settings(plan),
        clock=clock,
        token_for=lambda vm_id: vm_id,
        new_id=lambda kind: f"{kind}{next(ids)}",
        reconcile_interval_s=_SELDOM_S,
    )
    await orchestrator.start()
    loop = asyncio.get_running_loop()
    for at_s in arrivals_s.tolist():
        if at_s > loop.time():
            await asyncio.sleep(at_s - loop.time())
        await orchestrator.submit(_submission(f"sub{next(ids)}", EPOCH_S + at_s))
    await _until_rest(orchestrator, plan)
    await orchestrator.stop()


async def _until_rest(orchestrator: VMOrchestrator, plan: Plan) -> None:
    """Until every task is done and every VM gone; a policy that would keep one for ever is cut short."""
    idle_s, pause_s = 0.0, plan.boot_s + plan.task_s
    while True:
        await asyncio.sleep(pause_s)
        pool = orchestrator.pool()
        if not orchestrator.queue_length() and not pool:
            return
        at_work = orchestrator.queue_length() or not all(vm.state.is_free for vm in pool)
        idle_s = 0.0 if at_work else idle_s + pause_s
        if idle_s > _TAIL_S:
            await orchestrator.release_all("the trace is over")
            return


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Nobody reads what a simulated service logs, a line or more for every task."""
    logger = logging.getLogger("warmfront")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _settings(plan: Plan) -> Settings:
    """The same, without what makes a replay slow or stops it: the question is what it costs."""
    return replace(
        plan.settings,
        heartbeat_s=_SELDOM_S,
        lost_after_s=2 * _SELDOM_S,
        watchdog_s=3 * _SELDOM_S,
        provision_timeout_s=max(plan.settings.provision_timeout_s, 2 * plan.boot_s),
        task_timeout_s=max(plan.settings.task_timeout_s, 2 * plan.task_s),
        credits_usd=Decimal(10**9),
    )


def _submission(submission_id: str, created_at: float) -> NewSubmission:
    return NewSubmission(
        id=submission_id,
        owner="trace",
        problem="relu",
        gpu="MI300X",
        dtype="float32",
        language="hip",
        endpoint=Endpoint.CHECKER,
        file_name="k.hip",
        code="//",
        created_at=created_at,
    )


_SEEN = Xray(arch="", gpu="MI300X", compiler="", compiles=True, kernels=[], findings=[])


async def _xray(_submission: Submission, _code: str) -> Xray:
    return _SEEN


async def outcome(store: Store, shown_s: tuple[float, float] = (0.0, 0.0)) -> ReplayResult:
    """Return the results of a replay from its store."""
    begin_s, end_s = shown_s
    report = await store.replay_report(since=EPOCH_S, begin=EPOCH_S + begin_s, end=EPOCH_S + end_s)
    return ReplayResult(
        usd=report.total_usd,
        waited_s=np.array(report.waits_s),
        cold_starts=report.vms,
        lived_s=report.lived_s,
        worked_s=report.worked_s,
        usd_by_day=tuple(_by_day(report.by_day)),
        intervals=tuple(_interval(entry) for entry in report.entries),
    )


def _by_day(by_day: dict[str, Decimal]) -> list[Decimal]:
    days = {(datetime.fromisoformat(day) - _FIRST_DAY).days: usd for day, usd in by_day.items()}
    return [days.get(number, Decimal(0)) for number in range(max(days, default=-1) + 1)]


def _interval(entry: LedgerEntry) -> Interval:
    return Interval(
        vm_id=entry.vm_id,
        meter=entry.meter,
        began_s=entry.started_at - EPOCH_S,
        ended_s=entry.ended_at - EPOCH_S,
    )
