"""What an author reads when a submission does not compile, from what a real compiler says."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, NamedTuple

import pytest

from warmfront.hip import cpu
from warmfront.hip.diagnose import CompileFailure, Diagnostic, classify, main_defined, render
from warmfront.hip.headers import copy_headers
from warmfront.hip.source.rewrite import rewrite
from warmfront.hip.trailer import wrap_source
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
    """The headers, precompiled once."""
    folder = tmp_path_factory.mktemp("headers") / "include"
    copy_headers(cpu.INCLUDE, folder)
    header = folder / "hip" / "hip_runtime.h"
    command = ["g++", *cpu.SUBMISSION_FLAGS, "-I", folder, "-x", "c++-header", header, "-o", f"{header}.gch"]
    subprocess.run(list(map(str, command)), check=True)
    return folder


@pytest.fixture
def explain(include: Path, tmp_path: Path) -> Callable[[str], CompileFailure]:
    """Compiles a submission as the judge does, which must fail, and explains it."""

    def run(source: str) -> CompileFailure:
        translation = rewrite(source)
        compiled = tmp_path / "solution.cpp"
        compiled.write_text(wrap_source(translation.text, Relu(), Dtype.FLOAT32))
        result = subprocess.run(
            ["g++", *cpu.SUBMISSION_FLAGS, "-I", include, "-include", "hip/hip_runtime.h", compiled,
             *cpu.LINK_FLAGS, "-Wl,-z,defs", "-o", tmp_path / "solution.so"],
            capture_output=True, text=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}, check=False,
        )  # fmt: skip
        assert result.returncode != 0
        return classify(result.stderr, source, DECLARATION, translation.assembly)

    return run


class Mistake(NamedTuple):
    """What an author wrote, and what they must read."""

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
    "header of CUDA's": Mistake(
        "#include <cuda_fp16.h>\n" + HEAD + "}\n", 1, 10, "is a CUDA header: the HIP header is <hip/hip_fp16.h>"
    ),
    "name of CUDA's": Mistake(
        HEAD + "  cudaFree(output);\n}\n", 2, 3, "'cudaFree' is a CUDA name: the HIP name is 'hipFree'"
    ),
    "type of CUDA's": Mistake(
        HEAD + "  cudaStream_t s;\n}\n", 2, 3, "'cudaStream_t' is a CUDA name: the HIP name is 'hipStream_t'"
    ),
    "an error of one's own": Mistake("#error not yet\n" + HEAD + "}\n", 1, 2, "#error not yet"),
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
        3, 3, "kernel 't<float>' cannot be launched with (float*, int): it is declared as 'template<class T> void t(T*)'",
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
    "atomic on a type that has none": Mistake(
        HEAD + "  char c;\n  atomicAdd(&c, 1);\n}\n", 3, 12, "atomicAdd takes 32-bit and 64-bit numbers"
    ),
    "template without end": Mistake(
        "template <int N> struct A { A<N + 1> a; };\n" + HEAD + "  A<0> a;\n}\n",
        1, 38, "template instantiation depth exceeds maximum",
    ),
    "beyond ASCII": Mistake(HEAD + "  /* é */ nope();\n}\n", 2, 11, "'nope' was not declared"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_shown_where_the_author_made_it(
    mistake: Mistake, explain: Callable[[str], CompileFailure]
) -> None:
    """Line, column and words are the author's; nothing of the runtime shows through."""
    failure = explain(mistake.source)
    first = failure.diagnostics[0]
    assert failure.code == "COMPILE_ERROR"
    assert (first.line, first.column) == (mistake.line, mistake.column)
    assert mistake.message in first.message
    assert first.source_line == mistake.source.split("\n")[mistake.line - 1]
    for ours in ("hipcpu", "lambda", "auto:", "warmfront", "/include/"):
        assert ours not in failure.message


GPU_ONLY = {
    "matrix instruction": ("__builtin_amdgcn_mfma_f32_32x32x1f32(1.f, 2.f, n, 0, 0, 0);", "instruction"),
    "texture": ("tex2D<float>(n, 1, 2);", "texture"),
    "graph": ("hipGraph_t graph; hipGraphCreate(&graph, 0);", "graph"),
    "library type": ("rocblas_handle handle;", "library"),
    "library namespace": ("thrust::sort(output, output + n);", "library"),
    "module": ("hipModule_t module; hipModuleLoad(&module, 0);", "cannot load GPU code"),
    "inline assembly": ('asm volatile("s_waitcnt vmcnt(0)");', "inline assembly"),
}


