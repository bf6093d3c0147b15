"""SSH fleets: their configuration, the settings that contradict them, and the states of their hosts."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from dstack._internal.core.models.configurations import parse_apply_configuration

from tests.support.dstack_fleets import FLEET
from warmfront import settings
from warmfront.cli.yaml_text import to_yaml
from warmfront.errors import BadSetting, FleetFailed, ProviderError
from warmfront.providers.clouds import end_command
from warmfront.providers.dstack import backends, boot_errors, configuration, fleet_setup, server_session
from warmfront.providers.dstack.assignment_events import InstanceAssignment
from warmfront.providers.dstack.resources import DstackFleet, DstackInstance, DstackRun
from warmfront.providers.dstack.ssh_fleet import configured_hosts, host_states
from warmfront.providers.dstack.tenancy import TenancyIndex
from warmfront.provisioning import FailureKind
from warmfront.values import SSHAddress

if TYPE_CHECKING:
    from pathlib import Path

ENVIRON = {
    "AMD_FLEET_HOSTS": "10.0.0.11, admin@gpu2.example:2222",
    "AMD_FLEET_SSH_KEY": "/keys/hosts",
    "AMD_FLEET_JUMP_HOST": "me@gateway.example",
}
OURS = settings.load(ENVIRON, env_file=None)
HOST = DstackInstance(
    id="i",
    name="own-0",
    num=0,
    fleet=OURS.fleet_name,
    status="idle",
    is_unreachable=False,
    hostname="10.0.0.11",
    backend="remote",
    region="remote",
    price_usd_per_h=Decimal(0),
    created_at=100.0,
    finished_at=None,
    termination_reason=None,
    termination_message=None,
    gpus=("MI300X",),
)
_HOSTS, _JUMP = configured_hosts(OURS)
SSH_FLEET = replace(
    FLEET,
    min_nodes=None,
    max_nodes=None,
    instances=(HOST, replace(HOST, hostname="gpu2.example", num=1)),
    hosts=_HOSTS,
    jump_host=_JUMP,
)


def test_dstack_accepts_the_printed_fleet() -> None:
    """`fleet config` prints a fleet that dstack's own model reads back with every host."""
    printed = to_yaml(configuration.example_configuration("fleet", OURS))
    ssh = parse_apply_configuration(yaml.safe_load(printed)).ssh_config
    assert (ssh.user, ssh.identity_file) == ("root", "/keys/hosts")
    assert ssh.hosts[0] == "10.0.0.11"
    assert (ssh.hosts[1].hostname, ssh.hosts[1].user, ssh.hosts[1].port) == ("gpu2.example", "admin", 2222)
    assert (ssh.proxy_jump.hostname, ssh.proxy_jump.user) == ("gateway.example", "me")


def test_an_ssh_fleet_needs_no_backend() -> None:
    """The server's configuration has an empty list, not the credentials of a cloud."""
    assert backends.server_configuration(OURS) == {"projects": [{"name": "main", "backends": []}]}


def test_a_task_uses_only_existing_hosts() -> None:
    """It has no cloud's limits, and dstack may not create a VM for it."""
    task = configuration.worker_task(OURS, vm_id="vm_1", gpu="MI300X", token="t")  # noqa: S106 - not a secret
    assert task["creation_policy"] == "reuse"
    assert not {"backends", "regions", "spot_policy", "max_price"} & set(task)
    assert parse_apply_configuration(task).creation_policy.value == "reuse"


def test_price_of_hosts() -> None:
    """It is zero, or AMD_HOST_HOURLY_RATE per GPU; a partition has its share."""
    assert OURS.vm_rate_usd_per_h("MI300X", 8) == 0
    priced = settings.load({**ENVIRON, "AMD_HOST_HOURLY_RATE": "0.40"}, env_file=None)
    assert priced.vm_rate_usd_per_h("MI300X", 8) == Decimal("3.20")
    assert priced.gpu_rate_usd_per_h("MI300X-CPX-NPS4") == Decimal("0.05")
    assert configuration.spot_rate_usd_per_h(priced, "MI300X") is None


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("AMD_BACKEND", "hotaisle", "AMD_BACKEND is 'hotaisle', but AMD_FLEET_HOSTS is set"),
        ("AMD_REGION", "atl1", "AMD_REGION is 'atl1', but"),
        ("AMD_SPOT_POLICY", "spot", "AMD_SPOT_POLICY is 'spot', but"),
        ("WARMFRONT_DSTACK_MODE", "direct", "WARMFRONT_DSTACK_MODE is 'direct', but"),
        (
            "AMD_FLEET_HOSTS",
            "10.0.0.11,10.0.0.11",
            "AMD_FLEET_HOSTS is '10.0.0.11,10.0.0.11'; allowed: differ",
        ),
        ("AMD_FLEET_HOSTS", "host;rm", "AMD_FLEET_HOSTS is 'host;rm'"),
        ("AMD_FLEET_HOSTS", "host:70000", "AMD_FLEET_HOSTS is 'host:70000'"),
        ("AMD_FLEET_JUMP_HOST", "a b", "AMD_FLEET_JUMP_HOST is 'a b'"),
    ],
)
def test_contradicting_settings(variable: str, value: str, message: str) -> None:
    """The error names the variable, its value and what to do."""
    with pytest.raises(BadSetting, match=message) as raised:
        settings.load({**ENVIRON, variable: value}, env_file=None)
    assert variable in (raised.value.hint or "")


