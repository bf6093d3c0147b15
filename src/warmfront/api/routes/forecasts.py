"""Forecasts and what-if comparisons, by simulation.

Simulations run one at a time in a separate process, and their results are cached, so the service stays
responsive. Amounts that were actually spent come from the ledger.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import asdict, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, cast

from fastapi import APIRouter, Depends, Query, Request

from warmfront.api.auth import Caller
from warmfront.api.deps import CallerDep, ServiceDep
from warmfront.api.openapi import error_responses_for
from warmfront.errors import SimulationFailed
from warmfront.money import forecast
from warmfront.orchestrator.adaptive import MIN_ARRIVALS, MIN_PERIOD_S
from warmfront.roles import Role
from warmfront.value_class import dataclass
from warmfront.wire.forecasts import (
    Estimate,
    ForecastResponse,
    PaceForecast,
    PaceForecastListResponse,
    PolicyCost,
    WhatIfResponse,
)

if TYPE_CHECKING:
    from decimal import Decimal

    from warmfront.api.context import ServiceContext

router = APIRouter(tags=["operations"])

_DAY_S = 86_400
#: A forecast uses the last eight weeks of full days.
_HISTORY_DAYS = 56
#: Simulating more arrivals than this would take minutes.
_MAX_ARRIVALS = 20_000
#: The default paces, in tasks per day.
_PACES = (10.0, 50.0, 200.0)
#: How long a simulation's result is cached.
_CACHE_S = 600.0
#: How long it is cached after its input has changed: each simulation occupies a core for seconds.
_CHANGED_CACHE_S = 20.0
#: A simulation that takes longer is aborted.
_TIMEOUT_S = 300.0
#: A smaller difference between two policies is not explained.
_CENT_USD = 0.005
#: The local provider's VMs boot almost instantly, so its forecasts use a cloud's typical times instead.
_CLOUD_BOOT_S, _CLOUD_TASK_S = 450.0, 30.0


@dataclass(frozen=True, kw_only=True)
class CachedSimulation:
    """The result of a simulation, with its input."""

    at: float
    request: dict[str, Any]
    result: Any


def _min_age_s(cached: dict[str, Any], request: dict[str, Any]) -> float:
    """Return the age at which a result is recomputed: less if arrivals or limits have changed."""
    facts = ("arrivals_at", "keep_warm", "idle_timeout_s", "wait_value_usd_per_h", "max_vms")
    changed = any(cached["account"][name] != request["account"][name] for name in facts)
    return _CHANGED_CACHE_S if changed else _CACHE_S


@dataclass(kw_only=True)
class Simulations:
    """A queue that runs simulations one at a time, with a cache of their results."""

    _cache: dict[str, CachedSimulation] = field(default_factory=dict)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def run(self, request: dict[str, Any], now: float) -> Any:  # noqa: ANN401 - JSON
        """Return the result of a simulation, which may be some minutes old."""
        key = f"{request['what']} {request.get('paces')}"
        async with self._lock:
            cached = self._cache.get(key)
            if cached is not None and 0 <= now - cached.at < _min_age_s(cached.request, request):
                return cached.result
            result = await _simulate(request)
            self._cache[key] = CachedSimulation(at=now, request=request, result=result)
            return result


async def _simulations(request: Request) -> Simulations:
    return cast("Simulations", request.app.state.simulations)


#: The simulations of this service.
SimulationsDep = Annotated[Simulations, Depends(_simulations)]


async def _simulate(request: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "warmfront.simulate.account_forecast"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            stdout, stderr = await process.communicate(json.dumps(request).encode())
    except TimeoutError:
        raise SimulationFailed(f"The simulation took longer than {_TIMEOUT_S:.0f} s.") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        last_line = stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise SimulationFailed(
            f"The simulation failed: {''.join(last_line)}", hint="This is a bug. Report it to the operator."
        )
    return json.loads(stdout)


@router.get("/forecast", responses=error_responses_for(422))
async def get_forecasts(
    *,
    service: ServiceDep,
    caller: CallerDep,
    simulations: SimulationsDep,
    tasks_per_day: Annotated[
        float | None,
        Query(gt=0, le=500, description="A pace to use instead of the default paces.", examples=[25]),
    ] = None,
) -> PaceForecastListResponse:
    """Forecast how long the credits last at the current pace and at others. For operators."""
    _require_operator(caller)
    now = service.clock.now()
    today = now - now % _DAY_S
    since = history_since(now)
    history = await _history(service, since, today)
    paces = list(_PACES) if tasks_per_day is None else [tasks_per_day]
    account = _account(service, history, days=_full_days(history[0], today))
    rows = await simulations.run({"what": "forecast", "account": account, "paces": paces}, now)
    return PaceForecastListResponse(
        credits_usd=account["credits_usd"], items=[PaceForecast.model_validate(row) for row in rows]
    )


@router.get("/what-if", responses=error_responses_for())
async def get_what_if(service: ServiceDep, caller: CallerDep, simulations: SimulationsDep) -> WhatIfResponse:
    """Compare this month's cost with other policies and with the optimum. For operators."""
    _require_operator(caller)
    now = service.clock.now()
    month = datetime.fromtimestamp(now, UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    since = month.timestamp()
    history = await _history(service, since, now)
    spent_usd = await service.store.spent_since(since)
    rows = []
    if history[0]:
        account = _account(service, history, days=0)
        rows = await simulations.run({"what": "what-if", "account": account}, now)
    return WhatIfResponse(
        since=since,
        tasks=len(history[0]),
        completed=min(len(history[0]), await service.store.completed_since(since)),
        wait_value_usd_per_h=service.current_settings.wait_value_usd_per_h,
        adaptive=adaptive_text(
            [PolicyCost.model_validate(row) for row in rows],
            history[0],
            service.current_settings.wait_value_usd_per_h,
        ),
        spent_usd=spent_usd,
        simulated=service.provider.simulated,
        items=[PolicyCost.model_validate(row) for row in rows],
    )


def adaptive_text(rows: list[PolicyCost], arrivals_at: list[float], wait_usd_per_h: float) -> str:
    """Explain why the adaptive policy costs more than the cheapest other one; empty if it does not."""
    others = [row for row in rows if not row.best and row.policy != "adaptive"]
    adaptive = next((row for row in rows if row.policy == "adaptive"), None)
    if adaptive is None or not others:
        return ""
    cheapest = min(others, key=lambda row: row.usd)
    more_usd = adaptive.usd - cheapest.usd
    if more_usd < _CENT_USD:
        return ""
    start = f"The adaptive policy costs ${more_usd:.2f} more for VMs than {cheapest.policy}"
    saved_s = cheapest.wait_mean_s - adaptive.wait_mean_s
    if adaptive.cost_usd <= cheapest.cost_usd:
        worth = f"worth more than that at ${wait_usd_per_h:g} per hour of waiting"
        return f"{start}, and saves {saved_s:.0f} s of waiting per submission, {worth}."
    period_s = arrivals_at[-1] - arrivals_at[0]
    if len(arrivals_at) < MIN_ARRIVALS or period_s < MIN_PERIOD_S:
        return (
            f"{start}: it has too little history for a forecast ({len(arrivals_at)} submissions in "
            f"{period_s / 3600:.1f} h; it needs {MIN_ARRIVALS} in {MIN_PERIOD_S / 3600:.0f} h). Until then "
            "it keeps every VM until idling has cost as much as a cold start."
        )
    if adaptive.cold_starts < cheapest.cold_starts:
        avoided = cheapest.cold_starts - adaptive.cold_starts
        return (
            f"{start}: it kept VMs for submissions that did not arrive. It avoided {avoided} cold starts, "
            f"which did not save enough waiting at ${wait_usd_per_h:g} per hour."
        )
    return f"{start}: arrivals did not follow the pattern of earlier days, so VMs were kept in vain."


def _require_operator(caller: Caller) -> None:
    # Each simulation occupies a core for seconds.
    caller.require(Role.OPERATOR, "A simulation", hint="GET /api/amd/costs has a forecast for every user.")


def _full_days(arrivals: list[float], today: float) -> int:
    return int((today - arrivals[0] + arrivals[0] % _DAY_S) // _DAY_S) if arrivals else 0


def _account(
    service: ServiceContext, history: tuple[list[float], list[float]], *, days: int
) -> dict[str, Any]:
    """Return the input of `warmfront.simulate.account_forecast`."""
    settings, provider = service.current_settings, service.provider
    arrivals_at, boots_s = history
    budget, billing = service.orchestrator.budget_status(), provider.billing(settings.default_gpu)
    is_measured = not provider.simulated or settings.rehearse
    boot_s = sum(boots_s) / len(boots_s) if boots_s else provider.typical_boot_s(settings.default_gpu)
    task_s = service.orchestrator.quote(settings.default_gpu, "").task_s
    rate_usd = billing.rate_usd_per_h if is_measured else settings.rate_usd_per_h
    return {
        "arrivals_at": arrivals_at,
        "days": days,
        "credits_usd": max(0.0, float(budget.remaining_usd)),
        "keep_warm": settings.keep_warm,
        "idle_timeout_s": settings.idle_timeout_s,
        "wait_value_usd_per_h": settings.wait_value_usd_per_h,
        "max_vms": settings.max_vms,
        "boot_s": boot_s if is_measured else _CLOUD_BOOT_S,
        "task_s": task_s if is_measured else _CLOUD_TASK_S,
        "rate_usd_per_h": str(rate_usd),
        "granularity_s": billing.granularity_s,
        "minimum_s": billing.minimum_s,
    }


def history_since(now: float) -> float:
    """Return the beginning of the first day on which a forecast is based."""
    return now - now % _DAY_S - _HISTORY_DAYS * _DAY_S


def from_ledger(by_day: dict[str, Decimal], now: float, credits_usd: float) -> ForecastResponse | None:
    """Return a forecast from dollars per day, without a simulation; None if there are too few days."""
    today = now - now % _DAY_S
    if not by_day:
        return None
    first = datetime.fromisoformat(min(by_day)).replace(tzinfo=UTC).timestamp()
    days = [first + number * _DAY_S for number in range(int((today - first) // _DAY_S))]
    names = [datetime.fromtimestamp(day, UTC).date().isoformat() for day in days]
    daily = [float(by_day.get(name, 0)) for name in names]
    month, lasts = forecast.cost_of_next_days(daily, 30), forecast.days_until_exhausted(daily, credits_usd)
    if month is None or lasts is None:
        return None
    return ForecastResponse(
        days_seen=len(daily),
        month_usd=Estimate(**asdict(month)),
        lasts_days=Estimate(**asdict(lasts)),
    )


async def _history(service: ServiceContext, since: float, until: float) -> tuple[list[float], list[float]]:
    """Return the arrivals in this interval, and the provisioning times of recent VMs."""
    arrivals, boots_s = await service.store.arrivals_and_boots(_MAX_ARRIVALS)
    return [at for at in arrivals if since <= at < until], boots_s
