"""A model of the rate of arrivals, fitted to past arrivals by expectation maximization (EM).

The rate is the sum of two parts: starts of sessions, at a rate that depends on the hour of the day and the
day of the week, and follow-ups, at a rate that depends on the time since the last arrival.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

_HOUR_S, _HALF_S = 3600.0, 1800.0
_DAY_S = 86_400.0
#: The weight of an arrival halves after this many days.
_HALF_LIFE_DAYS = 60.0
#: The kernel that smooths the hours of the day: weights at a distance of 0, 1 and 2 hours.
_KERNEL = (1.0, 0.6, 0.15)
#: Pseudo-counts of arrivals that pull each hour, and each weekday, towards the mean.
_HOUR_PRIOR, _WEEKDAY_PRIOR = 0.2, 6.0
#: Edges of the bins of time since the last arrival, in seconds; the follow-up rate is constant in each.
_SINCE_S = np.array([0, 30, 60, 120, 180, 300, 450, 600, 900, 1200, 1800, 2700, 3600, 5400, 7200.0])
_WIDTHS_S = np.diff(_SINCE_S)
#: Prior exposure of each bin, without follow-ups, so that a handful of arrivals has little effect.
_SINCE_PRIOR_S = 1800.0
#: Iterations of EM.
_ITERATIONS = 12


@dataclass(frozen=True, kw_only=True, eq=False)
class ArrivalModel:
    """Rates of arrivals, in submissions per second."""

    session_starts: NDArray[np.float64]  #: per hour of the week
    followups: NDArray[np.float64]  #: per bin of `_SINCE_S`; zero after the last edge

    def start_rates(self, at: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the rates of session starts at these times, interpolated between the middles of hours."""
        return _interpolate(self.session_starts, *_hours(at))

    def followup_rates(self, since_s: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the rates of follow-ups at these times since the last arrival."""
        return np.append(self.followups, 0.0)[np.searchsorted(_SINCE_S, since_s, side="right") - 1]

    def expected_followups(self, within_s: float) -> float:
        """Return the expected number of follow-ups within this time after an arrival."""
        covered_s = np.minimum(np.maximum(within_s - _SINCE_S[:-1], 0.0), _WIDTHS_S)
        return float((self.followups * covered_s).sum())


def fit(arrivals: NDArray[np.float64], now: float) -> ArrivalModel:
    """Fit the model to at least two sorted arrivals up to now, by expectation maximization (EM).

    Whether an arrival is a session start or a follow-up is not observed. The E-step computes the probability
    of each from the current rates; the M-step computes the rates from the probabilities.
    """
    weights = _weights(arrivals, now)
    gaps_s = np.diff(arrivals, append=now)
    gap_bin = np.searchsorted(_SINCE_S, gaps_s, side="right") - 1
    exposed_s = _exposure_s(gaps_s, gap_bin, weights) + _SINCE_PRIOR_S
    # Each gap except the last, which is still open, ends with an arrival. Arrivals in the same half-hour of
    # the week and the same bin have the same probabilities, so EM runs on groups of arrivals.
    half = (arrivals[1:] // _HALF_S % 336).astype(np.int64)
    sizes = _histogram(half * _SINCE_S.size + gap_bin[:-1], weights[:-1], 336 * _SINCE_S.size)
    groups = np.flatnonzero(sizes)
    sizes, (half, gap_bin) = sizes[groups], np.divmod(groups, _SINCE_S.size)
    week = _WeekProfile.of(half // 2, sizes, arrivals[0], now)
    hours = _hours((half + 0.5).astype(np.float64) * _HALF_S)
    is_followup = np.where(gap_bin == _SINCE_S.size - 1, 0.0, 0.5)
    for _ in range(_ITERATIONS):
        counts = _histogram(gap_bin, sizes * is_followup, _SINCE_S.size)
        model = ArrivalModel(session_starts=week.rates(1 - is_followup), followups=counts[:-1] / exposed_s)
        followup_rate = np.append(model.followups, 0.0)[gap_bin]
        is_followup = followup_rate / (_interpolate(model.session_starts, *hours) + followup_rate)
    return model


def _exposure_s(
    gaps_s: NDArray[np.float64], gap_bin: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the weighted time that the gaps spent in each bin, except the last, which is unbounded."""
    ended = _histogram(gap_bin, weights, _SINCE_S.size)
    within_s = _histogram(gap_bin, weights * gaps_s, _SINCE_S.size) - ended * _SINCE_S
    longer = ended[::-1].cumsum()[::-1][1:]
    return np.asarray(within_s[:-1] + longer * _WIDTHS_S)


@dataclass(kw_only=True)
class _WeekProfile:
    """The rate of session starts, as a product of a rate per hour of the day and a factor per weekday."""

    sizes: NDArray[np.float64]  #: weighted number of arrivals per group
    hour: NDArray[np.int64]  #: hour of the day per group
    day: NDArray[np.int64]  #: day of the week per group
    exposed_s: NDArray[np.float64]  #: weighted time observed, 7 days by 24 hours
    day_factor: NDArray[np.float64]  #: the rate of each weekday relative to the mean

    @classmethod
    def of(
        cls, hour: NDArray[np.int64], sizes: NDArray[np.float64], first: float, now: float
    ) -> _WeekProfile:
        """Return the profile of groups of arrivals in these hours of the week, from `first` to `now`."""
        hours = now - (np.arange(max(1.0, (now - first) / _HOUR_S)) + 0.5) * _HOUR_S
        hour_of_week = (hours // _HOUR_S % 168).astype(np.int64)
        exposed_s = _histogram(hour_of_week, _weights(hours, now) * _HOUR_S, 168).reshape(7, 24)
        return cls(sizes=sizes, hour=hour % 24, day=hour // 24, exposed_s=exposed_s, day_factor=np.ones(7))

    def rates(self, is_start: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the rate per hour of the week, given each group's probability of being session starts."""
        starts = self.sizes * is_start
        overall = (starts.sum() + 1.0) / (self.exposed_s.sum() + _DAY_S)
        counts = _smooth(_histogram(self.hour, starts, 24)) + _HOUR_PRIOR
        exposure_s = _smooth((self.day_factor[:, None] * self.exposed_s).sum(axis=0))
        hourly = counts / (exposure_s + _HOUR_PRIOR / overall)
        expected = (self.exposed_s * hourly).sum(axis=1) + _WEEKDAY_PRIOR
        self.day_factor = (_histogram(self.day, starts, 7) + _WEEKDAY_PRIOR) / expected
        return np.outer(self.day_factor, hourly).ravel()


def _hours(at: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the two hours of the week whose middles surround each time, and the position between them."""
    hours = np.asarray(at) / _HOUR_S - 0.5
    first = np.floor(hours)
    early = first.astype(np.int64) % 168
    return early, (early + 1) % 168, hours - first


def _interpolate(
    week: NDArray[np.float64],
    early: NDArray[np.int64],
    late: NDArray[np.int64],
    position: NDArray[np.float64],
) -> NDArray[np.float64]:
    return np.asarray(week[early] * (1 - position) + week[late] * position)


def _weights(at: NDArray[np.float64], now: float) -> NDArray[np.float64]:
    return np.asarray(np.exp2((at - now) / (_DAY_S * _HALF_LIFE_DAYS)))


def _histogram(bins: NDArray[np.int64], weights: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Return the total weight per bin."""
    return np.bincount(bins, weights, minlength=size).astype(np.float64, copy=False)


def _smooth(by_hour: NDArray[np.float64]) -> NDArray[np.float64]:
    """Smooth values per hour of the day over neighboring hours."""
    # Sums, because a matrix product would start BLAS threads, which takes longer than the work itself.
    return np.asarray((_SMOOTHING * by_hour).sum(axis=1))


def _smoothing_matrix() -> NDArray[np.float64]:
    """Return the weight of each hour of the day in the smoothed value of each other hour."""
    distances = np.abs(np.arange(24)[:, None] - np.arange(24))
    distances = np.minimum(distances, 24 - distances)
    return np.select([distances == distance for distance in range(len(_KERNEL))], _KERNEL)


_SMOOTHING = _smoothing_matrix()
