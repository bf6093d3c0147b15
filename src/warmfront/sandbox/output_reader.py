"""What a program prints: read as it comes, kept up to a limit, never parsed."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class OutputReader:
    """Reads chunks in a thread of its own until their end, and keeps those within the limit.

    It goes on reading past the limit, and lets another thread do something about it: some programs
    cannot be ended while nobody reads what they print.
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
        """What was printed. Call it when every process that could print is gone."""
        self._thread.join(timeout_s)
        if self._killer:
            self._killer.join(timeout_s)
        return bytes(self._kept)

    @property
    def is_flood(self) -> bool:
        """Whether more was printed than allowed."""
        return self._killer is not None

    def _read(self) -> None:
        for chunk in self._chunks:
            room = self._limit_bytes - len(self._kept)
            self._kept += chunk[:room]
            if len(chunk) > room and self._killer is None:
                self._killer = threading.Thread(target=self._on_flood, name="warmfront-flood", daemon=True)
                self._killer.start()
