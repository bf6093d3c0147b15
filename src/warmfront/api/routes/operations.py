"""The routes of the whole service at a glance, and of when to look again. They only read.

Whoever has a key sees the pool and the money; what belongs to other users, operators alone.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import asdict
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from warmfront.api import models, serialization, timeline
from warmfront.api import operations_models as forms
from warmfront.api.deps import CallerDep, ServiceDep
from warmfront.api.event_stream import EventStream
from warmfront.api.openapi import CHANGE_STREAM, error_responses_for
from warmfront.api.routes import vms as vm_routes
from warmfront.api.validation import DAY_S
from warmfront.store import attempts, counts, ledger, vms
from warmfront.store.records import StoredEvent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from sqlalchemy import Connection

    from warmfront.api.auth import Caller
    from warmfront.api.context import ServiceContext
    from warmfront.money.book import Money
    from warmfront.store.records import LedgerEntry
    from warmfront.submission import Submission

router = APIRouter(prefix="/operations", tags=["figures"])

_HOUR_S = 3600
_SHOWN_VMS = 50
_SHOWN_DAYS = 31
_SHOWN_WAITING = 50

#: Changes that come together are told together: twice a second is live to the eye.
_PAUSE_S = 0.5


@router.get("", responses=error_responses_for(422))
async def operations(
    service: ServiceDep,
    caller: CallerDep,
    hours: Annotated[int, Query(ge=1, le=24, description="How far back the lanes go.")] = 24,
) -> forms.Operations:
    """VMs, queue, lanes and money at one moment."""
    now = service.clock.now()
    since = now - hours * _HOUR_S
    found = await service.store.read(_figures, now, since)
    alive = {vm.id: vm for vm in service.orchestrator.pool()}
    money = service.orchestrator.money()
    return forms.Operations(
        now=serialization.iso(now),
        since=serialization.iso(since),
        simulated=service.provider.simulated,
        everyone=caller.is_operator,
        vms=[
            vm_routes.view(service, caller, alive.get(vm.id, vm), Decimal(0), found["running"])
            for vm in found["vms"]
            if not vm.state.is_over
        ],
        queue=_queue(service, caller),
        lanes=_lanes(found, caller, since, now),
        money=_credits(service, money, found, now),
        costs_by_day=[_day(day, by_meter) for day, by_meter in found["by_day"].items()],
        costs_by_user=[
            forms.UserCost(user=owner, cost_usd=serialization.dollars(amount))
            for owner, amount in found["by_owner"].items()
            if caller.may_see(owner)
        ],
        tasks=_tasks(found, money),
        latencies_s=found["latencies"],
    )


@router.get("/stream", response_class=Response, responses={200: CHANGE_STREAM, **error_responses_for(422)})
async def stream(
    service: ServiceDep,
    limit: Annotated[int | None, Query(ge=1, le=1_000_000, description="End after so many.")] = None,
) -> Response:
    """A small event now and whenever pool, queue or money changed; what changed is at `/operations`."""
    return EventStream(_changes(service, limit))


async def _changes(service: ServiceContext, limit: int | None) -> AsyncIterator[StoredEvent]:
    """The state of things whenever it is another; changes in quick succession are one."""
    pulse, told, number = service.log.pulse, None, 0
    while not pulse.closed and number != limit:
        seen = pulse.count
        state = _state(service)
        if state != told:
            told, number = state, number + 1
            yield StoredEvent(
                submission_id="",
                id=number,
                time=service.clock.now(),
                fields={"status": "CHANGED", **state, "spent_usd": _spent(service)},
            )
            if number == limit:
                return
        await asyncio.sleep(_PAUSE_S)
        await pulse.after(seen)


def _state(service: ServiceContext) -> dict[str, Any]:
    """What makes a change worth telling. What VMs cost grows all the time, and is none."""
    pool = service.orchestrator.pool()
    return {
        "pool": dict(Counter(vm.state.value for vm in pool)),
        "queue_length": service.orchestrator.queue_length(),
        "tasks_done": {vm.id: vm.tasks_done for vm in pool},
        "deadlines": {vm.id: serialization.iso(vm.deadline_at) for vm in pool if vm.deadline_at is not None},
        "alerted": service.orchestrator.money().alerted,
    }


def _spent(service: ServiceContext) -> float:
    return serialization.dollars(service.orchestrator.money().spent_usd)


def _figures(c: Connection, now: float, since: float) -> dict[str, Any]:
    """All that the store is asked, of one moment."""
    lived = vms.since(c, since, _SHOWN_VMS)
    month = now - _SHOWN_DAYS * DAY_S
    return {
        "vms": lived,
        "running": attempts.running(c),
        "entries": ledger.ended_since(c, [vm.id for vm in lived], since),
        "billed": ledger.total_usd(c),
        "by_hour": ledger.by_hour(c, month),
        "by_day": ledger.by_day_and_meter(c, month),
        "by_owner": ledger.by_owner(c, month),
        "totals": counts.totals(c),
        "task_costs": counts.task_costs_usd(c),
        "latencies": {
            "all": asdict(counts.latencies(c)),
            "cold": asdict(counts.latencies(c, cold=True)),
            "warm": asdict(counts.latencies(c, cold=False)),
        },
    }


def _queue(service: ServiceContext, caller: Caller) -> forms.Queue:
    first = service.orchestrator.waiting(_SHOWN_WAITING)
    return forms.Queue(
        length=service.orchestrator.queue_length(),
        items=[_waiting(position, record, caller) for position, record in enumerate(first)],
    )


def _waiting(position: int, record: Submission, caller: Caller) -> forms.Waiting:
    since = serialization.iso(record.created_at)
    if not caller.may_see(record.owner):
        return forms.Waiting(position=position, since=since)
    return forms.Waiting(
        position=position,
        since=since,
        submission_id=record.id,
        user=record.owner,
        problem=record.problem,
        endpoint=record.endpoint,
    )


def _lanes(found: dict[str, Any], caller: Caller, since: float, now: float) -> list[forms.Lane]:
    entries: dict[str, list[LedgerEntry]] = {}
    for entry in found["entries"]:
        entries.setdefault(entry.vm_id, []).append(entry)
    running = {each.vm_id: each for each in found["running"]}
    return [
        forms.Lane(
            vm_id=vm.id,
            gpu_type=vm.gpu,
            state=vm.state.value,
            simulated=vm.simulated,
            pieces=[
                _piece(piece, caller)
                for piece in timeline.vm_timeline(
                    vm, entries.get(vm.id, []), running.get(vm.id), since=since, now=now
                )
            ],
        )
        for vm in found["vms"]
    ]


def _piece(piece: timeline.TimelineSegment, caller: Caller) -> forms.Piece:
    return forms.Piece(
        meter=piece.meter.value,
        started_at=serialization.iso(piece.started_at),
        ended_at=serialization.iso(piece.ended_at),
        open=piece.is_open,
        submission_id=piece.submission_id if caller.may_see(piece.owner) else None,
    )


def _credits(service: ServiceContext, money: Money, found: dict[str, Any], now: float) -> forms.Credits:
    pool = [vm for vm in service.orchestrator.pool() if vm.started_at is not None]
    threshold = Decimal(str(service.settings.alert_threshold))
    burn = sum((service.provider.billing(vm.gpu).rate_usd_per_h for vm in pool), start=Decimal(0))
    return forms.Credits(
        credits_usd=serialization.dollars(money.credits_usd),
        spent_usd=serialization.dollars(money.spent_usd),
        reserved_usd=serialization.dollars(money.reserved_usd),
        remaining_usd=serialization.dollars(max(Decimal(0), money.remaining_usd)),
        burn_usd_per_h=serialization.dollars(burn),
        alert_at_usd=serialization.dollars(money.credits_usd * (1 - threshold)),
        alerted=money.alerted,
        burn_down=_burn_down(found, money, now),
    )


def _burn_down(found: dict[str, Any], money: Money, now: float) -> list[forms.Left]:
    """What was left at the end of every hour in which something was billed, and before the first."""
    by_hour: dict[float, Decimal] = found["by_hour"]
    billed_before_usd = found["billed"] - sum(by_hour.values(), Decimal(0))
    left_usd = money.credits_usd - billed_before_usd
    points = [(hour_end - _HOUR_S, left_usd) for hour_end in list(by_hour)[:1]]
    for hour_end, amount in by_hour.items():
        left_usd -= amount
        points.append((min(hour_end, now), left_usd))
    points.append((now, money.remaining_usd))
    return [
        forms.Left(time=serialization.iso(at), remaining_usd=serialization.dollars(max(Decimal(0), left)))
        for at, left in points
    ]


def _day(day: str, by_meter: dict[Any, Decimal]) -> forms.Day:
    return forms.Day(
        day=day,
        cost_usd=serialization.dollars(sum(by_meter.values(), Decimal(0))),
        meters=[
            models.MeterCost(meter=meter.value, cost_usd=serialization.dollars(amount))
            for meter, amount in by_meter.items()
        ],
    )


def _tasks(found: dict[str, Any], money: Money) -> forms.Tasks:
    totals, costs = found["totals"], found["task_costs"]
    done = totals.tasks_completed
    return forms.Tasks(
        completed=done,
        cold_starts=totals.cold_starts,
        warm_reuses=totals.warm_reuses,
        cost_usd=serialization.dollars(money.spent_usd / done) if done else None,
        cold_cost_usd=serialization.dollars(costs[True]) if True in costs else None,
        warm_cost_usd=serialization.dollars(costs[False]) if False in costs else None,
    )
