"""Replay the same arrivals under several policies and conditions, and compare them with the offline optimum.

All costs come from the ledgers of the replays, except the optimum's, which are computed.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from warmfront.simulate.offline_optimum import ServingCosts, find_optimum
from warmfront.simulate.replay import ReplayConfig, replay
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from warmfront.money.billing import Billing
    from warmfront.settings import Settings
    from warmfront.simulate.offline_optimum import Optimum
    from warmfront.simulate.replay import ReplayResult

_HOUR_S = 3600.0
#: Replaying fewer arrivals than this takes less time than starting another process.
_MIN_ARRIVALS_PER_PROCESS = 3000
#: For billing in blocks, the optimum takes quadratic time; it is left out for more arrivals than this.
_MAX_ARRIVALS_BY_BLOCKS = 40_000

BEST = "best possible"


@dataclass(frozen=True, kw_only=True)
class Policy:
    """A keep-warm policy to compare, and its name in the results."""

    name: str
    keep_warm: str  #: a value of WARMFRONT_KEEP_WARM
    idle_s: float | None = None  #: idle timeout of a fixed policy; None for the one in the settings

    def apply_to(self, settings: Settings) -> Settings:
        """Return the settings with this policy."""
        if self.idle_s is None:
            return replace(settings, keep_warm=self.keep_warm)
        longest_s = max(settings.idle_timeout_max_s, self.idle_s)
        return replace(
            settings, keep_warm=self.keep_warm, idle_timeout_s=self.idle_s, idle_timeout_max_s=longest_s
        )


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """Everything that a comparison varies except the policy."""

    max_vms: int
    boot_s: float
    task_s: float
    billing: Billing
    billing_name: str = "second"

    def serving_costs(self, wait_usd_per_h: float) -> ServingCosts:
        """Return the costs from which the optimum is computed."""
        return ServingCosts(
            rate_usd_per_h=float(self.billing.rate_usd_per_h),
            boot_s=self.boot_s,
            task_s=self.task_s,
            wait_usd_per_h=wait_usd_per_h,
            granularity_s=self.billing.granularity_s,
            minimum_s=self.billing.minimum_s,
        )


@dataclass(frozen=True, kw_only=True)
class ComparisonRow:
    """The result of one policy under one set of conditions."""

    policy: str
    conditions: Conditions
    usd: Decimal  #: cost of the VMs, from the ledger, or computed for the optimum
    waits_s: NDArray[np.float64]  #: wait per submission
    cold_starts: int
    utilization: float
    cost_usd: float  #: VMs plus the cost of waiting
    over_best: float | None  #: `cost_usd` as a multiple of the optimum's
    result: ReplayResult | None = None  #: None for the optimum, which is not replayed

    @property
    def tasks(self) -> int:
        """The number of submissions."""
        return self.waits_s.size

    @property
    def usd_per_task(self) -> float:
        """The cost of the VMs per submission."""
        return float(self.usd) / self.tasks if self.tasks else 0.0

    @property
    def wait_usd(self) -> float:
        """The total cost of waiting."""
        return self.cost_usd - float(self.usd)

    def waited_s(self, percentile: float) -> float:
        """Return a percentile of the waits."""
        return float(np.percentile(self.waits_s, percentile)) if self.tasks else 0.0

    @property
    def mean_s(self) -> float:
        """The mean wait."""
        return float(self.waits_s.mean()) if self.tasks else 0.0


def compare(
    arrivals_s: NDArray[np.float64],
    *,
    settings: Settings,
    policies: Iterable[Policy],
    all_conditions: Iterable[Conditions],
    wait_usd_per_h: float,
    shown_s: tuple[float, float] = (0.0, 0.0),
) -> list[ComparisonRow]:
    """Return one row per policy for each set of conditions, followed by the optimum for the same conditions.

    Args:
        arrivals_s: sorted times, in seconds since the trace began.
        settings: the settings to which each policy is applied.
        policies: the keep-warm policies to compare.
        all_conditions: the conditions under which each policy is replayed.
        wait_usd_per_h: the value of an hour of waiting.
        shown_s: the part of the trace for which results include the intervals of VMs.
    """
    settings = replace(settings, wait_value_usd_per_h=wait_usd_per_h)
    pairs = list(itertools.product(all_conditions, policies))
    configs = [
        replace(_config(conditions, policy, settings), shown_s=shown_s) for conditions, policy in pairs
    ]
    results = _replay_all(arrivals_s, configs)
    rows = []
    for conditions, group in itertools.groupby(zip(pairs, results, strict=True), key=lambda item: item[0][0]):
        optimum = _optimum(arrivals_s, conditions, wait_usd_per_h)
        for (_, policy), result in group:
            rows.append(_row(policy.name, conditions, result, wait_usd_per_h, optimum))
        if optimum is not None:
            rows.append(_optimum_row(conditions, optimum))
    return rows


def _config(conditions: Conditions, policy: Policy, settings: Settings) -> ReplayConfig:
    settings = replace(policy.apply_to(settings), max_vms=conditions.max_vms)
    return ReplayConfig(
        settings=settings, billing=conditions.billing, boot_s=conditions.boot_s, task_s=conditions.task_s
    )


def _replay_all(arrivals_s: NDArray[np.float64], configs: list[ReplayConfig]) -> list[ReplayResult]:
    """Run the replays, in parallel processes if there are enough arrivals."""
    workers = min(len(configs), os.cpu_count() or 1)
    if workers < 2 or arrivals_s.size < _MIN_ARRIVALS_PER_PROCESS:
        return [replay(arrivals_s, config) for config in configs]
    # Spawn instead of fork, because the caller may have threads.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        return list(pool.map(replay, itertools.repeat(arrivals_s), configs))


def _optimum(
    arrivals_s: NDArray[np.float64], conditions: Conditions, wait_usd_per_h: float
) -> Optimum | None:
    in_blocks = conditions.billing.granularity_s or conditions.billing.minimum_s
    if in_blocks and arrivals_s.size > _MAX_ARRIVALS_BY_BLOCKS:
        return None
    return find_optimum(arrivals_s, conditions.serving_costs(wait_usd_per_h))


def _row(
    policy: str, conditions: Conditions, result: ReplayResult, wait_usd_per_h: float, optimum: Optimum | None
) -> ComparisonRow:
    cost_usd = float(result.usd) + float(result.waited_s.sum()) * wait_usd_per_h / _HOUR_S
    return ComparisonRow(
        policy=policy,
        conditions=conditions,
        usd=result.usd,
        waits_s=result.waited_s,
        cold_starts=result.cold_starts,
        utilization=result.utilization,
        cost_usd=cost_usd,
        over_best=cost_usd / optimum.cost_usd if optimum is not None and optimum.cost_usd else None,
        result=result,
    )


def _optimum_row(conditions: Conditions, optimum: Optimum) -> ComparisonRow:
    return ComparisonRow(
        policy=BEST,
        conditions=conditions,
        usd=Decimal(repr(optimum.usd)),
        waits_s=optimum.waits_s,
        cold_starts=optimum.cold_starts,
        utilization=optimum.waits_s.size * conditions.task_s / optimum.lived_s if optimum.lived_s else 0.0,
        cost_usd=optimum.cost_usd,
        over_best=1.0,
    )
