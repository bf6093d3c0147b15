"""The transitions that change more than one table, each as one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warmfront.store import attempt_queries, event_queries, ledger_queries, vm_queries
from warmfront.store.records import AttemptOutcome

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from sqlalchemy import Connection

    from warmfront.store.records import AttemptRecord, LedgerEntry, StoredEvent
    from warmfront.vm import VMInstance


def begin_attempt(
    conn: Connection,
    attempt: AttemptRecord,
    fields: dict[str, Any],
    *,
    vm: VMInstance,
    entries: Sequence[LedgerEntry],
    cold: bool,
) -> StoredEvent | None:
    """Assign a queued submission to an attempt; store the VM and its ledger entries with it."""
    event = attempt_queries.begin(conn, attempt, fields, cold=cold)
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
) -> StoredEvent | None:
    """Store the verdict of an attempt with its cost, the VM's new state and its ledger entries."""
    vm_queries.save(conn, vm)
    ledger_queries.add(conn, entries)
    cost_usd = ledger_queries.of_submission(conn, attempt.submission_id)
    return event_queries.complete(
        conn,
        attempt.submission_id,
        _with_cost(fields, cost_usd),
        now,
        attempt_id=attempt.id,
        seq=seq,
        cost_usd=cost_usd,
    )


def complete(conn: Connection, submission_id: str, fields: dict[str, Any], now: float) -> StoredEvent | None:
    """Store a verdict of the control plane, with the cost of lost attempts if there were any."""
    cost_usd = ledger_queries.of_submission(conn, submission_id)
    return event_queries.complete(conn, submission_id, _with_cost(fields, cost_usd), now, cost_usd=cost_usd)


def lose_attempt(
    conn: Connection,
    attempt: AttemptRecord,
    now: float,
    reason: str,
    *,
    vm: VMInstance,
    entries: Sequence[LedgerEntry],
) -> None:
    """Return the submission of an attempt to the queue; the VM is free again."""
    vm_queries.save(conn, vm)
    ledger_queries.add(conn, entries)
    attempt_queries.lose(conn, attempt.id, now, reason)


def end_vm(
    conn: Connection,
    vm: VMInstance,
    entries: Sequence[LedgerEntry],
    attempt_ids: Sequence[str],
    *,
    outcome: AttemptOutcome = AttemptOutcome.LOST,
) -> Decimal:
    """Store the end of a VM and of the attempts on it; return what it cost over its whole life."""
    vm_queries.save(conn, vm)
    ledger_queries.add(conn, entries)
    for attempt_id in attempt_ids:
        attempt_queries.lose(conn, attempt_id, vm.ended_at or vm.created_at, vm.reason, outcome=outcome)
    return ledger_queries.total_of_vm(conn, vm.id)


def _with_cost(fields: dict[str, Any], cost_usd: Decimal) -> dict[str, Any]:
    return {**fields, "cost_usd": float(round(cost_usd, 6))}
