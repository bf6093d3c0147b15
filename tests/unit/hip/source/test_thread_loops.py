"""Tests of the second forms of kernels: which kernels have one, and that arbitrary code does no harm."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmfront.hip.source.rewrite import RewriteError, rewrite

PROGRAM = Path(__file__).parents[3] / "corpus" / "programs" / "core_loops.hip"

PARAMETERS = "float* x, int n"
BARRIER = (
    "__shared__ float s[64]; s[threadIdx.x] = x[threadIdx.x]; "
    "__syncthreads(); x[threadIdx.x] = s[63 - threadIdx.x];"
)

# There is no barrier before the next round: a second form would hide that.
NO_LAST_BARRIER = (
    "__shared__ float s[64]; float v = 0; for (int i = 0; i < n; ++i) { "
    "s[threadIdx.x] = x[i]; __syncthreads(); v += s[63 - threadIdx.x]; } x[0] = v;"
)


def has_loops(body: str, *, parameters: str = PARAMETERS, before: str = "") -> bool:
    """Return whether a kernel with this body gets a second form."""
    source = (
        f"{before}\n__global__ void k({parameters}) {{ {body} }}\nvoid f(float* x) {{ k<<<1, 64>>>(x, 1); }}"
    )
    text = rewrite(source).text
    assert text.count("\n") == source.count("\n")
    assert ("bool hipcpu_loops_k(" in text) == ("return hipcpu_loops_k(" in text)
    return "hipcpu_loops_k(" in text


def test_kernels_of_the_program() -> None:
    """The kernels that the program's cases compare have the forms that their names say."""
    text = rewrite(PROGRAM.read_text()).text
    kernels = set(re.findall(r"__global__ void (\w+)\(", text))
    second = set(re.findall(r"static inline bool hipcpu_loops_(\w+)\(", text))
    assert second == {kernel for kernel in kernels if kernel.startswith("loops_")}
    assert len(kernels) > len(second) > 0


@pytest.mark.parametrize(
    "body",
    [
        BARRIER,
        "for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = 0;",
        "if (threadIdx.x >= n) return; float s = 0; for (int k = 0; k < n; ++k) s += x[k]; x[0] = s;",
        f"for (int i = 0; i < n; ++i) {{ {BARRIER} __syncthreads(); }}",
        f"if (n > 4) {{ {BARRIER} }} else {{ {BARRIER} }}",
        "float v = x[0]; for (int d = 32; d > 0; d >>= 1) v += __shfl_down(v, d); x[threadIdx.x] = v;",
    ],
)
def test_recognized(body: str) -> None:
    """A kernel whose threads wait in the same places gets a second form."""
    assert has_loops(body)


@pytest.mark.parametrize(
    "body",
    [
        "if (threadIdx.x < n) x[threadIdx.x] = 1;",  # neither a barrier nor a loop
        f"if (threadIdx.x < n) {{ {BARRIER} }} x[0] = 1;",  # not all threads wait
        "for (int i = 0; i < threadIdx.x; ++i) __syncthreads();",
        "for (int i = 0; i < x[0]; ++i) __syncthreads();",  # the bound is in memory
        "for (int i = 0; i < n; ++i) { __syncthreads(); i += x[0]; }",
        "for (int i = 0; i < n; ++i) { __syncthreads(); if (x[i] > 0) break; }",
        "for (int i = 0; i < n; ++i) { __syncthreads(); if (x[i] > 0) return; }",
        "int i = 0; while (i < n) { __syncthreads(); ++i; }",
        NO_LAST_BARRIER,
        f"x += threadIdx.x; {BARRIER}",  # a parameter changes
        f"change(&n); {BARRIER}",
        f"{BARRIER} if (x[0] > 0) return; {BARRIER}",  # a thread ends in the middle
        f"auto v = x[0]; {BARRIER} x[0] = v;",  # the type of the array is not known
        f"volatile float v = 0; {BARRIER}",
        f"switch (n) {{ case 1: {BARRIER} }}",
        f"again: {BARRIER} goto again;",
        "float v = x[0]; x[1] = n ? __shfl(v, 0) : 0;",
        "x[threadIdx.x] = __shfl(x[0], 0);",
        "if (__syncthreads_or(n)) x[0] = 1;",
        "for (int i = 0; i < n; ++i) atomicAdd(x, 1.f);",  # threads would take turns
        "for (int i = threadIdx.x; i < n && x[0] > 0; i += 64) x[i] = 0;",
        "for (int i = threadIdx.x; i < n; i += threadIdx.x) x[i] = 0;",
        "for (int i = threadIdx.x; i < n; i += 64) { if (x[i] < 0) break; x[i] = 0; }",
    ],
)
def test_left_as_it_is(body: str) -> None:
    """Code whose threads may do different things, or that is not understood, keeps its one form."""
    assert not has_loops(body)


@pytest.mark.parametrize(
    ("before", "body"),
    [
        ("__device__ void w() { __syncthreads(); }", f"w(); {BARRIER}"),
        ("__device__ void w() { __syncthreads(); } __device__ void v() { w(); }", f"v(); {BARRIER}"),
        ("__device__ void w(volatile float* s) { s[0] += s[1]; }", f"w(x); {BARRIER}"),
        ("#define W __syncthreads()", f"W; {BARRIER}"),
        ("#define RETURN if (n) return;", f"RETURN {BARRIER}"),
        ("struct W { __device__ void go() { __syncthreads(); } };", f"W w; w.go(); {BARRIER}"),
        ("namespace cg = cooperative_groups;", f"auto b = cg::this_thread_block(); b.sync(); {BARRIER}"),
        ("#define LANE threadIdx.x", "for (int i = 0; i < LANE; ++i) __syncthreads();"),
    ],
)
def test_names_that_hide_a_wait(before: str, body: str) -> None:
    """A function, a type or a macro in which threads wait is not part of a second form."""
    assert not has_loops(body, before=before)


@pytest.mark.parametrize("parameters", ["float*& x, int n", "float* x, int n, volatile int m", "Args... x"])
def test_parameters_that_are_left(parameters: str) -> None:
    """References and packs are not passed on."""
    assert not has_loops(BARRIER, parameters=parameters)


def test_conditional_code() -> None:
    """A kernel with directives inside keeps its one form, except for hints to unroll."""
    loop = "for (int i = 0; i < n; ++i) x[i] = 0; x[0] = 1;"
    assert has_loops(f"\n#pragma unroll\n{loop}")
    assert not has_loops(f"\n#if A\n{loop}\n#endif\n")


TOKENS = """
if ( ) { } ; for while do else return int i = 0 < n x [ ] threadIdx . ++ __syncthreads , + T > :: __shared__
const float __shfl_down auto & * break switch case : #
"""


@given(st.lists(st.sampled_from(TOKENS.split()), max_size=40))
def test_arbitrary_bodies(tokens: list[str]) -> None:
    """Any sequence of tokens is translated, or refused as the author's mistake."""
    with contextlib.suppress(RewriteError):
        has_loops(" ".join(tokens))


def test_deep_nesting() -> None:
    """Statements nested too deeply keep their one form."""
    assert not has_loops("if (n) " * 5000 + "x[0] = 1; __syncthreads();")
