"""Tests of attributes: those that g++ would ignore are errors, unless they are hints."""

from __future__ import annotations

import pytest

from warmfront.hip.source.attributes import HINTS, HONORED
from warmfront.hip.source.rewrite import RewriteError, rewrite

REMOVED = {
    "__global__ __attribute__((amdgpu_waves_per_eu(2, 4))) void k();": "__global__ void k();",
    "void f() __attribute__((noduplicate, noinline));": "void f() __attribute__((, noinline));",
    "void f() { __attribute__((opencl_unroll_hint(4))) for (;;) {} }": "void f() { for (;;) {} }",
    "void f() { [[clang::loop_unroll(4)]] for (;;) {} }": "void f() { for (;;) {} }",
    "[[using clang: noinline, convergent]] void f();": "void f();",
    '[[nodiscard, clang::annotate("x")]] int f();': "[[nodiscard, ]] int f();",
    "__attribute__((__amdgpu_num_vgpr__(64))) void f();": "void f();",
    "#define FAST __attribute__((amdgpu_num_vgpr(128))) __launch_bounds__(64)\n": (
        "#define FAST __launch_bounds__(64)"
    ),
}  # fmt: skip

KEPT = [
    "struct __attribute__((packed, aligned(4))) S { int x; };",
    "[[gnu::aligned(16)]] int x;",
    "[[maybe_unused]] int x;",
    "int a[3] = {}; int b = a[a[0]];",
    "#define ALIGN aligned(16)\nint x __attribute__((ALIGN));",
    "#define ATTRIBUTE(x) __attribute__((x))\nint y ATTRIBUTE(aligned(16));",
    "#pragma clang loop unroll(full)\n",
    "auto f = [](int* p) { return p; };",
]

#: Source, and the position, the name and the hint of the error.
ERRORS = {
    "void k() {\n  __attribute__((shared)) float x[64];\n}": (2, 18, "shared", "Write __shared__."),
    'int f(int n) __attribute__((enable_if(n > 0, "")));': (1, 29, "enable_if", "requires"),
    "[[clang::opencl_local]] int* p;": (1, 10, "opencl_local", "address_space"),
    "[[clang::aligned(16)]] int x;": (1, 10, "aligned", "Remove it"),
    "[[omp::directive(parallel)]] void f();": (1, 8, "directive", "Remove it"),
    "int x __attribute__((bar_foo(16)));": (1, 22, "bar_foo", "Remove it"),
    "#define MAKE(n, x) int n __attribute__((x))\n\nMAKE(y, shared);": (3, 9, "shared", "__shared__"),
    "#define LDS shared\n__attribute__((LDS)) int x;": (1, 13, "shared", "__shared__"),
    "#define NAME(a) __attribute__((ext_##a))\n": (1, 32, "ext_", "Write its whole name."),
    "\n#pragma clang attribute push(__attribute__((aligned(16))), apply_to = variable)\n": (
        2, 45, "aligned", "at each declaration",
    ),
}  # fmt: skip


@pytest.mark.parametrize("source", REMOVED)
def test_removes_hints(source: str) -> None:
    """A hint to clang's optimizer is removed, together with its brackets if it is alone in them."""
    assert " ".join(rewrite(source).text.split()) == REMOVED[source]


@pytest.mark.parametrize("source", KEPT)
def test_keeps_what_the_compiler_honors(source: str) -> None:
    """An attribute that g++ honors, directly or by a macro, stays as it is."""
    assert rewrite(source).text == source


@pytest.mark.parametrize("source", ERRORS)
def test_refuses_what_would_be_ignored(source: str) -> None:
    """Any other attribute is an error with its position, its name and what to write."""
    line, column, name, hint = ERRORS[source]
    with pytest.raises(RewriteError, match=f"'{name}'") as error:
        rewrite(source)
    assert (error.value.line, error.value.column) == (line, column)
    assert hint in error.value.hint


def test_no_attribute_is_in_two_lists() -> None:
    """An attribute is either honored or a hint."""
    assert not HONORED & HINTS
