"""Where log lines go: INFO to stdout, WARNING and above to stderr, one line an event."""

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


def test_levels_go_to_their_streams_a_line_each() -> None:
    """What is worth a look is on stderr, the rest on stdout; nobody can forge a line by a line break."""
    result = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert [line.split(" ", 2)[2] for line in result.stdout.splitlines()] == [
        "INFO warmfront.test a line",
    ]
    warning, error = result.stderr.splitlines()
    assert warning.endswith(r"WARNING warmfront.test first\nsecond")
    assert "ERROR warmfront.test it broke" in error
    assert error.endswith("ZeroDivisionError: division by zero")
