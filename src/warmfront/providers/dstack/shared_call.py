"""Share one request between many callers, for listings of a dstack server that all VMs poll."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")


class SharedCall(Generic[T]):
    """A function call that is shared by all waiting callers, one call at a time.

    Each caller gets the result of a call that began after its own request, as if it had made the call itself.
    After each call there is a pause as long as the call took, so that a slow server is not overloaded.
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
