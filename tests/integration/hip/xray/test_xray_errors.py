"""Bad input to the X-ray: a clear word in the author's lines, never a traceback, never a hang."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.xray_harness import ROOT, Lab, open_lab
from warmfront import settings
from warmfront.errors import UsageError
from warmfront.hip.xray import analysis
from warmfront.hip.xray.analysis import NO_KERNEL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warmfront.hip.diagnose import CompileFailure

ATTACKS = ROOT / "tests" / "corpus" / "attacks"


@pytest.fixture(scope="module", name="lab")
def _lab() -> Iterator[Lab]:
    yield from open_lab()


def failure_of(lab: Lab, source: str, **options: object) -> CompileFailure:
    """Why a source does not compile."""
    report = lab.xray(source, **options)
    assert report.failure is not None
    assert report.kernels == ()
    return report.failure


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ("__global__ void k(float* x) {\n  x[0] = y;\n}\n", 2, "use of undeclared identifier 'y'"),
        ("__global__ void k(float* x) {\n  x[0] = 1\n}\n", 2, "expected ';'"),
        ("__global__ void k(float* x) {\n  x[0] = 1;\n", 3, "expected '}'"),
        (
            "float h() { return 1; }\n__global__ void k(float* x) {\n  *x = h();\n}\n",
            3,
            "no matching function",
        ),
        (
            "__global__ void k(float* x) {}\nvoid f() {\n  k<<<1, {8, 8}>>>(nullptr);\n}\n",
            3,
            "expected expression",
        ),
        ("__global__ int k(float* x) {}\n", 1, "must have void return type"),
        (
            "__global__ void k(int* x) {\n  *x = __shfl_sync(0xffffffff, *x, 0);\n}\n",
            2,
            "its mask has 64 bits",
        ),
        (
            "#define T(x) (x + z)\n__global__ void k(int* x) {\n  *x = T(1);\n}\n",
            3,
            "undeclared identifier 'z'",
        ),
        ("__global__ void k(float* x) { /* é */ x[0] = y; }\n", 1, "undeclared identifier 'y'"),
        (
            "#include <algorithm>\n__global__ void k(int* x) {\n  std::sort(x, x + 9);\n}\n",
            3,
            "runs on the host only",
        ),
    ],
)
def test_errors_in_the_authors_lines(lab: Lab, source: str, line: int, words: str) -> None:
    """An error names the author's line in the compiler's own words, and no path of this machine."""
    failure = failure_of(lab, source)
    assert failure.code == "COMPILE_ERROR"
    assert words in failure.message
    assert failure.diagnostics[0].line == line
    assert "/include/" not in failure.message
    assert failure.hint


def test_column_counts_characters(lab: Lab) -> None:
    """A column counts what the author sees, though the compiler counts bytes."""
    failure = failure_of(lab, "__global__ void k(float* x) { /* é */ x[0] = y; }\n")
    assert failure.diagnostics[0].column == 46


def test_too_much_lds(lab: Lab) -> None:
    """A block that wants more LDS than there is says how much of what, and fits on the GPU that has it."""
    source = (
        "__global__ void greedy(float* x) {\n  __shared__ float tile[20000];\n"
        "  tile[threadIdx.x] = *x;\n  __syncthreads();\n  *x = tile[19999 - threadIdx.x];\n}\n"
    )
    failure = failure_of(lab, source)
    assert failure.code == "LDS_OVER_LIMIT"
    assert "kernel 'greedy' wants 80,000 bytes of LDS" in failure.message
    assert "gfx942 has 65,536" in failure.message
    (kernel,) = lab.xray(source, arch="gfx950").kernels
    assert kernel.lds_bytes == 80000


def test_too_much_of_a_threads_own_memory(lab: Lab) -> None:
    """An array that no thread can have is an error at the kernel's line, with both sizes."""
    source = "__global__ void k(int* x, int n) {\n  int a[60000];\n  a[*x] = n;\n  *x = a[n];\n}\n"
    failure = failure_of(lab, source)
    assert "a thread of 'k' wants 240," in failure.message
    assert failure.diagnostics[0].line == 1


