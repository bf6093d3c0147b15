"""The forms of what is to come and of what might have been: ranges, paces, policies."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True)


class Range(_Answer):
    """The best guess, and where it lies nine times of ten."""

    low: float
    mid: float
    high: float


class Pace(_Answer):
    """What so many tasks a day lead to."""

    tasks_per_day: float
    source: str = Field(
        description="Of the arrivals that were replayed.", examples=["its own arrivals, resampled"]
    )
    month_usd: Range | None = Field(description="Dollars of the next 30 days.")
    lasts_days: Range | None = Field(description="For how long the credits left are enough; at most 3,650.")
    wait_mean_s: float = Field(description="How long a task waits, from its arrival to its start.")


class Forecast(_Answer):
    """How long the credits last if days to come are like those that were."""

    days_seen: int = Field(description="Full days that it is told from, at most 56.")
    month_usd: Range = Field(description="Dollars of the next 30 days.")
    lasts_days: Range = Field(description="For how long the credits left are enough; at most 3,650.")


class Paces(_Answer):
    """The same at other paces, from replays of the account's own arrivals."""

    credits_usd: float = Field(description="That are left.")
    items: list[Pace]


class Alternative(_Answer):
    """What a policy would have come to."""

    policy: str
    best: bool = Field(description="One VM that knows every arrival: computed, not replayed.")
    usd: float
    wait_mean_s: float
    cold_starts: int
    cost_usd: float = Field(description="With waiting at its value.")


class WhatIf(_Answer):
    """This month, as it was and as it might have been."""

    since: str
    tasks: int
    spent_usd: float = Field(description="What the ledger has.")
    simulated: bool = Field(description="The dollars are no dollars.")
    items: list[Alternative]
