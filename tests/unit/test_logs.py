"""Logging: INFO to stdout, WARNING and above to stderr, one line per record."""

from __future__ import annotations

import io
import logging
import subprocess
import sys

from warmfront.logs import INFOS_PER_MINUTE, WARNINGS_PER_MINUTE, RateLimitedHandler

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


def _handler() -> tuple[RateLimitedHandler, io.StringIO, list[float]]:
    stream, now = io.StringIO(), [0.0]
    return RateLimitedHandler(stream, now=lambda: now[0]), stream, now


def _record(text: str, *values: object, level: int = logging.WARNING) -> logging.LogRecord:
    return logging.LogRecord("warmfront.test", level, "", 0, text, values, None)


def test_a_repeated_message_is_written_a_few_times_and_then_counted() -> None:
    """Records with other arguments are repetitions; another message is not affected."""
    handler, stream, now = _handler()
    for number in range(1000):
        handler.handle(_record("connection %d failed", number))
    handler.handle(_record("something else"))
    lines = stream.getvalue().splitlines()
    assert lines[0] == "connection 0 failed"
    assert len(lines) == WARNINGS_PER_MINUTE + 1
    now[0] = 61.0
    handler.handle(_record("later"))
    assert stream.getvalue().splitlines()[-2:] == [
        f"repeated {1000 - WARNINGS_PER_MINUTE} more times: connection %d failed",
        "later",
    ]
    handler.handle(_record("connection %d failed", 1))
    assert stream.getvalue().endswith("connection 1 failed\n")


def test_the_end_of_a_process_writes_what_was_counted() -> None:
    """The count of the last minute is not lost, and messages at INFO have their own limit."""
    handler, stream, _ = _handler()
    for _ in range(INFOS_PER_MINUTE + 1234):
        handler.handle(_record("GET %s", "/", level=logging.INFO))
    assert stream.getvalue().count("\n") == INFOS_PER_MINUTE
    handler.close()
    assert stream.getvalue().endswith("repeated 1,234 more times: GET %s\n")


def test_many_different_messages_need_little_memory() -> None:
    """A message of a library that contains its arguments is remembered for a while only."""
    handler, _, _ = _handler()
    for number in range(5000):
        handler.handle(_record(f"message {number}"))
    assert len(handler._windows) <= 1000
