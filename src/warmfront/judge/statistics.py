"""Compute the time of a call, and how certain it is, from the windows that the judge measured.

A receipt carries the windows, so that a reader can repeat the computation: nothing else affects the result.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warmfront.events import Window

#: Bootstrap resamples: enough for a 95% interval that is reproducible to a few percent of its width.
RESAMPLES = 1000

#: A time needs at least this many pairs of windows.
MIN_PAIRS = 7

#: By how much runs of one program differ, relative to the time: memory placement, clock frequency and the
#: caches are different in every process, and no repetition within one process shows it.
REPEATABILITY = 0.009
#: The same on a machine where other processes keep every CPU busy and compete for caches and memory.
REPEATABILITY_CONTENDED = 0.025

#: If the CPU is slower than recently by more than this, as measured by our own computation, the interval is
#: widened. If there are enough windows at full speed, only those are used.
SLOWDOWN_ALLOWED = 0.06

#: The widest half of an interval, relative to the time, that is not called noisy.
NOISY_WIDTH = 0.1


@dataclass(frozen=True, kw_only=True)
class CallTime:
    """The time of a call, from pairs of windows."""

    pairs_ms: tuple[float, ...]  #: from each pair: its slope or its bound, whichever counts
    median_ms: float
    interval_ms: tuple[float, float]
    noisy: bool
    #: Width of the interval before differences between runs are added; more pairs make it smaller.
    sampling_width: float = 0.0


def time_per_call(
    windows: Sequence[Window], overhead_ms: float, reference_ms: float | None = None
) -> CallTime:
    """Return the time of a call, from alternating windows with few and with many calls.

    A pair of windows gives the slope: the difference in time over the difference in calls, in which all
    constant costs cancel. Submitted code could slow down the small windows on purpose to reduce the slope. So
    the time is never less than that of the large windows, without our own overhead, divided by their calls.
    Both are medians over the pairs, and the larger one counts: taking the larger one of each pair would add a
    bias that grows with the noise.

    On a GPU, the time of the same window with an empty guest is subtracted from each, so that no constant
    costs are left. Then the time is computed from the large windows alone. Their median is several times more
    certain than that of the slopes, and the maximum of the two would be too long on average. The slope is
    used only if its whole interval is above that median: then the empty windows were too slow.

    Args:
        windows: in the order in which they were measured; a pair is two neighbors. A pair with a discarded
            window is left out.
        overhead_ms: the time of a window with a solution that does nothing.
        reference_ms: the CPU time of the judge's own computation when the machine was fastest recently; None
            if it is unknown, or must be ignored.
    """
    pairs = [sorted(pair, key=lambda window: window.calls) for pair in kept_pairs(windows)]
    slopes_ms = [(large.time_ms - small.time_ms) / (large.calls - small.calls) for small, large in pairs]
    bounds_ms = [(large.time_ms - overhead_ms) / large.calls for _, large in pairs]
    has_copies_subtracted = all(window.empty_ms is not None for pair in pairs for window in pair)
    return _call_time(
        np.array([slopes_ms, bounds_ms]),
        contention(windows),
        slowdown(windows, reference_ms),
        by_bounds=has_copies_subtracted,
    )


def kept_pairs(windows: Sequence[Window]) -> list[tuple[Window, Window]]:
    """Return the pairs without discarded windows."""
    pairs = zip(windows[::2], windows[1::2], strict=False)
    return [pair for pair in pairs if not any(window.discarded for window in pair)]


def _call_time(
    estimates_ms: np.ndarray[Any, Any], contention: float, slowdown: float, *, by_bounds: bool
) -> CallTime:
    """Return the larger of the medians of slopes and bounds, with an interval over the pairs.

    The interval also covers differences between runs.
    """
    pairs = estimates_ms.shape[1]
    picks = np.random.default_rng(pairs).integers(0, pairs, size=(RESAMPLES, pairs))
    medians, resampled = np.median(estimates_ms, axis=1), np.median(estimates_ms[:, picks], axis=2)
    if by_bounds:
        certain_slope = np.quantile(resampled[0], 0.025)
        medians[0] = resampled[0] = certain_slope
    resampled = resampled.max(axis=0)
    low, high = (float(end) for end in np.quantile(resampled, [0.025, 0.975]))
    median_ms = max(float(medians.max()), 1e-6)
    sampling_width = relative_width(median_ms, (low, high))
    pairs_ms = tuple(float(ms) for ms in estimates_ms[int(medians.argmax())])
    floor = REPEATABILITY + contention * (REPEATABILITY_CONTENDED - REPEATABILITY)
    low, high = min(low, median_ms * (1 - floor)), max(high, median_ms * (1 + floor))
    if slowdown > SLOWDOWN_ALLOWED:  # at full speed, the program would have been faster by as much
        low /= 1 + slowdown
    noisy = pairs < MIN_PAIRS or relative_width(median_ms, (low, high)) > NOISY_WIDTH
    if noisy:  # widen the interval to everything that was observed
        low, high = min(low, *pairs_ms) * (1 - floor), max(high, *pairs_ms) * (1 + floor)
    return CallTime(
        pairs_ms=pairs_ms,
        median_ms=median_ms,
        interval_ms=(max(low, 0.0), high),
        noisy=noisy,
        sampling_width=sampling_width,
    )


def contention(windows: Sequence[Window]) -> float:
    """Return how busy the machine was, from 0 to 1.

    This is the larger of two figures: the share of its runnable time for which the guest waited for a CPU,
    and the mean CPU load from other processes.
    """
    waited_ms = sum(window.waited_ms or 0.0 for window in windows)
    wanted_ms = waited_ms + sum(window.cpu_ms or window.wall_ms for window in windows)
    load = sum(window.load or 0.0 for window in windows) / max(1, len(windows))
    return max(waited_ms / wanted_ms if wanted_ms > 0 else 0.0, load)


def slowdown(windows: Sequence[Window], reference_ms: float | None) -> float:
    """Return the fraction by which the machine was slower during these windows than at its fastest."""
    references_ms = [
        window.reference_ms for pair in kept_pairs(windows) for window in pair if window.reference_ms
    ]
    if not references_ms or not reference_ms:
        return 0.0
    return max(0.0, float(np.median(references_ms)) / reference_ms - 1)


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


def mean_interval(intervals: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the interval of a geometric mean: the geometric means of the ends.

    The errors of the cases are not independent (one process, one machine), so they do not average out.
    """
    return geometric_mean([low for low, _ in intervals]), geometric_mean([high for _, high in intervals])
