"""Queries on attempts: the executions of a submission on VMs, of which at most one is live.

Each change is guarded by the submission's row, so that a stale caller changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, func, insert, null, select, update

from warmfront.store import schema
from warmfront.store.event_queries import insert_event
from warmfront.store.records import AttemptOutcome, AttemptRecord, RunningAttempt
from warmfront.submission import BEGIN_ATTEMPT, LOSE_ATTEMPT, REPORT, UNFINISHED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from warmfront.store.records import StoredEvent

_A = schema.attempts.c
_S = schema.submissions.c
_NAMES = tuple(AttemptRecord.__dataclass_fields__)
_RECORDS = select(*[_A[name] for name in _NAMES])


def begin(
    conn: Connection, attempt: AttemptRecord, fields: dict[str, Any], *, cold: bool
) -> StoredEvent | None:
    """Execute BEGIN_ATTEMPT and add its event; return None, and change nothing, from any other state."""
    parameters = {"this": attempt.submission_id, "live": attempt.id, "on": attempt.vm_id}
    event_id = conn.execute(_BEGIN, parameters).scalar()
    if event_id is None:
        return None
    conn.execute(_INSERT, {**vars(attempt), "cold": cold})
    return insert_event(conn, attempt.submission_id, event_id, attempt.started_at, fields)


_BEGIN = (
    update(schema.submissions)
    .where(_S.id == bindparam("this"), schema.state_in(BEGIN_ATTEMPT.sources))
    .values(
        state=BEGIN_ATTEMPT.target,
        attempt_id=bindparam("live"),
        vm_id=bindparam("on"),
        attempts=_S.attempts + 1,
        last_event_id=_S.last_event_id + 1,
    )
    .returning(_S.last_event_id)
)
_INSERT = insert(schema.attempts)


def lose(
    conn: Connection,
    attempt_id: str,
    now: float,
    reason: str,
    *,
    outcome: AttemptOutcome = AttemptOutcome.LOST,
) -> bool:
    """Execute LOSE_ATTEMPT; return False, and change nothing, if the attempt is not live."""
    if conn.execute(_RETURN_TO_QUEUE, {"live": attempt_id}).rowcount != 1:
        return False
    conn.execute(_LOSE, {"this": attempt_id, "to_outcome": outcome, "to_ended_at": now, "to_reason": reason})
    return True


_RETURN_TO_QUEUE = (
    update(schema.submissions)
    .where(_S.id == select(_A.submission_id).where(_A.id == bindparam("live")).scalar_subquery())
    .where(_S.attempt_id == bindparam("live"), schema.state_in(LOSE_ATTEMPT.sources))
    .values(state=LOSE_ATTEMPT.target, attempt_id=null())
)
_LOSE = (
    update(schema.attempts)
    .where(_A.id == bindparam("this"))
    .values(outcome=bindparam("to_outcome"), ended_at=bindparam("to_ended_at"), reason=bindparam("to_reason"))
)


def unfinished(conn: Connection) -> list[AttemptRecord]:
    """Return the attempts that have no outcome, oldest first."""
    return [_record(row) for row in conn.execute(_UNFINISHED)]


_UNFINISHED = _RECORDS.where(_A.outcome == "").order_by(_A.started_at, _A.id)


def lost_counts(conn: Connection) -> dict[str, int]:
    """Return how many attempts each unfinished submission has lost to infrastructure."""
    return {row[0]: row[1] for row in conn.execute(_LOST_COUNTS)}


_LOST_COUNTS = (
    select(_A.submission_id, func.count())
    .join(schema.submissions, _S.id == _A.submission_id)
    .where(_A.outcome == AttemptOutcome.LOST, schema.state_in(UNFINISHED))
    .group_by(_A.submission_id)
)


def running(conn: Connection) -> list[RunningAttempt]:
    """Return the attempts that are on a VM now, oldest first."""
    return [RunningAttempt(*row) for row in conn.execute(_RUNNING)]


_RUNNING = (
    select(_A.vm_id, _A.started_at, _S.id, _S.owner, _S.problem, _S.endpoint)
    .join(schema.submissions, _S.attempt_id == _A.id)
    .where(_A.outcome == "", schema.state_in(REPORT.sources))
    .order_by(_A.started_at, _A.id)
)


def of_submission(conn: Connection, submission_id: str) -> list[AttemptRecord]:
    """Return the attempts of one submission, in order."""
    return [_record(row) for row in conn.execute(_OF_SUBMISSION, {"of": submission_id})]


_OF_SUBMISSION = _RECORDS.where(_A.submission_id == bindparam("of")).order_by(_A.number)


def _record(values: Sequence[Any]) -> AttemptRecord:
    return AttemptRecord(**dict(zip(_NAMES, values, strict=True)))
