"""The adaptive keep-warm policy: keep a VM while that is expected to cost less than a cold start.

For each idle gap the policy minimizes the expected cost of VMs and waiting, by backward induction over a grid
of future times, with the rates of an `ArrivalModel`. Without enough history it uses the ski-rental rule: keep
the VM until the idle cost equals the cost of a cold start. The total is then at most twice the optimum. The
decisions depend only on the arrivals: the policy reads no clock and is deterministic.
"""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from typing import TYPE_CHECKING

import numpy as np

from warmfront.orchestrator.arrival_model import ArrivalModel, fit
from warmfront.orchestrator.keep_warm import FixedPolicy, KeepDecision, clock_time
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from warmfront.orchestrator.keep_warm import KeepWarmPolicy
    from warmfront.settings import Settings
    from warmfront.vm import VMInstance

_HOUR_S = 3600.0
#: The lowest rate assumed, so that a free VM is not kept indefinitely.
_MIN_RATE_USD_PER_H = 0.01
#: The model is not fitted to fewer arrivals than this, or to a shorter period.
MIN_ARRIVALS, MIN_PERIOD_S = 12, 24 * _HOUR_S
#: The model is fitted this often, to at most this many arrivals; with fewer than `_FIT_ALWAYS` arrivals it is
#: fitted after every arrival.
_FIT_INTERVAL_S, _MAX_FITTED, _FIT_ALWAYS = 12 * _HOUR_S, 5000, 300
#: The grid of future times, in seconds from now: 30 hours, with steps of 1, 5 and 15 minutes.
_AHEAD_S = np.concatenate(
    [np.arange(0, 1800, 60.0), np.arange(1800, 14_400, 300.0), np.arange(14_400, 108_001, 900.0)]
)
_STEPS_S = np.diff(_AHEAD_S)
_MIDDLES_S = _AHEAD_S[:-1] + _STEPS_S / 2


def policy_memory(settings: Settings) -> int:
    """Return how many of the latest arrivals the configured policy needs after a restart."""
    return FixedPolicy.memory if settings.keep_warm == "fixed" else AdaptivePolicy.memory


def make_policy(
    settings: Settings, gpu: str, rate_usd_per_h: float, boot_s: Callable[[], float]
) -> KeepWarmPolicy:
    """Return the policy that the settings name, for VMs with this GPU type or for CPU nodes."""
    if settings.keep_warm == "fixed":
        return FixedPolicy(settings.idle_timeout_of(gpu))
    return AdaptivePolicy(
        CostModel(
            rate_usd_per_h=max(rate_usd_per_h, _MIN_RATE_USD_PER_H),
            wait_usd_per_h=settings.wait_value_usd_per_h,
            boot_s=boot_s,
            max_idle_s=settings.idle_timeout_max_s,
        )
    )


@dataclass(frozen=True, kw_only=True)
class CostModel:
    """The prices and times that a decision depends on."""

    rate_usd_per_h: float
    wait_usd_per_h: float
    boot_s: Callable[[], float]  #: returns the current estimate
    max_idle_s: float  #: no decision keeps a VM for longer


@dataclass(frozen=True, kw_only=True)
class _GapPlan:
    """The optimal actions from now on, as long as nothing arrives."""

    keep_s: float
    arrival_probability: float  #: the probability that a submission arrives while the VM is kept
    prewarm_in_s: float | None  #: when to prewarm a VM after the release


