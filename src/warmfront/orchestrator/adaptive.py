"""Keeps a VM for as long as that costs less than the cold start that it may save, by what it has learned.

It weighs one gap, from the moment a VM has nothing to do to the next arrival, at a time. Told the same
arrivals again it decides the same: it remembers nothing else of weight, and reads no clock.
"""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from warmfront.orchestrator.arrival_model import ArrivalModel, learn
from warmfront.orchestrator.keep_warm import FixedPolicy, KeepDecision, clock_time

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from warmfront.orchestrator.keep_warm import KeepWarmPolicy
    from warmfront.settings import Settings
    from warmfront.vm import VMInstance

_HOUR_S = 3600.0
#: A VM that costs nothing is kept as one that costs next to nothing.
_LEAST_RATE_USD_PER_H = 0.01
#: With fewer arrivals than this, or over a shorter time, there is nothing to learn from.
_ENOUGH, _ENOUGH_S = 12, 24 * _HOUR_S
#: It learns anew so often, and from so many arrivals at most; while there are few, with each of them.
_LEARN_EVERY_S, _LEARN_FROM, _FEW = 12 * _HOUR_S, 5000, 300
#: The moments ahead that are looked at, in seconds: finely at first, and for a day and a bit.
_AHEAD_S = np.concatenate(
    [np.arange(0, 1800, 60.0), np.arange(1800, 14_400, 300.0), np.arange(14_400, 108_001, 900.0)]
)
_STEPS_S = np.diff(_AHEAD_S)
_MIDDLES_S = _AHEAD_S[:-1] + _STEPS_S / 2


def policy_memory(settings: Settings) -> int:
    """Return how many of the latest arrivals the configured policy needs after a restart."""
    return FixedPolicy.memory if settings.keep_warm == "fixed" else AdaptivePolicy.memory


def make_policy(settings: Settings, rate_usd_per_h: float, boot_s: Callable[[], float]) -> KeepWarmPolicy:
    """Return the policy that the settings name."""
    if settings.keep_warm == "fixed":
        return FixedPolicy(settings.idle_timeout_s)
    return AdaptivePolicy(
        CostModel(
            rate_usd_per_h=max(rate_usd_per_h, _LEAST_RATE_USD_PER_H),
            wait_usd_per_h=settings.wait_value_usd_per_h,
            boot_s=boot_s,
            longest_s=settings.idle_timeout_max_s,
        )
    )


@dataclass(frozen=True, kw_only=True)
class CostModel:
    """What is weighed."""

    rate_usd_per_h: float
    wait_usd_per_h: float
    boot_s: Callable[[], float]  #: as it is known at present
    longest_s: float  #: no decision keeps a VM longer


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """What is best from now on, if nothing comes."""

    keep_s: float
    chance: float  #: that a task comes while the VM is kept
    boot_in_s: float | None  #: when to boot one that nobody asked for


