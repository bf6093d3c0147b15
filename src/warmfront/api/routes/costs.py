"""Metrics and costs. Every amount comes from the ledger."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from warmfront.api import prometheus
from warmfront.api.deps import CallerDep, ServiceDep
from warmfront.api.openapi import error_responses_for
from warmfront.api.routes import forecasts
from warmfront.api.serialization import percent, round_to_cents
from warmfront.money.billing import Billing
from warmfront.usage_limits import DAY_S
from warmfront.verdicts import Verdict
from warmfront.wire.costs import (
    BillingDifferenceResponse,
    BillingReconciliationResponse,
    CostsResponse,
    CpuNodeCosts,
    DailyCost,
    Latencies,
    MeterCost,
    MetricsDetailResponse,
    MetricsResponse,
    TodaysBudget,
    VmCost,
)

if TYPE_CHECKING:
    from warmfront.api.context import ServiceContext
    from warmfront.store.records import Meter, Totals
    from warmfront.vm import VMInstance

router = APIRouter(tags=["operations"])

#: The number of days in `by_day`.
_LISTED_DAYS = 31


@router.get(
    "/metrics",
    response_model=MetricsDetailResponse | MetricsResponse,
    responses=error_responses_for(422),
)
async def get_metrics(
    *,
    service: ServiceDep,
    detail: Annotated[bool, Query(description="Add the pool, the queue, latencies and daily costs.")] = False,
) -> MetricsResponse:
    """Return the seven headline metrics."""
    if not detail:
        return MetricsResponse(**headline_metrics(service, await service.store.totals()))
    since = service.clock.now() - _LISTED_DAYS * DAY_S
    totals, latencies, by_day = await service.store.totals_and_latencies(since)
    return MetricsDetailResponse(
        **headline_metrics(service, totals),
        simulated=service.provider.simulated,
        reserved_usd=service.orchestrator.budget_status().reserved_usd,
        pool=dict(Counter(vm.state for vm in service.orchestrator.pool())),
        queue_length=service.orchestrator.queue_length(),
        verdicts={Verdict(name): count for name, count in totals.by_verdict.items()},
        latencies_s=Latencies.model_validate({name: asdict(latency) for name, latency in latencies.items()}),
        costs_by_day=_daily_costs(by_day),
    )


@router.get("/costs", responses=error_responses_for())
async def get_costs(service: ServiceDep, caller: CallerDep) -> CostsResponse:
    """Return the costs by VM, by activity and by day."""
    now = service.clock.now()
    budget = service.orchestrator.budget_status()
    report = await service.store.costs(
        caller.user,
        today=now - now % DAY_S,
        since=now - _LISTED_DAYS * DAY_S,
        history_since=forecasts.history_since(now),
    )
    left_usd = max(0.0, float(budget.remaining_usd))
    return CostsResponse(
        simulated=service.provider.simulated,
        credits_usd=budget.credits_usd,
        total_usd=budget.spent_usd,
        reserved_usd=budget.reserved_usd,
        remaining_usd=max(Decimal(0), budget.credits_usd - budget.spent_usd),
        pool_usd=report.pool_usd,
        by_vm=[_vm_cost(vm, by_meter) for vm, by_meter in report.by_vm],
        by_meter=meter_costs(report.by_meter),
        by_day=_daily_costs(report.by_day),
        today=TodaysBudget(
            user=caller.user,
            spent_usd=report.user_today.user_usd,
            expected_usd=report.user_today.user_expected_usd,
            limit_usd=service.current_settings.daily_budget_usd,
        ),
        cpu_nodes=_cpu_node_costs(service, *report.cpu_nodes),
        audit=_billing_reconciliation(service),
        forecast=forecasts.from_ledger(report.history_by_day, now, left_usd),
    )


async def prometheus_metrics(service: ServiceDep) -> Response:
    """Return the metrics in the Prometheus text format; on standby, only `warmfront_active`."""
    if service.state == "standby":
        return Response(prometheus.standby_exposition(), media_type=prometheus.MEDIA_TYPE)
    totals = await service.store.totals()
    text = prometheus.exposition(service, totals)
    return Response(text, media_type=prometheus.MEDIA_TYPE)


def headline_metrics(service: ServiceContext, totals: Totals) -> dict[str, Any]:
    """Return the fields of `MetricsResponse`. Spent and remaining are rounded so that they add up."""
    budget = service.orchestrator.budget_status()
    spent_usd = round_to_cents(budget.spent_usd)
    return {
        "total_cost_usd": spent_usd,
        "remaining_credits_usd": round_to_cents(max(Decimal(0), budget.credits_usd - spent_usd)),
        "credits_used_pct": percent(budget.spent_usd, budget.credits_usd),
        "tasks_completed": totals.tasks_completed,
        "cold_starts": totals.cold_starts,
        "warm_reuses": totals.warm_reuses,
        "active_vms": len(service.orchestrator.pool()),
    }


def meter_costs(by_meter: dict[Meter, Decimal]) -> list[MeterCost]:
    """Return the costs by meter."""
    return [MeterCost(meter=meter, cost_usd=amount) for meter, amount in by_meter.items()]


def _vm_cost(vm: VMInstance, by_meter: dict[Meter, Decimal]) -> VmCost:
    total_usd = sum(by_meter.values(), Decimal(0))
    return VmCost(vm_id=vm.id, state=vm.state, cost_usd=total_usd, meters=meter_costs(by_meter))


def _cpu_node_costs(service: ServiceContext, seconds: float, cost_usd: Decimal) -> CpuNodeCosts | None:
    """Compare the cost of CPU nodes with that of the same time on VMs with the default GPU type."""
    if not seconds:
        return None
    gpu = service.settings.default_gpu
    gpu_usd = Billing(rate_usd_per_h=service.provider.billing(gpu).rate_usd_per_h).cost_usd(seconds)
    return CpuNodeCosts(
        seconds=round(seconds, 1),
        cost_usd=cost_usd,
        gpu_type=gpu,
        gpu_usd=gpu_usd,
        saved_usd=gpu_usd - cost_usd,
    )


def _daily_costs(by_day: dict[str, Decimal]) -> list[DailyCost]:
    return [DailyCost(day=day, cost_usd=amount) for day, amount in by_day.items()]


def _billing_reconciliation(service: ServiceContext) -> BillingReconciliationResponse | None:
    latest = service.billing_reconciler.latest if service.billing_reconciler is not None else None
    if latest is None:
        return None
    return BillingReconciliationResponse(
        checked_at=latest.at,
        vms=latest.vms,
        differences=[
            BillingDifferenceResponse(
                vm_id=difference.vm_id, ledger_usd=difference.ledger_usd, billed_usd=difference.billed_usd
            )
            for difference in latest.differences
        ],
    )
