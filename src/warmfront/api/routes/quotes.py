"""The route of what a submission may expect, asked before it is handed in. Nothing is taken or promised."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query

from warmfront.api import models, serialization, validation
from warmfront.api.deps import CallerDep, ProblemsDep, ServiceDep
from warmfront.api.hints import api_hint
from warmfront.api.openapi import error_responses_for
from warmfront.orchestrator.quote import Quote

if TYPE_CHECKING:
    from warmfront.errors import WarmfrontError

router = APIRouter(tags=["submissions"])


@router.get("/quote", responses=error_responses_for(422))
async def quote(
    *,
    service: ServiceDep,
    problems: ProblemsDep,
    caller: CallerDep,
    problem: Annotated[str, Query(min_length=1, max_length=100, examples=["leaky-relu"])],
    gpu_type: Annotated[str | None, Query(max_length=40, examples=["MI300X"])] = None,
    endpoint: Annotated[models.EndpointName, Query()] = "submit",
) -> models.Quote:
    """How long a submission would take and what it would cost, if it came now."""
    slug = problems.named(problem).slug
    gpu = validation.gpu_of(gpu_type or service.settings.default_gpu)
    expected, refusal = _NO_VM, None
    if endpoint != "xray":  # which is done before any VM is thought of
        expected = service.orchestrator.quote(gpu, caller.user)
        refusal = await validation.daily_refusal(service, caller) or expected.refusal
    return models.Quote(
        now=serialization.iso(service.clock.now()),
        problem=slug,
        gpu_type=gpu,
        endpoint=endpoint,
        vm_state=expected.vm_state or None,
        position=expected.position,
        wait_s=round(expected.wait_s, 1),
        total_s=round(expected.wait_s + expected.task_s, 1),
        cost_usd=serialization.dollars(expected.cost_usd),
        warm_chance=round(expected.warm_chance, 2),
        simulated=service.provider.simulated,
        refusal=None if refusal is None else _refusal(refusal),
    )


_NO_VM = Quote(vm_state="", position=0, wait_s=0.0, cost_usd=Decimal(0))


def _refusal(error: WarmfrontError) -> models.Refusal:
    return models.Refusal(code=error.code, detail=error.message, hint=api_hint(error))
