"""Submissions and attempts: creation, lists, the leaderboard, and at most one live attempt."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.store_samples import (
    IN_QUEUE,
    VM_READY,
    XRAY,
    add_accepted,
    add_queued,
    begin_attempt,
    event_ids,
    get_submission,
    new_submission,
)
from warmfront.errors import BadRequest, Conflict
from warmfront.store import attempt_queries, event_queries, report_queries, submission_queries
from warmfront.store.records import AttemptRecord, BestResult
from warmfront.submission import SubmissionState, SubmittedSource

if TYPE_CHECKING:
    from sqlalchemy import Connection


def test_a_new_submission_is_stored_with_its_first_event(conn: Connection) -> None:
    """The submission, its source and event 1 are stored together."""
    record, event = submission_queries.create(
        conn,
        new_submission(code="äöü 🌡", problem_def="def p(): ...", own_cases="[]", launch="{}", all_cases=True),
        IN_QUEUE,
    )
    assert event is not None
    assert (event.id, event.time, event.status) == (1, 1000.0, "IN_QUEUE")
    assert record == get_submission(conn)
    assert (record.state, record.last_event_id, record.attempts) == (SubmissionState.ADMITTING, 1, 0)
    assert record.code_sha256 == hashlib.sha256("äöü 🌡".encode()).hexdigest()
    assert submission_queries.source(conn, "s1") == SubmittedSource(
        code="äöü 🌡", problem_def="def p(): ...", own_cases="[]", launch="{}", all_cases=True
    )
    assert event_queries.after(conn, "s1", 0, 10) == [event]


def test_an_unknown_submission_is_none(conn: Connection) -> None:
    """An unknown submission can be neither read, cancelled nor admitted."""
    assert submission_queries.get(conn, "unknown") is None
    assert submission_queries.request_cancel(conn, "unknown") is None
    assert event_queries.admit(conn, "unknown", XRAY, 1.0) is None


def test_a_repeated_request_returns_the_same_submission(conn: Connection) -> None:
    """An owner that repeats an idempotency key gets the first submission, without another event."""
    first, _ = submission_queries.create(conn, new_submission("s1", idempotency_key="k"), IN_QUEUE)
    again, event = submission_queries.create(
        conn, new_submission("s2", idempotency_key="k", created_at=2000.0), IN_QUEUE
    )
    assert again == first
    assert event is None
    assert submission_queries.get(conn, "s2") is None
    assert event_ids(conn) == [1]


def test_an_idempotency_key_for_another_request_is_a_conflict(conn: Connection) -> None:
    """The error contains the id of the submission that has the key."""
    submission_queries.create(conn, new_submission("s1", idempotency_key="k"), IN_QUEUE)
    with pytest.raises(Conflict, match="s1"):
        submission_queries.create(conn, new_submission("s2", idempotency_key="k", code="other"), IN_QUEUE)
    assert submission_queries.get(conn, "s2") is None


def test_idempotency_keys_belong_to_their_owner(conn: Connection) -> None:
    """The same key of another owner, and no key at all, create new submissions."""
    submission_queries.create(conn, new_submission("s1", idempotency_key="k"), IN_QUEUE)
    for changed in (
        new_submission("s2", idempotency_key="k", owner="bob"),
        new_submission("s3"),
        new_submission("s4"),
    ):
        _, event = submission_queries.create(conn, changed, IN_QUEUE)
        assert event is not None


def test_a_submission_is_admitted_once(conn: Connection) -> None:
    """Only a submission in ADMITTING becomes QUEUED."""
    submission_queries.create(conn, new_submission(), IN_QUEUE)
    assert event_queries.admit(conn, "s1", XRAY, 1.0) is not None
    assert event_queries.admit(conn, "s1", XRAY, 2.0) is None
    assert event_ids(conn) == [1, 2]
    assert get_submission(conn).state is SubmissionState.QUEUED


def test_pages_contain_every_submission_once(conn: Connection) -> None:
    """Following the cursors returns all submissions, the newest first, including those of the same time."""
    for number in range(7):
        submission_queries.create(
            conn, new_submission(f"s{number}", created_at=1000.0 + number // 3), IN_QUEUE
        )
    ids: list[str] = []
    cursor = None
    for _ in range(4):
        page = submission_queries.page(conn, limit=2, cursor=cursor)
        ids += [item.id for item in page.items]
        cursor = page.next_cursor
    assert ids == ["s6", "s5", "s4", "s3", "s2", "s1", "s0"]
    assert cursor is None


def test_the_last_page_has_no_cursor(conn: Connection) -> None:
    """A page that exactly holds the remaining submissions has no cursor."""
    submission_queries.create(conn, new_submission("s1"), IN_QUEUE)
    submission_queries.create(conn, new_submission("s2"), IN_QUEUE)
    assert submission_queries.page(conn, limit=2).next_cursor is None


def test_pages_are_filtered(conn: Connection) -> None:
    """Owner, state, verdict, problem and endpoint filter the list, alone and combined."""
    add_accepted(conn, "s1", 1.0)
    add_queued(conn, "s2", owner="bob")
    add_queued(conn, "s3", problem="softmax")
    add_queued(conn, "s4", endpoint="checker")

    def ids(**filters: str) -> set[str]:
        return {item.id for item in submission_queries.page(conn, **filters).items}  # type: ignore[arg-type]

    assert ids(owner="bob") == {"s2"}
    assert ids(state="DONE") == {"s1"}
    assert ids(verdict="ACCEPTED") == {"s1"}
    assert ids(problem="softmax") == {"s3"}
    assert ids(endpoint="checker") == {"s4"}
    assert ids(owner="ada", state="QUEUED") == {"s3", "s4"}


@pytest.mark.parametrize("cursor", ["", "%%%", "bm90IGpzb24=", "WzEsMl0", "W10=", "eyJhIjoxfQ==", "é"])
def test_a_forged_cursor_is_a_bad_request(conn: Connection, cursor: str) -> None:
    """A cursor that the store did not create is a bad request."""
    with pytest.raises(BadRequest):
        submission_queries.page(conn, cursor=cursor)


def test_unfinished_submissions_are_sorted_by_age(conn: Connection) -> None:
    """Every submission without a verdict is returned, the oldest first."""
    add_accepted(conn, "s1", 1.0, created_at=1.0)
    add_queued(conn, "s2", created_at=3.0)
    submission_queries.create(conn, new_submission("s3", created_at=2.0), IN_QUEUE)
    add_queued(conn, "s4", created_at=4.0)
    begin_attempt(conn, "s4", "a4")
    assert [record.id for record in submission_queries.unfinished(conn)] == ["s3", "s2", "s4"]


def test_the_queue_of_a_user_is_counted(conn: Connection) -> None:
    """Only waiting submissions of that user count."""
    add_queued(conn, "s1")
    submission_queries.create(conn, new_submission("s2"), IN_QUEUE)
    add_queued(conn, "s3", owner="bob")
    add_queued(conn, "s4")
    begin_attempt(conn, "s4", "a4")
    assert submission_queries.queued_by(conn, "ada") == 2


def test_a_cancel_request_is_stored_until_the_verdict(conn: Connection) -> None:
    """A cancel request is stored; a submission that is DONE does not change."""
    add_queued(conn, "s1")
    cancelled = submission_queries.request_cancel(conn, "s1")
    assert cancelled is not None
    assert cancelled.cancel_requested
    add_accepted(conn, "s2", 1.0)
    done = submission_queries.request_cancel(conn, "s2")
    assert done is not None
    assert not done.cancel_requested


def test_the_leaderboard_has_the_best_of_each_user(conn: Connection) -> None:
    """There is one row per user and GPU, of accepted submissions for the problem, simulated results last."""
    add_accepted(conn, "slow", 9.0)
    add_accepted(conn, "fast", 2.0)
    add_accepted(conn, "real", 5.0, simulated=False)
    add_accepted(conn, "bob", 3.0, owner="bob")
    add_accepted(conn, "other", 1.0, problem="softmax")
    add_queued(conn, "wrong")
    event_queries.complete(conn, "wrong", {"status": "WRONG_ANSWER"}, 1.0)
    assert [(row.id, row.simulated) for row in submission_queries.best(conn, "leaky-relu")] == [
        ("real", False),
        ("fast", True),
        ("bob", True),
    ]


def test_the_best_of_a_user_is_certain(conn: Connection) -> None:
    """A noisy time with a lucky median is not preferred to a certain one."""
    add_accepted(conn, "lucky", 0.7, ci=(0.6, 1.4), noisy=True)
    add_accepted(conn, "certain", 1.0, ci=(0.99, 1.01))
    add_accepted(conn, "old", 0.95)
    (best,) = submission_queries.best(conn, "leaky-relu")
    assert (best.id, best.avg_ci, best.noisy) == ("certain", (0.99, 1.01), False)
    statistics = report_queries.problem_statistics(conn, "ada")["leaky-relu"]
    assert statistics.solutions == 3
    assert statistics.best["MI300X", True] == BestResult(runtime_ms=1.0, ci=(0.99, 1.01), noisy=False)


@pytest.mark.parametrize("broken", [(1.0, 1.0), (2.0, 1.0), (0.0, 1.0), (1.0,), "ab", ("a", "b")])
def test_a_malformed_interval_is_unknown(conn: Connection, broken: Any) -> None:
    """It does not prevent the verdict, and an interval of width 0 is never stored."""
    add_accepted(conn, "s1", 1.0, ci=broken)
    assert get_submission(conn).avg_ci is None


def test_the_leaderboard_of_one_dtype(conn: Connection) -> None:
    """With a dtype, the leaderboard leaves out the others."""
    add_accepted(conn, "half", 1.0, dtype="float16")
    add_accepted(conn, "single", 2.0)
    assert [row.id for row in submission_queries.best(conn, "leaky-relu", dtype="float32")] == ["single"]


def test_an_attempt_begins_for_a_queued_submission(conn: Connection) -> None:
    """The submission becomes ASSIGNED and counts the attempt; a second attempt cannot begin."""
    add_queued(conn)
    attempt = begin_attempt(conn, cold=True)
    record = get_submission(conn)
    assert (record.state, record.attempt_id, record.vm_id, record.attempts) == (
        SubmissionState.ASSIGNED,
        "a1",
        "vm-of-a1",
        1,
    )
    second = AttemptRecord(id="a2", submission_id="s1", vm_id="v", number=2, started_at=1.0)
    assert attempt_queries.begin(conn, second, VM_READY, cold=False) is None
    assert [attempt.id for attempt in attempt_queries.of_submission(conn, "s1")] == [attempt.id]
    assert attempt_queries.of_submission(conn, "s1")[0].cold is True


def test_a_lost_attempt_requeues_the_submission(conn: Connection) -> None:
    """The submission is QUEUED without a live attempt, and the lost one has its reason and end."""
    add_queued(conn)
    begin_attempt(conn)
    assert attempt_queries.lose(conn, "a1", 1010.0, "the VM is gone") is True
    record = get_submission(conn)
    assert (record.state, record.attempt_id, record.attempts) == (SubmissionState.QUEUED, None, 1)
    (lost,) = attempt_queries.of_submission(conn, "s1")
    assert (lost.outcome, lost.ended_at, lost.reason) == ("LOST", 1010.0, "the VM is gone")
    assert attempt_queries.unfinished(conn) == []


def test_an_attempt_is_lost_once(conn: Connection) -> None:
    """A stale report of a lost attempt does not affect the live one."""
    add_queued(conn)
    begin_attempt(conn)
    assert attempt_queries.lose(conn, "a1", 1010.0, "gone")
    begin_attempt(conn, attempt_id="a2", number=2)
    assert attempt_queries.lose(conn, "a1", 1020.0, "gone again") is False
    assert get_submission(conn).attempt_id == "a2"
    assert [attempt.id for attempt in attempt_queries.unfinished(conn)] == ["a2"]
    assert attempt_queries.lose(conn, "unknown", 1.0, "") is False


def test_a_finished_attempt_cannot_be_lost(conn: Connection) -> None:
    """A verdict stands if the VM is lost afterwards."""
    add_accepted(conn, "s1", 1.0)
    assert attempt_queries.lose(conn, "a-s1", 2000.0, "gone") is False
    assert get_submission(conn).state is SubmissionState.DONE
    assert attempt_queries.of_submission(conn, "s1")[0].outcome == "ACCEPTED"
