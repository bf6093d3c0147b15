"""Sign-in, sessions, users, keys and invitations."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from warmfront.roles import Role
from warmfront.wire.base import Dollars, RequestModel, ResponseModel, Timestamp

#: A role in a request. Not strict: strict mode accepts only enum members, which JSON does not have.
RoleField = Annotated[Role, Field(strict=False, examples=["author"])]
#: The name of a team.
TeamName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}$", examples=["kernels"])]
#: A daily budget in dollars.
BudgetField = Annotated[float, Field(gt=0, le=1_000_000, examples=[2.5])]


class SessionResponse(ResponseModel):
    """Who is signed in, and how to sign in."""

    user: str | None = Field(description="Null if no one is signed in.")
    display_name: str
    email: str | None
    role: Role | None
    team: str | None
    manages_team: bool
    authentication: Literal["local", "key", "session"] | None = Field(
        description="`local` is the only user of a service on loopback without keys and sign-in."
    )
    expires_at: Timestamp | None = Field(description="When the session ends; null without a session.")
    sign_in_name: str | None = Field(
        description="Where people sign in, such as `GitHub`; null if sign-in is not set up."
    )


class SignInRequest(RequestModel):
    """The start of a sign-in."""

    return_to: str = Field(
        "/", max_length=500, description="The path of the page to open afterwards.", examples=["/problems"]
    )
    invitation: str | None = Field(
        None, max_length=100, description="The secret of an invitation.", examples=[None]
    )


class SignInResponse(ResponseModel):
    """The address at which the browser continues the sign-in."""

    url: str


class InvitationSecretRequest(RequestModel):
    """The secret of an invitation link."""

    secret: str = Field(max_length=100, examples=["inv_0123456789ab_0123456789abcdef"])


class InvitationPreviewResponse(ResponseModel):
    """The role, team and budget that an invitation grants to the person who accepts it."""

    role: Role
    team: str | None
    daily_budget_usd: Dollars | None
    invited_by: str
    expires_at: Timestamp
    sign_in_name: str | None


class InvitationRequest(RequestModel):
    """A new invitation."""

    role: RoleField = Role.AUTHOR
    team: TeamName | None = Field(None, examples=[None])
    manages_team: bool = Field(
        False,  # noqa: FBT003 - the default of a field
        description="Whether the person may set assignments for the team and see its results.",
    )
    daily_budget_usd: BudgetField | None = Field(None, description="Replaces WARMFRONT_DAILY_BUDGET.")
    note: str = Field("", max_length=200, description="For the list of invitations.", examples=["Grace"])
    valid_for_s: int = Field(
        7 * 86400, ge=60, le=90 * 86400, description="Seconds until it expires.", examples=[604800]
    )


class InvitationResponse(ResponseModel):
    """An invitation without its secret."""

    id: str
    role: Role
    team: str | None
    manages_team: bool
    daily_budget_usd: Dollars | None
    note: str
    created_by: str
    created_at: Timestamp
    expires_at: Timestamp
    state: Literal["open", "used", "revoked", "expired"]
    used_by: str | None
    used_at: Timestamp | None


class InvitationCreatedResponse(InvitationResponse):
    """A new invitation with its link, which is shown once."""

    link: str = Field(description="The secret is in the fragment, which browsers do not send to servers.")


class InvitationListResponse(ResponseModel):
    """Every invitation, newest first."""

    items: list[InvitationResponse]


class UserResponse(ResponseModel):
    """A user who has signed in."""

    name: str
    display_name: str
    email: str | None
    role: Role
    team: str | None
    manages_team: bool
    daily_budget_usd: Dollars | None
    created_at: Timestamp
    last_sign_in_at: Timestamp
    disabled: bool


class UserListResponse(ResponseModel):
    """Every user, by name."""

    items: list[UserResponse]


class UserRequest(RequestModel):
    """A user's role, team, budget and access, set by an admin; all fields are replaced."""

    role: RoleField
    team: TeamName | None = Field(None, examples=[None])
    manages_team: bool = False
    daily_budget_usd: BudgetField | None = None
    disabled: bool = False


class ApiKeyRequest(RequestModel):
    """A new API key of the caller."""

    role: RoleField | None = Field(None, description="At most the caller's own role, which is the default.")


class ApiKeyResponse(ResponseModel):
    """An API key without its secret."""

    id: str
    user: str
    role: Role
    team: str | None
    created_at: Timestamp
    revoked_at: Timestamp | None


class ApiKeyCreatedResponse(ApiKeyResponse):
    """A new key with its secret, which is shown once."""

    secret: str


class ApiKeyListResponse(ResponseModel):
    """API keys, oldest first: of the caller, or of all users for operators."""

    items: list[ApiKeyResponse]


class ClaimResponse(ResponseModel):
    """The result of claiming the history of `local`."""

    claimed: int = Field(description="How many submissions changed their owner.")


class SolvedProblem(ResponseModel):
    """A problem that the user has solved."""

    problem: str
    solved_at: Timestamp | None
    best_runtime_ms: float | None
    gpu_type: str | None
    simulated: bool
    rank: int | None = Field(description="On the leaderboard of this GPU; null without a time.")
    of: int = Field(description="How many users are on that leaderboard.")


class ActivityDay(ResponseModel):
    """The submissions of one day (UTC)."""

    day: str = Field(examples=["2026-01-31"])
    submissions: int
    accepted: int


class ProfileResponse(ResponseModel):
    """The profile of a user: solved problems with ranks, and activity."""

    user: str
    display_name: str
    submissions: int
    accepted: int
    solved: list[SolvedProblem]
    activity: list[ActivityDay] = Field(description="Days with submissions in the last 53 weeks.")
    local_history: int = Field(
        description="Submissions of `local` that the caller, an admin, can claim; 0 for others."
    )
