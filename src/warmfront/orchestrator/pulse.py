"""Tells those who watch the whole service that something was written. What it was, they look up themselves.

A beat costs nothing where nobody watches, and nobody who beats is ever held up.
"""

from __future__ import annotations

import asyncio


class Pulse:
    """Counts what happens, for those who want to know when it goes on."""

    def __init__(self) -> None:
        self.count = 0
        self.closed = False  #: nothing more will come
        self._next: asyncio.Event | None = None  #: somebody waits for it

    def beat(self) -> None:
        """Something happened."""
        self.count += 1
        self._wake()

    def close(self) -> None:
        """Let go of everyone who waits."""
        self.closed = True
        self._wake()

    async def after(self, count: int) -> None:
        """Return when more has happened than this, or when nothing more will."""
        while self.count <= count and not self.closed:
            if self._next is None:
                self._next = asyncio.Event()
            await self._next.wait()

    def _wake(self) -> None:
        # Each event is set once and left behind, so that one who waits again waits for the next.
        if self._next is not None:
            self._next.set()
            self._next = None
