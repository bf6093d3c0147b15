"""The routes of figures: metrics, and where the money went. Every dollar comes from the ledger."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from warmfront.api import models, prometheus, serialization
from warmfront.api.deps import CallerDep, ServiceDep
from warmfront.api.openapi import error_responses_for
from warmfront.api.routes import forecasts
from warmfront.api.routes import vms as vm_routes
from warmfront.api.validation import DAY_S
from warmfront.store import counts, ledger

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from warmfront.api.context import ServiceContext
    from warmfront.store.counts import Totals
    from warmfront.store.records import Meter
    from warmfront.vm import VMInstance

router = APIRouter(tags=["figures"])

#: Days that are shown.
_SHOWN_DAYS = 31


@router.get(
    "/metrics",
    response_model=models.MetricsDetail | models.Metrics,
    responses=error_responses_for(422),
)
async def metrics(
    *,
    service: ServiceDep,
    detail: Annotated[
        bool, Query(description="Add the pool, the queue, latencies and costs by day.")
    ] = False,
) -> models.Metrics:
    """The service in seven numbers."""
    if not detail:
        return models.Metrics(**headline_metrics(service, await service.store.read(counts.totals)))
    totals, latencies, by_day = await service.store.read(_details, service.clock.now())
    return models.MetricsDetail(
        **headline_metrics(service, totals),
        simulated=service.provider.simulated,
        reserved_usd=serialization.dollars(service.orchestrator.money().reserved_usd),
        pool=dict(Counter(vm.state.value for vm in service.orchestrator.pool())),
        queue_length=service.orchestrator.queue_length(),
        verdicts=totals.by_verdict,
        latencies_s=latencies,
        costs_by_day=_days(by_day),
    )


@router.get("/costs", responses=error_responses_for())
async def costs(service: ServiceDep, caller: CallerDep) -> models.Costs:
    """Where the money went: by VM, by what it did, by day."""
    now = service.clock.now()
    money, cap_usd = service.orchestrator.money(), service.settings.daily_budget_usd
    found = await service.store.read(_costs, now, caller.user, float(money.remaining_usd))
    return models.Costs(
        simulated=service.provider.simulated,
        credits_usd=serialization.dollars(money.credits_usd),
        total_usd=serialization.dollars(money.spent_usd),
        reserved_usd=serialization.dollars(money.reserved_usd),
        remaining_usd=serialization.dollars(max(Decimal(0), money.credits_usd - money.spent_usd)),
        by_vm=[_vm_cost(vm, by_meter) for vm, by_meter in found["by_vm"]],
        by_meter=_meters(found["by_meter"]),
        by_day=_days(found["by_day"]),
        today=models.MyDay(
            user=caller.user,
            spent_usd=serialization.dollars(found["today"]),
            limit_usd=None if cap_usd is None else serialization.dollars(cap_usd),
        ),
        audit=_audit(service),
        forecast=found["forecast"],
    )


async def prometheus_metrics(service: ServiceDep) -> Response:
    """The same for Prometheus."""
    totals = await service.store.read(counts.totals)
    text = prometheus.text(service.orchestrator, totals, simulated=service.provider.simulated)
    return Response(text, media_type=prometheus.MEDIA_TYPE)


def headline_metrics(service: ServiceContext, totals: Totals) -> dict[str, Any]:
    """The figures that everybody reads: spent and left are rounded so that they add up to the credits."""
    money = service.orchestrator.money()
    spent_usd = serialization.cents(money.spent_usd)
    return {
        "total_cost_usd": float(spent_usd),
        "remaining_credits_usd": float(serialization.cents(max(Decimal(0), money.credits_usd - spent_usd))),
        "credits_used_pct": serialization.percent(money.spent_usd, money.credits_usd),
        "tasks_completed": totals.tasks_completed,
        "cold_starts": totals.cold_starts,
        "warm_reuses": totals.warm_reuses,
        "active_vms": len(service.orchestrator.pool()),
    }


def _details(c: Connection, now: float) -> tuple[Totals, dict[str, Any], dict[str, Decimal]]:
    latencies = {
        "all": asdict(counts.latencies(c)),
        "cold": asdict(counts.latencies(c, cold=True)),
        "warm": asdict(counts.latencies(c, cold=False)),
    }
    return counts.totals(c), latencies, ledger.by_day(c, now - _SHOWN_DAYS * DAY_S)


def _costs(c: Connection, now: float, user: str, left_usd: float) -> dict[str, Any]:
    return {
        "forecast": forecasts.from_ledger(c, now, max(0.0, left_usd)),
        "by_vm": vm_routes.recent_with_costs(c),
        "by_meter": ledger.by_meter(c),
        "by_day": ledger.by_day(c, now - _SHOWN_DAYS * DAY_S),
        "today": ledger.of_owner_since(c, user, now - now % DAY_S),
    }


def _vm_cost(vm: VMInstance, by_meter: dict[Meter, Decimal]) -> models.VmCost:
    total_usd = sum(by_meter.values(), Decimal(0))
    return models.VmCost(
        vm_id=vm.id, state=vm.state.value, cost_usd=serialization.dollars(total_usd), meters=_meters(by_meter)
    )


def _meters(by_meter: dict[Meter, Decimal]) -> list[models.MeterCost]:
    return [
        models.MeterCost(meter=meter.value, cost_usd=serialization.dollars(amount))
        for meter, amount in by_meter.items()
    ]


def _days(by_day: dict[str, Decimal]) -> list[models.DayCost]:
    return [models.DayCost(day=day, cost_usd=serialization.dollars(amount)) for day, amount in by_day.items()]


def _audit(service: ServiceContext) -> models.Audit | None:
    report = service.billing_reconciler.latest if service.billing_reconciler is not None else None
    if report is None:
        return None
    return models.Audit(
        checked_at=serialization.iso(report.at),
        vms=report.vms,
        differences=[
            models.AuditDifference(
                vm_id=each.vm_id,
                ledger_usd=serialization.dollars(each.ledger_usd),
                billed_usd=serialization.dollars(each.billed_usd),
            )
            for each in report.differences
        ],
    )
