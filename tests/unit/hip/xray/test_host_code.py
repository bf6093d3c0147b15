"""Which sources are compiled for the host as well: those whose host code may compile differently there."""

from __future__ import annotations

import pytest

from warmfront.hip.xray.host_code import needs_host_compilation

KERNEL = "__global__ void k(float* x, int n) { x[threadIdx.x] = __expf(x[blockIdx.x]); }\n"
LAUNCH = 'extern "C" void solution(float* x, int n) { dim3 grid((n + 255) / 256); k<<<grid, 256>>>(x, n); }\n'


@pytest.mark.parametrize(
    "source",
    [
        KERNEL + LAUNCH,
        "#include <hip/hip_runtime.h>\n#define TILE 16\n#pragma once\n" + KERNEL + LAUNCH,
        "__device__ float twice(float v) { return 2 * v; }\n" + KERNEL + LAUNCH,
        KERNEL + "static int blocks(int n) { return n / 256; }\nvoid solution(int n) { blocks(n); }",
        "void solution(float* x) { float* y; hipMalloc(&y, 4); hipFree(y); if (x) return; }",
        "void solution(int* x, int n) { std::sort(x, x + n); }",
    ],
)
def test_host_code_that_only_launches(source: str) -> None:
    """It uses HIP's API, std and its own functions."""
    assert not needs_host_compilation(source)


@pytest.mark.parametrize(
    "source",
    [
        "__device__ float twice(float v) { return 2 * v; }\nvoid solution(float* x) { *x = twice(*x); }",
        "__device__ float twice(float v) { return 2 * v; }\nvoid solution() { auto f = &twice; }",
        "__constant__ float table[4];\nvoid solution() { table[0] = 1; }",
        "void solution(int* x) { *x = threadIdx.x; }",
        "void solution(int* x) { *x = warpSize; }",
        "void solution(int* x) { __syncthreads(); }",
        "void solution(int* x) { atomicAdd(x, 1); }",
        "void solution() { auto group = cooperative_groups::this_grid(); }",
        'void solution() { asm volatile("s_nop 0"); }',
        "#ifdef __HIP_DEVICE_COMPILE__\n#endif\nvoid solution() {}",
        "#define CHECK(x) atomicAdd(x, 1)\nvoid solution() {}",
        "struct S { __device__ int get() { return 1; } };\nvoid solution(int* x) { *x = S().get(); }",
        "namespace a { __device__ int f() { return 1; } }\nvoid solution() {}",
        "__host__ __device__ int f() { return __clz(1); }\nvoid solution() { f(); }",
        "void solution() { auto f = [=] __device__(int i) { return i; }; }",
        "__global__ void k(long double* x) { *x = __shfl(*x, 0); }\nvoid solution() {}",
        "__global__ void k(int* x) { *x = sizeof(__float128); }\nvoid solution() {}",
        "void solution() { /* never closed",
    ],
)
def test_host_code_that_could_use_the_device(source: str) -> None:
    """A name that may belong to the device, or code that the preprocessor may choose."""
    assert needs_host_compilation(source)
