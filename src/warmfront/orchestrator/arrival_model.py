"""How likely a task is at each moment ahead, learned from when tasks came.

Two things add up: people who begin to work, at a rate that follows the hour and the day of the week, and
people who go on, at a rate that depends on how long ago the last task came. It decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_HOUR_S, _HALF_S = 3600.0, 1800.0
_DAY_S = 86_400.0
#: After so many days an arrival counts half.
_HALF_LIFE_DAYS = 60.0
#: Neighbouring hours lend each other evidence, with these weights at a distance of 0, 1, 2 hours.
_NEIGHBOURS = (1.0, 0.6, 0.15)
#: Until so many tasks speak for it, an hour is thought like every other, and a day too.
_HOUR_PRIOR, _WEEKDAY_PRIOR = 0.2, 6.0
#: How long ago the last task came: the edges between which going on is thought equally likely, in seconds.
_SINCE_S = np.array([0, 30, 60, 120, 180, 300, 450, 600, 900, 1200, 1800, 2700, 3600, 5400, 7200.0])
_WIDTHS_S = np.diff(_SINCE_S)
#: Seconds without anyone going on that every such stretch starts with: a handful of tasks is no habit.
_SINCE_PRIOR_S = 1800.0
#: Rounds in which tasks are shared out between those who begin and those who go on.
_ROUNDS = 12


@dataclass(frozen=True, kw_only=True, eq=False)
class ArrivalModel:
    """Rates, in tasks a second."""

    begin: NDArray[np.float64]  #: of people who begin, for each hour of the week
    go_on: NDArray[np.float64]  #: of people who go on, for each stretch of `_SINCE_S`; none after the last

    def begin_rates(self, at: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of those who begin alone, at these moments; between the middles of two hours it changes evenly."""
        return _between(self.begin, *_hours(at))

    def going_on(self, since_s: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of those who go on alone, if the last task came so long ago."""
        return np.append(self.go_on, 0.0)[np.searchsorted(_SINCE_S, since_s, side="right") - 1]

    def following(self, within_s: float) -> float:
        """How many go on within so long after a task, on average."""
        covered_s = np.minimum(np.maximum(within_s - _SINCE_S[:-1], 0.0), _WIDTHS_S)
        return float((self.go_on * covered_s).sum())


def learn(arrivals: NDArray[np.float64], now: float) -> ArrivalModel:
    """From sorted arrivals up to now, of which there are two at least.

    Nobody says whether a task began something or went on with it: it is shared out by the rates found so far,
    and the rates are found again from the shares.
    """
    weights = _weights(arrivals, now)
    gaps_s = np.diff(arrivals, append=now)
    stretch = np.searchsorted(_SINCE_S, gaps_s, side="right") - 1
    exposed_s = _lived_s(gaps_s, stretch, weights) + _SINCE_PRIOR_S
    # What came after each gap but the last, which is still open; of one half-hour and stretch all are alike.
    half = (arrivals[1:] // _HALF_S % 336).astype(np.int64)
    tasks = _counted(half * _SINCE_S.size + stretch[:-1], weights[:-1], 336 * _SINCE_S.size)
    kinds = np.flatnonzero(tasks)
    tasks, (half, stretch) = tasks[kinds], np.divmod(kinds, _SINCE_S.size)
    week = _Week.of(half // 2, tasks, arrivals[0], now)
    hours = _hours((half + 0.5).astype(np.float64) * _HALF_S)
    went_on = np.where(stretch == _SINCE_S.size - 1, 0.0, 0.5)
    for _ in range(_ROUNDS):
        counts = _counted(stretch, tasks * went_on, _SINCE_S.size)
        model = ArrivalModel(begin=week.rates(1 - went_on), go_on=counts[:-1] / exposed_s)
        going_on = np.append(model.go_on, 0.0)[stretch]
        went_on = going_on / (_between(model.begin, *hours) + going_on)
    return model


def _lived_s(
    gaps_s: NDArray[np.float64], stretch: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How long these gaps, each of which ended in its stretch, were in every stretch but the endless last."""
    ended = _counted(stretch, weights, _SINCE_S.size)
    within_s = _counted(stretch, weights * gaps_s, _SINCE_S.size) - ended * _SINCE_S
    outlived = ended[::-1].cumsum()[::-1][1:]
    return np.asarray(within_s[:-1] + outlived * _WIDTHS_S)


@dataclass(kw_only=True)
class _Week:
    """The hours of the week, as tasks came and as time went by."""

    tasks: NDArray[np.float64]  #: how many of each kind
    hour: NDArray[np.int64]  #: of the day, of each kind
    day: NDArray[np.int64]  #: of the week, of each kind
    lived_s: NDArray[np.float64]  #: 7 by 24
    share: NDArray[np.float64]  #: how busy a day of the week is, over all days

    @classmethod
    def of(cls, hour: NDArray[np.int64], tasks: NDArray[np.float64], first: float, now: float) -> _Week:
        """Of tasks that came in these hours of the week, from the first task until now."""
        hours = now - (np.arange(max(1.0, (now - first) / _HOUR_S)) + 0.5) * _HOUR_S
        place = (hours // _HOUR_S % 168).astype(np.int64)
        lived_s = _counted(place, _weights(hours, now) * _HOUR_S, 168).reshape(7, 24)
        return cls(tasks=tasks, hour=hour % 24, day=hour // 24, lived_s=lived_s, share=np.ones(7))

    def rates(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each hour of the week, if each kind of task counts so much: an hour's rate, a day's share."""
        tasks = self.tasks * counts
        overall = (tasks.sum() + 1.0) / (self.lived_s.sum() + _DAY_S)
        found = _smoothed(_counted(self.hour, tasks, 24)) + _HOUR_PRIOR
        lived = _smoothed((self.share[:, None] * self.lived_s).sum(axis=0))
        hourly = found / (lived + _HOUR_PRIOR / overall)
        expected = (self.lived_s * hourly).sum(axis=1) + _WEEKDAY_PRIOR
        self.share = (_counted(self.day, tasks, 7) + _WEEKDAY_PRIOR) / expected
        return np.outer(self.share, hourly).ravel()


def _hours(at: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """The two hours of the week between whose middles each moment is, and how far it is from the first."""
    hours = np.asarray(at) / _HOUR_S - 0.5
    first = np.floor(hours)
    early = first.astype(np.int64) % 168
    return early, (early + 1) % 168, hours - first


def _between(
    week: NDArray[np.float64],
    early: NDArray[np.int64],
    late: NDArray[np.int64],
    share: NDArray[np.float64],
) -> NDArray[np.float64]:
    return np.asarray(week[early] * (1 - share) + week[late] * share)


def _weights(at: NDArray[np.float64], now: float) -> NDArray[np.float64]:
    return np.asarray(np.exp2((at - now) / (_DAY_S * _HALF_LIFE_DAYS)))


def _counted(places: NDArray[np.int64], weights: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """How much falls on each place."""
    return np.bincount(places, weights, minlength=size).astype(np.float64, copy=False)


def _smoothed(by_hour: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each hour of the day with what its neighbours lend it."""
    # Sums, and no product of matrices: those start threads, which take longer than the work.
    return np.asarray((_LENT * by_hour).sum(axis=1))


def _lent() -> NDArray[np.float64]:
    """What each hour of the day lends to each other."""
    apart = np.abs(np.arange(24)[:, None] - np.arange(24))
    apart = np.minimum(apart, 24 - apart)
    return np.select([apart == distance for distance in range(len(_NEIGHBOURS))], _NEIGHBOURS)


_LENT = _lent()
