"""What a run prints, as it prints it: from the runner on the VM, through dstack's tunnel.

dstack's own record of it comes ten seconds later; this is for who does not want to wait, and may end at any
moment.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

#: Where dstack's runner listens on the VM; every tunnel leads there too.
RUNNER_PORT = 10999
_CONNECT_S = 5.0
#: How long a thread waits for output before it looks whether anyone still wants it.
_PATIENCE_S = 1.0


async def follow(address: str) -> AsyncIterator[bytes]:
    """All that was printed so far, then what comes; ends with the run, or when the tunnel does."""
    import websocket

    url = f"{address.replace('http://', 'ws://')}/logs_ws"
    failures = (OSError, websocket.WebSocketException)
    try:
        stream = await asyncio.to_thread(websocket.create_connection, url, timeout=_CONNECT_S)
    except failures:
        return
    stream.settimeout(_PATIENCE_S)
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
            stream.close(timeout=_PATIENCE_S)
