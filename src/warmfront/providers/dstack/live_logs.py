"""A run's output, live: read from dstack's runner on the VM, through a tunnel.

dstack's own record of the output is ten seconds behind. The live stream is best effort and can end at any
moment; the record has everything.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

#: The port of dstack's runner on the VM; every tunnel forwards it.
RUNNER_PORT = 10999
_CONNECT_TIMEOUT_S = 5.0
#: How long a thread blocks in a read before it checks whether it was cancelled.
_READ_TIMEOUT_S = 1.0


async def follow(address: str) -> AsyncIterator[bytes]:
    """Yield the output so far, then new output; stop when the run ends or the tunnel breaks."""
    import websocket

    url = f"{address.replace('http://', 'ws://')}/logs_ws"
    failures = (OSError, websocket.WebSocketException)
    try:
        stream = await asyncio.to_thread(websocket.create_connection, url, timeout=_CONNECT_TIMEOUT_S)
    except failures:
        return
    stream.settimeout(_READ_TIMEOUT_S)
    try:
        while True:
            try:
                data = await asyncio.to_thread(stream.recv)
            except websocket.WebSocketTimeoutException:
                continue
            if not data:
                return
            yield data if isinstance(data, bytes) else data.encode()
    except failures:
        return
    finally:
        with suppress(*failures):
            stream.close(timeout=_READ_TIMEOUT_S)
