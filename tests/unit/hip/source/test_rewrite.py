"""Tests of the rewriter: what it translates, what it leaves unchanged, and arbitrary input."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmfront.hip.source.rewrite import RewriteError, rewrite

if TYPE_CHECKING:
    from collections.abc import Callable


def launched(kernel: str, configuration: str, arguments: str = "", *, how: str = "launch_plain") -> str:
    """Return the translation of a launch, up to white space."""
    return (
        f'::hipcpu::{how}("{kernel}", __LINE__, ::hipcpu::config({configuration}), '
        f"[&](auto&... hipcpu_args) {{ {kernel}(hipcpu_args...); }}{arguments and ', '}{arguments})"
    )


def squeeze(text: str) -> str:
    """Return the text with every run of white space replaced by one space."""
    return " ".join(text.split())


def assert_translation(source: str, expected: str) -> None:
    """Assert that the translation of `source` is `expected`, up to white space."""
    assert squeeze(rewrite(source).text) == squeeze(expected)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("k<<<1, 64>>>(a, n);", launched("k", "1, 64", "a, n") + ";"),
        ("k<<<g, b>>>();", launched("k", "g, b") + ";"),
        ("k<<<g, b, 4 * sizeof(float), s>>>(x);", launched("k", "g, b, 4 * sizeof(float), s", "x") + ";"),
        ("return ns::k<T, 16><<<g, b>>>(x);", "return " + launched("ns::k<T, 16>", "g, b", "x") + ";"),
        ("::k<<<g, b>>>(x);", launched("::k", "g, b", "x") + ";"),
        ("return ::k<<<g, b>>>(x);", "return " + launched("::k", "g, b", "x") + ";"),
        ("a::template k<T><<<g, b>>>(x);", launched("a::template k<T>", "g, b", "x") + ";"),
        ("A<int>::k<<<g, b>>>(x);", launched("A<int>::k", "g, b", "x") + ";"),
        ("(*fp)<<<g, b>>>(x);", launched("(*fp)", "g, b", "x") + ";"),
        ("if (y) (*fp)<<<g, b>>>(x);", "if (y) " + launched("(*fp)", "g, b", "x") + ";"),
        ("if (y) k<<<g, b>>>(x); else k<<<b, g>>>(x);",
         "if (y) " + launched("k", "g, b", "x") + "; else " + launched("k", "b, g", "x") + ";"),
        ("this->k<<<g, b>>>(x);", launched("this->k", "g, b", "x") + ";"),
        ("table[i]<<<g, b>>>(x);", launched("table[i]", "g, b", "x") + ";"),
        ("pick<T>(n)<<<g, b>>>(x);", launched("pick<T>(n)", "g, b", "x") + ";"),
        ("k<V<V<int>>><<<g, b>>>(x);", launched("k<V<V<int>>>", "g, b", "x") + ";"),
        ("k<(N > 4)><<<g, b>>>(x);", launched("k<(N > 4)>", "g, b", "x") + ";"),
        ("k<1 << 4><<<g, b>>>(x);", launched("k<1 << 4>", "g, b", "x") + ";"),
        ("k<<<g, {8, 8}>>>(x);", launched("k", "g, {8, 8}", "x") + ";"),
        ("k<<<n >> 8, 256>>>(x >> 2);", launched("k", "n >> 8, 256", "x >> 2") + ";"),
        ("k<<<g, f(V<V<V<int>>>(3))>>>(x);", launched("k", "g, f(V<V<V<int>>>(3))", "x") + ";"),
        ("k<<<g, V<V<V<int>>>::size>>>(x);", launched("k", "g, V<V<V<int>>>::size", "x") + ";"),
        ("k<<<g, size<int>>>>(x);", launched("k", "g, size<int>", "x") + ";"),
        ("k<<<1, 1>>>(NULL, f(NULL), NULL);", launched("k", "1, 1", "nullptr, f(NULL), nullptr") + ";"),
        ("k<<<1, 1>>>({a, b}, x);",
         '::hipcpu::launch_plain("k", __LINE__, ::hipcpu::config(1, 1), [&](auto&...) { k({a, b}, x); });'),
        ("k<<<1, 1>>>(V{a, b}, f({x}));", launched("k", "1, 1", "V{a, b}, f({x})") + ";"),
        ("k<<<1, 1>>>([&] { j<<<2, 2>>>(y); return y; }());",
         launched("k", "1, 1", "[&] { " + launched("j", "2, 2", "y") + "; return y; }()") + ";"),
    ],
)  # fmt: skip
def test_rewrites_a_launch_as_a_call(source: str, expected: str) -> None:
    """Every form of a kernel's name and of a configuration becomes a call of the runtime."""
    assert_translation(source, expected)
    assert rewrite(source).launches == expected.count("::hipcpu::config(")