def test_settings_that_do_not_contradict() -> None:
    """The name that dstack itself gives the backend is accepted, with hosts."""
    assert settings.load({**ENVIRON, "AMD_BACKEND": "remote"}, env_file=None) == OURS
    assert (OURS.max_fleet_vms, OURS.backends) == (2, ("remote",))
    with pytest.raises(BadSetting, match="AMD_FLEET_HOSTS is not set"):
        settings.load({"AMD_BACKEND": "remote"}, env_file=None)


def test_cpu_nodes_of_a_cloud_beside_hosts() -> None:
    """They need a separate backend, and have their own fleet, price and limits."""
    environ = {**ENVIRON, "WARMFRONT_PROVIDER": "dstack", "AMD_CPU_FLEET_NAME": "cpu-nodes"}
    with pytest.raises(BadSetting, match="AMD_CPU_BACKEND is not set"):
        settings.load(environ, env_file=None)
    both = settings.load({**environ, "AMD_CPU_BACKEND": "digitalocean"}, env_file=None)
    fleet = configuration.fleet_configuration(both.of_cpu_fleet())
    assert (fleet["backends"], "ssh_config" in fleet) == (["digitalocean"], False)
    assert both.of_cpu_fleet().max_fleet_vms == both.cpu_max_nodes
    assert "ssh_config" in configuration.fleet_configuration(both)


def test_a_key_is_required(tmp_path: Path) -> None:
    """Without a readable private key, the error names the variable."""
    with pytest.raises(BadSetting, match="AMD_FLEET_SSH_KEY is not set"):
        configuration.fleet_configuration(replace(OURS, fleet_ssh_key=None))
    for text, message in ((None, "No such file"), ("no key", "invalid key")):
        file = tmp_path / "key"
        if text:
            file.write_text(text)
        wanted = configuration.fleet_configuration(replace(OURS, fleet_ssh_key=file))
        with pytest.raises(
            BadSetting, match=rf"AMD_FLEET_SSH_KEY is '{file}', which cannot be read: .*{message}"
        ):
            server_session.fleet_spec(wanted)


def test_matching_fleet_has_no_differences() -> None:
    """Hosts are compared with their users and ports, in any order."""
    assert fleet_setup.differences(SSH_FLEET, OURS) == []
    assert fleet_setup.differences(replace(SSH_FLEET, hosts=_HOSTS[::-1]), OURS) == []


@pytest.mark.parametrize(
    ("actual", "can_change"),
    [
        (replace(SSH_FLEET, hosts=_HOSTS[:1]), True),
        (replace(SSH_FLEET, hosts=(*_HOSTS, SSHAddress(host="10.0.0.13", user="root"))), True),
        (replace(SSH_FLEET, hosts=(replace(_HOSTS[0], port=23), _HOSTS[1])), False),
        (replace(SSH_FLEET, jump_host=None), False),
        (FLEET, False),
    ],
    ids=["host added", "host removed", "port changed", "jump host added", "cloud fleet"],
)
def test_differences_of_hosts(actual: DstackFleet, can_change: bool) -> None:  # noqa: FBT001 - a parameter
    """Hosts can be added and removed, but how one is reached cannot be changed."""
    (difference,) = fleet_setup.differences(actual, OURS)
    assert (difference.field, difference.can_change) == ("hosts", can_change)


def test_a_cloud_fleet_cannot_become_an_ssh_fleet() -> None:
    """Nor can an SSH fleet become one of a cloud: the difference names the kind of the fleet."""
    (difference,) = fleet_setup.differences(SSH_FLEET, settings.load({}, env_file=None))
    assert (difference.wanted, difference.can_change) == ("none, because its VMs come from a cloud", False)


