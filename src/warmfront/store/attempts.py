"""Attempts: a submission's tries on VMs, of which at most one holds the lease.

Each change is guarded by the submission's row, so that a stale caller changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, insert, null, select, update

from warmfront.store import log, schema
from warmfront.store.records import AttemptRecord, Running
from warmfront.submission import SubmissionState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from warmfront.store.records import StoredEvent

_A = schema.attempts.c
_S = schema.submissions.c
_NAMES = tuple(AttemptRecord.__dataclass_fields__)
_RECORDS = select(*[_A[name] for name in _NAMES])

#: The outcome of an attempt whose VM went away; the submission gets another.
LOST = "LOST"


def begin(c: Connection, attempt: AttemptRecord, fields: dict[str, Any], *, cold: bool) -> StoredEvent | None:
    """Give a QUEUED submission to this attempt, with the event that says so; else None, and nothing done."""
    parameters = {"this": attempt.submission_id, "lease": attempt.id, "on": attempt.vm_id}
    event_id = c.execute(_ASSIGN, parameters).scalar()
    if event_id is None:
        return None
    c.execute(_INSERT, {**vars(attempt), "cold": cold})
    return log.insert_event(c, attempt.submission_id, event_id, attempt.started_at, fields)


_ASSIGN = (
    update(schema.submissions)
    .where(_S.id == bindparam("this"), _S.state == SubmissionState.QUEUED)
    .values(
        state=SubmissionState.ASSIGNED,
        attempt_id=bindparam("lease"),
        vm_id=bindparam("on"),
        attempts=_S.attempts + 1,
        last_event_id=_S.last_event_id + 1,
    )
    .returning(_S.last_event_id)
)
_INSERT = insert(schema.attempts)


def lose(c: Connection, attempt_id: str, now: float, reason: str) -> bool:
    """Take the submission back into the queue; False, and nothing done, if it is not this attempt's."""
    if c.execute(_TAKE_BACK, {"lease": attempt_id}).rowcount != 1:
        return False
    c.execute(_LOSE, {"this": attempt_id, "to_ended_at": now, "to_reason": reason})
    return True


_TAKE_BACK = (
    update(schema.submissions)
    .where(_S.id == select(_A.submission_id).where(_A.id == bindparam("lease")).scalar_subquery())
    .where(_S.attempt_id == bindparam("lease"), _S.state != SubmissionState.DONE)
    .values(state=SubmissionState.QUEUED, attempt_id=null())
)
_LOSE = (
    update(schema.attempts)
    .where(_A.id == bindparam("this"))
    .values(outcome=LOST, ended_at=bindparam("to_ended_at"), reason=bindparam("to_reason"))
)


def unfinished(c: Connection) -> list[AttemptRecord]:
    """All that neither ended nor were lost, the oldest first."""
    return [_record(row) for row in c.execute(_UNFINISHED)]


_UNFINISHED = _RECORDS.where(_A.outcome == "").order_by(_A.started_at, _A.id)


def running(c: Connection) -> list[Running]:
    """What is on a VM now, the oldest first."""
    return [Running(*row) for row in c.execute(_RUNNING)]


_RUNNING = (
    select(_A.vm_id, _A.started_at, _S.id, _S.owner, _S.problem, _S.endpoint)
    .join(schema.submissions, _S.attempt_id == _A.id)
    .where(_A.outcome == "", _S.state.in_([SubmissionState.ASSIGNED, SubmissionState.RUNNING]))
    .order_by(_A.started_at, _A.id)
)


def of(c: Connection, submission_id: str) -> list[AttemptRecord]:
    """The attempts of one submission, the first first."""
    return [_record(row) for row in c.execute(_OF, {"of": submission_id})]


_OF = _RECORDS.where(_A.submission_id == bindparam("of")).order_by(_A.number)


def _record(values: Sequence[Any]) -> AttemptRecord:
    return AttemptRecord(**dict(zip(_NAMES, values, strict=True)))
