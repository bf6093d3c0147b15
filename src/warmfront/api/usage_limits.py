"""Limits per user: quotas of submissions and X-rays, and the daily caps on spending."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.money.caps import DAY_S, DailyCaps
from warmfront.quota import Quota

if TYPE_CHECKING:
    from warmfront.api.auth import Caller
    from warmfront.api.context import ServiceContext
    from warmfront.errors import BudgetExceeded
    from warmfront.settings import Settings

_MINUTE_S = 60


def submission_quotas(settings: Settings) -> list[Quota]:
    """Return the quotas that every submission counts against."""
    return [
        Quota(
            kind="submit-minute",
            window_s=_MINUTE_S,
            limit=settings.rate_limit_per_min,
            noun="submissions per minute",
            variable="WARMFRONT_RATE_LIMIT",
        ),
        Quota(
            kind="submit-day",
            window_s=DAY_S,
            limit=settings.daily_submissions,
            noun="submissions per day",
            variable="WARMFRONT_DAILY_SUBMISSIONS",
        ),
    ]


async def consume_xray_quota(service: ServiceContext, caller: Caller) -> None:
    """Count an X-ray against the quota of its owner, because it occupies a core for a moment."""
    quota = Quota(
        kind="xray-minute",
        window_s=_MINUTE_S,
        limit=service.settings.rate_limit_per_min,
        noun="X-rays per minute",
        variable="WARMFRONT_RATE_LIMIT",
    )
    await service.store.consume_quota(caller.user, service.clock.now(), [quota])


def daily_caps(service: ServiceContext, caller: Caller) -> DailyCaps | None:
    """Return the daily caps on the caller's spending; None if there are none."""
    return DailyCaps.for_user(service.settings, caller.user, caller.team)


async def exceeded_cap(service: ServiceContext, caller: Caller) -> BudgetExceeded | None:
    """Return the error of the daily cap that the caller has used up; None if there is none."""
    caps = daily_caps(service, caller)
    if caps is None:
        return None
    now = service.clock.now()
    return caps.exceeded(await service.store.spent_today(caller.user, caller.team, now), now)
