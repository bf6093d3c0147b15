"""Queries on API keys. Secrets are shown once, and stored as a SHA-256 digest only.

A secret has 256 random bits, so one round of SHA-256 is enough: it cannot be guessed.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, exists, insert, select, update

from warmfront.store import schema
from warmfront.store.records import ApiKey, Role

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

_T = schema.api_keys.c
_KEYS = select(_T.id, _T.user_name, _T.role, _T.created_at, _T.revoked_at, _T.team, _T.secret_sha256)
_FORMAT = re.compile(r"wf_([0-9a-f]{12})_[0-9a-f]{64}", re.ASCII)


def create(
    conn: Connection, user: str, role: Role, now: float, *, team: str | None = None
) -> tuple[ApiKey, str]:
    """Create a key; return it with its secret, `wf_<id>_<secret>`, which cannot be read again."""
    key = ApiKey(id=secrets.token_hex(6), user=user, role=role, created_at=now, team=team)
    secret = f"wf_{key.id}_{secrets.token_hex(32)}"
    row = {"id": key.id, "user_name": user, "role": role, "created_at": now, "team": team}
    conn.execute(_CREATE, {**row, "secret_sha256": _digest(secret)})
    return key, secret


_CREATE = insert(schema.api_keys)


def find(conn: Connection, secret: str) -> ApiKey | None:
    """Return the key with this secret; None if there is none or it was revoked."""
    match = _FORMAT.fullmatch(secret)
    row = conn.execute(_FIND, {"id": match[1]}).first() if match else None
    if row is None or not hmac.compare_digest(row.secret_sha256, _digest(secret)):
        return None
    return _key(row)


_FIND = _KEYS.where(_T.id == bindparam("id"), _T.revoked_at.is_(None))


def all_keys(conn: Connection) -> list[ApiKey]:
    """Return every key, revoked ones included, oldest first."""
    return [_key(row) for row in conn.execute(_ALL)]


_ALL = _KEYS.order_by(_T.created_at, _T.id)


def revoke(conn: Connection, key_id: str, now: float) -> bool:
    """Revoke a key; return False if there is no active key with this id."""
    return conn.execute(_REVOKE, {"this": key_id, "to_revoked_at": now}).rowcount == 1


_REVOKE = (
    update(schema.api_keys)
    .where(_T.id == bindparam("this"), _T.revoked_at.is_(None))
    .values(revoked_at=bindparam("to_revoked_at"))
)


def any_active(conn: Connection) -> bool:
    """Return whether there is a key that is not revoked."""
    return bool(conn.execute(_ANY_ACTIVE).scalar())


_ANY_ACTIVE = select(exists().where(_T.revoked_at.is_(None)))


def _key(row: Row[*tuple[Any, ...]]) -> ApiKey:
    return ApiKey(
        id=row.id,
        user=row.user_name,
        role=Role(row.role),
        created_at=row.created_at,
        revoked_at=row.revoked_at,
        team=row.team,
    )


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
