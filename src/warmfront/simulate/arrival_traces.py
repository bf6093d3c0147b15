"""Generated arrivals to replay: three kinds of trace, each determined by its seed.

The functions return sorted arrays of seconds since the trace began, on a Monday at midnight UTC.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

DAY_S = 86_400.0
_HOUR_S = 3600.0
#: The rate of a working day is a Gaussian around 13:30, with this standard deviation, plus a small constant.
_NOON_H, _SPREAD_H, _NIGHT = 13.5, 3.0, 0.01
#: The rate of a weekend day as a share of a weekday's.
_WEEKEND = 0.4
#: Sessions of authors: the mean number of submissions, and the lognormal gaps between them.
_SESSION_MEAN, _GAP_MEDIAN_S, _GAP_SIGMA = 8.0, 105.0, 0.8


def poisson(per_day: float, days: float, seed: int) -> NDArray[np.float64]:
    """Return arrivals of a Poisson process with a constant rate."""
    random = np.random.default_rng(seed)
    return np.sort(random.random(random.poisson(per_day * days))) * days * DAY_S


def workday(per_day: float, days: float, seed: int) -> NDArray[np.float64]:
    """Return arrivals of a working week: many around noon, few at night and on weekends."""
    return _weekly_poisson(per_day, days, np.random.default_rng(seed))


def bursts(per_day: float, days: float, seed: int) -> NDArray[np.float64]:
    """Return arrivals in sessions that begin like `workday`, with a few minutes between submissions."""
    random = np.random.default_rng(seed)
    begins = _weekly_poisson(per_day / _SESSION_MEAN, days, random)
    sizes = random.geometric(1 / _SESSION_MEAN, begins.size)
    gaps = random.lognormal(np.log(_GAP_MEDIAN_S), _GAP_SIGMA, int(sizes.sum()))
    firsts = np.cumsum(sizes) - sizes
    gaps[firsts] = 0.0
    since_first = np.cumsum(gaps)
    since_first -= np.repeat(since_first[firsts], sizes)
    arrivals = np.repeat(begins, sizes) + since_first
    return np.sort(arrivals[arrivals < days * DAY_S])


#: Generators by their name in `warmfront simulate --trace`.
TRACES: dict[str, Callable[[float, float, int], NDArray[np.float64]]] = {
    "poisson": poisson,
    "workday": workday,
    "bursts": bursts,
}


def _weekly_poisson(per_day: float, days: float, random: np.random.Generator) -> NDArray[np.float64]:
    """Return arrivals of a Poisson process whose rate follows the week; `per_day` is the mean of a week."""
    hours = np.arange(int(np.ceil(days * 24)))
    weights = _week()
    means = per_day / 24 * weights[hours % weights.size] / weights.mean()
    counts = random.poisson(means)
    arrivals = (np.repeat(hours, counts) + random.random(int(counts.sum()))) * _HOUR_S
    return np.sort(arrivals[arrivals < days * DAY_S])


def _week() -> NDArray[np.float64]:
    """Return the relative rate of each hour of the week, starting with Monday's first hour."""
    hours = np.arange(24) + 0.5
    day = np.exp(-(((hours - _NOON_H) / _SPREAD_H) ** 2) / 2) + _NIGHT
    return np.concatenate([day] * 5 + [day * _WEEKEND] * 2)
