"""Queries on invitations. An invitation can be used once; only the digest of its secret is stored."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, insert, select, update

from warmfront.errors import InvitationRejected
from warmfront.roles import Role
from warmfront.store import schema
from warmfront.store.account_records import Invitation

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from sqlalchemy import Connection

_I = schema.invitations.c
_NAMES = tuple(Invitation.__dataclass_fields__)
_INVITATIONS = select(*[_I[name] for name in _NAMES])
_SECRET = re.compile(r"inv_([0-9a-f]{12})_[0-9a-f]{48}", re.ASCII)


def create(
    conn: Connection,
    *,
    role: Role,
    created_by: str,
    now: float,
    expires_at: float,
    team: str | None = None,
    manages_team: bool = False,
    daily_budget_usd: Decimal | None = None,
    note: str = "",
) -> tuple[Invitation, str]:
    """Create an invitation; return it with its secret, which cannot be retrieved later."""
    invitation = Invitation(
        id=secrets.token_hex(6),
        role=role,
        team=team,
        manages_team=manages_team,
        daily_budget_usd=daily_budget_usd,
        note=note,
        created_by=created_by,
        created_at=now,
        expires_at=expires_at,
    )
    secret = f"inv_{invitation.id}_{secrets.token_hex(24)}"
    row = {name: getattr(invitation, name) for name in _NAMES}
    conn.execute(_CREATE, {**row, "secret_sha256": _digest(secret)})
    return invitation, secret


_CREATE = insert(schema.invitations)


def require_usable(conn: Connection, secret: str, now: float, *, user: str | None = None) -> Invitation:
    """Return the invitation with this secret; one that `user` has used before is accepted again.

    Raises:
        InvitationRejected: it is unknown, used by someone else, revoked or expired.
    """
    match = _SECRET.fullmatch(secret)
    row = conn.execute(_FIND, {"id": match[1]}).first() if match else None
    if row is None or not hmac.compare_digest(row[0], _digest(secret)):
        raise InvitationRejected("unknown")
    invitation = _invitation(row[1:])
    if invitation.used_by is not None and invitation.used_by == user:
        return invitation
    if invitation.used_by is not None:
        raise InvitationRejected("used")
    if invitation.revoked_at is not None:
        raise InvitationRejected("revoked")
    if invitation.expires_at <= now:
        raise InvitationRejected("expired")
    return invitation


_FIND = select(_I.secret_sha256, *[_I[name] for name in _NAMES]).where(_I.id == bindparam("id"))


def use(conn: Connection, invitation_id: str, user: str, now: float) -> None:
    """Record who used an invitation."""
    conn.execute(_USE, {"this": invitation_id, "to_used_by": user, "to_used_at": now})


_USE = (
    update(schema.invitations)
    .where(_I.id == bindparam("this"), _I.used_by.is_(None))
    .values(used_by=bindparam("to_used_by"), used_at=bindparam("to_used_at"))
)


def all_invitations(conn: Connection) -> list[Invitation]:
    """Return every invitation, newest first."""
    return [_invitation(row) for row in conn.execute(_ALL)]


_ALL = _INVITATIONS.order_by(_I.created_at.desc(), _I.id)


def revoke(conn: Connection, invitation_id: str, now: float) -> bool:
    """Revoke an invitation; return False if there is no unused one with this id."""
    return conn.execute(_REVOKE, {"this": invitation_id, "to_revoked_at": now}).rowcount == 1


_REVOKE = (
    update(schema.invitations)
    .where(_I.id == bindparam("this"), _I.used_by.is_(None), _I.revoked_at.is_(None))
    .values(revoked_at=bindparam("to_revoked_at"))
)


def _invitation(values: Sequence[Any]) -> Invitation:
    row = dict(zip(_NAMES, values, strict=True))
    row["role"] = Role(row["role"])
    return Invitation(**row)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
