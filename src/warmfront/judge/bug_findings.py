"""What the bug finder wrote, as findings an author can read: each with its line, in words, by its weight.

The records come from a box in which submitted code ran, so they are claims: what cannot be read is dropped.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warmfront.events import Finding
from warmfront.hip.trailer import SOURCE_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: More records than this are an attack, not a kernel.
MAX_RECORDS = 256

#: Bounds of one record.
MAX_TEXT = 500
MAX_CHAIN = 16
MAX_OFFSET = 1 << 40

#: What each kind is called, and what to do about it.
KINDS = {
    "out-of-bounds": ("out of bounds", "Compare the index with the size before the access."),
    "use-after-free": ("use after free", "Free the buffer after the last kernel that uses it."),
    "null-pointer": ("null pointer", "Allocate the memory, and look at what hipMalloc returned."),
    "host-pointer": ("host pointer in a kernel", "Copy the data to memory of hipMalloc and pass that."),
    "lds-out-of-bounds": (
        "out of bounds in shared memory",
        "Make the array larger, or keep the index inside.",
    ),
    "array-bounds": ("index beyond an array", "Keep the index inside the array, in each dimension."),
    "misaligned-access": ("misaligned access", "A float4 needs an address that is a multiple of 16."),
    "data-race": ("data race", "Put a barrier between the two accesses, or make both atomic."),
    "same-value-race": ("data race on one value", "Let one thread write it, or make the store atomic."),
    "wave-synchronous": ("race within a wave", "Put __syncthreads() between the two accesses."),
    "barrier-divergence": (
        "barrier divergence",
        "Let all threads of the block reach the same __syncthreads().",
    ),
    "barrier-after-exit": (
        "barrier after an early return",
        "Guard the work, not the thread: reach the barrier first.",
    ),
    "inactive-lane": (
        "shuffle from an inactive lane",
        "Shuffle before the branch, so that every lane takes part.",
    ),
    "uninitialised-lds": ("uninitialised shared memory", "Write it, then __syncthreads(), then read it."),
    "wave-of-32": ("a wave taken for 32 lanes wide", "A wave of an MI300X has 64 lanes: use warpSize."),
}

#: Kinds that become errors once they are known to change the answer.
_DECIDED_BY_ANSWER = {"uninitialised-lds", "data-race", "wave-synchronous"}

#: Kind → the kinds that it follows from, where they are at the same line.
_FOLLOWS_FROM: dict[str, set[str]] = {
    "uninitialised-lds": {"data-race", "wave-synchronous"},
    "same-value-race": {"data-race", "wave-synchronous"},
    "wave-synchronous": {"data-race"},
    "array-bounds": {"lds-out-of-bounds"},
    "barrier-after-exit": {"barrier-divergence"},
}

#: The record of a hunt that stopped looking.
STEP_LIMIT_REACHED = "ran-out"


@dataclass(frozen=True, kw_only=True)
class BugRecord:
    """One line of the bug finder's, and where it was written."""

    data: Mapping[str, Any]
    case: str
    tensor: str | None  #: the element that the address would be, in words
    box: int = 0  #: which of several boxes wrote it


@dataclass(frozen=True, kw_only=True)
class BugEvidence:
    """Everything that is known once all cases have run."""

    records: Sequence[BugRecord]
    lines: Mapping[int, Sequence[int]]  #: offset in the library → the author's lines there, innermost first
    wrong_cases: frozenset[str]  #: whose answer was wrong in the checked run
    cut_votes: frozenset[int]  #: lines on which a vote of 64 lanes becomes a number of 32 bits
    source: str = ""  #: the author's text


def read_records(text: str) -> list[dict[str, Any]]:
    """The records in a box's file; what is no record is left out."""
    records = []
    for line in text.splitlines()[:MAX_RECORDS]:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):  # the second: brackets without end
            continue
        if isinstance(record, dict) and isinstance(record.get("kind"), str):
            records.append(record)
    return records


def offsets(records: Iterable[BugRecord]) -> list[int]:
    """Every place in the library that the records name."""
    found = {
        pc
        for record in records
        for key in ("pcs", "other_pcs")
        for pc in _whole_numbers(record.data.get(key))
    }
    return sorted(found)


#: The mangled end of a copy or move, by construction or assignment: of `T(const T&)`, of `operator=(T&&)` …
_COPY = re.compile(r"(?:C[12]|aS)E(?:RK|O)S\d*_$")
_CLASS = re.compile(r"\b(?:struct|class|union)\b")


def read_lines(output: str, source: str) -> dict[int, list[int]]:
    """What addr2line said: an offset, then for each function that was inlined there its name and its line.

    A copy that the author did not write stands at the head of its class: the line that copies is another.
    """
    text = source.splitlines()
    lines: dict[int, list[int]] = {}
    current: list[int] = []
    function = ""
    for said in output.splitlines():
        if re.fullmatch(r"0x[0-9a-f]+", said):
            current = lines.setdefault(int(said, 16), [])
        elif (match := re.match(r"(.*):(\d+)(?: |$)", said)) and match[1].endswith(SOURCE_NAME):
            number = int(match[2])
            if not (_COPY.search(function) and _CLASS.search("".join(text[number - 1 : number]))):
                current.append(number)
        else:
            function = said
    return lines


