"""The dstack provider against a real dstack server: VMs asked for once, reached again, ended for certain."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from warmfront import settings
from warmfront.errors import ProviderError
from warmfront.providers.base import Lease, Phase
from warmfront.providers.dstack.client import DstackClient
from warmfront.providers.dstack.pool_mode import DstackProvider

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from tests.dstack.conftest import MakeFleet
    from tests.dstack.harness import Stack
    from tests.support.fake_cloud import Switches

pytestmark = [
    pytest.mark.slow,  # a real server takes its time
    # dstack's client leaves the socket of a port that it finds taken to the garbage collector.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
TOKEN = "of-this-vm"  # noqa: S105 - opens nothing but a test's listener
PATIENCE_S = 300.0


@pytest.fixture(name="home", autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A home with a short path: ssh makes sockets below it."""
    with tempfile.TemporaryDirectory(prefix="wf") as name:
        monkeypatch.setenv("HOME", name)
        yield


def lead(
    stack: Stack, fleet: str, life: Callable[[DstackProvider], Awaitable[None]], **changes: Any
) -> DstackProvider:
    """Live with a provider of that fleet for a while."""
    environ = {
        "DSTACK_SERVER_URL": stack.server.url,
        "DSTACK_TOKEN": stack.server.token,
        "DSTACK_PROJECT": stack.server.project,
        "AMD_FLEET_NAME": fleet,
        **changes,
    }
    configured = settings.load(environ, env_file=None)
    provider = DstackProvider(configured, DstackClient.open(configured))

    async def live() -> None:
        async with asyncio.timeout(PATIENCE_S):
            try:
                await life(provider)
            finally:
                await provider.close()

    asyncio.run(live())
    return provider


def new_id() -> str:
    """As the service makes them."""
    return f"vm_{secrets.token_hex(12)}"


async def provision(provider: DstackProvider, vm_id: str) -> list[Lease]:
    """Every step to READY."""
    return [lease async for lease in provider.provision(vm_id, "MI300X", TOKEN)]


async def answers(lease: Lease) -> bool:
    """Whether its listener takes our token, as soon as it listens."""
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, trust_env=False) as http:
        while True:
            try:
                return (await http.get(f"{lease.address}/health")).is_success
            except httpx.TransportError:
                await asyncio.sleep(0.05)


def test_a_vm_is_asked_for_once(stack: Stack, fleet: MakeFleet) -> None:
    """The same id is the same VM, for two who ask at once too; its end is what the cloud has on record."""
    before = len(stack.cloud.bill())
    vm_id = new_id()

    async def live(provider: DstackProvider) -> None:
        one, other = await asyncio.gather(provision(provider, vm_id), provision(provider, vm_id))
        assert one[-1] == other[-1] == (await provider.leases())[0]
        assert await answers(one[-1])
        ended = await provider.release(vm_id)
        assert ended.phase is Phase.ENDED
        assert await provider.release(vm_id) == await provider.describe(vm_id) == ended
        assert await provider.leases() == []
        (billed,) = stack.cloud.bill()[before:]
        assert ended.started_at == pytest.approx(billed.started_at, abs=2)
        assert ended.ended_at == pytest.approx(billed.ended_at, abs=2)
        with pytest.raises(ProviderError):
            await provision(provider, vm_id)

    lead(stack, fleet(), live)
    assert len(stack.cloud.bill()) - before == 1


