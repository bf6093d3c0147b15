"""The least that serving known arrivals can cost with one VM that is kept or released at the right moments.

Pure functions on arrays, in floating point: a yardstick to hold policies against, never a bill. It does not
boot a VM before it is needed, so that a policy that foresees an arrival can do better.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_HOUR_S = 3600.0


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What a VM takes and costs, and what waiting for one is worth."""

    rate_usd_per_h: float = 1.99
    boot_s: float = 450.0
    task_s: float = 30.0
    wait_usd_per_h: float = 20.0
    granularity_s: float = 0.0  #: every started unit is paid; 0: by the second that was used
    minimum_s: float = 0.0  #: what is paid at least

    def bill_usd(self, lived_s: NDArray[np.float64]) -> NDArray[np.float64]:
        """What VMs that have lived this long cost."""
        paid_s = np.maximum(lived_s, self.minimum_s)
        if self.granularity_s:
            paid_s = np.ceil(np.round(paid_s / self.granularity_s, 9)) * self.granularity_s
        return paid_s * (self.rate_usd_per_h / _HOUR_S)


@dataclass(frozen=True, kw_only=True)
class Best:
    """The cheapest way."""

    usd: float  #: for VMs
    waited_s: float  #: by all tasks together, from arrival to start
    cold_starts: int
    cost_usd: float  #: both, waiting at its value
    waits_s: NDArray[np.float64]  #: of each task
    lived_s: float  #: by all VMs


@dataclass(frozen=True, kw_only=True)
class _Busy:
    """For each arrival that finds the VM idle, or none: how long it works until it is idle again."""

    waited_s: NDArray[np.float64]
    idle_at: NDArray[np.float64]
    following: NDArray[np.int64]  #: the first arrival after that

    def columns(self) -> tuple[list[float], list[float], list[int]]:
        """As lists, which are quicker to look into one by one."""
        return self.waited_s.tolist(), self.idle_at.tolist(), self.following.tolist()


def best(arrivals_s: NDArray[np.float64], terms: Terms) -> Best:
    """What serving these arrivals, in order, costs at least."""
    arrivals_s = np.asarray(arrivals_s, dtype=np.float64)
    if not arrivals_s.size:
        return Best(usd=0.0, waited_s=0.0, cold_starts=0, cost_usd=0.0, waits_s=np.empty(0), lived_s=0.0)
    cold = _busy(arrivals_s, terms.boot_s, terms.task_s)
    warm = _busy(arrivals_s, 0.0, terms.task_s)
    ends = (
        _by_blocks(arrivals_s, terms, cold, warm)
        if terms.granularity_s or terms.minimum_s
        else _by_the_second(arrivals_s, terms, cold, warm)
    )
    return _follow(arrivals_s, terms, ends)


def _busy(arrivals_s: NDArray[np.float64], late_s: float, task_s: float) -> _Busy:
    """If the arrival is begun `late_s` after it came, and those that come meanwhile are queued."""
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
    return _Busy(waited_s=waited, idle_at=idle_at, following=following)


def _by_the_second(
    arrivals_s: NDArray[np.float64], terms: Terms, cold: _Busy, warm: _Busy
) -> NDArray[np.int64]:
    """From the last arrival back: the least from here on, with the VM there and without.

    Returns, for each arrival that boots a VM, the arrival before which that VM is released.
    """
    count = arrivals_s.size
    rate, wait = terms.rate_usd_per_h / _HOUR_S, terms.wait_usd_per_h / _HOUR_S
    arrivals = arrivals_s.tolist()
    without, there = [0.0] * (count + 1), [0.0] * (count + 1)
    ends_without, ends_there = [count] * (count + 1), [count] * (count + 1)
    plans = ((cold.columns(), without, ends_without), (warm.columns(), there, ends_there))
    for number in range(count - 1, -1, -1):
        for (waited_s, idle_at, following), costs, ends in plans:
            after = following[number]
            costs[number] = waited_s[number] * wait + (idle_at[number] - arrivals[number]) * rate
            if after == count:
                continue
            kept = there[after] + (arrivals[after] - idle_at[number]) * rate
            costs[number] += min(kept, without[after])
            ends[number] = ends_there[after] if kept < without[after] else after
    return np.array(ends_without, dtype=np.int64)


def _by_blocks(arrivals_s: NDArray[np.float64], terms: Terms, cold: _Busy, warm: _Busy) -> NDArray[np.int64]:
    """What a VM's life costs depends on all of it: for each arrival that boots one, every end is tried."""
    count = arrivals_s.size
    wait = terms.wait_usd_per_h / _HOUR_S
    least = np.zeros(count + 1)  # from this arrival on, which finds no VM
    ends = np.full(count + 1, count, dtype=np.int64)
    line = _always_on(warm, count)
    place = np.searchsorted(line, np.arange(count + 1))
    on_the_line = np.isin(np.arange(count), line)
    waited_on_line = np.append(0.0, np.cumsum(warm.waited_s[line]))
    idle_at, following = warm.idle_at[line], warm.following[line]
    for number in range(count - 1, -1, -1):
        begin, waited = arrivals_s[number], cold.waited_s[number]
        ways = [(cold.idle_at[number], waited, int(cold.following[number]))]
        after = ways[0][2]
        # A VM that is never released is idle at every arrival of the line: there the line is its future.
        while after < count and not on_the_line[after]:
            waited += warm.waited_s[after]
            ways.append((warm.idle_at[after], waited, int(warm.following[after])))
            after = ways[-1][2]
        at = place[after]
        idles = np.append([way[0] for way in ways], idle_at[at:])
        waits = np.append([way[1] for way in ways], waited + waited_on_line[at + 1 :] - waited_on_line[at])
        nexts = np.append(np.array([way[2] for way in ways], dtype=np.int64), following[at:])
        costs = terms.bill_usd(idles - begin) + waits * wait + least[nexts]
        chosen = int(np.argmin(costs))
        least[number], ends[number] = costs[chosen], nexts[chosen]
    return ends


def _always_on(warm: _Busy, count: int) -> NDArray[np.int64]:
    """The arrivals that find a VM idle that is there from the first one on."""
    line, number = [], 0
    while number < count:
        line.append(number)
        number = int(warm.following[number])
    return np.array(line, dtype=np.int64)


def _follow(arrivals_s: NDArray[np.float64], terms: Terms, ends: NDArray[np.int64]) -> Best:
    """Carry the plan out."""
    waits, lives = np.empty(arrivals_s.size), []
    begin = free_at = 0.0
    next_cold = 0
    for number, arrival in enumerate(arrivals_s.tolist()):
        if number == next_cold:
            lives.append(free_at - begin)
            begin, free_at, next_cold = arrival, arrival + terms.boot_s, int(ends[number])
        starts = max(free_at, arrival)
        waits[number] = starts - arrival
        free_at = starts + terms.task_s
    lived = np.array([*lives[1:], free_at - begin])  # before the first one there was none
    usd, waited_s = float(terms.bill_usd(lived).sum()), float(waits.sum())
    return Best(
        usd=usd,
        waited_s=waited_s,
        cold_starts=lived.size,
        cost_usd=usd + waited_s * terms.wait_usd_per_h / _HOUR_S,
        waits_s=waits,
        lived_s=float(lived.sum()),
    )