class AdaptivePolicy:
    """Learns from the gaps between arrivals."""

    memory = 6000

    def __init__(self, costs: CostModel) -> None:
        self._costs = costs
        self._arrivals: list[float] = []
        self._forgotten = 0
        self._seen = 0
        self._learned: tuple[object, ArrivalModel | None] = (None, None)
        self._boot_at: tuple[object, float | None] = (None, None)
        self._booted_ahead = -1  # `_seen` when a VM was last booted ahead

    def arrived(self, at: float, owner: str) -> None:
        """It learns from when, not from whom."""
        del owner
        insort(self._arrivals, at)
        if len(self._arrivals) > self.memory:
            del self._arrivals[0]
            self._forgotten += 1
        self._seen += 1

    def decide(self, now: float, vm: VMInstance, *, spare: bool = False) -> KeepDecision:
        """For as long as it pays."""
        if vm.tasks_done == 0 and vm.provisioned_for is None:
            self._booted_ahead = self._seen
        model = None if spare else self._model(now)
        if model is None:
            until = now + min(self._break_even_s(), self._costs.longest_s)
            why = "another is free too" if spare else "few tasks were seen yet"
            return KeepDecision(
                until=until, reason=f"kept until {clock_time(until)}, as long as a boot costs: {why}"
            )
        plan = self._plan(now, model)
        self._boot_at = ((self._seen, model), None if plan.boot_in_s is None else now + plan.boot_in_s)
        until = now + plan.keep_s
        if plan.keep_s:
            reason = f"kept until {clock_time(until)}: {plan.chance:.0%} chance of a task before then"
        else:
            reason = f"let go at once: {plan.chance:.0%} chance of a task while keeping it pays"
        return KeepDecision(until=until, reason=reason)

    def prewarm_at(self, now: float) -> float | None:
        """Once in a gap, where it is likely enough that a task comes soon after."""
        model = self._model(now)
        if model is None or self._booted_ahead == self._seen:
            return None
        known = (self._seen, model)
        if self._boot_at[0] != known:
            plan = self._plan(now, model, there=False)
            self._boot_at = (known, None if plan.boot_in_s is None else now + plan.boot_in_s)
        return self._boot_at[1]

    def _model(self, now: float) -> ArrivalModel | None:
        """What was learned up to the last time that it was due; None: there was too little."""
        due = now // _LEARN_EVERY_S * _LEARN_EVERY_S
        count = bisect_right(self._arrivals, due)
        if count < _FEW:
            count = bisect_right(self._arrivals, now)
            due = self._arrivals[count - 1] if count else 0.0
        if count < _ENOUGH or due - self._arrivals[0] < _ENOUGH_S:
            return None
        key = (due, self._forgotten + count)
        if self._learned[0] != key:
            known = np.array(self._arrivals[max(0, count - _LEARN_FROM) : count])
            self._learned = (key, learn(known, due))
        return self._learned[1]

    def _break_even_s(self) -> float:
        """A VM kept for so long costs as much as a cold start: never twice the best, whatever comes."""
        costs = self._costs
        return costs.boot_s() * (1 + costs.wait_usd_per_h / costs.rate_usd_per_h)

    def _plan(self, now: float, model: ArrivalModel, *, there: bool = True) -> _Plan:
        """Work back from the far end: at each moment, is it cheaper to have a VM or not?"""
        count = bisect_right(self._arrivals, now)
        since_s = now - self._arrivals[count - 1] if count else 0.0
        begin = model.begin_rates(now + _MIDDLES_S)
        expected = (begin + model.going_on(since_s + _MIDDLES_S)) * _STEPS_S
        cold_usd = self._cold_usd(begin, model)
        may_boot = self._booted_ahead != self._seen
        release, boot = _weigh(expected, cold_usd, self._costs, there=there, may_boot=may_boot)
        shown = release or int(np.searchsorted(_AHEAD_S, self._break_even_s()))
        return _Plan(
            keep_s=min(float(_AHEAD_S[release]), self._costs.longest_s),
            chance=-math.expm1(-expected[:shown].sum()),
            boot_in_s=None if boot is None else float(_AHEAD_S[boot]),
        )

    def _cold_usd(self, begin: NDArray[np.float64], model: ArrivalModel) -> NDArray[np.float64]:
        """What it costs more to meet an arrival without a VM than with one, as people begin to work.

        Whoever comes while the VM boots waits too, and needs no boot of their own.
        """
        boot_s = self._costs.boot_s()
        more = begin * boot_s + model.following(boot_s)
        waiting_usd = self._costs.wait_usd_per_h / _HOUR_S * boot_s * (1 + more / 2)
        boot_usd = self._costs.rate_usd_per_h / _HOUR_S * boot_s
        return np.asarray(np.maximum(waiting_usd, (boot_usd + waiting_usd) / (1 + more)))


def _weigh(
    expected: NDArray[np.float64],
    cold_usd: NDArray[np.float64],
    costs: CostModel,
    *,
    there: bool,
    may_boot: bool,
) -> tuple[int, int | None]:
    """Which of the moments ahead is the one to let go of a VM that is there, and then to boot another at.

    `expected`: arrivals in each step; `cold_usd`: what one of them costs without a VM. One pass, from the far
    end: a moment's worth is what its step costs, and what the next is worth if nothing comes.
    """
    stays = np.exp(-expected)
    steps = zip(
        range(stays.size - 1, -1, -1),
        stays[::-1].tolist(),
        ((1 - stays) * cold_usd)[::-1].tolist(),  # what the arrivals of this step cost without a VM
        # And what it costs to have one until the first of them comes, or to the end of the step.
        (_STEPS_S * (costs.rate_usd_per_h / _HOUR_S / 2) * (1 + stays))[::-1].tolist(),
        *_boots(expected, costs, may_boot=may_boot),
        strict=True,
    )
    longest = int(np.searchsorted(_AHEAD_S, costs.longest_s)) if there else 0
    # With none; with one; with none and none ahead; with one that was booted ahead, and at each moment.
    without = kept = never = booted = far_usd = float(cold_usd[-1])
    booted_at = [far_usd] * _AHEAD_S.size
    release, boot, boot_after = stays.size, None, None
    for i, stay, cold, having, ready, booting_usd, nobody in steps:
        never = cold + stay * never
        booted_at[i] = booted = min(never, having + stay * booted)
        without = cold + stay * without
        ahead = booting_usd + nobody * booted_at[ready]
        if ahead < without:
            without, boot_after = ahead, i
        kept = having + stay * kept
        if i >= longest or kept >= without:
            kept, release, boot = without, i, boot_after
    return release, boot


def _boots(
    expected: NDArray[np.float64], costs: CostModel, *, may_boot: bool
) -> tuple[list[int], list[float], list[float]]:
    """If a VM is booted at a moment: when it is ready, what that costs, how likely nobody comes meanwhile.

    The last moment first. After such a boot none is booted ahead again in this gap.
    """
    boot_s = costs.boot_s()
    ready = np.minimum(np.searchsorted(_AHEAD_S, _AHEAD_S[:-1] + boot_s), _AHEAD_S.size - 1)
    sums = np.append(0.0, np.cumsum(expected))
    nobody = np.exp(sums[:-1] - sums[ready])
    wait_usd = costs.wait_usd_per_h / _HOUR_S * boot_s / 2
    boot_usd = costs.rate_usd_per_h / _HOUR_S * boot_s if may_boot else math.inf
    booting_usd = boot_usd + (1 - nobody) * wait_usd
    return ready[::-1].tolist(), booting_usd[::-1].tolist(), nobody[::-1].tolist()
