"""Arrivals to replay: made from a seed, in the three shapes that a service of this kind sees.

Pure functions to arrays of seconds since the trace's beginning, which is a Monday's midnight, UTC. Nothing
here knows what an arrival leads to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

DAY_S = 86_400.0
_HOUR_S = 3600.0
#: The working day is a bell around half past one, three hours wide, over a little work at any hour.
_NOON_H, _SPREAD_H, _NIGHT = 13.5, 3.0, 0.01
#: What a day of the weekend has of a weekday.
_WEEKEND = 0.4
#: One author iterating: so many submissions in a session, and the gaps between them, in seconds.
_SESSION_MEAN, _GAP_MEDIAN_S, _GAP_SIGMA = 8.0, 105.0, 0.8


def poisson(per_day: float, days: float, seed: int) -> NDArray[np.float64]:
    """Anybody, at any time: the gaps have no memory."""
    chance = np.random.default_rng(seed)
    return np.sort(chance.random(chance.poisson(per_day * days))) * days * DAY_S


def workday(per_day: float, days: float, seed: int) -> NDArray[np.float64]:
    """People at work: busy around noon, quiet at night and at weekends."""
    return _by_the_hour(per_day, days, np.random.default_rng(seed))


def bursts(per_day: float, days: float, seed: int) -> NDArray[np.float64]:
    """Authors who iterate: sessions that begin as a working day has it, a few minutes between tries."""
    chance = np.random.default_rng(seed)
    begins = _by_the_hour(per_day / _SESSION_MEAN, days, chance)
    sizes = chance.geometric(1 / _SESSION_MEAN, begins.size)
    gaps = chance.lognormal(np.log(_GAP_MEDIAN_S), _GAP_SIGMA, int(sizes.sum()))
    firsts = np.cumsum(sizes) - sizes
    gaps[firsts] = 0.0
    since_first = np.cumsum(gaps)
    since_first -= np.repeat(since_first[firsts], sizes)
    arrivals = np.repeat(begins, sizes) + since_first
    return np.sort(arrivals[arrivals < days * DAY_S])


#: By the name that `warmfront simulate --trace` takes.
TRACES: dict[str, Callable[[float, float, int], NDArray[np.float64]]] = {
    "poisson": poisson,
    "workday": workday,
    "bursts": bursts,
}


def _by_the_hour(per_day: float, days: float, chance: np.random.Generator) -> NDArray[np.float64]:
    """A Poisson process whose rate follows the week, `per_day` on average over whole weeks."""
    hours = np.arange(int(np.ceil(days * 24)))
    weights = _week()
    means = per_day / 24 * weights[hours % weights.size] / weights.mean()
    counts = chance.poisson(means)
    arrivals = (np.repeat(hours, counts) + chance.random(int(counts.sum()))) * _HOUR_S
    return np.sort(arrivals[arrivals < days * DAY_S])


def _week() -> NDArray[np.float64]:
    """How busy each hour of a week is, from Monday's first on."""
    hours = np.arange(24) + 0.5
    day = np.exp(-(((hours - _NOON_H) / _SPREAD_H) ** 2) / 2) + _NIGHT
    return np.concatenate([day] * 5 + [day * _WEEKEND] * 2)
