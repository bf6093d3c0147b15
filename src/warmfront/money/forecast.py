"""Forecast the cost of the next days, and when the credits run out, from the cost of past days.

The module only does statistics on dollars per day. The actual value is in the prediction interval in nine of
ten cases, if the coming days resemble the past ones.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

#: With fewer full days than this there is no forecast.
MIN_DAYS = 3
#: From two weeks on, each weekday has its own mean.
_BY_WEEKDAY_DAYS = 14
_WEEK = 7
#: The 97th percentile of the normal distribution: 3% lie above and 3% below the interval. This is slightly
#: wider than a 90% interval, because daily costs are not quite normally distributed.
_Z = 1.8807936
#: A forecast of when the credits run out is capped at ten years.
_MAX_FORECAST_DAYS = 3650


@dataclass(frozen=True, kw_only=True)
class Range:
    """An estimate with its 90% prediction interval."""

    low: float
    mid: float
    high: float

    def scaled(self, factor: float) -> Range:
        """Return the range multiplied by a factor, such as to convert its unit."""
        return Range(low=self.low * factor, mid=self.mid * factor, high=self.high * factor)


def cost_of_next_days(daily_usd: Sequence[float], days: int) -> Range | None:
    """Forecast the total cost of the next `days` days; None if there are too few past days."""
    past = np.asarray(daily_usd, dtype=np.float64)
    if past.size < MIN_DAYS or days < 1:
        return None
    groups = _WEEK if past.size >= _BY_WEEKDAY_DAYS else 1
    group = np.arange(past.size) % groups
    counts = np.bincount(group, minlength=groups)
    means = np.bincount(group, weights=past, minlength=groups) / counts
    ahead = np.bincount(np.arange(past.size, past.size + days) % groups, minlength=groups)
    freedom = past.size - groups
    variance = float(np.sum((past - means[group]) ** 2)) / freedom
    # The variance of the coming days plus the variance of the estimated means.
    spread = math.sqrt(variance * (days + float(np.sum(ahead**2 / counts))))
    mid, half = float(ahead @ means), _student_quantile(freedom) * spread
    return Range(low=max(0.0, mid - half), mid=mid, high=mid + half)


def days_until_exhausted(daily_usd: Sequence[float], credits_usd: float) -> Range | None:
    """Forecast how many days the credits last, at most ten years; None if there are too few past days."""
    if len(daily_usd) < MIN_DAYS:
        return None
    mean_usd = float(np.mean(daily_usd))
    lasts_for_years = mean_usd * _MAX_FORECAST_DAYS <= credits_usd
    ahead = _MAX_FORECAST_DAYS if lasts_for_years else max(1, round(credits_usd / mean_usd))
    spent = cost_of_next_days(daily_usd, ahead)
    if spent is None:
        return None
    low, mid, high = (_days(credits_usd, usd / ahead) for usd in (spent.high, spent.mid, spent.low))
    return Range(low=low, mid=mid, high=high)


def _days(credits_usd: float, usd_per_day: float) -> float:
    if usd_per_day <= 0:
        return float(_MAX_FORECAST_DAYS)
    return min(float(_MAX_FORECAST_DAYS), credits_usd / usd_per_day)


def _student_quantile(freedom: int) -> float:
    """Return the 97th percentile of Student's t-distribution, by its Cornish-Fisher expansion."""
    z, v = _Z, float(freedom)
    terms = (
        (z**3 + z) / (4 * v),
        (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2),
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3),
    )
    return z + sum(terms)
