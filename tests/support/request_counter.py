"""A proxy on loopback that counts the HTTP requests to a server."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit

_BEGINNINGS = (b"POST /", b"GET /")


class RequestCounter:
    """A context manager; `url` leads to the server, and `requests` is the number of requests so far."""

    def __init__(self, server_url: str) -> None:
        self._port = urlsplit(server_url).port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="request counter", daemon=True)
        self._server: asyncio.Server | None = None
        self.url = ""
        self.requests = 0

    def __enter__(self) -> Self:
        self._thread.start()
        start = asyncio.start_server(self._forward, "127.0.0.1", 0)
        self._server = server = asyncio.run_coroutine_threadsafe(start, self._loop).result()
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _close(self) -> None:
        """Stop listening and end the connections, so that nothing is left for the garbage collector."""
        if self._server is not None:
            self._server.close()
        connections = asyncio.all_tasks() - {asyncio.current_task()}
        for connection in connections:
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
        await asyncio.sleep(0)  # closed transports release their sockets in the next iteration

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, to_server = await asyncio.open_connection("127.0.0.1", self._port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(self._copy(reader, to_server, counts=True), self._copy(there, writer))

    async def _copy(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, counts: bool = False
    ) -> None:
        """Copy bytes until one side closes. A client sends the first line of a request in one piece."""
        try:
            with suppress(OSError):
                while data := await reader.read(1 << 16):
                    if counts and data.startswith(_BEGINNINGS):
                        self.requests += 1
                    writer.write(data)
                    await writer.drain()
        finally:
            writer.close()
