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

from warmfront.api import lanes, machines, models, views
from warmfront.api import operations_models as forms
from warmfront.api.admission import DAY_S
from warmfront.api.auth import Who
from warmfront.api.openapi import CHANGE_STREAM, refusals
from warmfront.api.parts import Parts
from warmfront.api.streams import EventStream
from warmfront.store import attempts, counts, ledger, vms
from warmfront.store.records import StoredEvent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from sqlalchemy import Connection

    from warmfront.api.auth import Caller
    from warmfront.api.service import Service
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


@router.get("", responses=refusals(422))
async def operations(
    parts: Parts,
    caller: Who,
    hours: Annotated[int, Query(ge=1, le=24, description="How far back the lanes go.")] = 24,
) -> forms.Operations:
    """VMs, queue, lanes and money at one moment."""
    now = parts.clock.now()
    since = now - hours * _HOUR_S
    found = await parts.store.read(_figures, now, since)
    alive = {vm.id: vm for vm in parts.orchestrator.pool()}
    money = parts.orchestrator.money()
    return forms.Operations(
        now=views.iso(now),
        since=views.iso(since),
        simulated=parts.provider.simulated,
        everyone=caller.is_operator,
        vms=[
            machines.view(parts, caller, alive.get(vm.id, vm), Decimal(0), found["running"])
            for vm in found["vms"]
            if not vm.state.is_over
        ],
        queue=_queue(parts, caller),
        lanes=_lanes(found, caller, since, now),
        money=_credits(parts, money, found, now),
        costs_by_day=[_day(day, by_meter) for day, by_meter in found["by_day"].items()],
        costs_by_user=[
            forms.UserCost(user=owner, cost_usd=views.dollars(amount))
            for owner, amount in found["by_owner"].items()
            if caller.may_see(owner)
        ],
        tasks=_tasks(found, money),
        latencies_s=found["latencies"],
    )


@router.get("/stream", response_class=Response, responses={200: CHANGE_STREAM, **refusals(422)})
async def stream(
    parts: Parts,
    limit: Annotated[int | None, Query(ge=1, le=1_000_000, description="End after so many.")] = None,
) -> Response:
    """A small event now and whenever pool, queue or money changed; what changed is at `/operations`."""
    return EventStream(_changes(parts, limit))


async def _changes(parts: Service, limit: int | None) -> AsyncIterator[StoredEvent]:
    """The state of things whenever it is another; changes in quick succession are one."""
    pulse, told, number = parts.log.pulse, None, 0
    while not pulse.closed and number != limit:
        seen = pulse.count
        state = _state(parts)
        if state != told:
            told, number = state, number + 1
            yield StoredEvent(
                submission_id="",
                id=number,
                time=parts.clock.now(),
                fields={"status": "CHANGED", **state, "spent_usd": _spent(parts)},
            )
            if number == limit:
                return
        await asyncio.sleep(_PAUSE_S)
        await pulse.after(seen)


def _state(parts: Service) -> dict[str, Any]:
    """What makes a change worth telling. What VMs cost grows all the time, and is none."""
    pool = parts.orchestrator.pool()
    return {
        "pool": dict(Counter(vm.state.value for vm in pool)),
        "queue_length": parts.orchestrator.queue_length(),
        "tasks_done": {vm.id: vm.tasks_done for vm in pool},
        "deadlines": {vm.id: views.iso(vm.deadline_at) for vm in pool if vm.deadline_at is not None},
        "alerted": parts.orchestrator.money().alerted,
    }


def _spent(parts: Service) -> float:
    return views.dollars(parts.orchestrator.money().spent_usd)


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


def _queue(parts: Service, caller: Caller) -> forms.Queue:
    first = parts.orchestrator.waiting(_SHOWN_WAITING)
    return forms.Queue(
        length=parts.orchestrator.queue_length(),
        items=[_waiting(position, record, caller) for position, record in enumerate(first)],
    )


def _waiting(position: int, record: Submission, caller: Caller) -> forms.Waiting:
    since = views.iso(record.created_at)
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
                for piece in lanes.lane(vm, entries.get(vm.id, []), running.get(vm.id), since=since, now=now)
            ],
        )
        for vm in found["vms"]
    ]


def _piece(piece: lanes.Piece, caller: Caller) -> forms.Piece:
    return forms.Piece(
        meter=piece.meter.value,
        started_at=views.iso(piece.started_at),
        ended_at=views.iso(piece.ended_at),
        open=piece.is_open,
        submission_id=piece.submission_id if caller.may_see(piece.owner) else None,
    )


def _credits(parts: Service, money: Money, found: dict[str, Any], now: float) -> forms.Credits:
    pool = [vm for vm in parts.orchestrator.pool() if vm.started_at is not None]
    threshold = Decimal(str(parts.settings.alert_threshold))
    return forms.Credits(
        credits_usd=views.dollars(money.credits_usd),
        spent_usd=views.dollars(money.spent_usd),
        reserved_usd=views.dollars(money.reserved_usd),
        remaining_usd=views.dollars(max(Decimal(0), money.remaining_usd)),
        burn_usd_per_h=views.dollars(len(pool) * parts.provider.billing.rate_usd_per_h),
        alert_at_usd=views.dollars(money.credits_usd * (1 - threshold)),
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
        forms.Left(time=views.iso(at), remaining_usd=views.dollars(max(Decimal(0), left)))
        for at, left in points
    ]


def _day(day: str, by_meter: dict[Any, Decimal]) -> forms.Day:
    return forms.Day(
        day=day,
        cost_usd=views.dollars(sum(by_meter.values(), Decimal(0))),
        meters=[
            models.MeterCost(meter=meter.value, cost_usd=views.dollars(amount))
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
        cost_usd=views.dollars(money.spent_usd / done) if done else None,
        cold_cost_usd=views.dollars(costs[True]) if True in costs else None,
        warm_cost_usd=views.dollars(costs[False]) if False in costs else None,
    )
