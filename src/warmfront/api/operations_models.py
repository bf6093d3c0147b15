"""The forms of what operators look at: the pool, the queue, the last day of each VM, and the money."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from warmfront.api import models


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True)


class Waiting(_Answer):
    """Who waits. Of others a user is told only that they do."""

    position: int = Field(description="How many go before it, about.")
    since: str
    submission_id: str | None = Field(default=None, description="Of the caller's own, and for operators.")
    user: str | None = None
    problem: str | None = None
    endpoint: str | None = None


class Queue(_Answer):
    """Everyone who waits, and the first of them by name."""

    length: int
    items: list[Waiting]


class Piece(_Answer):
    """What a VM did for a while."""

    meter: str = Field(description="PROVISIONING, WORK or IDLE.", examples=["WORK"])
    started_at: str
    ended_at: str
    open: bool = Field(description="It goes on.")
    submission_id: str | None = Field(default=None, description="Of the caller's own, and for operators.")


class Lane(_Answer):
    """One VM over the time that was asked for."""

    vm_id: str
    gpu_type: str
    state: str
    simulated: bool
    pieces: list[Piece]


class Left(_Answer):
    """What was left of the credits at one moment."""

    time: str
    remaining_usd: float


class Credits(_Answer):
    """Where the credits are, and where they were."""

    credits_usd: float = Field(examples=[1400.0])
    spent_usd: float
    reserved_usd: float = Field(description="What the VMs alive may still come to, at the most.")
    remaining_usd: float
    burn_usd_per_h: float = Field(description="What the VMs alive cost now.", examples=[1.99])
    alert_at_usd: float = Field(description="The alert comes when no more than this is left.")
    alerted: bool
    burn_down: list[Left] = Field(description="By the hour, the last 31 days; the last one is now.")


class Day(_Answer):
    """What one day came to, UTC, by what the VMs did."""

    day: str = Field(examples=["2026-01-31"])
    cost_usd: float
    meters: list[models.MeterCost]


class UserCost(_Answer):
    """What one user came to."""

    user: str | None = Field(description="Null: idle time after which nobody came.")
    cost_usd: float


class Tasks(_Answer):
    """What was done for the money."""

    completed: int
    cold_starts: int
    warm_reuses: int
    cost_usd: float | None = Field(description="Of one task: all that was spent over all tasks.")
    cold_cost_usd: float | None = Field(description="On average, of those that a VM was booted for.")
    warm_cost_usd: float | None = Field(description="On average, of those that found one.")


class Operations(_Answer):
    """All of it at one moment."""

    now: str = Field(description="The service's clock: every other time is by it.")
    since: str = Field(description="Where the lanes begin.")
    simulated: bool = Field(description="The dollars are no dollars.")
    everyone: bool = Field(description="Whether the caller sees what belongs to others.")
    vms: list[models.Vm] = Field(description="Those alive, the oldest first.")
    queue: Queue
    lanes: list[Lane] = Field(description="VMs of this time, the oldest first, 50 at the most.")
    money: Credits
    costs_by_day: list[Day] = Field(description="The last 31 days.")
    costs_by_user: list[UserCost] = Field(description="The last 31 days; the caller's alone, or all.")
    tasks: Tasks
    latencies_s: dict[str, Any] = Field(description="From submit to verdict: all, cold, warm.")
