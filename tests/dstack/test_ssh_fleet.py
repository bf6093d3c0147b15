"""SSH fleets on a real dstack server: VMs run on hosts that exist already and are never ended."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tests.dstack.test_provider import new_id, provision, responds, with_provider
from tests.support.dstack_services import temporary_home
from tests.support.own_hosts import add_hosts
from warmfront.errors import ProviderError
from warmfront.providers.base import Phase
from warmfront.providers.dstack import fleet_setup
from warmfront.providers.dstack.ssh_fleet import host_states
from warmfront.provisioning import FailureKind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.dstack.harness import Stack
    from warmfront.providers.dstack.pool_mode import DstackProvider

pytestmark = pytest.mark.slow  # the real dstack server is slow


@pytest.fixture(name="home", autouse=True)
def _home() -> Iterator[None]:
    """A home directory with a short path: ssh creates sockets in it."""
    with temporary_home() as folder:
        (folder / "home").mkdir()
        yield


async def create_fleet(provider: DstackProvider) -> None:
    """Create the fleet as `warmfront fleet create` does, and wait until all hosts are idle."""
    proposal = await fleet_setup.propose(provider.client, provider.settings)
    await fleet_setup.create(provider.client, proposal, provider.settings)
    while True:
        fleet = await fleet_setup.read_back(provider.client, provider.settings)
        if {state.status for state in host_states(fleet, provider.settings)} == {"idle"}:
            return
        await asyncio.sleep(0.1)


def test_a_release_returns_the_host(stack: Stack, tmp_path: Path) -> None:
    """Two hosts have two VMs. A release ends the VM, not its host, which has the next VM."""
    hosts: dict[str, Any] = dict(add_hosts(stack, tmp_path, 2))

    async def scenario(provider: DstackProvider) -> None:
        await create_fleet(provider)
        before = {instance.id for instance in await provider.client.instances()}
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
        after = await provider.client.instances()
        assert {(instance.id, instance.status) for instance in after} >= {(one, "idle") for one in before}
        await fleet_setup.delete(provider.client, provider.settings.fleet_name, within_s=600)

    with_provider(stack, "own-hosts", scenario, **hosts)
    assert all(host.is_active for host in stack.cloud.own_hosts.values())
