"""Invalid input to the X-ray: clear errors in the author's lines, no traceback and no hang."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.xray_harness import ROOT, XrayHarness, open_harness
from warmfront import settings
from warmfront.errors import UsageError
from warmfront.hip.xray import analysis
from warmfront.hip.xray.analysis import NO_KERNEL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warmfront.hip.diagnose import CompileFailure

ATTACKS = ROOT / "tests" / "corpus" / "attacks"


@pytest.fixture(scope="module", name="harness")
def _harness() -> Iterator[XrayHarness]:
    yield from open_harness()


def failure_of(harness: XrayHarness, source: str, **options: object) -> CompileFailure:
    """X-ray a source that does not compile and return the failure."""
    report = harness.xray(source, **options)
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
        (
            "__global__ void k(int* x) {\n  *x = 1;\n}\nint waves(int n) {\n  return n / warpSize;\n}\n",
            5,
            "warpSize is a value of the device",
        ),
        (
            "__global__ void k(int* x) {}\nvoid f(int* x) {\n  k<<<1, warpSize>>>(x);\n}\n",
            3,
            "warpSize is a value of the device",
        ),
        (
            "__device__ int twice(int n) { return 2 * n; }\nint f(int n) {\n  return twice(n);\n}\n",
            3,
            "no matching function",
        ),
    ],
)
def test_errors_in_the_authors_lines(harness: XrayHarness, source: str, line: int, words: str) -> None:
    """An error has the compiler's message and the author's line, but no path of this machine."""
    failure = failure_of(harness, source)
    assert failure.code == "COMPILE_ERROR"
    assert words in failure.message
    assert failure.diagnostics[0].line == line
    assert "/include/" not in failure.message
    assert failure.hint


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        (
            "__device__ int helper(int n);\n__global__ void k(int* x) {\n  *x = helper(1);\n}\n",
            3,
            "'helper' is declared and used, but not defined",
        ),
        (
            "extern __device__ int table[];\n__global__ void k(int* x) {\n  *x = table[*x];\n}\n",
            3,
            "'table' is declared and used, but not defined",
        ),
        (
            "#include <string>\n__global__ void k(int* x) {\n  std::string s(__FILE__); *x = s[*x];\n}\n",
            3,
            "runs on the host only",
        ),
    ],
)
def test_what_nothing_defines_for_the_device(
    harness: XrayHarness, source: str, line: int, words: str
) -> None:
    """A reference that ROCm's linker would refuse is an error in the author's line."""
    failure = failure_of(harness, source)
    assert failure.code == "UNDEFINED_NAME"
    assert words in failure.message
    assert failure.diagnostics[0].line == line


@pytest.mark.parametrize(
    "body",
    [
        "int* p = new int[4]; p[*x] = 1; *x = p[0]; delete[] p;",
        "struct Base { virtual __device__ int f() = 0; }; Base* b = (Base*)x; *x = b->f();",
        "int* p = new (x) int(3); *x = *p;",
    ],
)
def test_what_hipcc_defines_for_the_device(harness: XrayHarness, body: str) -> None:
    """Operators and virtual functions need no definition by the author."""
    report = harness.xray(f"#include <new>\n__global__ void k(int* x) {{ {body} }}\n")
    assert report.compiles, report.failure


_ASSEMBLY = {
    "unknown": ('int x;\n  asm volatile("v_foo_b32 %0, %1" : "=v"(x) : "v"(p[0]));\n  p[1] = x;', 4, 16),
    "operands": ('int x;\n  asm("v_add_f32 %0, %1" : "=v"(x) : "v"(p[0]));\n  p[1] = x;', 4, 7),
    "in a macro": ('p[1] = 1;\n  ASSEMBLE("s_nop 0\\n\\ts_foo 1");', 4, 22),
}


@pytest.mark.parametrize(("body", "line", "column"), _ASSEMBLY.values(), ids=_ASSEMBLY)
def test_assembly_that_the_assembler_refuses(harness: XrayHarness, body: str, line: int, column: int) -> None:
    """Inline assembly is assembled, and the error is at the author's text."""
    source = f"#define ASSEMBLE __asm__ __volatile__\n__global__ void k(int* p) {{\n  {body}\n}}\n"
    failure = failure_of(harness, source)
    first = failure.diagnostics[0]
    assert (first.line, first.column) == (line, column), failure.message
    assert "the assembler rejects this: " in first.message


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ('void f() {\n  asm volatile("v_nop");\n}\n', 2, "invalid instruction mnemonic 'v_nop'"),
        ('// asm\nasm("foo bar");\n', 1, "invalid instruction mnemonic 'foo'"),
        ("namespace a {\nint lanes = warpSize;\n}\n", 2, "warpSize is a value of the device"),
        ("constexpr int f(int n) {\n  return n / warpSize;\n}\n", 1, "never produces a constant expression"),
        ("__host__ __device__ int f(int n) {\n  return n / warpSize;\n}\n", 2, "warpSize is a value of the"),
        ("int f(double d) {\n  int a[] = {d};\n  return a[0];\n}\n", 2, "cannot be narrowed to 'int'"),
        ("__global__ void k(int* p, int n) {\n  *p = 1 < n < 3;\n}\n", 2, "chained comparison 'X < Y < Z'"),
    ],
)
def test_errors_that_only_code_generation_or_a_default_finds(
    harness: XrayHarness, source: str, line: int, words: str
) -> None:
    """The X-ray refuses what hipcc refuses as it generates code, and its warnings that are errors."""
    failure = failure_of(harness, source)
    assert failure.diagnostics[0].line == line
    assert words in failure.diagnostics[0].message


