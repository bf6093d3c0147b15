"""SSH fleets on a real dstack server: VMs run on hosts that exist already and are never ended."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.dstack.test_provider import TOKEN, _home, new_id, provision, responds, with_provider
from tests.support.dstack_owners import OTHER
from tests.support.own_hosts import add_hosts
from warmfront.errors import FleetFailed, ProviderError
from warmfront.providers.base import Phase
from warmfront.providers.dstack import fleet_setup
from warmfront.providers.dstack.host_requirements import check_hosts
from warmfront.providers.dstack.pool_mode import DstackProvider
from warmfront.provisioning import FailureKind

if TYPE_CHECKING:
    from pathlib import Path

    from tests.dstack.harness import Stack

pytestmark = pytest.mark.slow  # the real dstack server is slow


POLL_S = 0.1

__all__ = ["_home"]  # a fixture for these tests, too


async def create_fleet(provider: DstackProvider) -> None:
    """Create the fleet as `warmfront fleet create` does, and wait until all hosts are idle."""
    proposal = await fleet_setup.propose(provider.client, provider.settings)
    await fleet_setup.create(provider.client, proposal, provider.settings)
    await fleet_setup.wait_for_hosts(provider.client, provider.settings)


async def _hosts_of(provider: DstackProvider) -> set[tuple[str, str]]:
    """Return the id and status of each host of the fleet; other tests have other fleets."""
    instances = await provider.client.instances()
    return {(one.id, one.status) for one in instances if one.fleet == provider.settings.fleet_name}


def test_a_release_returns_the_host(stack: Stack, tmp_path: Path) -> None:
    """Two hosts have two VMs. A release ends the VM but not its host, on which the next VM runs."""
    hosts: dict[str, Any] = dict(add_hosts(stack, tmp_path, 2))

    async def scenario(provider: DstackProvider) -> None:
        await create_fleet(provider)
        before = await _hosts_of(provider)
        assert provider.max_vms == 2
        first, second = new_id(), new_id()
        leases = await asyncio.gather(provision(provider, first), provision(provider, second))
        assert all([await responds(lease[-1]) for lease in leases])
        machines = {lease[-1].machine_id for lease in leases}
        assert machines == {f"remote/{host}" for host in hosts["AMD_FLEET_HOSTS"].split(",")}
        with pytest.raises(ProviderError, match=r"No host of the fleet is free \(127\.\S+ is busy") as full:
            await provider.check_ready("MI300X")
        assert full.value.kind is FailureKind.FLEET_FULL
        ended = await provider.release(first)
        assert (ended.phase, ended.end_confirmed) == (Phase.ENDED, True)
        assert ended.started_at == leases[0][-1].started_at
        assert ended.ended_at is not None
        assert await provider.release(first) == await provider.describe(first) == ended
        assert [lease.vm_id for lease in await provider.leases()] == [second]
        third = new_id()
        assert (await provision(provider, third))[-1].machine_id == leases[0][-1].machine_id
        for vm_id in (second, third):
            await provider.release(vm_id)
        assert await provider.leases() == []
        # dstack frees a host after the end of its run, and has no event for it.
        while {status for _, status in await _hosts_of(provider)} != {"idle"}:  # noqa: ASYNC110 - see above
            await asyncio.sleep(POLL_S)
        assert await _hosts_of(provider) == before
        await fleet_setup.delete(provider.client, provider.settings.fleet_name, within_s=600)

    with_provider(stack, "own-hosts", scenario, **hosts)
    assert all(host.is_active for host in stack.cloud.own_hosts.values())


def test_a_vm_has_all_gpus_of_its_host(stack: Stack, tmp_path: Path) -> None:
    """A host with eight GPUs is one VM with eight; with AMD_VM_GPUS=1 it is refused with the reason."""
    hosts: dict[str, Any] = {**add_hosts(stack, tmp_path, 1, gpus=8), "AMD_VM_GPUS": "8"}

    async def scenario(provider: DstackProvider) -> None:
        await create_fleet(provider)
        _, (state,) = await fleet_setup.verify_hosts(provider.client, provider.settings)
        assert (state.gpus, state.is_usable) == ("8 x MI300X", True)
        one_gpu = replace(provider.settings, gpu_counts=(1,))
        with pytest.raises(FleetFailed, match="it has 8 GPUs, and AMD_VM_GPUS is 1"):
            await fleet_setup.verify_hosts(provider.client, one_gpu)
        vm_id = new_id()
        leases = [lease async for lease in provider.provision(vm_id, "MI300X", TOKEN, gpu_count=8)]
        assert (leases[-1].phase, leases[-1].gpu_count) == (Phase.READY, 8)
        await provider.release(vm_id)
        await fleet_setup.delete(provider.client, provider.settings.fleet_name, within_s=600)

    with_provider(stack, "eight-gpus", scenario, **hosts)


def test_two_services_share_the_hosts(stack: Stack, tmp_path: Path) -> None:
    """A host with the other service's VM is foreign while it is in use, and free for both after that."""
    hosts: dict[str, Any] = dict(add_hosts(stack, tmp_path, 2))

    async def scenario(ours: DstackProvider) -> None:
        await create_fleet(ours)
        other = DstackProvider(ours.settings, ours.client, ownership=OTHER)
        theirs, first = new_id(), new_id()
        await asyncio.gather(provision(other, theirs), provision(ours, first))
        assert [lease.vm_id for lease in await ours.leases()] == [first]
        (foreign,) = ours.foreign_vms
        assert (foreign.owner, foreign.status) == (OTHER.id, "running")
        await asyncio.gather(other.release(theirs), ours.release(first))
        assert await ours.leases() == []
        assert ours.foreign_vms == []
        second, third = new_id(), new_id()
        leases = await asyncio.gather(provision(ours, second), provision(ours, third))
        assert {lease[-1].phase for lease in leases} == {Phase.READY}
        await asyncio.gather(ours.release(second), ours.release(third))
        await fleet_setup.delete(ours.client, ours.settings.fleet_name, within_s=600)

    with_provider(stack, "shared-hosts", scenario, **hosts)


def test_a_host_that_cannot_be_prepared(stack: Stack, tmp_path: Path) -> None:
    """`fleet create` waits until dstack has given up on it; the other host can be used."""
    hosts: dict[str, Any] = dict(add_hosts(stack, tmp_path, 2))
    good, lost = hosts["AMD_FLEET_HOSTS"].split(",")
    stack.cloud.lose_own_host(lost)

    async def scenario(provider: DstackProvider) -> None:
        assert list(await check_hosts(provider.settings)) == [lost]
        await create_fleet(provider)
        _, states = await fleet_setup.verify_hosts(provider.client, provider.settings)
        assert [(state.host, state.is_usable) for state in states] == [(good, True), (lost, False)]
        assert states[1].problem
        vm_id = new_id()
        assert (await provision(provider, vm_id))[-1].machine_id == f"remote/{good}"
        await provider.release(vm_id)
        await fleet_setup.delete(provider.client, provider.settings.fleet_name, within_s=600)

    with_provider(stack, "half-lost", scenario, **hosts)
