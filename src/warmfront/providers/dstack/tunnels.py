"""Tunnels to the listeners on VMs: opened in the background, probed on request, reopened when broken.

This module does not depend on the traffic in a tunnel or on the state of the VM. A tunnel ends with this
process; its socket has the same path in the next one, so that the address of a VM never changes.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from warmfront.errors import DstackFailed, WarmfrontError
from warmfront.listener.unix_socket import short_path
from warmfront.providers.dstack.configuration import LISTENER_PORT
from warmfront.providers.dstack.ssh_tunnel import SSHRoute, SSHTunnel, open_ssh_tunnel
from warmfront.value_class import dataclass

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
#: After this many failures and seconds, a VM that dstack can reach counts as unreachable from here.
GIVE_UP_FAILURES, GIVE_UP_S = 10, 120.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class TunnelFailure:
    """The failures to open the tunnel of a run that never had one."""

    since: float  #: of the monotonic clock
    count: int = 0
    message: str = ""  #: of the last failure

    @property
    def is_final(self) -> bool:
        """Whether this machine cannot reach the VM although dstack can."""
        return self.count >= GIVE_UP_FAILURES and time.monotonic() - self.since >= GIVE_UP_S


class ListenerTunnels:
    """One tunnel per run, to the listener's port."""

    def __init__(self, client: DstackClient, folder: Path, *, jump_key: Path | None = None) -> None:
        """Create an object without tunnels.

        Args:
            client: The client of the dstack server.
            folder: The folder for the sockets of tunnels.
            jump_key: The file with the key for a jump host of the fleet; None for ssh's own keys.
        """
        self._client = client
        self._folder = folder
        self._jump_key = jump_key
        self._failures: dict[str, TunnelFailure] = {}
        self._tunnels: dict[str, SSHTunnel] = {}
        self._opening: dict[str, asyncio.Task[None]] = {}
        self._places = asyncio.Semaphore(_MAX_OPENING)

    def known_address(self, run: str) -> str | None:
        """Return the address of the run's tunnel if it is open, without probing it."""
        tunnel = self._tunnels.get(run)
        return tunnel.address if tunnel is not None and tunnel.is_open else None

    def failure(self, run: str) -> TunnelFailure | None:
        """Return why the run's tunnel could not be opened; None if it never failed, or was once open."""
        return self._failures.get(run)

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
        self._failures.pop(run, None)
        tunnel = self._tunnels.pop(run, None)
        if tunnel is not None:
            tunnel.close()

    async def close_all(self) -> None:
        """Close all tunnels."""
        for run in {*self._opening, *self._tunnels}:
            await self.close(run)

    async def _open(self, run: DstackRun) -> None:
        broken = None
        try:
            async with self._places:
                broken = self._tunnels.pop(run.name, None)
                if broken is not None:
                    broken.close()
                self._tunnels[run.name] = await open_tunnel(
                    self._client, run, port=LISTENER_PORT, folder=self._folder, jump_key=self._jump_key
                )
                self._failures.pop(run.name, None)
        except WarmfrontError as error:
            _log.warning(
                "cannot open a tunnel to run %s; retrying at the next poll: %s", run.name, error.message
            )
            if broken is None:
                first = self._failures.get(run.name) or TunnelFailure(since=time.monotonic())
                self._failures[run.name] = replace(first, count=first.count + 1, message=error.message)
        finally:
            self._opening.pop(run.name, None)


async def open_tunnel(
    client: DstackClient, run: DstackRun, *, port: int, folder: Path, jump_key: Path | None = None
) -> SSHTunnel:
    """Open a tunnel to a port of a running run; its socket, in `folder`, is named after the run.

    Raises:
        DstackFailed: The run has no VM, or the tunnel cannot be opened.
    """
    route = await ssh_route(client, run, jump_key)
    return await open_ssh_tunnel(route, port=port, socket=folder / f"{run.name}.sock")


async def ssh_route(client: DstackClient, run: DstackRun, jump_key: Path | None) -> SSHRoute:
    """Return the SSH servers to a run, with the keys for them.

    Raises:
        DstackFailed: The run has no VM, or was submitted with another key.
    """
    if not run.ssh_hops:
        raise DstackFailed(f"Cannot open a tunnel to run {run.name}: it is {run.status} and has no VM.")
    return SSHRoute(hops=run.ssh_hops, private_key=await client.private_key(run), jump_key=jump_key)


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
