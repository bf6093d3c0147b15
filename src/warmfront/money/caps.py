"""What may be spent in a day, on top of the credits: by one user, by one team, by everyone.

A cap is looked at before a submission is taken. What is under way goes on: the escrow sees to the credits.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from warmfront.errors import BudgetExceeded
from warmfront.store import ledger

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from warmfront.settings import Settings

DAY_S = 86_400


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Dollars a day; None: as many as there are."""

    user_usd: Decimal | None
    team_usd: Decimal | None
    total_usd: Decimal | None

    @classmethod
    def of(cls, settings: Settings) -> Limits:
        """Those that the operator has set."""
        return cls(
            user_usd=settings.daily_budget_usd,
            team_usd=settings.team_daily_budget_usd,
            total_usd=settings.total_daily_budget_usd,
        )

    @property
    def any(self) -> bool:
        """Whether there is anything to look at."""
        return any(limit is not None for limit in (self.user_usd, self.team_usd, self.total_usd))


@dataclass(frozen=True, kw_only=True)
class Cap:
    """One limit, and how far it is used."""

    whose: str  #: in words, such as `Team kernels`
    limit_usd: Decimal
    spent_usd: Decimal
    variable: str  #: where an operator sets it

    @property
    def left_usd(self) -> Decimal:
        """What may still be spent."""
        return max(Decimal(0), self.limit_usd - self.spent_usd)


def today(c: Connection, limits: Limits, user: str, team: str | None, now: float) -> list[Cap]:
    """Every cap that this user is under, as it is used since midnight UTC."""
    since = now - now % DAY_S
    found = []
    if limits.user_usd is not None:
        spent_usd = ledger.of_owner_since(c, user, since)
        found.append(_cap(user, limits.user_usd, spent_usd, "WARMFRONT_DAILY_BUDGET"))
    if limits.team_usd is not None and team is not None:
        spent_usd = ledger.of_team_since(c, team, since)
        found.append(_cap(f"Team {team}", limits.team_usd, spent_usd, "WARMFRONT_TEAM_DAILY_BUDGET"))
    if limits.total_usd is not None:
        spent_usd = ledger.total_since(c, since)
        found.append(_cap("The service", limits.total_usd, spent_usd, "WARMFRONT_TOTAL_DAILY_BUDGET"))
    return found


def refusal(caps: Iterable[Cap], now: float) -> BudgetExceeded | None:
    """The first cap that is used up, as it is told; None if all have something left."""
    cap = next((cap for cap in caps if not cap.left_usd), None)
    if cap is None:
        return None
    wait_min = int((DAY_S - now % DAY_S) // 60) + 1
    return BudgetExceeded(
        f"{cap.whose} has spent ${cap.spent_usd:.4f} today of ${cap.limit_usd:.2f} a day; "
        f"${cap.left_usd:.2f} are left until midnight UTC, in {wait_min // 60} h {wait_min % 60} min.",
        hint=f"It begins anew then; an operator can raise {cap.variable}.",
    )


def _cap(whose: str, limit_usd: Decimal, spent_usd: Decimal, variable: str) -> Cap:
    return Cap(whose=whose, limit_usd=limit_usd, spent_usd=spent_usd, variable=variable)
