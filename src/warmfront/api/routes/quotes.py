"""Quotes: the expected wait and cost of a submission before it is sent. Nothing is reserved."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query

from warmfront.api.deps import CallerDep, ProblemsDep, ServiceDep
from warmfront.api.hints import api_hint
from warmfront.api.openapi import error_responses_for
from warmfront.api.validation import validate_gpu
from warmfront.events import VMStart
from warmfront.orchestrator.quotes import Quote
from warmfront.verdicts import Endpoint
from warmfront.wire.submissions import QuoteRefusal, QuoteResponse

if TYPE_CHECKING:
    from warmfront.api.auth import Caller
    from warmfront.api.context import ServiceContext
    from warmfront.errors import BudgetExceeded, WarmfrontError

router = APIRouter(tags=["submissions"])


@router.get("/quote", responses=error_responses_for(422))
async def get_quote(
    *,
    service: ServiceDep,
    problems: ProblemsDep,
    caller: CallerDep,
    problem: Annotated[str, Query(min_length=1, max_length=100, examples=["leaky-relu"])],
    gpu_type: Annotated[str | None, Query(max_length=40, examples=["MI300X"])] = None,
    endpoint: Endpoint = Endpoint.SUBMIT,
) -> QuoteResponse:
    """Estimate the wait and the cost of a submission that is sent now."""
    slug = problems.require(problem).slug
    gpu = validate_gpu(service.settings, gpu_type)
    quote, refusal = _NO_VM, None
    if endpoint is not Endpoint.XRAY:  # an X-ray needs no VM
        quote = service.orchestrator.quote(gpu, caller.user, endpoint)
        refusal = await _exceeded_cap(service, caller, quote.cost_usd) or quote.shortage
    return QuoteResponse(
        now=service.clock.now(),
        problem=slug,
        gpu_type=gpu,
        endpoint=endpoint,
        vm_state=None if endpoint is Endpoint.XRAY else quote.vm_state,
        position=quote.position,
        wait_s=round(quote.wait_s, 1),
        total_s=round(quote.wait_s + quote.task_s, 1),
        cost_usd=quote.cost_usd,
        warm_chance=round(quote.warm_chance, 2),
        simulated=service.provider.simulated,
        refusal=None if refusal is None else _refusal(refusal),
    )


_NO_VM = Quote(vm_state=VMStart.WARM_REUSE, position=0, wait_s=0.0, cost_usd=Decimal(0))


def _refusal(error: WarmfrontError) -> QuoteRefusal:
    return QuoteRefusal(code=error.code, detail=error.message, hint=api_hint(error))


async def _exceeded_cap(service: ServiceContext, caller: Caller, cost_usd: Decimal) -> BudgetExceeded | None:
    """Return the error for a daily cap of the caller that this cost would exceed; None if there is none."""
    caps = caller.daily_caps(service.current_settings)
    if caps is None:
        return None
    now = service.clock.now()
    return caps.exceeded(await service.store.spent_today(caller.user, caller.team, now), cost_usd, now)
