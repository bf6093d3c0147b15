"""The tunnels to the VMs' listeners: opened, watched when there is doubt, and opened anew.

dstack opens them with its own SSH; a tunnel outlives us and is taken up again. What goes through one, and
whether its VM still lives, is not known here.
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

#: How long whoever asks for an address waits for a tunnel that is being opened.
_PATIENCE_S = 5.0
#: A listener on the other side answers this fast, if only to say that we have no token.
_PROBE_S = 3.0
_log = logging.getLogger(__name__)


class ListenerTunnels:
    """One tunnel for each run."""

    def __init__(self, client: DstackClient) -> None:
        self._client = client
        self._addresses: dict[str, str] = {}
        self._opening: dict[str, asyncio.Task[None]] = {}

    def known(self, run: str) -> str | None:
        """The address as far as is known."""
        return self._addresses.get(run)

    async def address(self, run: str, *, doubt: bool = False) -> str | None:
        """Where the listener is reached; None if it is not yet. With doubt, the tunnel is tried first."""
        known = self._addresses.get(run)
        if known is not None and (not doubt or await _leads_there(known)):
            return known
        opening = self._opening.get(run)
        if opening is None:
            opening = self._opening[run] = asyncio.create_task(self._open(run))
        # Opening may take minutes where the VM is gone; nobody waits for that, and it is not broken off.
        await asyncio.wait([opening], timeout=_PATIENCE_S)
        return self._addresses.get(run)

    async def close(self, run: str) -> None:
        """There is nothing more to reach."""
        self._addresses.pop(run, None)
        opening = self._opening.pop(run, None)
        if opening is not None:
            opening.cancel()
        await self._client.detach(run)

    async def close_all(self) -> None:
        """Let go of all of them."""
        opening = list(self._opening.values())
        for task in opening:
            task.cancel()
        await asyncio.gather(*opening, return_exceptions=True)
        await asyncio.gather(*(self._client.detach(run) for run in self._addresses), return_exceptions=True)

    async def _open(self, run: str) -> None:
        try:
            if self._addresses.pop(run, None) is not None:
                await self._client.detach(run)  # it leads nowhere any more
            self._addresses[run] = await self._client.attach(run, LISTENER_PORT)
        except WarmfrontError as error:
            _log.warning("no tunnel to %s: %s", run, error.message)
        finally:
            self._opening.pop(run, None)


async def _leads_there(address: str) -> bool:
    """Whether it takes connections; one that is closed at once has a VM behind it, where nobody listens."""
    try:
        async with httpx.AsyncClient(timeout=_PROBE_S, trust_env=False) as http:
            await http.get(f"{address}/health")
    except (httpx.ConnectError, httpx.TimeoutException):
        return False
    except httpx.HTTPError:
        return True
    return True
