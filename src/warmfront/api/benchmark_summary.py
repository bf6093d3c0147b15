"""What the timed cases of a submission say together: one interval and one share of the floor.

Read from the stored verdict, so an old one without intervals has none; nothing here asks the store.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Beside the geometric mean of the times."""

    ci: tuple[float, float] | None = None  #: 95% confidence interval of that mean, in ms
    pct_of_floor: float | None = None  #: geometric mean over the cases


def summarise(timings: Sequence[Mapping[str, Any]]) -> Summary:
    """The summary of the `benchmark_results` of an ACCEPTED event."""
    return Summary(ci=_interval(timings), pct_of_floor=_share(timings))


def _interval(timings: Sequence[Mapping[str, Any]]) -> tuple[float, float] | None:
    """The interval of a geometric mean of independent medians.

    A geometric mean is a mean of logarithms, so what each case is unsure by adds up as squares do.
    """
    if not timings or not all(_positive(t.get("runtime_ms"), *(t.get("ci") or (None,))) for t in timings):
        return None
    centre = sum(math.log(t["runtime_ms"]) for t in timings) / len(timings)
    below, above = (
        math.hypot(*(math.log(t["ci"][side] / t["runtime_ms"]) for t in timings)) / len(timings)
        for side in (0, 1)
    )
    return math.exp(centre - below), math.exp(centre + above)


def _share(timings: Sequence[Mapping[str, Any]]) -> float | None:
    shares: list[Any] = [timing.get("pct_of_floor") for timing in timings]
    if not shares or not _positive(*shares):
        return None
    return math.exp(sum(math.log(float(share)) for share in shares) / len(shares))


def _positive(*values: Any) -> bool:  # noqa: ANN401 - a stored event holds whatever was written
    return all(isinstance(value, int | float) and value > 0 for value in values)
