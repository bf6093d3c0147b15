"""Keep prepared boxes until they are taken. Each box is used once; closing the sandbox destroys the rest.

Subclasses make the boxes; this module only stores them.
"""

from __future__ import annotations

import contextlib
import threading
from abc import ABC, abstractmethod
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Self

from warmfront.errors import SandboxFailed

if TYPE_CHECKING:
    from warmfront.sandbox.base import Template
    from warmfront.sandbox.box import BoxFolders, ChannelBox


class PooledSandbox(ABC):
    """A sandbox that prepares boxes in the background. Subclasses implement `_make`."""

    name: str
    detail: str

    def __init__(self, folders: BoxFolders) -> None:
        self.folders = folders
        self._ready: list[tuple[Template, Future[ChannelBox]]] = []
        self._lock = threading.Lock()
        self._is_closed = False
        self._background = ThreadPoolExecutor(max_workers=1, thread_name_prefix="warmfront-prepare")

    def prepare(self, template: Template) -> None:
        """Start a box of this template in the background, so that `take` does not have to wait."""
        with self._lock:
            self._require_open()
            self._ready.append((template, self._background.submit(self._make_started, template)))

    def settle(self) -> None:
        """Wait until every box that is being prepared has started or failed."""
        with self._lock:
            ready = list(self._ready)
        for _, made in ready:
            with contextlib.suppress(CancelledError):  # the sandbox is being closed
                made.exception()

    def take(self, template: Template) -> ChannelBox:
        """Return an unused box of this template: a prepared one, or a new one."""
        while (made := self._pop(template)) is not None:
            if made.exception() is not None:
                continue  # preparing failed: make another box below, or raise the reason
            box = made.result()
            if box.is_alive():
                return box
            box.destroy()
        return self._make(template)

    def close(self) -> None:
        """Destroy every box that was prepared and not taken."""
        with self._lock:
            self._is_closed = True
            ready, self._ready = self._ready, []
        for _, made in ready:
            if not made.cancel() and made.exception() is None:
                made.result().destroy()
        self._background.shutdown()
        self.folders.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _pop(self, template: Template) -> Future[ChannelBox] | None:
        with self._lock:
            self._require_open()
            for index, (made_for, made) in enumerate(self._ready):
                if made_for == template:
                    del self._ready[index]
                    return made
        return None

    def _require_open(self) -> None:
        if self._is_closed:
            raise SandboxFailed("The sandbox is closed.")

    def _make_started(self, template: Template) -> ChannelBox:
        box = self._make(template)
        try:
            box.start()
        except BaseException:
            box.destroy()
            raise
        return box

    @abstractmethod
    def _make(self, template: Template) -> ChannelBox:
        """Make a box without starting it."""
