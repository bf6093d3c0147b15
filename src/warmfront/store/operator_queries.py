"""Transactions that change something and append the entry of the audit log, both or neither."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.audit_chain import AuditAction
from warmfront.store import account_queries, audit_queries

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from warmfront.audit_chain import Actor
    from warmfront.store.records import ApiKey, Role


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
