"""Replays the same arrivals once for each way to do it, and sets the results beside the best possible.

Every dollar is a ledger's; only the line of the best possible is computed, and says so. Nothing is printed.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from warmfront.simulate.optimum import Terms, best
from warmfront.simulate.replay import Plan, replay

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from warmfront.money.billing import Billing
    from warmfront.settings import Settings
    from warmfront.simulate.optimum import Best
    from warmfront.simulate.replay import ReplayResult

_HOUR_S = 3600.0
#: Fewer tasks than this are replayed sooner than another process has started.
_WORTH_A_PROCESS = 3000
#: The best possible takes the square of this many steps where a VM is billed by the block.
_MOST_BY_BLOCKS = 40_000

BEST = "best possible"


@dataclass(frozen=True, kw_only=True)
class Policy:
    """A way to decide how long an idle VM is kept, and what it is called."""

    name: str
    keep_warm: str  #: as WARMFRONT_KEEP_WARM has it
    idle_s: float | None = None  #: of a fixed timer; None: as the settings have it

    def applied(self, settings: Settings) -> Settings:
        """The settings with this policy."""
        if self.idle_s is None:
            return replace(settings, keep_warm=self.keep_warm)
        longest_s = max(settings.idle_timeout_max_s, self.idle_s)
        return replace(
            settings, keep_warm=self.keep_warm, idle_timeout_s=self.idle_s, idle_timeout_max_s=longest_s
        )


@dataclass(frozen=True, kw_only=True)
class Case:
    """All but the policy."""

    max_vms: int
    boot_s: float
    task_s: float
    billing: Billing
    billing_name: str = "second"

    def terms(self, wait_usd_per_h: float) -> Terms:
        """What the best possible is computed from."""
        return Terms(
            rate_usd_per_h=float(self.billing.rate_usd_per_h),
            boot_s=self.boot_s,
            task_s=self.task_s,
            wait_usd_per_h=wait_usd_per_h,
            granularity_s=self.billing.granularity_s,
            minimum_s=self.billing.minimum_s,
        )


@dataclass(frozen=True, kw_only=True)
class Row:
    """How one way went."""

    policy: str
    case: Case
    usd: Decimal  #: a ledger's; computed where it is the best possible
    waits_s: NDArray[np.float64]  #: of each task
    cold_starts: int
    utilisation: float
    cost_usd: float  #: dollars, and waiting at its value
    over_best: float | None  #: as a multiple of the best possible
    outcome: ReplayResult | None = None  #: None: it was not replayed

    @property
    def tasks(self) -> int:
        """How many were served."""
        return self.waits_s.size

    @property
    def usd_per_task(self) -> float:
        """The total over the tasks."""
        return float(self.usd) / self.tasks if self.tasks else 0.0

    @property
    def wait_usd(self) -> float:
        """What all the waiting is worth."""
        return self.cost_usd - float(self.usd)

    def waited_s(self, percentile: float) -> float:
        """So many percent of the tasks waited no longer."""
        return float(np.percentile(self.waits_s, percentile)) if self.tasks else 0.0

    @property
    def mean_s(self) -> float:
        """Of a task's waiting."""
        return float(self.waits_s.mean()) if self.tasks else 0.0


def compare(
    arrivals_s: NDArray[np.float64],
    *,
    settings: Settings,
    policies: Iterable[Policy],
    cases: Iterable[Case],
    wait_usd_per_h: float,
    shown_s: tuple[float, float] = (0.0, 0.0),
) -> list[Row]:
    """A row for every policy in every case, and after those of a case the best possible."""
    settings = replace(settings, wait_value_usd_per_h=wait_usd_per_h)
    ways = list(itertools.product(cases, policies))
    plans = [replace(_plan(case, policy, settings), shown_s=shown_s) for case, policy in ways]
    outcomes = _replay_all(arrivals_s, plans)
    rows = []
    for case, group in itertools.groupby(zip(ways, outcomes, strict=True), key=lambda pair: pair[0][0]):
        least = _best(arrivals_s, case, wait_usd_per_h)
        for (_, policy), outcome in group:
            rows.append(_row(policy.name, case, outcome, wait_usd_per_h, least))
        if least is not None:
            rows.append(_best_row(case, least))
    return rows


def _plan(case: Case, policy: Policy, settings: Settings) -> Plan:
    settings = replace(policy.applied(settings), max_vms=case.max_vms)
    return Plan(settings=settings, billing=case.billing, boot_s=case.boot_s, task_s=case.task_s)


def _replay_all(arrivals_s: NDArray[np.float64], plans: list[Plan]) -> list[ReplayResult]:
    """Each in a process of its own where that is worth it: replays know nothing of each other."""
    workers = min(len(plans), os.cpu_count() or 1)
    if workers < 2 or arrivals_s.size < _WORTH_A_PROCESS:
        return [replay(arrivals_s, plan) for plan in plans]
    # Not forked: whoever calls may have threads.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        return list(pool.map(replay, itertools.repeat(arrivals_s), plans))


def _best(arrivals_s: NDArray[np.float64], case: Case, wait_usd_per_h: float) -> Best | None:
    in_blocks = case.billing.granularity_s or case.billing.minimum_s
    if in_blocks and arrivals_s.size > _MOST_BY_BLOCKS:
        return None
    return best(arrivals_s, case.terms(wait_usd_per_h))


def _row(policy: str, case: Case, outcome: ReplayResult, wait_usd_per_h: float, least: Best | None) -> Row:
    cost_usd = float(outcome.usd) + float(outcome.waited_s.sum()) * wait_usd_per_h / _HOUR_S
    return Row(
        policy=policy,
        case=case,
        usd=outcome.usd,
        waits_s=outcome.waited_s,
        cold_starts=outcome.cold_starts,
        utilisation=outcome.utilisation,
        cost_usd=cost_usd,
        over_best=cost_usd / least.cost_usd if least is not None and least.cost_usd else None,
        outcome=outcome,
    )


def _best_row(case: Case, least: Best) -> Row:
    return Row(
        policy=BEST,
        case=case,
        usd=Decimal(repr(least.usd)),
        waits_s=least.waits_s,
        cold_starts=least.cold_starts,
        utilisation=least.waits_s.size * case.task_s / least.lived_s if least.lived_s else 0.0,
        cost_usd=least.cost_usd,
        over_best=1.0,
    )