@pytest.mark.parametrize(
    "source",
    [
        "// k<<<1, 1>>>(x)\n",
        "/* k<<<1, 1>>>(x) */",
        '"k<<<1, 1>>>(x)"',
        'R"zz(k<<<"1", 1>>>(x))zz"',
        "'<<<'",
        "a<b<c<int>>> x;",
        "int million = 1'000'000; char quote = '\\''; x = 1 << 3 >> 1;",
        "out.operator<<<int>(3);",
        "hipLaunchKernelGGL(k, g, b, 0, 0, x);",
        "#error don't <<< do this\n",
        "// a comment continues \\\n k<<<1, 1>>>(x)\n",
        "extern int n; extern __device__ float table[4]; extern float* f(int x[]);",
        "__shared__ float tile[16][16];",
    ],
)
def test_leaves_other_code_unchanged(source: str) -> None:
    """Comments, literals and other uses of the same characters are not changed."""
    translation = rewrite(source)
    assert translation.text == source
    assert translation.launches == 0


@pytest.mark.parametrize("cast", ["(void*)", "(const void *)", "(void const*)", "reinterpret_cast<void*>"])
@pytest.mark.parametrize("call", ["hipLaunchKernel", "hipLaunchCooperativeKernel"])
def test_removes_the_cast_of_a_kernel_pointer(call: str, cast: str) -> None:
    """The cast to an untyped pointer is removed, because it hides the kernel's parameters."""
    text = rewrite(f"{call}({cast}(k<8>), g, b, args);").text
    assert text.replace(" ", "") == f"{call}((k<8>),g,b,args);"


@pytest.mark.parametrize(
    "call", ["hipLaunchKernel(k, g)", "hipLaunchKernel((void*", "f((void*)k)", "hipLaunchKernel((k))"]
)
def test_keeps_other_casts(call: str) -> None:
    """Only a cast of the launched kernel to an untyped pointer is removed."""
    assert_translation(call, call)


def test_keeps_the_lines_of_a_launch() -> None:
    """Each line of the source stays on its line, comments included."""
    source = "k<float,\n  3> // why\n<<<dim3(1),\n  2>>>(\n  a,\n\n  b);\nint after;\n"
    lines = rewrite(source).text.split("\n")
    assert len(lines) == source.count("\n") + 1
    assert lines[4].strip() == "a,"
    assert lines[7] == "int after;"


