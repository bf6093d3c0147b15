"""The event log: consecutive ids, one terminal event, and no events of stale attempts."""

from __future__ import annotations

import itertools
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.store_samples import add_queued, begin_attempt, event_ids, get_submission
from warmfront.store import attempt_queries, event_queries
from warmfront.store.records import AttemptRecord
from warmfront.submission import SubmissionState

if TYPE_CHECKING:
    from sqlalchemy import Connection

CHECKING = {"status": "CHECKING", "total_tests": 3}
WRONG = {"status": "WRONG_ANSWER", "message": "off by one"}


def test_events_have_consecutive_ids(conn: Connection) -> None:
    """Each event gets the next id, and the submission has the last one."""
    add_queued(conn)
    numbers = [event.id for _ in range(5) if (event := event_queries.append(conn, "s1", CHECKING, 1.0))]
    assert numbers == [3, 4, 5, 6, 7]
    assert event_ids(conn) == [1, 2, 3, 4, 5, 6, 7]
    assert get_submission(conn).last_event_id == 7


def test_events_are_read_after_an_id(conn: Connection) -> None:
    """Events after an id are returned in order, up to the limit."""
    add_queued(conn)
    for _ in range(5):
        event_queries.append(conn, "s1", CHECKING, 1.0)
    assert [event.id for event in event_queries.after(conn, "s1", 2, 3)] == [3, 4, 5]
    assert event_queries.after(conn, "s1", 7, 3) == []


@pytest.mark.parametrize(
    "text", ["plain", "äöü 🌡", "nul \0 inside", "half \ud800 a pair", 'quote " and \\ and \n', "\u2028 line"]
)
def test_any_text_is_stored_unchanged(conn: Connection, text: str) -> None:
    """The output of a program and the order of an event's fields are preserved."""
    add_queued(conn)
    fields = {"status": "CHECKED", "output": text, "a": [1, 2.5, None, True], "Z": {"b": 1, "a": 2}}
    event_queries.append(conn, "s1", fields, 1.0)
    (event,) = event_queries.after(conn, "s1", 2, 10)
    assert event.fields == fields
    assert list(event.fields) == ["status", "output", "a", "Z"]


def test_only_the_live_attempt_can_write(conn: Connection) -> None:
    """A lost attempt can write neither events nor a verdict."""
    add_queued(conn)
    begin_attempt(conn)
    attempt_queries.lose(conn, "a1", 1.0, "gone")
    begin_attempt(conn, attempt_id="a2", number=2)
    assert event_queries.report(conn, "s1", CHECKING, 2.0, attempt_id="a1", seq=1) is None
    assert event_queries.complete(conn, "s1", WRONG, 2.0, attempt_id="a1", seq=1) is None
    assert event_ids(conn) == [1, 2, 3, 4]
    assert attempt_queries.of_submission(conn, "s1")[0].last_seq == 0
    assert event_queries.report(conn, "s1", CHECKING, 2.0, attempt_id="a2", seq=1) is not None


def test_the_first_report_of_an_attempt_sets_running(conn: Connection) -> None:
    """ASSIGNED becomes RUNNING with the first event from the listener, not with one of the control plane."""
    add_queued(conn)
    begin_attempt(conn)
    event_queries.append(conn, "s1", {"status": "VM_READY"}, 1.0)
    assert get_submission(conn).state is SubmissionState.ASSIGNED
    event_queries.report(conn, "s1", CHECKING, 1.0, attempt_id="a1", seq=1)
    assert get_submission(conn).state is SubmissionState.RUNNING
    assert attempt_queries.of_submission(conn, "s1")[0].last_seq == 1


def test_an_event_delivered_twice_is_stored_once(conn: Connection) -> None:
    """An event with a sequence number that is already stored changes nothing."""
    add_queued(conn)
    begin_attempt(conn)
    assert event_queries.report(conn, "s1", CHECKING, 1.0, attempt_id="a1", seq=1) is not None
    assert event_queries.report(conn, "s1", CHECKING, 2.0, attempt_id="a1", seq=1) is None
    assert event_ids(conn) == [1, 2, 3, 4]


def test_a_gap_in_reports_is_rejected(conn: Connection) -> None:
    """A sequence number that leaves a gap raises ValueError and changes nothing."""
    add_queued(conn)
    begin_attempt(conn)
    with pytest.raises(ValueError, match="missing"):
        event_queries.report(conn, "s1", CHECKING, 1.0, attempt_id="a1", seq=2)
    with pytest.raises(ValueError, match="pass attempt_id"):
        event_queries.complete(conn, "s1", WRONG, 1.0, seq=1)
    assert event_ids(conn) == [1, 2, 3]


