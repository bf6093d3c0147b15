"""dstack's resources (instances, fleets, offers, runs), copied from its models into our own values.

This module does not call the server. Statuses are dstack's own strings, the `.value` of its enums.
"""

from __future__ import annotations

from dataclasses import field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from warmfront.providers.dstack.ssh_tunnel import SSHHop
from warmfront.settings import OWN_HOSTS_BACKEND
from warmfront.value_class import dataclass
from warmfront.values import SSHAddress

if TYPE_CHECKING:
    from datetime import datetime


_SSH_PORT = 22
#: The port of the SSH server in a container.
_CONTAINER_SSH_PORT = 10022


@dataclass(frozen=True, kw_only=True)
class DstackInstance:
    """A VM, as dstack bills it. Times are seconds since 1970, UTC."""

    id: str  #: dstack's id
    name: str
    num: int  #: number within the fleet; `delete_instances` takes it
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
    is_unhealthy: bool = False  #: whether a check of dstack's agent failed
    gpus: tuple[str, ...] = ()  #: the type of each GPU, as dstack names it
    blocks: int = 1  #: the parts that separate runs can use
    busy_blocks: int = 0

    @property
    def has_ended(self) -> bool:
        """Whether the cloud has confirmed the end of the VM."""
        return self.status == "terminated"

    @property
    def is_own_host(self) -> bool:
        """Whether the VM is a host of an SSH fleet, which neither the end of a run nor a release ends."""
        return self.backend == OWN_HOSTS_BACKEND

    @property
    def is_free(self) -> bool:
        """Whether dstack could start a run on this VM now."""
        is_usable = self.status in {"idle", "busy"} and not self.is_unreachable and not self.is_unhealthy
        return is_usable and self.busy_blocks < self.blocks


@dataclass(frozen=True, kw_only=True)
class DstackFleet:
    """A fleet with its configuration."""

    id: str
    name: str
    status: str  #: active, terminating, terminated, …
    status_message: str | None
    created_at: float
    min_nodes: int | None  #: None for an SSH fleet
    max_nodes: int | None  #: None for no limit
    idle_s: int | None  #: None for dstack's default, -1 for never
    spot_policy: str | None
    backends: tuple[str, ...]
    max_price_usd_per_h: Decimal | None
    gpu_names: tuple[str, ...]
    instances: tuple[DstackInstance, ...]
    requests_no_gpu: bool = False  #: whether its VMs have no GPU
    hosts: tuple[SSHAddress, ...] = ()  #: of an SSH fleet, each with its user
    jump_host: SSHAddress | None = None  #: through which the hosts are reached

    @property
    def is_ssh(self) -> bool:
        """Whether the fleet consists of existing hosts instead of VMs that dstack creates."""
        return bool(self.hosts)

    @property
    def is_full(self) -> bool:
        """Whether dstack would refuse to start another VM in this fleet."""
        if self.is_ssh:
            return not any(instance.is_free for instance in self.instances)
        return self.max_nodes is not None and len(self.instances) >= self.max_nodes


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A VM type that a backend offers."""

    backend: str
    region: str
    instance_type: str
    resources: str  #: CPU, memory, disk and GPU, as dstack prints them
    price_usd_per_h: Decimal
    availability: str  #: available, not_available, no_quota, no_balance, idle, busy, unknown


@dataclass(frozen=True, kw_only=True)
class FleetPlan:
    """dstack's plan for a fleet configuration."""

    offers: tuple[Offer, ...]
    total_offers: int
    max_price_usd_per_h: Decimal | None  #: the maximum of all offers, including those not listed
    current: DstackFleet | None  #: the existing fleet with this name
    model: Any = field(repr=False)  #: dstack's own plan, to apply it; it may contain a private key


