"""Queries on attempts, and the transitions that also change a VM.

At most one attempt of a submission is live. Each change is guarded by a condition on the submission's row, so
that a stale caller changes nothing. Each transition is one transaction over submission, attempt, VM and
ledger.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, case, func, insert, null, select, update

from warmfront.store import event_queries, ledger_queries, schema, vm_queries
from warmfront.store.event_queries import insert_event
from warmfront.store.records import AttemptOutcome, AttemptRecord, RunningAttempt
from warmfront.submission import BEGIN_ATTEMPT, LOSE_ATTEMPT, REPORT, UNFINISHED
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection

    from warmfront.store.records import LedgerEntry, StoredEvent
    from warmfront.usage_limits import DailyCaps
    from warmfront.vm import VMInstance

    #: Completes the fields of a verdict once its cost is known, which a receipt states. It must not block.
    FinishEvent = Callable[[dict[str, Any]], dict[str, Any]]

_A = schema.attempts.c
_S = schema.submissions.c
_NOTHING = Decimal(0)
_NAMES = tuple(AttemptRecord.__dataclass_fields__)
_RECORDS = select(*[_A[name] for name in _NAMES])


def begin(
    conn: Connection,
    attempt: AttemptRecord,
    fields: dict[str, Any],
    *,
    cold: bool,
    expected_usd: Decimal = _NOTHING,
) -> StoredEvent | None:
    """Execute BEGIN_ATTEMPT and add its event; return None, and change nothing, from any other state."""
    parameters = {
        "this": attempt.submission_id,
        "live": attempt.id,
        "on": attempt.vm_id,
        "to_expected_usd": expected_usd,
    }
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
        expected_usd=bindparam("to_expected_usd"),
        pays_boot=False,  # only once: the boot for a retry is charged to the VM pool
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
    """Execute LOSE_ATTEMPT; return False, and change nothing, if the attempt is not live.

    The owner is not charged for it: amounts already metered, because another attempt began or ended on the
    VM, are moved to the VM pool.
    """
    if conn.execute(_RETURN_TO_QUEUE, {"live": attempt_id}).rowcount != 1:
        return False
    submission_id, vm_id, started_at = conn.execute(_PLACE, {"this": attempt_id}).one()
    ledger_queries.waive_work(conn, submission_id, vm_id, started_at, max(now, started_at))
    conn.execute(_LOSE, {"this": attempt_id, "to_outcome": outcome, "to_ended_at": now, "to_reason": reason})
    return True


_RETURN_TO_QUEUE = (
    update(schema.submissions)
    .where(_S.id == select(_A.submission_id).where(_A.id == bindparam("live")).scalar_subquery())
    .where(_S.attempt_id == bindparam("live"), schema.state_in(LOSE_ATTEMPT.sources))
    .values(state=LOSE_ATTEMPT.target, attempt_id=null())
)
_PLACE = select(_A.submission_id, _A.vm_id, _A.started_at).where(_A.id == bindparam("this"))
_ENDED_AT = bindparam("to_ended_at", type_=_A.ended_at.type)
_LOSE = (
    update(schema.attempts)
    .where(_A.id == bindparam("this"))
    .values(
        outcome=bindparam("to_outcome"),
        # The VM may have ended unnoticed before the attempt was assigned to it.
        ended_at=case((_A.started_at > _ENDED_AT, _A.started_at), else_=_ENDED_AT),
        reason=bindparam("to_reason"),
    )
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


def ended_with(conn: Connection, outcome: AttemptOutcome) -> set[str]:
    """Return the unfinished submissions that have an attempt with this outcome."""
    return {row[0] for row in conn.execute(_ENDED_WITH, {"this": outcome})}


_ENDED_WITH = (
    select(_A.submission_id)
    .join(schema.submissions, _S.id == _A.submission_id)
    .where(_A.outcome == bindparam("this"), schema.state_in(UNFINISHED))
)


def running(conn: Connection) -> list[RunningAttempt]:
    """Return the attempts that are currently on a VM, oldest first."""
    return [RunningAttempt(*row) for row in conn.execute(_RUNNING)]


_RUNNING = (
    select(_A.vm_id, _A.started_at, _S.id, _S.owner, _S.problem, _S.endpoint, _A.slot)
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


# Transitions over several tables.


def begin_attempt(
    conn: Connection,
    attempt: AttemptRecord,
    fields: dict[str, Any],
    *,
    vm: VMInstance,
    entries: Sequence[LedgerEntry],
    cold: bool,
    expected_usd: Decimal = _NOTHING,
    caps: DailyCaps | None = None,
) -> StoredEvent | None:
    """Assign a queued submission to an attempt, and store the VM and its ledger entries.

    Raises:
        BudgetExceeded: its boot in `entries` and `expected_usd` for its work would exceed a daily cap.
    """
    if caps is not None:
        own = (entry.amount_usd for entry in entries if entry.submission_id == attempt.submission_id)
        now = attempt.started_at
        spending = ledger_queries.spent_today(conn, caps.user, caps.team, now, begun_only=True)
        caps.check(spending, sum(own, expected_usd), now)
    event = begin(conn, attempt, fields, cold=cold, expected_usd=expected_usd)
    if event is not None:
        vm_queries.save(conn, vm)
        ledger_queries.add(conn, entries)
    return event


def complete_attempt(
    conn: Connection,
    attempt: AttemptRecord,
    fields: dict[str, Any],
    now: float,
    *,
    seq: int | None,
    vm: VMInstance,
    entries: Sequence[LedgerEntry],
    finish_event: FinishEvent | None = None,
) -> StoredEvent | None:
    """Store the verdict of an attempt with its cost, the VM's new state and its ledger entries."""
    vm_queries.save(conn, vm)
    ledger_queries.add(conn, entries)
    cost_usd = _charge(conn, attempt.submission_id, fields, now)
    fields = _with_cost(fields, cost_usd)
    return event_queries.complete(
        conn,
        attempt.submission_id,
        finish_event(fields) if finish_event else fields,
        now,
        attempt_id=attempt.id,
        seq=seq,
        cost_usd=cost_usd,
    )