def cut_votes(compiler_output: str, source: str) -> frozenset[int]:
    """The lines on which the compiler saw a vote lose its upper half."""
    text = source.splitlines()
    found = set()
    warning = rf"^{re.escape(SOURCE_NAME)}:(\d+):\d+: warning: conversion from .*\blong\b.* to .*\bint\b"
    for match in re.finditer(warning, compiler_output, re.MULTILINE):
        number = int(match[1])
        if 0 < number <= len(text) and re.search(r"ballot|activemask|match_a", text[number - 1]):
            found.add(number)
    return frozenset(found)


_ON_DEVICE = r"\b__(?:device|constant|managed)__\b"


def is_host_variable(name: str, source: str) -> bool:
    """Whether a variable is the host's for certain: nothing in the text may have put it on the device."""
    if re.search(rf"^[ \t]*#[ \t]*define\b.*{_ON_DEVICE}", source, re.MULTILINE):
        return False
    declared = re.search(rf"\b{re.escape(name)}\b", source)
    return bool(declared) and not re.search(rf"{_ON_DEVICE}[^;{{}}]*\b{re.escape(name)}\b", source)


def derive_findings(evidence: BugEvidence) -> list[Finding]:
    """The findings worth telling: errors first, and before others what others may come of."""
    findings: dict[tuple[object, ...], Finding] = {}
    for record in evidence.records:
        if finding := _weigh_one(record, evidence):
            findings.setdefault((finding.kind, finding.kernel, _lines(finding)), finding)
    told = [finding for finding in findings.values() if not _follows(finding, findings.values())]
    # With half a vote, threads take each other's places: it looks like a race.
    return sorted(told, key=lambda f: (f.severity != "error", f.kind != "wave-of-32", f.line or 0))


def _lines(finding: Finding) -> frozenset[int | None]:
    return frozenset({finding.line, finding.other_line or finding.line})


def _follows(finding: Finding, others: Iterable[Finding]) -> bool:
    """Whether another finding at the same line says the same, and says more."""
    causes = _FOLLOWS_FROM.get(finding.kind, set())
    return any(
        other.kind in causes and other.kernel == finding.kernel and finding.line in _lines(other)
        for other in others
    )


def _weigh_one(record: BugRecord, evidence: BugEvidence) -> Finding | None:
    data = record.data
    kind, severity = data["kind"], data.get("severity")
    line = _line(data, "", evidence)
    is_wrong = bool(evidence.wrong_cases)
    if kind == "wide-vote":
        if line not in evidence.cut_votes:
            return None
        kind, severity = "wave-of-32", "error" if is_wrong else "warning"
        data = {**data, "detail": "this vote has 64 bits, and the upper 32 are set; here they are cut off"}
    elif kind == "host-variable":
        name = re.search(r"`(\w+)`", str(data.get("detail")))
        if not name or not is_host_variable(name[1], evidence.source):
            return None
        kind, severity = "host-pointer", "error"
    elif severity == "suspect":
        if not is_wrong:
            return None
        severity = "warning"
    elif kind in _DECIDED_BY_ANSWER and record.case in evidence.wrong_cases:
        severity = "error"
    if kind not in KINDS or (kind == "host-pointer" and _is_glue(data, line, evidence)):
        return None
    title, hint = KINDS[kind]
    detail = _readable(data.get("detail"))
    about = f" ({record.tensor})" if record.tensor else ""
    return Finding(
        kind=kind,
        severity="error" if severity == "error" else "warning",
        message=f"{title}: {detail}{about}.",
        hint=hint,
        line=line,
        other_line=_line(data, "other_", evidence) if "other_thread" in data else None,
        kernel=_readable(data.get("kernel")),
        block=_place(data.get("block")),
        thread=_place(data.get("thread")),
        other_block=_place(data.get("other_block")),
        other_thread=_place(data.get("other_thread")),
        case=record.case,
    )


def _line(data: Mapping[str, Any], prefix: str, evidence: BugEvidence) -> int | None:
    given = data.get(f"{prefix}line")
    if isinstance(given, int) and given > 0:
        return given
    for offset in _whole_numbers(data.get(f"{prefix}pcs")):
        if lines := evidence.lines.get(offset):
            return lines[0]
    return None


def _is_glue(data: Mapping[str, Any], line: int | None, evidence: BugEvidence) -> bool:
    """Whether a launch itself made the access: it reads a kernel's pointer from the host's stack.

    Its caller is our header. A kernel's own is the launch, at a line of the author's.
    """
    launch = data.get("launch_line")
    places = [evidence.lines.get(place) for place in _whole_numbers(data.get("pcs"))]
    while places and not places[0]:  # headers between the author's line and the access
        places.pop(0)
    return line == launch or bool(launch and places[1:] and not places[1])


def _whole_numbers(value: object) -> list[int]:
    """The offsets in a list that may hold anything."""
    if not isinstance(value, list):
        return []
    return [part for part in value[:MAX_CHAIN] if isinstance(part, int) and 0 <= part < MAX_OFFSET]


def _readable(value: object) -> str:
    """Text of a bearable length, with nothing in it that a terminal would obey."""
    return "".join(c for c in str(value)[:MAX_TEXT] if c.isprintable())


def _place(value: object) -> tuple[int, int, int] | None:
    if not isinstance(value, list) or len(value) != 3 or not all(isinstance(part, int) for part in value):
        return None
    return value[0], value[1], value[2]
