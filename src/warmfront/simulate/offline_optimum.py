"""The offline optimum: the minimum cost of serving known arrivals with one VM, by dynamic programming.

All functions are pure and use floating point: the result is a baseline for policies, never a bill. The
optimum does not prewarm, so a policy that predicts an arrival can cost less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

_HOUR_S = 3600.0


@dataclass(frozen=True, kw_only=True)
class ServingCosts:
    """The times and prices of one VM, and the value of waiting."""

    rate_usd_per_h: float = 1.99
    boot_s: float = 450.0
    task_s: float = 30.0
    wait_usd_per_h: float = 20.0
    granularity_s: float = 0.0  #: billed time is rounded up to a multiple of this; 0 for no rounding
    minimum_s: float = 0.0  #: the shortest time that is billed

    def bill_usd(self, lived_s: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the costs of VMs with these lifetimes."""
        paid_s = np.maximum(lived_s, self.minimum_s)
        if self.granularity_s:
            paid_s = np.ceil(np.round(paid_s / self.granularity_s, 9)) * self.granularity_s
        return paid_s * (self.rate_usd_per_h / _HOUR_S)


@dataclass(frozen=True, kw_only=True)
class Optimum:
    """The cheapest schedule."""

    usd: float  #: cost of the VMs
    waited_s: float  #: total wait of all submissions, from arrival to start
    cold_starts: int
    cost_usd: float  #: VMs plus the cost of waiting
    waits_s: NDArray[np.float64]  #: wait per submission
    lived_s: float  #: total lifetime of all VMs


@dataclass(frozen=True, kw_only=True)
class _BusyPeriods:
    """The busy period that each arrival would begin if it found the queue empty."""

    waited_s: NDArray[np.float64]  #: total wait of the submissions in the period
    idle_at: NDArray[np.float64]  #: when the VM becomes idle
    following: NDArray[np.int64]  #: index of the first arrival after the period

    def columns(self) -> tuple[list[float], list[float], list[int]]:
        """Return the arrays as lists, which are faster to index one element at a time."""
        return self.waited_s.tolist(), self.idle_at.tolist(), self.following.tolist()


def find_optimum(arrivals_s: NDArray[np.float64], costs: ServingCosts) -> Optimum:
    """Return the cheapest schedule for these sorted arrivals."""
    arrivals_s = np.asarray(arrivals_s, dtype=np.float64)
    if not arrivals_s.size:
        return Optimum(usd=0.0, waited_s=0.0, cold_starts=0, cost_usd=0.0, waits_s=np.empty(0), lived_s=0.0)
    cold = _busy(arrivals_s, costs.boot_s, costs.task_s)
    warm = _busy(arrivals_s, 0.0, costs.task_s)
    ends = (
        _by_blocks(arrivals_s, costs, cold, warm)
        if costs.granularity_s or costs.minimum_s
        else _by_the_second(arrivals_s, costs, cold, warm)
    )
    return _follow(arrivals_s, costs, ends)


def _busy(arrivals_s: NDArray[np.float64], late_s: float, task_s: float) -> _BusyPeriods:
    """Compute the busy periods, if the first submission of each starts `late_s` after its arrival."""
    arrivals = arrivals_s.tolist()
    count = len(arrivals)
    waited = np.empty(count)
    idle_at = np.empty(count)
    following = np.empty(count, dtype=np.int64)
    for first in range(count):
        begins = arrivals[first] + late_s
        wait_s, number = 0.0, first
        while number < count and arrivals[number] <= begins:
            wait_s += begins - arrivals[number]
            begins += task_s
            number += 1
        waited[first], idle_at[first], following[first] = wait_s, begins, number
    return _BusyPeriods(waited_s=waited, idle_at=idle_at, following=following)


