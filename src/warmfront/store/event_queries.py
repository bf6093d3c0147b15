"""Queries on the event log: ids per submission increase by one, without gaps.

A late or duplicate report of an attempt changes nothing: the guarded update of the submission's row decides
what may be written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, exists, insert, select, update

from warmfront.store import schema
from warmfront.store.records import StoredEvent
from warmfront.submission import ADMIT, COMPLETE, REPORT, UNFINISHED

if TYPE_CHECKING:
    from decimal import Decimal

    from sqlalchemy import Connection

_S = schema.submissions.c
_A = schema.attempts.c
_E = schema.events.c


def admit(conn: Connection, submission_id: str, fields: dict[str, Any], now: float) -> StoredEvent | None:
    """Execute ADMIT and add its event; return None, and change nothing, from any other state."""
    event_id = conn.execute(_ADMIT, {"this": submission_id}).scalar()
    return None if event_id is None else insert_event(conn, submission_id, event_id, now, fields)


def append(conn: Connection, submission_id: str, fields: dict[str, Any], now: float) -> StoredEvent | None:
    """Add an event of the control plane; return None, and change nothing, if the submission is DONE."""
    event_id = conn.execute(_APPEND, {"this": submission_id}).scalar()
    return None if event_id is None else insert_event(conn, submission_id, event_id, now, fields)


def append_if_queued(
    conn: Connection, submission_id: str, fields: dict[str, Any], now: float
) -> StoredEvent | None:
    """Add an event if the submission waits for a VM; return None, and change nothing, otherwise."""
    event_id = conn.execute(_APPEND_IF_QUEUED, {"this": submission_id}).scalar()
    return None if event_id is None else insert_event(conn, submission_id, event_id, now, fields)


def report(
    conn: Connection, submission_id: str, fields: dict[str, Any], now: float, *, attempt_id: str, seq: int
) -> StoredEvent | None:
    """Execute REPORT for the live attempt and add its event.

    Return None, and change nothing, for a stale attempt or a sequence number that is already stored.

    Raises:
        ValueError: the sequence number leaves a gap.
    """
    if not _advance_attempt(conn, submission_id, attempt_id, seq):
        return None
    event_id = conn.execute(_REPORT, {"this": submission_id, "live": attempt_id}).scalar()
    return None if event_id is None else insert_event(conn, submission_id, event_id, now, fields)


def complete(
    conn: Connection,
    submission_id: str,
    fields: dict[str, Any],
    now: float,
    *,
    attempt_id: str | None = None,
    seq: int | None = None,
    cost_usd: Decimal | None = None,
) -> StoredEvent | None:
    """Execute COMPLETE: add the terminal event, set the verdict and end the live attempt.

    With `attempt_id`, only that attempt may complete the submission; with `seq` too, the verdict is the
    attempt's own report, as in `report`.
    """
    end = {"to_outcome": fields["status"], "to_ended_at": now}
    if seq is not None:
        if attempt_id is None:
            raise ValueError("a sequence number belongs to an attempt: pass attempt_id")
        if not _advance_attempt(conn, submission_id, attempt_id, seq, end=end):
            return None
    low_ms, high_ms = _interval_ms(fields.get("avg_ci"))
    parameters = {
        "this": submission_id,
        "live": attempt_id,
        "to_verdict": fields["status"],
        "to_finished_at": now,
        "to_cost_usd": cost_usd,
        "to_avg_runtime_ms": fields.get("avg_runtime_ms"),
        "to_avg_ci_low_ms": low_ms,
        "to_avg_ci_high_ms": high_ms,
        "to_noisy": bool(fields.get("noisy", False)),
        "to_avg_gflops": fields.get("avg_gflops"),
        "to_simulated": bool(fields.get("simulated", False)),
    }
    completed = conn.execute(_COMPLETE[attempt_id is not None], parameters).first()
    if completed is None:
        return None
    event_id, live_attempt_id = completed
    if live_attempt_id is not None and seq is None:  # otherwise _advance_attempt has ended it
        conn.execute(_END_ATTEMPT, {"this": live_attempt_id, **end})
    return insert_event(conn, submission_id, event_id, now, fields, is_verdict=True)


def _interval_ms(interval: object) -> tuple[float | None, float | None]:
    """Return the ends of a confidence interval; a malformed one is ignored, so that the verdict is stored."""
    match interval:
        case [int() | float() as low_ms, int() | float() as high_ms] if 0 < low_ms < high_ms:
            return float(low_ms), float(high_ms)
        case _:
            return None, None


def after(conn: Connection, submission_id: str, after_id: int, limit: int) -> list[StoredEvent]:
    """Return at most `limit` events that follow the one with the id `after_id`, in order."""
    rows = conn.execute(_AFTER, {"of": submission_id, "after": after_id, "most": limit})
    return [
        StoredEvent(submission_id=submission_id, id=row.id, time=row.time, fields=row.body) for row in rows
    ]


def batch(
    conn: Connection, submission_id: str, after_id: int, limit: int
) -> tuple[list[StoredEvent], int | None] | None:
    """Return the result of `after` and the id of the verdict, if any; None if there is no such submission."""
    row = conn.execute(_STATE, {"this": submission_id}).first()
    if row is None:
        return None
    state, last_event_id = row
    events = after(conn, submission_id, after_id, limit)
    return events, last_event_id if state == COMPLETE.target else None


_STATE = select(_S.state, _S.last_event_id).where(_S.id == bindparam("this"))
_AFTER = (
    select(_E.id, _E.time, _E.body)
    .where(_E.submission_id == bindparam("of"), _E.id > bindparam("after"))
    .order_by(_E.id)
    .limit(bindparam("most"))
)


def insert_event(
    conn: Connection,
    submission_id: str,
    event_id: int,
    now: float,
    fields: dict[str, Any],
    *,
    is_verdict: bool = False,
) -> StoredEvent:
    """Insert one event with an id that the caller took from the submission's row."""
    row = {"submission_id": submission_id, "id": event_id, "time": now, "body": fields}
    conn.execute(INSERT_EVENT, row)
    return StoredEvent(
        submission_id=submission_id, id=event_id, time=now, fields=fields, is_verdict=is_verdict
    )


