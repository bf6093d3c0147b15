"""Turn the records of the bug finder into findings for the author: line, message, hint and severity.

The records come from a box in which submitted code ran, so they are untrusted: invalid records are dropped.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from warmfront.events import Finding
from warmfront.hip.trailer import SOURCE_NAME
from warmfront.judge.box_messages import parse_coordinates, parse_integer, printable
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: Records beyond this number are ignored; no real kernel needs more.
MAX_RECORDS = 256

#: Limits of one record.
MAX_CHAIN = 16
MAX_LINE = 1 << 24
MAX_OFFSET = 1 << 40

#: Title and hint of each kind.
KINDS = {
    "out-of-bounds": ("out of bounds", "Compare the index with the size before the access."),
    "use-after-free": ("use after free", "Free the buffer after the last kernel that uses it."),
    "null-pointer": ("null pointer", "Allocate the memory, and check the result of hipMalloc."),
    "host-pointer": (
        "host pointer in a kernel",
        "Copy the data to memory from hipMalloc and pass that pointer.",
    ),
    "lds-out-of-bounds": (
        "out of bounds in shared memory",
        "Make the array larger, or keep the index in range.",
    ),
    "array-bounds": ("array index out of range", "Keep the index in range in each dimension."),
    "misaligned-access": (
        "misaligned access",
        "Align the rows or the pointer, or copy with memcpy or a type with a smaller alignment.",
    ),
    "data-race": ("data race", "Put a barrier between the two accesses, or make both atomic."),
    "same-value-race": ("data race with equal values", "Let one thread write it, or make the store atomic."),
    "wave-synchronous": ("race within a wave", "Put __syncthreads() between the two accesses."),
    "barrier-divergence": (
        "barrier divergence",
        "Let all threads of the block reach the same __syncthreads().",
    ),
    "barrier-after-exit": (
        "barrier after an early return",
        "Put the work in a condition instead of returning, so that every thread reaches the barrier.",
    ),
    "inactive-lane": (
        "shuffle from an inactive lane",
        "Shuffle before the branch, so that every lane takes part.",
    ),
    "dpp-inactive-lane": (
        "DPP from an inactive lane",
        "Move it before the branch, or pass an `old` value that is valid as the result.",
    ),
    "matrix-inactive-lane": (
        "matrix instruction with inactive lanes",
        "Execute it outside of branches, in blocks whose size is a multiple of 64.",
    ),
    "use-before-wait": (
        "use before the wait",
        "Wait first: s_waitcnt vmcnt(0) for global memory, lgkmcnt(0) for LDS; other waves need a barrier.",
    ),
    "buffer-out-of-range": (
        "out of range of the buffer descriptor",
        "The size of a descriptor and the offsets are in bytes: compare them with the size of the buffer.",
    ),
    "bank-conflict": (
        "LDS bank conflict",
        "Pad each row by 16 bytes, or exchange its 16-byte columns by row (XOR swizzle).",
    ),
    "uninitialised-lds": ("uninitialized shared memory", "Write it, then __syncthreads(), then read it."),
    "wave-of-32": ("code assumes waves of 32 lanes", "A wave of an MI300X has 64 lanes: use warpSize."),
}

#: Kinds that become errors if the outputs of the case are wrong.
_DECIDED_BY_ANSWER = {"uninitialised-lds", "data-race", "wave-synchronous", "use-before-wait"}

#: Kind → the kinds that explain it when they occur on the same line.
_FOLLOWS_FROM: dict[str, set[str]] = {
    "uninitialised-lds": {"data-race", "wave-synchronous"},
    "same-value-race": {"data-race", "wave-synchronous"},
    "wave-synchronous": {"data-race"},
    "array-bounds": {"lds-out-of-bounds"},
    "barrier-after-exit": {"barrier-divergence"},
}

#: The record of a run that used up its steps.
STEP_LIMIT_REACHED = "ran-out"


@dataclass(frozen=True, kw_only=True)
class BugRecord:
    """One line that the bug finder wrote, with its case and box."""

    data: Mapping[str, Any]
    case: str
    tensor: str | None  #: description of the tensor element at the address
    box: int = 0  #: id of the box that wrote it


@dataclass(frozen=True, kw_only=True)
class BugEvidence:
    """The evidence from all cases, from which the findings are derived."""

    records: Sequence[BugRecord]
    lines: Mapping[int, Sequence[int]]  #: offset in the library → source lines, innermost first
    wrong_cases: frozenset[str]  #: cases with wrong outputs in the checked run
    truncated_votes: frozenset[int]  #: lines on which a vote of 64 lanes is truncated to 32 bits
    source: str = ""  #: the submitted source


def read_records(text: str) -> list[dict[str, Any]]:
    """Parse the records in a box's file and skip invalid lines."""
    records = []
    for line in text.splitlines()[:MAX_RECORDS]:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):  # RecursionError: deeply nested brackets
            continue
        if isinstance(record, dict) and isinstance(record.get("kind"), str):
            records.append(record)
    return records


