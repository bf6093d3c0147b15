"""The parser of everything that a box returns, tested with input that hostile code could write."""

from __future__ import annotations

import json
import math
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmfront.judge import box_messages
from warmfront.judge.box_messages import InvalidMessage

FAULT = {
    "fault": "memory-fault",
    "kernel": "add",
    "line": 7,
    "block": [1, 2, 3],
    "thread": [0, 0, 0],
    "detail": "read of 4 bytes",
    "address": 4096,
}


def _fault(**changes: object) -> bytes:
    return json.dumps({**FAULT, **changes}).encode()


def test_a_true_fault_report_is_described() -> None:
    """Kind, kernel, block and thread are in one sentence."""
    report = box_messages.parse_fault(_fault())
    assert report.code == "MEMORY_FAULT"
    assert report.describe() == (
        "memory fault in kernel `add`, block (1, 2, 3), thread (0, 0, 0): read of 4 bytes."
    )


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[" * 100_000,
        b"{" * 100,
        b"null",
        b"[]",
        b'"memory-fault"',
        _fault(fault="ACCEPTED"),
        _fault(fault=None),
        _fault(fault=["memory-fault"]),
        _fault(fault={"memory-fault": 1}),
        _fault(detail="x" * 100_000),
        b"\xff\xfe",
    ],
)
def test_a_report_of_another_shape_is_invalid(data: bytes) -> None:
    """Nothing but a JSON object of a known kind is a fault report."""
    with pytest.raises(InvalidMessage):
        box_messages.parse_fault(data)


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("block", [1, 2], None),
        ("block", [1, 2, "3"], None),
        ("block", [1, 2, True], None),
        ("block", [1, 2, -3], None),
        ("block", [1, 2, 1 << 40], None),
        ("block", {"x": 1}, None),
        ("block", "abc", None),
        ("line", "7", None),
        ("line", 1e300, None),
        ("line", -1, None),
        ("kernel", ["add"], None),
        ("kernel", "a\x1b[31mb\ud800c", "a[31mbc"),
        ("detail", 5, ""),
        ("detail", "y" * 5000, "y" * 500),
        ("address", -5, 0),
        ("address", "0x10", 0),
    ],
)
def test_a_field_of_another_type_is_dropped(field: str, value: object, expected: object) -> None:
    """A mistyped field is left out, and text is cut and made printable."""
    assert getattr(box_messages.parse_fault(_fault(**{field: value})), field) == expected


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists))
def test_any_json_value_in_any_field_is_handled(value: Any) -> None:
    """A report either parses or is invalid, and can be described and encoded."""
    for field in FAULT:
        try:
            report = box_messages.parse_fault(_fault(**{field: value}))
        except InvalidMessage:
            continue
        json.dumps(report.fields()).encode()
        assert len(report.describe().encode()) < 5000


def test_claimed_times_are_finite() -> None:
    """NaN, infinities, zero and negative times are not times."""
    claims = (math.nan, math.inf, -math.inf, 0.0, -1.0, 5e-324, 2.5)
    data = struct.pack("<QIi64s7d", 3, 0, 0, b"", *claims)
    assert box_messages.parse_run_answer(data, 7).times_ms == (0, 0, 0, 0, 0, 5e-324, 2.5)


def test_an_answer_must_match_its_command() -> None:
    """The nonce, the kind and the size are checked."""
    good = struct.pack("<IIQ", 1, 8, 42)
    assert box_messages.parse_header(good, 42) == (1, 8)
    for bad in (
        struct.pack("<IIQ", 1, 8, 43),
        struct.pack("<IIQ", 9, 8, 42),
        struct.pack("<IIQ", 1, 1 << 30, 42),
    ):
        with pytest.raises(InvalidMessage):
            box_messages.parse_header(bad, 42)


def test_printed_text_is_cut_and_has_no_escapes() -> None:
    """The output of a program cannot move the cursor of a reader's terminal."""
    assert box_messages.printable_output(b"a\x1b[2Jb\tc\n\xed\xa0\x80") == "a[2Jb\tc\n\ufffd\ufffd\ufffd"
    assert len(box_messages.printable_output(b"z" * 10**6)) < 70_000


ROCM_FAULT = (
    b"Memory access fault by GPU node-1 (Agent handle: 0x556e9b7e3360) on address 0x7f52c3f5f000. "
    b"Reason: Page not present or supervisor privilege.\n"
)


def test_a_memory_fault_that_rocm_reports_is_found() -> None:
    """ROCm's runtime prints the page, and aborts the program."""
    report = box_messages.parse_rocm_fault(b"printed before\n" + ROCM_FAULT)
    assert report is not None
    assert (report.code, report.address) == ("MEMORY_FAULT", 0x7F52C3F5F000)
    assert report.describe() == (
        "memory fault: address 0x7f52c3f5f000, page not present or supervisor privilege."
    )


def test_an_assertion_that_rocm_reports_is_found() -> None:
    """An assert() in a kernel prints its expression and line, and aborts the program."""
    line = b"/box/solution.cpp:12: void add(float *): Device-side assertion `i < n' failed.\n"
    report = box_messages.parse_rocm_fault(line)
    assert report is not None
    assert report.code == "ASSERTION"
    assert report.detail == "`i < n` is false in line 12"


@given(st.binary(max_size=300))
def test_other_output_is_no_fault_of_rocm(noise: bytes) -> None:
    """Whatever a program prints, parsing ends, and only the whole sentence is a fault."""
    assert box_messages.parse_rocm_fault(noise) is None
    box_messages.parse_rocm_fault(ROCM_FAULT[:80] + noise + ROCM_FAULT[80:])
