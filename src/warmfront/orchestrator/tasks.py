"""The orchestrator's background tasks and its wake-up, which its parts share instead of callbacks."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Coroutine

log = logging.getLogger(__name__)

#: A task that did not end when it was cancelled is cancelled again at this interval.
_CANCEL_AGAIN_S = 1.0


class TaskSupervisor:
    """A supervisor that runs background tasks and wakes the decision loop after changes."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()

    def spawn(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Run a coroutine in the background; an exception is logged."""
        task: asyncio.Task[None] = asyncio.create_task(_guard(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def wake(self) -> None:
        """Make the decision loop decide again."""
        self._wake.set()

    async def wait(self, timeout_s: float | None) -> None:
        """Wait until the next `wake`, at most `timeout_s`."""
        # A timer is cheaper than asyncio.wait_for, and this happens thousands of times per second.
        timer = None
        if timeout_s is not None:
            timer = asyncio.get_running_loop().call_later(timeout_s, self._wake.set)
        await self._wake.wait()
        if timer is not None:
            timer.cancel()
        self._wake.clear()

    async def cancel_all(self) -> None:
        """Cancel every task and wait until all have ended."""
        tasks = set(self._tasks)
        while tasks:
            for task in tasks:
                task.cancel()
            # Cancel repeatedly: asyncio.wait_for loses a cancellation that arrives at the moment it
            # completes.
            _, tasks = await asyncio.wait(tasks, timeout=_CANCEL_AGAIN_S)


async def _guard(work: Coroutine[object, object, None]) -> None:
    try:
        await work
    except Exception:  # the edge of a task
        log.exception("a background task of the orchestrator failed")
