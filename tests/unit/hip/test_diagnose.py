"""Tests of the explanations for failed compilations, from the output of a real compiler."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING, NamedTuple

import pytest

from warmfront.hip import cpu
from warmfront.hip.builtins import PREFIX, all_builtins
from warmfront.hip.diagnose import CompileFailure, Diagnostic, classify, main_defined, render
from warmfront.hip.headers import copy_headers
from warmfront.hip.source.rewrite import rewrite
from warmfront.hip.trailer import wrap_source
from warmfront.hip.unsupported_matrix_instructions import find_unknown_instruction
from warmfront.problems.relu import Relu
from warmfront.problems.spec import Dtype

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.compiler

DECLARATION = Relu().declaration(Dtype.FLOAT32)
HEAD = DECLARATION + " {\n"


@pytest.fixture(scope="module")
def include(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the headers, precompiled once."""
    folder = tmp_path_factory.mktemp("headers") / "include"
    copy_headers(cpu.INCLUDE, folder)
    header = folder / "hip" / "hip_runtime.h"
    command = ["g++", *cpu.SUBMISSION_FLAGS, "-I", folder, "-x", "c++-header", header, "-o", f"{header}.gch"]
    subprocess.run(list(map(str, command)), check=True)
    return folder


@pytest.fixture
def explain(include: Path, tmp_path: Path) -> Callable[[str], CompileFailure]:
    """Return a function that compiles a faulty source as the judge does, and explains the failure."""

    def run(source: str) -> CompileFailure:
        translation = rewrite(source)
        compiled = tmp_path / "solution.cpp"
        compiled.write_text(translation.includes + wrap_source(translation.text, Relu(), Dtype.FLOAT32))
        result = subprocess.run(
            ["g++", *cpu.SUBMISSION_FLAGS, "-I", include, "-include", "hip/hip_runtime.h", compiled,
             *cpu.LINK_FLAGS, "-Wl,-z,defs", "-o", tmp_path / "solution.so"],
            capture_output=True, text=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}, check=False,
        )  # fmt: skip
        assert result.returncode != 0
        return classify(result.stderr, source, DECLARATION, translation.assembly)

    return run


class Mistake(NamedTuple):
    """A faulty source, and the expected position and message."""

    source: str
    line: int
    column: int
    message: str