@pytest.mark.parametrize(("line", "reason"), GPU_ONLY.values(), ids=GPU_ONLY)
def test_what_needs_a_gpu_says_so(line: str, reason: str, explain: Callable[[str], CompileFailure]) -> None:
    """What only a GPU can do is told apart from a mistake, by name and line."""
    failure = explain(f"{HEAD}  {line}\n}}\n")
    assert failure.code == "GPU_ONLY"
    assert "runs on a GPU only" in failure.message
    assert reason in failure.message
    assert failure.diagnostics[0].line == 2


@pytest.mark.parametrize(
    "header", ["rocblas/rocblas.h", "hipcub/hipcub.hpp", "thrust/sort.h", "hip/hiprtc.h"]
)
def test_a_header_of_a_gpu_library_says_so(header: str, explain: Callable[[str], CompileFailure]) -> None:
    """Including a library for GPUs is no typing mistake."""
    failure = explain(f"#include <{header}>\n{HEAD}}}\n")
    assert failure.code == "GPU_ONLY"
    assert failure.message.startswith(f"{header} runs on a GPU only")


def test_waiting_for_a_grid_says_so_in_the_authors_line(explain: Callable[[str], CompileFailure]) -> None:
    """A refusal inside a header of ours is shown at the call."""
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
def test_each_way_to_miss_the_contract_has_its_code(
    source: str, code: str, message: str, explain: Callable[[str], CompileFailure]
) -> None:
    """What the judge needs of a submission is asked for by name, with the declaration that is expected."""
    failure = explain(source)
    assert failure.code == code
    assert message in failure.message + "\n"


def test_an_error_of_the_author_comes_before_a_missing_solution(
    explain: Callable[[str], CompileFailure],
) -> None:
    """A mistake that hides `solution` is shown itself."""
    failure = explain("int x = nope;\n")
    assert failure.code == "COMPILE_ERROR"
    assert [d.message for d in failure.diagnostics] == ["'nope' was not declared in this scope"]


def test_a_message_of_the_linker_names_what_is_taken() -> None:
    """A symbol of the runtime that is defined again is named."""
    output = (
        "/usr/bin/ld: x.o: in function `hipMalloc':\nx.cpp: multiple definition of `hipMalloc'; y.o: first\n"
    )
    failure = classify(output, "void hipMalloc() {}\n", DECLARATION)
    assert failure.code == "RESERVED_NAME"
    assert failure.diagnostics[0].column == 6


def test_a_message_of_the_linker_about_main_is_about_main() -> None:
    """`main` is told apart from other names of the runtime."""
    output = "/usr/bin/ld: a.o: multiple definition of `main'; b.o: first defined here\n"
    assert classify(output, "int main() {}\n", DECLARATION).code == "MAIN_DEFINED"


def test_clang_is_understood_too() -> None:
    """The same failures in clang's words get the same codes and lines."""
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


def test_output_without_any_message_is_still_an_error() -> None:
    """A compiler that says nothing useful is quoted at the last line."""
    failure = classify("g++: internal compiler error: Killed\n", "int x;\n", DECLARATION)
    assert failure.code == "COMPILE_ERROR"
    assert "internal compiler error" in failure.message


def test_columns_of_text_that_was_not_rewritten_are_kept() -> None:
    """With hipcc the compiler sees the author's own columns."""
    source = KERNEL + HEAD + "  k<<<1, 1>>>(input, output, 1); oops();\n}\n"
    output = "solution.hip:3:34: error: use of undeclared identifier 'oops'\n"
    failure = classify(output, source, DECLARATION, rewritten=False)
    assert failure.diagnostics[0].column == 34


def test_rendering_puts_a_caret_under_the_column() -> None:
    """Tabs stay tabs, so that the caret stands under its column in any editor."""
    diagnostic = Diagnostic(12, 3, "error", "no", "\t\tx;")
    assert render([diagnostic], "\n" * 20, "a.hip") == "a.hip:12:3: error: no\n 12 | \t\tx;\n    | \t\t^"


def test_a_diagnostic_without_a_place_is_rendered_without_one() -> None:
    """Line 0 means that no line of the author's is to blame."""
    assert render([Diagnostic(0, 0, "error", "no", "")], "") == "solution.hip: error: no"


def test_main_is_shown_where_it_is() -> None:
    """The judge can refuse `main` before any compiler sees it."""
    failure = main_defined("\nint main() {}\n", 2, DECLARATION)
    assert failure.diagnostics[0].source_line == "int main() {}"
    assert DECLARATION in failure.hint
