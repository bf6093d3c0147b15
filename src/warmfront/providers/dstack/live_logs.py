"""Read a run's output live from dstack's runner on the VM, through a tunnel.

dstack's own log of the output is ten seconds behind, but complete. The live stream is best effort and can end
at any time.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from warmfront.listener.unix_socket import short_path

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

#: The port of dstack's runner on the VM.
RUNNER_PORT = 10999
_CONNECT_TIMEOUT_S = 5.0
#: How long a thread blocks in a read before it checks whether it was cancelled.
_READ_TIMEOUT_S = 1.0


async def follow(path: Path) -> AsyncIterator[bytes]:
    """Yield the output so far, then new output; stop when the run ends or the tunnel breaks."""
    import websocket

    failures = (OSError, websocket.WebSocketException)
    try:
        stream = await asyncio.to_thread(_connect, path)
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


def _connect(path: Path) -> Any:
    import websocket

    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.settimeout(_CONNECT_TIMEOUT_S)
        with short_path(path) as reachable:
            connection.connect(reachable)
        return websocket.create_connection(
            "ws://runner/logs_ws", timeout=_CONNECT_TIMEOUT_S, socket=connection
        )
    except BaseException:
        connection.close()
        raise