def test_rewrites_a_launch_in_a_macro() -> None:
    """The body of a macro is translated; a kernel that is its parameter is named with `#`."""
    source = "#define RUN(kernel, ...) \\\n  kernel<<<g, b>>>(__VA_ARGS__)\nRUN(k, 1);\n"
    translation = rewrite(source)
    assert translation.launches == 1
    assert "launch_plain(#kernel, __LINE__" in translation.text
    assert "__VA_OPT__(,) __VA_ARGS__)" in translation.text
    assert translation.text.count("\\\n") == 1


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("void k() { extern __shared__ float s[]; }",
         "void k() { auto* const s = ::hipcpu::dynamic_shared<float>() ; }"),
        ("void k() { extern __shared__ __align__(16) unsigned char s[]; }",
         "void k() { auto* const s = ::hipcpu::dynamic_shared<unsigned char>() ; }"),
        ("void k() { extern __shared__ alignas(sizeof(T)) volatile T s[64]; }",
         "void k() { auto* const s = ::hipcpu::dynamic_shared<volatile T>() ; }"),
        ("void k() { extern __attribute__((aligned(16))) __shared__ typename A<T>::B s[]; }",
         "void k() { auto* const s = ::hipcpu::dynamic_shared<typename A<T>::B>() ; }"),
        ("void k() { __shared__ extern float s[][32]; }",
         "void k() { auto* const s = ::hipcpu::dynamic_shared<float[32]>() ; }"),
        ("extern __shared__ int s[];", "static ::hipcpu::DynamicShared<int> s ;"),
        ("extern __shared__ char s[]; void k() { f(reinterpret_cast<T*>(s), (T*)s, s[0], *s); auto* p = s; }",
         ("static ::hipcpu::DynamicShared<char> s ; "
          "void k() { f(reinterpret_cast<T*>(+s), (T*)+s, s[0], *s); auto* p = +s; }")),
        ("namespace a::b { extern __shared__ int s[]; }",
         "namespace a::b { static ::hipcpu::DynamicShared<int> s ; }"),
        ('extern "C" { extern __shared__ int s[]; }',
         'extern "C" { static ::hipcpu::DynamicShared<int> s ; }'),
        ("#define SHARED extern __shared__ int s[];\n",
         "#define SHARED auto* const s = ::hipcpu::dynamic_shared<int>() ;"),
    ],
)  # fmt: skip
def test_rewrites_dynamic_shared_memory(source: str, expected: str) -> None:
    """`extern __shared__` names the memory of the launch, in a function and at file scope."""
    assert_translation(source, expected)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("void k() { static __shared__ int s; }", "void k() { __shared__ int s; }"),
        ("void k() { __shared__ static int s; }", "void k() { __shared__ int s; }"),
        ("void k() { __shared__ alignas(16) T s[N]; }", "void k() { alignas(16) __shared__ T s[N]; }"),
        ("void k() { static __shared__ alignas(float4) T s[N]; }",
         "void k() { alignas(float4) __shared__ T s[N]; }"),
    ],
)  # fmt: skip
def test_reorders_specifiers_of_static_shared_memory(source: str, expected: str) -> None:
    """Specifiers around `__shared__` are put in the order that C++ requires."""
    assert_translation(source, expected)


def in_lockstep(target: str, value: str) -> str:
    """Return the translation of `target = value;` for lanes that must run in lockstep."""
    return f"{{ const auto hipcpu_new = {value}); __syncwarp(); ({target}) = hipcpu_new; __syncwarp(); }}"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("v[t] += v[t + 32];", in_lockstep("v[t]", "v[t] + ( v[t + 32]")),
        ("v[t] = max(v[t], v[t + 8]);", in_lockstep("v[t]", "( max(v[t], v[t + 8])")),
        ("if (t < 32) v[t] *= 2; else f();", f"if (t < 32) {in_lockstep('v[t]', 'v[t] * ( 2')} else f();"),
        ("v[t++] = 1; v[0] = w[0] = 2;", "v[t++] = 1; v[0] = w[0] = 2;"),
        ("for (;; v[0] = 1) x = v[0];", "for (;; v[0] = 1) x = v[0];"),
        ("v[0] = {1}; w[0] = 1;", "v[0] = {1}; w[0] = 1;"),
    ],
)
def test_volatile_assignments_run_in_lockstep(source: str, expected: str) -> None:
    """In a statement that assigns to a volatile element, every lane reads before any lane writes."""
    for head in (
        "__device__ void f(volatile float* v, int t) {",
        "__global__ void k() { volatile float *v = s;",
        "__global__ void k() { __shared__ volatile float v[64];",
    ):
        assert_translation(f"{head} {source} }}", f"{head} {expected} }}")