#: Public within `store/`: the in-memory database for replays discards events, because nothing reads them.
INSERT_EVENT = insert(schema.events)


def _advance_attempt(
    conn: Connection, submission_id: str, attempt_id: str, seq: int, *, end: dict[str, Any] | None = None
) -> bool:
    """Advance the live attempt to `seq`, and end it if requested.

    Return whether `seq` was the next number.
    """
    parameters = {"this": attempt_id, "of": submission_id, "before": seq - 1, "to": seq}
    moved = (
        conn.execute(_MOVE_ATTEMPT, parameters)
        if end is None
        else conn.execute(_MOVE_TO_END, parameters | end)
    )
    if moved.rowcount == 1:
        return True
    last_seq = conn.execute(_LAST_SEQ, {"this": attempt_id, "of": submission_id}).scalar()
    if last_seq is not None and seq > last_seq + 1:
        raise ValueError(f"event {seq} of attempt {attempt_id} follows {last_seq}: events are missing")
    return False


_IS_LIVE = exists().where(
    _S.id == bindparam("of"), _S.attempt_id == bindparam("this"), schema.state_in(REPORT.sources)
)
_MOVE_ATTEMPT = (
    update(schema.attempts)
    .where(_A.id == bindparam("this"), _A.last_seq == bindparam("before"), _IS_LIVE)
    .values(last_seq=bindparam("to"))
)
_END: dict[str, Any] = {"outcome": bindparam("to_outcome"), "ended_at": bindparam("to_ended_at")}
_MOVE_TO_END = _MOVE_ATTEMPT.values(_END)
_END_ATTEMPT = update(schema.attempts).where(_A.id == bindparam("this")).values(_END)
_LAST_SEQ = select(_A.last_seq).where(_A.id == bindparam("this"), _IS_LIVE)

_SUBMISSION = update(schema.submissions).where(_S.id == bindparam("this"))
_NEXT_ID = {"last_event_id": _S.last_event_id + 1}
_ADMIT = (
    _SUBMISSION.where(schema.state_in(ADMIT.sources))
    .values({**_NEXT_ID, "state": ADMIT.target})
    .returning(_S.last_event_id)
)
_APPEND = _SUBMISSION.where(schema.state_in(UNFINISHED)).values(_NEXT_ID).returning(_S.last_event_id)
_APPEND_IF_QUEUED = (
    _SUBMISSION.where(schema.state_in({ADMIT.target})).values(_NEXT_ID).returning(_S.last_event_id)
)
_REPORT = (
    _SUBMISSION.where(_S.attempt_id == bindparam("live"), schema.state_in(REPORT.sources))
    .values({**_NEXT_ID, "state": REPORT.target})
    .returning(_S.last_event_id)
)
_VERDICT = {
    **_NEXT_ID,
    "state": COMPLETE.target,
    "verdict": bindparam("to_verdict"),
    "finished_at": bindparam("to_finished_at"),
    "cost_usd": bindparam("to_cost_usd"),
    "avg_runtime_ms": bindparam("to_avg_runtime_ms"),
    "avg_ci_low_ms": bindparam("to_avg_ci_low_ms"),
    "avg_ci_high_ms": bindparam("to_avg_ci_high_ms"),
    "noisy": bindparam("to_noisy"),
    "avg_gflops": bindparam("to_avg_gflops"),
    "simulated": bindparam("to_simulated"),
}
_COMPLETE_ANY = _SUBMISSION.where(schema.state_in(COMPLETE.sources)).values(_VERDICT)
#: The statements, by whether only a given live attempt may complete the submission.
_COMPLETE = {
    False: _COMPLETE_ANY.returning(_S.last_event_id, _S.attempt_id),
    True: _COMPLETE_ANY.where(_S.attempt_id == bindparam("live")).returning(_S.last_event_id, _S.attempt_id),
}
