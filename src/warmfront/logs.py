"""How our programs log: INFO to stdout, WARNING and above to stderr, one line an event.

Only a process's own main may set this up; a library logs and leaves the rest to it.
"""

from __future__ import annotations

import logging
import sys

#: They tell every request, every migration, every start: what matters of that we say ourselves.
_CHATTY = ("uvicorn", "httpx", "httpcore", "alembic")


def log_to_streams() -> None:
    """Set the process's logging up."""
    out, err = logging.StreamHandler(sys.stdout), logging.StreamHandler(sys.stderr)
    out.addFilter(lambda record: record.levelno < logging.WARNING)
    err.setLevel(logging.WARNING)
    for handler in (out, err):
        handler.setFormatter(OneLine("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[out, err], force=True)
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)


class OneLine(logging.Formatter):
    """Line breaks in a message, or a traceback's, are shown as such: nobody can forge a second line."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        return super().format(record).replace("\r", "\\r").replace("\n", "\\n")
