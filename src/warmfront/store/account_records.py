"""Accounts as values: users, sessions, invitations, shared results and assignments."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from decimal import Decimal

    from warmfront.roles import Role


class Identity(NamedTuple):
    """A person, as the issuer describes them after a sign-in."""

    issuer: str
    subject: str  #: the issuer's id of the person; it never changes
    suggested_name: str = ""  #: the user name at the issuer
    display_name: str = ""
    email: str | None = None  #: only if the issuer has verified it


@dataclass(frozen=True, kw_only=True)
class User:
    """A person who has signed in at least once."""

    name: str  #: the owner of their submissions
    issuer: str
    subject: str
    display_name: str
    email: str | None
    role: Role
    team: str | None
    manages_team: bool  #: whether they may set assignments for their team and see its results
    daily_budget_usd: Decimal | None  #: replaces the configured daily budget
    created_at: float
    last_sign_in_at: float
    disabled_at: float | None = None  #: since then, they cannot sign in, and their keys are rejected


@dataclass(frozen=True, kw_only=True)
class Session:
    """A signed-in browser, without its token."""

    id: str
    user: User
    created_at: float
    expires_at: float


@dataclass(frozen=True, kw_only=True)
class Invitation:
    """An invitation, without its secret."""

    id: str
    role: Role
    team: str | None
    manages_team: bool
    daily_budget_usd: Decimal | None
    note: str
    created_by: str
    created_at: float
    expires_at: float
    used_by: str | None = None
    used_at: float | None = None
    revoked_at: float | None = None


@dataclass(frozen=True, kw_only=True)
class SignUpPolicy:
    """The rules for who becomes a user by signing in."""

    is_admin: bool = False  #: whether the settings name this person as an admin
    default_role: Role | None = None  #: the role of people without an invitation; None: they are rejected
    invitation_secret: str | None = None


class Visibility(StrEnum):
    """Who may open a shared result."""

    PRIVATE = "private"  #: its owner, and operators
    UNLISTED = "unlisted"  #: everyone who has the link
    PUBLIC = "public"  #: everyone; it is also listed


class SharedKind(StrEnum):
    """The kind of a shared result."""

    SUBMISSION = "submission"
    XRAY = "xray"


@dataclass(frozen=True, kw_only=True)
class Share:
    """A link to a submission or an X-ray."""

    id: str
    kind: SharedKind
    owner: str
    visibility: Visibility
    submission_id: str | None  #: None for an X-ray
    problem: str | None
    content: dict[str, Any]  #: the source and the report of an X-ray; empty for a submission
    created_at: float
    changed_at: float


@dataclass(frozen=True, kw_only=True)
class TeamAssignment:
    """A problem that a team is to solve by a deadline."""

    id: str
    team: str
    problem: str
    title: str
    deadline_at: float
    created_by: str
    created_at: float


class AssignmentResult(NamedTuple):
    """The result of one member of a team for one assignment before its deadline."""

    assignment_id: str
    user: str
    submissions: int
    accepted: int
    best_submission_id: str | None
    best_runtime_ms: float | None
    gpu: str | None
    simulated: bool | None
    accepted_at: float | None  #: the time of the first accepted submission
