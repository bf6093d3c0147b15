"""Times as the command line prints them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmfront.cli.time_format import format_interval, format_time, timing_notes


@pytest.mark.parametrize(
    ("ms", "ci", "shown"),
    [
        (0.98213, (0.9742, 0.9901), "0.982 ms (95% interval 0.974 to 0.990)"),
        (0.98, (0.7, 1.4), "0.98 ms (95% interval 0.70 to 1.40)"),
        (0.030812, (0.030561, 0.031058), "0.03081 ms (95% interval 0.03056 to 0.03106)"),
        (1234.4, (1224.2, 1244.6), "1234 ms (95% interval 1224 to 1245)"),
        (1.5, None, "1.5 ms (interval unknown)"),
        (1.5, (1.5, 1.5), "1.5 ms (interval unknown)"),
    ],
)
def test_a_time_is_shown_with_its_interval(ms: float, ci: tuple[float, float] | None, shown: str) -> None:
    """The digits depend on the width of the interval, and an interval of width 0 is none."""
    assert format_time(ms, ci) == shown


@given(st.floats(1e-6, 1e6), st.floats(1e-4, 1.0))
def test_an_interval_never_looks_empty(low: float, width: float) -> None:
    """The two ends differ as printed."""
    shown_low, shown_high = format_interval((low, low * (1 + width))).split(" to ")
    assert float(shown_low) < float(shown_high)


def test_notes_name_what_does_not_count() -> None:
    """Times of HIP events are marked as self-reported, and missing guarantees are listed once."""
    note = "3 of 28 windows were disturbed by other processes and left out."
    timing = {
        "test_id": 2,
        "name": "n = 8",
        "note": note,
        "self_reported_ms": 0.25,
        "missing_guarantees": ["no freezer"],
    }
    assert timing_notes([timing, {"test_id": 3, "name": "n = 9", "missing_guarantees": ["no freezer"]}]) == [
        f"  2: n = 8. {note} Self-reported by the program's HIP events, not used: 0.25 ms",
        "  3: n = 9",
        "  Not guaranteed on this machine: no freezer",
    ]
