"""An HTTP CONNECT proxy from the dstack server to the fake APIs.

With it as HTTPS_PROXY, the server reaches the fake APIs under the names of the real hosts. Other hosts are
rejected, so that no test depends on the internet.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Limit for receiving the head of a request; on a busy machine a client takes long.
_HEAD_TIMEOUT_S = 300.0


class ConnectProxy:
    """Forwards connections to a few hosts to local ports."""

    def __init__(self, ports: Mapping[str, int]) -> None:
        self._ports = ports
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()

    async def start(self) -> str:
        """Start listening and return the proxy's URL."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        """Stop listening and close all connections."""
        if self._server is None:
            return
        self._server.close()
        for writer in list(self._open):
            writer.transport.abort()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        with suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
            async with asyncio.timeout(_HEAD_TIMEOUT_S):
                port = self._ports.get(await _requested_host(reader))
            if port is None:
                writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
            else:
                await self._connect(reader, writer, port)
        self._open.discard(writer)
        writer.close()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
        api_reader, api_writer = await asyncio.open_connection("127.0.0.1", port)
        self._open.add(api_writer)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await asyncio.gather(_pump(reader, api_writer), _pump(api_reader, writer))
        self._open.discard(api_writer)


async def _requested_host(reader: asyncio.StreamReader) -> str:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    method, target, *_ = head.split()
    return target.rsplit(":", 1)[0] if method == "CONNECT" else ""


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()
