"""Sample values for tests of the store; a test sets only the fields that matter to it."""

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


def new(submission_id: str = "s1", **changes: Any) -> NewSubmission:
    """Return a new submission as the API creates it."""
    plain = NewSubmission(
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
    return dataclasses.replace(plain, **changes)


def queued(c: Connection, submission_id: str = "s1", /, **changes: Any) -> Submission:
    """Store a submission that waits for a VM."""
    submission_queries.create(c, new(submission_id, **changes), IN_QUEUE)
    assert event_queries.admit(c, submission_id, XRAY, 1000.5)
    return found(c, submission_id)


def begun(
    c: Connection, submission_id: str = "s1", attempt_id: str = "a1", *, cold: bool = False, number: int = 1
) -> AttemptRecord:
    """Begin an attempt of a queued submission."""
    attempt = AttemptRecord(
        id=attempt_id,
        submission_id=submission_id,
        vm_id=f"vm-of-{attempt_id}",
        number=number,
        started_at=1001.0,
    )
    assert attempt_queries.begin(c, attempt, VM_READY, cold=cold)
    return attempt


def accepted(
    c: Connection, submission_id: str, runtime_ms: float, *, simulated: bool = True, **changes: Any
) -> None:
    """Store a submission that was accepted."""
    queued(c, submission_id, **changes)
    begun(c, submission_id, f"a-{submission_id}")
    fields = {"status": "ACCEPTED", "avg_runtime_ms": runtime_ms, "avg_gflops": None, "simulated": simulated}
    assert event_queries.complete(c, submission_id, fields, 1005.0)


def found(c: Connection, submission_id: str = "s1") -> Submission:
    """Return a submission that must exist."""
    record = submission_queries.get(c, submission_id)
    assert record is not None
    return record


def event_ids(c: Connection, submission_id: str = "s1") -> list[int]:
    """Return the event ids of a submission."""
    return [event.id for event in event_queries.after(c, submission_id, 0, 10_000)]
