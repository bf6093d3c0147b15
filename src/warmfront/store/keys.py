"""API keys: made once, shown once, and kept as a digest that opens nothing.

A secret has 256 random bits, so one round of SHA-256 is enough: there is nothing to guess it from.
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
    c: Connection, user: str, role: Role, now: float, *, team: str | None = None
) -> tuple[ApiKey, str]:
    """A new key and its secret, `wf_<id>_<secret>`, which nobody can see again."""
    key = ApiKey(id=secrets.token_hex(6), user=user, role=role, created_at=now, team=team)
    secret = f"wf_{key.id}_{secrets.token_hex(32)}"
    row = {"id": key.id, "user_name": user, "role": role, "created_at": now, "team": team}
    c.execute(_CREATE, {**row, "secret_sha256": _digest(secret)})
    return key, secret


_CREATE = insert(schema.api_keys)


def find(c: Connection, secret: str) -> ApiKey | None:
    """The key that this secret opens; None if there is none, or it was revoked."""
    match = _FORMAT.fullmatch(secret)
    row = c.execute(_FIND, {"id": match[1]}).first() if match else None
    if row is None or not hmac.compare_digest(row.secret_sha256, _digest(secret)):
        return None
    return _key(row)


_FIND = _KEYS.where(_T.id == bindparam("id"), _T.revoked_at.is_(None))


def all_keys(c: Connection) -> list[ApiKey]:
    """Every key, the oldest first, revoked ones too."""
    return [_key(row) for row in c.execute(_ALL)]


_ALL = _KEYS.order_by(_T.created_at, _T.id)


def revoke(c: Connection, key_id: str, now: float) -> bool:
    """From now on it opens nothing; False if there is none of this id, or it was revoked before."""
    return c.execute(_REVOKE, {"this": key_id, "to_revoked_at": now}).rowcount == 1


_REVOKE = (
    update(schema.api_keys)
    .where(_T.id == bindparam("this"), _T.revoked_at.is_(None))
    .values(revoked_at=bindparam("to_revoked_at"))
)


def any_active(c: Connection) -> bool:
    """Whether anybody has a key."""
    return bool(c.execute(_ANY_ACTIVE).scalar())


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
