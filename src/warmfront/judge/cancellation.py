"""Cancel a judge run from another thread by destroying its boxes.

A cancellation is final. It may happen at any time: before the first box, between two boxes, while one is
being created, or after the verdict.
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
    """The judge run was cancelled before it had a verdict."""

    code = "CANCELLED"


class CancellationToken:
    """A token that cancels one judge run. It only tracks the run's boxes, to destroy them."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._boxes: list[Box] = []
        self._boxes_in_progress = 0  # boxes being made, which `cancel` waits for
        self._callbacks: list[Callable[[], object]] = []
        self._is_cancelled = False

    @property
    def is_cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._is_cancelled

    def cancel(self) -> None:
        """Cancel the run; return when all its boxes are destroyed. Idempotent, callable from any thread."""
        with self._changed:
            self._is_cancelled = True
            callbacks, self._callbacks = self._callbacks, []
            boxes = list(self._boxes)
        for callback in callbacks:
            callback()
        for box in boxes:
            box.destroy()
        with self._changed:
            self._changed.wait_for(lambda: not self._boxes_in_progress)

    def on_cancel(self, callback: Callable[[], object]) -> None:
        """Call `callback` in the cancelling thread; immediately if the run is already cancelled."""
        with self._changed:
            if not self._is_cancelled:
                self._callbacks.append(callback)
                return
        callback()

    def raise_if_cancelled(self) -> None:
        """Raise `JudgeCancelled` if the run is cancelled."""
        if self._is_cancelled:
            raise JudgeCancelled

    def take(self, sandbox: Sandbox, template: Template) -> Box:
        """Take a box that `cancel` will destroy. Raises `JudgeCancelled` if the run is cancelled."""
        with self._changed:
            self.raise_if_cancelled()
            self._boxes_in_progress += 1
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
                self._boxes_in_progress -= 1
                self._changed.notify_all()
        self.raise_if_cancelled()
        return box


class CancellableSandbox:
    """A sandbox whose boxes are destroyed when the judge run is cancelled."""

    def __init__(self, sandbox: Sandbox, cancellation: CancellationToken) -> None:
        self.name = sandbox.name
        self.detail = sandbox.detail
        self._sandbox = sandbox
        self._cancellation = cancellation

    def prepare(self, template: Template) -> None:
        """Prepare a box in the underlying sandbox. `cancel` does not destroy it unless this run takes it."""
        self._sandbox.prepare(template)

    def settle(self) -> None:
        """Wait for the boxes that the underlying sandbox is preparing."""
        self._sandbox.settle()

    def take(self, template: Template) -> Box:
        """Take a box, which is destroyed if the run is cancelled."""
        return self._cancellation.take(self._sandbox, template)

    def close(self) -> None:
        """Do nothing: the underlying sandbox is closed by its owner."""


def cancelled_event() -> Failed:
    """Return the terminal event of a cancelled run."""
    return Failed(
        verdict=Verdict.CANCELLED,
        code="CANCELLED",
        message="The submission was cancelled before its verdict.",
    )