def _by_the_second(
    arrivals_s: NDArray[np.float64], costs: ServingCosts, cold: _BusyPeriods, warm: _BusyPeriods
) -> NDArray[np.int64]:
    """Solve by backward induction over the arrivals, for billing without rounding or minimum.

    Returns, for each arrival that provisions a VM, the arrival before which that VM is released.
    """
    count = arrivals_s.size
    rate, wait = costs.rate_usd_per_h / _HOUR_S, costs.wait_usd_per_h / _HOUR_S
    arrivals = arrivals_s.tolist()
    # The minimum cost from each arrival on, if it finds no VM, and if it finds one.
    cold_usd, warm_usd = [0.0] * (count + 1), [0.0] * (count + 1)
    cold_ends, warm_ends = [count] * (count + 1), [count] * (count + 1)
    states = ((cold.columns(), cold_usd, cold_ends), (warm.columns(), warm_usd, warm_ends))
    for number in range(count - 1, -1, -1):
        for (waited_s, idle_at, following), minimum_usd, ends in states:
            after = following[number]
            minimum_usd[number] = waited_s[number] * wait + (idle_at[number] - arrivals[number]) * rate
            if after == count:
                continue
            keep_usd = warm_usd[after] + (arrivals[after] - idle_at[number]) * rate
            minimum_usd[number] += min(keep_usd, cold_usd[after])
            ends[number] = warm_ends[after] if keep_usd < cold_usd[after] else after
    return np.array(cold_ends, dtype=np.int64)


def _by_blocks(
    arrivals_s: NDArray[np.float64], costs: ServingCosts, cold: _BusyPeriods, warm: _BusyPeriods
) -> NDArray[np.int64]:
    """Solve for billing in blocks by trying every end of each VM, because costs depend on the whole lifetime.

    Returns the same as `_by_the_second`.
    """
    count = arrivals_s.size
    wait = costs.wait_usd_per_h / _HOUR_S
    minimum_usd = np.zeros(count + 1)  # from each arrival on, if it finds no VM
    ends = np.full(count + 1, count, dtype=np.int64)
    starts = _always_on_starts(warm, count)
    position = np.searchsorted(starts, np.arange(count + 1))
    is_start = np.isin(np.arange(count), starts)
    waited_before = np.append(0.0, np.cumsum(warm.waited_s[starts]))
    idle_at, following = warm.idle_at[starts], warm.following[starts]
    for number in range(count - 1, -1, -1):
        begin, waited = arrivals_s[number], cold.waited_s[number]
        periods = [(cold.idle_at[number], waited, int(cold.following[number]))]
        after = periods[0][2]
        # From the first arrival that also starts a busy period of an always-on VM, both VMs have the same
        # busy periods: take those from the arrays instead of computing them again.
        while after < count and not is_start[after]:
            waited += warm.waited_s[after]
            periods.append((warm.idle_at[after], waited, int(warm.following[after])))
            after = periods[-1][2]
        at = position[after]
        idles = np.append([period[0] for period in periods], idle_at[at:])
        waits = np.append(
            [period[1] for period in periods], waited + waited_before[at + 1 :] - waited_before[at]
        )
        nexts = np.append(np.array([period[2] for period in periods], dtype=np.int64), following[at:])
        total_usd = costs.bill_usd(idles - begin) + waits * wait + minimum_usd[nexts]
        chosen = int(np.argmin(total_usd))
        minimum_usd[number], ends[number] = total_usd[chosen], nexts[chosen]
    return ends


def _always_on_starts(warm: _BusyPeriods, count: int) -> NDArray[np.int64]:
    """Return the arrivals that start the busy periods of a VM that is never released."""
    starts, number = [], 0
    while number < count:
        starts.append(number)
        number = int(warm.following[number])
    return np.array(starts, dtype=np.int64)


def _follow(arrivals_s: NDArray[np.float64], costs: ServingCosts, ends: NDArray[np.int64]) -> Optimum:
    """Return the costs and waits of the schedule that releases each VM before the arrival in `ends`."""
    waits, lives = np.empty(arrivals_s.size), []
    begin = free_at = 0.0
    next_cold = 0
    for number, arrival in enumerate(arrivals_s.tolist()):
        if number == next_cold:
            lives.append(free_at - begin)
            begin, free_at, next_cold = arrival, arrival + costs.boot_s, int(ends[number])
        starts = max(free_at, arrival)
        waits[number] = starts - arrival
        free_at = starts + costs.task_s
    lived = np.array([*lives[1:], free_at - begin])  # the first entry does not belong to a VM
    usd, waited_s = float(costs.bill_usd(lived).sum()), float(waits.sum())
    return Optimum(
        usd=usd,
        waited_s=waited_s,
        cold_starts=lived.size,
        cost_usd=usd + waited_s * costs.wait_usd_per_h / _HOUR_S,
        waits_s=waits,
        lived_s=float(lived.sum()),
    )
