"""Medians and intervals of noisy times."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from warmfront.events import Window
from warmfront.judge.statistics import geometric_mean, median_interval, relative_width, time_per_call

CALL_MS, EMPTY_MS = 0.04, 1.0
SMALL, LARGE = 15, 60


def gpu_windows(
    rng: np.random.Generator, *, jitter_ms: float = 0.026, empty_ms: float = EMPTY_MS
) -> list[Window]:
    """Return windows of a GPU whose times scatter, without the time of empty windows."""
    windows = []
    for calls in (LARGE, SMALL) * 15:
        wall_ms = EMPTY_MS + calls * CALL_MS + rng.normal(0.0, jitter_ms)
        windows.append(Window(calls=calls, time_ms=wall_ms - empty_ms, wall_ms=wall_ms, empty_ms=empty_ms))
    return windows


def test_noise_does_not_make_the_time_on_a_gpu_longer() -> None:
    """The larger one of two uncertain medians would be too long by a percent or two."""
    rng = np.random.default_rng(3)
    ratios = [time_per_call(gpu_windows(rng), 0.0).median_ms / CALL_MS for _ in range(60)]
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.002)
    assert max(abs(ratio - 1) for ratio in ratios) < 0.015


def test_empty_windows_that_were_too_slow_do_not_shorten_the_time() -> None:
    """The slope does not depend on them, and counts where it is certain."""
    rng = np.random.default_rng(4)
    windows = gpu_windows(rng, jitter_ms=0.005, empty_ms=1.3 * EMPTY_MS)
    assert time_per_call(windows, 0.0).median_ms == pytest.approx(CALL_MS, rel=0.01)


def test_slow_small_windows_do_not_shorten_the_time_on_a_gpu() -> None:
    """A submission that wastes time in small windows makes the slope small, and gains nothing."""
    windows = gpu_windows(np.random.default_rng(5))
    wasteful = [
        replace(window, time_ms=LARGE * CALL_MS) if window.calls == SMALL else window for window in windows
    ]
    assert time_per_call(wasteful, 0.0).median_ms == pytest.approx(CALL_MS, rel=0.015)


def test_the_time_is_the_median_of_the_reported_samples() -> None:
    """If the large windows give the time, the samples are theirs, not the slopes that do not count."""
    windows = [
        Window(calls=calls, time_ms=0.5 * calls + (2.0 if calls == 1 else 0.0), wall_ms=5.0)
        for calls in (6, 1) * 9
    ]
    result = time_per_call(windows, 0.0)
    assert result.median_ms == pytest.approx(0.5)
    assert result.pairs_ms == pytest.approx([0.5] * 9)


def test_the_interval_contains_the_median_in_about_95_percent() -> None:
    """Over many samples of a known distribution, the 95% interval misses about as often as it should."""
    rng = np.random.default_rng(7)
    hits = 0
    for _ in range(200):
        samples = rng.lognormal(0.0, 0.3, size=40).tolist()
        _, (low, high) = median_interval(samples, rng)
        hits += low <= 1.0 <= high
    assert hits >= 175


def test_one_outlier_has_little_effect() -> None:
    """A sample that is a thousand times too slow barely changes the median and the interval."""
    rng = np.random.default_rng(1)
    samples = [1.0 + 0.001 * i for i in range(30)]
    expected, _ = median_interval(samples, rng)
    median, interval = median_interval([*samples, 1000.0], rng)
    assert median == pytest.approx(expected, rel=0.01)
    assert interval[1] < 1.1


def test_the_width_is_relative_to_the_median() -> None:
    """The farther end counts, and the width is infinite for a median of 0."""
    assert relative_width(2.0, (1.9, 2.2)) == pytest.approx(0.1)
    assert relative_width(0.0, (0.0, 0.0)) == float("inf")


def test_the_geometric_mean_of_reciprocals_is_one() -> None:
    """Half and double cancel out."""
    assert geometric_mean([0.5, 2.0]) == pytest.approx(1.0)
