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

from warmfront.testing.cloud import amd, api, catalog, hotaisle
from warmfront.testing.cloud.authority import make_authority
from warmfront.testing.cloud.datacentre import DataCentre
from warmfront.testing.cloud.proxy import Proxy
from warmfront.testing.cloud.switches import Switches

if TYPE_CHECKING:
    import ssl

    from aiohttp import web

    from warmfront.testing.cloud.bill import Billed
    from warmfront.testing.cloud.vm import VM


class SimulatedCloud:
    """An asynchronous context manager; the cloud exists inside of it."""

    #: For a dstack server's configuration.
    backends: tuple[dict[str, Any], ...] = (
        {"type": amd.BACKEND, "creds": {"type": "api_key", "api_key": amd.KEY}},
        {
            "type": hotaisle.BACKEND,
            "team_handle": hotaisle.TEAM,
            "creds": {"type": "api_key", "api_key": hotaisle.KEY},
        },
    )

    def __init__(self, switches: Switches | None = None) -> None:
        self.switches = switches or Switches()
        self.environment: dict[str, str] = {}  #: what a dstack server must have in its environment
        self._stack = AsyncExitStack()
        self._centre: DataCentre | None = None

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
    def droplets(self) -> dict[str, VM]:
        """The VMs that exist, of both clouds, by id."""
        return dict(self._running().vms)

    def bill(self) -> list[Billed]:
        """Every VM that there ever was, the oldest first."""
        return self._running().bill.records()

    def billed(self, vm_id: str) -> Billed:
        """The record of one VM."""
        return self._running().bill.record(vm_id)

    @property
    def waiting(self) -> int:
        """Requests that the silent API keeps waiting."""
        return self._running().waiting

    async def vanish(self, vm_id: str) -> None:
        """Lose a VM: its processes are killed, its SSH is gone, and the API knows nothing of it."""
        if not await self._running().end(vm_id):
            raise KeyError(vm_id)

    async def _open(self, folder: Path) -> None:
        self._stack.callback(shutil.rmtree, folder, ignore_errors=True)
        self._centre = DataCentre(folder, self.switches)
        authority, tls = make_authority(folder, [amd.HOST, hotaisle.HOST])
        ports = {
            amd.HOST: await self._serve(amd.AmdDeveloperCloud(self._centre).app(), tls),
            hotaisle.HOST: await self._serve(hotaisle.HotAisle(self._centre).app(), tls),
        }
        prices = await self._serve(catalog.app())
        proxy = Proxy(ports)
        self.environment = {
            "HTTPS_PROXY": await proxy.start(),
            "NO_PROXY": "127.0.0.1,localhost",
            "REQUESTS_CA_BUNDLE": str(authority),
            "SSL_CERT_FILE": str(authority),
            "GPUHUNT_CATALOG_URL": f"http://127.0.0.1:{prices}",
        }
        self._stack.push_async_callback(proxy.close)
        self._stack.push_async_callback(self._centre.close)

    def _running(self) -> DataCentre:
        if self._centre is None:
            raise RuntimeError("The cloud exists only inside of its context.")
        return self._centre

    async def _serve(self, app: web.Application, tls: ssl.SSLContext | None = None) -> int:
        runner, port = await api.serve(app, tls)
        self._stack.push_async_callback(runner.cleanup)
        return port


def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="warmfront-cloud-"))
    folder.chmod(0o755)  # sandboxes on the VMs run as nobody
    return folder
