"""What a handful of noisy times says: the median, and how sure it is.

A median and a bootstrap interval assume nothing about the noise, and one bad sample moves neither.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Resamples of the bootstrap: enough for a 95% interval to be steady to a few percent of its width.
RESAMPLES = 1000


def median_interval(samples: Sequence[float], rng: np.random.Generator) -> tuple[float, tuple[float, float]]:
    """The median of the samples and the 95% bootstrap confidence interval of it."""
    values = np.asarray(samples)
    picks = rng.integers(0, values.size, size=(RESAMPLES, values.size))
    low, high = np.quantile(np.median(values[picks], axis=1), [0.025, 0.975])
    return float(np.median(values)), (float(low), float(high))


def relative_width(median: float, interval: tuple[float, float]) -> float:
    """How far the interval reaches from the median, as a share of it."""
    if median <= 0:
        return math.inf
    return max(interval[1] - median, median - interval[0]) / median


def geometric_mean(values: Sequence[float]) -> float:
    """The mean that treats twice as fast and twice as slow alike."""
    return math.exp(sum(math.log(max(value, 1e-9)) for value in values) / len(values))