KERNEL = "__global__ void k(const float* x, float* y, int n) { y[n] = x[n]; }\n"
MISTAKES = {
    "undeclared name": Mistake(HEAD + "  output[0] = inpt[0];\n}\n", 2, 15, "'inpt' was not declared"),
    "forgotten semicolon": Mistake(HEAD + "  int i = 3\n}\n", 3, 1, "expected ',' or ';' before '}'"),
    "one brace too many": Mistake(HEAD + "  }\n}\n", 3, 1, "expected declaration before '}'"),
    "one brace too few": Mistake(HEAD + "  if (n) {\n}\n", 3, 2, "the file ends before a '{' is closed"),
    "misspelled call": Mistake(HEAD + "  hipMaloc(&output, n);\n}\n", 2, 3, "did you mean 'hipMalloc'"),
    "wrong type": Mistake(HEAD + '  int i = "x";\n}\n', 2, 11, "from 'const char*' to 'int'"),
    "assignment to const": Mistake(HEAD + "  input[0] = 1;\n}\n", 2, 12, "assignment of read-only location"),
    "no such member": Mistake(HEAD + "  float4 v; v.q = 1;\n}\n", 2, 15, "'float4' has no member named 'q'"),
    "vector and string": Mistake(HEAD + '  float4 v; v = v + "x";\n}\n', 2, 19, "no match for 'operator+'"),
    "missing header": Mistake('#include "mine.h"\n' + HEAD + "}\n", 1, 10, "mine.h: No such file"),
    "CUDA header": Mistake(
        "#include <cuda_fp16.h>\n" + HEAD + "}\n", 1, 10, "CUDA header: the HIP header is <hip/hip_fp16.h>"
    ),
    "CUDA name": Mistake(
        HEAD + "  cudaFree(output);\n}\n", 2, 3, "'cudaFree' is a CUDA name: the HIP name is 'hipFree'"
    ),
    "CUDA type": Mistake(
        HEAD + "  cudaStream_t s;\n}\n", 2, 3, "'cudaStream_t' is a CUDA name: the HIP name is 'hipStream_t'"
    ),
    "#error": Mistake("#error not yet\n" + HEAD + "}\n", 1, 2, "#error not yet"),
    "unclosed condition": Mistake(HEAD + "}\n#if 1\n", 3, 1, "unterminated #if"),
    "unknown kernel": Mistake(HEAD + "  nok<<<1, 1>>>(output);\n}\n", 2, 3, "'nok' was not declared"),
    "undeclared in a launch": Mistake(
        KERNEL + HEAD + "  k<<<blocks, 1>>>(input, output, 1);\n}\n", 3, 7, "'blocks' was not declared"
    ),
    "undeclared argument": Mistake(
        KERNEL + HEAD + "  k<<<1, 1>>>(input, outptu, 1);\n}\n", 3, 22, "'outptu' was not declared"
    ),
    "after a launch": Mistake(
        KERNEL + HEAD + "  k<<<1, 1>>>(input, output, 1); oops();\n}\n", 3, 34, "'oops' was not declared"
    ),
    "too many arguments": Mistake(
        KERNEL + HEAD + "  k<<<1, 1>>>(input, output, 1, 2);\n}\n",
        3, 3, "too many arguments to kernel 'k': its parameters are (const float*, float*, int)",
    ),
    "too few arguments": Mistake(
        KERNEL + HEAD + "  k<<<1,\n      1>>>(output);\n}\n",
        3, 3, "too few arguments to kernel 'k': its parameters are (const float*, float*, int)",
    ),
    "wrong argument": Mistake(
        KERNEL + HEAD + '  k<<<1, 1>>>(input, output, "x");\n}\n',
        3, 3, "argument 3 of kernel 'k' must be 'int', not 'const char*'",
    ),
    "template kernel": Mistake(
        "template <class T> __global__ void t(T* x) {}\n" + HEAD + "  t<float><<<1, 1>>>(output, 3);\n}\n",
        3, 3,
        "kernel 't<float>' cannot be launched with (float*, int): "
        "it is declared as 'template<class T> void t(T*)'",
    ),
    "no block": Mistake(
        KERNEL + HEAD + "  k<<<1>>>(input, output, 1);\n}\n", 3, 4, "a launch is <<<grid, block>>> or"
    ),
    "launch in a macro": Mistake(
        KERNEL + "#define RUN(...) k<<<1, 1>>>(__VA_ARGS__)\n" + HEAD + "  RUN(input, output, 1, 2);\n}\n",
        4, 3, "too many arguments to kernel 'k'",
    ),
    "in a template": Mistake(
        "template <class T> __global__ void t(T* x) { x->nope(); }\n" + HEAD + "  t<<<1, 1>>>(output);\n}\n",
        1, 49, "request for member 'nope'",
    ),
    "atomic on an unsupported type": Mistake(
        HEAD + "  char c;\n  atomicAdd(&c, 1);\n}\n", 3, 12, "no matching function for call to 'atomicAdd"
    ),
    "unlimited template recursion": Mistake(
        "template <int N> struct A { A<N + 1> a; };\n" + HEAD + "  A<0> a;\n}\n",
        1, 38, "template instantiation depth exceeds maximum",
    ),
    "non-ASCII text": Mistake(HEAD + "  /* é */ nope();\n}\n", 2, 11, "'nope' was not declared"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_reports_a_mistake_at_its_position_in_the_source(
    mistake: Mistake, explain: Callable[[str], CompileFailure]
) -> None:
    """Line and column refer to the author's source; the message names nothing of the runtime."""
    failure = explain(mistake.source)
    first = failure.diagnostics[0]
    assert failure.code == "COMPILE_ERROR"
    assert (first.line, first.column) == (mistake.line, mistake.column)
    assert mistake.message in first.message
    assert first.source_line == mistake.source.split("\n")[mistake.line - 1]
    for ours in ("hipcpu", "lambda", "auto:", "warmfront", "/include/"):
        assert ours not in failure.message


GPU_ONLY = {
    "message instruction": ("__builtin_amdgcn_s_sendmsg(1, n);", "state that only a GPU has"),
    "texture": ("tex2D<float>(n, 1, 2);", "texture"),
    "graph": ("hipGraph_t graph; hipGraphCreate(&graph, 0);", "graph"),
    "library type": ("rocblas_handle handle;", "library"),
    "library namespace": ("thrust::sort(output, output + n);", "library"),
    "module": ("hipModule_t module; hipModuleLoad(&module, 0);", "cannot load GPU code"),
    "inline assembly": ('asm volatile("v_mad_u64_u32 %0, %0" : "+v"(n));', "v_mad_u64_u32"),
    "registers in assembly": ('asm volatile("v_mov_b32 v[3], 0");', "the operand v[3]"),
}


@pytest.mark.parametrize(("line", "reason"), GPU_ONLY.values(), ids=GPU_ONLY)
def test_reports_names_that_need_a_gpu(
    line: str, reason: str, explain: Callable[[str], CompileFailure]
) -> None:
    """A name that needs a GPU gets its own code, with its name and line."""
    failure = explain(f"{HEAD}  {line}\n}}\n")
    assert failure.code == "GPU_ONLY"
    assert "runs on a GPU only" in failure.message
    assert reason in failure.message
    assert failure.diagnostics[0].line == 2


BUILTIN_ARGUMENTS = {
    "DPP control": (
        "__builtin_amdgcn_update_dpp(0, n, 0x110, 0xf, 0xf, false);",
        "not a DPP control",
        "row_shr",
    ),
    "row mask": ("__builtin_amdgcn_mov_dpp(n, 0x111, 0x1f, 0xf, false);", "four bits", "0xf"),
    "swizzle": (
        "__builtin_amdgcn_ds_swizzle(n, 0xe000);",
        "does not support this ds_swizzle pattern",
        "below 0xe000",
    ),
    "not constant": ("__builtin_amdgcn_mov_dpp(n, n, 0xf, 0xf, false);", "not a constant expression", "Fix"),
    "comparison": ("__builtin_amdgcn_uicmp(1, 2, 3);", "not the code of a comparison", "32 to 41"),
    "fence": ('__builtin_amdgcn_fence(0, "workgroup");', "not the order of a fence", "__ATOMIC_RELEASE"),
    "size of a matrix operand": (
        "__builtin_amdgcn_mfma_f32_16x16x16f16(int4{}, int4{}, {}, 0, 0, 0);",
        "this operand of a matrix instruction must be a vector of 4 _Float16",
        "the same size",
    ),
}


@pytest.mark.parametrize(("line", "message", "hint"), BUILTIN_ARGUMENTS.values(), ids=BUILTIN_ARGUMENTS)
def test_reports_arguments_that_a_builtin_does_not_have(
    line: str, message: str, hint: str, explain: Callable[[str], CompileFailure]
) -> None:
    """The message says what is wrong with the argument, at the author's line, and what to use."""
    failure = explain(f"__global__ void k(int n) {{\n  {line}\n}}\n{HEAD}  k<<<1, 64>>>(n);\n}}\n")
    assert (failure.code, failure.diagnostics[0].line) == ("COMPILE_ERROR", 2)
    assert message in failure.message
    assert hint in failure.hint
    assert "hipcpu" not in failure.message


UNKNOWN_BUILTINS = {
    "misspelled": ("readfirstlne(n)", "Did you mean __builtin_amdgcn_readfirstlane?"),
    "of another GPU": ("cvt_pk_f16_fp8(n)", "Did you mean __builtin_amdgcn_cvt_pk_f32_fp8?"),
    "not similar to any": ("flush_everything(n)", "docs/cdna3.md lists the builtins"),
}


@pytest.mark.parametrize(("call", "hint"), UNKNOWN_BUILTINS.values(), ids=UNKNOWN_BUILTINS)
def test_calls_an_unknown_builtin_unknown(
    call: str, hint: str, explain: Callable[[str], CompileFailure]
) -> None:
    """A name that gfx942 lacks is not reported as "GPU only"; the hint has the nearest name."""
    failure = explain(f"{HEAD}  __builtin_amdgcn_{call};\n}}\n")
    assert (failure.code, failure.diagnostics[0].line) == ("UNKNOWN_INSTRUCTION", 2)
    assert f"'__builtin_amdgcn_{call.partition('(')[0]}' is unknown: gfx942" in failure.message
    assert "GPU only" not in failure.message
    assert hint in failure.hint


MATRIX_MISTAKES = {
    "form of gfx908": (
        "s[0] = __builtin_amdgcn_mfma_f32_32x32x4bf16(h[0], h[0], s[0], 0, 0, 0);",
        "is not an instruction of gfx942",
        "Use __builtin_amdgcn_mfma_f32_32x32x8bf16_1k.",
    ),
    "form of gfx950": (
        "s[0] = __builtin_amdgcn_mfma_f32_32x32x16_f16(h[0], h[0], s[0], 0, 0, 0);",
        "is not an instruction of gfx942",
        "Use __builtin_amdgcn_mfma_f32_32x32x8f16.",
    ),
    "unknown builtin": (
        "s[0] = __builtin_amdgcn_mfma_f32_32x32x8_f16(h[0], h[0], s[0], 0, 0, 0);",
        "is not a matrix instruction",
        "Use __builtin_amdgcn_mfma_f32_32x32x8f16.",
    ),
    "wrong element type": (
        "s[0] = __builtin_amdgcn_mfma_f32_32x32x8f16(s[0].lo.lo, h[0], s[0], 0, 0, 0);",
        "this operand of a matrix instruction must be a vector of 4 _Float16",
        "Pass a vector of that type, or one of the same size",
    ),
    "wrong number of results": (
        "s[0] = __builtin_amdgcn_mfma_f32_16x16x16f16(h[0], h[0], s[0], 0, 0, 0);",
        "this operand of a matrix instruction must be a vector of 4 float",
        "Pass a vector of that type, or one of the same size",
    ),
    "repeated element": (
        "s[0].lo.lo.xx = h[0].x;",
        "an assignment to a swizzle can have each element only once",
        "",
    ),
    "missing element": ("h[0].xy = h[0].s48;", "the vector has no such element", ""),
}


@pytest.mark.parametrize(("line", "message", "hint"), MATRIX_MISTAKES.values(), ids=MATRIX_MISTAKES)
def test_reports_mistakes_with_matrix_instructions(
    line: str, message: str, hint: str, explain: Callable[[str], CompileFailure]
) -> None:
    """A wrong operand, or an instruction that gfx942 lacks, is an error with its line and what to use."""
    types = (
        "typedef _Float16 halfx4 __attribute__((ext_vector_type(4)));\n"
        "typedef float floatx16 __attribute__((ext_vector_type(16)));\n"
    )
    failure = explain(f"{types}__global__ void k(halfx4* h, floatx16* s) {{\n  {line}\n}}\n{HEAD}}}\n")
    assert failure.diagnostics[0].line == 4
    assert message in failure.message
    assert hint in failure.hint
    assert "hipcpu" not in failure.message


def test_the_list_of_matrix_instructions() -> None:
    """The names for messages are those that the CPU runtime's header declares."""
    declared = {
        f"{PREFIX}{kind}_{name}"
        for kind, header in (("mfma", "matrix_forms.h"), ("smfmac", "sparse_matrix.h"))
        for name in re.findall(r"^  X\((\w+),", (cpu.INCLUDE / "hipcpu" / header).read_text(), re.MULTILINE)
    }
    scaled = {f"{PREFIX}mfma_scale_f32_{shape}_f8f6f4" for shape in ("16x16x128", "32x32x64")}
    listed = {b.name for b in all_builtins().values() if b.group == "matrices" and b.header}
    assert listed == declared | scaled


ARCH_MISTAKES = {
    "scales": (
        "gfx942",
        "mfma_scale_f32_16x16x128_f8f6f4",
        "Use __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8;",
    ),
    "sparse form of gfx950": ("gfx942", "smfmac_f32_16x16x64_f16", "smfmac_f32_16x16x32_f16."),
    "xf32": ("gfx950", "mfma_f32_32x32x4_xf32", "Use __builtin_amdgcn_mfma_f32_32x32x2f32."),
}


@pytest.mark.parametrize(("arch", "form", "hint"), ARCH_MISTAKES.values(), ids=ARCH_MISTAKES)
@pytest.mark.parametrize(
    "message", ["'{}' was not declared in this scope", "'{}' needs target feature gfx950-insts"]
)
def test_explains_forms_of_another_architecture(arch: str, form: str, hint: str, message: str) -> None:
    """A form that the architecture lacks is named with the architecture, and with what to use."""
    unknown = find_unknown_instruction(message.format(PREFIX + form), arch)
    assert unknown is not None
    assert f"{PREFIX}{form} is not an instruction of {arch}" in unknown.message
    assert hint in unknown.hint


@pytest.mark.parametrize(
    "header", ["rocblas/rocblas.h", "hipcub/device/device_reduce.hpp", "thrust/sort.h", "hip/hiprtc.h"]
)
def test_reports_headers_of_gpu_libraries(header: str, explain: Callable[[str], CompileFailure]) -> None:
    """Including a library for GPUs gets the code GPU_ONLY, not COMPILE_ERROR."""
    failure = explain(f"#include <{header}>\n{HEAD}}}\n")
    assert failure.code == "GPU_ONLY"
    assert failure.message.startswith(f"{header} runs on a GPU only")


def test_reports_a_grid_barrier_at_its_call(explain: Callable[[str], CompileFailure]) -> None:
    """A static assertion in one of our headers is reported at the call in the author's source."""
    source = (
        "#include <hip/hip_cooperative_groups.h>\n"
        f"__global__ void k() {{\n  cooperative_groups::this_grid().sync();\n}}\n{HEAD}  k<<<1, 1>>>();\n}}\n"
    )
    failure = explain(source)
    assert failure.code == "GPU_ONLY"
    assert failure.message.startswith("grid_group::sync runs on a GPU only")
    assert failure.diagnostics[0].line == 3


@pytest.mark.parametrize(
    ("source", "code", "message"),
    [
        (KERNEL, "NO_SOLUTION", DECLARATION),
        (f"namespace a {{ {HEAD} }} }}\n", "NO_SOLUTION", "only a::solution"),
        ("int main() {}\n", "MAIN_DEFINED", "Line 1 defines main"),
        (HEAD.removeprefix('extern "C" ') + "}\n", "NOT_EXTERN_C", DECLARATION),
        ('extern "C" void solution(float* a) {}\n', "WRONG_SIGNATURE", DECLARATION),
        (
            'extern "C" void solution(float* a) {}\n',
            "WRONG_SIGNATURE",
            'extern "C" void solution(float* a)\n',
        ),
        ("template <class T> void solution(T* a) {}\n", "WRONG_SIGNATURE", "a single function"),
        ("float rsqrtf(float x) { return x; }\n" + HEAD + "}\n", "RESERVED_NAME", "'rsqrtf'"),
        ("int far(int);\n" + HEAD + "  far(3);\n}\n", "UNDEFINED_NAME", "'far(int)'"),
    ],
)
def test_each_violation_of_the_contract_has_its_code(
    source: str, code: str, message: str, explain: Callable[[str], CompileFailure]
) -> None:
    """A missing or wrong `solution` is reported with the declaration that is expected."""
    failure = explain(source)
    assert failure.code == code
    assert message in failure.message + "\n"


def test_an_error_in_the_source_precedes_a_missing_solution(
    explain: Callable[[str], CompileFailure],
) -> None:
    """An error that hides `solution` is reported instead of the missing `solution`."""
    failure = explain("int x = nope;\n")
    assert failure.code == "COMPILE_ERROR"
    assert [d.message for d in failure.diagnostics] == ["'nope' was not declared in this scope"]


def test_a_duplicate_symbol_is_named() -> None:
    """A symbol of the runtime that the source defines again is named."""
    output = (
        "/usr/bin/ld: x.o: in function `hipMalloc':\nx.cpp: multiple definition of `hipMalloc'; y.o: first\n"
    )
    failure = classify(output, "void hipMalloc() {}\n", DECLARATION)
    assert failure.code == "RESERVED_NAME"
    assert failure.diagnostics[0].column == 6


def test_a_duplicate_main_has_its_own_code() -> None:
    """`main` is distinguished from other duplicate symbols."""
    output = "/usr/bin/ld: a.o: multiple definition of `main'; b.o: first defined here\n"
    assert classify(output, "int main() {}\n", DECLARATION).code == "MAIN_DEFINED"


def test_parses_the_output_of_clang() -> None:
    """The same failures, as clang reports them, get the same codes and lines."""
    source = KERNEL + HEAD + "  k<<<1, 1>>>(output);\n  oops();\n}\n"
    line = rewrite(source).text.split("\n")[2]
    column = line.index("{ k(") + 3
    output = (
        f"solution.hip:3:{column}: error: no matching function for call to 'k'\n"
        "/x/hipcpu/launch.h:9:3: note: in instantiation of function template specialization requested here\n"
        "solution.hip:1:17: note: candidate function not viable: requires 3 arguments, but 1 was provided\n"
        "solution.hip:4:3: error: use of undeclared identifier 'oops'\n"
        "2 errors generated.\n"
    )
    errors = [d for d in classify(output, source, DECLARATION).diagnostics if d.severity == "error"]
    assert [(d.line, d.column) for d in errors] == [(3, 3), (4, 3)]
    assert errors[0].message.endswith("requires 3 arguments, but 1 was provided")


def test_output_without_a_message_is_an_error() -> None:
    """Output without any message is quoted at the last line."""
    failure = classify("g++: internal compiler error: Killed\n", "int x;\n", DECLARATION)
    assert failure.code == "COMPILE_ERROR"
    assert "internal compiler error" in failure.message


def test_keeps_columns_of_text_that_was_not_rewritten() -> None:
    """The text that hipcc compiles is the author's own, so its columns are right."""
    source = KERNEL + HEAD + "  k<<<1, 1>>>(input, output, 1); oops();\n}\n"
    output = "solution.hip:3:34: error: use of undeclared identifier 'oops'\n"
    failure = classify(output, source, DECLARATION, rewritten=False)
    assert failure.diagnostics[0].column == 34


def test_rendering_puts_a_caret_under_the_column() -> None:
    """Tabs stay tabs, so that the caret is under its column whatever the tab width."""
    diagnostic = Diagnostic(12, 3, "error", "no", "\t\tx;")
    assert render([diagnostic], "\n" * 20, "a.hip") == "a.hip:12:3: error: no\n 12 | \t\tx;\n    | \t\t^"


def test_renders_a_diagnostic_without_a_position() -> None:
    """Line 0 means that the diagnostic has no line."""
    assert render([Diagnostic(0, 0, "error", "no", "")], "") == "solution.hip: error: no"


def test_reports_main_at_its_line() -> None:
    """The judge can reject `main` before it runs a compiler."""
    failure = main_defined("\nint main() {}\n", 2, DECLARATION)
    assert failure.diagnostics[0].source_line == "int main() {}"
    assert DECLARATION in failure.hint
