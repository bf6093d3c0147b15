"""Logging of our processes: INFO to stdout, WARNING and above to stderr, one line per record.

Only the main function of a process sets this up; libraries just log.
"""

from __future__ import annotations

import logging
import sys

#: Loggers that report every request, migration or start at INFO; we log what matters ourselves.
_VERBOSE_LOGGERS = ("uvicorn", "httpx", "httpcore", "alembic")


def log_to_streams() -> None:
    """Set up logging for this process."""
    out, err = logging.StreamHandler(sys.stdout), logging.StreamHandler(sys.stderr)
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
