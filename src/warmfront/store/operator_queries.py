"""Transactions that change something and append the entry of the audit log, both or neither."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.audit_chain import AuditAction
from warmfront.store import account_queries, audit_queries, submission_queries, vm_queries

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

    from warmfront.audit_chain import Actor, AuditRecord
    from warmfront.roles import Role
    from warmfront.store.records import ApiKey
    from warmfront.submission import Submission
    from warmfront.vm import VMInstance

#: The mark that holds the state of the intake, and the prefix of those that hold limits.
INTAKE_MARK = "intake"
LIMIT_MARK = "limit:"


def create_key(
    conn: Connection, user: str, role: Role, now: float, *, team: str | None, by: Actor
) -> tuple[ApiKey, str]:
    """Create an API key; the audit log gets its facts, not its secret."""
    key, secret = account_queries.create_key(conn, user, role, now, team=team)
    after = {"user": user, "role": role.value, "team": team}
    audit_queries.append(conn, by.record(AuditAction.KEY_CREATE, key.id, after=after), now)
    return key, secret


def revoke_key(conn: Connection, key_id: str, now: float, *, by: Actor) -> bool:
    """Revoke an API key; return False, and append nothing, if there is no active key with this id."""
    revoked = account_queries.revoke_key(conn, key_id, now)
    if revoked:
        record = by.record(AuditAction.KEY_REVOKE, key_id, before={"revoked": False}, after={"revoked": True})
        audit_queries.append(conn, record, now)
    return revoked


def save_vm(conn: Connection, vm: VMInstance, record: AuditRecord, now: float) -> None:
    """Store a VM after an operator's action."""
    vm_queries.save(conn, vm)
    audit_queries.append(conn, record, now)


def request_cancel(
    conn: Connection, submission_id: str, record: AuditRecord, now: float
) -> Submission | None:
    """Record an operator's request to cancel a submission; one that is DONE is not changed."""
    submission = submission_queries.request_cancel(conn, submission_id)
    if submission is not None and not submission.is_done:
        audit_queries.append(conn, record, now)
    return submission


def save_intake(conn: Connection, state: str, record: AuditRecord, now: float) -> None:
    """Store the state of the intake."""
    account_queries.put_mark(conn, INTAKE_MARK, state, now)
    audit_queries.append(conn, record, now)


def save_limits(conn: Connection, texts: Mapping[str, str | None], record: AuditRecord, now: float) -> None:
    """Store settings that were changed at run time; None deletes one."""
    for name, text in texts.items():
        if text is None:
            account_queries.delete_mark(conn, f"{LIMIT_MARK}{name}")
        else:
            account_queries.put_mark(conn, f"{LIMIT_MARK}{name}", text, now)
    audit_queries.append(conn, record, now)
