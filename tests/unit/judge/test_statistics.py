"""Medians and intervals of noisy times."""

from __future__ import annotations

import numpy as np
import pytest

from warmfront.judge.statistics import geometric_mean, median_interval, relative_width


def test_the_interval_holds_the_true_median_nineteen_times_in_twenty() -> None:
    """Over many draws from a known distribution, a 95% interval misses about as often as it should."""
    rng = np.random.default_rng(7)
    hits = 0
    for _ in range(200):
        samples = rng.lognormal(0.0, 0.3, size=40).tolist()
        _, (low, high) = median_interval(samples, rng)
        hits += low <= 1.0 <= high
    assert hits >= 175


def test_one_wild_sample_moves_nothing() -> None:
    """A sample a thousand times too slow changes neither median nor interval by much."""
    rng = np.random.default_rng(1)
    samples = [1.0 + 0.001 * i for i in range(30)]
    calm, _ = median_interval(samples, rng)
    wild, interval = median_interval([*samples, 1000.0], rng)
    assert wild == pytest.approx(calm, rel=0.01)
    assert interval[1] < 1.1


def test_the_width_is_a_share_of_the_median() -> None:
    """The farther end counts, and a median of nothing is never sure."""
    assert relative_width(2.0, (1.9, 2.2)) == pytest.approx(0.1)
    assert relative_width(0.0, (0.0, 0.0)) == float("inf")


def test_the_geometric_mean_treats_ratios_alike() -> None:
    """Half and double cancel."""
    assert geometric_mean([0.5, 2.0]) == pytest.approx(1.0)
