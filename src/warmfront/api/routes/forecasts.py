"""The routes of what is to come and of what might have been: forecasts and other policies, by simulation.

A simulation runs in a process of its own, one at a time, and its answer is kept for a while: the service goes
on serving meanwhile. What was really spent is the ledger's, here as everywhere.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, cast

from fastapi import APIRouter, Depends, Query, Request

from warmfront.api import outlook_models as models
from warmfront.api import serialization
from warmfront.api.auth import Caller
from warmfront.api.deps import CallerDep, ServiceDep
from warmfront.api.openapi import error_responses_for
from warmfront.errors import NotAllowed, SimulationFailed
from warmfront.money import forecast
from warmfront.store import ledger, submissions, vms

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from warmfront.api.context import ServiceContext

router = APIRouter(tags=["figures"])

_DAY_S = 86_400
#: Full days that a forecast looks back on: eight weeks.
_SEEN_DAYS = 56
#: More arrivals than these would take minutes.
_MOST_ARRIVALS = 20_000
#: The paces that are always shown, in tasks a day.
_PACES = (10.0, 50.0, 200.0)
#: An answer is as good as new for this long, and a simulation that takes longer than that is given up.
_KEPT_S = 600.0
_LONGEST_S = 300.0
#: Where VMs boot and cost as on a laptop, those of a cloud are told of.
_CLOUDS_BOOT_S, _CLOUDS_TASK_S = 450.0, 30.0


@dataclass(kw_only=True)
class Simulations:
    """Runs simulations, and keeps what came out."""

    _kept: dict[str, tuple[float, Any]] = field(default_factory=dict)
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def answer(self, request: dict[str, Any], now: float) -> Any:  # noqa: ANN401 - JSON
        """The answer to this request, simulated now or a few minutes ago."""
        name = f"{request['what']} {request.get('paces')}"
        async with self._one_at_a_time:
            made_at, found = self._kept.get(name, (-_KEPT_S, None))
            if not 0 <= now - made_at < _KEPT_S:
                found = await _simulate(request)
                self._kept[name] = (now, found)
            return found


async def _simulations(request: Request) -> Simulations:
    return cast("Simulations", request.app.state.simulations)


#: A route's parameter: the simulations of this service.
Simulated = Annotated[Simulations, Depends(_simulations)]


async def _simulate(request: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "warmfront.simulate.outlook"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(_LONGEST_S):
            told, complaint = await process.communicate(json.dumps(request).encode())
    except TimeoutError:
        raise SimulationFailed(f"The simulation took longer than {_LONGEST_S:.0f} s.") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        last = complaint.decode(errors="replace").strip().splitlines()[-1:]
        raise SimulationFailed(
            f"The simulation failed: {''.join(last)}", hint="It is a bug; the log has more."
        )
    return json.loads(told)


@router.get("/forecast", responses=error_responses_for(422))
async def forecasts(
    *,
    service: ServiceDep,
    caller: CallerDep,
    simulations: Simulated,
    tasks_per_day: Annotated[
        float | None, Query(gt=0, le=500, description="One more pace to tell of.", examples=[25])
    ] = None,
) -> models.Paces:
    """How long the credits last at the present pace and at others, with intervals. For operators."""
    _operators_only(caller)
    now = service.clock.now()
    today = now - now % _DAY_S
    since = today - _SEEN_DAYS * _DAY_S
    seen = await service.store.read(_seen, since, today)
    paces = list(_PACES) if tasks_per_day is None else [tasks_per_day]
    account = _account(service, seen, days=_full_days(seen[0], today))
    told = await simulations.answer({"what": "forecast", "account": account, "paces": paces}, now)
    return models.Paces(
        credits_usd=account["credits_usd"], items=[models.Pace.model_validate(row) for row in told]
    )


@router.get("/what-if", responses=error_responses_for())
async def what_if(service: ServiceDep, caller: CallerDep, simulations: Simulated) -> models.WhatIf:
    """What this month cost, and would have cost with other policies and at best. For operators."""
    _operators_only(caller)
    now = service.clock.now()
    month = datetime.fromtimestamp(now, UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    since = month.timestamp()
    seen = await service.store.read(_seen, since, now)
    spent_usd = await service.store.read(ledger.total_since, since)
    told = []
    if seen[0]:
        account = _account(service, seen, days=0)
        told = await simulations.answer({"what": "what-if", "account": account}, now)
    return models.WhatIf(
        since=serialization.iso(since),
        tasks=len(seen[0]),
        spent_usd=serialization.dollars(spent_usd),
        simulated=service.provider.simulated,
        items=[models.Alternative.model_validate(row) for row in told],
    )


def from_ledger(c: Connection, now: float, credits_usd: float) -> models.Forecast | None:
    """What the ledger's own days say of those to come, without any simulation; None if they are too few."""
    today = now - now % _DAY_S
    by_day = ledger.by_day(c, today - _SEEN_DAYS * _DAY_S)
    if not by_day:
        return None
    first = datetime.fromisoformat(min(by_day)).replace(tzinfo=UTC).timestamp()
    days = [first + number * _DAY_S for number in range(int((today - first) // _DAY_S))]
    names = [datetime.fromtimestamp(day, UTC).date().isoformat() for day in days]
    daily = [float(by_day.get(name, 0)) for name in names]
    month, lasts = forecast.coming(daily, 30), forecast.lasts_days(daily, credits_usd)
    if month is None or lasts is None:
        return None
    return models.Forecast(
        days_seen=len(daily),
        month_usd=models.Range(**asdict(month)),
        lasts_days=models.Range(**asdict(lasts)),
    )


def _operators_only(caller: Caller) -> None:
    if not caller.is_operator:
        raise NotAllowed(
            "A simulation takes a core for a while: it takes an operator's key.",
            hint="GET /api/amd/costs has a forecast for everyone.",
        )


def _seen(c: Connection, since: float, until: float) -> tuple[list[float], list[float]]:
    """When tasks came, and how long VMs of late took to boot."""
    came = [at for at, _ in submissions.arrivals(c, _MOST_ARRIVALS) if since <= at < until]
    boots_s = [vm.ready_at - vm.created_at for vm in vms.recent(c, 50) if vm.ready_at is not None]
    return came, boots_s


def _full_days(came: list[float], today: float) -> int:
    return int((today - came[0] + came[0] % _DAY_S) // _DAY_S) if came else 0


def _account(service: ServiceContext, seen: tuple[list[float], list[float]], *, days: int) -> dict[str, Any]:
    """As `warmfront.simulate.outlook` wants it."""
    settings, provider = service.settings, service.provider
    came, boots_s = seen
    money, billing = service.orchestrator.money(), provider.billing(settings.default_gpu)
    measured = not provider.simulated or settings.rehearse
    boot_s = sum(boots_s) / len(boots_s) if boots_s else provider.typical_boot_s(settings.default_gpu)
    task_s = service.orchestrator.quote(settings.default_gpu, "").task_s
    rate_usd = billing.rate_usd_per_h if measured else settings.rate_usd_per_h
    return {
        "arrivals_at": came,
        "days": days,
        "credits_usd": max(0.0, float(money.remaining_usd)),
        "keep_warm": settings.keep_warm,
        "idle_timeout_s": settings.idle_timeout_s,
        "wait_value_usd_per_h": settings.wait_value_usd_per_h,
        "max_vms": settings.max_vms,
        "boot_s": boot_s if measured else _CLOUDS_BOOT_S,
        "task_s": task_s if measured else _CLOUDS_TASK_S,
        "rate_usd_per_h": str(rate_usd),
        "granularity_s": billing.granularity_s,
        "minimum_s": billing.minimum_s,
    }
