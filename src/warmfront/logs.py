"""Logging of our processes: INFO to stdout, WARNING and above to stderr, one line per record.

Repetitions of a message are limited: a client that causes an error with each of a million requests must not
fill the disk. Only the main function of a process sets this up; libraries just log.
"""

from __future__ import annotations

import logging
import sys
import time
from typing import TYPE_CHECKING, TextIO

from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Loggers that report every request, migration or start at INFO; we log what matters ourselves.
_VERBOSE_LOGGERS = ("uvicorn", "httpx", "httpcore", "alembic")

#: Records of one message and level per minute; the others are counted. Every request logs at INFO.
WARNINGS_PER_MINUTE = 60
INFOS_PER_MINUTE = 6000
_WINDOW_S = 60.0
#: Messages whose records are counted; further ones replace the oldest.
_MAX_MESSAGES = 1000
#: A message is quoted in the summary up to this length.
_QUOTED_CHARS = 200


def log_to_streams() -> None:
    """Set up logging for this process."""
    out, err = RateLimitedHandler(sys.stdout), RateLimitedHandler(sys.stderr)
    out.addFilter(lambda record: record.levelno < logging.WARNING)
    err.setLevel(logging.WARNING)
    for handler in (out, err):
        handler.setFormatter(OneLineFormatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[out, err], force=True)
    for name in _VERBOSE_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)


class OneLineFormatter(logging.Formatter):
    """Escapes line breaks in messages and tracebacks, so that input cannot forge a log line."""

    def format(self, record: logging.LogRecord) -> str:
        """Format a record as one line."""
        return super().format(record).replace("\r", "\\r").replace("\n", "\\n")


@dataclass(kw_only=True)
class _Window:
    """The records of one message since `started`."""

    started: float
    written: int = 0
    omitted: int = 0


#: The logger, the level and the message before its arguments are inserted.
_Message = tuple[str, int, str]


class RateLimitedHandler(logging.StreamHandler[TextIO]):
    """Writes at most a number of records of one message per minute, then one that says how many it omitted.

    A summary is written with the first record after its minute, of whatever message, or when the handler is
    closed.
    """

    def __init__(self, stream: TextIO, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(stream)
        self._now = now
        self._windows: dict[_Message, _Window] = {}
        self._omitting: set[_Message] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, or count it."""
        now = self._now()
        if self._omitting:
            for summary in self._summaries(before=now - _WINDOW_S):
                super().emit(summary)
        if self._admit(record, now):
            super().emit(record)

    def close(self) -> None:
        """Write the summaries that are due later."""
        for summary in self._summaries(before=float("inf")):
            super().emit(summary)
        super().close()

    def _admit(self, record: logging.LogRecord, now: float) -> bool:
        message = (record.name, record.levelno, str(record.msg)[:_QUOTED_CHARS])
        window = self._windows.get(message)
        if window is None or window.started <= now - _WINDOW_S:
            self._windows.pop(message, None)  # inserted again below, as the newest
            if len(self._windows) >= _MAX_MESSAGES:
                self._forget_oldest()
            window = self._windows[message] = _Window(started=now)
        limit = INFOS_PER_MINUTE if record.levelno < logging.WARNING else WARNINGS_PER_MINUTE
        if window.written < limit:
            window.written += 1
            return True
        window.omitted += 1
        self._omitting.add(message)
        return False

    def _forget_oldest(self) -> None:
        oldest = next(iter(self._windows))
        if oldest not in self._omitting:
            del self._windows[oldest]
            return
        for summary in self._summaries(before=float("inf")):
            super().emit(summary)

    def _summaries(self, *, before: float) -> Iterator[logging.LogRecord]:
        """Return the summary of every message whose minute began before this time, and forget its records."""
        for message in [one for one in self._omitting if self._windows[one].started <= before]:
            self._omitting.discard(message)
            window = self._windows.pop(message)
            name, level, text = message
            yield logging.LogRecord(
                name, level, "", 0, "repeated %s more times: %s", (f"{window.omitted:,}", text), None
            )