@pytest.mark.parametrize(
    "source",
    [
        "__global__ void k(volatile int* flags) { flags[0] = 1; }",
        "__device__ void f(volatile int* v) { } void g(int* v) { v[0] = 1; }",
        "void f(int* v) { g((volatile int*)v); v[0] = 1; }",
        "volatile int* v; void f() { v[0] = 1; }",
    ],
)
def test_leaves_other_uses_of_volatile_unchanged(source: str) -> None:
    """Flags in global memory, names in other functions and casts need no lockstep."""
    translation = rewrite(source)
    assert translation.text == source
    assert translation.plain


def test_a_file_with_lockstep_is_not_plain() -> None:
    """With volatile shared memory, threads may wait for each other even without a barrier."""
    assert not rewrite("__device__ void f(volatile float* v, int t) { v[t] += v[t + 1]; }").plain


def test_branches_of_a_condition_may_open_the_same_brace() -> None:
    """Code after `#if … #else … #endif` is in the scope that either branch leaves open."""
    source = "#ifdef A\nvoid f() {\n#else\nvoid g() {\n#endif\n}\nextern __shared__ int s[];\n"
    assert "static ::hipcpu::DynamicShared<int> s" in rewrite(source).text


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        ("k<<<1, 1>>>(); __threadfence(); atomicAdd(p, 1);", True),
        ("// __syncthreads()\nk<<<1, 1>>>();", True),
        ("#define LOG(...) printf(__VA_ARGS__)\n#define L2(f, ...) printf(f, ##__VA_ARGS__)\n", True),
        ("__syncthreads();", False),
        ("__syncthreads_count(1);", False),
        ("__shfl_down_sync(m, x, 1);", False),
        ("__ballot(1);", False),
        ("namespace cg = cooperative_groups;", False),
        ("__builtin_amdgcn_s_barrier();", False),
        ("__builtin_amdgcn_rcpf(x);", True),
        ("__builtin_amdgcn_of_another_gpu(x);", False),
        ("#define BARRIER __syncthreads()\n", False),
        ("#define PASTE(a, b) a##b\nPASTE(__sync, threads)();", False),
    ],
)
def test_a_file_without_barriers_is_plain(source: str, plain: bool) -> None:  # noqa: FBT001 - a table
    """Blocks run as plain loops only if no thread can wait for another."""
    assert rewrite(source).plain is plain


def test_includes_only_the_headers_of_the_builtins_that_are_used() -> None:
    """A source without builtins includes nothing; others include the headers of theirs, also in a macro."""
    assert rewrite("__syncthreads();").headers == ()
    source = "#define FIRST(x) __builtin_amdgcn_readfirstlane(x)\nfloat x = __builtin_amdgcn_rcpf(2);"
    assert rewrite(source).headers == ("hipcpu/builtins/arithmetic.h", "hipcpu/builtins/lanes.h")


def test_a_barrier_makes_every_launch_a_full_launch() -> None:
    """One barrier anywhere in the file makes every launch a full launch."""
    source = "void k() { __syncthreads(); } void f() { k<<<1, 2>>>(); }"
    assert launched("k", "1, 2", how="launch") in squeeze(rewrite(source).text)


def test_records_the_lines_of_assembly_and_main() -> None:
    """The lines of asm statements and of the definition of main are available for error messages."""
    source = 'void f() {\n  asm volatile("s_nop 0");\n  __asm__("x");\n}\n\nint main(int c, char** v) {\n}\n'
    translation = rewrite(source)
    assert translation.assembly == (2, 3)
    assert translation.main_line == 6


def test_only_a_definition_at_file_scope_is_main() -> None:
    """Declarations and methods called main do not count."""
    assert rewrite("int main(); struct A { int main() { return 0; } };").main_line is None


