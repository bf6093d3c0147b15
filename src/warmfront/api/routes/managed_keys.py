"""API keys and teams of all users, for operators. A secret is returned once, when its key is created."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path

from warmfront.api.deps import OperatorDep, ServiceDep
from warmfront.api.openapi import error_responses_for
from warmfront.errors import Conflict, NotFound
from warmfront.wire.operator_controls import (
    CreateKeyRequest,
    ManagedKeyCreatedResponse,
    ManagedKeyListResponse,
    ManagedKeyResponse,
    TeamListResponse,
    TeamSpendingResponse,
)

if TYPE_CHECKING:
    from warmfront.store.records import ApiKey

router = APIRouter(prefix="/operators", tags=["operators"])


@router.get("/keys", responses=error_responses_for())
async def list_managed_keys(service: ServiceDep, _operator: OperatorDep) -> ManagedKeyListResponse:
    """List the API keys of all users, including revoked ones. For operators."""
    return ManagedKeyListResponse(items=[_shown(key) for key in await service.store.list_keys()])


@router.post("/keys", responses=error_responses_for(413, 415, 422))
async def create_managed_key(
    service: ServiceDep, operator: OperatorDep, body: CreateKeyRequest
) -> ManagedKeyCreatedResponse:
    """Create an API key for a user. Only this response has its secret. For operators."""
    operator.require(body.role, f"A key with the role {body.role}")
    key, secret = await service.store.create_key(
        body.user, body.role, service.clock.now(), team=body.team, by=operator.actor
    )
    return ManagedKeyCreatedResponse(**dict(_shown(key)), secret=secret)


@router.post("/keys/{key_id}/revoke", responses=error_responses_for(404, 409, 413, 422))
async def revoke_managed_key(
    service: ServiceDep, operator: OperatorDep, key_id: Annotated[str, Path(max_length=100)]
) -> ManagedKeyListResponse:
    """Revoke an API key: the next request with it gets 401. For operators."""
    keys = {key.id: key for key in await service.store.list_keys()}
    if key_id not in keys:
        raise NotFound(
            f"There is no API key {key_id[:64]!r}.", hint="GET /api/amd/operators/keys lists them."
        )
    operator.require(keys[key_id].role, f"Revoking a key with the role {keys[key_id].role}")
    if key_id == operator.key_id:
        raise Conflict(f"{key_id} is the key of this request.", hint="Revoke it with another operator's key.")
    if not await service.store.revoke_key(key_id, service.clock.now(), by=operator.actor):
        raise Conflict(f"The API key {key_id} is already revoked.")
    return await list_managed_keys(service, operator)


@router.get("/teams", responses=error_responses_for())
async def list_teams(service: ServiceDep, _operator: OperatorDep) -> TeamListResponse:
    """List the teams of all active keys, with what they have spent today (UTC). For operators."""
    members: dict[str, set[str]] = {}
    for key in await service.store.list_keys():
        if key.team is not None and key.revoked_at is None:
            members.setdefault(key.team, set()).add(key.user)
    now, limit_usd = service.clock.now(), service.orchestrator.limits.current.team_daily_budget_usd
    items = []
    for team, users in sorted(members.items()):
        today = await service.store.spent_today("", team, now)
        items.append(
            TeamSpendingResponse(
                team=team,
                members=sorted(users),
                spent_usd=today.team_usd,
                expected_usd=today.team_expected_usd,
                limit_usd=limit_usd,
            )
        )
    return TeamListResponse(items=items)


def _shown(key: ApiKey) -> ManagedKeyResponse:
    return ManagedKeyResponse(
        id=key.id,
        user=key.user,
        role=key.role,
        team=key.team,
        created_at=key.created_at,
        revoked_at=key.revoked_at,
    )
