"""What dstack says of fleets, instances and runs, in values of ours, made from its models field by field.

Nothing here asks the server or decides anything; statuses are dstack's own words, as `.value` has them.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class DstackInstance:
    """A VM as dstack bills it. Times are seconds since 1970, UTC."""

    id: str  #: dstack's own
    name: str
    num: int  #: its number within the fleet, by which it is deleted
    fleet: str | None
    status: str  #: pending, provisioning, idle, busy, terminating, terminated
    is_unreachable: bool
    hostname: str | None
    backend: str | None
    region: str | None
    price_usd_per_h: Decimal | None
    created_at: float
    finished_at: float | None
    termination_reason: str | None
    termination_message: str | None

    @property
    def is_over(self) -> bool:
        """Whether the cloud has confirmed its end."""
        return self.status == "terminated"


@dataclass(frozen=True, kw_only=True)
class DstackFleet:
    """A fleet, and what it was asked to be."""

    id: str
    name: str
    status: str  #: active, terminating, terminated, …
    status_message: str | None
    created_at: float
    min_nodes: int | None  #: None: a fleet of hosts by SSH, which is none of ours
    max_nodes: int | None  #: None: as many as one likes
    idle_s: int | None  #: None: dstack's own default; -1: never
    spot_policy: str | None
    backends: tuple[str, ...]
    max_price_usd_per_h: Decimal | None
    gpu_names: tuple[str, ...]
    instances: tuple[DstackInstance, ...]

    @property
    def is_full(self) -> bool:
        """Whether dstack would start no further VM in it."""
        return self.max_nodes is not None and len(self.instances) >= self.max_nodes


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A VM that one could have."""

    backend: str
    region: str
    instance_type: str
    resources: str  #: dstack's words for CPU, memory, disk and GPU
    price_usd_per_h: Decimal
    availability: str  #: available, not_available, no_quota, no_balance, idle, busy, unknown


@dataclass(frozen=True, kw_only=True)
class FleetPlan:
    """What dstack would do with a fleet's configuration."""

    offers: tuple[Offer, ...]
    total_offers: int
    max_price_usd_per_h: Decimal | None  #: of all offers, also those that are not listed
    current: DstackFleet | None  #: the fleet of that name, if there is one
    model: Any  #: dstack's own plan, to be applied as it is


@dataclass(frozen=True, kw_only=True)
class DstackRun:
    """A run of one job, by its latest submission. Times are seconds since 1970, UTC."""

    id: str
    name: str
    status: str
    status_message: str
    termination_reason: str | None  #: the run's own; the job's is below
    error: str | None
    fleet: str | None
    submitted_at: float
    cost_usd: Decimal  #: without the VM's idle time: for comparing only

    job_status: str | None = None
    job_termination_reason: str | None = None
    job_termination_message: str | None = None
    exit_status: int | None = None
    job_submitted_at: float | None = None
    finished_at: float | None = None
    instance_id: str | None = None  #: the cloud's name of the VM, such as a droplet's number
    hostname: str | None = None
    backend: str | None = None
    price_usd_per_h: Decimal | None = None


def instance_from(model: Any) -> DstackInstance:
    """From dstack's Instance."""
    return DstackInstance(
        id=str(model.id),
        name=model.name,
        num=model.instance_num,
        fleet=model.fleet_name,
        status=model.status.value,
        is_unreachable=model.unreachable,
        hostname=model.hostname,
        backend=_value(model.backend),
        region=model.region,
        price_usd_per_h=_dollars(model.price),
        created_at=model.created.timestamp(),
        finished_at=_seconds(model.finished_at),
        termination_reason=model.termination_reason,
        termination_message=model.termination_reason_message,
    )


def fleet_from(model: Any) -> DstackFleet:
    """From dstack's Fleet."""
    asked = model.spec.configuration
    nodes = getattr(asked, "nodes", None)
    gpu = asked.resources.gpu if getattr(asked, "resources", None) else None
    return DstackFleet(
        id=str(model.id),
        name=model.name,
        status=model.status.value,
        status_message=model.status_message,
        created_at=model.created_at.timestamp(),
        min_nodes=nodes.min if nodes else None,
        max_nodes=nodes.max if nodes else None,
        idle_s=getattr(asked, "idle_duration", None),
        spot_policy=_value(getattr(asked, "spot_policy", None)),
        backends=tuple(_value(backend) or "" for backend in getattr(asked, "backends", None) or ()),
        max_price_usd_per_h=_dollars(getattr(asked, "max_price", None)),
        gpu_names=tuple(gpu.name or ()) if gpu else (),
        instances=tuple(map(instance_from, model.instances)),
    )


def plan_from(model: Any) -> FleetPlan:
    """From dstack's FleetPlan."""
    return FleetPlan(
        offers=tuple(map(_offer_from, model.offers)),
        total_offers=model.total_offers,
        max_price_usd_per_h=_dollars(model.max_offer_price),
        current=fleet_from(model.current_resource) if model.current_resource else None,
        model=model,
    )


def run_from(model: Any) -> DstackRun:
    """From dstack's Run."""
    job = model.latest_job_submission
    machine = job.job_provisioning_data if job else None
    return DstackRun(
        id=str(model.id),
        name=model.run_spec.run_name,
        status=model.status.value,
        status_message=model.status_message,
        termination_reason=model.termination_reason,
        error=model.error,
        fleet=model.fleet.name if model.fleet else None,
        submitted_at=model.submitted_at.timestamp(),
        cost_usd=_dollars(model.cost) or Decimal(0),
        job_status=_value(job.status) if job else None,
        job_termination_reason=job.termination_reason if job else None,
        job_termination_message=job.termination_reason_message if job else None,
        exit_status=job.exit_status if job else None,
        job_submitted_at=_seconds(job.submitted_at) if job else None,
        finished_at=_seconds(job.finished_at) if job else None,
        instance_id=machine.instance_id if machine else None,
        hostname=machine.hostname if machine else None,
        backend=_value(machine.backend) if machine else None,
        price_usd_per_h=_dollars(machine.price) if machine else None,
    )


def _offer_from(model: Any) -> Offer:
    return Offer(
        backend=_value(model.backend) or "",
        region=model.region,
        instance_type=model.instance.name,
        resources=model.instance.resources.pretty_format(),
        price_usd_per_h=_dollars(model.price) or Decimal(0),
        availability=model.availability.value,
    )


def _value(member: Any) -> str | None:
    """Of an enum of dstack's, or a plain string."""
    return None if member is None else str(getattr(member, "value", member))


def _seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()


def _dollars(amount: float | None) -> Decimal | None:
    """The amount as it is written: 1.99, not the binary number beside it."""
    return None if amount is None else Decimal(str(amount))
