"""Forecasts and what-if comparisons."""

from __future__ import annotations

from pydantic import Field

from warmfront.wire.base import Dollars, ResponseModel, Timestamp


class Estimate(ResponseModel):
    """A median with a 90% prediction interval."""

    low: float
    mid: float
    high: float


class PaceForecast(ResponseModel):
    """The forecast for one pace, in tasks per day."""

    tasks_per_day: float
    source: str = Field(
        description="Where the replayed arrivals come from.", examples=["its own arrivals, resampled"]
    )
    month_usd: Estimate | None = Field(description="Cost of the next 30 days.")
    lasts_days: Estimate | None = Field(description="How long the remaining credits last; at most 3,650.")
    wait_mean_s: float = Field(description="Mean time from a task's arrival to its start.")


class ForecastResponse(ResponseModel):
    """A forecast of how long the credits last, if future days resemble past days."""

    days_seen: int = Field(description="The number of full days on which the forecast is based; at most 56.")
    month_usd: Estimate = Field(description="Cost of the next 30 days.")
    lasts_days: Estimate = Field(description="How long the remaining credits last; at most 3,650.")


class PaceForecastListResponse(ResponseModel):
    """Forecasts at several paces, from replays of the account's own arrivals."""

    credits_usd: float = Field(description="The remaining credits.")
    items: list[PaceForecast]


class PolicyCost(ResponseModel):
    """The cost under a keep-warm policy."""

    policy: str
    best: bool = Field(
        description="Whether this is the optimum, which knows every arrival: computed, not replayed."
    )
    usd: float
    wait_mean_s: float
    cold_starts: int
    cost_usd: float = Field(description="`usd` plus the value of the time that submissions waited.")


class WhatIfResponse(ResponseModel):
    """The cost of this month's arrivals under other policies."""

    since: Timestamp
    tasks: int = Field(description="Submissions that got a VM: the arrivals that are replayed.")
    completed: int = Field(
        default=0, description="How many of them were judged; others were cancelled, failed or still run."
    )
    wait_value_usd_per_h: float = Field(default=0.0, description="The value of an hour of waiting.")
    adaptive: str = Field(
        default="", description="Why the adaptive policy costs more than another one; empty if it does not."
    )
    spent_usd: Dollars = Field(description="The actual cost, from the ledger.")
    simulated: bool = Field(description="Costs are simulated; no money was spent.")
    items: list[PolicyCost]
