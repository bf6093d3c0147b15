"""Medians and intervals of noisy times."""

from __future__ import annotations

import numpy as np
import pytest

from warmfront.judge.statistics import geometric_mean, median_interval, relative_width


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
