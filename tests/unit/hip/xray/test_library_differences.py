"""What ROCm's C++ library refuses although the X-ray's library accepts it."""

from __future__ import annotations

import pytest

from warmfront.hip.xray.library_differences import explain_differences, standard_names

HIP = "#include <hip/hip_runtime.h>\n"


@pytest.mark.parametrize(
    ("source", "name", "header"),
    [
        ("__global__ void k(float* p) { p[0] = FLT_MAX; }", "FLT_MAX", "cfloat"),
        ("__global__ void k(float* p) { p[0] = p[1] > FLT_MAX; }", "FLT_MAX", "cfloat"),
        ("#define INFINITE FLT_MAX\n__global__ void k(float* p) { p[0] = INFINITE; }", "FLT_MAX", "cfloat"),
        ("__global__ void k(int* p) { assert(p[0]); }", "assert", "cassert"),
        ("void f(int* p) { memset(p, 0, 4); }", "memset", "cstring"),
        ("void f(int* p) { if (memcmp(p, p, 4)) return; }", "memcmp", "cstring"),
        ("bool f(float x) { return isnan(x); }", "isnan", "math.h"),
        ("void f() { std::optional<int> x; }", "std::optional", "optional"),
        ("using namespace std;\nvoid f() { unique_ptr<int> x; }", "std::unique_ptr", "memory"),
        ("using namespace std;\nvoid f() { mutex m; }", "std::mutex", "mutex"),
        ("using namespace std;\nstatic mutex m;", "std::mutex", "mutex"),
        ("using namespace std;\nvoid f() { cout << 1; }", "std::cout", "iostream"),
        (
            "using namespace std;\nint f(int* p) { return accumulate(p, p + 4, 0); }",
            "std::accumulate",
            "numeric",
        ),
    ],
)
def test_a_missing_include(source: str, name: str, header: str) -> None:
    """The error names the header and the place; with the header there is none."""
    failure = explain_differences(HIP + source)
    assert failure is not None
    (diagnostic,) = failure.diagnostics
    assert f"'{name}' needs #include <{header}>" in diagnostic.message
    assert diagnostic.source_line[diagnostic.column - 1 :].startswith(name.removeprefix("std::"))
    assert explain_differences(f"#include <{header}>\n{HIP}{source}") is None


@pytest.mark.parametrize(
    "source",
    [
        "__global__ void k(float* p) { p[0] = fmaxf(p[0], INFINITY); }",
        "__global__ void k(int* p) { memset(p, 0, 4); }",
        "__global__ void k(float* p) { p[0] = isnan(p[1]); }",
        "void f() { std::vector<int> x; }",
        "#define FLT_MAX 3.4e38f\n__global__ void k(float* p) { p[0] = FLT_MAX; }",
        "__device__ int strlen(int x) { return x; }\n__global__ void k(int* p) { p[0] = strlen(p[0]); }",
        "struct Pipe { void write(int); };\nvoid f(Pipe p) { p.write(1); }",
        '#include "mine.h"\nvoid f() { std::optional<int> x; }',
        "using namespace std;\nstruct mutex {};\nvoid f() { mutex m; }",
        "using namespace std;\nint reduce(int*, int*);\nint f(int* p) { return reduce(p, p + 4); }",
        "using namespace std;\n__global__ void k(int* p) { p[0] = max(p[1], min(p[2], abs(p[3]))); }",
        'using namespace std;\n__global__ void k(int* p) { printf("%d", p[0]); int mutex = 1; }',
    ],
)
def test_no_missing_include(source: str) -> None:
    """HIP declares the name, the source declares it, or an unknown header may."""
    assert explain_differences(HIP + source) is None


@pytest.mark.parametrize(
    "declaration",
    [
        'constexpr std::string s = "a";',
        'constexpr std::string s{"a"};',
        "const constexpr std::string s;",
        'constexpr auto s = std::string("a");',
        'constexpr std::pair<int, std::string> s{1, "a"};',
    ],
)
def test_a_local_constexpr_string(declaration: str) -> None:
    """Such a string points into itself with ROCm's library."""
    failure = explain_differences(f"#include <string>\n{HIP}void f() {{ {declaration} }}\n")
    assert failure is not None
    assert "constexpr std::string" in failure.message


@pytest.mark.parametrize(
    "source",
    [
        'constexpr std::string s = "a";',
        'void f() { static constexpr std::string s = "a"; }',
        'void f() { constexpr static std::string s = "a"; }',
        'void f() { const std::string s = "a"; }',
        'void f() { constexpr std::string_view s = "a"; }',
        'void f() { constexpr auto n = std::string("a").size(); }',
        "void f(const std::string& a) { constexpr int n = 3; }",
        "struct A { static constexpr int n = 3; std::string s; };",
    ],
)
def test_other_strings(source: str) -> None:
    """Strings that are static, global, not constant or only views are accepted."""
    assert explain_differences(f"#include <string>\n#include <string_view>\n{HIP}{source}\n") is None


def test_every_name_has_a_measured_header() -> None:
    """The first header of a name is the one that the message proposes."""
    names = standard_names()
    for headers in (*names.headers.values(), *names.host_headers.values()):
        assert set(headers) <= names.measured
