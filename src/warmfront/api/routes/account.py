"""The caller's own account: profile, API keys, and the history of `local`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path

from warmfront.api.deps import CallerDep, ServiceDep
from warmfront.api.error_responses import quote_value
from warmfront.api.leaderboard_ranking import rank_submissions
from warmfront.api.openapi import error_responses_for
from warmfront.api.serialization import created_key_response, key_list_response
from warmfront.errors import Conflict, NotFound
from warmfront.roles import Role
from warmfront.wire.accounts import (
    ActivityDay,
    ApiKeyCreatedResponse,
    ApiKeyListResponse,
    ApiKeyRequest,
    ClaimResponse,
    ProfileResponse,
    SolvedProblem,
)

if TYPE_CHECKING:
    from warmfront.store.profile_queries import SolvedRecord

router = APIRouter(prefix="/account", tags=["accounts"])

#: Activity covers a year, in whole weeks.
_ACTIVITY_S = 53 * 7 * 86_400


@router.get("", responses=error_responses_for())
async def get_profile(service: ServiceDep, caller: CallerDep) -> ProfileResponse:
    """Return the caller's profile: solved problems with ranks, and activity."""
    accounts = service.store.accounts
    user = await accounts.find_user(caller.user)
    profile = await accounts.profile(caller.user, service.clock.now() - _ACTIVITY_S)
    can_claim = caller.session_id is not None and caller.role.includes(Role.ADMIN)
    return ProfileResponse(
        user=caller.user,
        display_name=user.display_name if user else "",
        submissions=profile.submissions,
        accepted=profile.accepted,
        solved=[_solved(record, caller.user) for record in profile.solved],
        activity=[
            ActivityDay(day=day, submissions=submissions, accepted=accepted)
            for day, (submissions, accepted) in profile.by_day.items()
        ],
        local_history=await accounts.count_local_history() if can_claim else 0,
    )


@router.post("/claim-local-history", responses=error_responses_for(409, 413, 422))
async def claim_local_history(service: ServiceDep, caller: CallerDep) -> ClaimResponse:
    """Transfer the finished submissions that `local` made before sign-in to the caller. For admins."""
    caller.require(Role.ADMIN, "Claiming the history of `local`")
    if caller.session_id is None:
        raise Conflict("Only a person who is signed in can claim the history of `local`.")
    return ClaimResponse(claimed=await service.store.accounts.claim_local_history(caller.user))


@router.get("/keys", responses=error_responses_for())
async def list_own_keys(service: ServiceDep, caller: CallerDep) -> ApiKeyListResponse:
    """List the caller's API keys, oldest first."""
    keys = [key for key in await service.store.list_keys() if key.user == caller.user]
    return key_list_response(keys)


@router.post("/keys", status_code=201, responses=error_responses_for(409, 413, 415, 422))
async def create_own_key(
    body: ApiKeyRequest, service: ServiceDep, caller: CallerDep
) -> ApiKeyCreatedResponse:
    """Create an API key of the caller, for programs. Its secret is shown once."""
    role = body.role or caller.role
    caller.require(role, f"A key with the role {role}")
    if caller.session_id is None and caller.key_id is None:
        raise Conflict(
            "Once a key exists, the service rejects requests without one, including yours.",
            hint="`warmfront keys create` creates keys.",
        )
    key, secret = await service.store.create_key(
        caller.user, role, service.clock.now(), team=caller.team, by=caller.actor
    )
    return created_key_response(key, secret)


@router.post("/keys/{key_id}/revoke", responses=error_responses_for(404, 413, 422))
async def revoke_own_key(
    service: ServiceDep, caller: CallerDep, key_id: Annotated[str, Path(max_length=100)]
) -> ApiKeyListResponse:
    """Revoke one of the caller's API keys."""
    own = {key.id for key in await service.store.list_keys() if key.user == caller.user}
    if key_id not in own or not await service.store.revoke_key(key_id, service.clock.now(), by=caller.actor):
        raise NotFound(
            f"You have no active key {quote_value(key_id)}.",
            hint="GET /api/amd/account/keys lists your keys.",
        )
    return await list_own_keys(service, caller)


def _solved(record: SolvedRecord, user: str) -> SolvedProblem:
    """Return a solved problem with the user's best rank; results on a GPU before simulated ones."""
    own = [entry for entry in record.board if entry.owner == user]
    own.sort(key=lambda entry: (entry.simulated, entry.avg_runtime_ms or 0.0))
    if not own:
        return SolvedProblem(
            problem=record.problem,
            solved_at=record.solved_at,
            best_runtime_ms=None,
            gpu_type=None,
            simulated=False,
            rank=None,
            of=0,
        )
    best = own[0]
    board = [entry for entry in record.board if (entry.gpu, entry.simulated) == (best.gpu, best.simulated)]
    ranks = {ranked.submission.id: ranked.rank for ranked in rank_submissions(board)}
    return SolvedProblem(
        problem=record.problem,
        solved_at=record.solved_at,
        best_runtime_ms=best.avg_runtime_ms,
        gpu_type=best.gpu,
        simulated=best.simulated,
        rank=ranks[best.id],
        of=len(board),
    )
