"""Replay arrivals through the real orchestrator, store, ledger and policies in virtual time.

The results are read from the store: costs from the ledger, waits from submissions and attempts. Only the
cloud is simulated, and it never fails.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from warmfront.events import Xray
from warmfront.orchestrator.orchestrator import VMOrchestrator
from warmfront.simulate.steady_cloud import SteadyListeners, SteadyProvider
from warmfront.simulate.virtual_time import VirtualClock, VirtualLoop, run_virtual
from warmfront.store.memory_database import MemoryDatabase
from warmfront.store.store import Store
from warmfront.submission import NewSubmission
from warmfront.value_class import dataclass
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from warmfront.clock import Clock
    from warmfront.money.billing import Billing
    from warmfront.settings import Settings
    from warmfront.store.records import LedgerEntry, Meter
    from warmfront.submission import Submission

#: A Monday at midnight UTC, like the beginning of every trace.
EPOCH_S = 1_700_438_400.0
_FIRST_DAY = datetime.fromtimestamp(EPOCH_S, UTC).replace(tzinfo=None)
#: The interval of heartbeats and of the reconciler. It is long, because nothing fails in a replay.
_MONTH_S = 30 * 86_400.0
#: VMs are released this long after the last submission, because nothing else arrives.
_TAIL_S = 3600.0


@dataclass(frozen=True, kw_only=True)
class ReplayConfig:
    """The settings and the cloud of one replay."""

    settings: Settings  #: policy, idle timeout, maximum number of VMs, wait value
    billing: Billing
    boot_s: float = 450.0
    task_s: float = 30.0
    shown_s: tuple[float, float] = (0.0, 0.0)  #: the part of the trace whose intervals are returned


@dataclass(frozen=True, kw_only=True)
class VMInterval:
    """One ledger interval of one VM, in seconds since the trace began."""

    vm_id: str
    meter: Meter
    began_s: float
    ended_s: float


@dataclass(frozen=True, kw_only=True)
class ReplayResult:
    """The result of a replay, read from its store."""

    usd: Decimal  #: total of the ledger
    waited_s: NDArray[np.float64]  #: wait per submission, from arrival to start
    cold_starts: int
    lived_s: float  #: total lifetime of all VMs
    worked_s: float  #: the part of it in which attempts ran
    usd_by_day: tuple[Decimal, ...] = ()  #: from the first day of the trace to the last with a cost
    intervals: tuple[VMInterval, ...] = ()  #: ledger intervals in the part of the trace to show

    @property
    def utilization(self) -> float:
        """The share of the VMs' lifetime in which attempts ran."""
        return self.worked_s / self.lived_s if self.lived_s else 0.0


def replay(arrivals_s: NDArray[np.float64], config: ReplayConfig) -> ReplayResult:
    """Submit every arrival at its time, wait until every VM has terminated, and return the result."""
    loop = VirtualLoop()
    loop.set_task_factory(None)  # plain tasks are enough: a replay does not depend on the order of a set
    database = MemoryDatabase(for_replay=True)
    store = Store(database)
    try:
        with _quiet_logs():
            run_virtual(run_service(arrivals_s, config, store, VirtualClock(loop, EPOCH_S)), loop=loop)
            return asyncio.run(read_result(store, config.shown_s))
    finally:
        database.dispose()


async def run_service(
    arrivals_s: NDArray[np.float64], config: ReplayConfig, store: Store, clock: Clock
) -> None:
    """Run a service with these arrivals until its last VM has terminated."""
    ids = itertools.count(1)
    orchestrator = VMOrchestrator(
        store=store,
        provider=SteadyProvider(clock=clock, billing=config.billing, boot_s=config.boot_s),
        listeners=SteadyListeners(config.task_s),
        xray=_xray,
        settings=_settings(config),
        clock=clock,
        token_for=lambda vm_id: vm_id,
        new_id=lambda kind: f"{kind}{next(ids)}",
        reconcile_interval_s=_MONTH_S,
    )
    await orchestrator.start()
    loop = asyncio.get_running_loop()
    for at_s in arrivals_s.tolist():
        if at_s > loop.time():
            await asyncio.sleep(at_s - loop.time())
        await orchestrator.submit(_submission(f"sub{next(ids)}", EPOCH_S + at_s))
    await _wait_until_drained(orchestrator, config)
    await orchestrator.stop()


async def _wait_until_drained(orchestrator: VMOrchestrator, config: ReplayConfig) -> None:
    """Wait until all submissions are done and all VMs terminated; release VMs that stay idle too long."""
    idle_s, pause_s = 0.0, config.boot_s + config.task_s
    while True:
        await asyncio.sleep(pause_s)
        pool = orchestrator.pool()
        if not orchestrator.queue_length() and not pool:
            return
        is_busy = orchestrator.queue_length() or not all(vm.state.is_free for vm in pool)
        idle_s = 0.0 if is_busy else idle_s + pause_s
        if idle_s > _TAIL_S:
            await orchestrator.release_all("end of the trace")
            return


@contextlib.contextmanager
def _quiet_logs() -> Iterator[None]:
    """Log only errors, because a simulated service would log at least one line per submission."""
    logger = logging.getLogger("warmfront")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _settings(config: ReplayConfig) -> Settings:
    """Return the settings without frequent checks, short timeouts and a budget.

    A replay does not need them.
    """
    return replace(
        config.settings,
        heartbeat_s=_MONTH_S,
        lost_after_s=2 * _MONTH_S,
        watchdog_s=3 * _MONTH_S,
        provision_timeout_s=max(config.settings.provision_timeout_s, 2 * config.boot_s),
        task_timeout_s=max(config.settings.task_timeout_s, 2 * config.task_s),
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


_XRAY = Xray(arch="", gpu="MI300X", compiler="", compiles=True, kernels=[], findings=[])


async def _xray(_submission: Submission, _code: str) -> Xray:
    return _XRAY


async def read_result(store: Store, shown_s: tuple[float, float] = (0.0, 0.0)) -> ReplayResult:
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


def _interval(entry: LedgerEntry) -> VMInterval:
    return VMInterval(
        vm_id=entry.vm_id,
        meter=entry.meter,
        began_s=entry.started_at - EPOCH_S,
        ended_s=entry.ended_at - EPOCH_S,
    )
