"""What may be submitted, and which event ends what."""

from __future__ import annotations

from pathlib import Path

import pytest

from warmfront.errors import BadSourceFile
from warmfront.judge_request import MAX_SOURCE_BYTES, decode_source, read_source
from warmfront.verdicts import Endpoint, Verdict, is_terminal


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty"),
        (b" \n\t\n", "empty"),
        (b"x" * (MAX_SOURCE_BYTES + 1), "at most 262,144 bytes"),
        (b"int \xff;", "not UTF-8: byte 4 is 0xff"),
        (b"int\0x;", "NUL"),
    ],
)
def test_bad_bytes_are_refused_with_the_reason(data: bytes, says: str) -> None:
    """Each kind of bad source has a message of its own and a next step."""
    with pytest.raises(BadSourceFile) as caught:
        decode_source(data, "kernel.hip")
    assert says in caught.value.message
    assert "kernel.hip" in caught.value.message
    assert caught.value.hint


def test_the_largest_allowed_source_is_allowed() -> None:
    """Exactly 256 KiB pass."""
    assert len(decode_source(b"x" * MAX_SOURCE_BYTES, "kernel.hip")) == MAX_SOURCE_BYTES


def test_a_byte_order_mark_and_carriage_returns_go() -> None:
    """A file from another system compiles the same, line for line."""
    assert decode_source(b"\xef\xbb\xbfint a;\r\nint b;\r", "kernel.hip") == "int a;\nint b;\n"


def test_a_directory_and_a_missing_file_are_told_apart(tmp_path: Path) -> None:
    """The message says which of the two it is."""
    with pytest.raises(BadSourceFile, match="is a directory"):
        read_source(tmp_path)
    with pytest.raises(BadSourceFile, match="does not exist"):
        read_source(tmp_path / "nothing.hip")


def test_each_endpoint_ends_with_its_own_success() -> None:
    """CHECKED ends `checker` alone; every failure ends all of them."""
    assert is_terminal("CHECKED", Endpoint.CHECKER)
    assert not is_terminal("CHECKED", Endpoint.SUBMIT)
    assert not is_terminal("BENCHMARKED", Endpoint.SUBMIT)
    assert is_terminal("ACCEPTED", Endpoint.SUBMIT)
    assert is_terminal("XRAY", Endpoint.XRAY)
    assert not is_terminal("XRAY", Endpoint.SUBMIT)
    assert all(is_terminal("RUNTIME_ERROR", endpoint) for endpoint in Endpoint)
    assert not any(is_terminal("TEST_RESULT", endpoint) for endpoint in Endpoint)


def test_exit_codes_tell_whose_fault_it_was() -> None:
    """0 accepted, 1 the kernel, 3 the machine."""
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


def test_a_file_without_an_end_is_too_long() -> None:
    """No more is read than is taken."""
    with pytest.raises(BadSourceFile, match="too long"):
        read_source(Path("/dev/zero"))