def test_library_that_is_not_here(lab: Lab) -> None:
    """A header of ROCm's libraries is named as what the X-ray lacks, not as the author's mistake."""
    failure = failure_of(lab, "#include <rocblas/rocblas.h>\n__global__ void k() {}\n")
    assert failure.code == "NO_HEADER"
    assert "the X-ray has no header 'rocblas/rocblas.h'" in failure.message
    assert "with ROCm" in failure.hint


def test_no_file_of_this_machine_is_read(lab: Lab) -> None:
    """A source cannot include a file of the host that is not part of the system."""
    failure = failure_of(lab, f'#include "{ROOT}/pyproject.toml"\n__global__ void k() {{}}\n')
    assert failure.code == "NO_HEADER"


@pytest.mark.parametrize("source", ["\n", "// nothing\n", "int main() { return 0; }\n"])
def test_no_kernel(lab: Lab, source: str) -> None:
    """A source without a kernel compiles, and the report says that there is none."""
    report = lab.xray(source)
    assert report.failure is None
    assert report.kernels == ()
    assert report.notes == (NO_KERNEL,)


def test_template_that_is_never_launched(lab: Lab) -> None:
    """A kernel template that nothing launches is no kernel."""
    assert lab.xray("template <int N> __global__ void k(float* x) { *x = N; }\n").kernels == ()


@pytest.mark.parametrize("name", ["template_bomb_memory", "template_bomb_time"])
def test_template_bombs(lab: Lab, name: str) -> None:
    """A template that expands without end meets the compiler's limits."""
    limits = {"WARMFRONT_COMPILE_TIMEOUT": "3", "WARMFRONT_COMPILE_MEMORY_LIMIT": "512MB"}
    tight = settings.load(limits, env_file=None)
    failure = failure_of(lab, (ATTACKS / f"{name}.hip").read_text(), settings=tight)
    assert failure.code in {"COMPILE_TIME_LIMIT", "COMPILE_MEMORY_LIMIT"}


def test_more_assembly_than_anyone_reads(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that becomes more assembly than the limit is refused by its size, not read."""
    monkeypatch.setattr(analysis, "MAX_ASSEMBLY_BYTES", 1000)
    failure = failure_of(lab, "__global__ void k(float* x) { *x = tanhf(*x); }\n")
    assert failure.code == "COMPILE_OUTPUT_LIMIT"


def test_endless_assembly(lab: Lab) -> None:
    """A compiler that would write without end is stopped by the size of its file."""
    tight = settings.load({"WARMFRONT_FILE_SIZE_LIMIT": "1KB"}, env_file=None)
    failure = failure_of(lab, "__global__ void k(float* x) { *x = tanhf(*x); }\n", settings=tight)
    assert failure.code == "COMPILE_OUTPUT_LIMIT"


def test_output_flood(lab: Lab) -> None:
    """A source with thousands of errors gives a few."""
    source = "__global__ void k() {\n" + "".join(f"  y{i} = 1;\n" for i in range(5000)) + "}\n"
    failure = failure_of(lab, source)
    assert len(failure.diagnostics) <= 60


def test_unknown_architecture(lab: Lab) -> None:
    """An architecture that the X-ray does not know is named with those that it does."""
    with pytest.raises(UsageError, match="gfx1100") as raised:
        lab.xray("__global__ void k() {}\n", arch="gfx1100")
    assert raised.value.hint is not None
    assert "gfx90a" in raised.value.hint


@pytest.mark.parametrize(
    "source",
    [
        '__global__ void k() { asm volatile("nonsense %0"); }\n',
        '#line 1 "/etc/passwd"\nint x = y;\n__global__ void k() {}\n',
        "#pragma clang module import x\n__global__ void k() { this is not C++ }\n",
        "\x01\x02\x03",
        'R"(',
        'extern "C" __global__ void k() { while (1); }\n',
    ],
)
def test_never_a_traceback(lab: Lab, source: str) -> None:
    """Whatever the text, there is a report."""
    report = lab.xray(source)
    assert report.compiles or (report.failure is not None and report.failure.message)
