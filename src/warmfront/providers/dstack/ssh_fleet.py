"""SSH fleets: your own machines, which dstack prepares over SSH and neither creates nor ends.

This module builds the configuration of such a fleet and compares the hosts that dstack reports with it. It
does not call a server.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from warmfront.errors import BadSetting
from warmfront.providers.dstack.ssh_tunnel import SSHHop
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from warmfront.providers.dstack.resources import DstackFleet, DstackInstance
    from warmfront.settings import Settings
    from warmfront.values import SSHAddress

_SSH_PORT = 22
#: Explanations of dstack's statuses of a host that is being prepared.
_PREPARING = {
    "pending": "dstack is connecting to it and installing its agent",
    "provisioning": "dstack is waiting for its agent",
}
#: The same for all statuses in which nothing can run.
_STATUSES = {**_PREPARING, "terminating": "it is being removed from the fleet"}


def ssh_fleet_configuration(settings: Settings) -> dict[str, Any]:
    """Return the fleet of the hosts in AMD_FLEET_HOSTS.

    Raises:
        BadSetting: AMD_FLEET_SSH_KEY is not set.
    """
    if settings.fleet_ssh_key is None:
        raise BadSetting(
            "AMD_FLEET_SSH_KEY is not set, and dstack needs a private key to prepare the hosts of "
            "AMD_FLEET_HOSTS.",
            hint="Set it to the file of a key that these hosts accept, such as ~/.ssh/id_ed25519.",
        )
    key = str(settings.fleet_ssh_key)
    ssh_config: dict[str, Any] = {"user": settings.fleet_ssh_user, "identity_file": key}
    jump = settings.fleet_jump_host
    if jump is not None:
        ssh_config["proxy_jump"] = {
            "hostname": jump.host,
            "port": jump.port or _SSH_PORT,
            "user": jump.user or settings.fleet_ssh_user,
            "identity_file": key,
        }
    ssh_config["hosts"] = [_host_configuration(host) for host in settings.fleet_hosts]
    return {"type": "fleet", "name": settings.fleet_name, "ssh_config": ssh_config}


def describe_hosts(hosts: tuple[SSHAddress, ...], jump_host: SSHAddress | None) -> str:
    """Return the hosts of a fleet as canonical text: equal sets of hosts have equal texts."""
    through = f" through {_full(jump_host)}" if jump_host else ""
    return ", ".join(sorted(str(_full(host)) for host in hosts)) + through


def configured_hosts(settings: Settings) -> tuple[tuple[SSHAddress, ...], SSHAddress | None]:
    """Return the hosts and the jump host of the settings, each with its user."""
    user, jump = settings.fleet_ssh_user, settings.fleet_jump_host
    hosts = tuple(replace(host, user=host.user or user) for host in settings.fleet_hosts)
    return hosts, replace(jump, user=jump.user or user) if jump else None


@dataclass(frozen=True, kw_only=True)
class HostState:
    """A host of the fleet, and whether VMs can run on it."""

    host: str
    status: str  #: idle, busy, unreachable or another status of dstack, or missing
    gpus: str  #: such as `8 x MI300X`
    problem: str = ""  #: why no VM can run on it; empty if one can, or does

    @property
    def is_usable(self) -> bool:
        """Whether a VM can run, or is running, on this host."""
        return not self.problem

    @property
    def is_preparing(self) -> bool:
        """Whether dstack is still preparing this host."""
        return self.status in _PREPARING


def host_states(fleet: DstackFleet, settings: Settings) -> list[HostState]:
    """Return the state of each configured host."""
    instances = {instance.hostname: instance for instance in fleet.instances}
    return [_state(host.host, instances.get(host.host), settings) for host in settings.fleet_hosts]


def summarize(states: list[HostState]) -> str:
    """Return the hosts with their status and, if no VM can run on them, the reason."""
    return "; ".join(
        f"{state.host} is {state.status}{f' ({state.problem})' if state.problem else ''}" for state in states
    )


def _state(host: str, instance: DstackInstance | None, settings: Settings) -> HostState:
    if instance is None:
        problem = "dstack does not have it: it could not be prepared, or was removed from the fleet"
        return HostState(host=host, status="missing", gpus="", problem=problem)
    status = "unreachable" if instance.is_unreachable else instance.status
    kinds = sorted(set(instance.gpus))
    gpus = " and ".join(f"{instance.gpus.count(kind)} x {kind}" for kind in kinds)
    return HostState(host=host, status=status, gpus=gpus, problem=_problem(instance, settings))


def _problem(instance: DstackInstance, settings: Settings) -> str:
    """Return why no VM can run on a host; empty if one can, or is running there."""
    if instance.has_ended:
        return instance.termination_message or instance.termination_reason or "dstack gave up on it"
    if instance.is_unreachable:
        return "the dstack server cannot connect to it"
    if instance.is_unhealthy:
        return "a health check of dstack's agent failed"
    return _STATUSES.get(instance.status) or _mismatch(instance, settings)


def _mismatch(instance: DstackInstance, settings: Settings) -> str:
    """Return why the GPUs of a host do not match the settings; empty if they do."""
    if not set(instance.gpus) & set(settings.gpu_types):
        found = ", ".join(sorted(set(instance.gpus))) or "no GPU"
        return f"it has {found}, and AMD_GPU_TYPE is {settings.gpu_type}"
    if len(instance.gpus) not in settings.gpu_counts:
        wanted = " or ".join(map(str, settings.gpu_counts))
        return f"it has {len(instance.gpus)} GPUs, and AMD_VM_GPUS is {wanted}: a VM has all GPUs of its host"
    return ""


def _host_configuration(host: SSHAddress) -> dict[str, Any] | str:
    if host.user is None and host.port is None:
        return host.host
    user = {"user": host.user} if host.user else {}
    return {"hostname": host.host, **user, **({"port": host.port} if host.port else {})}


def ssh_hop(address: SSHAddress, *, is_dstack_host: bool = False) -> SSHHop:
    """Return a host, or a jump host, as an SSH server on the way to a run."""
    user = address.user or "root"
    return SSHHop(host=address.host, port=address.port or _SSH_PORT, user=user, is_dstack_host=is_dstack_host)


def _full(address: SSHAddress) -> SSHAddress:
    return replace(address, port=address.port or _SSH_PORT)
