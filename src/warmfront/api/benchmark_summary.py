"""Summarizes the timed cases of a submission: one confidence interval and one fraction of the roofline floor.

The input is a stored verdict; one from an older release has no confidence intervals. No queries here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, kw_only=True)
class BenchmarkSummary:
    """Figures that accompany the geometric mean of the times."""

    ci: tuple[float, float] | None = None  #: 95% confidence interval of that mean, in ms
    pct_of_floor: float | None = None  #: geometric mean over the cases


def summarize_benchmark(timings: Sequence[Mapping[str, Any]]) -> BenchmarkSummary:
    """Summarize the `benchmark_results` of an ACCEPTED event."""
    return BenchmarkSummary(ci=_confidence_interval(timings), pct_of_floor=_pct_of_floor(timings))


def _confidence_interval(timings: Sequence[Mapping[str, Any]]) -> tuple[float, float] | None:
    """Return the interval of a geometric mean of independent medians.

    A geometric mean is a mean of logarithms, so the uncertainties of the cases add in quadrature.
    """
    if not timings or not all(_positive(t.get("runtime_ms"), *(t.get("ci") or (None,))) for t in timings):
        return None
    centre = sum(math.log(t["runtime_ms"]) for t in timings) / len(timings)
    below, above = (
        math.hypot(*(math.log(t["ci"][side] / t["runtime_ms"]) for t in timings)) / len(timings)
        for side in (0, 1)
    )
    return math.exp(centre - below), math.exp(centre + above)


def _pct_of_floor(timings: Sequence[Mapping[str, Any]]) -> float | None:
    fractions: list[Any] = [timing.get("pct_of_floor") for timing in timings]
    if not fractions or not _positive(*fractions):
        return None
    return math.exp(sum(math.log(float(fraction)) for fraction in fractions) / len(fractions))


def _positive(*values: Any) -> bool:  # noqa: ANN401 - a stored event is untyped JSON
    return all(isinstance(value, int | float) and value > 0 for value in values)
