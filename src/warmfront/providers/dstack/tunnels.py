"""Tunnels to the listeners on VMs: opened in the background, probed on request, reopened when broken.

This module does not depend on the traffic in a tunnel or on the state of the VM. A tunnel ends with this
process; its socket has the same path in the next one, so that the address of a VM never changes.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from warmfront.errors import DstackFailed, WarmfrontError
from warmfront.listener.unix_socket import short_path
from warmfront.providers.dstack.configuration import LISTENER_PORT
from warmfront.providers.dstack.ssh_tunnel import SSHRoute, SSHTunnel, open_ssh_tunnel

if TYPE_CHECKING:
    from pathlib import Path

    from warmfront.providers.dstack.client import DstackClient
    from warmfront.providers.dstack.resources import DstackRun

#: How long `open` waits for a tunnel that is being opened.
_OPEN_TIMEOUT_S = 5.0
#: A listener behind a working tunnel responds faster than this, even to a request without a token.
_PROBE_TIMEOUT_S = 3.0
#: The most tunnels that are opened at the same time. Each handshake takes CPU time, and an unreachable VM
#: occupies a place for up to half a minute.
_MAX_OPENING = 32
_log = logging.getLogger(__name__)


class ListenerTunnels:
    """One tunnel per run, to the listener's port."""

    def __init__(self, client: DstackClient, folder: Path) -> None:
        """Create an object without tunnels; their sockets will be in `folder`."""
        self._client = client
        self._folder = folder
        self._tunnels: dict[str, SSHTunnel] = {}
        self._opening: dict[str, asyncio.Task[None]] = {}
        self._places = asyncio.Semaphore(_MAX_OPENING)

    def known_address(self, run: str) -> str | None:
        """Return the address of the run's tunnel if it is open, without probing it."""
        tunnel = self._tunnels.get(run)
        return tunnel.address if tunnel is not None and tunnel.is_open else None

    async def open(self, run: DstackRun, *, probe: bool = False) -> None:
        """Open the run's tunnel if it is not open, and wait up to some seconds for it.

        With `probe`, check that an open tunnel works.
        """
        known = self._tunnels.get(run.name)
        if known is not None and known.is_open and (not probe or await _works(known.socket)):
            return
        opening = self._opening.get(run.name)
        if opening is None:
            opening = self._opening[run.name] = asyncio.create_task(self._open(run))
        # Opening a tunnel to a VM that no longer exists takes longer. Stop waiting before that, but let the
        # task finish.
        await asyncio.wait([opening], timeout=_OPEN_TIMEOUT_S)

    async def close(self, run: str) -> None:
        """Close the run's tunnel."""
        opening = self._opening.pop(run, None)
        if opening is not None:
            opening.cancel()
            await asyncio.wait([opening])
        tunnel = self._tunnels.pop(run, None)
        if tunnel is not None:
            tunnel.close()

    async def close_all(self) -> None:
        """Close all tunnels."""
        for run in {*self._opening, *self._tunnels}:
            await self.close(run)

    async def _open(self, run: DstackRun) -> None:
        try:
            async with self._places:
                broken = self._tunnels.pop(run.name, None)
                if broken is not None:
                    broken.close()
                self._tunnels[run.name] = await open_tunnel(
                    self._client, run, port=LISTENER_PORT, folder=self._folder
                )
        except WarmfrontError as error:
            _log.warning("cannot open a tunnel to run %s: %s", run.name, error.message)
        finally:
            self._opening.pop(run.name, None)


async def open_tunnel(client: DstackClient, run: DstackRun, *, port: int, folder: Path) -> SSHTunnel:
    """Open a tunnel to a port of a running run; its socket, in `folder`, is named after the run.

    Raises:
        DstackFailed: The run has no VM, or the tunnel cannot be opened.
    """
    if not run.ssh_hops:
        raise DstackFailed(f"Cannot open a tunnel to run {run.name}: it is {run.status} and has no VM.")
    route = SSHRoute(hops=run.ssh_hops, private_key=await client.private_key(run))
    return await open_ssh_tunnel(route, port=port, socket=folder / f"{run.name}.sock")


async def _works(socket: Path) -> bool:
    """Return whether the other end of the tunnel responds, or closes the connection.

    A connection that is closed immediately counts as working: the VM is reachable, but not its listener.
    """
    try:
        async with asyncio.timeout(_PROBE_TIMEOUT_S):
            with short_path(socket) as path:
                reader, writer = await asyncio.open_unix_connection(path)
            try:
                writer.write(b"GET /health HTTP/1.0\r\n\r\n")
                await reader.read(1)
            finally:
                writer.close()
    except ConnectionResetError:
        return True
    except OSError:  # including TimeoutError
        return False
    return True
