"""One request for many callers: listings of a dstack server that all VMs poll at the same time."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")


class SharedCall(Generic[T]):
    """Calls a function for all callers that wait, one call at a time.

    Each caller gets a result that was requested after it asked, as if it had made the call itself. Between
    two calls there is a pause as long as the first of them took, so that a slow server is not kept busy.
    """

    def __init__(self, function: Callable[[], Awaitable[T]]) -> None:
        self._function = function
        self._current: asyncio.Task[T] | None = None
        self._next: asyncio.Task[T] | None = None
        self._pause_until = 0.0

    async def __call__(self) -> T:
        """Return the result of the next call, or raise its exception."""
        if self._next is None:
            self._next = asyncio.create_task(self._call_after(self._current))
        return await asyncio.shield(self._next)  # a caller that is cancelled must not cancel the others

    async def _call_after(self, previous: asyncio.Task[T] | None) -> T:
        if previous is not None:
            await asyncio.wait([previous])
        await asyncio.sleep(max(0.0, self._pause_until - time.monotonic()))
        self._current, self._next = self._next, None  # later callers wait for a later call
        started = time.monotonic()
        try:
            return await self._function()
        finally:
            ended = time.monotonic()
            self._pause_until = ended + (ended - started)
