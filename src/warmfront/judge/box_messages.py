"""Parse everything that comes out of a box (answers, fault reports, printed text) into typed, bounded values.

A box runs hostile code, so every byte here may have been written by it. Numbers are checked for their type
and range, kinds must be known, and text is truncated and stripped of characters that a terminal would
interpret. Anything else raises `InvalidMessage`. Free text never becomes a verdict or structure. ROCm's
runtime reports a fault only as text; `parse_rocm_fault` extracts it for the message of a verdict that is
already decided.
"""

from __future__ import annotations

import json
import math
import re
import struct
from typing import Any

from warmfront.value_class import dataclass

#: The longest text from a box in a message.
MAX_TEXT = 500
#: The largest fault report; real reports of the runtime have a few hundred bytes.
MAX_FAULT_BYTES = 1 << 14
#: The largest answer, so that a forged header cannot make the judge read without end.
MAX_ANSWER_BYTES = 1 << 20
#: How much of a program's output during one case is shown to its author.
MAX_SHOWN_OUTPUT = 64 * 1024

#: These values are defined in guest.cpp as well.
OK, FAULT, ERROR = 1, 2, 3
_HEADER = struct.Struct("<IIQ")
_RUN_ANSWER = struct.Struct("<QIi64s")
_DEVICE_CHECK = struct.Struct("<QQQIIII")
_RESIDUE = struct.Struct("<QQQ")
_COPY_RATES = struct.Struct("<4d")
_UNKNOWN_LAUNCHES = 2**64 - 1
HEADER_BYTES = _HEADER.size

#: The kinds of fault that the CPU runtime reports, with a hint for the author.
FAULT_HINTS = {
    "memory-fault": "Compare the index with the size before the access. The last block is the usual suspect.",
    "misaligned-access": "Align the pointer, or copy with memcpy or a type with a smaller alignment.",
    "stack-overflow": "Make private arrays smaller, or end the recursion.",
    "division-by-zero": "Check the divisor before the division.",
    "matrix-instruction": "All 64 lanes of a wave must execute a matrix instruction together.",
    "assertion": "",
    "abort": "",
    "host-fault": "",
    "host-access-to-device-memory": "Host code cannot access device memory: use hipMemcpy or a kernel.",
    "unsupported": "",
    "internal": "",
}


#: How much of the end of a program's output is searched for a report of ROCm's runtime.
MAX_ROCM_REPORT_BYTES = 64 * 1024
_ROCM_MEMORY_FAULT = re.compile(
    rb"Memory access fault by GPU node-\d{1,4}(?: \(Agent handle: 0x[0-9a-f]{1,16}\))? on address "
    rb"0x([0-9a-f]{1,16})\. Reason: ([ -~]{1,120}?)\.?\s*$",
    re.MULTILINE,
)
_ROCM_ASSERTION = re.compile(
    rb"^[ -~]{0,200}:(\d{1,7}): [ -~]{0,300}: Device-side assertion `([ -~]{1,300})' failed\.", re.MULTILINE
)


class InvalidMessage(Exception):
    """A box sent something that our programs never send."""


@dataclass(frozen=True, kw_only=True)
class RunAnswer:
    """The guest's claims about its calls. They are informational, and do not decide a time."""

    times_ms: tuple[float, ...]  #: by HIP events; 0 if it is not a positive, finite number
    launches: int | None  #: None if the toolchain cannot count them
    left_threads: int  #: threads that still ran after the last call returned
    error: str  #: the name of the last HIP error, or empty


@dataclass(frozen=True, kw_only=True)
class DeviceCheck:
    """The description of a working device, and the resources that the checking process uses."""

    free_bytes: int  #: of the device's memory
    total_bytes: int
    resident_bytes: int  #: of the process
    threads: int
    descriptors: int
    devices: int  #: that the runtime sees
    seccomp: int  #: the kernel's mode: 2 if system calls are filtered


