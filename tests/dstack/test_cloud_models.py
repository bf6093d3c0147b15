"""The models of the fake cloud, without dstack: pulls, ROCm, refusals, regions, spot, clocks, packet loss."""

from __future__ import annotations

import asyncio
import gc
import ssl
import time
import warnings
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from aiohttp import web

from tests.support.fake_cloud import (
    FakeCloud,
    Layer,
    Switches,
    amd_developer_cloud,
    hot_aisle,
    http_api,
    refusals,
)
from tests.support.fake_cloud.images import LayerCache, Pull
from tests.support.fake_cloud.lossy_link import LossyLink
from tests.support.fake_cloud.runner import Runner

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from tests.support.fake_cloud.vm import FakeVM

_API = f"https://{amd_developer_cloud.HOST}/v2"
_AISLE = f"https://{hot_aisle.HOST}/api/teams/{hot_aisle.TEAM}/virtual_machines"
_BASE, _TOOLS, _NEXT = Layer("base", 800_000), Layer("tools", 200_000), Layer("next", 100_000)
#: Limit for a condition; only one that never holds takes this long.
_TIMEOUT_S = 900.0


def test_pull_takes_size_over_bandwidth_and_caches_layers() -> None:
    """A second image of the same VM pulls only the layers that the first did not have."""

    async def main() -> None:
        cache, loop = LayerCache(), asyncio.get_running_loop()
        for layers, expected_bytes in (
            ((_BASE, _TOOLS), 1_000_000),
            ((_BASE, _NEXT), 100_000),
            ((_BASE, _NEXT), 0),
        ):
            began = loop.time()
            pull = Pull(layers=cache.missing(layers))
            await pull.run(cache, bytes_per_s=1e6)
            assert pull.downloaded_bytes == pull.total_bytes == expected_bytes
            assert loop.time() - began >= expected_bytes / 1e6

    asyncio.run(main())


def test_cancelled_pull_keeps_its_complete_layers() -> None:
    """A pull that is interrupted in its second layer leaves the first one in the cache, and its progress."""

    async def main() -> None:
        cache = LayerCache()
        pull = Pull(layers=[_NEXT, Layer("huge", 10**12)])
        pulling = asyncio.create_task(pull.run(cache, bytes_per_s=1e6))
        await _until(lambda: "next" in cache.digests)
        pulling.cancel()
        assert cache.digests == {"next"}
        assert pull.describe()["total_bytes"] == 10**12 + 100_000
        assert 100_000 <= pull.describe()["downloaded_bytes"] < 10**12

    asyncio.run(main())


def test_rocm_is_prepared_after_the_vm_is_active() -> None:
    """A VM is active, and billed, while ROCm is prepared; its shim answers only after that."""

    async def main(cloud: FakeCloud) -> None:
        vm = await _create(cloud)
        await _until(lambda: vm.is_active)
        assert vm._shim.port is None
        await _until(lambda: vm._shim.port is not None)
        assert time.time() - cloud.billed(vm.id).started_at >= 0.5

    _with_cloud(main, Switches(boot_s=0.0, install_s=0.0, rocm_s=0.5))


@pytest.mark.parametrize(
    "refusal",
    [
        refusals.NOT_AVAILABLE,
        refusals.DROPLET_LIMIT,
        refusals.NO_CREDITS,
        refusals.LOCKED,
        refusals.FORBIDDEN,
        refusals.RATE_LIMIT,
        refusals.SERVER_ERROR,
    ],
    ids=lambda refusal: refusal.message.split()[0] + str(refusal.status),
)
def test_refusals_in_the_clouds_own_words(refusal: refusals.Refusal) -> None:
    """A refused creation has the cloud's status, id and message, and nothing is billed."""

    async def main(cloud: FakeCloud) -> None:
        response = await _post(cloud)
        assert response.status_code == refusal.status
        assert response.json() == {"id": refusal.id, "message": refusal.message}
        assert cloud.bill() == []

    _with_cloud(main, Switches(refuses_create=refusal))


def test_failure_after_the_charge_began() -> None:
    """Both clouds can fail a creation that took effect: the VM exists and is billed."""

    async def main(cloud: FakeCloud) -> None:
        assert (await _post(cloud)).status_code == 500
        async with _client(cloud, f"Token {hot_aisle.KEY}") as client:
            assert (await client.post(f"{_AISLE}/", json={})).status_code == 500
        assert [entry.backend for entry in cloud.bill()] == ["amddevcloud", "hotaisle"]
        assert {vm.backend for vm in cloud.droplets.values()} == {"amddevcloud", "hotaisle"}

    _with_cloud(main, Switches(fails_after_create=refusals.SERVER_ERROR))


def test_regions_have_their_own_capacity_and_sizes_their_own_price() -> None:
    """A full region refuses, another one does not; a size of one region has its own price on the bill."""
    cheap = amd_developer_cloud.size("gpu-mi300x1-contract", price=1.49, regions=("nyc2",))

    async def main(cloud: FakeCloud) -> None:
        async with _client(cloud) as client:
            sizes = (await client.get(f"{_API}/sizes")).json()["sizes"]
        offered = {size["slug"]: (size["price_hourly"], size["regions"]) for size in sizes}
        assert offered["gpu-mi300x1-192gb"] == (1.99, ["atl1", "nyc2"])
        assert offered["gpu-mi300x1-contract"] == (1.49, ["nyc2"])
        assert (await _post(cloud, region="atl1")).json()["message"] == refusals.NOT_AVAILABLE.message
        assert (await _post(cloud, region="nyc2", size="gpu-mi300x1-contract")).status_code == 202
        assert [(entry.region, entry.price) for entry in cloud.bill()] == [("nyc2", 1.49)]

    _with_cloud(main, Switches(regions={"atl1": 0, "nyc2": 1}, extra_sizes=[cheap]))


