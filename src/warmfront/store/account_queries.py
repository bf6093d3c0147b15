"""Queries on API keys, quotas and marks. A mark is a named value, such as a record that an alert was sent.

The secret of a key is shown once, and only its SHA-256 digest is stored. A secret has 256 random bits, so one
round of SHA-256 is enough: it cannot be guessed.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, exists, insert, select, text, update

from warmfront.roles import Role
from warmfront.store import schema
from warmfront.store.records import ApiKey

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection, Row

    from warmfront.usage_limits import Quota

_M = schema.marks.c
_K = schema.api_keys.c
_KEYS = select(_K.id, _K.user_name, _K.role, _K.created_at, _K.revoked_at, _K.team, _K.secret_sha256)
_FORMAT = re.compile(r"wf_([0-9a-f]{12})_[0-9a-f]{64}", re.ASCII)


def create_key(
    conn: Connection, user: str, role: Role, now: float, *, team: str | None = None
) -> tuple[ApiKey, str]:
    """Create a key; return it with its secret, `wf_<id>_<secret>`, which cannot be retrieved later."""
    key = ApiKey(id=secrets.token_hex(6), user=user, role=role, created_at=now, team=team)
    secret = f"wf_{key.id}_{secrets.token_hex(32)}"
    row = {"id": key.id, "user_name": user, "role": role, "created_at": now, "team": team}
    conn.execute(_CREATE_KEY, {**row, "secret_sha256": _digest(secret)})
    return key, secret


_CREATE_KEY = insert(schema.api_keys)


def find_key(conn: Connection, secret: str) -> ApiKey | None:
    """Return the key with this secret; None if there is none or it was revoked."""
    match = _FORMAT.fullmatch(secret)
    row = conn.execute(_FIND_KEY, {"id": match[1]}).first() if match else None
    if row is None or not hmac.compare_digest(row.secret_sha256, _digest(secret)):
        return None
    return _limited_key(row)


#: With the account of its user, if there is one: a key never has more permissions than its user.
_FIND_KEY = (
    select(
        *_KEYS.selected_columns,
        schema.users.c.role.label("user_role"),
        schema.users.c.team.label("user_team"),
        schema.users.c.manages_team,
        schema.users.c.daily_budget_usd,
    )
    .select_from(schema.api_keys.outerjoin(schema.users, schema.users.c.name == _K.user_name))
    .where(_K.id == bindparam("id"), _K.revoked_at.is_(None), schema.users.c.disabled_at.is_(None))
)


def _limited_key(row: Row[*tuple[Any, ...]]) -> ApiKey:
    key = _key(row)
    if row.user_role is None:
        return key
    user_role = Role(row.user_role)
    return replace(
        key,
        role=key.role if user_role.includes(key.role) else user_role,
        team=row.user_team or key.team,
        manages_team=row.manages_team and row.user_team is not None and key.role.includes(user_role),
        daily_budget_usd=row.daily_budget_usd,
    )


def all_keys(conn: Connection) -> list[ApiKey]:
    """Return every key, revoked ones included, oldest first."""
    return [_key(row) for row in conn.execute(_ALL)]


_ALL = _KEYS.order_by(_K.created_at, _K.id)


def revoke_key(conn: Connection, key_id: str, now: float) -> bool:
    """Revoke a key; return False if there is no active key with this id."""
    return conn.execute(_REVOKE_KEY, {"this": key_id, "to_revoked_at": now}).rowcount == 1


_REVOKE_KEY = (
    update(schema.api_keys)
    .where(_K.id == bindparam("this"), _K.revoked_at.is_(None))
    .values(revoked_at=bindparam("to_revoked_at"))
)


def any_active_key(conn: Connection) -> bool:
    """Return whether there is a key that is not revoked."""
    return bool(conn.execute(_ANY_ACTIVE).scalar())


_ANY_ACTIVE = select(exists().where(_K.revoked_at.is_(None)))


def any_key(conn: Connection) -> bool:
    """Return whether a key was ever created, including revoked keys."""
    return bool(conn.execute(_ANY).scalar())


_ANY = select(exists().where(_K.id.is_not(None)))


def active_key_ids(conn: Connection) -> frozenset[str]:
    """Return the ids of the keys that are not revoked."""
    return frozenset(row.id for row in conn.execute(_ACTIVE_IDS))


_ACTIVE_IDS = select(_K.id).where(_K.revoked_at.is_(None))


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


def consume_quotas(conn: Connection, user: str, now: float, quotas: Iterable[Quota]) -> None:
    """Count one use of every quota.

    Raises:
        QuotaExceeded: a quota is used up. The transaction is rolled back, so no use is counted.
    """
    for quota in quotas:
        window = {"user_name": user, "kind": quota.kind, "window_start": quota.window_start(now)}
        taken = None
        if quota.limit > 0:
            taken = conn.execute(_CONSUME, {**window, "most": quota.limit}).scalar()
        if taken is None:
            raise quota.exceeded(now)
        if taken == 1:  # the first use in a window: earlier windows of this user are no longer needed
            conn.execute(_DELETE_EARLIER, window)


#: Written as text: both databases accept this UPSERT, but SQLAlchemy has a different builder for each.
_CONSUME = text("""
    INSERT INTO usage (user_name, kind, window_start, taken) VALUES (:user_name, :kind, :window_start, 1)
    ON CONFLICT (user_name, kind, window_start)
    DO UPDATE SET taken = usage.taken + 1 WHERE usage.taken < :most
    RETURNING taken
