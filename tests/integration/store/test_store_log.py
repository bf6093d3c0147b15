"""The event log: ids without gaps or duplicates, one terminal event, and no events of stale attempts."""

from __future__ import annotations

import itertools
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.store_samples import begun, event_ids, found, queued
from warmfront.store import attempt_queries, event_queries
from warmfront.store.records import AttemptRecord
from warmfront.submission import SubmissionState

if TYPE_CHECKING:
    from sqlalchemy import Connection

CHECKING = {"status": "CHECKING", "total_tests": 3}
WRONG = {"status": "WRONG_ANSWER", "message": "off by one"}


def test_events_are_numbered_without_gaps(c: Connection) -> None:
    """Each event gets the next id, and the submission has the last one."""
    queued(c)
    numbers = [event.id for _ in range(5) if (event := event_queries.append(c, "s1", CHECKING, 1.0))]
    assert numbers == [3, 4, 5, 6, 7]
    assert event_ids(c) == [1, 2, 3, 4, 5, 6, 7]
    assert found(c).last_event_id == 7


def test_events_are_read_after_an_id(c: Connection) -> None:
    """Reading after an id returns the following events, up to the limit."""
    queued(c)
    for _ in range(5):
        event_queries.append(c, "s1", CHECKING, 1.0)
    assert [event.id for event in event_queries.after(c, "s1", 2, 3)] == [3, 4, 5]
    assert event_queries.after(c, "s1", 7, 3) == []


@pytest.mark.parametrize(
    "text", ["plain", "äöü 🌡", "nul \0 inside", "half \ud800 a pair", 'quote " and \\ and \n', "\u2028 line"]
)
def test_any_text_is_stored_unchanged(c: Connection, text: str) -> None:
    """Any program output is stored unchanged, and so is the order of an event's fields."""
    queued(c)
    fields = {"status": "CHECKED", "output": text, "a": [1, 2.5, None, True], "Z": {"b": 1, "a": 2}}
    event_queries.append(c, "s1", fields, 1.0)
    (event,) = event_queries.after(c, "s1", 2, 10)
    assert event.fields == fields
    assert list(event.fields) == ["status", "output", "a", "Z"]


def test_only_the_live_attempt_can_write(c: Connection) -> None:
    """A lost attempt can write neither events nor a verdict."""
    queued(c)
    begun(c)
    attempt_queries.lose(c, "a1", 1.0, "gone")
    begun(c, attempt_id="a2", number=2)
    assert event_queries.report(c, "s1", CHECKING, 2.0, attempt_id="a1", seq=1) is None
    assert event_queries.complete(c, "s1", WRONG, 2.0, attempt_id="a1", seq=1) is None
    assert event_ids(c) == [1, 2, 3, 4]
    assert attempt_queries.of_submission(c, "s1")[0].last_seq == 0
    assert event_queries.report(c, "s1", CHECKING, 2.0, attempt_id="a2", seq=1) is not None


def test_the_first_event_of_an_attempt_makes_it_run(c: Connection) -> None:
    """The listener's first event changes ASSIGNED to RUNNING; an event of the control plane does not."""
    queued(c)
    begun(c)
    event_queries.append(c, "s1", {"status": "VM_READY"}, 1.0)
    assert found(c).state is SubmissionState.ASSIGNED
    event_queries.report(c, "s1", CHECKING, 1.0, attempt_id="a1", seq=1)
    assert found(c).state is SubmissionState.RUNNING
    assert attempt_queries.of_submission(c, "s1")[0].last_seq == 1


def test_an_event_delivered_twice_is_stored_once(c: Connection) -> None:
    """A seq that is already stored changes nothing."""
    queued(c)
    begun(c)
    assert event_queries.report(c, "s1", CHECKING, 1.0, attempt_id="a1", seq=1) is not None
    assert event_queries.report(c, "s1", CHECKING, 2.0, attempt_id="a1", seq=1) is None
    assert event_ids(c) == [1, 2, 3, 4]


def test_a_gap_is_rejected(c: Connection) -> None:
    """A seq that leaves a gap is rejected, and nothing is written."""
    queued(c)
    begun(c)
    with pytest.raises(ValueError, match="missing"):
        event_queries.report(c, "s1", CHECKING, 1.0, attempt_id="a1", seq=2)
    with pytest.raises(ValueError, match="pass attempt_id"):
        event_queries.complete(c, "s1", WRONG, 1.0, seq=1)
    assert event_ids(c) == [1, 2, 3]


