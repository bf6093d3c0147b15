"""The dstack provider against a real dstack server: idempotent requests, reconnection, confirmed ends."""

from __future__ import annotations

import asyncio
import os
import secrets
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.dstack.harness import finished, job
from tests.support.dstack_owners import OWNERSHIP
from warmfront import settings
from warmfront.errors import ProviderError
from warmfront.listener.unix_socket import path_of
from warmfront.providers.base import Lease, Phase
from warmfront.providers.dstack.client import DstackClient
from warmfront.providers.dstack.pool_mode import DstackProvider

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from tests.dstack.conftest import MakeFleet
    from tests.dstack.harness import Stack
    from tests.support.fake_cloud import Switches
    from warmfront.providers.ownership import Ownership

pytestmark = pytest.mark.slow  # the real dstack server is slow
TOKEN = "of-this-vm"  # noqa: S105 - only for tests
TIMEOUT_S = 900.0


@pytest.fixture(name="home", autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A home directory with a short path: ssh creates sockets in it."""
    with tempfile.TemporaryDirectory(prefix="wf") as name:
        monkeypatch.setenv("HOME", name)
        yield


def with_provider(
    stack: Stack,
    fleet: str,
    scenario: Callable[[DstackProvider], Awaitable[None]],
    *,
    ownership: Ownership = OWNERSHIP,
    **changes: Any,
) -> DstackProvider:
    """Run a scenario with a provider of this fleet, close the provider and return it."""
    environ = {
        "DSTACK_SERVER_URL": stack.server.url,
        "DSTACK_TOKEN": stack.server.token,
        "DSTACK_PROJECT": stack.server.project,
        "AMD_FLEET_NAME": fleet,
        "WARMFRONT_WORKER_TOOLCHAIN": "cpu",
        "WARMFRONT_DATA_DIR": str(Path(os.environ["HOME"]) / "data"),
        **changes,
    }
    configured = settings.load(environ, env_file=None)
    provider = DstackProvider(configured, DstackClient.open(configured), ownership=ownership)

    async def run() -> None:
        async with asyncio.timeout(TIMEOUT_S):
            try:
                await scenario(provider)
            finally:
                await provider.close()

    asyncio.run(run())
    return provider


def new_id() -> str:
    """Return a VM id in the service's format."""
    return f"vm_{secrets.token_hex(12)}"


async def provision(provider: DstackProvider, vm_id: str, gpu: str = "MI300X") -> list[Lease]:
    """Provision a VM and return its leases up to READY."""
    return [lease async for lease in provider.provision(vm_id, gpu, TOKEN)]


async def responds(lease: Lease) -> bool:
    """Wait until the listener listens, and return whether it accepts our token."""
    assert lease.address is not None
    path = path_of(lease.address)
    assert path is not None
    transport = httpx.AsyncHTTPTransport(uds=str(path))
    async with httpx.AsyncClient(
        transport=transport, headers={"Authorization": f"Bearer {TOKEN}"}, trust_env=False
    ) as http:
        while True:
            try:
                return (await http.get("http://listener/health")).is_success
            except httpx.TransportError:
                await asyncio.sleep(0.05)


def test_provision_is_idempotent(stack: Stack, fleet: MakeFleet) -> None:
    """Concurrent and repeated calls with the same id share one VM; its lease matches the cloud's bill."""
    before = len(stack.cloud.bill())
    vm_id = new_id()

    async def scenario(provider: DstackProvider) -> None:
        first, second = await asyncio.gather(provision(provider, vm_id), provision(provider, vm_id))
        assert first[-1] == second[-1] == (await provider.leases())[0]
        assert await responds(first[-1])
        ended = await provider.release(vm_id)
        assert ended.phase is Phase.ENDED
        assert await provider.release(vm_id) == await provider.describe(vm_id) == ended
        assert await provider.leases() == []
        (billed,) = stack.cloud.bill()[before:]
        assert ended.started_at == pytest.approx(billed.started_at, abs=2)
        assert ended.ended_at == pytest.approx(billed.ended_at, abs=2)
        with pytest.raises(ProviderError):
            await provision(provider, vm_id)

    with_provider(stack, fleet(), scenario)
    assert len(stack.cloud.bill()) - before == 1


def test_describe_reopens_a_broken_tunnel(stack: Stack, fleet: MakeFleet) -> None:
    """After its connection is cut, `describe` opens the tunnel again, at the same address."""
    vm_id = new_id()

    async def scenario(provider: DstackProvider) -> None:
        ready = (await provision(provider, vm_id))[-1]
        assert await responds(ready)
        (tunnel,) = provider._tunnels._tunnels.values()
        tunnel._connections[0].abort()
        described = await provider.describe(vm_id)
        assert described == ready
        assert await responds(described)
        await provider.release(vm_id)
        assert not tunnel.socket.exists()

    with_provider(stack, fleet(), scenario)


def test_new_provider_finds_existing_vms(stack: Stack, fleet: MakeFleet) -> None:
    """After a crash, VMs are found by their names, with their addresses and billed intervals."""
    vm_id = new_id()

    async def scenario(provider: DstackProvider) -> None:
        ready = (await provision(provider, vm_id))[-1]
        other = DstackProvider(
            provider.settings, DstackClient.open(provider.settings), ownership=provider.ownership
        )
        (found,) = await other.leases()
        assert found == ready
        assert await responds(found)
        assert (await other.release(vm_id)).started_at == ready.started_at
        await other.close()

    with_provider(stack, fleet(), scenario)


def test_unknown_vm(stack: Stack, fleet: MakeFleet) -> None:
    """A VM that never existed has no description, and its end is confirmed at once."""

    async def scenario(provider: DstackProvider) -> None:
        assert await provider.describe("vm_0") is None
        assert (await provider.release("vm_0")).phase is Phase.ENDED

    with_provider(stack, fleet(), scenario)


def assert_provision_fails(stack: Stack, fleet: str, message: str, **changes: Any) -> None:
    """Check that provisioning fails with this message, and that no VM is left."""
    vm_id = new_id()

    async def scenario(provider: DstackProvider) -> None:
        with pytest.raises(ProviderError, match=message):
            await provision(provider, vm_id)
        assert (await provider.release(vm_id)).phase is Phase.ENDED

    with_provider(stack, fleet, scenario, **changes)
    assert not [vm for vm in stack.cloud.droplets.values() if vm_id.removeprefix("vm_") in vm.name]


def test_missing_fleet(stack: Stack) -> None:
    """The error says that the fleet does not exist."""
    assert_provision_fails(stack, "no-such-fleet", "The fleet no-such-fleet does not exist")


def test_no_capacity(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """The error says that the cloud has no VM available."""
    switches.capacity = 0
    assert_provision_fails(stack, fleet(), "No MI300X is available on amddevcloud")


def test_image_that_cannot_be_pulled(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """The error names the setting of the worker image, and the VM is deleted."""
    switches.unpullable.add("registry.example/nothing:1")
    image = {"WARMFRONT_WORKER_IMAGE": "registry.example/nothing:1"}
    assert_provision_fails(stack, fleet(), "WARMFRONT_WORKER_IMAGE", **image)


def test_full_fleet(stack: Stack, fleet: MakeFleet) -> None:
    """A second VM in a fleet of one fails, and the error names the setting of the limit."""
    vm_id, other_id = new_id(), new_id()

    async def scenario(provider: DstackProvider) -> None:
        await provision(provider, vm_id)
        with pytest.raises(ProviderError, match="AMD_FLEET_MAX_NODES"):
            await provision(provider, other_id)
        await provider.release(other_id)
        assert [lease.vm_id for lease in await provider.leases()] == [vm_id]
        await provider.release(vm_id)

    with_provider(stack, fleet(nodes="0..1"), scenario)


def test_vm_above_the_rate_is_not_leased(stack: Stack, fleet: MakeFleet) -> None:
    """The ledger's rate is the most that a VM may cost."""
    before = len(stack.cloud.bill())
    assert_provision_fails(stack, fleet(), "above the limit of", AMD_MI300X_HOURLY_RATE=str(Decimal("1.50")))
    assert len(stack.cloud.bill()) == before


def test_minimum_reservation_is_billed(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """A Hot Aisle VM that ends early costs its minimum reservation, as on the cloud's bill."""
    switches.minimum_reservation_s = 4 * 3600.0
    vm_id = new_id()
    lived_s: list[float] = []

    async def scenario(provider: DstackProvider) -> None:
        await provision(provider, vm_id)
        ended = await provider.release(vm_id)
        assert ended.started_at is not None
        assert ended.ended_at is not None
        lived_s.append(ended.ended_at - ended.started_at)

    name = fleet(backends=["hotaisle"])
    provider = with_provider(stack, name, scenario, AMD_BACKEND="hotaisle", AMD_MINIMUM_RESERVATION="4h")
    billed = stack.cloud.bill()[-1]
    assert (billed.backend, billed.ended_at is not None) == ("hotaisle", True)
    assert provider.billing("MI300X").cost_usd(lived_s[0]) == pytest.approx(Decimal(str(billed.cost_usd())))
    assert provider.billing("MI300X").cost_usd(0.0) == Decimal("7.96")


def test_a_fleet_that_dstack_overlooked(stack: Stack, fleet: MakeFleet) -> None:
    """A run that failed because dstack did not find the fleet is submitted again once the fleet exists.

    That happens to runs that arrive while an empty fleet gets its first VM. Here the fleet is created later.
    """
    vm_id = new_id()
    name = "a-fleet-that-dstack-overlooked-0"

    async def scenario(provider: DstackProvider) -> None:
        provision_once = provider.provision(vm_id, "MI300X", TOKEN)
        assert (await anext(provision_once)).phase is Phase.QUEUED
        await provision_once.aclose()  # type: ignore[attr-defined]  # it is a generator
        run = stack.client.runs.get(provider.runs.name(vm_id))
        await asyncio.to_thread(finished, run)
        assert job(run).termination_reason_message == "Failed to use specified fleets"
        assert await asyncio.to_thread(fleet) == name
        assert (await provision(provider, vm_id))[-1].phase is Phase.READY
        await provider.release(vm_id)

    with_provider(stack, name, scenario)


def test_two_gpu_types(stack: Stack, fleet: MakeFleet) -> None:
    """A fleet for two GPU types provides a VM of each, at the price of its GPU type."""
    before = len(stack.cloud.bill())
    vm_ids = {"MI300X": new_id(), "MI325X": new_id()}

    async def scenario(provider: DstackProvider) -> None:
        await asyncio.gather(*(provision(provider, vm_id, gpu) for gpu, vm_id in vm_ids.items()))
        assert {lease.gpu: lease.vm_id for lease in await provider.leases()} == vm_ids
        for gpu, vm_id in vm_ids.items():
            assert (await provider.release(vm_id)).gpu == gpu

    gpu = {"name": ["MI300X", "MI325X"], "memory": "192GB..256GB", "count": 1}
    name = fleet(nodes="0..2", resources={"gpu": gpu, "cpu": "2..", "memory": "8GB..", "disk": "100GB.."})
    provider = with_provider(stack, name, scenario, AMD_GPU_TYPE="MI300X,MI325X")
    prices = sorted(entry.price for entry in stack.cloud.bill()[before:])
    assert prices == [float(provider.billing(gpu).rate_usd_per_h) for gpu in vm_ids] == [1.99, 2.25]
