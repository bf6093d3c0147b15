"""Forecasts: the interval covers what then happens, from the ledgers of simulated months."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from warmfront.money.billing import Billing
from warmfront.money.forecast import coming, lasts_days
from warmfront.settings import Settings
from warmfront.simulate.outlook import Account, forecasts, resampled, what_if
from warmfront.simulate.replay import Plan, replay
from warmfront.simulate.traces import DAY_S, TRACES, bursts, workday

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
    """The share of months whose ledger lies in the interval that the sixty days before them gave."""
    plan = Plan(settings=Settings(max_vms=1), billing=Billing(rate_usd_per_h=Decimal("1.99")))
    days = 60 + 30 * months
    daily = [float(usd) for usd in replay(TRACES[name](per_day, days, 11), plan).usd_by_day]
    hits = 0
    for month in range(months):
        begin = 30 * month
        told = coming(daily[begin : begin + 60], 30)
        assert told is not None
        hits += told.low <= sum(daily[begin + 60 : begin + 90]) <= told.high
    return hits / months


@pytest.mark.slow
@pytest.mark.parametrize("name", ["workday", "bursts"])
def test_the_interval_covers_nine_months_of_ten(name: str) -> None:
    """Of 200 simulated months at least 90% and not nearly all lie in the interval told before them."""
    assert 0.90 <= covered(name, 10, 200) <= 0.98


def test_the_interval_covers_most_months() -> None:
    """The same for a few months, for every run of the tests."""
    assert covered("workday", 8, 12) >= 10 / 12


def test_days_that_are_all_alike_leave_no_doubt() -> None:
    """The same dollars every day are told exactly, and the credits divided by them."""
    told = coming([2.0] * 20, 30)
    assert told is not None
    assert (told.low, told.mid, told.high) == pytest.approx((60.0, 60.0, 60.0))
    lasts = lasts_days([2.0] * 20, 1400.0)
    assert lasts is not None
    assert lasts.mid == pytest.approx(700.0)


def test_weekends_are_expected_to_be_weekends() -> None:
    """Once two weeks were seen, what comes is told by the weekday that it is."""
    week = [10.0] * 5 + [0.0] * 2
    told = coming(week * 3, 5)
    assert told is not None
    assert told.mid == pytest.approx(50.0)
    assert told.high == pytest.approx(50.0)


def test_too_few_days_say_nothing() -> None:
    """Two days are no history; days that cost nothing last for ten years, which stand for ever."""
    assert coming([1.0, 2.0], 30) is None
    assert lasts_days([1.0, 2.0], 100.0) is None
    free = lasts_days([0.0] * 10, 100.0)
    assert free is not None
    assert free.low == free.high == 3650.0


def test_doubt_is_wider_with_less_history() -> None:
    """Three days give a wider interval than thirty of the same kind."""
    chance = np.random.default_rng(1)
    daily = chance.exponential(5.0, 30).tolist()
    few, many = coming(daily[:4], 30), coming(daily, 30)
    assert few is not None
    assert many is not None
    assert few.high - few.low > many.high - many.low


def test_an_account_without_history_is_told_of_made_up_days() -> None:
    """There is no present pace; of two paces the faster costs more, and the credits last less."""
    found = forecasts(ACCOUNT, [5.0, 20.0])
    assert [(row["tasks_per_day"], row["source"]) for row in found] == [
        (5.0, "made-up working days"),
        (20.0, "made-up working days"),
    ]
    few, many = found
    assert few["month_usd"]["mid"] < many["month_usd"]["mid"]
    assert few["lasts_days"]["mid"] > many["lasts_days"]["mid"]
    for row in found:
        assert row["month_usd"]["low"] < row["month_usd"]["mid"] < row["month_usd"]["high"]
        assert row["lasts_days"]["low"] < row["lasts_days"]["mid"] < row["lasts_days"]["high"]


def test_an_account_is_told_from_its_own_arrivals() -> None:
    """The present pace is that of its days, and its own sessions are drawn from for another."""
    own = bursts(10, 28, 4)
    arrivals_at = (MONDAY + own).tolist()
    account = Account(**{**vars(ACCOUNT), "arrivals_at": arrivals_at, "days": 28})
    present, faster = forecasts(account, [20.0])
    assert present["tasks_per_day"] == round(own.size / 28, 2)
    assert present["source"] == "its own arrivals"
    assert faster["source"] == "its own arrivals, resampled"
    assert faster["month_usd"]["mid"] > present["month_usd"]["mid"]


def test_resampled_arrivals_keep_their_hours_and_their_bursts() -> None:
    """At three times the pace, nights are as quiet and gaps within a session as short."""
    own = bursts(12, 28, 2)
    drawn = resampled(own, 28, 36.0, 28)
    assert drawn.size / 28 == pytest.approx(36, rel=0.2)
    assert np.mean(drawn % DAY_S < DAY_S / 4) < 0.05
    assert np.median(np.diff(drawn)) == pytest.approx(np.median(np.diff(own)), rel=0.5)


def test_what_if_has_the_policies_and_the_best() -> None:
    """The best possible costs the least of all, waiting counted."""
    account = Account(**{**vars(ACCOUNT), "arrivals_at": (MONDAY + workday(15, 5, 3)).tolist(), "days": 5})
    fixed, adaptive, least = what_if(account)
    assert [row["policy"] for row in (fixed, adaptive, least)] == [
        "fixed 10 minutes",
        "adaptive",
        "best possible",
    ]
    assert least["best"]
    assert least["cost_usd"] <= fixed["cost_usd"]