def test_spot_vm_is_reclaimed_and_its_bill_ends() -> None:
    """A spot VM has its own price and ends by itself; an on-demand VM stays, and cannot be interrupted."""

    async def main(cloud: FakeCloud) -> None:
        stays = await _create(cloud)
        response = await _post(cloud, size=amd_developer_cloud.SPOT_SLUG)
        spot = str(response.json()["droplet"]["id"])  # it may have ended already
        assert (cloud.billed(spot).price, cloud.billed(spot).spot) == (0.80, True)
        await _until(lambda: cloud.billed(spot).ended_at is not None)
        assert set(cloud.droplets) == {stays.id}
        with pytest.raises(ValueError, match="not a spot VM"):
            await cloud.interrupt(stays.id)

    _with_cloud(main, Switches(spot_price=0.80, reclaims_spot_after_s=0.1))


def test_clock_skew_is_on_the_bill_and_in_the_api() -> None:
    """The cloud's times are its own; the duration on the bill is right."""

    async def main(cloud: FakeCloud) -> None:
        began = time.time()
        vm = await _create(cloud)
        async with _client(cloud) as client:
            droplet = (await client.get(f"{_API}/droplets/{vm.id}")).json()["droplet"]
        # The API gives whole seconds.
        assert datetime.fromisoformat(droplet["created_at"]).timestamp() >= int(began) + 3600
        await cloud.vanish(vm.id)
        entry = cloud.billed(vm.id)
        assert entry.ended_at is not None
        assert entry.started_at >= began + 3600
        assert 0 <= entry.ended_at - entry.started_at <= time.time() - began

    _with_cloud(main, Switches(clock_skew_s=3600.0))


def test_clock_skew_of_a_vm(tmp_path: Path) -> None:
    """The times that a VM reports to dstack are those of its own clock."""
    runner = Runner(root=tmp_path, host=tmp_path, mounts=[], clock_skew_s=-600.0)
    assert runner._now_ms() / 1000 <= time.time() - 599


def test_packet_loss_delays_and_loses_nothing() -> None:
    """All bytes arrive in order, after the timeouts of the segments that were lost."""
    sent = bytes(range(256)) * 64

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readexactly(len(sent)))
        writer.close()

    async def main() -> None:
        link = LossyLink(Switches(packet_loss=0.2, latency_s=0.02), seed="test")
        server = await asyncio.start_server(echo, "127.0.0.1", 0)
        await link.start("127.0.0.1", 0, to_port=server.sockets[0].getsockname()[1])
        assert link._server is not None
        began = asyncio.get_running_loop().time()
        reader, writer = await asyncio.open_connection(*link._server.sockets[0].getsockname())
        writer.write(sent)
        assert await reader.readexactly(len(sent)) == sent
        assert link.retransmitted > 0
        assert asyncio.get_running_loop().time() - began >= 0.04 + 0.2
        writer.close()
        await link.close()
        server.close()

    asyncio.run(main())


def _with_cloud(main: Callable[[FakeCloud], Awaitable[None]], switches: Switches) -> None:
    async def run() -> None:
        async with FakeCloud(switches) as cloud:
            await main(cloud)

    asyncio.run(run())


async def _create(cloud: FakeCloud, **fields: Any) -> FakeVM:
    response = await _post(cloud, **fields)
    return cloud.droplets[str(response.json()["droplet"]["id"])]


async def _post(cloud: FakeCloud, **fields: Any) -> httpx.Response:
    body = {"name": "vm", "size": "gpu-mi300x1-192gb", "ssh_keys": [], **fields}
    async with _client(cloud) as client:
        return await client.post(f"{_API}/droplets", json=body)


def _client(cloud: FakeCloud, authorization: str = f"Bearer {amd_developer_cloud.KEY}") -> httpx.AsyncClient:
    return httpx.AsyncClient(
        proxy=cloud.environment["HTTPS_PROXY"],
        verify=ssl.create_default_context(cafile=cloud.environment["SSL_CERT_FILE"]),
        headers={"Authorization": authorization},
        trust_env=False,
    )


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(_TIMEOUT_S):
        while not condition():  # noqa: ASYNC110 - the cloud has no event for it
            await asyncio.sleep(0.01)


def test_a_server_whose_start_is_cancelled_leaves_no_socket() -> None:
    """At every step of its start, because a VM can be ended at any moment of its boot."""

    async def scenario() -> None:
        for steps in range(12):
            starting = asyncio.create_task(http_api.serve(web.Application()))
            for _ in range(steps):
                await asyncio.sleep(0)
            starting.cancel()
            with suppress(asyncio.CancelledError):
                runner, _port = await starting
                await runner.cleanup()

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        asyncio.run(scenario())
        gc.collect()
    assert [warning for warning in caught if warning.category is ResourceWarning] == []
