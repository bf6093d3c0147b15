"""Keep one prepared box per template between attempts, and replace it after the attempt that used it.

A box that an attempt prepared and did not use is left for the next attempt, so that boxes do not accumulate.
"""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from warmfront.errors import SandboxFailed

if TYPE_CHECKING:
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
        self._lock = threading.Lock()

    def prepare(self, template: Template) -> None:
        """Prepare a box of this template, unless one is ready."""
        with self._lock:
            if template not in self._templates:
                self._templates.append(template)
            if template in self._ready:
                return
            self._ready.append(template)
        self._sandbox.prepare(template)

    def take(self, template: Template) -> Box:
        """Return an unused box of this template."""
        with self._lock:
            if template in self._ready:
                self._ready.remove(template)
        return self._sandbox.take(template)

    def refill(self) -> None:
        """Replace the boxes that were taken. Called after an attempt, when no compiler needs the CPU."""
        with contextlib.suppress(SandboxFailed):  # the sandbox is being closed
            for template in list(self._templates):
                self.prepare(template)

    def close(self) -> None:
        """Destroy every box that was prepared and not taken."""
        self._sandbox.close()
