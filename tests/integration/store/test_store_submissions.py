"""Submissions and attempts: stored once, listed, ranked, and held by at most one attempt."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from tests.support.store_samples import (
    IN_QUEUE,
    VM_READY,
    XRAY,
    accepted,
    begun,
    event_ids,
    found,
    new,
    queued,
)
from warmfront.errors import BadRequest, Conflict
from warmfront.store import attempt_queries, event_queries, submission_queries
from warmfront.store.records import AttemptRecord
from warmfront.submission import SubmissionState

if TYPE_CHECKING:
    from sqlalchemy import Connection


def test_a_new_submission_is_stored_with_its_first_event(c: Connection) -> None:
    """A new submission is stored with its code and event 1."""
    record, event = submission_queries.create(c, new(code="äöü 🌡", problem_def="def p(): ..."), IN_QUEUE)
    assert event is not None
    assert (event.id, event.time, event.status) == (1, 1000.0, "IN_QUEUE")
    assert record == found(c)
    assert (record.state, record.last_event_id, record.attempts) == (SubmissionState.ADMITTING, 1, 0)
    assert record.code_sha256 == hashlib.sha256("äöü 🌡".encode()).hexdigest()
    assert submission_queries.source(c, "s1") == ("äöü 🌡", "def p(): ...")
    assert event_queries.after(c, "s1", 0, 10) == [event]


def test_an_unknown_submission(c: Connection) -> None:
    """An unknown submission is not found, not queued and not cancelled."""
    assert submission_queries.get(c, "nobody") is None
    assert submission_queries.request_cancel(c, "nobody") is None
    assert event_queries.admit(c, "nobody", XRAY, 1.0) is None


def test_a_repeated_request_returns_the_same_submission(c: Connection) -> None:
    """An owner who repeats an idempotency key gets the first submission, without a second event."""
    first, _ = submission_queries.create(c, new("s1", idempotency_key="k"), IN_QUEUE)
    again, event = submission_queries.create(c, new("s2", idempotency_key="k", created_at=2000.0), IN_QUEUE)
    assert again == first
    assert event is None
    assert submission_queries.get(c, "s2") is None
    assert event_ids(c) == [1]


def test_a_key_for_another_request_is_a_conflict(c: Connection) -> None:
    """An idempotency key belongs to one request; the error names its submission."""
    submission_queries.create(c, new("s1", idempotency_key="k"), IN_QUEUE)
    with pytest.raises(Conflict, match="s1"):
        submission_queries.create(c, new("s2", idempotency_key="k", code="other"), IN_QUEUE)
    assert submission_queries.get(c, "s2") is None


def test_idempotency_keys_belong_to_their_owner(c: Connection) -> None:
    """Two users with the same key, and one without a key, have separate submissions."""
    submission_queries.create(c, new("s1", idempotency_key="k"), IN_QUEUE)
    for changed in (new("s2", idempotency_key="k", owner="bob"), new("s3"), new("s4")):
        _, event = submission_queries.create(c, changed, IN_QUEUE)
        assert event is not None


def test_it_is_queued_once(c: Connection) -> None:
    """ADMITTING changes to QUEUED once."""
    submission_queries.create(c, new(), IN_QUEUE)
    assert event_queries.admit(c, "s1", XRAY, 1.0) is not None
    assert event_queries.admit(c, "s1", XRAY, 2.0) is None
    assert event_ids(c) == [1, 2]
    assert found(c).state is SubmissionState.QUEUED


def test_pages_contain_every_submission_once(c: Connection) -> None:
    """Following the cursors lists all submissions, newest first, also with equal times."""
    for number in range(7):
        submission_queries.create(c, new(f"s{number}", created_at=1000.0 + number // 3), IN_QUEUE)
    seen: list[str] = []
    cursor = None
    for _ in range(4):
        page = submission_queries.page(c, limit=2, cursor=cursor)
        seen += [item.id for item in page.items]
        cursor = page.next_cursor
    assert seen == ["s6", "s5", "s4", "s3", "s2", "s1", "s0"]
    assert cursor is None


def test_a_page_with_all_items_has_no_cursor(c: Connection) -> None:
    """If all items fit on one page, there is no cursor to an empty page."""
    submission_queries.create(c, new("s1"), IN_QUEUE)
    submission_queries.create(c, new("s2"), IN_QUEUE)
    assert submission_queries.page(c, limit=2).next_cursor is None


def test_pages_are_filtered(c: Connection) -> None:
    """Owner, state, verdict, problem and endpoint filter the list, alone and together."""
    accepted(c, "s1", 1.0)
    queued(c, "s2", owner="bob")
    queued(c, "s3", problem="softmax")
    queued(c, "s4", endpoint="checker")

    def ids(**wanted: str) -> set[str]:
        return {item.id for item in submission_queries.page(c, **wanted).items}  # type: ignore[arg-type]

    assert ids(owner="bob") == {"s2"}
    assert ids(state="DONE") == {"s1"}
    assert ids(verdict="ACCEPTED") == {"s1"}
    assert ids(problem="softmax") == {"s3"}
    assert ids(endpoint="checker") == {"s4"}
    assert ids(owner="ada", state="QUEUED") == {"s3", "s4"}


@pytest.mark.parametrize("cursor", ["", "%%%", "bm90IGpzb24=", "WzEsMl0", "W10=", "eyJhIjoxfQ==", "é"])
def test_a_forged_cursor_is_a_bad_request(c: Connection, cursor: str) -> None:
    """Any cursor that the service did not issue is a bad request."""
    with pytest.raises(BadRequest):
        submission_queries.page(c, cursor=cursor)


def test_unfinished_are_the_oldest_first(c: Connection) -> None:
    """After a restart every submission without a verdict is found, oldest first."""
    accepted(c, "s1", 1.0, created_at=1.0)
    queued(c, "s2", created_at=3.0)
    submission_queries.create(c, new("s3", created_at=2.0), IN_QUEUE)
    queued(c, "s4", created_at=4.0)
    begun(c, "s4", "a4")
    assert [record.id for record in submission_queries.unfinished(c)] == ["s3", "s2", "s4"]


def test_a_users_queue_is_counted(c: Connection) -> None:
    """Only queued submissions of that user are counted."""
    queued(c, "s1")
    submission_queries.create(c, new("s2"), IN_QUEUE)
    queued(c, "s3", owner="bob")
    queued(c, "s4")
    begun(c, "s4", "a4")
    assert submission_queries.queued_by(c, "ada") == 2


def test_a_cancel_request_is_stored_until_the_verdict(c: Connection) -> None:
    """A cancel request is stored; a submission that is DONE does not change."""
    queued(c, "s1")
    cancelled = submission_queries.request_cancel(c, "s1")
    assert cancelled is not None
    assert cancelled.cancel_requested
    accepted(c, "s2", 1.0)
    done = submission_queries.request_cancel(c, "s2")
    assert done is not None
    assert not done.cancel_requested


def test_the_leaderboard_has_the_best_of_each_user(c: Connection) -> None:
    """One row per user and GPU; simulated results are last; other problems and verdicts are excluded."""
    accepted(c, "slow", 9.0)
    accepted(c, "fast", 2.0)
    accepted(c, "real", 5.0, simulated=False)
    accepted(c, "bob", 3.0, owner="bob")
    accepted(c, "other", 1.0, problem="softmax")
    queued(c, "wrong")
    event_queries.complete(c, "wrong", {"status": "WRONG_ANSWER"}, 1.0)
    assert [(row.id, row.simulated) for row in submission_queries.best(c, "leaky-relu")] == [
        ("real", False),
        ("fast", True),
        ("bob", True),
    ]


def test_the_leaderboard_of_one_dtype(c: Connection) -> None:
    """The leaderboard of one dtype excludes the others."""
    accepted(c, "half", 1.0, dtype="float16")
    accepted(c, "single", 2.0)
    assert [row.id for row in submission_queries.best(c, "leaky-relu", dtype="float32")] == ["single"]


def test_an_attempt_begins_on_a_queued_submission(c: Connection) -> None:
    """The submission is ASSIGNED and counts the attempt; no other attempt can begin meanwhile."""
    queued(c)
    attempt = begun(c, cold=True)
    record = found(c)
    assert (record.state, record.attempt_id, record.vm_id, record.attempts) == (
        SubmissionState.ASSIGNED,
        "a1",
        "vm-of-a1",
        1,
    )
    second = AttemptRecord(id="a2", submission_id="s1", vm_id="v", number=2, started_at=1.0)
    assert attempt_queries.begin(c, second, VM_READY, cold=False) is None
    assert [one.id for one in attempt_queries.of_submission(c, "s1")] == [attempt.id]
    assert attempt_queries.of_submission(c, "s1")[0].cold is True


def test_a_lost_attempt_requeues_the_submission(c: Connection) -> None:
    """The submission is QUEUED again, and the lost attempt has a reason and a time."""
    queued(c)
    begun(c)
    assert attempt_queries.lose(c, "a1", 1010.0, "the VM is gone") is True
    record = found(c)
    assert (record.state, record.attempt_id, record.attempts) == (SubmissionState.QUEUED, None, 1)
    (lost,) = attempt_queries.of_submission(c, "s1")
    assert (lost.outcome, lost.ended_at, lost.reason) == ("LOST", 1010.0, "the VM is gone")
    assert attempt_queries.unfinished(c) == []


def test_an_attempt_is_lost_once(c: Connection) -> None:
    """A stale report about an earlier attempt does not affect the live attempt."""
    queued(c)
    begun(c)
    assert attempt_queries.lose(c, "a1", 1010.0, "gone")
    begun(c, attempt_id="a2", number=2)
    assert attempt_queries.lose(c, "a1", 1020.0, "gone again") is False
    assert found(c).attempt_id == "a2"
    assert [one.id for one in attempt_queries.unfinished(c)] == ["a2"]
    assert attempt_queries.lose(c, "unknown", 1.0, "") is False


def test_a_finished_attempt_cannot_be_lost(c: Connection) -> None:
    """A verdict does not change when the VM is lost afterwards."""
    accepted(c, "s1", 1.0)
    assert attempt_queries.lose(c, "a-s1", 2000.0, "gone") is False
    assert found(c).state is SubmissionState.DONE
    assert attempt_queries.of_submission(c, "s1")[0].outcome == "ACCEPTED"
