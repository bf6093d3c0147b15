"""Limits per user: quotas (fixed-window rate limits), and daily caps on spending on top of the credits.

The store checks both in the transaction that creates a submission, and the caps again in the one that begins
an attempt. A cap covers the amount spent, the expected cost of unfinished submissions, and the new
submission. Running attempts continue: the escrow protects the credits.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from warmfront.errors import BudgetExceeded, RateLimitExceeded
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from warmfront.settings import Settings

DAY_S = 86_400
_MINUTE_S = 60


@dataclass(frozen=True, kw_only=True)
class Quota:
    """A fixed-window rate limit: at most `limit` uses per window of `window_s` seconds."""

    kind: str  #: its name in the store
    window_s: int
    limit: int
    noun: str  #: what is counted, for messages, such as "submissions per minute"
    variable: str  #: the setting that an operator can raise

    def window_start(self, now: float) -> float:
        """Return the start of the window that contains `now`."""
        return now - now % self.window_s

    def exceeded(self, now: float) -> QuotaExceeded:
        """Return the error for a user who has used up the quota."""
        return QuotaExceeded(self, retry_after_s=int(self.window_start(now) + self.window_s - now) + 1)


class QuotaExceeded(RateLimitExceeded):
    """A quota is used up until its window ends."""

    def __init__(self, quota: Quota, *, retry_after_s: int) -> None:
        super().__init__(
            f"Rate limit exceeded: {quota.limit:,} {quota.noun}. Retry after {retry_after_s} s.",
            hint=f"An operator can raise {quota.variable}.",
        )
        self.quota = quota
        self.retry_after_s = retry_after_s


def submission_quotas(settings: Settings) -> list[Quota]:
    """Return the quotas against which every submission counts."""
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


def xray_quotas(settings: Settings) -> list[Quota]:
    """Return the quotas against which every X-ray counts, because it occupies a core for a moment."""
    return [
        Quota(
            kind="xray-minute",
            window_s=_MINUTE_S,
            limit=settings.rate_limit_per_min,
            noun="X-rays per minute",
            variable="WARMFRONT_RATE_LIMIT",
        )
    ]


@dataclass(frozen=True, kw_only=True)
class DailySpending:
    """Dollars spent since midnight UTC, and the expected cost of unfinished submissions."""

    user_usd: Decimal = Decimal(0)
    team_usd: Decimal = Decimal(0)  #: by all members of the user's team; 0 without a team
    total_usd: Decimal = Decimal(0)  #: by the whole service, including idle VMs
    user_expected_usd: Decimal = Decimal(0)
    team_expected_usd: Decimal = Decimal(0)
    total_expected_usd: Decimal = Decimal(0)
    team_budget_usd: Decimal | None = None  #: the team's own daily budget, which replaces the configured one


@dataclass(frozen=True, kw_only=True)
class Cap:
    """One cap, and how much of it is used."""

    subject: str  #: the owner of the cap, such as `Team kernels`
    limit_usd: Decimal
    spent_usd: Decimal
    expected_usd: Decimal  #: the expected cost of unfinished submissions
    remedy: str  #: how to raise it

    @property
    def left_usd(self) -> Decimal:
        """Dollars that another submission may still cost today."""
        return max(Decimal(0), self.limit_usd - self.spent_usd - self.expected_usd)

    def exceeded(self, cost_usd: Decimal, now: float) -> BudgetExceeded:
        """Return the error for a submission of this cost."""
        wait_min = int((DAY_S - now % DAY_S) // 60) + 1
        digits = 2 if self.limit_usd == round(self.limit_usd, 2) else 4
        parts = [f"{self.subject} has spent ${self.spent_usd:.4f} of ${self.limit_usd:.{digits}f} per day"]
        if self.spent_usd < self.limit_usd:
            parts += [
                f"unfinished submissions are expected to cost ${self.expected_usd:.4f}",
                f"and this one ${cost_usd:.4f}",
            ]
        return BudgetExceeded(
            f"Daily cap reached: {', '.join(parts)}. "
            f"The cap resets at midnight UTC, in {wait_min // 60} h {wait_min % 60} min.",
            hint=self.remedy,
        )


@dataclass(frozen=True, kw_only=True)
class DailyCaps:
    """The caps that apply to one user; None for no cap.

    The team's own budget is not included: it is read with the spending, in the transaction of the check, so
    that a change applies to the next attempt of every member.
    """

    user: str
    team: str | None
    user_limit_usd: Decimal | None
    team_limit_usd: Decimal | None
    total_limit_usd: Decimal | None
    own_limit_usd: Decimal | None = None  #: the user's own budget, which replaces the configured one

    @classmethod
    def for_user(
        cls, settings: Settings, user: str, team: str | None, *, own_limit_usd: Decimal | None = None
    ) -> DailyCaps | None:
        """Return the caps for a user; None if there are none. A member of a team always has caps.

        Args:
            settings: the settings with the operator's caps.
            user: the user.
            team: the team whose cap applies.
            own_limit_usd: the user's own daily budget, set by an admin or an invitation.
        """
        caps = cls(
            user=user,
            team=team,
            own_limit_usd=own_limit_usd,
            user_limit_usd=settings.daily_budget_usd if own_limit_usd is None else own_limit_usd,
            team_limit_usd=settings.team_daily_budget_usd if team is not None else None,
            total_limit_usd=settings.total_daily_budget_usd,
        )
        limits = (caps.user_limit_usd, caps.total_limit_usd)
        return caps if team is not None or any(limit is not None for limit in limits) else None

    def used(self, spending: DailySpending) -> list[Cap]:
        """Return every cap with the amount that is used today."""
        caps = []
        if self.user_limit_usd is not None:
            caps.append(
                Cap(
                    subject=self.user,
                    limit_usd=self.user_limit_usd,
                    spent_usd=spending.user_usd,
                    expected_usd=spending.user_expected_usd,
                    remedy=_remedy("", f"user {self.user}", self.own_limit_usd),
                )
            )
        if (team_limit_usd := self.team_limit(spending)) is not None:
            caps.append(
                Cap(
                    subject=f"Team {self.team}",
                    limit_usd=team_limit_usd,
                    spent_usd=spending.team_usd,
                    expected_usd=spending.team_expected_usd,
                    remedy=_remedy("TEAM_", f"team {self.team}", spending.team_budget_usd),
                )
            )
        if self.total_limit_usd is not None:
            caps.append(
                Cap(
                    subject="The service",
                    limit_usd=self.total_limit_usd,
                    spent_usd=spending.total_usd,
                    expected_usd=spending.total_expected_usd,
                    remedy=_remedy("TOTAL_", "service", None),
                )
            )
        return caps

    def team_limit(self, spending: DailySpending) -> Decimal | None:
        """Return the daily budget of the team: its own, or the configured one; None if there is none."""
        return self.team_limit_usd if spending.team_budget_usd is None else spending.team_budget_usd

    def exceeded(self, spending: DailySpending, cost_usd: Decimal, now: float) -> BudgetExceeded | None:
        """Return the error for the first cap that a submission of this cost would exceed.

        None if there is none.
        """
        for cap in self.used(spending):
            if not cap.left_usd or cost_usd > cap.left_usd:
                return cap.exceeded(cost_usd, now)
        return None

    def check(self, spending: DailySpending, cost_usd: Decimal, now: float) -> None:
        """Raise `BudgetExceeded` if a submission of this cost would exceed a cap."""
        if error := self.exceeded(spending, cost_usd, now):
            raise error


def _remedy(prefix: str, owner: str, own_budget_usd: Decimal | None) -> str:
    """Return how to raise a cap: with a setting, or with the user's own budget, which overrides it."""
    if own_budget_usd is None:
        return f"An operator can raise WARMFRONT_{prefix}DAILY_BUDGET."
    return f"An admin can raise the budget of the {owner}."
