"""Transactions that make a change and append its entry to the audit log, both or neither."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warmfront.audit_chain import AuditAction
from warmfront.store import (
    account_queries,
    audit_queries,
    invitation_queries,
    submission_queries,
    team_queries,
    user_queries,
    vm_queries,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal

    from sqlalchemy import Connection

    from warmfront.audit_chain import Actor, AuditRecord
    from warmfront.roles import Role
    from warmfront.store.account_records import Invitation, User
    from warmfront.store.records import ApiKey
    from warmfront.submission import Submission
    from warmfront.vm import VMInstance

#: The mark that holds the state of the intake, and the prefix of those that hold limits.
INTAKE_MARK = "intake"
LIMIT_MARK = "limit:"


def create_key(
    conn: Connection, user: str, role: Role, now: float, *, team: str | None, by: Actor
) -> tuple[ApiKey, str]:
    """Create an API key; the audit log records its facts, not its secret."""
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


def change_user(
    conn: Connection,
    name: str,
    now: float,
    *,
    role: Role,
    team: str | None,
    manages_team: bool,
    daily_budget_usd: Decimal | None,
    disabled: bool,
    by: Actor,
) -> User | None:
    """Change a user's role, team, budget or access; None, and no entry, if there is no such user."""
    earlier = user_queries.find(conn, name)
    user = user_queries.change(
        conn,
        name,
        now,
        role=role,
        team=team,
        manages_team=manages_team,
        daily_budget_usd=daily_budget_usd,
        disabled=disabled,
    )
    if earlier is not None and user is not None:
        before, after = _user_facts(earlier), _user_facts(user)
        changed = [fact for fact in before if before[fact] != after[fact]]
        record = by.record(
            AuditAction.USER_CHANGE,
            name,
            before={fact: before[fact] for fact in changed},
            after={fact: after[fact] for fact in changed},
        )
        audit_queries.append(conn, record, now)
    return user


def _user_facts(user: User) -> dict[str, Any]:
    return {
        "role": user.role.value,
        "team": user.team,
        "manages_team": user.manages_team,
        "daily_budget_usd": _amount(user.daily_budget_usd),
        "disabled": user.disabled_at is not None,
    }


def create_invitation(
    conn: Connection,
    now: float,
    *,
    role: Role,
    expires_at: float,
    team: str | None,
    manages_team: bool,
    daily_budget_usd: Decimal | None,
    note: str,
    by: Actor,
) -> tuple[Invitation, str]:
    """Create an invitation; the audit log records its facts, not its secret."""
    invitation, secret = invitation_queries.create(
        conn,
        role=role,
        created_by=by.name,
        now=now,
        expires_at=expires_at,
        team=team,
        manages_team=manages_team,
        daily_budget_usd=daily_budget_usd,
        note=note,
    )
    after = {"role": role.value, "team": team, "daily_budget_usd": _amount(daily_budget_usd)}
    record = by.record(AuditAction.INVITATION_CREATE, invitation.id, after=after, detail=note)
    audit_queries.append(conn, record, now)
    return invitation, secret


def revoke_invitation(conn: Connection, invitation_id: str, now: float, *, by: Actor) -> bool:
    """Revoke an invitation; return False, and append nothing, if there is no unused one with this id."""
    revoked = invitation_queries.revoke(conn, invitation_id, now)
    if revoked:
        record = by.record(
            AuditAction.INVITATION_REVOKE, invitation_id, before={"revoked": False}, after={"revoked": True}
        )
        audit_queries.append(conn, record, now)
    return revoked


def set_team_budget(
    conn: Connection, team: str, budget_usd: Decimal | None, now: float, *, by: Actor
) -> None:
    """Set the daily budget of a team; None restores the configured budget."""
    before = {"daily_budget_usd": _amount(team_queries.budget(conn, team))}
    team_queries.set_budget(conn, team, budget_usd)
    after = {"daily_budget_usd": _amount(budget_usd)}
    audit_queries.append(conn, by.record(AuditAction.TEAM_BUDGET, team, before=before, after=after), now)


def _amount(usd: Decimal | None) -> str | None:
    """Return an amount as text: the audit log is hashed, and JSON has no decimals."""
    return None if usd is None else f"{usd:.2f}" if usd == round(usd, 2) else str(usd.normalize())


def save_vm(conn: Connection, vm: VMInstance, record: AuditRecord, now: float) -> None:
    """Store a VM after an operator's action."""
    vm_queries.save(conn, vm)
    audit_queries.append(conn, record, now)


def request_cancel(
    conn: Connection, submission_id: str, record: AuditRecord, now: float
) -> Submission | None:
    """Record an operator's request to cancel a submission; do not change a submission that is DONE."""
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