def test_the_terminal_event_sets_the_verdict(c: Connection) -> None:
    """The submission gets its verdict, end, cost and figures, and the attempt its outcome."""
    queued(c)
    begun(c)
    fields = {"status": "ACCEPTED", "avg_runtime_ms": 1.5, "avg_gflops": 7.25, "simulated": True}
    event = event_queries.complete(
        c, "s1", fields, 1234.5, attempt_id="a1", seq=1, cost_usd=Decimal("0.033166667")
    )
    assert event is not None
    record = found(c)
    assert (record.state, record.verdict, record.finished_at) == (SubmissionState.DONE, "ACCEPTED", 1234.5)
    assert record.cost_usd == Decimal("0.033166667")
    assert (record.avg_runtime_ms, record.avg_gflops, record.simulated) == (1.5, 7.25, True)
    (attempt,) = attempt_queries.of_submission(c, "s1")
    assert (attempt.outcome, attempt.ended_at, attempt.last_seq) == ("ACCEPTED", 1234.5, 1)


def test_there_is_one_verdict(c: Connection) -> None:
    """After the terminal event no event is added, and the verdict does not change."""
    queued(c)
    begun(c)
    assert event_queries.complete(c, "s1", WRONG, 1.0) is not None
    assert event_queries.complete(c, "s1", {"status": "ERROR"}, 2.0) is None
    assert event_queries.complete(c, "s1", WRONG, 2.0, attempt_id="a1", seq=1) is None
    assert event_queries.append(c, "s1", CHECKING, 2.0) is None
    assert found(c).verdict == "WRONG_ANSWER"
    assert event_ids(c) == [1, 2, 3, 4]


def test_a_control_plane_verdict_ends_the_attempt(c: Connection) -> None:
    """Cancelling a submission ends its attempt, too."""
    queued(c)
    begun(c)
    event_queries.complete(c, "s1", {"status": "CANCELLED"}, 9.0)
    assert attempt_queries.unfinished(c) == []
    assert attempt_queries.of_submission(c, "s1")[0].outcome == "CANCELLED"


def test_a_verdict_needs_no_attempt(c: Connection) -> None:
    """A compile error in the X-ray ends a submission that never had a VM."""
    queued(c)
    assert event_queries.complete(c, "s1", {"status": "COMPILE_ERROR"}, 9.0, cost_usd=Decimal(0)) is not None
    assert found(c).verdict == "COMPILE_ERROR"
    assert attempt_queries.of_submission(c, "s1") == []


_NUMBERS = itertools.count(1)
_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["begin", "lose", "append", "report", "finish"]),
        st.integers(1, 3),  # which attempt
        st.integers(1, 4),  # which seq
    ),
    max_size=25,
)


@given(steps=_STEPS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_log_holds_for_any_order_of_reports(c: Connection, steps: list[tuple[str, int, int]]) -> None:
    """With late, repeated and reordered reports, ids have no gaps and nothing follows a verdict."""
    this = f"s{next(_NUMBERS)}"
    queued(c, this)
    for step, number, seq in steps:
        _take(c, this, step, f"{this}-a{number}", seq)
    stored = event_queries.after(c, this, 0, 1000)
    record = found(c, this)
    assert [event.id for event in stored] == list(range(1, record.last_event_id + 1))
    verdicts = [event.id for event in stored if event.status == "WRONG_ANSWER"]
    assert verdicts == ([record.last_event_id] if record.state is SubmissionState.DONE else [])
    reports = [(event.fields["by"], event.fields["seq"]) for event in stored if "seq" in event.fields]
    for attempt in attempt_queries.of_submission(c, this):
        assert [seq for by, seq in reports if by == attempt.id] == list(range(1, attempt.last_seq + 1))
    open_ones = [one.id for one in attempt_queries.of_submission(c, this) if not one.outcome]
    assert open_ones == ([record.attempt_id] if record.attempt_id and not record.verdict else [])


def _take(c: Connection, this: str, step: str, attempt_id: str, seq: int) -> None:
    fields = {"status": "TEST_RESULT", "by": attempt_id, "seq": seq}
    if step == "begin":
        known = {one.id for one in attempt_queries.of_submission(c, this)}
        record = AttemptRecord(
            id=attempt_id, submission_id=this, vm_id="v", number=len(known) + 1, started_at=1.0
        )
        if attempt_id not in known:
            attempt_queries.begin(c, record, {"status": "VM_READY"}, cold=True)
    elif step == "lose":
        attempt_queries.lose(c, attempt_id, 2.0, "gone")
    elif step == "append":
        event_queries.append(c, this, CHECKING, 2.0)
    elif step == "report":
        try:
            event_queries.report(c, this, fields, 2.0, attempt_id=attempt_id, seq=seq)
        except ValueError as gap:
            assert "missing" in str(gap)  # noqa: PT017 - rejecting a gap is one of the correct results
    else:
        event_queries.complete(c, this, WRONG, 3.0, attempt_id=attempt_id)
