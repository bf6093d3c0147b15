"""Boxes that stay ready between attempts: one of each kind, made again when the attempt that took it is over.

What an attempt prepared and did not use is there for the next, so nothing piles up.
"""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from warmfront.errors import SandboxFailed

if TYPE_CHECKING:
    from warmfront.sandbox.base import Box, Sandbox, Template


class WarmSandbox:
    """A sandbox with one box ahead of every kind that is ever prepared."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.name = sandbox.name
        self.detail = sandbox.detail
        self._sandbox = sandbox
        # Lists, for the environment of a template has no hash.
        self._kinds: list[Template] = []
        self._ready: list[Template] = []
        self._lock = threading.Lock()

    def prepare(self, template: Template) -> None:
        """Have one box of this template ready, if there is none."""
        with self._lock:
            if template not in self._kinds:
                self._kinds.append(template)
            if template in self._ready:
                return
            self._ready.append(template)
        self._sandbox.prepare(template)

    def take(self, template: Template) -> Box:
        """A box of this template, never used before."""
        with self._lock:
            if template in self._ready:
                self._ready.remove(template)
        return self._sandbox.take(template)

    def refill(self) -> None:
        """Make what was taken again: after an attempt, when that takes no time from a compiler."""
        with contextlib.suppress(SandboxFailed):  # it is being closed: nobody takes another
            for template in list(self._kinds):
                self.prepare(template)

    def close(self) -> None:
        """Destroy every box that was made and not taken."""
        self._sandbox.close()
