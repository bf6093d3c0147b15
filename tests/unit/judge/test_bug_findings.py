"""Findings are derived from the records of the bug finder; invalid records are dropped."""

from __future__ import annotations

import json
from typing import Any

import pytest

from warmfront.judge.bug_finder import QUICK, choose_cases
from warmfront.judge.bug_findings import (
    BugEvidence,
    BugRecord,
    derive_findings,
    is_host_variable,
    offsets,
    read_lines,
    read_records,
    truncated_votes,
)
from warmfront.judge_request import JudgeRequest
from warmfront.problems import get
from warmfront.problems.spec import Dtype, Scale
from warmfront.verdicts import Endpoint


def record(kind: str, severity: str = "warning", **more: Any) -> BugRecord:
    """Return a record of case `a` at line 5."""
    data = {"kind": kind, "severity": severity, "detail": "why", "kernel": "k", "line": 5, "block": [0, 0, 0]}
    return BugRecord(data={**data, "thread": [1, 0, 0], **more}, case="a", tensor=None)


def evidence(*records: BugRecord, wrong: str = "", cut: int = 0) -> BugEvidence:
    """Return evidence with these records."""
    lines = {16: [7]}
    return BugEvidence(
        records=records, lines=lines, wrong_cases=frozenset(wrong), truncated_votes=frozenset({cut})
    )


def findings_of(*records: BugRecord, wrong: str = "", cut: int = 0) -> list[tuple[str, str, int | None]]:
    """Return kind, severity and line of the derived findings."""
    return [(f.kind, f.severity, f.line) for f in derive_findings(evidence(*records, wrong=wrong, cut=cut))]


@pytest.mark.parametrize(
    "text",
    ["", "nonsense", "[1]", "{}", '{"kind": 1}', "\x00", "[" * 100_000],
    ids=["empty", "words", "list", "no kind", "number", "zero", "deep"],
)
def test_invalid_records_are_dropped(text: str) -> None:
    """Submitted code may write anything to the file, without effect."""
    assert read_records(text) == []


def test_forged_records_are_harmless() -> None:
    """Fields of the wrong type are ignored, and control characters are removed."""
    forged = read_records(
        json.dumps({"kind": "data-race", "pcs": 7, "other_pcs": ["x", -1], "line": "5", "block": "b"})
        + "\n"
        + json.dumps({"kind": "out-of-bounds", "severity": "error", "detail": "\x1b[2J" + "x" * 10_000})
    )
    records = [BugRecord(data=data, case="a", tensor=None) for data in forged]
    assert offsets(records) == []
    findings = derive_findings(evidence(*records))
    assert [f.line for f in findings] == [None, None]
    assert all("\x1b" not in f.message and len(f.message) < 1000 for f in findings)


def test_a_suspicion_is_reported_only_for_a_wrong_answer() -> None:
    """A shuffle from an inactive lane matters only if the outputs are wrong."""
    assert findings_of(record("inactive-lane", "suspect")) == []
    assert findings_of(record("inactive-lane", "suspect"), wrong="a") == [("inactive-lane", "warning", 5)]


def test_a_race_that_changes_the_answer_is_an_error() -> None:
    """A race becomes an error if the outputs are wrong; writing the same value twice does not."""
    assert findings_of(record("data-race")) == [("data-race", "warning", 5)]
    assert findings_of(record("data-race"), wrong="a") == [("data-race", "error", 5)]
    assert findings_of(record("same-value-race"), wrong="a") == [("same-value-race", "warning", 5)]


def test_a_consequence_is_not_reported_beside_its_cause() -> None:
    """An uninitialized read that is part of a race is one bug, not two."""
    assert findings_of(record("uninitialised-lds"), record("data-race", other_line=6)) == [
        ("data-race", "warning", 5)
    ]


def test_a_vote_is_reported_where_the_compiler_warns() -> None:
    """A vote with upper bits is a bug only on a line that truncates it."""
    assert findings_of(record("wide-vote", "suspect")) == []
    assert findings_of(record("wide-vote", "suspect"), cut=5) == [("wave-of-32", "warning", 5)]


