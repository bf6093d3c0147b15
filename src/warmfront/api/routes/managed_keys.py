"""API keys and teams of all users, for operators. A secret is returned once, when its key is created."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path

from warmfront.api.deps import CallerDep, OperatorDep, ServiceDep
from warmfront.api.openapi import error_responses_for
from warmfront.api.serialization import created_key_response, exact_dollars, key_list_response
from warmfront.errors import Conflict, NotFound
from warmfront.roles import Role
from warmfront.wire.accounts import ApiKeyCreatedResponse, ApiKeyListResponse, TeamName
from warmfront.wire.operator_controls import CreateKeyRequest, TeamListResponse, TeamSpendingResponse
from warmfront.wire.teams import TeamBudgetRequest

if TYPE_CHECKING:
    from warmfront.api.context import ServiceContext

router = APIRouter(prefix="/operators", tags=["operators"])


@router.get("/keys", responses=error_responses_for())
async def list_managed_keys(service: ServiceDep, _operator: OperatorDep) -> ApiKeyListResponse:
    """List the API keys of all users, including revoked ones. For operators."""
    return key_list_response(await service.store.list_keys())


@router.post("/keys", responses=error_responses_for(413, 415, 422))
async def create_managed_key(
    service: ServiceDep, operator: OperatorDep, body: CreateKeyRequest
) -> ApiKeyCreatedResponse:
    """Create an API key for a user. Only this response contains its secret. For operators."""
    operator.require(body.role, f"A key with the role {body.role}")
    key, secret = await service.store.create_key(
        body.user, body.role, service.clock.now(), team=body.team, by=operator.actor
    )
    return created_key_response(key, secret)


@router.post("/keys/{key_id}/revoke", responses=error_responses_for(404, 409, 413, 422))
async def revoke_managed_key(
    service: ServiceDep, operator: OperatorDep, key_id: Annotated[str, Path(max_length=100)]
) -> ApiKeyListResponse:
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
    """List the teams with their spending today (UTC) and their daily budgets. For operators."""
    teams = await service.store.teams.all_teams()
    return TeamListResponse(
        items=[await team_spending(service, team, members) for team, members in teams.items()]
    )


@router.post("/teams/{team}/budget", responses=error_responses_for(413, 415, 422))
async def set_team_budget(
    body: TeamBudgetRequest, service: ServiceDep, caller: CallerDep, team: Annotated[TeamName, Path()]
) -> TeamSpendingResponse:
    """Set how much the members of a team may spend together per day (UTC). For admins.

    The budget also applies to submissions that already wait: each is checked again when it gets a VM.
    """
    caller.require(Role.ADMIN, "Changing the budget of a team")
    budget_usd = exact_dollars(body.daily_budget_usd)
    await service.store.teams.set_budget(team, budget_usd, service.clock.now(), by=caller.actor)
    return await team_spending(service, team, await service.store.teams.members(team))


async def team_spending(service: ServiceContext, team: str, members: list[str]) -> TeamSpendingResponse:
    """Return a team's spending today, and its budget."""
    today = await service.store.spent_today("", team, service.clock.now())
    # On standby, the changes at run time are unknown.
    settings = service.settings if service.state == "standby" else service.current_settings
    default_usd = settings.team_daily_budget_usd
    return TeamSpendingResponse(
        team=team,
        members=members,
        spent_usd=today.team_usd,
        expected_usd=today.team_expected_usd,
        limit_usd=default_usd if today.team_budget_usd is None else today.team_budget_usd,
        budget_usd=today.team_budget_usd,
    )
