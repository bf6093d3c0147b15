"""Sample submissions and attempts, so that a test states only the fields that matter to it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from warmfront.store import attempt_queries, event_queries, submission_queries
from warmfront.store.records import AttemptRecord
from warmfront.submission import NewSubmission

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from warmfront.submission import Submission

IN_QUEUE = {"status": "IN_QUEUE", "position": 0}
XRAY = {"status": "XRAY"}
VM_READY = {"status": "VM_READY"}


def new_submission(submission_id: str = "s1", **changes: Any) -> NewSubmission:
    """Return a submission as the API creates it."""
    default = NewSubmission(
        id=submission_id,
        owner="ada",
        problem="leaky-relu",
        gpu="MI300X",
        dtype="float32",
        language="hip",
        endpoint="submit",
        file_name="solution.hip",
        code="__global__ void k() {}",
        created_at=1000.0,
    )
    return dataclasses.replace(default, **changes)


def add_queued(conn: Connection, submission_id: str = "s1", /, **changes: Any) -> Submission:
    """Store a submission that waits for a VM."""
    submission_queries.create(conn, new_submission(submission_id, **changes), IN_QUEUE)
    assert event_queries.admit(conn, submission_id, XRAY, 1000.5)
    return get_submission(conn, submission_id)


def begin_attempt(
    conn: Connection,
    submission_id: str = "s1",
    attempt_id: str = "a1",
    *,
    cold: bool = False,
    number: int = 1,
) -> AttemptRecord:
    """Begin an attempt of a queued submission."""
    attempt = AttemptRecord(
        id=attempt_id,
        submission_id=submission_id,
        vm_id=f"vm-of-{attempt_id}",
        number=number,
        started_at=1001.0,
    )
    assert attempt_queries.begin(conn, attempt, VM_READY, cold=cold)
    return attempt


def add_accepted(
    conn: Connection,
    submission_id: str,
    runtime_ms: float,
    *,
    ci: tuple[float, float] | None = None,
    noisy: bool = False,
    simulated: bool = True,
    **changes: Any,
) -> None:
    """Store a submission with the verdict ACCEPTED."""
    add_queued(conn, submission_id, **changes)
    begin_attempt(conn, submission_id, f"a-{submission_id}")
    fields = {
        "status": "ACCEPTED",
        "avg_runtime_ms": runtime_ms,
        "avg_ci": ci,
        "noisy": noisy,
        "avg_gflops": None,
        "simulated": simulated,
    }
    assert event_queries.complete(conn, submission_id, fields, 1005.0)


def get_submission(conn: Connection, submission_id: str = "s1") -> Submission:
    """Return a stored submission."""
    record = submission_queries.get(conn, submission_id)
    assert record is not None
    return record


def event_ids(conn: Connection, submission_id: str = "s1") -> list[int]:
    """Return the ids in the event log of a submission."""
    return [event.id for event in event_queries.after(conn, submission_id, 0, 10_000)]