class AdaptivePolicy:
    """A keep-warm policy that learns from the times of arrivals.

    Args:
        costs: the prices and times to weigh.
    """

    memory = 6000

    def __init__(self, costs: CostModel) -> None:
        self._costs = costs
        self._arrivals: list[float] = []
        self._forgotten = 0
        self._arrival_count = 0
        self._fitted: tuple[object, ArrivalModel | None] = (None, None)
        self._prewarm_at: tuple[object, float | None] = (None, None)
        self._prewarmed_at_count = -1  # `_arrival_count` when a VM was last prewarmed

    def arrived(self, at: float, owner: str) -> None:
        """Record an arrival; the model does not distinguish owners."""
        del owner
        insort(self._arrivals, at)
        if len(self._arrivals) > self.memory:
            del self._arrivals[0]
            self._forgotten += 1
        self._arrival_count += 1

    def decide(self, now: float, vm: VMInstance, *, spare: bool = False) -> KeepDecision:
        """Return until when to keep the VM, by the model or, without a model, by the ski-rental rule."""
        if vm.tasks_done == 0 and vm.provisioned_for is None:
            self._prewarmed_at_count = self._arrival_count
        model = None if spare else self._model(now)
        if model is None:
            until = now + min(self._break_even_s(), self._costs.max_idle_s)
            why = "another VM is free" if spare else "too few submissions so far for a forecast"
            return KeepDecision(
                until=until,
                reason=f"kept until {clock_time(until)}, when idling has cost as much as a cold start: {why}",
            )
        plan = self._plan(now, model)
        self._prewarm_at = (
            (self._arrival_count, model),
            None if plan.prewarm_in_s is None else now + plan.prewarm_in_s,
        )
        until = now + plan.keep_s
        chance = f"{plan.arrival_probability:.0%} chance of a submission"
        if plan.keep_s:
            reason = f"kept until {clock_time(until)}: {chance} before then"
        else:
            reason = f"released at once: {chance} before idling costs more than a cold start"
        return KeepDecision(until=until, reason=reason)

    def prewarm_at(self, now: float) -> float | None:
        """Return when to prewarm a VM, at most once per gap.

        None if prewarming is not expected to pay off.
        """
        model = self._model(now)
        if model is None or self._prewarmed_at_count == self._arrival_count:
            return None
        key = (self._arrival_count, model)
        if self._prewarm_at[0] != key:
            plan = self._plan(now, model, has_vm=False)
            self._prewarm_at = (key, None if plan.prewarm_in_s is None else now + plan.prewarm_in_s)
        return self._prewarm_at[1]

    def _model(self, now: float) -> ArrivalModel | None:
        """Return the model fitted to the arrivals up to the last refit; None if there are too few."""
        due = now // _FIT_INTERVAL_S * _FIT_INTERVAL_S
        count = bisect_right(self._arrivals, due)
        if count < _FIT_ALWAYS:
            count = bisect_right(self._arrivals, now)
            due = self._arrivals[count - 1] if count else 0.0
        if count < MIN_ARRIVALS or due - self._arrivals[0] < MIN_PERIOD_S:
            return None
        key = (due, self._forgotten + count)
        if self._fitted[0] != key:
            arrivals = np.array(self._arrivals[max(0, count - _MAX_FITTED) : count])
            self._fitted = (key, fit(arrivals, due))
        return self._fitted[1]

    def _break_even_s(self) -> float:
        """Return the ski-rental break-even: the idle time that costs as much as a cold start.

        Keeping a VM for this long never costs more than twice the offline optimum.
        """
        costs = self._costs
        return costs.boot_s() * (1 + costs.wait_usd_per_h / costs.rate_usd_per_h)

    def _plan(self, now: float, model: ArrivalModel, *, has_vm: bool = True) -> _GapPlan:
        """Return the optimal plan for this gap, with or without a VM at its beginning."""
        count = bisect_right(self._arrivals, now)
        since_s = now - self._arrivals[count - 1] if count else 0.0
        start_rates = model.start_rates(now + _MIDDLES_S)
        expected = (start_rates + model.followup_rates(since_s + _MIDDLES_S)) * _STEPS_S
        cold_usd = self._cold_usd(start_rates, model)
        may_prewarm = self._prewarmed_at_count != self._arrival_count
        release, prewarm = _backward_induction(
            expected, cold_usd, self._costs, has_vm=has_vm, may_prewarm=may_prewarm
        )
        shown = release or int(np.searchsorted(_AHEAD_S, self._break_even_s()))
        return _GapPlan(
            keep_s=min(float(_AHEAD_S[release]), self._costs.max_idle_s),
            arrival_probability=-math.expm1(-expected[:shown].sum()),
            prewarm_in_s=None if prewarm is None else float(_AHEAD_S[prewarm]),
        )

    def _cold_usd(self, start_rates: NDArray[np.float64], model: ArrivalModel) -> NDArray[np.float64]:
        """Return the extra cost of an arrival that finds no VM, for each step of the grid.

        Submissions that arrive during the boot wait too, but do not need another boot.
        """
        boot_s = self._costs.boot_s()
        more = start_rates * boot_s + model.expected_followups(boot_s)
        waiting_usd = self._costs.wait_usd_per_h / _HOUR_S * boot_s * (1 + more / 2)
        boot_usd = self._costs.rate_usd_per_h / _HOUR_S * boot_s
        return np.asarray(np.maximum(waiting_usd, (boot_usd + waiting_usd) / (1 + more)))