@pytest.mark.parametrize(
    ("source", "line", "column"),
    [
        ("int x;\n  k<<<1, 2;", 2, 4),
        ("k<<<1, 2>>>;", 1, 2),
        ("; <<<1>>>(x)", 1, 3),
        ("k> <<<1>>>(x)", 1, 4),
        ("<<<<<<< HEAD\n", 1, 1),
        ("x;\n/* never closed", 2, 1),
        ('\n R"x(never closed)"', 2, 2),
        ("k<<<a<<<1>>>(), 1>>>()", 1, 2),
        ("extern __shared__ int a[], b[];", 1, 24),
    ],
)
def test_rejects_untranslatable_code_with_its_position(source: str, line: int, column: int) -> None:
    """The error has the line and the column in the author's source."""
    with pytest.raises(RewriteError) as refusal:
        rewrite(source)
    assert (refusal.value.line, refusal.value.column) == (line, column)


_FRAGMENTS = st.sampled_from(
    ["k", "<<<", ">>>", "(", ")", "<", ">", "::", "template", "extern", "__shared__", "int", "s", "[", "]",
     ";", "{", "}", ",", '"', "'", "\\", "\n", "#define A ", "#if 1\n", "#else\n", "#endif\n", "//", "/*",
     "*/", 'R"(', ')"', "1", ".", "->", "asm", "main", "NULL", " ", "\r\n", "__VA_ARGS__", "##",
     "typedef float f4 __attribute__((ext_vector_type(4)));", "f4", "?", ":", "=", "wx"]
)  # fmt: skip


@given(st.one_of(st.text(), st.lists(_FRAGMENTS, max_size=60).map("".join)))
def test_any_text_keeps_its_lines_or_is_rejected(source: str) -> None:
    """For arbitrary input, the number of lines stays the same, or a RewriteError is raised."""
    assert count_translated_lines(source) in {None, source.count("\n")}


def count_translated_lines(source: str) -> int | None:
    """Return the number of newlines in the translation; None if the source is rejected."""
    try:
        return rewrite(source).text.count("\n")
    except RewriteError:
        return None


@pytest.mark.parametrize(
    "unit",
    ["(", "{", "}", "[", "k<", "<", ">", "a>>>", 'R"(', '"\\', "'\\", "/*", "//\\\n", "extern ",
     "__shared__ ", "extern __shared__ ", "#if 1\n(", "#else\n}", "a::", "a->", "k<<<1,(", "k<<<1>>>(",
     "f(x)", "1'", "\\", "\\\n", "namespace a ", "(k)<<<1>>>(", "#define A(", "k<a> ",
     "volatile ", "{volatile T*v;v[0]=1 ", "f(volatile T*v){v[0]=(", "{volatile T*v;v[{"],
)  # fmt: skip
def test_translation_takes_linear_time(unit: str) -> None:
    """Twice as much of one repeated fragment takes about twice as many steps, not four times as many."""
    steps = [count_steps(unit * (length // len(unit)) + "<<<1>>>(x);") for length in (4096, 8192)]
    assert steps[1] < 2.5 * steps[0]


@pytest.mark.parametrize(
    "unit",
    ["m?", "m?m:", "(m?", "m.xy.", "m.wx+", "f4 ", "f4 m=m?", "auto a=m ", "m[", "m->xy[0]", "f4 m(m?m:m),"],
)
def test_translation_of_vectors_takes_linear_time(unit: str) -> None:
    """The same in a file with a vector type and a variable that has it."""
    vectors = "typedef float f4 __attribute__((ext_vector_type(4))); f4 m; "
    steps = [count_steps(vectors + unit * (length // len(unit)) + ";") for length in (4096, 8192)]
    assert steps[1] < 2.5 * steps[0]


def count_steps(source: str) -> int:
    """Return how many lines and calls of Python a translation executes, whatever the machine's load."""
    steps = 0

    def count(*_: object) -> Callable[..., Any]:
        nonlocal steps
        steps += 1
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        count_translated_lines(source)
    finally:
        sys.settrace(before)
    return steps
