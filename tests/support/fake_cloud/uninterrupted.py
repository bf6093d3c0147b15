"""Start servers so that a cancellation in the middle leaves no open socket behind."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")


async def start_or_close(starting: Awaitable[T], close: Callable[[T], Awaitable[object]]) -> T:
    """Start a server and return it. If this is cancelled, wait until the server has started, and close it."""
    task = asyncio.ensure_future(starting)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await close(await task)
        raise