def offsets(records: Iterable[BugRecord]) -> list[int]:
    """Return every offset in the library that the records mention, sorted."""
    program_counters = {
        pc for record in records for key in ("pcs", "other_pcs") for pc in _offsets_in(record.data.get(key))
    }
    return sorted(program_counters)


#: The end of a mangled name of a copy or move constructor or assignment: `T(const T&)`, `operator=(T&&)` …
_COPY = re.compile(r"(?:C[12]|aS)E(?:RK|O)S\d*_$")
_CLASS = re.compile(r"\b(?:struct|class|union)\b")


def read_lines(output: str, source: str) -> dict[int, list[int]]:
    """Parse the output of addr2line: an offset, then name and line of each function inlined there.

    Frames of implicit copy constructors and assignments, which have the line of their class, are skipped: the
    next frame has the line that copies. Declarations of intrinsics are skipped as well.
    """
    text = source.splitlines()
    lines: dict[int, list[int]] = {}
    current: list[int] = []
    function = ""
    for text_line in output.splitlines():
        if re.fullmatch(r"0x[0-9a-f]+", text_line):
            current = lines.setdefault(int(text_line, 16), [])
        elif (match := re.match(r"(.*):(\d+)(?: |$)", text_line)) and match[1].endswith(SOURCE_NAME):
            number = int(match[2])
            line = "".join(text[number - 1 : number])
            if '"llvm.amdgcn.' not in line and not (_COPY.search(function) and _CLASS.search(line)):
                current.append(number)
        else:
            function = text_line
    return lines


def truncated_votes(compiler_output: str, source: str) -> frozenset[int]:
    """Return the lines on which the compiler warns that a vote loses its upper 32 bits."""
    text = source.splitlines()
    lines = set()
    warning = rf"^{re.escape(SOURCE_NAME)}:(\d+):\d+: warning: conversion from .*\blong\b.* to .*\bint\b"
    for match in re.finditer(warning, compiler_output, re.MULTILINE):
        number = int(match[1])
        if 0 < number <= len(text) and re.search(r"ballot|activemask|match_a", text[number - 1]):
            lines.add(number)
    return frozenset(lines)


_ON_DEVICE = r"\b__(?:device|constant|managed)__\b"


def is_host_variable(name: str, source: str) -> bool:
    """Return whether a variable is certainly in host memory: nothing places it on the device."""
    if re.search(rf"^[ \t]*#[ \t]*define\b.*{_ON_DEVICE}", source, re.MULTILINE):
        return False
    declared = re.search(rf"\b{re.escape(name)}\b", source)
    return bool(declared) and not re.search(rf"{_ON_DEVICE}[^;{{}}]*\b{re.escape(name)}\b", source)