@dataclass(frozen=True, kw_only=True)
class DstackRun:
    """A run with one job, as of the job's latest submission. Times are seconds since 1970, UTC."""

    id: str
    name: str
    status: str
    status_message: str
    termination_reason: str | None  #: the run's; the job's is `job_termination_reason`
    error: str | None
    fleet: str | None
    submitted_at: float
    cost_usd: Decimal  #: for comparison only: it excludes the VM's idle time
    gpu: str | None = None  #: the GPU type that the run requests
    requests_no_gpu: bool = False  #: whether it excludes VMs with a GPU
    gpu_count: int | None = None  #: the number of GPUs
    fleets: tuple[str, ...] = ()  #: the fleets that the run may be on

    job_status: str | None = None
    job_termination_reason: str | None = None
    job_termination_message: str | None = None
    exit_status: int | None = None
    job_submitted_at: float | None = None
    finished_at: float | None = None
    instance_id: str | None = None  #: the cloud's id of the VM, such as a droplet number
    hostname: str | None = None
    backend: str | None = None
    price_usd_per_h: Decimal | None = None
    ssh_hops: tuple[SSHHop, ...] = ()  #: SSH servers to the run's network; empty if it has no VM yet
    ssh_public_key: str | None = None  #: the key that the SSH servers accept

    @property
    def machine_id(self) -> str | None:
        """The backend and the cloud's id of the VM, such as `amddevcloud/500001`; of a host, its address."""
        if self.backend == OWN_HOSTS_BACKEND:
            return f"{self.backend}/{self.hostname}"
        return f"{self.backend}/{self.instance_id}" if self.instance_id else None


def instance_from(model: Any) -> DstackInstance:
    """Convert dstack's Instance."""
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
        is_unhealthy=model.health_status.is_failure(),
        gpus=tuple(gpu.name for gpu in model.instance_type.resources.gpus) if model.instance_type else (),
        blocks=model.total_blocks or 1,
        busy_blocks=model.busy_blocks,
    )


def fleet_from(model: Any) -> DstackFleet:
    """Convert dstack's Fleet."""
    spec = model.spec.configuration
    nodes = getattr(spec, "nodes", None)
    gpu = spec.resources.gpu if getattr(spec, "resources", None) else None
    ssh = getattr(spec, "ssh_config", None)
    jump = ssh.proxy_jump if ssh else None
    return DstackFleet(
        id=str(model.id),
        name=model.name,
        status=model.status.value,
        status_message=model.status_message,
        created_at=model.created_at.timestamp(),
        min_nodes=nodes.min if nodes else None,
        max_nodes=nodes.max if nodes else None,
        idle_s=getattr(spec, "idle_duration", None),
        spot_policy=_value(getattr(spec, "spot_policy", None)),
        backends=tuple(_value(backend) or "" for backend in getattr(spec, "backends", None) or ()),
        max_price_usd_per_h=_dollars(getattr(spec, "max_price", None)),
        gpu_names=tuple(gpu.name or ()) if gpu else (),
        requests_no_gpu=_is_none(gpu),
        instances=tuple(map(instance_from, model.instances)),
        hosts=tuple(_host_from(host, ssh) for host in ssh.hosts) if ssh else (),
        jump_host=SSHAddress(host=jump.hostname, user=jump.user, port=jump.port) if jump else None,
    )


def plan_from(model: Any) -> FleetPlan:
    """Convert dstack's FleetPlan."""
    return FleetPlan(
        offers=tuple(map(_offer_from, model.offers)),
        total_offers=model.total_offers,
        max_price_usd_per_h=_dollars(model.max_offer_price),
        current=fleet_from(model.current_resource) if model.current_resource else None,
        model=model,
    )


