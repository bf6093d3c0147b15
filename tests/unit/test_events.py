"""Events as JSON."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from warmfront.events import Checked, Failed, Stamp
from warmfront.verdicts import Verdict


def test_ids_increase_and_times_are_utc() -> None:
    """A stamp counts from 1 and formats the time as UTC with a Z."""
    stamp = Stamp(clock=lambda: datetime(2026, 11, 15, 12, 30, tzinfo=UTC))
    event = Checked(test_results=(), passed_tests=0, total_tests=0, simulated=True)
    first, second = stamp(event), stamp(event)
    assert (first["id"], second["id"]) == (1, 2)
    assert first["time"] == "2026-11-15T12:30:00.000Z"
    assert first["status"] == "CHECKED"


def test_a_failure_has_some_details_at_the_top_level() -> None:
    """`debug_info` and the counts are at the top level, the rest in `details`."""
    failed = Failed(
        verdict=Verdict.WRONG_ANSWER,
        code="WRONG_OUTPUT",
        message="off",
        details={"debug_info": {"max_difference": 1.0}, "passed_tests": 3, "elements": 9},
    )
    fields = failed.fields()
    assert fields["status"] == "WRONG_ANSWER"
    assert fields["debug_info"] == {"max_difference": 1.0}
    assert fields["passed_tests"] == 3
    assert fields["details"] == {"elements": 9}


def test_nan_and_infinity_become_text() -> None:
    """JSON has neither NaN nor infinity."""
    failed = Failed(
        verdict=Verdict.WRONG_ANSWER, code="X", message="m", details={"a": (float("nan"), float("-inf"))}
    )
    text = json.dumps(failed.fields(), allow_nan=False)
    assert json.loads(text)["details"]["a"] == ["nan", "-inf"]
