"""Logging of our processes: INFO to stdout, WARNING and above to stderr, one line per record.

Repetitions of a message are rate-limited: a client that causes an error with each of a million requests must
not fill the disk. Only the main function of a process sets this up; libraries just log.
"""

from __future__ import annotations

import logging
import sys
import time
from typing import TYPE_CHECKING, TextIO

from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Loggers that report every request, migration or start at INFO; our own logs cover what matters.
_VERBOSE_LOGGERS = ("uvicorn", "httpx", "httpcore", "alembic")

#: The most records per message and level per minute; more are only counted. Every request logs at INFO.
WARNINGS_PER_MINUTE = 60
INFOS_PER_MINUTE = 6000
_WINDOW_S = 60.0
#: The most messages whose records are counted; new ones replace the oldest.
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
    """A formatter that escapes line breaks, so that input cannot forge a log line."""

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
    """A handler that limits the records of a message per minute, and then writes how many were omitted.

    A summary is written with the first record of any message after its minute, or when the handler is closed.
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
        """Write the pending summaries."""
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
        """Return the summaries of messages whose minute began before this time, and reset their counts."""
        for message in [one for one in self._omitting if self._windows[one].started <= before]:
            self._omitting.discard(message)
            window = self._windows.pop(message)
            name, level, text = message
            yield logging.LogRecord(
                name, level, "", 0, "repeated %s more times: %s", (f"{window.omitted:,}", text), None
            )
