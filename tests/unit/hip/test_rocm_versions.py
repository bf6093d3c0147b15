"""Tests of messages about constructs that not every HIP has."""

from __future__ import annotations

from pathlib import Path

import pytest

from warmfront.hip.diagnose import classify
from warmfront.hip.rocm_versions import NEEDS_ROCM_7, NOT_IN_HIP, find_missing, table
from warmfront.hip.xray.newer_constructs import find_newer_constructs

DOCS = Path(__file__).parents[3] / "docs" / "rocm-versions.md"
SOURCE = """__device__ float helper(float x);
#define TWICE(x) ((x) * missing_factor)
__global__ void k(float* p) {
  p[0] = helper(p[1]);
  p[1] = TWICE(p[2]);
}
"""


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("use of undeclared identifier '__ldcs'; did you mean '__ldg'?", NOT_IN_HIP),
        ("'__stcs' was not declared in this scope", NOT_IN_HIP),
        ("no member named 'reduce' in namespace 'cooperative_groups'", NOT_IN_HIP),
        ("'atomicAdd_block' was not declared in this scope", NOT_IN_HIP),
        ("use of undeclared identifier '__syncwarp'", NEEDS_ROCM_7),
        ("no member named 'num_threads' in 'cooperative_groups::thread_block'", NEEDS_ROCM_7),
    ],
)
def test_a_name_that_the_compiler_lacks_is_explained(text: str, code: str) -> None:
    """The code says whether a newer ROCm has it, and the hint what to write instead."""
    missing = find_missing(text)
    assert missing is not None
    assert missing.code == code
    assert missing.hint.startswith("Write instead: ")


@pytest.mark.parametrize(
    "text", ["use of undeclared identifier 'reduce'", "use of undeclared identifier 'mine'", "expected ';'"]
)
def test_a_name_of_the_author_is_not_explained(text: str) -> None:
    """A name that the author forgot to define is an ordinary error."""
    assert find_missing(text) is None


def test_a_clang_error_in_a_macro_is_reported_where_the_macro_is_used() -> None:
    """Clang prints the use first, and the definition in a note."""
    output = (
        "solution.hip:5:10: error: use of undeclared identifier 'missing_factor'\n"
        "solution.hip:2:25: note: expanded from macro 'TWICE'\n"
    )
    failure = classify(output, SOURCE, "", rewritten=False)
    assert [(d.line, d.column) for d in failure.diagnostics] == [(5, 10)]


def test_an_undefined_device_function_is_reported_at_its_call() -> None:
    """The linker of a GPU knows no lines; the first call is shown, not the declaration or the last line."""
    output = "ld.lld: error: undefined hidden symbol: helper(float)\n>>> referenced by a.o:(k(float*))\n"
    failure = classify(output, SOURCE, "", rewritten=False)
    assert failure.code == "UNDEFINED_NAME"
    assert [(d.line, d.column) for d in failure.diagnostics] == [(4, 10)]


def test_nothing_under_rocm_recommends_rocm() -> None:
    """A name of a GPU library is an ordinary error for the compiler of a GPU."""
    output = "solution.hip:4:10: fatal error: 'rocwmma/rocwmma.hpp' file not found\n"
    failure = classify(output, SOURCE, "", rewritten=False)
    assert failure.code == "COMPILE_ERROR"
    assert "rocm toolchain" not in failure.hint


def test_a_construct_of_rocm_7_is_a_finding_at_its_line() -> None:
    """Warnings of our headers become findings; those inside of the headers do not."""
    output = (
        "solution.hip:4:10: warning: needs ROCm 7 [-Wuser-defined-warnings]\n"
        "/cache/hip/hip_cooperative_groups.h:9:3: warning: needs ROCm 7 [-Wuser-defined-warnings]\n"
    )
    findings = find_newer_constructs(output, SOURCE.replace("helper(p[1])", "__hadd_rn(p[1])"))
    assert [(finding.rule.value, finding.line) for finding in findings] == [("needs-rocm-7", 4)]
    assert findings[0].advice == "For ROCm 6.4, write instead: the function without _rn."


def test_the_documentation_has_the_table() -> None:
    """`docs/rocm-versions.md` is up to date."""
    assert table() in DOCS.read_text()
