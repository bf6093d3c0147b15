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

#: The bootstrap divides the pairs into this many blocks.
BLOCKS = 7

#: Other VMs of the host slow down some windows for a tenth of a second, which no counter shows; nothing makes
#: a window faster. So the lower quartile varies less between runs than the median. The limit bounds what code
#: gains that is fast in a few windows only.
BELOW_MEDIAN = 0.02

#: A time needs at least this many pairs of windows.
MIN_PAIRS = 7

#: By how much runs of one program differ, relative to the time: memory placement, clock frequency and the
#: caches are different in every process, and no repetition within one process shows it.
REPEATABILITY = 0.008
#: The same on a machine where other processes keep every CPU busy and compete for caches and memory.
REPEATABILITY_CONTENDED = 0.025

#: A time is scaled to the full speed of the CPU, as measured by our own computation beside each window, by at
#: most this: clock frequencies vary that much. If the CPU is slower still, another hardware thread uses its
#: core, which slows down every program differently.
SCALED_UP_TO = 0.15
#: How far a scaled time may be off, as a fraction of the slowdown: no program depends on the speed of the CPU
#: exactly as our computation does.
SCALING_ERROR = 0.15
#: A slowdown that is worth a note.
SLOWDOWN_NOTED = 0.06

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
    Both are computed over all pairs, and the larger one counts: taking the larger one of each pair would add
    a bias that grows with the noise. Each is the median, moved toward the lower quartile by at most
    `BELOW_MEDIAN`.

    On a GPU, the time of the same window with an empty guest is subtracted from each, so that no constant
    costs are left. Then the time is computed from the large windows alone. Their median is several times more
    certain than that of the slopes, and the maximum of the two would be too long on average. The slope is
    used only if its whole interval is above that median: then the empty windows were too slow.

    Args:
        windows: in the order in which they were measured; a pair is two neighbors. A pair with a discarded
            window is left out.
        overhead_ms: the time of a window with a solution that does nothing.
        reference_ms: the CPU time of the judge's own computation when the machine was fastest recently; times
            are scaled to that speed. None if it is unknown.
    """
    pairs = [sorted(pair, key=lambda window: window.calls) for pair in kept_pairs(windows)]
    times_ms = [[_at_full_speed(window, reference_ms) for window in pair] for pair in pairs]
    slopes_ms = [
        (large_ms - small_ms) / (large.calls - small.calls)
        for (small, large), (small_ms, large_ms) in zip(pairs, times_ms, strict=True)
    ]
    bounds_ms = [
        (large_ms - overhead_ms) / large.calls
        for (_, large), (_, large_ms) in zip(pairs, times_ms, strict=True)
    ]
    has_copies_subtracted = all(window.empty_ms is not None for pair in pairs for window in pair)
    return _call_time(
        np.array([slopes_ms, bounds_ms]),
        contention(windows),
        slowdown(windows, reference_ms),
        by_bounds=has_copies_subtracted,
    )


def _at_full_speed(window: Window, reference_ms: float | None) -> float:
    """Return the time that the window would have taken at the full speed of the CPU."""
    if not reference_ms or not window.reference_ms:
        return window.time_ms
    return window.time_ms * max(reference_ms / window.reference_ms, 1 / (1 + SCALED_UP_TO))


def kept_pairs(windows: Sequence[Window]) -> list[tuple[Window, Window]]:
    """Return the pairs without discarded windows."""
    pairs = zip(windows[::2], windows[1::2], strict=False)
    return [pair for pair in pairs if not any(window.discarded for window in pair)]


def _call_time(
    estimates_ms: np.ndarray[Any, Any], contention: float, slowdown: float, *, by_bounds: bool
) -> CallTime:
    """Return the larger of the centers of slopes and bounds, with an interval over the pairs.

    The interval also covers differences between runs.
    """
    pairs = estimates_ms.shape[1]
    picks = _picks(pairs)
    center = np.median if by_bounds else _center
    medians, resampled = center(estimates_ms, axis=1), center(estimates_ms[:, picks], axis=2)
    if by_bounds:
        certain_slope = np.quantile(resampled[0], 0.025)
        medians[0] = resampled[0] = certain_slope
    resampled = resampled.max(axis=0)
    low, high = (float(end) for end in np.quantile(resampled, [0.025, 0.975]))
    median_ms = max(float(medians.max()), 1e-6)
    sampling_width = relative_width(median_ms, (low, high))
    pairs_ms = tuple(float(ms) for ms in estimates_ms[int(medians.argmax())])
    floor = math.hypot(
        REPEATABILITY + contention * (REPEATABILITY_CONTENDED - REPEATABILITY), SCALING_ERROR * slowdown
    )
    low, high = min(low, median_ms * (1 - floor)), max(high, median_ms * (1 + floor))
    if slowdown > SCALED_UP_TO:  # at full speed, the program would have been faster by up to the rest
        low *= (1 + SCALED_UP_TO) / (1 + slowdown)
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


def _center(values: np.ndarray[Any, Any], axis: int) -> np.ndarray[Any, Any]:
    """Return the lower quartiles of the values, but at most `BELOW_MEDIAN` less than their medians."""
    ordered = np.sort(values, axis=axis)
    count = ordered.shape[axis]
    quartile = ordered.take(count // 4, axis=axis)
    median = (ordered.take((count - 1) // 2, axis=axis) + ordered.take(count // 2, axis=axis)) / 2
    center: np.ndarray[Any, Any] = np.maximum(quartile, median * (1 - BELOW_MEDIAN))
    return center


def _picks(pairs: int) -> np.ndarray[Any, Any]:
    """Return the pairs of each bootstrap resample.

    Neighboring pairs are drawn together in blocks, because the speed of the machine changes slowly: they are
    not independent, and pairs drawn one by one would make the interval too narrow.
    """
    block = max(1, pairs // BLOCKS)
    starts = np.random.default_rng(pairs).integers(0, pairs, size=(RESAMPLES, math.ceil(pairs / block), 1))
    picks = (starts + np.arange(block)) % pairs
    return picks.reshape(RESAMPLES, -1)[:, :pairs]


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
