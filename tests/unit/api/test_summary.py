"""What the timed cases of a submission say together."""

from __future__ import annotations

import math

import pytest

from warmfront.api.benchmark_summary import summarize_benchmark


def _timing(ms: float, low: float, high: float, share: float | None = None) -> dict[str, object]:
    return {"runtime_ms": ms, "ci": [low, high], "pct_of_floor": share}


def test_one_case_keeps_its_interval() -> None:
    """With a single case the mean is its median, and the interval its own."""
    assert summarize_benchmark([_timing(2.0, 1.9, 2.2)]).ci == pytest.approx((1.9, 2.2))


def test_more_cases_are_surer() -> None:
    """Four cases, each sure to a factor, make a mean that is sure to that factor's square root."""
    ci = summarize_benchmark([_timing(ms, ms / 1.1, ms * 1.1) for ms in (1.0, 10.0, 0.1, 1.0)]).ci
    assert ci == pytest.approx((1 / math.sqrt(1.1), math.sqrt(1.1)))


def test_a_case_without_an_interval_leaves_none() -> None:
    """An interval that is half known is not shown, and neither is one of nothing."""
    assert summarize_benchmark([_timing(1.0, 0.9, 1.1), {"runtime_ms": 1.0}]).ci is None
    assert summarize_benchmark([]).ci is None


def test_the_share_of_the_floor_is_a_geometric_mean() -> None:
    """It is known where every case has one, which the simulator's have not."""
    assert summarize_benchmark(
        [_timing(1, 1, 1, 90.0), _timing(1, 1, 1, 40.0)]
    ).pct_of_floor == pytest.approx(60.0)
    assert summarize_benchmark([_timing(1, 1, 1, 90.0), _timing(1, 1, 1)]).pct_of_floor is None
