"""Stopping a judgement from another thread: every box that it has in use is destroyed at once.

It knows boxes and nothing of what they do. A request is final, and may come at any time: before the first
box, between two, while one is made, or after the verdict.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from warmfront.errors import WarmfrontError
from warmfront.events import Failed
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from warmfront.sandbox.base import Box, Sandbox, Template


class JudgeCancelled(WarmfrontError):
    """It was stopped before it had a verdict."""

    code = "CANCELLED"


class CancellationToken:
    """One judgement's: `request` ends it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._boxes: list[Box] = []
        self._making = 0  # boxes that are being made, and will be destroyed as soon as they are
        self._callbacks: list[Callable[[], object]] = []
        self._is_cancelled = False

    @property
    def is_cancelled(self) -> bool:
        """Whether it should be over."""
        return self._is_cancelled

    def cancel(self) -> None:
        """End it; returns when every box that it had is gone. Safe to call twice, from any thread."""
        with self._changed:
            self._is_cancelled = True
            callbacks, self._callbacks = self._callbacks, []
            boxes = list(self._boxes)
        for callback in callbacks:
            callback()
        for box in boxes:
            box.destroy()
        with self._changed:
            self._changed.wait_for(lambda: not self._making)

    def on_cancel(self, callback: Callable[[], object]) -> None:
        """Have this called by whoever requests the end; at once if that was before."""
        with self._changed:
            if not self._is_cancelled:
                self._callbacks.append(callback)
                return
        callback()

    def raise_if_cancelled(self) -> None:
        """Raise `JudgeCancelled` if the end was requested."""
        if self._is_cancelled:
            raise JudgeCancelled

    def take(self, sandbox: Sandbox, template: Template) -> Box:
        """A box that goes when the end is requested; `JudgeCancelled` if it was."""
        with self._changed:
            self.raise_if_cancelled()
            self._making += 1
        box: Box | None = None
        try:
            box = sandbox.take(template)
        finally:
            with self._changed:
                if box is not None:
                    self._boxes.append(box)
                is_late = self._is_cancelled
            if is_late and box is not None:
                box.destroy()
            with self._changed:
                self._making -= 1
                self._changed.notify_all()
        self.raise_if_cancelled()
        return box


class CancellableSandbox:
    """A sandbox whose boxes belong to one judgement."""

    def __init__(self, sandbox: Sandbox, stop: CancellationToken) -> None:
        self.name = sandbox.name
        self.detail = sandbox.detail
        self._sandbox = sandbox
        self._stop = stop

    def prepare(self, template: Template) -> None:
        """As the sandbox does: what nobody took yet is not this judgement's."""
        self._sandbox.prepare(template)

    def take(self, template: Template) -> Box:
        """A box that goes when the end is requested."""
        return self._stop.take(self._sandbox, template)

    def close(self) -> None:
        """Leave the sandbox to its owner."""


def cancelled_event() -> Failed:
    """The verdict of what was stopped."""
    return Failed(verdict=Verdict.CANCELLED, code="CANCELLED", message="It was stopped before its verdict.")
