"""Users and invitations, for admins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, Depends, Path, Request

from warmfront.api.auth import Caller
from warmfront.api.browser_origin import BrowserOrigin
from warmfront.api.deps import ServiceDep, require_role
from warmfront.api.error_responses import quote_value
from warmfront.api.openapi import error_responses_for
from warmfront.api.serialization import exact_dollars
from warmfront.errors import Conflict, NotFound
from warmfront.roles import Role
from warmfront.wire.accounts import (
    InvitationCreatedResponse,
    InvitationListResponse,
    InvitationPreviewResponse,
    InvitationRequest,
    InvitationResponse,
    InvitationSecretRequest,
    UserListResponse,
    UserRequest,
    UserResponse,
)

if TYPE_CHECKING:
    from warmfront.store.account_records import Invitation, User

router = APIRouter(tags=["accounts"])

_AdminDep = Annotated[Caller, Depends(require_role(Role.ADMIN, "Managing users and invitations"))]


@router.get("/users", responses=error_responses_for())
async def list_users(service: ServiceDep, caller: _AdminDep) -> UserListResponse:
    """List the users who have signed in. For admins."""
    del caller
    return UserListResponse(items=[user_response(user) for user in await service.store.accounts.list_users()])


@router.post("/users/{name}", responses=error_responses_for(404, 409, 413, 415, 422))
async def change_user(
    body: UserRequest, service: ServiceDep, caller: _AdminDep, name: Annotated[str, Path(max_length=100)]
) -> UserResponse:
    """Change the role, team or budget of a user, or disable them, which ends their sessions. For admins."""
    if name == caller.user and (body.disabled or not body.role.includes(Role.ADMIN)):
        raise Conflict(
            "You cannot disable yourself or give up your admin role.", hint="Ask another admin to do it."
        )
    user = await service.store.accounts.change_user(
        name,
        service.clock.now(),
        role=body.role,
        team=body.team,
        manages_team=body.manages_team and body.team is not None,
        daily_budget_usd=exact_dollars(body.daily_budget_usd),
        disabled=body.disabled,
        by=caller.actor,
    )
    if user is None:
        raise NotFound(f"There is no user {quote_value(name)}.", hint="GET /api/amd/users lists the users.")
    return user_response(user)


@router.get("/invitations", responses=error_responses_for())
async def list_invitations(service: ServiceDep, caller: _AdminDep) -> InvitationListResponse:
    """List the invitations, newest first. For admins."""
    del caller
    now = service.clock.now()
    return InvitationListResponse(
        items=[
            _invitation_response(invitation, now)
            for invitation in await service.store.accounts.list_invitations()
        ]
    )


@router.post("/invitations", status_code=201, responses=error_responses_for(413, 415, 422))
async def create_invitation(
    body: InvitationRequest, service: ServiceDep, caller: _AdminDep, request: Request
) -> InvitationCreatedResponse:
    """Create an invitation, and return its link, which is shown once and works once. For admins."""
    now = service.clock.now()
    invitation, secret = await service.store.accounts.create_invitation(
        role=body.role,
        by=caller.actor,
        now=now,
        expires_at=now + body.valid_for_s,
        team=body.team,
        manages_team=body.manages_team and body.team is not None,
        daily_budget_usd=exact_dollars(body.daily_budget_usd),
        note=body.note.strip(),
    )
    origin = BrowserOrigin.for_links(service.settings, request.headers)
    # In the fragment, which appears in no access log.
    link = f"{origin.url}/join#{secret}"
    return InvitationCreatedResponse(**dict(_invitation_response(invitation, now)), link=link)


@router.post("/invitations/preview", responses=error_responses_for(413, 415, 422))
async def preview_invitation(body: InvitationSecretRequest, service: ServiceDep) -> InvitationPreviewResponse:
    """Return what an invitation grants; a 403 explains why it cannot be used. Open to everyone."""
    invitation = await service.store.accounts.require_usable_invitation(body.secret, service.clock.now())
    provider = service.identity_provider
    return InvitationPreviewResponse(
        role=invitation.role,
        team=invitation.team,
        daily_budget_usd=invitation.daily_budget_usd,
        invited_by=invitation.created_by,
        expires_at=invitation.expires_at,
        sign_in_name=None if provider is None else provider.name,
    )


@router.post("/invitations/{invitation_id}/revoke", responses=error_responses_for(404, 413, 422))
async def revoke_invitation(
    service: ServiceDep, caller: _AdminDep, invitation_id: Annotated[str, Path(max_length=100)]
) -> InvitationListResponse:
    """Revoke an unused invitation. For admins."""
    if not await service.store.accounts.revoke_invitation(
        invitation_id, service.clock.now(), by=caller.actor
    ):
        raise NotFound(
            f"There is no open invitation {quote_value(invitation_id)}.",
            hint="GET /api/amd/invitations lists the invitations and their states.",
        )
    return await list_invitations(service, caller)


def user_response(user: User) -> UserResponse:
    """Return a user with the fields that admins see."""
    return UserResponse(
        name=user.name,
        display_name=user.display_name,
        email=user.email,
        role=user.role,
        team=user.team,
        manages_team=user.manages_team,
        daily_budget_usd=user.daily_budget_usd,
        created_at=user.created_at,
        last_sign_in_at=user.last_sign_in_at,
        disabled=user.disabled_at is not None,
    )


def _invitation_response(invitation: Invitation, now: float) -> InvitationResponse:
    return InvitationResponse(
        id=invitation.id,
        role=invitation.role,
        team=invitation.team,
        manages_team=invitation.manages_team,
        daily_budget_usd=invitation.daily_budget_usd,
        note=invitation.note,
        created_by=invitation.created_by,
        created_at=invitation.created_at,
        expires_at=invitation.expires_at,
        state=_state(invitation, now),
        used_by=invitation.used_by,
        used_at=invitation.used_at,
    )


def _state(invitation: Invitation, now: float) -> Literal["open", "used", "revoked", "expired"]:
    if invitation.used_by is not None:
        return "used"
    if invitation.revoked_at is not None:
        return "revoked"
    return "expired" if invitation.expires_at <= now else "open"
