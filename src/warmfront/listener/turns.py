"""Who may use the machine: one attempt compiles while one runs, and all others wait in the order they came.

It grants and takes back; what is done with a turn is the judge's.
"""

from __future__ import annotations

import threading
from collections import deque
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from warmfront.judge.stop import Stopped

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from warmfront.judge.stop import Stop


class Turns:
    """A lock that is granted in order. One who is stopped no longer waits."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._line: deque[object] = deque()  # the first has the turn

    def acquire(self, stop: Stop) -> None:
        """Wait for the turn; `Stopped` if the end is requested first."""
        stop.on_request(self._wake)
        me = object()
        with self._changed:
            self._line.append(me)
            self._changed.wait_for(lambda: self._line[0] is me or stop.is_requested)
            if stop.is_requested:
                self._line.remove(me)
                self._changed.notify_all()
                raise Stopped

    def release(self) -> None:
        """Let the next have it."""
        with self._changed:
            self._line.popleft()
            self._changed.notify_all()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()


class Pipeline:
    """Two turns in a row: an attempt compiles alone, then runs alone, so the next compiles while it runs."""

    def __init__(self) -> None:
        self._compiling = Turns()
        self._running = Turns()

    @contextmanager
    def enter(self, stop: Stop) -> Iterator[AbstractContextManager[None]]:
        """Wait until this one may compile; gives the judge's `turn`, entered when it may run."""
        self._compiling.acquire(stop)
        with ExitStack() as place:
            place.callback(self._compiling.release)
            yield self._run(place, stop)

    @contextmanager
    def _run(self, place: ExitStack, stop: Stop) -> Iterator[None]:
        # Its place at the compiler is kept until it runs: otherwise all that wait would compile at once.
        self._running.acquire(stop)
        try:
            place.close()
            yield
        finally:
            self._running.release()
