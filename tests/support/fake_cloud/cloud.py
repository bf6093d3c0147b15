"""A simulated cloud, put together: two APIs, the way to them, and the machines behind.

A dstack server that gets `environment` and `backends` takes it for AMD Developer Cloud and Hot Aisle. All
of it is on loopback, and gone when it is closed.
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tests.support.fake_cloud import amd_developer_cloud, hot_aisle, http_api, price_catalog
from tests.support.fake_cloud.certificates import make_authority
from tests.support.fake_cloud.connect_proxy import ConnectProxy
from tests.support.fake_cloud.data_center import DataCenter
from tests.support.fake_cloud.switches import Switches

if TYPE_CHECKING:
    import ssl

    from aiohttp import web

    from tests.support.fake_cloud.bill import BillEntry
    from tests.support.fake_cloud.vm import FakeVM


class FakeCloud:
    """An asynchronous context manager; the cloud exists inside of it."""

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
        self.environment: dict[str, str] = {}  #: what a dstack server must have in its environment
        self._stack = AsyncExitStack()
        self._centre: DataCenter | None = None

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
        """The VMs that exist, of both clouds, by id."""
        return dict(self._running().vms)

    def bill(self) -> list[BillEntry]:
        """Every VM that there ever was, the oldest first."""
        return self._running().bill.records()

    def billed(self, vm_id: str) -> BillEntry:
        """The record of one VM."""
        return self._running().bill.record(vm_id)

    @property
    def waiting(self) -> int:
        """Requests that the silent API keeps waiting."""
        return self._running().waiting

    async def vanish(self, vm_id: str) -> None:
        """Lose a FakeVM: its processes are killed, its SSH is gone, and the API knows nothing of it."""
        if not await self._running().end(vm_id):
            raise KeyError(vm_id)

    async def _open(self, folder: Path) -> None:
        self._stack.callback(shutil.rmtree, folder, ignore_errors=True)
        self._centre = DataCenter(folder, self.switches)
        authority, tls = make_authority(folder, [amd_developer_cloud.HOST, hot_aisle.HOST])
        ports = {
            amd_developer_cloud.HOST: await self._serve(
                amd_developer_cloud.AmdDeveloperCloud(self._centre).app(), tls
            ),
            hot_aisle.HOST: await self._serve(hot_aisle.HotAisle(self._centre).app(), tls),
        }
        prices = await self._serve(price_catalog.app())
        proxy = ConnectProxy(ports)
        self.environment = {
            "HTTPS_PROXY": await proxy.start(),
            "NO_PROXY": "127.0.0.1,localhost",
            "REQUESTS_CA_BUNDLE": str(authority),
            "SSL_CERT_FILE": str(authority),
            "GPUHUNT_CATALOG_URL": f"http://127.0.0.1:{prices}",
        }
        self._stack.push_async_callback(proxy.close)
        self._stack.push_async_callback(self._centre.close)

    def _running(self) -> DataCenter:
        if self._centre is None:
            raise RuntimeError("The cloud exists only inside of its context.")
        return self._centre

    async def _serve(self, app: web.Application, tls: ssl.SSLContext | None = None) -> int:
        runner, port = await http_api.serve(app, tls)
        self._stack.push_async_callback(runner.cleanup)
        return port


def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="warmfront-cloud-"))
    folder.chmod(0o755)  # sandboxes on the VMs run as nobody
    return folder
