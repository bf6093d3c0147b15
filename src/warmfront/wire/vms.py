"""VMs, their submissions and their costs."""

from __future__ import annotations

from decimal import Decimal

from pydantic import Field

from warmfront.store.records import Meter
from warmfront.verdicts import Endpoint
from warmfront.vm import VMState
from warmfront.wire.base import Dollars, ResponseModel, Timestamp


class VmTask(ResponseModel):
    """A submission that runs on a VM. Users see only `since` for submissions that are not theirs."""

    since: Timestamp
    slot: int = Field(default=0, description="The number of its slot on the VM, from 0.")
    submission_id: str | None = Field(default=None, description="Visible to its owner and to operators.")
    user: str | None = None
    problem: str | None = None
    endpoint: Endpoint | None = None


class VmDevice(ResponseModel):
    """A GPU of a VM, or a partition of one, as the device reports it."""

    arch: str = Field(examples=["gfx942"])
    name: str = Field(default="", examples=["AMD Instinct MI300X"])
    compute_units: int = Field(default=0, description="0 if unknown.")
    memory_bytes: int = Field(default=0, description="0 if unknown.")
    partition: str = Field(default="", examples=["SPX/NPS1"])
    driver_version: str = ""
    hip_runtime_version: str = ""


class VmHealthCheck(ResponseModel):
    """The result of one check of a VM's GPU."""

    name: str = Field(examples=["/dev/kfd"])
    ok: bool
    detail: str = Field(description="The result in words.")
    remedy: str = Field(default="", description="What to do if the check failed.")
    required: bool = Field(
        default=True,
        description="Whether a VM that fails the check is released; otherwise the check is advisory.",
    )


class VmHealth(ResponseModel):
    """The latest health report of a VM's GPU."""

    ok: bool
    summary: str
    checks: list[VmHealthCheck]


class VmResponse(ResponseModel):
    """One VM."""

    id: str
    provider: str
    gpu_type: str
    gpu_count: int = Field(default=1, description="How many GPUs were requested.")
    slots: int = Field(default=1, description="How many submissions it judges at once, each on its own GPU.")
    slots_used: int = Field(default=0, description="How many slots are judging a submission.")
    state: VMState
    simulated: bool = Field(description="Whether it has no GPU, and its costs are simulated.")
    created_at: Timestamp
    started_at: Timestamp | None = Field(description="When billing began.")
    ready_at: Timestamp | None
    deadline_at: Timestamp | None = Field(description="When it is released if it stays idle.")
    ended_at: Timestamp | None
    end_confirmed: bool | None = Field(
        default=None,
        description="Of an ended VM: true if the cloud's own list confirms its end, or if it was on a host "
        "of an SSH fleet, which keeps running; false if only dstack reports it.",
    )
    machine_id: str | None = Field(
        default=None,
        description="The cloud's own id of the machine, or the address of a host of an SSH fleet.",
        examples=["amddevcloud/500001", "remote/10.0.0.11"],
    )
    tasks_done: int
    draining: bool = Field(
        default=False, description="Whether an operator is draining it: it finishes its submissions and ends."
    )
    pinned_until: Timestamp | None = Field(
        default=None, description="Until when an operator keeps it; null if it is not pinned."
    )
    rate_usd_per_h: Dollars = Field(default=Decimal(0), description="Its cost per hour.")
    cost_usd: Dollars = Field(description="Until now, including the interval that is still open.")
    reserved_usd: Dollars = Field(description="Its share of the escrow.")
    reason: str = Field(description="Why it is kept, or why it ended.")
    tasks: list[VmTask] = Field(description="The submissions that run on it.")
    devices: list[VmDevice] = Field(
        default_factory=list,
        description="Its GPUs, as the devices report them; empty until its listener has responded.",
    )
    gpu_health: VmHealth | None = Field(
        default=None, description="Checked before it was ready and after every crash; null without a GPU."
    )


class ForeignVmResponse(ResponseModel):
    """A VM of the provider that does not belong to this service. It is never touched or counted."""

    name: str = Field(examples=["wf-0a1b2c3d-vm-5f6e7d8c9b0a1f2e3d4c5b6a"])
    owner: str | None = Field(
        description="The owner id of another Warmfront service; null if none has labeled it."
    )
    used_by: str = Field(description="The current or last dstack run on it.")
    fleet: str | None
    status: str = Field(description="The status, as the provider names it.", examples=["busy"])
    hostname: str | None
    backend: str | None
    rate_usd_per_h: Dollars | None
    created_at: Timestamp | None


class VmListResponse(ResponseModel):
    """The most recent VMs, newest first."""

    now: Timestamp = Field(description="The service's clock.")
    items: list[VmResponse]
    foreign: list[ForeignVmResponse] = Field(
        default_factory=list,
        description="VMs of other services at the same provider; visible to operators only.",
    )


class BilledInterval(ResponseModel):
    """One ledger entry of a VM."""

    meter: Meter
    started_at: Timestamp
    ended_at: Timestamp
    cost_usd: Dollars
    submission_id: str | None = Field(
        description="The submission that is charged: its work, and a boot if its quote included it. "
        "Null if the VM pool is charged: idle time and prewarming."
    )


class VmDetailResponse(VmResponse):
    """One VM with its ledger entries."""

    intervals: list[BilledInterval] = Field(
        description="Closed intervals; an open one is added when it ends."
    )
