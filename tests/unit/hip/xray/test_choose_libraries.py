"""Which of ROCm's libraries the X-ray links."""

from __future__ import annotations

import pytest

from warmfront.hip.xray.device_compiler import LIBRARIES, choose_libraries

KERNEL = "#include <hip/hip_runtime.h>\n__global__ void f(float* x) { x[threadIdx.x] = sinf(x[0]); }\n"


def test_a_plain_kernel_is_linked_without_ockl() -> None:
    """Mathematics is in another library."""
    assert choose_libraries(KERNEL) == tuple(name for name in LIBRARIES if name != "ockl")


@pytest.mark.parametrize(
    "statement",
    [
        'printf("%d", 1);',
        "assert(x);",
        "free(malloc(8));",
        "delete new int;",
        "std::sort(x, x + 8);",
        "cooperative_groups::this_grid().sync();",
        "struct A { virtual ~A() {} };",
        "PASTE(pri, ntf)(1); // a ## b",
        "pri\\\nntf(1);",
    ],
)
def test_a_source_that_may_call_ockl(statement: str) -> None:
    """Every word by which our headers, the compiler or a macro can call it."""
    assert choose_libraries(KERNEL + statement) == LIBRARIES
