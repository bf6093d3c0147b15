"""Parse a stream of server-sent events.

This module handles only the format: the client interprets the events and reconnects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.errors import InfrastructureError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator

#: Far larger than any event; without a limit, a broken server could exhaust the memory.
MAX_LINE_BYTES = 32 * 1024 * 1024


async def messages(chunks: AsyncIterable[bytes]) -> AsyncGenerator[tuple[str, str]]:
    """Yield the id and data of each complete message; the id is empty if the server sent none.

    An incomplete message is dropped, and the client requests it again.
    """
    message_id, data = "", list[str]()
    async for line in _lines(chunks):
        if not line:
            if data:
                yield message_id, "\n".join(data)
            message_id, data = "", []
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id":
            message_id = value
        elif name == "data":
            data.append(value)


async def _lines(chunks: AsyncIterable[bytes]) -> AsyncIterator[str]:
    """Yield the lines of a stream, split only at LF.

    `splitlines` would also split at characters such as U+2028, which the output of a kernel may contain.
    """
    rest = b""
    async for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line.removesuffix(b"\r").decode()
        if len(rest) > MAX_LINE_BYTES:
            raise InfrastructureError(f"The server sent an event of more than {MAX_LINE_BYTES:,} bytes.")