def complete(conn: Connection, submission_id: str, fields: dict[str, Any], now: float) -> StoredEvent | None:
    """Store a verdict of the control plane, with the submission's charge."""
    cost_usd = _charge(conn, submission_id, fields, now)
    return event_queries.complete(conn, submission_id, _with_cost(fields, cost_usd), now, cost_usd=cost_usd)


def lose_attempt(
    conn: Connection,
    attempt: AttemptRecord,
    now: float,
    reason: str,
    *,
    vm: VMInstance,
    entries: Sequence[LedgerEntry],
    outcome: AttemptOutcome = AttemptOutcome.LOST,
) -> None:
    """Return the submission of an attempt to the queue, and store the VM as free."""
    vm_queries.save(conn, vm)
    ledger_queries.add(conn, entries)
    lose(conn, attempt.id, now, reason, outcome=outcome)


def end_vm(
    conn: Connection,
    vm: VMInstance,
    entries: Sequence[LedgerEntry],
    attempt_ids: Sequence[str],
    *,
    outcome: AttemptOutcome = AttemptOutcome.LOST,
) -> Decimal:
    """Store the end of a VM and of the attempts on it, and return the VM's total cost."""
    vm_queries.save(conn, vm)
    ledger_queries.add(conn, entries)
    for attempt_id in attempt_ids:
        lose(conn, attempt_id, vm.ended_at or vm.created_at, vm.reason, outcome=outcome)
    return ledger_queries.total_of_vm(conn, vm.id)


def _charge(conn: Connection, submission_id: str, fields: dict[str, Any], now: float) -> Decimal:
    """Return the charge of a submission. For the verdict ERROR, which is our failure, the pool is charged."""
    if fields["status"] == Verdict.ERROR:
        ledger_queries.waive(conn, submission_id, now)
    return ledger_queries.of_submission(conn, submission_id)


def _with_cost(fields: dict[str, Any], cost_usd: Decimal) -> dict[str, Any]:
    return {**fields, "cost_usd": float(round(cost_usd, 6))}
