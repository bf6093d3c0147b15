"""Quotas: fixed-window rate limits per user, and the daily budget of a user, a team and the service."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warmfront.api.error_responses import QuotaExceeded
from warmfront.money import caps
from warmfront.store import usage

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from warmfront.api.auth import Caller
    from warmfront.api.context import ServiceContext
    from warmfront.errors import BudgetExceeded
    from warmfront.settings import Settings

DAY_S = 86_400
_MINUTE_S = 60


async def consume_quota(service: ServiceContext, caller: Caller) -> None:
    """Count a submission against the limits of its owner.

    Raises `BudgetExceeded` or `QuotaExceeded` above a limit; nothing is counted then.
    """
    if exceeded := await exceeded_budget(service, caller):
        raise exceeded
    await service.store.write(_take, caller.user, service.clock.now(), _limits(service.settings))


async def exceeded_budget(service: ServiceContext, caller: Caller) -> BudgetExceeded | None:
    """Return the error of the daily budget that the caller has used up; None if there is none."""
    limits = caps.Limits.of(service.settings)
    if not limits.any:
        return None
    now = service.clock.now()
    return caps.refusal(await service.store.read(caps.today, limits, caller.user, caller.team, now), now)


async def consume_xray_quota(service: ServiceContext, caller: Caller) -> None:
    """Count an X-ray against the limit of its owner, because it occupies a core for a moment."""
    limit = replace(_limits(service.settings)[0], kind="xray-minute", what="X-rays per minute")
    await service.store.write(_take, caller.user, service.clock.now(), [limit])


@dataclass(frozen=True, kw_only=True)
class _Limit:
    """A fixed-window rate limit."""

    kind: str  #: its name in the store
    window_s: int
    most: int
    what: str
    variable: str  #: the setting that an operator can change


def _limits(settings: Settings) -> list[_Limit]:
    return [
        _Limit(
            kind="submit-minute",
            window_s=_MINUTE_S,
            most=settings.rate_limit_per_min,
            what="submissions per minute",
            variable="WARMFRONT_RATE_LIMIT",
        ),
        _Limit(
            kind="submit-day",
            window_s=DAY_S,
            most=settings.daily_submissions,
            what="submissions per day",
            variable="WARMFRONT_DAILY_SUBMISSIONS",
        ),
    ]


def _take(c: Connection, user: str, now: float, limits: list[_Limit]) -> None:
    """Count against all limits or none: the exception rolls the transaction back."""
    for limit in limits:
        window_start = now - now % limit.window_s
        if usage.take(c, user, limit.kind, window_start, limit.most) is None:
            wait_s = int(window_start + limit.window_s - now) + 1
            raise QuotaExceeded(
                f"Rate limit exceeded: {limit.most:,} {limit.what} for {user}.",
                retry_after_s=wait_s,
                hint=f"Retry after {wait_s} s; the operator can raise {limit.variable}.",
            )