def ssh_to(vm_id: str) -> list[int]:
    """The processes of the tunnel to a VM."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
            if Path(words[0]).name == "ssh" and any(vm_id.removeprefix("vm_") in word for word in words):
                found.append(int(process.name))
    return found


def test_a_tunnel_that_was_cut_is_opened_anew(stack: Stack, fleet: MakeFleet) -> None:
    """Whoever doubts a VM and asks for it gets an address that leads there."""
    vm_id = new_id()

    async def live(provider: DstackProvider) -> None:
        ready = (await provision(provider, vm_id))[-1]
        assert await answers(ready)
        tunnels = ssh_to(vm_id)
        assert tunnels
        for pid in tunnels:
            os.kill(pid, signal.SIGKILL)
        described = await provider.describe(vm_id)
        assert described is not None
        assert await answers(described)
        await provider.release(vm_id)

    lead(stack, fleet(), live)


def test_a_provider_that_starts_anew_finds_its_vms(stack: Stack, fleet: MakeFleet) -> None:
    """After a crash VMs are found by their names, with a way to them and the times of their bill."""
    vm_id = new_id()

    async def live(provider: DstackProvider) -> None:
        ready = (await provision(provider, vm_id))[-1]
        other = DstackProvider(provider.settings, DstackClient.open(provider.settings))
        (found,) = await other.leases()
        assert found == ready
        assert await answers(found)
        assert (await other.release(vm_id)).started_at == ready.started_at
        await other.close()

    lead(stack, fleet(), live)


def test_a_vm_that_never_was(stack: Stack, fleet: MakeFleet) -> None:
    """What dstack never had is not described, and its end is confirmed at once."""

    async def live(provider: DstackProvider) -> None:
        assert await provider.describe("vm_0") is None
        assert (await provider.release("vm_0")).phase is Phase.ENDED

    lead(stack, fleet(), live)


def refused(stack: Stack, fleet: str, words: str, **changes: Any) -> None:
    """Ask for a VM that does not come; the reason has these words, and nothing is left."""
    vm_id = new_id()

    async def live(provider: DstackProvider) -> None:
        with pytest.raises(ProviderError, match=words):
            await provision(provider, vm_id)
        assert (await provider.release(vm_id)).phase is Phase.ENDED

    lead(stack, fleet, live, **changes)
    assert not [vm for vm in stack.cloud.droplets.values() if vm_id.removeprefix("vm_") in vm.name]


def test_a_fleet_that_does_not_exist(stack: Stack) -> None:
    """Who named a fleet wrong is told that there is none."""
    refused(stack, "no-such-fleet", "no such fleet: `warmfront fleet create`")


def test_a_cloud_without_capacity(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """A cloud that has no VM now is told from a fleet that is wrong."""
    switches.capacity = 0
    refused(stack, fleet(), "The cloud has no such VM now")


def test_an_image_that_cannot_be_pulled(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """A worker image that nobody has is named as the cause, and its VM is deleted."""
    switches.unpullable.add("registry.example/nothing:1")
    image = {"WARMFRONT_WORKER_IMAGE": "registry.example/nothing:1"}
    refused(stack, fleet(), "WARMFRONT_WORKER_IMAGE", **image)


def test_a_fleet_that_is_full(stack: Stack, fleet: MakeFleet) -> None:
    """A second VM in a fleet for one is refused with the setting that allows more."""
    vm_id, other_id = new_id(), new_id()

    async def live(provider: DstackProvider) -> None:
        await provision(provider, vm_id)
        with pytest.raises(ProviderError, match="AMD_FLEET_MAX_NODES"):
            await provision(provider, other_id)
        await provider.release(other_id)
        assert [lease.vm_id for lease in await provider.leases()] == [vm_id]
        await provider.release(vm_id)

    lead(stack, fleet(nodes="0..1"), live)


def test_a_price_above_the_rate_is_not_paid(stack: Stack, fleet: MakeFleet) -> None:
    """The ledger's rate is the most that a VM may cost: dearer ones are not leased."""
    before = len(stack.cloud.bill())
    refused(stack, fleet(), "AMD_MI300X_HOURLY_RATE|no such VM", AMD_MI300X_HOURLY_RATE=str(Decimal("1.50")))
    assert len(stack.cloud.bill()) == before


def test_a_minimum_reservation_is_in_the_price(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """A VM of Hot Aisle that ends at once costs what the cloud bills for it: all that it reserved."""
    switches.minimum_reservation_s = 4 * 3600.0
    vm_id = new_id()
    lived_s: list[float] = []

    async def live(provider: DstackProvider) -> None:
        await provision(provider, vm_id)
        ended = await provider.release(vm_id)
        assert ended.started_at is not None
        assert ended.ended_at is not None
        lived_s.append(ended.ended_at - ended.started_at)

    name = fleet(backends=["hotaisle"])
    provider = lead(stack, name, live, AMD_BACKEND="hotaisle", AMD_MINIMUM_RESERVATION="4h")
    billed = stack.cloud.bill()[-1]
    assert (billed.backend, billed.ended_at is not None) == ("hotaisle", True)
    assert provider.billing("MI300X").cost_usd(lived_s[0]) == pytest.approx(Decimal(str(billed.cost_usd())))
    assert provider.billing("MI300X").cost_usd(0.0) == Decimal("7.96")
