"""Notify watchers of the whole service that something changed. They read what changed themselves.

Notifying costs nothing without watchers, and never waits for one.
"""

from __future__ import annotations

import asyncio


class ChangeNotifier:
    """Counts changes, for watchers that wait for the next one."""

    def __init__(self) -> None:
        self.count = 0
        self.closed = False  #: there will be no more changes
        self._next: asyncio.Event | None = None  #: set at the next change; None without watchers

    def notify(self) -> None:
        """Count a change and wake the watchers."""
        self.count += 1
        self._wake()

    def close(self) -> None:
        """Wake every watcher for the last time."""
        self.closed = True
        self._wake()

    async def wait_beyond(self, count: int) -> None:
        """Return when there were more changes than `count`, or when there will be no more."""
        while self.count <= count and not self.closed:
            if self._next is None:
                self._next = asyncio.Event()
            await self._next.wait()

    def _wake(self) -> None:
        # Each asyncio.Event is set once and dropped, so that a watcher that waits again waits for the next.
        if self._next is not None:
            self._next.set()
            self._next = None