""")
_DELETE_EARLIER = text("""
    DELETE FROM usage WHERE user_name = :user_name AND kind = :kind AND window_start < :window_start
""")


def mark_once(conn: Connection, name: str, now: float) -> bool:
    """Set a mark; return whether it was new."""
    return conn.execute(_MARK_ONCE, {"name": name, "value": "", "time": now}).rowcount == 1


def owner_id(conn: Connection, new_id: str, now: float) -> str:
    """Return the owner id of this database; store `new_id` as the owner id if there is none yet."""
    conn.execute(_MARK_ONCE, {"name": OWNER_MARK, "value": new_id, "time": now})
    return get_mark(conn, OWNER_MARK) or new_id


def claim_epoch(conn: Connection, now: float) -> int:
    """Begin the next epoch of this database and return it. The caller holds the lock."""
    epoch = current_epoch(conn) + 1
    put_mark(conn, _EPOCH_MARK, str(epoch), now)
    return epoch


def current_epoch(conn: Connection) -> int:
    """Return the epoch: how many times a service has locked this database and begun to decide."""
    return int(get_mark(conn, _EPOCH_MARK) or 0)


_EPOCH_MARK = "service-epoch"
#: The name of the mark that holds the fingerprint of the active service's secret.
SECRET_MARK = "secret-fingerprint"  # noqa: S105 - a name


#: The name of the mark that holds the owner id.
OWNER_MARK = "owner-id"


def save_breaker(conn: Connection, gpu: str, record: str, now: float) -> None:
    """Store the record of the circuit breaker of a GPU type; empty if it is closed."""
    put_mark(conn, f"{_BREAKER_MARK}{gpu}", record, now)


def breakers(conn: Connection) -> dict[str, str]:
    """Return the records of all circuit breakers, by GPU type."""
    rows = conn.execute(_BREAKERS)
    return {name.removeprefix(_BREAKER_MARK): record for name, record in rows}


#: The prefix of the marks that hold the records of circuit breakers.
_BREAKER_MARK = "circuit-breaker:"
_BREAKERS = select(_M.name, _M.value).where(_M.name.startswith(_BREAKER_MARK)).order_by(_M.name)


def marks_with_prefix(conn: Connection, prefix: str) -> dict[str, str]:
    """Return the values of the marks whose name begins with a prefix, by the rest of their name."""
    rows = conn.execute(_WITH_PREFIX, {"prefix": prefix})
    return {name.removeprefix(prefix): value for name, value in rows}


def delete_marks(conn: Connection, prefix: str) -> None:
    """Delete the marks whose name begins with a prefix."""
    conn.execute(_DELETE_WITH_PREFIX, {"prefix": prefix})


#: The prefix of the marks of budget alerts that were sent; the rest is the threshold and the credits.
BUDGET_ALERT_MARK = "alert:"
_DELETE_WITH_PREFIX = delete(schema.marks).where(_M.name.startswith(bindparam("prefix")))
_WITH_PREFIX = select(_M.name, _M.value).where(_M.name.startswith(bindparam("prefix"))).order_by(_M.name)


#: The prefix of the marks that hold active alerts.
ALERT_MARK = "active-alert:"


def save_alert(conn: Connection, key: str, alert: str | None, now: float) -> None:
    """Store an active alert; None deletes it."""
    if alert is None:
        delete_mark(conn, f"{ALERT_MARK}{key}")
    else:
        put_mark(conn, f"{ALERT_MARK}{key}", alert, now)


def delete_mark(conn: Connection, name: str) -> None:
    """Delete a mark."""
    conn.execute(_DELETE_MARK, {"this": name})


_DELETE_MARK = delete(schema.marks).where(_M.name == bindparam("this"))


def put_mark(conn: Connection, name: str, value: str, now: float) -> None:
    """Set or replace the value of a mark."""
    conn.execute(_PUT_MARK, {"name": name, "value": value, "time": now})


_MARK_ONCE = text(
    "INSERT INTO marks (name, value, time) VALUES (:name, :value, :time) ON CONFLICT (name) DO NOTHING"
)
_PUT_MARK = text("""
    INSERT INTO marks (name, value, time) VALUES (:name, :value, :time)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value, time = excluded.time
""")


def get_mark(conn: Connection, name: str) -> str | None:
    """Return the value of a mark, or None."""
    return conn.execute(_GET_MARK, {"name": name}).scalar()


_GET_MARK = select(_M.value).where(_M.name == bindparam("name"))
