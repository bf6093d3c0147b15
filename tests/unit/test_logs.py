"""Logging: INFO to stdout, WARNING and above to stderr, one line per record."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import logging
from warmfront.logs import log_to_streams
log_to_streams()
log = logging.getLogger("warmfront.test")
log.debug("not shown")
log.info("a line")
log.warning("first\\nsecond")
try:
    1 / 0
except ZeroDivisionError:
    log.exception("it broke")
logging.getLogger("httpx").info("not shown")
"""


def test_each_record_is_one_line_on_the_stream_of_its_level() -> None:
    """Warnings and errors go to stderr, the rest to stdout; a line break in a message is escaped."""
    result = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert [line.split(" ", 2)[2] for line in result.stdout.splitlines()] == [
        "INFO warmfront.test a line",
    ]
    warning, error = result.stderr.splitlines()
    assert warning.endswith(r"WARNING warmfront.test first\nsecond")
    assert "ERROR warmfront.test it broke" in error
    assert error.endswith("ZeroDivisionError: division by zero")
