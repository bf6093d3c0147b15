"""The operations view: a snapshot of the VM pool, queue, timelines and credits."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from warmfront.provisioning import FailureKind
from warmfront.store.records import Meter
from warmfront.verdicts import Endpoint
from warmfront.vm import VMState
from warmfront.wire.base import Dollars, ResponseModel, Timestamp
from warmfront.wire.costs import Latencies, MeterCost
from warmfront.wire.operator_controls import IntakeResponse
from warmfront.wire.vms import ForeignVmResponse, VmResponse


class QueueEntry(ResponseModel):
    """A queued submission. Users see only `position` and `since` for submissions that are not theirs."""

    position: int = Field(description="Approximately how many submissions are ahead.")
    since: Timestamp
    submission_id: str | None = Field(default=None, description="Visible to its owner and to operators.")
    user: str | None = None
    problem: str | None = None
    endpoint: Endpoint | None = None


class QueueResponse(ResponseModel):
    """The length of the queue and its first entries."""

    length: int
    items: list[QueueEntry]


class ProvisioningProblemResponse(ResponseModel):
    """The reason why no VM with a GPU type is being provisioned."""

    gpu_type: str = Field(examples=["MI300X"])
    open: bool = Field(
        description="Whether the circuit breaker is open, so that submissions fail. Otherwise they wait."
    )
    kind: FailureKind = Field(examples=["NO_CAPACITY"])
    reason: str = Field(examples=["No MI300X is available on amddevcloud."])
    hint: str = Field(description="What the operator can do; empty for other users.")
    since: Timestamp
    retry_at: Timestamp = Field(description="When a VM is requested again, if a submission waits for one.")
    failures: int = Field(description="The number of consecutive VMs that could not be provisioned.")


class ProvisioningResponse(ResponseModel):
    """The GPU types for which no VM is being provisioned."""

    now: Timestamp
    problems: list[ProvisioningProblemResponse]


class TimelineSegmentResponse(ResponseModel):
    """The activity of a VM during an interval."""

    meter: Meter = Field(examples=["WORK"])
    started_at: Timestamp
    ended_at: Timestamp
    open: bool = Field(description="Whether the interval has not ended.")
    submission_id: str | None = Field(default=None, description="Visible to its owner and to operators.")


class VmTimelineResponse(ResponseModel):
    """One VM over the requested hours."""

    vm_id: str
    gpu_type: str
    state: VMState
    simulated: bool
    pieces: list[TimelineSegmentResponse]


class BurnDownPoint(ResponseModel):
    """The remaining credits at one time."""

    time: Timestamp
    remaining_usd: Dollars


class CreditsResponse(ResponseModel):
    """The credits now and over the last days."""

    credits_usd: Dollars = Field(examples=[1400.0])
    spent_usd: Dollars
    reserved_usd: Dollars = Field(description="The escrow: the most that the live VMs can still cost.")
    remaining_usd: Dollars
    burn_usd_per_h: Dollars = Field(description="The hourly rate of the live VMs.", examples=[1.99])
    alert_at_usd: Dollars = Field(description="The alert fires when this much or less remains.")
    alerted: bool
    burn_down: list[BurnDownPoint] = Field(
        description="One point per billed hour of the last 31 days; the last point is now."
    )


class DailyMeterCosts(ResponseModel):
    """The cost of one day (UTC), by activity."""

    day: str = Field(examples=["2026-01-31"])
    cost_usd: Dollars
    meters: list[MeterCost]


class UserCost(ResponseModel):
    """The cost of one user."""

    user: str | None = Field(
        description="Null for the VM pool, which is charged for idle time and prewarming."
    )
    cost_usd: Dollars


class TaskSummary(ResponseModel):
    """Completed tasks and their average cost."""

    completed: int
    cold_starts: int
    warm_reuses: int
    cost_usd: Dollars | None = Field(description="Total cost divided by the completed tasks.")
    cold_cost_usd: Dollars | None = Field(
        description="Average charge of cold starts: their work, and a boot if it was quoted."
    )
    warm_cost_usd: Dollars | None = Field(
        description="Average charge of warm reuses: their work; idle time is charged to the VM pool."
    )


class OperationsResponse(ResponseModel):
    """A snapshot of the whole service."""

    now: Timestamp = Field(description="The service's clock; every other time is measured by it.")
    since: Timestamp = Field(description="The beginning of the timelines.")
    simulated: bool = Field(description="Costs are simulated; no money was spent.")
    everyone: bool = Field(description="Whether the caller sees other users' submissions and costs.")
    vms: list[VmResponse] = Field(description="Live VMs, oldest first.")
    failed_vms: list[VmResponse] = Field(
        default_factory=list, description="VMs that failed in the requested hours, newest first; at most 10."
    )
    foreign_vms: list[ForeignVmResponse] = Field(
        default_factory=list,
        description="VMs of other services at the same provider; visible to operators only.",
    )
    queue: QueueResponse
    intake: IntakeResponse = Field(description="Whether submissions are accepted and run.")
    provisioning: list[ProvisioningProblemResponse] = Field(
        default_factory=list, description="GPU types for which no VM is provisioned now."
    )
    lanes: list[VmTimelineResponse] = Field(
        description="VMs of the requested hours, oldest first; at most 50."
    )
    money: CreditsResponse
    costs_by_day: list[DailyMeterCosts] = Field(description="The last 31 days.")
    costs_by_user: list[UserCost] = Field(
        description="The last 31 days; only the caller's, unless the caller is an operator."
    )
    tasks: TaskSummary
    latencies_s: Latencies = Field(description="From submission to verdict.")


class OperationsChangedEvent(ResponseModel):
    """An event of `/operations/stream`: the pool, the queue or the alert changed."""

    id: int
    time: Timestamp
    status: Literal["CHANGED"] = "CHANGED"
    pool: dict[VMState, int] = Field(description="Live VMs, by state.")
    queue_length: int
    tasks_done: dict[str, int] = Field(description="By VM.")
    deadlines: dict[str, Timestamp] = Field(description="When each idle VM is released, by VM.")
    provisioning: dict[str, str] = Field(
        default_factory=dict, description="Why no VM is provisioned, by GPU type, and how often that failed."
    )
    intake: str = Field(default="open", description="The mode of the intake.")
    draining: list[str] = Field(default_factory=list, description="VMs that operators are draining.")
    alerted: bool
    spent_usd: Dollars
