"""Report why no VM is provisioned for a GPU type, and reset its circuit breaker.

Every user sees the reason; only operators see the hint and may reset.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path

from warmfront.api.deps import CallerDep, ServiceDep
from warmfront.api.openapi import error_responses_for
from warmfront.audit_chain import AuditAction
from warmfront.errors import NotFound
from warmfront.gpus import CPU_NODE
from warmfront.roles import Role
from warmfront.wire.operations import ProvisioningProblemResponse, ProvisioningResponse

if TYPE_CHECKING:
    from warmfront.api.auth import Caller
    from warmfront.api.context import ServiceContext

router = APIRouter(prefix="/provisioning", tags=["operations"])


@router.get("", responses=error_responses_for())
async def get_provisioning(service: ServiceDep, caller: CallerDep) -> ProvisioningResponse:
    """Return the GPU types for which no VM is provisioned now: shortages and open circuit breakers."""
    return ProvisioningResponse(now=service.clock.now(), problems=provisioning_problems(service, caller))


@router.post("/{gpu_type}/reset", responses=error_responses_for(403, 404, 422))
async def reset_provisioning(
    service: ServiceDep, caller: CallerDep, gpu_type: Annotated[str, Path(max_length=100)]
) -> ProvisioningResponse:
    """Close the circuit breaker of a GPU type, or end the backoff of a shortage. For operators."""
    caller.require(Role.OPERATOR, "Resetting a circuit breaker")
    settings = service.settings
    allowed = (*settings.gpu_types, CPU_NODE) if settings.has_cpu_nodes else settings.gpu_types
    if gpu_type not in allowed:
        raise NotFound(f"There is no GPU type {gpu_type[:64]!r}; allowed: {', '.join(allowed)}.")
    had_problem = service.orchestrator.reset_provisioning(gpu_type)
    record = caller.actor.record(AuditAction.PROVISIONING_RESET, gpu_type, before={"problem": had_problem})
    await service.store.append_audit(record, service.clock.now())
    return await get_provisioning(service, caller)


def provisioning_problems(service: ServiceContext, caller: Caller) -> list[ProvisioningProblemResponse]:
    """Return the problems of all GPU types as the caller may see them."""
    return [
        ProvisioningProblemResponse(
            gpu_type=problem.gpu,
            open=problem.is_open,
            kind=problem.kind,
            reason=problem.reason,
            hint=problem.hint if caller.is_operator else "",
            since=problem.since,
            retry_at=problem.retry_at,
            failures=problem.failures,
        )
        for problem in service.orchestrator.provisioning_problems()
    ]
