"""The way from a dstack server to the simulated APIs: an HTTP proxy that knows only the hosts of the cloud.

A server that has it as HTTPS_PROXY believes that it talks to the real hosts; every other host is refused, so
that no test depends on the internet.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Longer than any client waits for its request to get through.
_HEAD_S = 30.0


class ConnectProxy:
    """CONNECT for a few hosts, each of which is a port of this machine."""

    def __init__(self, ports: Mapping[str, int]) -> None:
        self._ports = ports
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()

    async def start(self) -> str:
        """Listen; the URL of the proxy."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        """Let go of every connection."""
        if self._server is None:
            return
        self._server.close()
        for writer in list(self._open):
            writer.transport.abort()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        with suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
            async with asyncio.timeout(_HEAD_S):
                port = self._ports.get(await _wanted_host(reader))
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


async def _wanted_host(reader: asyncio.StreamReader) -> str:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    method, target, *_ = head.split()
    return target.rsplit(":", 1)[0] if method == "CONNECT" else ""


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()
