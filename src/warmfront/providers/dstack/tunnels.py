"""Tunnels to the listeners on VMs: opened in the background, probed on request, reopened when broken.

dstack opens each tunnel with its own SSH process, which outlives this process and is then reused. This module
knows nothing about the traffic in a tunnel or about the state of the VM.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import httpx

from warmfront.errors import WarmfrontError
from warmfront.providers.dstack.configuration import LISTENER_PORT

if TYPE_CHECKING:
    from warmfront.providers.dstack.client import DstackClient

#: How long `address` waits for a tunnel that is being opened.
_OPEN_TIMEOUT_S = 5.0
#: A listener behind a working tunnel responds faster than this, even to a request without a token.
_PROBE_TIMEOUT_S = 3.0
_log = logging.getLogger(__name__)


class ListenerTunnels:
    """One tunnel per run, to the listener's port."""

    def __init__(self, client: DstackClient) -> None:
        self._client = client
        self._addresses: dict[str, str] = {}
        self._opening: dict[str, asyncio.Task[None]] = {}

    def known_address(self, run: str) -> str | None:
        """Return the address of the run's tunnel without probing or opening it."""
        return self._addresses.get(run)

    async def address(self, run: str, *, probe: bool = False) -> str | None:
        """Return the address of the run's tunnel, opened if necessary; None if it is not open yet.

        With `probe`, check that the tunnel works before its address is returned.
        """
        known = self._addresses.get(run)
        if known is not None and (not probe or await _accepts_connections(known)):
            return known
        opening = self._opening.get(run)
        if opening is None:
            opening = self._opening[run] = asyncio.create_task(self._open(run))
        # Opening a tunnel to a VM that no longer exists takes minutes. Stop waiting before that, but let the
        # task finish.
        await asyncio.wait([opening], timeout=_OPEN_TIMEOUT_S)
        return self._addresses.get(run)

    async def close(self, run: str) -> None:
        """Close the run's tunnel."""
        self._addresses.pop(run, None)
        opening = self._opening.pop(run, None)
        if opening is not None:
            opening.cancel()
        await self._client.detach(run)

    async def close_all(self) -> None:
        """Close all tunnels."""
        opening = list(self._opening.values())
        for task in opening:
            task.cancel()
        await asyncio.gather(*opening, return_exceptions=True)
        await asyncio.gather(*(self._client.detach(run) for run in self._addresses), return_exceptions=True)

    async def _open(self, run: str) -> None:
        try:
            if self._addresses.pop(run, None) is not None:
                await self._client.detach(run)  # the old tunnel no longer works
            self._addresses[run] = await self._client.attach(run, LISTENER_PORT)
        except WarmfrontError as error:
            _log.warning("cannot open a tunnel to run %s: %s", run, error.message)
        finally:
            self._opening.pop(run, None)


async def _accepts_connections(address: str) -> bool:
    """Return whether the tunnel accepts connections.

    A connection that is accepted and closed at once counts: the VM is there, but its listener is not.
    """
    try:
        async with httpx.AsyncClient(timeout=_PROBE_TIMEOUT_S, trust_env=False) as http:
            await http.get(f"{address}/health")
    except (httpx.ConnectError, httpx.TimeoutException):
        return False
    except httpx.HTTPError:
        return True
    return True