@dataclass(frozen=True, kw_only=True)
class ResidueResult:
    """The amount of an earlier program's memory that a new program can read."""

    bytes: int  #: memory that was allocated
    samples: int  #: pages that were read
    residues: int  #: pages with the earlier program's pattern


@dataclass(frozen=True, kw_only=True)
class CopyRates:
    """The rates of copies between host and device, in GB/s; 0 if a time was not positive."""

    pageable_to_device: float
    pageable_to_host: float
    pinned_to_device: float
    pinned_to_host: float


@dataclass(frozen=True, kw_only=True)
class FaultReport:
    """A fault of the CPU runtime."""

    kind: str  #: one of `FAULT_HINTS`
    kernel: str | None
    line: int | None  #: of the launch
    block: tuple[int, int, int] | None
    thread: tuple[int, int, int] | None
    detail: str
    address: int

    @property
    def code(self) -> str:
        """The error code of the failure."""
        return self.kind.upper().replace("-", "_")

    def describe(self, tensor: str | None = None) -> str:
        """Describe the fault in one sentence; `tensor` names the element, if known."""
        place = ""
        if self.kernel:
            block, thread = (format_coordinates(at) for at in (self.block, self.thread))
            place = f" in kernel `{self.kernel}`, block {block}, thread {thread}"
        detail = f": {tensor or self.detail}" if tensor or self.detail else ""
        return f"{self.kind.replace('-', ' ')}{place}{detail}."

    def fields(self) -> dict[str, Any]:
        """Return the report as JSON types."""
        return {
            "fault": self.kind,
            "kernel": self.kernel,
            "line": self.line,
            "block": self.block,
            "thread": self.thread,
            "detail": self.detail,
            "address": self.address,
        }


def parse_header(data: bytes, nonce: int) -> tuple[int, int]:
    """Return the kind and size of the answer to the command with this nonce."""
    kind, size, echoed_nonce = _HEADER.unpack(data)
    if echoed_nonce != nonce or kind not in {OK, FAULT, ERROR} or size > MAX_ANSWER_BYTES:
        raise InvalidMessage("an answer that matches no command")
    return kind, size


def parse_run_answer(data: bytes, calls: int) -> RunAnswer:
    """Parse the answer to a RUN command of this many calls."""
    if len(data) != _RUN_ANSWER.size + 8 * calls:
        raise InvalidMessage("an answer of the wrong size")
    launches, threads, error, name = _RUN_ANSWER.unpack_from(data)
    times = struct.unpack_from(f"<{calls}d", data, _RUN_ANSWER.size)
    return RunAnswer(
        times_ms=tuple(ms if math.isfinite(ms) and ms > 0 else 0.0 for ms in times),
        launches=None if launches == _UNKNOWN_LAUNCHES else launches,
        left_threads=threads,
        error=printable(name.split(b"\0")[0].decode(errors="replace")) if error else "",
    )


def parse_device_check(data: bytes) -> DeviceCheck:
    """Parse the answer to CHECK_DEVICE, which is sent before submitted code is loaded."""
    free, total, resident, threads, descriptors, devices, seccomp = _unpack(_DEVICE_CHECK, data)
    return DeviceCheck(
        free_bytes=free,
        total_bytes=total,
        resident_bytes=resident,
        threads=threads,
        descriptors=descriptors,
        devices=devices,
        seccomp=seccomp,
    )


def parse_residue(data: bytes) -> ResidueResult:
    """Parse the harness's answer to PROBE_RESIDUE."""
    size, samples, residues = _unpack(_RESIDUE, data)
    return ResidueResult(bytes=size, samples=samples, residues=residues)


def parse_copy_rates(data: bytes) -> CopyRates:
    """Parse the harness's answer to MEASURE_COPIES."""
    rates = [rate if math.isfinite(rate) and rate > 0 else 0.0 for rate in _unpack(_COPY_RATES, data)]
    return CopyRates(
        pageable_to_device=rates[0],
        pageable_to_host=rates[1],
        pinned_to_device=rates[2],
        pinned_to_host=rates[3],
    )


