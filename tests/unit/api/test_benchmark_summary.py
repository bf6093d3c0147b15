"""The summary of a submission's timed cases."""

from __future__ import annotations

import math

import pytest

from warmfront.api.benchmark_summary import summarize_benchmark


def _timing(ms: float, low: float, high: float, share: float | None = None) -> dict[str, object]:
    return {"runtime_ms": ms, "ci": [low, high], "pct_of_floor": share}


def test_one_case_keeps_its_interval() -> None:
    """The mean of one case is its median, and the interval is that of the case."""
    assert summarize_benchmark([_timing(2.0, 1.9, 2.2)]).ci == pytest.approx((1.9, 2.2))


def test_more_cases_narrow_the_interval() -> None:
    """Four cases with the same relative interval have a mean with the square root of it."""
    ci = summarize_benchmark([_timing(ms, ms / 1.1, ms * 1.1) for ms in (1.0, 10.0, 0.1, 1.0)]).ci
    assert ci == pytest.approx((1 / math.sqrt(1.1), math.sqrt(1.1)))


def test_an_interval_requires_that_of_every_case() -> None:
    """Without an interval for every case, or without cases, there is none."""
    assert summarize_benchmark([_timing(1.0, 0.9, 1.1), {"runtime_ms": 1.0}]).ci is None
    assert summarize_benchmark([]).ci is None


def test_the_fraction_of_the_floor_is_a_geometric_mean() -> None:
    """It requires a value for every case; the CPU runtime has none."""
    assert summarize_benchmark(
        [_timing(1, 1, 1, 90.0), _timing(1, 1, 1, 40.0)]
    ).pct_of_floor == pytest.approx(60.0)
    assert summarize_benchmark([_timing(1, 1, 1, 90.0), _timing(1, 1, 1)]).pct_of_floor is None
