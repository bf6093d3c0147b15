"""The routes of figures: metrics, and where the money went. Every dollar comes from the ledger."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from warmfront.api import machines, models, outlook, prometheus, views
from warmfront.api.admission import DAY_S
from warmfront.api.auth import Who
from warmfront.api.openapi import refusals
from warmfront.api.parts import Parts
from warmfront.store import counts, ledger

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from warmfront.api.service import Service
    from warmfront.store.counts import Totals
    from warmfront.store.records import Meter
    from warmfront.vm import VMInstance

router = APIRouter(tags=["figures"])

#: Days that are shown.
_SHOWN_DAYS = 31


@router.get(
    "/metrics",
    response_model=models.MetricsDetail | models.Metrics,
    responses=refusals(422),
)
async def metrics(
    *,
    parts: Parts,
    detail: Annotated[
        bool, Query(description="Add the pool, the queue, latencies and costs by day.")
    ] = False,
) -> models.Metrics:
    """The service in seven numbers."""
    if not detail:
        return models.Metrics(**_seven(parts, await parts.store.read(counts.totals)))
    totals, latencies, by_day = await parts.store.read(_details, parts.clock.now())
    return models.MetricsDetail(
        **_seven(parts, totals),
        simulated=parts.provider.simulated,
        reserved_usd=views.dollars(parts.orchestrator.money().reserved_usd),
        pool=dict(Counter(vm.state.value for vm in parts.orchestrator.pool())),
        queue_length=parts.orchestrator.queue_length(),
        verdicts=totals.by_verdict,
        latencies_s=latencies,
        costs_by_day=_days(by_day),
    )


@router.get("/costs", responses=refusals())
async def costs(parts: Parts, caller: Who) -> models.Costs:
    """Where the money went: by VM, by what it did, by day."""
    now = parts.clock.now()
    money, cap_usd = parts.orchestrator.money(), parts.settings.daily_budget_usd
    found = await parts.store.read(_costs, now, caller.user, float(money.remaining_usd))
    return models.Costs(
        simulated=parts.provider.simulated,
        credits_usd=views.dollars(money.credits_usd),
        total_usd=views.dollars(money.spent_usd),
        reserved_usd=views.dollars(money.reserved_usd),
        remaining_usd=views.dollars(max(Decimal(0), money.credits_usd - money.spent_usd)),
        by_vm=[_vm_cost(vm, by_meter) for vm, by_meter in found["by_vm"]],
        by_meter=_meters(found["by_meter"]),
        by_day=_days(found["by_day"]),
        today=models.MyDay(
            user=caller.user,
            spent_usd=views.dollars(found["today"]),
            limit_usd=None if cap_usd is None else views.dollars(cap_usd),
        ),
        audit=_audit(parts),
        forecast=found["forecast"],
    )


async def scraped(parts: Parts) -> Response:
    """The same for Prometheus."""
    totals = await parts.store.read(counts.totals)
    text = prometheus.text(parts.orchestrator, totals, simulated=parts.provider.simulated)
    return Response(text, media_type=prometheus.MEDIA_TYPE)


def _seven(parts: Service, totals: Totals) -> dict[str, Any]:
    """The figures that everybody reads: spent and left are rounded so that they add up to the credits."""
    money = parts.orchestrator.money()
    spent_usd = views.cents(money.spent_usd)
    return {
        "total_cost_usd": float(spent_usd),
        "remaining_credits_usd": float(views.cents(max(Decimal(0), money.credits_usd - spent_usd))),
        "credits_used_pct": views.percent(money.spent_usd, money.credits_usd),
        "tasks_completed": totals.tasks_completed,
        "cold_starts": totals.cold_starts,
        "warm_reuses": totals.warm_reuses,
        "active_vms": len(parts.orchestrator.pool()),
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
        "forecast": outlook.from_ledger(c, now, max(0.0, left_usd)),
        "by_vm": machines.recent_with_costs(c),
        "by_meter": ledger.by_meter(c),
        "by_day": ledger.by_day(c, now - _SHOWN_DAYS * DAY_S),
        "today": ledger.of_owner_since(c, user, now - now % DAY_S),
    }


def _vm_cost(vm: VMInstance, by_meter: dict[Meter, Decimal]) -> models.VmCost:
    total_usd = sum(by_meter.values(), Decimal(0))
    return models.VmCost(
        vm_id=vm.id, state=vm.state.value, cost_usd=views.dollars(total_usd), meters=_meters(by_meter)
    )


def _meters(by_meter: dict[Meter, Decimal]) -> list[models.MeterCost]:
    return [
        models.MeterCost(meter=meter.value, cost_usd=views.dollars(amount))
        for meter, amount in by_meter.items()
    ]


def _days(by_day: dict[str, Decimal]) -> list[models.DayCost]:
    return [models.DayCost(day=day, cost_usd=views.dollars(amount)) for day, amount in by_day.items()]


def _audit(parts: Service) -> models.Audit | None:
    report = parts.auditor.latest if parts.auditor is not None else None
    if report is None:
        return None
    return models.Audit(
        checked_at=views.iso(report.at),
        vms=report.vms,
        differences=[
            models.AuditDifference(
                vm_id=each.vm_id,
                ledger_usd=views.dollars(each.ledger_usd),
                billed_usd=views.dollars(each.billed_usd),
            )
            for each in report.differences
        ],
    )
