"""Tests of attributes with the real compiler: which it honors, and how any other is reported."""

from __future__ import annotations

import subprocess

import pytest

from warmfront.hip.source.attributes import HONORED
from warmfront.hip.source.rewrite import rewrite

pytestmark = pytest.mark.compiler


def test_the_compiler_honors_what_is_kept() -> None:
    """g++ knows every attribute that the rewriter keeps."""
    lines = "".join(f"#if __has_attribute({name})\nhonored {name}\n#endif\n" for name in sorted(HONORED))
    output = subprocess.run(
        ["g++", "-x", "c++", "-std=c++20", "-E", "-P", "-"],
        input=lines,
        capture_output=True,
        text=True,
        check=True,
    )
    known = set(output.stdout.split()) - {"honored"}
    assert known >= HONORED


def test_hints_compile() -> None:
    """Nothing is left for g++ to ignore in a kernel with every kind of hint."""
    source = """
    #define WAVES __attribute__((amdgpu_waves_per_eu(2)))
    void __attribute__((amdgpu_flat_work_group_size(64, 256))) WAVES k(float* x, int n) {
      __attribute__((opencl_unroll_hint(4))) for (int i = 0; i < n; ++i) x[i] += 1;
      [[clang::loop_unroll(2)]] for (int i = 0; i < n; ++i) x[i] *= 2;
      struct __attribute__((packed)) { char c; int i; } pair = {};
      static_assert(sizeof pair == 5);
    }
    [[clang::noinline, gnu::cold]] void f() __attribute__((noduplicate));
    """
    assert compile_with_warnings(source).returncode != 0
    compiled = compile_with_warnings(rewrite(source).text)
    assert (compiled.returncode, compiled.stderr) == (0, "")


def compile_with_warnings(text: str) -> subprocess.CompletedProcess[str]:
    """Compile plain C++; an attribute that g++ ignores is an error."""
    return subprocess.run(
        ["g++", "-x", "c++", "-std=c++20", "-Werror=attributes", "-fsyntax-only", "-"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