def run_from(model: Any) -> DstackRun:
    """Convert dstack's Run."""
    job = model.latest_job_submission
    vm = job.job_provisioning_data if job else None
    resources = getattr(model.run_spec.configuration, "resources", None)
    gpu_names = resources.gpu.name if resources and resources.gpu else None
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
        gpu=gpu_names[0] if gpu_names else None,
        requests_no_gpu=_is_none(resources.gpu if resources else None),
        gpu_count=(resources.gpu.count.min if resources and resources.gpu else None) or None,
        fleets=tuple(map(_fleet_name, getattr(model.run_spec.configuration, "fleets", None) or ())),
        job_status=_value(job.status) if job else None,
        job_termination_reason=job.termination_reason if job else None,
        job_termination_message=job.termination_reason_message if job else None,
        exit_status=job.exit_status if job else None,
        job_submitted_at=_seconds(job.submitted_at) if job else None,
        finished_at=_seconds(job.finished_at) if job else None,
        instance_id=vm.instance_id if vm else None,
        hostname=vm.hostname if vm else None,
        backend=_value(vm.backend) if vm else None,
        price_usd_per_h=_dollars(vm.price) if vm else None,
        ssh_hops=_ssh_hops(model.jobs[0], vm) if vm else (),
        ssh_public_key=model.run_spec.ssh_key_pub,
    )


def _ssh_hops(job: Any, vm: Any) -> tuple[SSHHop, ...]:
    """Return the SSH servers to a job's network, as dstack's own client would use them.

    These are dstack's SSH proxy, if the server has one; otherwise a jump host of the fleet, the VM, and the
    container. The container is only needed if it does not share the VM's network.
    """
    info = getattr(job, "job_connection_info", None)
    if info is not None and info.sshproxy_hostname is not None:
        user = f"{info.sshproxy_upstream_id}_root"
        return (SSHHop(host=info.sshproxy_hostname, port=info.sshproxy_port or _SSH_PORT, user=user),)
    if vm.hostname is None or vm.ssh_port is None:
        return ()
    runtime = job.job_submissions[-1].job_runtime_data
    user = (runtime.username if runtime else None) or "root"  # in the container
    hops = []
    if vm.ssh_proxy is not None:
        jump = vm.ssh_proxy
        hops.append(
            SSHHop(host=jump.hostname, port=jump.port, user=jump.username, is_dstack_host=not vm.dockerized)
        )
    hops.append(SSHHop(host=vm.hostname, port=vm.ssh_port, user=vm.username if vm.dockerized else user))
    if vm.dockerized and (runtime is None or _value(runtime.network_mode) != "host"):
        ports = (runtime.ports if runtime else None) or {}
        hops.append(
            SSHHop(host="localhost", port=ports.get(_CONTAINER_SSH_PORT, _CONTAINER_SSH_PORT), user=user)
        )
    return tuple(hops)


def _offer_from(model: Any) -> Offer:
    return Offer(
        backend=_value(model.backend) or "",
        region=model.region,
        instance_type=model.instance.name,
        resources=model.instance.resources.pretty_format(),
        price_usd_per_h=_dollars(model.price) or Decimal(0),
        availability=model.availability.value,
    )


def _host_from(host: Any, ssh: Any) -> SSHAddress:
    """Return a host of an SSH fleet: a name, or an object that overrides the user and the port."""
    if isinstance(host, str):
        return SSHAddress(host=host, user=ssh.user, port=ssh.port)
    return SSHAddress(host=host.hostname, user=host.user or ssh.user, port=host.port or ssh.port)


def _is_none(gpu: Any) -> bool:
    """Return whether a GPU requirement excludes VMs with a GPU."""
    return gpu is not None and gpu.count.max == 0


def _fleet_name(fleet: Any) -> str:
    """Return the name of a fleet that a run refers to: text, or an object with a project and a name."""
    return str(getattr(fleet, "name", fleet)).rpartition("/")[2]


def _value(member: Any) -> str | None:
    """Return the string of a dstack enum member, or of a plain string."""
    return None if member is None else str(getattr(member, "value", member))


def _seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()


def _dollars(amount: float | None) -> Decimal | None:
    """Return the amount as printed: 1.99, not the nearest binary fraction."""
    return None if amount is None else Decimal(str(amount))
