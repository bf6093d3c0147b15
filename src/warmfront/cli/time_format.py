"""Format the time of a kernel: always with its interval, and no more digits than the interval supports."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def format_time(ms: float, ci: Sequence[float] | None) -> str:
    """Format a time, such as `0.982 ms (95% interval 0.974 to 0.990)`."""
    interval = _known(ci)
    if interval is None:
        return f"{ms:.3g} ms (interval unknown)"
    decimals = _decimals(interval)
    return f"{ms:.{decimals}f} ms (95% interval {format_interval(interval)})"


def format_interval(ci: Sequence[float] | None) -> str:
    """Format an interval of milliseconds without its unit, such as `0.974 to 0.990`."""
    interval = _known(ci)
    if interval is None:
        return "unknown"
    decimals = _decimals(interval)
    return f"{interval[0]:.{decimals}f} to {interval[1]:.{decimals}f}"


def format_median(ms: float, ci: Sequence[float] | None) -> str:
    """Format a median in ms with the digits of its interval."""
    interval = _known(ci)
    return f"{ms:.3g}" if interval is None else f"{ms:.{_decimals(interval)}f}"


def timing_notes(timings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return notes about each timed case, and about guarantees that the machine could not provide."""
    notes = []
    for timing in timings:
        parts = [f"{timing['test_id']}: {timing['name']}", timing.get("note", "").rstrip(".")]
        if timing.get("self_reported_ms") is not None:
            parts.append(
                f"Self-reported by the program's HIP events, not used: {timing['self_reported_ms']:.3g} ms"
            )
        notes.append("  " + ". ".join(part for part in parts if part))
    missing = dict.fromkeys(text for timing in timings for text in timing.get("missing_guarantees", ()))
    return [*notes, *(f"  Not guaranteed on this machine: {text}" for text in missing)]


def _known(ci: Sequence[float] | None) -> tuple[float, float] | None:
    """Return the interval; None if it is missing or has a width of 0."""
    return (ci[0], ci[1]) if ci is not None and ci[1] > ci[0] else None


def _decimals(interval: tuple[float, float]) -> int:
    """Return the decimals that show the width of the interval with two digits."""
    return max(0, 1 - math.floor(math.log10(interval[1] - interval[0])))