def _unpack(structure: struct.Struct, data: bytes) -> tuple[Any, ...]:
    if len(data) != structure.size:
        raise InvalidMessage("an answer of the wrong size")
    return structure.unpack(data)


def parse_addresses(data: bytes, count: int) -> tuple[int, ...]:
    """Parse the addresses of a case's arguments; they are used only to describe faults."""
    if len(data) != 8 * count:
        raise InvalidMessage("an answer of the wrong size")
    return struct.unpack(f"<{count}Q", data)


def parse_fault(data: bytes) -> FaultReport:
    """Parse the report of a fault."""
    if len(data) > MAX_FAULT_BYTES:
        raise InvalidMessage("a fault report that is too long")
    try:
        fault = json.loads(data)
    except (ValueError, RecursionError):  # RecursionError: deeply nested brackets
        raise InvalidMessage("a fault report that cannot be parsed") from None
    kind = fault.get("fault") if isinstance(fault, dict) else None
    if not isinstance(kind, str) or kind not in FAULT_HINTS:
        raise InvalidMessage("a fault report with an unknown kind")
    kernel = fault.get("kernel")
    return FaultReport(
        kind=kind,
        kernel=printable(kernel) if isinstance(kernel, str) else None,
        line=parse_integer(fault.get("line"), 1, 1 << 24),
        block=parse_coordinates(fault.get("block")),
        thread=parse_coordinates(fault.get("thread")),
        detail=printable(fault["detail"]) if isinstance(fault.get("detail"), str) else "",
        address=parse_integer(fault.get("address"), 0, 1 << 64) or 0,
    )


def parse_rocm_fault(output: bytes) -> FaultReport | None:
    """Return the fault that ROCm's runtime printed before it ended the program, or None.

    The address of a memory fault is the address of its page.
    """
    end = output[-MAX_ROCM_REPORT_BYTES:]
    nothing = {"kernel": None, "line": None, "block": None, "thread": None}
    if match := _ROCM_ASSERTION.search(end):
        detail = f"`{printable(match[2].decode())}` is false in line {int(match[1])}"
        return FaultReport(kind="assertion", detail=detail, address=0, **nothing)
    if match := _ROCM_MEMORY_FAULT.search(end):
        address = int(match[1], 16)
        detail = f"address 0x{address:x}, {printable(match[2].decode()).lower()}"
        return FaultReport(kind="memory-fault", detail=detail, address=address, **nothing)
    return None


def parse_integer(value: object, low: int, high: int) -> int | None:
    """Return the value if it is an integer from `low` up to `high`, else None."""
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    return value if is_integer and isinstance(value, int) and low <= value < high else None


def parse_coordinates(value: object) -> tuple[int, int, int] | None:
    """Return the three integers of a block or thread index, or None."""
    if not isinstance(value, list) or len(value) != 3:
        return None
    x, y, z = (parse_integer(part, 0, 1 << 32) for part in value)
    return None if x is None or y is None or z is None else (x, y, z)


def format_coordinates(at: tuple[int, int, int] | None) -> str:
    """Format an index as `(x, y, z)`, or as `(?)` if it is unknown."""
    return f"({', '.join(map(str, at))})" if at else "(?)"


def printable(text: str, limit: int = MAX_TEXT) -> str:
    """Return the text with a limited length and without control characters and lone surrogates."""
    return "".join(character for character in text[:limit] if character.isprintable())


def printable_output(output: bytes) -> str:
    """Decode a program's output, truncated to `MAX_SHOWN_OUTPUT` and without terminal escapes."""
    text = output[:MAX_SHOWN_OUTPUT].decode(errors="replace")
    text = "".join(character for character in text if character.isprintable() or character in "\n\t")
    return f"{text}\n… ({len(output):,} bytes in total)" if len(output) > MAX_SHOWN_OUTPUT else text


def marker_line(marker: int) -> bytes:
    """Return the line that the guest prints after a case. A submission that prints it too does no harm."""
    return b"\x1e%016x\n" % marker
