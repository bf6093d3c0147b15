"""Queries on users and their sessions.

The token of a session is known only to its browser; its SHA-256 digest is stored. A token has 256 random
bits, so one round of SHA-256 is enough.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, exists, insert, or_, select, text, update

from warmfront.errors import NotInvited, SignInRejected
from warmfront.roles import Role
from warmfront.store import invitation_queries, schema
from warmfront.store.account_records import Session, User

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from sqlalchemy import Connection

    from warmfront.store.account_records import Identity, Invitation, SignUpPolicy

_U = schema.users.c
_S = schema.sessions.c
_NAMES = tuple(User.__dataclass_fields__)
_USER_COLUMNS = [_U[name] for name in _NAMES]
_USERS = select(*_USER_COLUMNS)
_TOKEN = re.compile(r"wfs_([0-9a-f]{12})_[0-9a-f]{64}", re.ASCII)
#: Characters that a user name may not contain; see `warmfront.cli.manage_keys`.
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")
_MAX_NAME = 48
#: The user of a service without keys and accounts.
LOCAL_USER = "local"


def sign_in(
    conn: Connection, identity: Identity, policy: SignUpPolicy, now: float, *, session_s: float
) -> tuple[User, str]:
    """Find or create the user behind an identity, and begin a session; return the user and its token.

    Raises:
        NotInvited: the person is not a user yet, and nothing allows them to become one.
        InvitationRejected: the invitation is unknown, used, expired or revoked.
        SignInRejected: an admin has disabled the user.
    """
    user = find_by_identity(conn, identity)
    invitation = _accept_invitation(conn, policy, user, now)
    if user is None:
        user = _create(conn, identity, policy, invitation, now)
    elif user.disabled_at is not None:
        raise SignInRejected(
            f"The user {user.name} is disabled.", hint="Ask an admin to enable this user again."
        )
    else:
        user = _update_at_sign_in(conn, user, identity, policy=policy, invitation=invitation, now=now)
    if invitation is not None and policy.invitation_secret is not None and invitation.used_by is None:
        invitation_queries.use(conn, invitation.id, user.name, now)
    return user, _begin_session(conn, user.name, now, session_s)


def _accept_invitation(
    conn: Connection, policy: SignUpPolicy, user: User | None, now: float
) -> Invitation | None:
    if policy.invitation_secret is None:
        return None
    return invitation_queries.require_usable(
        conn, policy.invitation_secret, now, user=None if user is None else user.name
    )


def _create(
    conn: Connection, identity: Identity, policy: SignUpPolicy, invitation: Invitation | None, now: float
) -> User:
    role = _role_of(policy, invitation)
    if role is None:
        raise NotInvited(identity.email or identity.display_name or identity.subject)
    user = User(
        name=_free_name(conn, identity),
        issuer=identity.issuer,
        subject=identity.subject,
        display_name=identity.display_name[:200],
        email=identity.email,
        role=role,
        team=invitation.team if invitation else None,
        manages_team=bool(invitation and invitation.manages_team),
        daily_budget_usd=invitation.daily_budget_usd if invitation else None,
        created_at=now,
        last_sign_in_at=now,
    )
    conn.execute(_CREATE, {name: getattr(user, name) for name in _NAMES})
    return user


_CREATE = insert(schema.users)


def _role_of(policy: SignUpPolicy, invitation: Invitation | None) -> Role | None:
    if policy.is_admin:
        return Role.ADMIN
    return invitation.role if invitation else policy.default_role


def _update_at_sign_in(
    conn: Connection,
    user: User,
    identity: Identity,
    *,
    policy: SignUpPolicy,
    invitation: Invitation | None,
    now: float,
) -> User:
    """Store the identity that the issuer now reports. An invitation never removes a permission."""
    role = Role.ADMIN if policy.is_admin else user.role
    changes: dict[str, Any] = {
        "to_display_name": identity.display_name[:200],
        "to_email": identity.email,
        "to_role": role,
        "to_team": user.team,
        "to_manages_team": user.manages_team,
        "to_daily_budget_usd": user.daily_budget_usd,
        "to_last_sign_in_at": now,
        "to_disabled_at": user.disabled_at,
    }
    if invitation is not None and invitation.used_by is None:
        changes["to_role"] = invitation.role if invitation.role.includes(role) else role
        changes["to_team"] = invitation.team or user.team
        changes["to_manages_team"] = user.manages_team or invitation.manages_team
        changes["to_daily_budget_usd"] = invitation.daily_budget_usd or user.daily_budget_usd
    conn.execute(_UPDATE, {"this": user.name, **changes})
    return require(conn, user.name)


_UPDATE = (
    update(schema.users)
    .where(_U.name == bindparam("this"))
    .values(
        display_name=bindparam("to_display_name"),
        email=bindparam("to_email"),
        role=bindparam("to_role"),
        team=bindparam("to_team"),
        manages_team=bindparam("to_manages_team"),
        daily_budget_usd=bindparam("to_daily_budget_usd"),
        last_sign_in_at=bindparam("to_last_sign_in_at"),
        disabled_at=bindparam("to_disabled_at"),
    )
)


def change(
    conn: Connection,
    name: str,
    now: float,
    *,
    role: Role,
    team: str | None,
    manages_team: bool,
    daily_budget_usd: Decimal | None,
    disabled: bool,
) -> User | None:
    """Change a user's role, team, budget or access, for an admin; None if there is no such user.

    A disabled user is signed out.
    """
    user = find(conn, name)
    if user is None:
        return None
    if disabled:
        conn.execute(_END_ALL, {"user": name})
    conn.execute(
        _UPDATE,
        {
            "this": name,
            "to_display_name": user.display_name,
            "to_email": user.email,
            "to_role": role,
            "to_team": team,
            "to_manages_team": manages_team,
            "to_daily_budget_usd": daily_budget_usd,
            "to_last_sign_in_at": user.last_sign_in_at,
            "to_disabled_at": (user.disabled_at or now) if disabled else None,
        },
    )
    return find(conn, name)


def find(conn: Connection, name: str) -> User | None:
    """Return the user with this name."""
    row = conn.execute(_BY_NAME, {"name": name}).first()
    return None if row is None else _user(row)


def require(conn: Connection, name: str) -> User:
    """Return the user with this name, who must exist."""
    return _user(conn.execute(_BY_NAME, {"name": name}).one())


_BY_NAME = _USERS.where(_U.name == bindparam("name"))


def find_by_identity(conn: Connection, identity: Identity) -> User | None:
    """Return the user with this subject at this issuer."""
    row = conn.execute(_BY_IDENTITY, {"issuer": identity.issuer, "subject": identity.subject}).first()
    return None if row is None else _user(row)


_BY_IDENTITY = _USERS.where(_U.issuer == bindparam("issuer"), _U.subject == bindparam("subject"))


def all_users(conn: Connection) -> list[User]:
    """Return every user, by name."""
    return [_user(row) for row in conn.execute(_ALL)]


_ALL = _USERS.order_by(_U.name)


def _free_name(conn: Connection, identity: Identity) -> str:
    """Return a name that no user, key or submission has: a name is the owner of submissions."""
    suggested = identity.suggested_name or (identity.email or "").partition("@")[0] or identity.display_name
    base = _NOT_IN_NAMES.sub("-", suggested).strip("-._")[:_MAX_NAME] or "user"
    number, name = 1, base
    while conn.execute(_IS_TAKEN, {"name": name}).scalar() or name == LOCAL_USER:
        number += 1
        name = f"{base}-{number}"
    return name


_IS_TAKEN = select(
    or_(
        exists().where(_U.name == bindparam("name")),
        exists().where(schema.api_keys.c.user_name == bindparam("name")),
        exists().where(schema.submissions.c.owner == bindparam("name")),
    )
)


def _begin_session(conn: Connection, user: str, now: float, session_s: float) -> str:
    session_id = secrets.token_hex(6)
    token = f"wfs_{session_id}_{secrets.token_hex(32)}"
    conn.execute(_END_EXPIRED, {"now": now})
    conn.execute(
        _BEGIN,
        {
            "id": session_id,
            "user_name": user,
            "token_sha256": _digest(token),
            "created_at": now,
            "expires_at": now + session_s,
        },
    )
    return token


_BEGIN = insert(schema.sessions)
_END_EXPIRED = delete(schema.sessions).where(_S.expires_at <= bindparam("now"))


def find_session(conn: Connection, token: str, now: float) -> Session | None:
    """Return the session with this token; None if it is unknown or has expired."""
    match = _TOKEN.fullmatch(token)
    row = conn.execute(_FIND, {"id": match[1], "now": now}).first() if match else None
    if row is None or not hmac.compare_digest(row[3], _digest(token)):
        return None
    session_id, created_at, expires_at, _, *user = row
    return Session(id=session_id, user=_user(user), created_at=created_at, expires_at=expires_at)


_FIND = (
    select(
        _S.id.label("session_id"),
        _S.created_at.label("began_at"),
        _S.expires_at,
        _S.token_sha256,
        *_USER_COLUMNS,
    )
    .join(schema.users, _U.name == _S.user_name)
    .where(_S.id == bindparam("id"), _S.expires_at > bindparam("now"), _U.disabled_at.is_(None))
)


def end_session(conn: Connection, session_id: str) -> None:
    """End a session: its token is rejected from now on."""
    conn.execute(_END, {"id": session_id})


_END = delete(schema.sessions).where(_S.id == bindparam("id"))
_END_ALL = delete(schema.sessions).where(_S.user_name == bindparam("user"))


def active_session_ids(conn: Connection, now: float) -> frozenset[str]:
    """Return the ids of the sessions that have not expired."""
    return frozenset(row.id for row in conn.execute(_ACTIVE, {"now": now}))


_ACTIVE = select(_S.id).where(_S.expires_at > bindparam("now"))


def claim_local_history(conn: Connection, name: str) -> int:
    """Transfer the finished submissions of `local` to a user, with costs and shares; return how many.

    Unfinished submissions keep their owner, because the orchestrator tracks them by owner.
    """
    claimed = conn.execute(_CLAIM_SUBMISSIONS, {"name": name, "local": LOCAL_USER}).rowcount
    conn.execute(_CLAIM_LEDGER, {"name": name, "local": LOCAL_USER})
    conn.execute(_CLAIM_SHARES, {"name": name, "local": LOCAL_USER})
    return int(claimed)


def count_local_history(conn: Connection) -> int:
    """Return how many finished submissions `local` owns."""
    return int(conn.execute(_COUNT_LOCAL, {"local": LOCAL_USER}).scalar_one())


#: The idempotency keys of `local` are dropped: the user may have used the same ones.
_CLAIM_SUBMISSIONS = text(
    "UPDATE submissions SET owner = :name, idempotency_key = NULL WHERE owner = :local AND state = 'DONE'"
)
_CLAIM_LEDGER = text("""
    UPDATE ledger SET owner = :name
    WHERE owner = :local AND submission_id IN (SELECT id FROM submissions WHERE owner = :name)
""")
_CLAIM_SHARES = text("UPDATE shares SET owner = :name WHERE owner = :local")
_COUNT_LOCAL = text("SELECT COUNT(*) FROM submissions WHERE owner = :local AND state = 'DONE'")


def _user(values: Sequence[Any]) -> User:
    row = dict(zip(_NAMES, values, strict=True))
    row["role"] = Role(row["role"])
    return User(**row)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
