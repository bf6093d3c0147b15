"""Reads a stream of server-sent events from bytes as they come.

It knows the format alone: what an event means, and what to do about a cut, is the client's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warmfront.errors import InfrastructureError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator

#: No event of ours comes near; without a bound a broken server could fill the memory.
MAX_LINE_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Message:
    """One event of the stream."""

    id: str  #: empty where the server gave none
    data: str


async def messages(chunks: AsyncIterable[bytes]) -> AsyncGenerator[Message]:
    """Each whole message; what a cut left unfinished is dropped, as it will come again."""
    identity, data = "", list[str]()
    async for line in _lines(chunks):
        if not line:
            if data:
                yield Message(id=identity, data="\n".join(data))
            identity, data = "", []
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id":
            identity = value
        elif name == "data":
            data.append(value)


async def _lines(chunks: AsyncIterable[bytes]) -> AsyncIterator[str]:
    """Lines end with LF alone: `splitlines` would also break at U+2028, which kernels may print."""
    rest = b""
    async for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line.removesuffix(b"\r").decode()
        if len(rest) > MAX_LINE_BYTES:
            raise InfrastructureError(f"The server sent an event of more than {MAX_LINE_BYTES:,} bytes.")