@pytest.mark.parametrize(
    ("changes", "status", "problem"),
    [
        ({}, "idle", ""),
        ({"status": "busy", "busy_blocks": 1}, "busy", ""),
        ({"status": "pending"}, "pending", "installing its agent"),
        ({"is_unreachable": True}, "unreachable", "cannot connect"),
        ({"is_unhealthy": True}, "idle", "health check"),
        ({"status": "terminated", "termination_message": "Failed to add"}, "terminated", "Failed to add"),
        ({"gpus": ()}, "idle", "it has no GPU, and AMD_GPU_TYPE is MI300X"),
        ({"gpus": ("MI300X",) * 8}, "idle", "it has 8 GPUs, and AMD_VM_GPUS is 1"),
        ({"hostname": "10.0.0.99"}, "missing", "dstack does not have it"),
    ],
)
def test_state_of_a_host(changes: dict[str, Any], status: str, problem: str) -> None:
    """Each reason why no VM can run on a host is named."""
    state = host_states(replace(SSH_FLEET, instances=(replace(HOST, **changes),)), OURS)[0]
    assert state.status == status
    assert problem in state.problem
    assert state.is_usable is not bool(problem)


class Server:
    """A client of a server with one fleet."""

    project = "main"

    def __init__(self, fleet: DstackFleet) -> None:
        self._fleet = fleet

    async def fleet(self, name: str) -> DstackFleet:
        """Return the fleet."""
        assert name == OURS.fleet_name
        return self._fleet

    async def assignments(self, *, run: str) -> list[InstanceAssignment]:
        """Return when the run was put on the host, and when it left it."""
        return [InstanceAssignment(at=at, run=run, instance_id="i") for at in (200.0, 260.0)]

    async def instance(self, instance_id: str) -> DstackInstance:
        """Return the host."""
        assert instance_id == "i"
        return HOST


def test_verify_fails_if_no_host_can_be_used() -> None:
    """The error has the reason for each host; one usable host is enough."""
    lost = tuple(replace(one, is_unreachable=True) for one in SSH_FLEET.instances)
    server: Any = Server(replace(SSH_FLEET, instances=lost))
    with pytest.raises(FleetFailed, match=r"10.0.0.11 is unreachable \(the dstack server cannot"):
        asyncio.run(fleet_setup.verify_hosts(server, OURS))
    server = Server(replace(SSH_FLEET, instances=(lost[0], SSH_FLEET.instances[1])))
    _, states = asyncio.run(fleet_setup.verify_hosts(server, OURS))
    assert [state.is_usable for state in states] == [False, True]


def test_a_fleet_without_a_free_host_is_full() -> None:
    """A VM is not requested, and the reason has the state of each host."""
    busy = tuple(replace(one, status="busy", busy_blocks=1) for one in SSH_FLEET.instances)
    assert not SSH_FLEET.is_full
    server: Any = Server(replace(SSH_FLEET, instances=busy))
    with pytest.raises(ProviderError, match=r"10\.0\.0\.11 is busy; gpu2\.example is busy") as raised:
        asyncio.run(boot_errors.check_ready(server, OURS))
    assert raised.value.kind is FailureKind.FLEET_FULL
    assert raised.value.kind.is_shortage


def test_a_tenancy_on_a_host_lasts_as_long_as_its_run() -> None:
    """It begins when the run is put on the host, and ends with the run; the host remains."""
    run = DstackRun(
        id="1",
        name="wf-vm-1",
        status="running",
        status_message="",
        termination_reason=None,
        error=None,
        fleet=OURS.fleet_name,
        submitted_at=199.0,
        cost_usd=Decimal(0),
        backend="remote",
        instance_id="instance_id",
        hostname="10.0.0.11",
    )
    client: Any = Server(SSH_FLEET)
    tenancies = TenancyIndex(client)
    running = asyncio.run(tenancies.tenancy(run, has_ended=False))
    assert running is not None
    assert (running.started_at, running.ended_at) == (200.0, None)
    ended = asyncio.run(tenancies.tenancy(replace(run, finished_at=260.0), has_ended=True))
    assert ended is not None
    assert (ended.started_at, ended.ended_at, ended.leaves_machine) == (200.0, 260.0, True)
    assert run.machine_id == "remote/10.0.0.11"
    assert end_command(OURS, run.machine_id).startswith("`dstack ps` shows the run on 10.0.0.11;")
