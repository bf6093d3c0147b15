"""How much the coming days will cost, and how long the credits last, from what days have cost so far.

Pure statistics on dollars a day. What then happens lies in an interval nine times of ten, if the days to come
are like those that were; whether they are is for the reader to judge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Fewer full days than this say nothing.
LEAST_DAYS = 3
#: From two weeks on, Mondays are compared with Mondays.
_BY_WEEKDAY_DAYS = 14
_WEEK = 7
#: The normal distribution's 97th percentile: 3% lie above, 3% below the interval. That is a little more than
#: nine of ten, since what days cost is not quite normal, and a promise should hold on an unlucky account too.
_Z = 1.8807936
#: Credits that last longer than ten years last for ever.
_LONGEST_DAYS = 3650


@dataclass(frozen=True, kw_only=True)
class Range:
    """The best guess, and where it lies nine times of ten."""

    low: float
    mid: float
    high: float

    def scaled(self, factor: float) -> Range:
        """The same in another unit."""
        return Range(low=self.low * factor, mid=self.mid * factor, high=self.high * factor)


def coming(daily_usd: Sequence[float], days: int) -> Range | None:
    """Dollars of the coming `days` together; None if too few days were seen."""
    seen = np.asarray(daily_usd, dtype=np.float64)
    if seen.size < LEAST_DAYS or days < 1:
        return None
    kinds = _WEEK if seen.size >= _BY_WEEKDAY_DAYS else 1
    kind = np.arange(seen.size) % kinds
    counts = np.bincount(kind, minlength=kinds)
    means = np.bincount(kind, weights=seen, minlength=kinds) / counts
    ahead = np.bincount(np.arange(seen.size, seen.size + days) % kinds, minlength=kinds)
    freedom = seen.size - kinds
    variance = float(np.sum((seen - means[kind]) ** 2)) / freedom
    # Two things are not known: how the coming days vary, and how well the past ones show the mean.
    spread = math.sqrt(variance * (days + float(np.sum(ahead**2 / counts))))
    mid, half = float(ahead @ means), _student(freedom) * spread
    return Range(low=max(0.0, mid - half), mid=mid, high=mid + half)


def lasts_days(daily_usd: Sequence[float], credits_usd: float) -> Range | None:
    """For how many days the credits are enough; None if too few were seen. Ten years stand for ever."""
    if len(daily_usd) < LEAST_DAYS:
        return None
    a_day = float(np.mean(daily_usd))
    ahead = _LONGEST_DAYS if a_day * _LONGEST_DAYS <= credits_usd else max(1, round(credits_usd / a_day))
    spent = coming(daily_usd, ahead)
    if spent is None:
        return None
    low, mid, high = (_days(credits_usd, usd / ahead) for usd in (spent.high, spent.mid, spent.low))
    return Range(low=low, mid=mid, high=high)


def _days(credits_usd: float, a_day_usd: float) -> float:
    return min(float(_LONGEST_DAYS), credits_usd / a_day_usd) if a_day_usd > 0 else float(_LONGEST_DAYS)


def _student(freedom: int) -> float:
    """The 97th percentile of Student's distribution: the normal one's, and three terms for few days."""
    z, v = _Z, float(freedom)
    terms = (
        (z**3 + z) / (4 * v),
        (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2),
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3),
    )
    return z + sum(terms)
