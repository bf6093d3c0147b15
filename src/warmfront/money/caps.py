"""Daily caps on spending, on top of the credits: per user, per team, for the whole service.

A cap is checked when a submission is created. What already runs continues: the escrow protects the credits.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from warmfront.errors import BudgetExceeded

if TYPE_CHECKING:
    from warmfront.settings import Settings
    from warmfront.store.records import DailySpending

DAY_S = 86_400


@dataclass(frozen=True, kw_only=True)
class Cap:
    """One cap, and how much of it is used."""

    subject: str  #: the owner of the cap, such as `Team kernels`
    limit_usd: Decimal
    spent_usd: Decimal
    variable: str  #: the setting that an operator can raise

    @property
    def left_usd(self) -> Decimal:
        """Dollars that may still be spent today."""
        return max(Decimal(0), self.limit_usd - self.spent_usd)


@dataclass(frozen=True, kw_only=True)
class DailyCaps:
    """The caps that apply to one user; None: no cap."""

    user: str
    team: str | None
    user_limit_usd: Decimal | None
    team_limit_usd: Decimal | None
    total_limit_usd: Decimal | None

    @classmethod
    def for_user(cls, settings: Settings, user: str, team: str | None) -> DailyCaps | None:
        """Return the caps that the operator has set for a user; None if there are none."""
        caps = cls(
            user=user,
            team=team,
            user_limit_usd=settings.daily_budget_usd,
            team_limit_usd=settings.team_daily_budget_usd if team is not None else None,
            total_limit_usd=settings.total_daily_budget_usd,
        )
        limits = (caps.user_limit_usd, caps.team_limit_usd, caps.total_limit_usd)
        return caps if any(limit is not None for limit in limits) else None

    def used(self, spending: DailySpending) -> list[Cap]:
        """Return every cap with what is used of it today."""
        entries = [
            (self.user, self.user_limit_usd, spending.user_usd, "WARMFRONT_DAILY_BUDGET"),
            (f"Team {self.team}", self.team_limit_usd, spending.team_usd, "WARMFRONT_TEAM_DAILY_BUDGET"),
            ("The service", self.total_limit_usd, spending.total_usd, "WARMFRONT_TOTAL_DAILY_BUDGET"),
        ]
        return [
            Cap(subject=subject, limit_usd=limit_usd, spent_usd=spent_usd, variable=variable)
            for subject, limit_usd, spent_usd, variable in entries
            if limit_usd is not None
        ]

    def exceeded(self, spending: DailySpending, now: float) -> BudgetExceeded | None:
        """Return the error for the first cap that is used up; None if all have something left."""
        cap = next((cap for cap in self.used(spending) if not cap.left_usd), None)
        if cap is None:
            return None
        wait_min = int((DAY_S - now % DAY_S) // 60) + 1
        return BudgetExceeded(
            f"Daily cap reached: {cap.subject} has spent ${cap.spent_usd:.4f} of ${cap.limit_usd:.2f} "
            f"per day. The cap resets at midnight UTC, in {wait_min // 60} h {wait_min % 60} min.",
            hint=f"An operator can raise {cap.variable}.",
        )

    def check(self, spending: DailySpending, now: float) -> None:
        """Raise `BudgetExceeded` if a cap is used up."""
        if error := self.exceeded(spending, now):
            raise error
