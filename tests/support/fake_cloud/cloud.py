"""The fake cloud as a whole: two cloud APIs, a proxy to them, and their VMs.

A dstack server with this `environment` and these `backends` uses it as AMD Developer Cloud and Hot Aisle.
Everything is on loopback and is removed when the cloud is closed.
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tests.support.fake_cloud import amd_developer_cloud, hot_aisle, http_api, price_catalog
from tests.support.fake_cloud.certificates import create_authority
from tests.support.fake_cloud.connect_proxy import ConnectProxy
from tests.support.fake_cloud.data_center import DataCenter
from tests.support.fake_cloud.switches import Switches

if TYPE_CHECKING:
    import ssl

    from aiohttp import web

    from tests.support.fake_cloud.bill import BillEntry
    from tests.support.fake_cloud.vm import FakeVM


class FakeCloud:
    """An asynchronous context manager; the cloud exists inside its context."""

    #: For a dstack server's configuration.
    backends: tuple[dict[str, Any], ...] = (
        {
            "type": amd_developer_cloud.BACKEND,
            "creds": {"type": "api_key", "api_key": amd_developer_cloud.KEY},
        },
        {
            "type": hot_aisle.BACKEND,
            "team_handle": hot_aisle.TEAM,
            "creds": {"type": "api_key", "api_key": hot_aisle.KEY},
        },
    )

    def __init__(self, switches: Switches | None = None) -> None:
        self.switches = switches or Switches()
        self.environment: dict[str, str] = {}  #: variables for the dstack server
        self._stack = AsyncExitStack()
        self._center: DataCenter | None = None

    async def __aenter__(self) -> Self:
        try:
            await self._open(_folder())
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    @property
    def droplets(self) -> dict[str, FakeVM]:
        """The existing VMs of both clouds, by id."""
        return dict(self._running().vms)

    def bill(self) -> list[BillEntry]:
        """Return the bill entries of all VMs, oldest first."""
        return self._running().bill.entries()

    def billed(self, vm_id: str) -> BillEntry:
        """Return the bill entry of one VM."""
        return self._running().bill.entry(vm_id)

    @property
    def waiting(self) -> int:
        """The number of requests that a silent API has not answered."""
        return self._running().waiting

    @property
    def refused_at(self) -> dict[str, float]:
        """When the switch `broken` first failed a request of each method, by the cloud's clock."""
        return self._running().refused_at

    def now(self) -> float:
        """Return the time of the cloud's clock."""
        return self._running().now()

    async def add_own_host(self, key: str, *, gpus: int = 1) -> str:
        """Add a host for an SSH fleet, which accepts this public key; return its address when it runs."""
        host = self._running().add_own_host(key=key, gpus=gpus)
        await host.booted.wait()
        return host.address

    async def lose_own_host(self, address: str) -> None:
        """Switch off a host of an SSH fleet; it keeps its place in the fleet."""
        await self._running().own_hosts[address].end()

    @property
    def own_hosts(self) -> dict[str, FakeVM]:
        """The hosts of SSH fleets, by address."""
        return dict(self._running().own_hosts)

    async def vanish(self, vm_id: str) -> None:
        """Lose a VM: kill its processes, close its SSH server and remove it from the API."""
        if not await self._running().end(vm_id):
            raise KeyError(vm_id)

    async def interrupt(self, vm_id: str) -> None:
        """Reclaim a spot VM. There is no notice: dstack has none for its tasks."""
        if not self._running().vms[vm_id].spot:
            raise ValueError(f"{vm_id} is not a spot VM")
        await self.vanish(vm_id)

    async def _open(self, folder: Path) -> None:
        self._stack.callback(shutil.rmtree, folder, ignore_errors=True)
        self._center = DataCenter(folder, self.switches)
        ca_file, tls = create_authority(folder, [amd_developer_cloud.HOST, hot_aisle.HOST])
        ports = {
            amd_developer_cloud.HOST: await self._serve(
                amd_developer_cloud.AmdDeveloperCloud(self._center).app(), tls
            ),
            hot_aisle.HOST: await self._serve(hot_aisle.HotAisle(self._center).app(), tls),
        }
        catalog_port = await self._serve(price_catalog.app())
        proxy = ConnectProxy(ports)
        self.environment = {
            "HTTPS_PROXY": await proxy.start(),
            "NO_PROXY": "127.0.0.1,localhost",
            "REQUESTS_CA_BUNDLE": str(ca_file),
            "SSL_CERT_FILE": str(ca_file),
            "GPUHUNT_CATALOG_URL": f"http://127.0.0.1:{catalog_port}",
        }
        self._stack.push_async_callback(proxy.close)
        self._stack.push_async_callback(self._center.close)

    def _running(self) -> DataCenter:
        if self._center is None:
            raise RuntimeError("The cloud exists only inside its context.")
        return self._center

    async def _serve(self, app: web.Application, tls: ssl.SSLContext | None = None) -> int:
        runner, port = await http_api.serve(app, tls)
        self._stack.push_async_callback(runner.cleanup)
        return port


def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="warmfront-cloud-"))
    folder.chmod(0o755)  # sandboxes on the VMs run as an unprivileged user
    return folder
