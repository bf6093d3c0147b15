"""A FIFO lock whose waiters can be cancelled."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

from warmfront.judge.cancellation import JudgeCancelled

if TYPE_CHECKING:
    from warmfront.judge.cancellation import CancellationToken


class FifoLock:
    """A mutex that is acquired in the order of the calls to `acquire`.

    `threading.Lock` does not guarantee an order, and a waiting thread cannot be interrupted. Here a waiter
    leaves the queue as soon as its token is cancelled.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._queue: deque[object] = deque()  # the first entry holds the lock

    def acquire(self, cancellation: CancellationToken) -> None:
        """Wait for the lock.

        Raises:
            JudgeCancelled: the token was cancelled first; the lock is not held.
        """
        cancellation.on_cancel(self._wake)
        ticket = object()
        with self._changed:
            self._queue.append(ticket)
            self._changed.wait_for(lambda: self._queue[0] is ticket or cancellation.is_cancelled)
            if cancellation.is_cancelled:
                self._queue.remove(ticket)
                self._changed.notify_all()
                raise JudgeCancelled

    def release(self) -> None:
        """Pass the lock to the next waiter."""
        with self._changed:
            self._queue.popleft()
            self._changed.notify_all()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()
