"""The event log: every event of a submission once, in order, with ids from 1 without gap.

A late or doubled report of an attempt changes nothing; what may be written is decided by the row itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, case, exists, insert, select, update

from warmfront.store import schema
from warmfront.store.records import StoredEvent
from warmfront.submission import SubmissionState

if TYPE_CHECKING:
    from decimal import Decimal

    from sqlalchemy import Connection

_S = schema.submissions.c
_A = schema.attempts.c
_E = schema.events.c


def admit(c: Connection, submission_id: str, fields: dict[str, Any], now: float) -> StoredEvent | None:
    """ADMITTING → QUEUED, with the event that says so; None, and nothing done, from any other state."""
    event_id = c.execute(_ADMIT, {"this": submission_id}).scalar()
    return None if event_id is None else insert_event(c, submission_id, event_id, now, fields)


def append(
    c: Connection,
    submission_id: str,
    fields: dict[str, Any],
    now: float,
    *,
    attempt_id: str | None = None,
    seq: int | None = None,
) -> StoredEvent | None:
    """Add an event. None, and nothing is written, if the submission is DONE or the writer is out of date.

    With `attempt_id`, only the lease may write. With `seq` too, the event is the attempt's own: a number
    that it wrote already is a duplicate and changes nothing, one that leaves a gap is a `ValueError`.
    """
    if not _turn(c, submission_id, attempt_id, seq):
        return None
    parameters = {"this": submission_id, "lease": attempt_id}
    event_id = c.execute(_ADVANCE[attempt_id is not None, seq is not None], parameters).scalar()
    return None if event_id is None else insert_event(c, submission_id, event_id, now, fields)


def finish(
    c: Connection,
    submission_id: str,
    fields: dict[str, Any],
    now: float,
    *,
    attempt_id: str | None = None,
    seq: int | None = None,
    cost_usd: Decimal | None = None,
) -> StoredEvent | None:
    """Add the terminal event, as `append`, and with it the verdict, and the end of the attempt."""
    end = {"to_outcome": fields["status"], "to_ended_at": now}
    if not _turn(c, submission_id, attempt_id, seq, end=end):
        return None
    parameters = {
        "this": submission_id,
        "lease": attempt_id,
        "to_verdict": fields["status"],
        "to_finished_at": now,
        "to_cost_usd": cost_usd,
        "to_avg_runtime_ms": fields.get("avg_runtime_ms"),
        "to_avg_gflops": fields.get("avg_gflops"),
        "to_simulated": bool(fields.get("simulated", False)),
    }
    ended = c.execute(_FINISH[attempt_id is not None], parameters).first()
    if ended is None:
        return None
    event_id, lease = ended
    if lease is not None and seq is None:  # else it ended with its last event
        c.execute(_END_ATTEMPT, {"this": lease, **end})
    return insert_event(c, submission_id, event_id, now, fields)


def after(c: Connection, submission_id: str, after: int, limit: int) -> list[StoredEvent]:
    """The events that follow the one with the id `after`, in order, at most `limit`."""
    rows = c.execute(_AFTER, {"of": submission_id, "after": after, "most": limit})
    return [
        StoredEvent(submission_id=submission_id, id=row.id, time=row.time, fields=row.body) for row in rows
    ]


_AFTER = (
    select(_E.id, _E.time, _E.body)
    .where(_E.submission_id == bindparam("of"), _E.id > bindparam("after"))
    .order_by(_E.id)
    .limit(bindparam("most"))
)


def insert_event(
    c: Connection, submission_id: str, event_id: int, now: float, fields: dict[str, Any]
) -> StoredEvent:
    """Write one event under an id that the caller took from the submission's row."""
    row = {"submission_id": submission_id, "id": event_id, "time": now, "body": fields}
    c.execute(_INSERT, row)
    return StoredEvent(submission_id=submission_id, id=event_id, time=now, fields=fields)


_INSERT = insert(schema.events)


def _turn(
    c: Connection,
    submission_id: str,
    attempt_id: str | None,
    seq: int | None,
    *,
    end: dict[str, Any] | None = None,
) -> bool:
    """Whether it is this event's turn; if it is one of an attempt's own, that is moved on, or to its end."""
    if seq is None:
        return True
    if attempt_id is None:
        raise ValueError("a seq is counted in an attempt: name it")
    parameters = {"this": attempt_id, "of": submission_id, "before": seq - 1, "to": seq}
    moved = c.execute(_MOVE_ATTEMPT, parameters) if end is None else c.execute(_MOVE_TO_END, parameters | end)
    if moved.rowcount == 1:
        return True
    last_seq = c.execute(_LAST_SEQ, {"this": attempt_id, "of": submission_id}).scalar()
    if last_seq is not None and seq > last_seq + 1:
        raise ValueError(f"event {seq} of attempt {attempt_id} came after {last_seq}: some are missing")
    return False


_HOLDS_THE_LEASE = exists().where(
    _S.id == bindparam("of"), _S.attempt_id == bindparam("this"), _S.state != SubmissionState.DONE
)
_MOVE_ATTEMPT = (
    update(schema.attempts)
    .where(_A.id == bindparam("this"), _A.last_seq == bindparam("before"), _HOLDS_THE_LEASE)
    .values(last_seq=bindparam("to"))
)
_END: dict[str, Any] = {"outcome": bindparam("to_outcome"), "ended_at": bindparam("to_ended_at")}
_MOVE_TO_END = _MOVE_ATTEMPT.values(_END)
_LAST_SEQ = select(_A.last_seq).where(_A.id == bindparam("this"), _HOLDS_THE_LEASE)

_OPEN = update(schema.submissions).where(_S.id == bindparam("this"), _S.state != SubmissionState.DONE)
_LEASED = _OPEN.where(_S.attempt_id == bindparam("lease"))
_NEXT_ID = {"last_event_id": _S.last_event_id + 1}
_ADMIT = (
    update(schema.submissions)
    .where(_S.id == bindparam("this"), _S.state == SubmissionState.ADMITTING)
    .values({**_NEXT_ID, "state": SubmissionState.QUEUED})
    .returning(_S.last_event_id)
)
_BEGUN = case((_S.state == SubmissionState.ASSIGNED, SubmissionState.RUNNING), else_=_S.state)

#: By whether the writer needs the lease, and whether the event is an attempt's own.
_ADVANCE = {
    (False, False): _OPEN.values(_NEXT_ID).returning(_S.last_event_id),
    (True, False): _LEASED.values(_NEXT_ID).returning(_S.last_event_id),
    (True, True): _LEASED.values({**_NEXT_ID, "state": _BEGUN}).returning(_S.last_event_id),
}
_VERDICT = {
    **_NEXT_ID,
    "state": SubmissionState.DONE,
    "verdict": bindparam("to_verdict"),
    "finished_at": bindparam("to_finished_at"),
    "cost_usd": bindparam("to_cost_usd"),
    "avg_runtime_ms": bindparam("to_avg_runtime_ms"),
    "avg_gflops": bindparam("to_avg_gflops"),
    "simulated": bindparam("to_simulated"),
}
_FINISH = {
    False: _OPEN.values(_VERDICT).returning(_S.last_event_id, _S.attempt_id),
    True: _LEASED.values(_VERDICT).returning(_S.last_event_id, _S.attempt_id),
}
_END_ATTEMPT = update(schema.attempts).where(_A.id == bindparam("this")).values(_END)
