"""A fake VM: it boots, has an SSH server and a shim behind it, and ends with all its processes.

The data center creates and ends it; dstack decides what it runs.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tests.support.fake_cloud.lossy_link import LossyLink
from tests.support.fake_cloud.own_host import HostSetup
from tests.support.fake_cloud.shim import CONTAINER_SSH_PORT, RUNNER_PORT, Shim
from tests.support.fake_cloud.ssh_server import SSHServer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import asyncssh

    from tests.support.fake_cloud.switches import Switches

SSH_PORT = 22
SHIM_PORT = 10998


class FakeVM:
    """One VM."""

    def __init__(
        self,
        *,
        vm_id: str,
        name: str,
        backend: str,
        address: str,
        folder: Path,
        keys: Sequence[str],
        host_key: asyncssh.SSHKey,
        switches: Switches,
        shim_by_command: bool,
        region: str,
        spot: bool,
        created_at: float,
        own_host_gpus: int | None = None,
    ) -> None:
        """Create a VM that boots; with `shim_by_command` the shim is started over SSH, otherwise at boot.

        With `own_host_gpus` it is a host of an SSH fleet with this many GPUs.
        """
        self.id = vm_id
        self.name = name
        self.backend = backend
        self.region = region
        self.spot = spot
        self.created_at = created_at
        self.address = address
        self.folder = folder
        self.is_active = False
        self.booted = asyncio.Event()
        self._keys = keys
        self._switches = switches
        self._never_boots = switches.never_boots
        self._shim_by_command = shim_by_command
        self._shim_wanted = asyncio.Event()
        self._shim = Shim(folder, switches)
        self._setup = (
            HostSetup(folder, gpus=own_host_gpus, start_shim=self._shim_wanted.set) if own_host_gpus else None
        )
        self._ssh = SSHServer(
            host_key=host_key,
            keys=self._host_keys,
            connect=self._host_port,
            command=None if self._setup else self._on_command,
            execute=self._setup.answer if self._setup else None,
            uploads=self._setup.uploads if self._setup else None,
        )
        self._container_ssh = SSHServer(
            host_key=host_key,
            keys=self._container_keys,
            connect=self._container_port,
            execute=self._in_container,
        )
        self._container_ssh_port = 0
        self.link = LossyLink(switches, seed=f"link of {vm_id}")  #: used if the network is lossy
        self._boot = asyncio.create_task(self._run_boot())

    @property
    def containers(self) -> list[dict[str, Any]]:
        """The containers that dstack requested from the shim, as dstack's request bodies."""
        return list(self._shim.requests)

    async def end(self) -> None:
        """End the VM and all its processes."""
        self.is_active = False
        self._boot.cancel()
        with suppress(asyncio.CancelledError):
            await self._boot
        await self.link.close()
        await self._ssh.close()
        await self._container_ssh.close()
        await self._shim.close()

    async def _run_boot(self) -> None:
        if self._never_boots:
            await asyncio.Event().wait()
        await asyncio.sleep(self._switches.boot_s)
        self._container_ssh_port = await self._container_ssh.start("127.0.0.1", 0)
        await self._connect_network()
        self.is_active = True
        self.booted.set()
        await asyncio.sleep(self._switches.rocm_s)
        if self._shim_by_command:
            await self._shim_wanted.wait()
        await asyncio.sleep(self._switches.install_s)
        await self._shim.start()

    async def _connect_network(self) -> None:
        if self._switches.has_lossy_network:
            port = await self._ssh.start("127.0.0.1", 0)
            await self.link.start(self.address, SSH_PORT, to_port=port)
        else:
            await self._ssh.start(self.address, SSH_PORT)

    def _on_command(self, command: str) -> None:
        if "dstack-shim" in command:
            self._shim_wanted.set()

    def _host_keys(self) -> Iterator[str]:
        yield from self._keys
        yield from self._setup.keys if self._setup else ()
        for task in self._shim.tasks.values():
            if task.status != "terminated" and not self._switches.rejects_user_keys:
                yield from task.request["host_ssh_keys"]

    def _container_keys(self) -> list[str]:
        task = self._shim.running_task()
        return [] if task is None else list(task.request["container_ssh_keys"])

    async def _host_port(self, port: int) -> socket.socket:
        if port == SHIM_PORT:
            return await _connect(self._shim.port)
        if port == CONTAINER_SSH_PORT:
            return await _connect(self._container_ssh_port if self._shim.running_task() else None)
        return await self._container_port(port)

    async def _container_port(self, port: int) -> socket.socket:
        task = self._shim.running_task()
        if task is None:
            raise ConnectionRefusedError("No container is running.")
        if port == RUNNER_PORT:
            return await _connect(task.runner.port)
        return await task.runner.connect(port)

    async def _in_container(self, command: str) -> tuple[int, str]:
        task = self._shim.running_task()
        return (255, "No container is running.") if task is None else await task.runner.execute(command)


async def _connect(port: int | None) -> socket.socket:
    """Connect to a port of this process."""
    if port is None:
        raise ConnectionRefusedError("The port is not open yet.")
    connection = socket.socket()
    connection.setblocking(False)  # noqa: FBT003 - the library's own signature
    try:
        await asyncio.get_running_loop().sock_connect(connection, ("127.0.0.1", port))
    except BaseException:
        connection.close()
        raise
    return connection
