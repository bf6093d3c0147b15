"""Forecasts, checked against the ledgers of simulated months."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from warmfront.money.billing import Billing
from warmfront.money.forecast import cost_of_next_days, days_until_exhausted
from warmfront.settings import Settings
from warmfront.simulate.account_forecast import Account, forecasts, resampled, what_if
from warmfront.simulate.arrival_traces import DAY_S, TRACES, bursts, workday
from warmfront.simulate.replay import ReplayConfig, replay

ACCOUNT = Account(
    arrivals_at=[],
    days=0,
    credits_usd=1400.0,
    keep_warm="fixed",
    idle_timeout_s=600.0,
    wait_value_usd_per_h=20.0,
    max_vms=1,
    boot_s=450.0,
    task_s=30.0,
    rate_usd_per_h="1.99",
)
MONDAY = 1_799_625_600.0


def covered(name: str, per_day: float, months: int) -> float:
    """Return the share of months whose cost lies in the interval forecast from the sixty days before."""
    config = ReplayConfig(settings=Settings(max_vms=1), billing=Billing(rate_usd_per_h=Decimal("1.99")))
    days = 60 + 30 * months
    daily = [float(usd) for usd in replay(TRACES[name](per_day, days, 11), config).usd_by_day]
    hits = 0
    for month in range(months):
        begin = 30 * month
        forecast = cost_of_next_days(daily[begin : begin + 60], 30)
        assert forecast is not None
        hits += forecast.low <= sum(daily[begin + 60 : begin + 90]) <= forecast.high
    return hits / months


@pytest.mark.slow
@pytest.mark.parametrize("name", ["workday", "bursts"])
def test_the_interval_covers_nine_months_of_ten(name: str) -> None:
    """Of 200 simulated months, 90% to 98% lie in the interval that was forecast."""
    assert 0.90 <= covered(name, 10, 200) <= 0.98


def test_the_interval_covers_most_months() -> None:
    """Of 12 simulated months at least 10 lie in the interval; a short form of the slow test."""
    assert covered("workday", 8, 12) >= 10 / 12


def test_equal_days_give_an_exact_forecast() -> None:
    """If every day costs the same, the interval has no width."""
    forecast = cost_of_next_days([2.0] * 20, 30)
    assert forecast is not None
    assert (forecast.low, forecast.mid, forecast.high) == pytest.approx((60.0, 60.0, 60.0))
    lasts = days_until_exhausted([2.0] * 20, 1400.0)
    assert lasts is not None
    assert lasts.mid == pytest.approx(700.0)


def test_weekdays_have_their_own_means() -> None:
    """With at least two weeks of history, the forecast depends on the weekdays of the coming days."""
    week = [10.0] * 5 + [0.0] * 2
    forecast = cost_of_next_days(week * 3, 5)
    assert forecast is not None
    assert forecast.mid == pytest.approx(50.0)
    assert forecast.high == pytest.approx(50.0)


def test_too_few_days_give_no_forecast() -> None:
    """Two days give no forecast; credits without spending last for the maximum of ten years."""
    assert cost_of_next_days([1.0, 2.0], 30) is None
    assert days_until_exhausted([1.0, 2.0], 100.0) is None
    free = days_until_exhausted([0.0] * 10, 100.0)
    assert free is not None
    assert free.low == free.high == 3650.0


def test_the_interval_is_wider_with_less_history() -> None:
    """Four days give a wider interval than thirty from the same distribution."""
    random = np.random.default_rng(1)
    daily = random.exponential(5.0, 30).tolist()
    few, many = cost_of_next_days(daily[:4], 30), cost_of_next_days(daily, 30)
    assert few is not None
    assert many is not None
    assert few.high - few.low > many.high - many.low


def test_generated_days_replace_a_missing_history() -> None:
    """Without history there is no present pace; the faster of two paces costs more per month."""
    rows = forecasts(ACCOUNT, [5.0, 20.0])
    assert [(row["tasks_per_day"], row["source"]) for row in rows] == [
        (5.0, "generated working days"),
        (20.0, "generated working days"),
    ]
    few, many = rows
    assert few["month_usd"]["mid"] < many["month_usd"]["mid"]
    assert few["lasts_days"]["mid"] > many["lasts_days"]["mid"]
    for row in rows:
        assert row["month_usd"]["low"] < row["month_usd"]["mid"] < row["month_usd"]["high"]
        assert row["lasts_days"]["low"] < row["lasts_days"]["mid"] < row["lasts_days"]["high"]


def test_a_forecast_uses_the_accounts_own_arrivals() -> None:
    """The present pace is that of the history; other paces resample its sessions."""
    own = bursts(10, 28, 4)
    arrivals_at = (MONDAY + own).tolist()
    account = Account(**{**vars(ACCOUNT), "arrivals_at": arrivals_at, "days": 28})
    present, faster = forecasts(account, [20.0])
    assert present["tasks_per_day"] == round(own.size / 28, 2)
    assert present["source"] == "its own arrivals"
    assert faster["source"] == "its own arrivals, resampled"
    assert faster["month_usd"]["mid"] > present["month_usd"]["mid"]


def test_resampled_arrivals_keep_hours_and_gaps() -> None:
    """At three times the pace, few arrivals are at night and the median gap is about the same."""
    own = bursts(12, 28, 2)
    drawn = resampled(own, 28, 36.0, 28)
    assert drawn.size / 28 == pytest.approx(36, rel=0.2)
    assert np.mean(drawn % DAY_S < DAY_S / 4) < 0.05
    assert np.median(np.diff(drawn)) == pytest.approx(np.median(np.diff(own)), rel=0.5)


def test_what_if_has_the_policies_and_the_optimum() -> None:
    """The optimum costs no more than the fixed policy, including the value of waiting."""
    account = Account(**{**vars(ACCOUNT), "arrivals_at": (MONDAY + workday(15, 5, 3)).tolist(), "days": 5})
    fixed, adaptive, optimum = what_if(account)
    assert [row["policy"] for row in (fixed, adaptive, optimum)] == [
        "fixed 10 minutes",
        "adaptive",
        "best possible",
    ]
    assert optimum["best"]
    assert optimum["cost_usd"] <= fixed["cost_usd"]


def test_what_if_has_the_idle_timeout_that_is_in_force() -> None:
    """An operator who changed it sees its cost beside that of the default."""
    arrivals_at = (MONDAY + workday(15, 5, 3)).tolist()
    account = Account(**{**vars(ACCOUNT), "arrivals_at": arrivals_at, "days": 5, "idle_timeout_s": 3600.0})
    default, longer, *_ = what_if(account)
    assert (default["policy"], longer["policy"]) == ("fixed 10 minutes", "fixed 1 hour")
    assert longer["usd"] > default["usd"]
    assert longer["cold_starts"] < default["cold_starts"]
