"""Helpers of the benchmarks: medians of interleaved repetitions, and a table with bars."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

BAR_WIDTH = 30


def medians_s(subjects: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the median seconds of each subject. Rounds are interleaved, so that load affects all equally."""
    times: dict[str, list[float]] = {name: [] for name in subjects}
    for subject in subjects.values():  # once unmeasured, to fill caches
        subject()
    for _ in range(rounds):
        for name, subject in subjects.items():
            start = time.perf_counter()
            subject()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def print_bars(seconds: Mapping[str, float]) -> None:
    """Print one line per subject, with a bar proportional to its time."""
    longest = max(seconds.values())
    width = max(map(len, seconds))
    for name, value in seconds.items():
        bar = "█" * max(1, round(BAR_WIDTH * value / longest))
        print(f"  {name:{width}} {value * 1e3:9.1f} ms  {bar}")