def test_the_terminal_event_sets_the_verdict(conn: Connection) -> None:
    """The submission has verdict, end, cost and figures, and the attempt has its outcome."""
    add_queued(conn)
    begin_attempt(conn)
    fields = {"status": "ACCEPTED", "avg_runtime_ms": 1.5, "avg_gflops": 7.25, "simulated": True}
    event = event_queries.complete(
        conn, "s1", fields, 1234.5, attempt_id="a1", seq=1, cost_usd=Decimal("0.033166667")
    )
    assert event is not None
    record = get_submission(conn)
    assert (record.state, record.verdict, record.finished_at) == (SubmissionState.DONE, "ACCEPTED", 1234.5)
    assert record.cost_usd == Decimal("0.033166667")
    assert (record.avg_runtime_ms, record.avg_gflops, record.simulated) == (1.5, 7.25, True)
    (attempt,) = attempt_queries.of_submission(conn, "s1")
    assert (attempt.outcome, attempt.ended_at, attempt.last_seq) == ("ACCEPTED", 1234.5, 1)


def test_a_submission_has_one_verdict(conn: Connection) -> None:
    """After the terminal event no event is added and the verdict does not change."""
    add_queued(conn)
    begin_attempt(conn)
    assert event_queries.complete(conn, "s1", WRONG, 1.0) is not None
    assert event_queries.complete(conn, "s1", {"status": "ERROR"}, 2.0) is None
    assert event_queries.complete(conn, "s1", WRONG, 2.0, attempt_id="a1", seq=1) is None
    assert event_queries.append(conn, "s1", CHECKING, 2.0) is None
    assert get_submission(conn).verdict == "WRONG_ANSWER"
    assert event_ids(conn) == [1, 2, 3, 4]


def test_a_verdict_of_the_control_plane_ends_the_attempt(conn: Connection) -> None:
    """A cancelled submission has no unfinished attempt."""
    add_queued(conn)
    begin_attempt(conn)
    event_queries.complete(conn, "s1", {"status": "CANCELLED"}, 9.0)
    assert attempt_queries.unfinished(conn) == []
    assert attempt_queries.of_submission(conn, "s1")[0].outcome == "CANCELLED"


def test_a_verdict_needs_no_attempt(conn: Connection) -> None:
    """A compile error in the X-ray ends a submission that never had an attempt."""
    add_queued(conn)
    assert (
        event_queries.complete(conn, "s1", {"status": "COMPILE_ERROR"}, 9.0, cost_usd=Decimal(0)) is not None
    )
    assert get_submission(conn).verdict == "COMPILE_ERROR"
    assert attempt_queries.of_submission(conn, "s1") == []


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
def test_any_order_of_reports_keeps_the_log_consistent(
    conn: Connection, steps: list[tuple[str, int, int]]
) -> None:
    """Late, repeated and unordered reports leave consecutive ids and no event after the verdict."""
    submission_id = f"s{next(_NUMBERS)}"
    add_queued(conn, submission_id)
    for step, number, seq in steps:
        _apply(conn, submission_id, step, f"{submission_id}-a{number}", seq)
    stored = event_queries.after(conn, submission_id, 0, 1000)
    record = get_submission(conn, submission_id)
    assert [event.id for event in stored] == list(range(1, record.last_event_id + 1))
    verdicts = [event.id for event in stored if event.status == "WRONG_ANSWER"]
    assert verdicts == ([record.last_event_id] if record.state is SubmissionState.DONE else [])
    reports = [(event.fields["by"], event.fields["seq"]) for event in stored if "seq" in event.fields]
    for attempt in attempt_queries.of_submission(conn, submission_id):
        assert [seq for by, seq in reports if by == attempt.id] == list(range(1, attempt.last_seq + 1))
    unfinished = [
        attempt.id for attempt in attempt_queries.of_submission(conn, submission_id) if not attempt.outcome
    ]
    assert unfinished == ([record.attempt_id] if record.attempt_id and not record.verdict else [])


def _apply(conn: Connection, submission_id: str, step: str, attempt_id: str, seq: int) -> None:
    fields = {"status": "TEST_RESULT", "by": attempt_id, "seq": seq}
    if step == "begin":
        known = {attempt.id for attempt in attempt_queries.of_submission(conn, submission_id)}
        record = AttemptRecord(
            id=attempt_id, submission_id=submission_id, vm_id="v", number=len(known) + 1, started_at=1.0
        )
        if attempt_id not in known:
            attempt_queries.begin(conn, record, {"status": "VM_READY"}, cold=True)
    elif step == "lose":
        attempt_queries.lose(conn, attempt_id, 2.0, "gone")
    elif step == "append":
        event_queries.append(conn, submission_id, CHECKING, 2.0)
    elif step == "report":
        try:
            event_queries.report(conn, submission_id, fields, 2.0, attempt_id=attempt_id, seq=seq)
        except ValueError as error:
            assert "missing" in str(error)  # noqa: PT017 - a gap is one of the allowed results
    else:
        event_queries.complete(conn, submission_id, WRONG, 3.0, attempt_id=attempt_id)
