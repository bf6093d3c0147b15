"""The lists of the clouds' machines, read from the fake cloud, which implements the clouds' own APIs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.support.fake_cloud import FakeCloud, amd_developer_cloud, hot_aisle
from warmfront import settings
from warmfront.errors import BadSetting, ProviderError
from warmfront.providers import clouds

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from warmfront.providers.clouds.base import Cloud

AMD = {"WARMFRONT_AMDDEVCLOUD_READ_KEY": amd_developer_cloud.KEY}
HOT_AISLE = {
    "AMD_BACKEND": "hotaisle",
    "WARMFRONT_HOTAISLE_READ_KEY": hot_aisle.KEY,
    "DSTACK_HOTAISLE_TEAM": hot_aisle.TEAM,
}


def with_cloud(
    environ: dict[str, str],
    scenario: Callable[[FakeCloud, Cloud], Awaitable[None]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Run a scenario with a fake cloud and the cloud that these settings name."""

    async def run() -> None:
        async with FakeCloud() as fake:
            for name, value in fake.environment.items():
                monkeypatch.setenv(name, value)
            (cloud,) = clouds.open_clouds(settings.load(environ, env_file=None))
            try:
                await scenario(fake, cloud)
            finally:
                await cloud.close()

    asyncio.run(run())


def create(fake: FakeCloud, backend: str, count: int) -> list[str]:
    """Create VMs directly in the data center, and return their ids."""
    center = fake._running()
    vm_ids = []
    for _ in range(count):
        number = center.next_number()
        vm_id = str(500_000 + number) if backend == "amddevcloud" else f"enc1-gpuvm{number:03d}"
        center.create(vm_id=vm_id, number=number, name=f"vm-{number}", backend=backend, price=1.99, keys=[])
        vm_ids.append(vm_id)
    return vm_ids


def test_droplets(monkeypatch: pytest.MonkeyPatch) -> None:
    """All pages are read, and each droplet has its id, its name and its creation."""

    async def scenario(fake: FakeCloud, cloud: Cloud) -> None:
        assert await cloud.machines() == []
        vm_ids = create(fake, "amddevcloud", 3)
        create(fake, "hotaisle", 1)
        machines = await cloud.machines()
        assert [machine.id for machine in machines] == vm_ids
        assert machines[0].name == "vm-1"
        assert machines[0].created_at == pytest.approx(fake.billed(vm_ids[0]).started_at, abs=1.1)

    monkeypatch.setattr("warmfront.providers.clouds.amd_developer_cloud._PER_PAGE", 2)
    with_cloud(AMD, scenario, monkeypatch)


def test_lifetimes_of_droplets(monkeypatch: pytest.MonkeyPatch) -> None:
    """The account's actions say when a droplet was created and destroyed; not every key may read them."""

    async def scenario(fake: FakeCloud, cloud: Cloud) -> None:
        first, second = create(fake, "amddevcloud", 2)
        await fake.vanish(first)
        billed = fake.billed(first)
        assert billed.ended_at is not None
        lifetime = await cloud.lifetime(first)
        assert lifetime is not None
        assert lifetime.created_at == int(billed.started_at)
        assert lifetime.ended_at == int(billed.ended_at)
        assert await cloud.lifetime(second) is None
        assert await cloud.lifetime("1") is None
        fake.switches.records_actions = False
        with pytest.raises(ProviderError, match="status 403"):
            await cloud.lifetime(first)

    monkeypatch.setattr("warmfront.providers.clouds.amd_developer_cloud._PER_PAGE", 2)
    with_cloud(AMD, scenario, monkeypatch)


def test_virtual_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    """The names of Hot Aisle's virtual machines are their ids."""

    async def scenario(fake: FakeCloud, cloud: Cloud) -> None:
        assert await cloud.machines() == []
        create(fake, "amddevcloud", 1)
        create(fake, "hotaisle", 1)
        assert [machine.id for machine in await cloud.machines()] == ["vm-2"]
        assert await cloud.lifetime("vm-2") is None

    with_cloud(HOT_AISLE, scenario, monkeypatch)


def test_a_key_that_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error has the status, and the hint the variable."""

    async def scenario(fake: FakeCloud, cloud: Cloud) -> None:
        fake.switches.rejects_key = True
        with pytest.raises(ProviderError, match=r"amddevcloud responded with status 401") as raised:
            await cloud.machines()
        assert "WARMFRONT_AMDDEVCLOUD_READ_KEY" in (raised.value.hint or "")

    with_cloud(AMD, scenario, monkeypatch)


def test_settings_without_a_list() -> None:
    """Without a key or without its backend there is no list; a missing team is an error."""
    assert clouds.open_clouds(settings.load({}, env_file=None)) == []
    assert clouds.open_clouds(settings.load({**AMD, "AMD_BACKEND": "aws"}, env_file=None)) == []
    both = {**AMD, **HOT_AISLE, "AMD_BACKEND": "amddevcloud,hotaisle"}
    assert len(clouds.open_clouds(settings.load(both, env_file=None))) == 2
    with pytest.raises(BadSetting, match="DSTACK_HOTAISLE_TEAM is not"):
        clouds.open_clouds(settings.load({**HOT_AISLE, "DSTACK_HOTAISLE_TEAM": ""}, env_file=None))


def test_commands_that_end_a_machine() -> None:
    """They name the machine and a variable for the key, never the key."""
    amd, hot = settings.load(AMD, env_file=None), settings.load(HOT_AISLE, env_file=None)
    command = clouds.end_command(amd, "amddevcloud/500001")
    assert command.startswith("curl -X DELETE ")
    assert command.endswith("https://api.devcloud.amd.com/v2/droplets/500001")
    assert amd_developer_cloud.KEY not in command
    assert clouds.end_command(hot, "hotaisle/enc1").endswith(
        f"/api/teams/{hot_aisle.TEAM}/virtual_machines/enc1/"
    )
    assert clouds.end_command(amd, None) == "end it in the console of amddevcloud"
