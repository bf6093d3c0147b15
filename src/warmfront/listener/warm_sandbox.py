"""Keep one prepared box per template between attempts, and replace it after the attempt that used it.

A box that an attempt prepared but did not use is kept for the next attempt, so that boxes do not accumulate.
While an attempt is timed, no box is prepared, because starting one takes CPU time and memory bandwidth.
"""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from warmfront.errors import SandboxFailed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warmfront.sandbox.base import Box, Sandbox, Template


class WarmSandbox:
    """A sandbox with one prepared box for every template that was ever prepared."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.name = sandbox.name
        self.detail = sandbox.detail
        self._sandbox = sandbox
        # Lists, because templates are not hashable.
        self._templates: list[Template] = []
        self._ready: list[Template] = []
        self._holds = 0  # attempts that are being timed
        self._lock = threading.Lock()

    def prepare(self, template: Template) -> None:
        """Prepare a box of this template, unless one is ready.

        If an attempt is being timed, prepare it afterwards.
        """
        with self._lock:
            if template not in self._templates:
                self._templates.append(template)
            if template in self._ready or self._holds:
                return
            self._ready.append(template)
        self._sandbox.prepare(template)

    def settle(self) -> None:
        """Wait until every box that is being prepared has started or failed."""
        self._sandbox.settle()

    def take(self, template: Template) -> Box:
        """Return an unused box of this template."""
        with self._lock:
            if template in self._ready:
                self._ready.remove(template)
        return self._sandbox.take(template)

    @contextlib.contextmanager
    def turn(self) -> Iterator[Turn]:
        """Yield a `Turn` for an attempt, and replace the boxes that it took when it ends."""
        turn = Turn(self)
        try:
            yield turn
        finally:
            turn.release()
            self.refill()

    def refill(self) -> None:
        """Replace the boxes that were taken."""
        with contextlib.suppress(SandboxFailed):  # the sandbox is being closed
            for template in list(self._templates):
                self.prepare(template)

    def hold(self, change: int) -> None:
        """Add `change` to the number of attempts that are being timed."""
        with self._lock:
            self._holds += change

    def close(self) -> None:
        """Destroy every box that was prepared and not taken."""
        self._sandbox.close()


class Turn:
    """The boxes of one attempt."""

    def __init__(self, sandbox: WarmSandbox) -> None:
        self._sandbox = sandbox
        self._is_held = False

    def hold(self) -> None:
        """Prevent boxes from being prepared until the turn ends.

        Return when those in preparation have started.
        """
        if not self._is_held:
            self._is_held = True
            self._sandbox.hold(1)
            self._sandbox.settle()

    def release(self) -> None:
        """Allow boxes to be prepared again."""
        if self._is_held:
            self._is_held = False
            self._sandbox.hold(-1)
