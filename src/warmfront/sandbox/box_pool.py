"""Boxes made ahead of time: each used once, none left when the sandbox is closed.

What a box is made of is left to the sandbox; this module only keeps them until they are taken.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Self

from warmfront.errors import SandboxFailed

if TYPE_CHECKING:
    from warmfront.sandbox.base import Template
    from warmfront.sandbox.box import ChannelBox
    from warmfront.sandbox.box_folders import BoxFolders


class PooledSandbox(ABC):
    """A sandbox that keeps boxes ready. Subclasses make them."""

    name: str
    detail: str

    def __init__(self, folders: BoxFolders) -> None:
        self.folders = folders
        self._ready: list[tuple[Template, Future[ChannelBox]]] = []
        self._lock = threading.Lock()
        self._is_closed = False
        self._background = ThreadPoolExecutor(max_workers=1, thread_name_prefix="warmfront-prepare")

    def prepare(self, template: Template) -> None:
        """Make one box of this template ready in the background, so that `take` need not wait."""
        with self._lock:
            self._refuse_if_closed()
            self._ready.append((template, self._background.submit(self._make_started, template)))

    def take(self, template: Template) -> ChannelBox:
        """A box of this template, never used before."""
        while (made := self._pop(template)) is not None:
            if made.exception() is not None:
                continue  # making one now either works or says why not
            box = made.result()
            if box.is_alive():
                return box
            box.destroy()
        return self._make(template)

    def close(self) -> None:
        """Destroy every box that was made and not taken."""
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
            self._refuse_if_closed()
            for index, (of, made) in enumerate(self._ready):
                if of == template:
                    del self._ready[index]
                    return made
        return None

    def _refuse_if_closed(self) -> None:
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
        """A box that is not started yet."""
