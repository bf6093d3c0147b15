"""Source files, and the endpoints' terminal events."""

from __future__ import annotations

from pathlib import Path

import pytest

from warmfront.errors import BadSourceFile
from warmfront.judge_request import MAX_SOURCE_BYTES, decode_source, read_source
from warmfront.verdicts import Endpoint, Verdict, is_terminal


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b" \n\t\n", "empty"),
        (b"x" * (MAX_SOURCE_BYTES + 1), "too large: the limit is 262,144 bytes"),
        (b"int \xff;", "not UTF-8: byte 4 is 0xff"),
        (b"int\0x;", "NUL"),
    ],
)
def test_invalid_sources_are_rejected_with_a_reason(data: bytes, reason: str) -> None:
    """Each kind of invalid source has its own message and a hint."""
    with pytest.raises(BadSourceFile) as caught:
        decode_source(data, "kernel.hip")
    assert reason in caught.value.message
    assert "kernel.hip" in caught.value.message
    assert caught.value.hint


def test_the_largest_allowed_source_is_allowed() -> None:
    """A source of exactly 256 KiB is accepted."""
    assert len(decode_source(b"x" * MAX_SOURCE_BYTES, "kernel.hip")) == MAX_SOURCE_BYTES


def test_a_byte_order_mark_and_carriage_returns_are_removed() -> None:
    """A file from another system has the same lines."""
    assert decode_source(b"\xef\xbb\xbfint a;\r\nint b;\r", "kernel.hip") == "int a;\nint b;\n"


def test_a_directory_and_a_missing_file_have_different_errors(tmp_path: Path) -> None:
    """The message says whether the path is a directory or does not exist."""
    with pytest.raises(BadSourceFile, match="is a directory"):
        read_source(tmp_path)
    with pytest.raises(BadSourceFile, match="does not exist"):
        read_source(tmp_path / "nothing.hip")


def test_each_endpoint_has_its_own_successful_verdict() -> None:
    """CHECKED is terminal for `checker` only; every failure is terminal for all endpoints."""
    assert is_terminal("CHECKED", Endpoint.CHECKER)
    assert not is_terminal("CHECKED", Endpoint.SUBMIT)
    assert not is_terminal("BENCHMARKED", Endpoint.SUBMIT)
    assert is_terminal("ACCEPTED", Endpoint.SUBMIT)
    assert is_terminal("XRAY", Endpoint.XRAY)
    assert not is_terminal("XRAY", Endpoint.SUBMIT)
    assert all(is_terminal("RUNTIME_ERROR", endpoint) for endpoint in Endpoint)
    assert not any(is_terminal("TEST_RESULT", endpoint) for endpoint in Endpoint)


def test_exit_codes() -> None:
    """0 for success, 1 for a failing kernel, 3 for infrastructure and limits."""
    assert {verdict for verdict in Verdict if verdict.exit_code == 0} == {
        "XRAY",
        "CHECKED",
        "BENCHMARKED",
        "ACCEPTED",
    }
    assert {verdict for verdict in Verdict if verdict.exit_code == 3} == {
        "CANCELLED",
        "RATE_LIMIT_EXCEEDED",
        "BUDGET_EXCEEDED",
        "ERROR",
    }


def test_an_endless_file_is_too_large() -> None:
    """No more than the limit is read."""
    with pytest.raises(BadSourceFile, match="too large"):
        read_source(Path("/dev/zero"))