def _backward_induction(
    expected: NDArray[np.float64],
    cold_usd: NDArray[np.float64],
    costs: CostModel,
    *,
    has_vm: bool,
    may_prewarm: bool,
) -> tuple[int, int | None]:
    """Return the grid index at which to release the VM, and the index at which to prewarm another afterwards.

    One pass from the end of the grid: the expected cost from a grid point on is the cost of its step, plus
    the cost from the next point on times the probability that nothing arrives in the step.

    Args:
        expected: the expected number of arrivals per step.
        cold_usd: the extra cost of an arrival that finds no VM, per step.
        costs: the prices and times.
        has_vm: whether there is a VM to release.
        may_prewarm: whether a VM may be prewarmed in this gap.
    """
    no_arrival = np.exp(-expected)
    steps = zip(
        range(no_arrival.size - 1, -1, -1),
        no_arrival[::-1].tolist(),
        ((1 - no_arrival) * cold_usd)[::-1].tolist(),  # the cost of arrivals in the step without a VM
        # The cost of a VM until the first arrival of the step, or to its end.
        (_STEPS_S * (costs.rate_usd_per_h / _HOUR_S / 2) * (1 + no_arrival))[::-1].tolist(),
        *_prewarm_costs(expected, costs, may_prewarm=may_prewarm),
        strict=True,
    )
    last_release = int(np.searchsorted(_AHEAD_S, costs.max_idle_s)) if has_vm else 0
    # Expected costs from a grid point on: without a VM; with the VM; without a VM and without another
    # prewarm; with a prewarmed VM, stored for every grid point.
    without_vm = with_vm = never_prewarm = prewarmed = float(cold_usd[-1])
    prewarmed_at = [prewarmed] * _AHEAD_S.size
    release, prewarm, prewarm_after = no_arrival.size, None, None
    for i, nothing, cold, idle, ready, boot_usd, nothing_in_boot in steps:
        never_prewarm = cold + nothing * never_prewarm
        prewarmed_at[i] = prewarmed = min(never_prewarm, idle + nothing * prewarmed)
        without_vm = cold + nothing * without_vm
        prewarm_usd = boot_usd + nothing_in_boot * prewarmed_at[ready]
        if prewarm_usd < without_vm:
            without_vm, prewarm_after = prewarm_usd, i
        with_vm = idle + nothing * with_vm
        if i >= last_release or with_vm >= without_vm:
            with_vm, release, prewarm = without_vm, i, prewarm_after
    return release, prewarm


def _prewarm_costs(
    expected: NDArray[np.float64], costs: CostModel, *, may_prewarm: bool
) -> tuple[list[int], list[float], list[float]]:
    """Return, for a prewarm at each grid point, when it is ready, its cost, and P(no arrival before).

    The lists begin with the last grid point. At most one VM is prewarmed per gap.
    """
    boot_s = costs.boot_s()
    ready = np.minimum(np.searchsorted(_AHEAD_S, _AHEAD_S[:-1] + boot_s), _AHEAD_S.size - 1)
    sums = np.append(0.0, np.cumsum(expected))
    no_arrival = np.exp(sums[:-1] - sums[ready])
    wait_usd = costs.wait_usd_per_h / _HOUR_S * boot_s / 2
    vm_usd = costs.rate_usd_per_h / _HOUR_S * boot_s if may_prewarm else math.inf
    boot_usd = vm_usd + (1 - no_arrival) * wait_usd
    return ready[::-1].tolist(), boot_usd[::-1].tolist(), no_arrival[::-1].tolist()