def test_a_truncated_vote_is_reported_before_the_race_it_causes() -> None:
    """If the outputs are wrong, the first finding is the cause."""
    race, vote = record("data-race", line=3), record("wide-vote", "suspect")
    assert [kind for kind, _, _ in findings_of(race, vote, cut=5, wrong=race.case)] == [
        "wave-of-32",
        "data-race",
    ]


def test_an_offset_is_resolved_to_a_line() -> None:
    """The innermost line of the submitted source is reported."""
    assert findings_of(record("data-race", line=0, pcs=[3, 16])) == [("data-race", "warning", 7)]


def test_accesses_of_a_launch_are_not_reported() -> None:
    """Reads of the host stack by the launch itself are not host pointers of the kernel."""
    assert findings_of(record("host-pointer", "error", launch_line=5)) == []
    assert findings_of(record("host-pointer", "error", launch_line=4, line=0, pcs=[16, 32])) == []
    kernel = record("host-pointer", "error", launch_line=4, line=0, pcs=[16, 16])
    assert findings_of(kernel) == [("host-pointer", "error", 7)]
    atomic = record("host-pointer", "error", launch_line=4, line=0, pcs=[3, 3, 16, 16])
    assert findings_of(atomic) == [("host-pointer", "error", 7)]


def test_lines_are_read_as_addr2line_prints_them() -> None:
    """Frames of headers are skipped."""
    printed = "0x10\nadd\n/x/atomics.h:9\nrun\n/box/solution.hip:12 (discriminator 2)\n0x20\n??\n??:0\n"
    assert read_lines(printed, "") == {16: [12], 32: []}


def test_an_implicit_copy_is_skipped() -> None:
    """The line that copies a struct is reported, not the one that declares it."""
    source = "struct Pair {\n  float a;\n  Pair(const Pair& other) : a(other.a) {}\n};\n"
    printed = "0x10\n_ZN4PairC2ERKS_\n/box/solution.hip:{}\nrun\n/box/solution.hip:9\n"
    assert read_lines(printed.format(1), source) == {16: [9]}
    assert read_lines(printed.format(3), source) == {16: [3, 9]}


@pytest.mark.parametrize(
    ("source", "is_host"),
    [
        ("static float table[4];", True),
        ("__device__ float other[4];\nfloat table[4];", True),
        ("__device__ float table[4];", False),
        ("__constant__ __attribute__((aligned(16))) float other, table[4];", False),
        ("#define DEVICE __device__\nDEVICE float table[4];", False),
        ("float another[4];", False),
    ],
    ids=["static", "beside", "device", "constant", "macro", "unknown"],
)
def test_a_variable_is_on_the_host_only_if_nothing_says_otherwise(source: str, *, is_host: bool) -> None:
    """Qualifiers that macros may hide, and unknown names, do not lead to a finding."""
    assert is_host_variable("table", source) is is_host


def test_only_truncated_votes_are_reported() -> None:
    """Of all conversions that lose bits, only those of votes count."""
    source = "unsigned a = __ballot(x);\nunsigned b = n * 2ul;\n"
    warnings = "".join(
        f"solution.hip:{line}:14: warning: conversion from 'long unsigned int' to 'unsigned int'\n"
        for line in (1, 2, 99)
    )
    assert truncated_votes(warnings, source) == {1}


def test_a_check_runs_the_bug_finder_on_a_few_small_cases() -> None:
    """The smallest case is chosen, and no large one."""
    problem = get("matrix-multiplication")
    submission = JudgeRequest(source="", problem=problem, dtype=Dtype.FLOAT32, endpoint=Endpoint.CHECKER)
    cases = problem.cases(Scale.CPU)
    chosen = choose_cases(submission, cases, QUICK)
    assert len(chosen) == QUICK.max_cases
    assert min(range(len(cases)), key=lambda i: problem.flops(cases[i])) + 1 in chosen
    assert all(problem.flops(cases[number - 1]) <= QUICK.max_work for number in chosen)
