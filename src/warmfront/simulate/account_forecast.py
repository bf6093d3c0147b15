"""Forecast and compare the costs of one account by replaying its own arrivals.

This module runs as a separate process, so that the service stays responsive. It reads a request as JSON from
stdin and writes the result as JSON to stdout. It does not open a database.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from warmfront.money import forecast
from warmfront.money.billing import Billing
from warmfront.settings import Settings
from warmfront.simulate.arrival_traces import DAY_S, workday
from warmfront.simulate.comparison import BEST, Conditions, Policy, compare
from warmfront.simulate.recorded_arrivals import to_trace_time
from warmfront.simulate.replay import ReplayConfig, replay
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: The default paces, in submissions per day.
PACES = (10.0, 50.0, 200.0)
#: The number of days that the forecast in dollars covers.
MONTH_DAYS = 30
#: The number of generated days that are replayed for a pace: four of each weekday.
_REPLAYED_DAYS = 28
#: With fewer arrivals than this, generated arrivals are used instead of the account's own.
_MIN_ARRIVALS = 50
#: A longer gap between arrivals separates two sessions.
_SESSION_GAP_S = 900.0
_WEEK_S = 7 * DAY_S


@dataclass(frozen=True, kw_only=True)
class Account:
    """The input of a forecast or a what-if: an account's history, settings and prices."""

    arrivals_at: list[float]  #: seconds since 1970, of full days only
    days: int  #: the number of full days that the arrivals cover
    credits_usd: float  #: remaining
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
        """Return the settings of a replay."""
        return Settings(
            keep_warm=self.keep_warm,
            idle_timeout_s=self.idle_timeout_s,
            wait_value_usd_per_h=self.wait_value_usd_per_h,
            max_vms=self.max_vms,
        )

    def billing(self) -> Billing:
        """Return the billing model of the account's provider."""
        return Billing(
            rate_usd_per_h=Decimal(self.rate_usd_per_h),
            granularity_s=self.granularity_s,
            minimum_s=self.minimum_s,
        )

    def replay_config(self) -> ReplayConfig:
        """Return the configuration of a replay with the account's current policy."""
        return ReplayConfig(
            settings=self.settings(), billing=self.billing(), boot_s=self.boot_s, task_s=self.task_s
        )


def forecasts(account: Account, paces: Sequence[float] = PACES) -> list[dict[str, Any]]:
    """Forecast a month's cost and how long the credits last, at the current pace and at the given paces.

    The current pace is left out if the account has too little history.
    """
    own = to_trace_time(account.arrivals_at).at_s
    rows = []
    if own.size and account.days >= forecast.MIN_DAYS:
        rows.append(_forecast(account, own, account.days, "its own arrivals", own.size / account.days))
    for pace in paces:
        if own.size >= _MIN_ARRIVALS:
            arrivals, source = (
                resampled(own, account.days, pace, _REPLAYED_DAYS),
                "its own arrivals, resampled",
            )
        else:
            arrivals, source = workday(pace, _REPLAYED_DAYS, 1), "generated working days"
        rows.append(_forecast(account, arrivals, _REPLAYED_DAYS, source, pace))
    return rows


def _forecast(
    account: Account, arrivals_s: NDArray[np.float64], days: int, source: str, per_day: float
) -> dict[str, Any]:
    first = int(arrivals_s[0] // DAY_S) if arrivals_s.size else 0
    result = replay(arrivals_s, account.replay_config())
    spent = [float(usd) for usd in result.usd_by_day][first : first + days]
    daily = spent + [0.0] * (days - len(spent))
    month = forecast.cost_of_next_days(daily, MONTH_DAYS)
    lasts = forecast.days_until_exhausted(daily, account.credits_usd)
    return {
        "tasks_per_day": round(per_day, 2),
        "source": source,
        "month_usd": None if month is None else asdict(month),
        "lasts_days": None if lasts is None else asdict(lasts),
        "wait_mean_s": round(float(result.waited_s.mean()), 1) if result.waited_s.size else 0.0,
    }


def resampled(own_s: NDArray[np.float64], days: int, per_day: float, ahead: int) -> NDArray[np.float64]:
    """Generate arrivals at another pace: bootstrap the account's sessions, keeping weekday and hour.

    Args:
        own_s: the account's arrivals, in trace time.
        days: the number of days that they cover.
        per_day: the mean number of arrivals per day to generate.
        ahead: the number of days to generate.
    """
    random = np.random.default_rng(1)
    boundaries = np.flatnonzero(np.diff(own_s) > _SESSION_GAP_S) + 1
    sessions = np.split(own_s, boundaries)
    mean_count = len(sessions) / days * ahead * per_day / (own_s.size / days)
    drawn = random.integers(len(sessions), size=random.poisson(mean_count))
    weeks = random.integers(max(1, ahead // 7), size=drawn.size)
    jitters_s = random.normal(
        0.0, _SESSION_GAP_S, size=drawn.size
    )  # no two sessions begin in the same second
    arrivals = [
        sessions[index] - sessions[index][0] + sessions[index][0] % _WEEK_S + week * _WEEK_S + jitter_s
        for index, week, jitter_s in zip(drawn, weeks, jitters_s, strict=True)
    ]
    arrivals_s = np.sort(np.concatenate([np.empty(0), *arrivals]))
    return arrivals_s[(arrivals_s >= 0) & (arrivals_s < ahead * DAY_S)]


def what_if(account: Account) -> list[dict[str, Any]]:
    """Return the cost of the account's arrivals under each policy, and the optimum.

    The policies are the default idle timeout, the one that is in force if it is another, and `adaptive`.
    """
    conditions = Conditions(
        max_vms=account.max_vms, boot_s=account.boot_s, task_s=account.task_s, billing=account.billing()
    )
    timeouts_s = sorted({Settings().idle_timeout_s, account.idle_timeout_s})
    policies = [
        *(Policy(name=f"fixed {_span(idle_s)}", keep_warm="fixed", idle_s=idle_s) for idle_s in timeouts_s),
        Policy(name="adaptive", keep_warm="adaptive"),
    ]
    rows = compare(
        to_trace_time(account.arrivals_at).at_s,
        settings=account.settings(),
        policies=policies,
        all_conditions=[conditions],
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


def _span(seconds: float) -> str:
    """Format an idle timeout, such as `10 minutes`."""
    for unit, unit_s in (("hour", 3600), ("minute", 60)):
        if seconds % unit_s == 0 and seconds > 0:
            count = int(seconds // unit_s)
            return f"{count} {unit}" if count == 1 else f"{count} {unit}s"
    return f"{seconds:g} s"


def main() -> None:
    """Process one request."""
    os.nice(10)  # requests to the service have priority
    request = json.load(sys.stdin)
    account = Account(**request["account"])
    if request["what"] == "forecast":
        json.dump(forecasts(account, request["paces"]), sys.stdout)
    else:
        json.dump(what_if(account), sys.stdout)


if __name__ == "__main__":
    main()
