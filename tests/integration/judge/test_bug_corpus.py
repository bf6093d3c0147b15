"""The bug finder on its corpus: planted bugs are found on the right line, without false positives."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import bug_corpus
from warmfront import sandbox, settings
from warmfront.hip.cpu.cpu_toolchain import CpuToolchain
from warmfront.judge import Judge
from warmfront.judge.bug_findings import KINDS
from warmfront.judge_request import JudgeRequest
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _pytest.mark.structures import ParameterSet

    from tests.support.bug_corpus import Specimen

FAULTY, CORRECT = bug_corpus.faulty(), bug_corpus.correct()

MAX_MISSED = 2
MIN_KERNELS = 40
MIN_PER_KIND = 3

#: Kinds that the corpus does not cover on purpose.
INCIDENTAL = {"null-pointer", "array-bounds"}


@pytest.fixture(scope="module", name="judge")
def _judge() -> Iterator[Judge]:
    configured = settings.load({}, env_file=None)
    maker = sandbox.open_sandbox("bubblewrap", base=configured.box_dir)
    yield Judge(CpuToolchain(configured.cache_dir), maker, configured)
    maker.close()


def last_event(judge: Judge, specimen: Specimen) -> dict[str, Any]:
    """Return the fields of the verdict on a kernel."""
    submission = JudgeRequest(
        source=specimen.source, problem=specimen.problem, dtype=specimen.dtype, endpoint=Endpoint.CHECKER
    )
    # Thorough for the corpus, whose cases are small; the default limits for real problems.
    thorough = bug_corpus.HERE in specimen.path.parents
    return list(judge.judge(submission, thorough=thorough))[-1].fields()


def findings_in(event: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the findings of a verdict, successful or not."""
    findings: list[dict[str, Any]] = event.get("warnings") or event.get("details", {}).get("findings", [])
    return findings


def is_at(finding: dict[str, Any], specimen: Specimen) -> bool:
    """Whether a finding is on the marked lines and no others."""
    return {finding["line"], finding["other_line"] or finding["line"]} <= specimen.lines


def test_planted_bugs_are_found(judge: Judge, capsys: pytest.CaptureFixture[str]) -> None:
    """At most two planted bugs are missed, by kind and line, and nothing else is reported."""
    found: list[str] = []
    missed: list[str] = []
    false: list[str] = []
    for specimen in FAULTY:
        findings = findings_in(last_event(judge, specimen))
        hits = [f for f in findings if f["kind"] == specimen.finds and is_at(f, specimen)]
        (found if hits else missed).append(specimen.path.stem)
        false += [f"{specimen.path.stem}: {f['kind']}, line {f['line']}" for f in findings if f not in hits]
        assert all(f["kernel"] and f["block"] and f["thread"] for f in hits), hits
    with capsys.disabled():
        print(f"\nbugs: found {len(found)}, missed {len(missed)}, false {len(false)}")
    assert len(missed) <= MAX_MISSED, missed
    assert not false


def _correct_kernels() -> Iterator[ParameterSet]:
    """Yield every correct kernel; every third one is a quick test."""
    for number, specimen in enumerate(CORRECT):
        marks = () if number % 3 == 0 else (pytest.mark.slow,)
        yield pytest.param(specimen, marks=marks, id=f"{specimen.path.parent.name}-{specimen.path.stem}")


@pytest.mark.parametrize("specimen", list(_correct_kernels()))
def test_a_correct_kernel_has_no_findings(judge: Judge, specimen: Specimen) -> None:
    """A correct kernel is CHECKED without a warning."""
    event = last_event(judge, specimen)
    assert event["status"] == "CHECKED", event
    assert [finding["message"] for finding in findings_in(event)] == []
    assert "did not compile" not in event["bug_finder"]


def test_the_corpus_is_large_and_balanced() -> None:
    """There are 40 kernels with and without bugs, and every kind of bug occurs at least three times."""
    kinds = Counter(specimen.finds for specimen in FAULTY)
    assert len(FAULTY) >= MIN_KERNELS
    assert len(CORRECT) >= MIN_KERNELS
    assert set(kinds) == set(KINDS) - INCIDENTAL
    assert min(kinds.values()) >= MIN_PER_KIND, kinds