@pytest.mark.parametrize(
    "source",
    [
        '__global__ void k(int* p) {\n  asm volatile("s_nop 0");\n  *p = 1;\n}\nvoid f() { asm("nop"); }\n',
        "int f(int n = warpSize) { return n; }\n__global__ void k(int* p) { *p = warpSize; }\n",
        "__global__ void k(int* p, int n) {\n  if (*p = n) *p = 2;\n}\n",
    ],
)
def test_what_only_looks_like_such_an_error(harness: XrayHarness, source: str) -> None:
    """Right assembly, an unused default argument and a mere warning are accepted."""
    report = harness.xray(source)
    assert report.compiles, report.failure
    assert len(report.kernels) == 1


def test_column_counts_characters(harness: XrayHarness) -> None:
    """Columns count characters, although the compiler counts bytes."""
    failure = failure_of(harness, "__global__ void k(float* x) { /* é */ x[0] = y; }\n")
    assert failure.diagnostics[0].column == 46


def test_too_much_lds(harness: XrayHarness) -> None:
    """A block that needs too much LDS is an error with both sizes; it compiles for a GPU with more LDS."""
    source = (
        "__global__ void greedy(float* x) {\n  __shared__ float tile[20000];\n"
        "  tile[threadIdx.x] = *x;\n  __syncthreads();\n  *x = tile[19999 - threadIdx.x];\n}\n"
    )
    failure = failure_of(harness, source)
    assert failure.code == "LDS_OVER_LIMIT"
    assert "kernel 'greedy' needs 80,000 bytes of LDS" in failure.message
    assert "gfx942 has 65,536" in failure.message
    (kernel,) = harness.xray(source, arch="gfx950").kernels
    assert kernel.lds_bytes == 80000


def test_too_much_private_memory(harness: XrayHarness) -> None:
    """A private array above the limit is an error at the kernel's line, with both sizes."""
    source = "__global__ void k(int* x, int n) {\n  int a[60000];\n  a[*x] = n;\n  *x = a[n];\n}\n"
    failure = failure_of(harness, source)
    assert "a thread of 'k' needs 240," in failure.message
    assert failure.diagnostics[0].line == 1


def test_missing_rocm_library(harness: XrayHarness) -> None:
    """A missing header of a ROCm library is reported as missing in the X-ray, not as the author's error."""
    failure = failure_of(harness, "#include <rocblas/rocblas.h>\n__global__ void k() {}\n")
    assert failure.code == "NO_HEADER"
    assert "the X-ray has no header 'rocblas/rocblas.h'" in failure.message
    assert "with ROCm" in failure.hint


def test_host_files_are_not_readable(harness: XrayHarness) -> None:
    """A source cannot include files of the host."""
    failure = failure_of(harness, f'#include "{ROOT}/pyproject.toml"\n__global__ void k() {{}}\n')
    assert failure.code == "NO_HEADER"


@pytest.mark.parametrize("source", ["\n", "// nothing\n", "int main() { return 0; }\n"])
def test_no_kernel(harness: XrayHarness, source: str) -> None:
    """A source without a kernel compiles, and a note says that it has no kernel."""
    report = harness.xray(source)
    assert report.failure is None
    assert report.kernels == ()
    assert report.notes == (NO_KERNEL,)


def test_template_that_is_never_launched(harness: XrayHarness) -> None:
    """A kernel template that is never launched does not become a kernel."""
    assert harness.xray("template <int N> __global__ void k(float* x) { *x = N; }\n").kernels == ()


@pytest.mark.parametrize("name", ["template_bomb_memory", "template_bomb_time"])
def test_template_bombs(harness: XrayHarness, name: str) -> None:
    """A template that expands endlessly is stopped by the compiler's limits."""
    limits = {"WARMFRONT_COMPILE_TIMEOUT": "3", "WARMFRONT_COMPILE_MEMORY_LIMIT": "512MB"}
    tight = settings.load(limits, env_file=None)
    failure = failure_of(harness, (ATTACKS / f"{name}.hip").read_text(), settings=tight)
    assert failure.code in {"COMPILE_TIME_LIMIT", "COMPILE_MEMORY_LIMIT"}


def test_assembly_above_the_size_limit(harness: XrayHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    """Assembly above the size limit is rejected without being read."""
    monkeypatch.setattr(analysis, "MAX_ASSEMBLY_BYTES", 1000)
    failure = failure_of(harness, "__global__ void k(float* x) { *x = tanhf(*x); }\n")
    assert failure.code == "COMPILE_OUTPUT_LIMIT"


def test_endless_assembly(harness: XrayHarness) -> None:
    """A compiler that writes too much is stopped by the file size limit."""
    tight = settings.load({"WARMFRONT_FILE_SIZE_LIMIT": "1KB"}, env_file=None)
    failure = failure_of(harness, "__global__ void k(float* x) { *x = tanhf(*x); }\n", settings=tight)
    assert failure.code == "COMPILE_OUTPUT_LIMIT"


def test_output_flood(harness: XrayHarness) -> None:
    """For a source with thousands of errors, only the first ones are reported."""
    source = "__global__ void k() {\n" + "".join(f"  y{i} = 1;\n" for i in range(5000)) + "}\n"
    failure = failure_of(harness, source)
    assert len(failure.diagnostics) <= 60


def test_unknown_architecture(harness: XrayHarness) -> None:
    """The error for an unsupported architecture lists the supported ones."""
    with pytest.raises(UsageError, match=r"architecture 'gfx1100'; supported: gfx942, gfx90a, gfx950\."):
        harness.xray("__global__ void k() {}\n", arch="gfx1100")


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
def test_arbitrary_input(harness: XrayHarness, source: str) -> None:
    """Every input gives a report."""
    report = harness.xray(source)
    assert report.compiles or (report.failure is not None and report.failure.message)
