"""A network link with latency and packet loss, in front of a VM's SSH server.

TCP hides a lost packet: it is sent again after a timeout, and everything after it waits. So the link loses
nothing; it delays.
"""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support.fake_cloud.switches import Switches

_SEGMENT_BYTES = 1460
#: Linux's shortest retransmission timeout; it doubles with each loss of the same segment.
_RETRANSMISSION_S = 0.2
_LONGEST_RETRANSMISSION_S = 3.2


class LossyLink:
    """Forwards connections from one address to another, with delays."""

    def __init__(self, switches: Switches, *, seed: str) -> None:
        self._switches = switches
        self._random = random.Random(seed)  # noqa: S311 - must be reproducible
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self.retransmitted = 0  #: segments that were lost

    async def start(self, address: str, port: int, *, to_port: int) -> None:
        """Listen, and forward to a port of this machine."""

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._forward(reader, writer, to_port)

        self._server = await asyncio.start_server(serve, address, port)

    async def close(self) -> None:
        """Stop listening and abort all connections."""
        if self._server is None:
            return
        self._server.close()
        for writer in list(self._open):
            writer.transport.abort()
        await self._server.wait_closed()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
        with suppress(OSError):
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
            self._open |= {writer, far_writer}
            await asyncio.gather(self._pump(reader, far_writer), self._pump(far_reader, writer))
            self._open -= {writer, far_writer}
        writer.close()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                await asyncio.sleep(self._delay_s(len(data)))
                writer.write(data)
                await writer.drain()
        writer.close()

    def _delay_s(self, size_bytes: int) -> float:
        """Return the latency, and the timeouts of the segments that are lost on the way."""
        delay_s = self._switches.latency_s
        for _ in range(-(-size_bytes // _SEGMENT_BYTES)):
            timeout_s = _RETRANSMISSION_S
            while self._random.random() < self._switches.packet_loss:
                self.retransmitted += 1
                delay_s += timeout_s
                timeout_s = min(2 * timeout_s, _LONGEST_RETRANSMISSION_S)
        return delay_s
