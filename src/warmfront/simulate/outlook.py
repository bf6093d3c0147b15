"""Looks ahead and sideways from an account's own arrivals: what is to come, and what another policy had cost.

It runs as a process of its own, so that a service that asks goes on serving: a request as JSON on stdin, the
answer as JSON on stdout. It reads no store and changes nothing.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from warmfront.money import forecast
from warmfront.money.billing import Billing
from warmfront.settings import Settings
from warmfront.simulate.arrivals import on_a_traces_clock
from warmfront.simulate.compare import BEST, Case, Policy, compare
from warmfront.simulate.replay import Plan, replay
from warmfront.simulate.traces import DAY_S, workday

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: The paces that are always shown, in tasks a day.
PACES = (10.0, 50.0, 200.0)
#: Days ahead that dollars are told for.
MONTH_DAYS = 30
#: Days of made-up arrivals that a pace is replayed with; enough for weekdays to be told apart.
_REPLAYED_DAYS = 28
#: Fewer arrivals than this do not show how an account's days go.
_ENOUGH = 50
#: A longer gap ends a session of one who iterates.
_SESSION_GAP_S = 900.0
_WEEK_S = 7 * DAY_S


@dataclass(frozen=True, kw_only=True)
class Account:
    """All that is known of an account."""

    arrivals_at: list[float]  #: seconds since 1970, of full days only
    days: int  #: how many full days these are
    credits_usd: float  #: that are left
    keep_warm: str
    idle_timeout_s: float
    wait_value_usd_per_h: float
    max_vms: int
    boot_s: float
    task_s: float
    rate_usd_per_h: str
    granularity_s: float = 0.0
    minimum_s: float = 0.0

    def settings(self) -> Settings:
        """Those that a replay needs."""
        return Settings(
            keep_warm=self.keep_warm,
            idle_timeout_s=self.idle_timeout_s,
            wait_value_usd_per_h=self.wait_value_usd_per_h,
            max_vms=self.max_vms,
        )

    def billing(self) -> Billing:
        """How its provider bills."""
        return Billing(
            rate_usd_per_h=Decimal(self.rate_usd_per_h),
            granularity_s=self.granularity_s,
            minimum_s=self.minimum_s,
        )

    def plan(self) -> Plan:
        """How it works now."""
        return Plan(settings=self.settings(), billing=self.billing(), boot_s=self.boot_s, task_s=self.task_s)


def forecasts(account: Account, paces: Sequence[float] = PACES) -> list[dict[str, Any]]:
    """A month's dollars and how long the credits last, at the present pace, if there is one, and at these."""
    own = on_a_traces_clock(account.arrivals_at).at_s
    found = []
    if own.size and account.days >= forecast.LEAST_DAYS:
        found.append(_forecast(account, own, account.days, "its own arrivals", own.size / account.days))
    for pace in paces:
        if own.size >= _ENOUGH:
            arrivals, source = (
                resampled(own, account.days, pace, _REPLAYED_DAYS),
                "its own arrivals, resampled",
            )
        else:
            arrivals, source = workday(pace, _REPLAYED_DAYS, 1), "made-up working days"
        found.append(_forecast(account, arrivals, _REPLAYED_DAYS, source, pace))
    return found


def _forecast(
    account: Account, arrivals_s: NDArray[np.float64], days: int, source: str, per_day: float
) -> dict[str, Any]:
    first = int(arrivals_s[0] // DAY_S) if arrivals_s.size else 0
    outcome = replay(arrivals_s, account.plan())
    spent = [float(usd) for usd in outcome.usd_by_day][first : first + days]
    daily = spent + [0.0] * (days - len(spent))
    month, lasts = forecast.coming(daily, MONTH_DAYS), forecast.lasts_days(daily, account.credits_usd)
    return {
        "tasks_per_day": round(per_day, 2),
        "source": source,
        "month_usd": None if month is None else asdict(month),
        "lasts_days": None if lasts is None else asdict(lasts),
        "wait_mean_s": round(float(outcome.waited_s.mean()), 1) if outcome.waited_s.size else 0.0,
    }


def resampled(own_s: NDArray[np.float64], days: int, per_day: float, ahead: int) -> NDArray[np.float64]:
    """Arrivals like these, at another pace: the account's own sessions, at the hours that they have."""
    chance = np.random.default_rng(1)
    cuts = np.flatnonzero(np.diff(own_s) > _SESSION_GAP_S) + 1
    sessions = np.split(own_s, cuts)
    wanted = len(sessions) / days * ahead * per_day / (own_s.size / days)
    drawn = chance.integers(len(sessions), size=chance.poisson(wanted))
    weeks = chance.integers(max(1, ahead // 7), size=drawn.size)
    moved = chance.normal(0.0, _SESSION_GAP_S, size=drawn.size)  # nobody begins twice at the same second
    arrivals = [
        sessions[which] - sessions[which][0] + sessions[which][0] % _WEEK_S + week * _WEEK_S + by
        for which, week, by in zip(drawn, weeks, moved, strict=True)
    ]
    found = np.sort(np.concatenate([np.empty(0), *arrivals]))
    return found[(found >= 0) & (found < ahead * DAY_S)]


def what_if(account: Account) -> list[dict[str, Any]]:
    """What these arrivals cost with each policy, and at best."""
    case = Case(
        max_vms=account.max_vms, boot_s=account.boot_s, task_s=account.task_s, billing=account.billing()
    )
    idle_s = Settings().idle_timeout_s
    policies = [
        Policy(name=f"fixed {idle_s / 60:.0f} minutes", keep_warm="fixed", idle_s=idle_s),
        Policy(name="adaptive", keep_warm="adaptive"),
    ]
    rows = compare(
        on_a_traces_clock(account.arrivals_at).at_s,
        settings=account.settings(),
        policies=policies,
        cases=[case],
        wait_usd_per_h=account.wait_value_usd_per_h,
    )
    return [
        {
            "policy": row.policy,
            "best": row.policy == BEST,
            "usd": float(row.usd),
            "wait_mean_s": row.mean_s,
            "cold_starts": row.cold_starts,
            "cost_usd": row.cost_usd,
        }
        for row in rows
    ]


def main() -> None:
    """Answer one request."""
    os.nice(10)  # whoever is served goes first
    request = json.load(sys.stdin)
    account = Account(**request["account"])
    if request["what"] == "forecast":
        json.dump(forecasts(account, request["paces"]), sys.stdout)
    else:
        json.dump(what_if(account), sys.stdout)


if __name__ == "__main__":
    main()
