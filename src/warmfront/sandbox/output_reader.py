"""Collect the output of a program up to a limit, without parsing it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class OutputReader:
    """Reads chunks in a background thread until the end, and keeps the output up to the limit.

    It keeps reading beyond the limit and calls `on_flood` in another thread, because some programs cannot be
    killed while they block on a full pipe.
    """

    def __init__(self, chunks: Iterable[bytes], *, limit_bytes: int, on_flood: Callable[[], None]) -> None:
        self._chunks = chunks
        self._limit_bytes = limit_bytes
        self._on_flood = on_flood
        self._kept = bytearray()
        self._killer: threading.Thread | None = None
        self._thread = threading.Thread(target=self._read, name="warmfront-output", daemon=True)
        self._thread.start()

    def finish(self, timeout_s: float) -> bytes:
        """Return the output. Call it after every process that could print has ended."""
        self._thread.join(timeout_s)
        if self._killer:
            self._killer.join(timeout_s)
        return bytes(self._kept)

    @property
    def is_flood(self) -> bool:
        """Whether the output exceeded the limit."""
        return self._killer is not None

    def _read(self) -> None:
        for chunk in self._chunks:
            remaining = self._limit_bytes - len(self._kept)
            self._kept += chunk[:remaining]
            if len(chunk) > remaining and self._killer is None:
                self._killer = threading.Thread(target=self._on_flood, name="warmfront-flood", daemon=True)
                self._killer.start()
