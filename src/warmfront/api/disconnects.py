"""Cancel work when its client disconnects, if only the client's response needs it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from starlette.types import Receive

T = TypeVar("T")


class ClientDisconnected(Exception):
    """The client disconnected before the work was done."""


async def run_while_connected(receive: Receive, work: Coroutine[object, object, T]) -> T:
    """Run the work and return its result; cancel it if the client disconnects.

    The body of the request must have been read.

    Raises:
        ClientDisconnected: the client disconnected first; the work has ended.
    """
    task = asyncio.ensure_future(work)
    disconnect = asyncio.ensure_future(_disconnected(receive))
    try:
        await asyncio.wait({task, disconnect}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientDisconnected
        return task.result()
    finally:
        for either in (task, disconnect):
            either.cancel()
        await asyncio.gather(task, disconnect, return_exceptions=True)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
