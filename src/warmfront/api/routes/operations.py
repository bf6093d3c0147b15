"""The operations view: a snapshot of the whole service, and a stream of change notifications.

Every user sees the VM pool and the credits; only operators see other users' submissions and costs.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import asdict
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from warmfront.api.deps import CallerDep, ServiceDep, StreamsDep
from warmfront.api.event_stream import EventStream
from warmfront.api.openapi import CHANGE_STREAM, error_responses_for
from warmfront.api.routes.costs import meter_costs
from warmfront.api.routes.operator_controls import intake_response
from warmfront.api.routes.provisioning import provisioning_problems
from warmfront.api.routes.vms import foreign_vms, vm_response
from warmfront.api.timeline import TimelineSegment, vm_timeline
from warmfront.providers.base import billing_of
from warmfront.store.records import StoredEvent
from warmfront.usage_limits import DAY_S
from warmfront.verdicts import Endpoint
from warmfront.vm import VMState
from warmfront.wire.base import isoformat, round_dollars
from warmfront.wire.costs import Latencies
from warmfront.wire.operations import (
    BurnDownPoint,
    CreditsResponse,
    DailyMeterCosts,
    OperationsResponse,
    QueueEntry,
    QueueResponse,
    TaskSummary,
    TimelineSegmentResponse,
    UserCost,
    VmTimelineResponse,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from warmfront.api.auth import Caller
    from warmfront.api.context import ServiceContext
    from warmfront.money.escrow import BudgetStatus
    from warmfront.store.records import LedgerEntry, OperationsReport, RunningAttempt
    from warmfront.submission import Submission
    from warmfront.wire.vms import VmResponse

router = APIRouter(prefix="/operations", tags=["operations"])

_HOUR_S = 3600
_LISTED_DAYS = 31
_LISTED_QUEUE_ENTRIES = 50
_FAILED_VMS = 10

#: Changes within this time are sent as one event.
_MIN_INTERVAL_S = 0.5


@router.get("", responses=error_responses_for(422))
async def get_operations(
    service: ServiceDep,
    caller: CallerDep,
    hours: Annotated[int, Query(ge=1, le=24, description="The length of the timelines.")] = 24,
) -> OperationsResponse:
    """Return the VM pool, the queue, the timelines and the credits, in one snapshot."""
    now = service.clock.now()
    since = now - hours * _HOUR_S
    report = await service.store.operations(since=since, days_since=now - _LISTED_DAYS * DAY_S)
    live = {vm.id: vm for vm in service.orchestrator.pool()}
    budget = service.orchestrator.budget_status()
    return OperationsResponse(
        now=now,
        since=since,
        simulated=service.provider.simulated,
        everyone=caller.is_operator,
        vms=[
            vm_response(service, caller, live.get(vm.id, vm), Decimal(0), report.running)
            for vm in report.vms
            if not vm.state.has_ended
        ],
        failed_vms=_failed_vms(service, caller, report),
        foreign_vms=foreign_vms(service, caller),
        queue=_queue(service, caller),
        intake=intake_response(service),
        provisioning=provisioning_problems(service, caller),
        lanes=_timelines(report, caller, since, now),
        money=_credits(service, budget, report, now),
        costs_by_day=[
            DailyMeterCosts(
                day=day, cost_usd=sum(by_meter.values(), Decimal(0)), meters=meter_costs(by_meter)
            )
            for day, by_meter in report.by_day.items()
        ],
        costs_by_user=[
            UserCost(user=owner, cost_usd=amount)
            for owner, amount in report.by_owner.items()
            if caller.may_see(owner)
        ],
        tasks=_task_summary(report, budget),
        latencies_s=Latencies.model_validate(
            {name: asdict(latency) for name, latency in report.latencies.items()}
        ),
    )


def _failed_vms(service: ServiceContext, caller: Caller, report: OperationsReport) -> list[VmResponse]:
    failed = [vm for vm in reversed(report.vms) if vm.state is VMState.FAILED][:_FAILED_VMS]
    billed_usd = {vm.id: Decimal(0) for vm in failed}
    for entry in report.entries:
        if entry.vm_id in billed_usd:
            billed_usd[entry.vm_id] += entry.amount_usd
    return [vm_response(service, caller, vm, billed_usd[vm.id], []) for vm in failed]


@router.get(
    "/stream", response_class=Response, responses={200: CHANGE_STREAM, **error_responses_for(422, 429)}
)
async def stream_changes(
    service: ServiceDep,
    caller: CallerDep,
    streams: StreamsDep,
    limit: Annotated[
        int | None, Query(ge=1, le=1_000_000, description="End the stream after this many events.")
    ] = None,
) -> Response:
    """Stream a small event immediately and after every change; `/operations` returns the new figures."""
    return EventStream(_changes(service, limit), place=streams.open(caller))


async def _changes(service: ServiceContext, limit: int | None) -> AsyncIterator[StoredEvent]:
    """Yield an event whenever the state differs from the last one that was sent."""
    changes, sent, number = service.log.changes, None, 0
    while not changes.closed and number != limit:
        count = changes.count
        state = _state(service)
        if state != sent:
            sent, number = state, number + 1
            spent_usd = round_dollars(service.orchestrator.budget_status().spent_usd)
            yield StoredEvent(
                submission_id="",
                id=number,
                time=service.clock.now(),
                fields={"status": "CHANGED", **state, "spent_usd": spent_usd},
            )
            if number == limit:
                return
        await asyncio.sleep(_MIN_INTERVAL_S)
        await changes.wait_beyond(count)


def _state(service: ServiceContext) -> dict[str, Any]:
    """Return the fields whose changes trigger an event.

    Costs change continuously, so they are not included.
    """
    pool = service.orchestrator.pool()
    return {
        "pool": dict(Counter(vm.state.value for vm in pool)),
        "queue_length": service.orchestrator.queue_length(),
        "tasks_done": {vm.id: vm.tasks_done for vm in pool},
        "deadlines": {vm.id: isoformat(vm.deadline_at) for vm in pool if vm.deadline_at is not None},
        "provisioning": {
            problem.gpu: f"{problem.kind} {problem.failures}"
            for problem in service.orchestrator.provisioning_problems()
        },
        "intake": service.orchestrator.intake.state.mode.value,
        "draining": sorted(vm.id for vm in pool if vm.draining),
        "alerted": service.orchestrator.budget_status().alert_sent,
    }


def _queue(service: ServiceContext, caller: Caller) -> QueueResponse:
    first = service.orchestrator.waiting(_LISTED_QUEUE_ENTRIES)
    return QueueResponse(
        length=service.orchestrator.queue_length(),
        items=[_queue_entry(position, submission, caller) for position, submission in enumerate(first)],
    )


def _queue_entry(position: int, submission: Submission, caller: Caller) -> QueueEntry:
    if not caller.may_see(submission.owner):
        return QueueEntry(position=position, since=submission.created_at)
    return QueueEntry(
        position=position,
        since=submission.created_at,
        submission_id=submission.id,
        user=submission.owner,
        problem=submission.problem,
        endpoint=Endpoint(submission.endpoint),
    )


def _timelines(
    report: OperationsReport, caller: Caller, since: float, now: float
) -> list[VmTimelineResponse]:
    entries: dict[str, list[LedgerEntry]] = {}
    for entry in report.entries:
        entries.setdefault(entry.vm_id, []).append(entry)
    running: dict[str, list[RunningAttempt]] = {}
    for attempt in report.running:
        running.setdefault(attempt.vm_id, []).append(attempt)
    return [
        VmTimelineResponse(
            vm_id=vm.id,
            gpu_type=vm.gpu,
            state=vm.state,
            simulated=vm.simulated,
            pieces=[
                _segment(segment, caller)
                for segment in vm_timeline(
                    vm, entries.get(vm.id, []), running.get(vm.id, []), since=since, now=now
                )
            ],
        )
        for vm in report.vms
    ]


def _segment(segment: TimelineSegment, caller: Caller) -> TimelineSegmentResponse:
    return TimelineSegmentResponse(
        meter=segment.meter,
        started_at=segment.started_at,
        ended_at=segment.ended_at,
        open=segment.is_open,
        submission_id=segment.submission_id if caller.may_see(segment.owner) else None,
    )


def _credits(
    service: ServiceContext, budget: BudgetStatus, report: OperationsReport, now: float
) -> CreditsResponse:
    billed = [vm for vm in service.orchestrator.pool() if vm.started_at is not None]
    threshold = Decimal(str(service.current_settings.alert_threshold))
    rates_usd = (billing_of(service.provider, vm).rate_usd_per_h for vm in billed)
    return CreditsResponse(
        credits_usd=budget.credits_usd,
        spent_usd=budget.spent_usd,
        reserved_usd=budget.reserved_usd,
        remaining_usd=max(Decimal(0), budget.remaining_usd),
        burn_usd_per_h=sum(rates_usd, start=Decimal(0)),
        alert_at_usd=budget.credits_usd * (1 - threshold),
        alerted=budget.alert_sent,
        burn_down=_burn_down(report, budget, now),
    )


def _burn_down(report: OperationsReport, budget: BudgetStatus, now: float) -> list[BurnDownPoint]:
    """Return the remaining credits before the first billed hour and at the end of every billed hour."""
    by_hour = report.by_hour
    billed_before_usd = report.billed_usd - sum(by_hour.values(), Decimal(0))
    left_usd = budget.credits_usd - billed_before_usd
    points = [(hour_end - _HOUR_S, left_usd) for hour_end in list(by_hour)[:1]]
    for hour_end, amount in by_hour.items():
        left_usd -= amount
        points.append((min(hour_end, now), left_usd))
    points.append((now, budget.remaining_usd))
    return [BurnDownPoint(time=at, remaining_usd=max(Decimal(0), left)) for at, left in points]


def _task_summary(report: OperationsReport, budget: BudgetStatus) -> TaskSummary:
    totals, costs = report.totals, report.task_costs_usd
    completed = totals.tasks_completed
    return TaskSummary(
        completed=completed,
        cold_starts=totals.cold_starts,
        warm_reuses=totals.warm_reuses,
        cost_usd=budget.spent_usd / completed if completed else None,
        cold_cost_usd=costs.get(True),
        warm_cost_usd=costs.get(False),
    )
