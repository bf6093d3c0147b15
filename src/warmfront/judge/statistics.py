"""Summarise noisy times: the median and its confidence interval.

A median and a bootstrap interval assume nothing about the distribution of the noise, and are robust against
outliers.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Bootstrap resamples: enough for a 95% interval that is reproducible to a few percent of its width.
RESAMPLES = 1000


def median_interval(samples: Sequence[float], rng: np.random.Generator) -> tuple[float, tuple[float, float]]:
    """Return the median of the samples and its 95% bootstrap confidence interval."""
    values = np.asarray(samples)
    picks = rng.integers(0, values.size, size=(RESAMPLES, values.size))
    low, high = np.quantile(np.median(values[picks], axis=1), [0.025, 0.975])
    return float(np.median(values)), (float(low), float(high))


def relative_width(median: float, interval: tuple[float, float]) -> float:
    """Return the larger distance from the median to an end of the interval, relative to the median."""
    if median <= 0:
        return math.inf
    return max(interval[1] - median, median - interval[0]) / median


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean, in which twice as fast and twice as slow cancel out."""
    return math.exp(sum(math.log(max(value, 1e-9)) for value in values) / len(values))