def derive_findings(evidence: BugEvidence) -> list[Finding]:
    """Return the findings worth reporting: errors first, causes before their consequences."""
    findings: dict[tuple[object, ...], Finding] = {}
    for record in evidence.records:
        if finding := _to_finding(record, evidence):
            findings.setdefault((finding.kind, finding.kernel, _lines(finding)), finding)
    causes = [finding for finding in findings.values() if not _follows(finding, findings.values())]
    if any(finding.severity == "error" for finding in causes):
        # Some kernels rely on the range check deliberately: report it only if there is no other cause.
        causes = [finding for finding in causes if finding.kind != "buffer-out-of-range"]
    # A truncated vote makes threads write to the same place, which looks like a race: report the vote first.
    return sorted(causes, key=lambda f: (f.severity != "error", f.kind != "wave-of-32", f.line or 0))


def _lines(finding: Finding) -> frozenset[int | None]:
    return frozenset({finding.line, finding.other_line or finding.line})


def _follows(finding: Finding, others: Iterable[Finding]) -> bool:
    """Return whether this finding is a consequence of another one on the same line."""
    causes = _FOLLOWS_FROM.get(finding.kind, set())
    return any(
        other.kind in causes and other.kernel == finding.kernel and finding.line in _lines(other)
        for other in others
    )


def _to_finding(record: BugRecord, evidence: BugEvidence) -> Finding | None:
    data = record.data
    kind, severity = data["kind"], data.get("severity")
    line = _line(data, "", evidence)
    is_wrong = bool(evidence.wrong_cases)
    if kind == "wide-vote":
        if line not in evidence.truncated_votes:
            return None
        kind, severity = "wave-of-32", "error" if is_wrong else "warning"
        data = {
            **data,
            "detail": "this vote has 64 bits and is truncated to 32, although some of the upper bits are set",
        }
    elif kind == "host-variable":
        name = re.search(r"`(\w+)`", str(data.get("detail")))
        if not name or not is_host_variable(name[1], evidence.source):
            return None
        kind, severity = "host-pointer", "error"
    elif severity == "suspect":
        if not is_wrong:
            return None
        severity = "error" if kind in _DECIDED_BY_ANSWER else "warning"
    elif kind in _DECIDED_BY_ANSWER and record.case in evidence.wrong_cases:
        severity = "error"
    if kind not in KINDS or (kind == "host-pointer" and _is_launch_access(data, line, evidence)):
        return None
    title, hint = KINDS[kind]
    detail = printable(str(data.get("detail")))
    about = f" ({record.tensor})" if record.tensor else ""
    return Finding(
        kind=kind,
        severity="error" if severity == "error" else "warning",
        message=f"{title}: {detail}{about}.",
        hint=hint,
        line=line,
        other_line=_line(data, "other_", evidence) if "other_thread" in data else None,
        kernel=printable(str(data.get("kernel"))),
        block=parse_coordinates(data.get("block")),
        thread=parse_coordinates(data.get("thread")),
        other_block=parse_coordinates(data.get("other_block")),
        other_thread=parse_coordinates(data.get("other_thread")),
        case=record.case,
    )


def _line(data: Mapping[str, Any], prefix: str, evidence: BugEvidence) -> int | None:
    if (given := parse_integer(data.get(f"{prefix}line"), 1, MAX_LINE)) is not None:
        return given
    for offset in _offsets_in(data.get(f"{prefix}pcs")):
        if lines := evidence.lines.get(offset):
            return lines[0]
    return None


def _is_launch_access(data: Mapping[str, Any], line: int | None, evidence: BugEvidence) -> bool:
    """Return whether the launch itself made the access: it reads a kernel's pointer from the host stack.

    Our header makes such an access. An access of the kernel comes from a line of the source.
    """
    launch = data.get("launch_line")
    places = [evidence.lines.get(place) for place in _offsets_in(data.get("pcs"))]
    while places and not places[0]:  # frames of headers, which have no source line
        places.pop(0)
    return line == launch or bool(launch and places[1:] and not places[1])


def _offsets_in(value: object) -> list[int]:
    """Return the valid offsets in an untrusted value of any type."""
    if not isinstance(value, list):
        return []
    return [part for part in value[:MAX_CHAIN] if parse_integer(part, 0, MAX_OFFSET) is not None]