@pytest.mark.parametrize("specimen", FAULTY, ids=lambda specimen: specimen.path.stem)
def test_a_faulty_kernel_marks_its_bug(specimen: Specimen) -> None:
    """Every faulty kernel marks the line of its bug."""
    assert specimen.lines


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("host_pointer_malloc", "HOST_POINTER", "line 10, kernel `run`, block (0, 0, 0), thread (0, 0, 0)"),
        ("misaligned_atomic", "MISALIGNED_ACCESS", "needs an address that is a multiple of 8"),
        ("out_of_bounds_last_block", "OUT_OF_BOUNDS", "`input[37]`, where `input` has 37 elements"),
        ("lds_static_helper", "LDS_OUT_OF_BOUNDS", "past the end of the shared array `tile` of 1024 bytes"),
        ("divergence_two_sides", "BARRIER_DIVERGENCE", "and thread (1, 0, 0) at line 13"),
    ],
)
def test_a_certain_bug_is_a_runtime_error_even_with_correct_outputs(
    judge: Judge, name: str, code: str, words: str
) -> None:
    """The verdict names the bug, its line and its thread."""
    event = last_event(judge, bug_corpus.read(bug_corpus.HERE / "faulty" / f"{name}.hip"))
    assert (event["status"], event["code"]) == ("RUNTIME_ERROR", code), event
    assert words in event["message"]
    assert event["hint"]


def test_a_wrong_answer_names_the_bug_that_may_cause_it(judge: Judge) -> None:
    """The hint of a WRONG_ANSWER begins with the first finding."""
    event = last_event(judge, bug_corpus.read(bug_corpus.HERE / "faulty/race_lds_loop.hip"))
    assert event["status"] == "WRONG_ANSWER"
    assert event["hint"].startswith("Line 9, kernel `run`")


HARMLESS = ("same_value_flag", "misaligned_float4", "misaligned_rows")


@pytest.mark.parametrize("name", HARMLESS)
def test_a_harmless_bug_is_a_warning(judge: Judge, name: str) -> None:
    """A race without consequences, or an address that a GPU accepts, does not change the verdict."""
    event = last_event(judge, bug_corpus.read(bug_corpus.HERE / f"faulty/{name}.hip"))
    assert event["status"] == "CHECKED"
    assert [warning["severity"] for warning in event["warnings"]] == ["warning"]


#: Its second iteration writes to LDS while other waves still read it. A quick check ends in the first one.
RACE_BEYOND_THE_LIMITS = """#include <hip/hip_runtime.h>
__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float tile[1024];
    for (size_t i = threadIdx.x; i < 2048; i += 1024) {
        float unused = 0;
        for (int step = 0; step < 200; ++step) unused += input[threadIdx.x % 37];
        tile[threadIdx.x] = i < n ? input[i] : unused;
        __syncthreads();
        const size_t mirrored = i - threadIdx.x + 1023 - threadIdx.x;
        if (mirrored < n) output[mirrored] = tile[1023 - threadIdx.x] + (n > 37 ? 1 : 0);
    }
}
extern "C" void solution(const float* input, float* output, size_t n) { run<<<1, 1024>>>(input, output, n); }
"""


def test_the_case_that_failed_is_examined_beyond_the_limits_of_a_quick_check(judge: Judge) -> None:
    """A race that only the failing case reaches, after millions of accesses, is named as the cause."""
    copy = bug_corpus.read(bug_corpus.HERE / "faulty/misaligned_rows.hip").problem
    submission = JudgeRequest(
        source=RACE_BEYOND_THE_LIMITS, problem=copy, dtype=copy.dtypes[0], endpoint=Endpoint.CHECKER
    )
    event = list(judge.judge(submission))[-1].fields()
    assert event["status"] == "WRONG_ANSWER", event
    assert "data race" in event["hint"], event
