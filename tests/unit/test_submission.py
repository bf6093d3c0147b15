"""The state machine of a submission, as a value and as the store executes it."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.store_samples import new_submission
from warmfront import submission as submission_module
from warmfront.state_machine import IllegalTransitionError, as_markdown
from warmfront.store import attempt_queries, event_queries, submission_queries
from warmfront.store.memory_database import MemoryDatabase
from warmfront.store.records import AttemptRecord
from warmfront.submission import TRANSITIONS, UNFINISHED, Submission, SubmissionState

_ATTEMPTS = ["a1", "a2", "a3"]
#: A transition, and the attempt that it is about.
_STEP = st.tuples(
    st.sampled_from(["admit", "begin_attempt", "report", "lose_attempt", "complete"]),
    st.sampled_from(_ATTEMPTS),
)


def _submission() -> Submission:
    database = MemoryDatabase()
    try:
        return database.run(submission_queries.create, new_submission(), {"status": "IN_QUEUE"})[0]
    finally:
        database.dispose()


def _apply(submission: Submission, step: str, attempt_id: str) -> Submission:
    if step == "admit":
        return submission.admit()
    if step == "begin_attempt":
        return submission.begin_attempt(attempt_id, "vm")
    if step == "report":
        return submission.report(attempt_id)
    if step == "lose_attempt":
        return submission.lose_attempt(attempt_id)
    return submission.complete("WRONG_ANSWER", 9.0, Decimal(0))


def _store(database: MemoryDatabase, submission: Submission, step: str, attempt_id: str, seq: int) -> bool:
    """Execute a transition in the store; return whether the store accepted it."""
    this = submission.id
    if step == "admit":
        return database.run(event_queries.admit, this, {"status": "XRAY"}, 2.0) is not None
    if step == "begin_attempt":
        attempt = AttemptRecord(
            id=attempt_id, submission_id=this, vm_id="vm", number=submission.attempts + 1, started_at=3.0
        )
        return database.run(attempt_queries.begin, attempt, {"status": "VM_READY"}, cold=True) is not None
    if step == "report":
        event = database.run(
            event_queries.report, this, {"status": "CHECKING"}, 4.0, attempt_id=attempt_id, seq=seq
        )
        return event is not None
    if step == "lose_attempt":
        return database.run(attempt_queries.lose, attempt_id, 5.0, "lost")
    fields = {"status": "WRONG_ANSWER"}
    return database.run(event_queries.complete, this, fields, 9.0, cost_usd=Decimal(0)) is not None


@given(steps=st.lists(_STEP, max_size=20))
@settings(max_examples=150, deadline=None)
def test_the_store_and_the_value_accept_the_same_transitions(steps: list[tuple[str, str]]) -> None:
    """For any sequence, the store accepts exactly what the value allows, and both end in the same state."""
    database = MemoryDatabase()
    try:
        submission, _ = database.run(submission_queries.create, new_submission(), {"status": "IN_QUEUE"})
        used: set[str] = set()
        seq = 0
        for step, attempt_id in steps:
            if step == "begin_attempt" and attempt_id in used:
                continue  # the orchestrator never reuses the id of an attempt
            try:
                expected = _apply(submission, step, attempt_id)
            except IllegalTransitionError:
                expected = None
            seq = seq + 1 if step == "report" and expected is not None else seq
            accepted = _store(database, submission, step, attempt_id, seq)
            assert accepted == (expected is not None), (step, attempt_id, submission.state)
            if expected is None:
                continue
            if step == "begin_attempt":
                used.add(attempt_id)
                seq = 0
            submission = expected
            assert database.run(submission_queries.get, submission.id) == submission
    finally:
        database.dispose()


@given(steps=st.lists(_STEP, max_size=30))
def test_a_completed_submission_never_changes(steps: list[tuple[str, str]]) -> None:
    """DONE has no outgoing transition, and event ids never decrease on the way there."""
    submission = _submission()
    for step, attempt_id in steps:
        before = submission
        try:
            submission = _apply(submission, step, attempt_id)
        except IllegalTransitionError:
            continue
        assert not before.is_done
        assert submission.last_event_id >= before.last_event_id
        assert submission.attempts - before.attempts == (1 if step == "begin_attempt" else 0)


def test_every_state_but_done_can_be_completed() -> None:
    """Whatever a submission waits for, it can get its verdict."""
    assert set(SubmissionState) - {SubmissionState.DONE} == UNFINISHED


def test_an_illegal_transition_names_the_states() -> None:
    """The message names the transition, the submission, its state and the allowed states."""
    with pytest.raises(IllegalTransitionError, match="begin_attempt of submission s1 in state ADMITTING"):
        _submission().begin_attempt("a1", "vm")


def test_a_stale_attempt_cannot_report() -> None:
    """Only the live attempt may report or be lost."""
    running = _submission().admit().begin_attempt("a1", "vm").lose_attempt("a1").begin_attempt("a2", "vm")
    with pytest.raises(IllegalTransitionError, match="a1 is not the live attempt"):
        running.report("a1")


def test_the_documentation_has_the_transitions() -> None:
    """docs/architecture/state-machines.md shows the table that the code uses."""
    page = Path(__file__).parents[2] / "docs/architecture/state-machines.md"
    assert as_markdown(TRANSITIONS) in page.read_text()
    assert submission_module.__doc__ is not None
