"""Tests of the CPU runtime with real kernels: the cases of each program, and reports of faults."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.support.programs import Programs

pytestmark = pytest.mark.compiler

PROGRAMS = Path(__file__).parents[3] / "corpus" / "programs"
CHECKED = (
    "core_launch",
    "core_barriers",
    "core_waves",
    "core_shared",
    "core_memory",
    "core_host",
    "core_loops",
)


def cases(program: str) -> list[str]:
    """Return the names of a program's cases from its source."""
    return re.findall(r"^CASE\((\w+)\)", (PROGRAMS / f"{program}.hip").read_text(), re.MULTILINE)


@pytest.mark.parametrize(("program", "case"), [(p, c) for p in CHECKED for c in cases(p)])
def test_case(programs: Programs, program: str, case: str) -> None:
    """Every check of a case holds: kernels and host calls behave as on a GPU."""
    result = programs.run(program, case)
    assert (result.returncode, result.stderr) == (0, ""), result.stdout + result.stderr


def test_printf(programs: Programs) -> None:
    """The output of a kernel is printed in the order of its threads."""
    result = programs.run("core_launch", "printf_from_a_kernel")
    assert result.stdout == "thread 0 of block 0\nthread 1 of block 0\n"


MEMORY_FAULTS = {
    "write_beyond": (
        "write_beyond",
        [3, 0, 0],
        [232, 0, 0],
        "0 bytes past the end of a 4000-byte hipMalloc buffer",
    ),
    "read_before": (
        "read_before",
        [0, 0, 0],
        [0, 0, 0],
        "20 bytes before the start of a 65536-byte hipMalloc",
    ),
    "null_pointer": ("write_beyond", [0, 0, 0], [0, 0, 0], "null pointer"),
    "freed": ("write_beyond", [0, 0, 0], [0, 0, 0], "256-byte hipMalloc buffer that has been freed"),
    "no_allocation": ("write_beyond", [0, 0, 0], [0, 0, 0], "not in any allocation"),
    "beyond_dynamic_shared": (
        "beyond_dynamic_shared",
        [0, 0, 0],
        [64, 0, 0],
        "0 bytes past the end of the launch's 256 bytes of dynamic shared memory",
    ),
}


@pytest.mark.parametrize("case", MEMORY_FAULTS)
def test_memory_fault(programs: Programs, case: str) -> None:
    """An invalid access is reported with the kernel, the line of its launch, block, thread and buffer."""
    kernel, block, thread, detail = MEMORY_FAULTS[case]
    fault = programs.fault("core_faults", case)
    assert (fault["fault"], fault["kernel"], fault["exit_code"]) == ("memory-fault", kernel, 139)
    assert (fault["block"], fault["thread"]) == (block, thread)
    assert detail in fault["detail"]
    source = (PROGRAMS / "core_faults.hip").read_text().splitlines()
    assert f"{kernel}<<<" in source[fault["line"] - 1]


def test_fault_after_a_barrier(programs: Programs) -> None:
    """A thread that has waited at a barrier is named as well."""
    fault = programs.fault("core_faults", "after_a_barrier")
    assert (fault["fault"], fault["thread"]) == ("memory-fault", [2, 3, 0])


OTHER_FAULTS = {
    "large_private_array": ("stack-overflow", [0, 0, 0], "more than 256 KiB"),
    "kernel_recursion": ("stack-overflow", [5, 0, 0], "more than 256 KiB"),
    "division_by_zero": ("division-by-zero", [3, 0, 0], "division by zero"),
    "assertion_in_a_kernel": ("assertion", [6, 0, 0], "assertion failed: x[threadIdx.x] != 9"),
    "abort_in_a_kernel": ("abort", [17, 0, 0], "abort was called"),
    "a_kernel_that_launches": ("unsupported", [0, 0, 0], "runs on a GPU only"),
    "thread_not_found": ("memory-fault", None, "past the end"),
}


@pytest.mark.parametrize("case", OTHER_FAULTS)
def test_fault_in_a_kernel(programs: Programs, case: str) -> None:
    """Other faults of a kernel have their own kinds; the thread is null only if it is unknown."""
    kind, thread, detail = OTHER_FAULTS[case]
    fault = programs.fault("core_faults", case)
    assert (fault["fault"], fault["thread"]) == (kind, thread)
    assert fault["kernel"] is not None
    assert detail in fault["detail"]


HOST_FAULTS = {
    "host_recursion": ("stack-overflow", "overflowed its stack"),
    "assertion_on_the_host": ("assertion", 'there is a \\"device\\"'),
    "abort_on_the_host": ("abort", "abort was called"),
    "null_pointer_on_the_host": ("host-fault", "null pointer"),
    "opened_by_the_host": ("host-access-to-device-memory", "12 bytes into a 4194304-byte hipMalloc buffer"),
    "device_memory_on_the_host": ("host-access-to-device-memory", "12 bytes into a 40-byte hipMalloc buffer"),
}


@pytest.mark.parametrize("case", HOST_FAULTS)
def test_fault_on_the_host(programs: Programs, case: str) -> None:
    """A fault in host code names no kernel."""
    kind, detail = HOST_FAULTS[case]
    fault = programs.fault("core_faults", case)
    assert (fault["fault"], fault["kernel"], fault["block"], fault["thread"]) == (kind, None, None, None)
    assert detail in fault["detail"]


def test_receiver(programs: Programs) -> None:
    """The program that loads the submission can receive the fault before the process ends."""
    result = programs.run("core_faults", "passed_to_a_receiver")
    assert result.stdout.startswith('received {"fault":"abort"')
    assert result.returncode == 134


HOOKS = [
    "launches_are_counted",
    "protected_memory_still_works",
    "sealed_memory_still_works",
    "sealed_memory_cannot_be_opened",
    "sealed_code",
    "sealed_for_other_threads",
]


@pytest.mark.parametrize("case", HOOKS)
def test_hooks(programs: Programs, case: str) -> None:
    """Launches are counted; protected memory is accessible to kernels, and sealed memory to nothing else."""
    result = programs.run("core_faults", case)
    assert (result.returncode, result.stdout) == (0, "")


def test_sealed_memory_without_an_arena(programs: Programs) -> None:
    """With a limit on address space, device memory works; it cannot be sealed, and the hook says so."""
    built = programs.build("core_faults")
    limited = f"ulimit -v 8000000 && {built} protected_memory_still_works && {built} sealed_for_other_threads"
    result = subprocess.run(
        ["/bin/sh", "-c", limited], capture_output=True, text=True, check=False, timeout=600
    )
    assert "hipcpu_seal_device_memory() == 0" in result.stdout


def test_memory_that_is_not_in_use(programs: Programs) -> None:
    """A kernel that accesses device memory outside the set that is in use faults."""
    fault = programs.fault("core_faults", "only_some_memory_is_used")
    assert (fault["fault"], fault["kernel"]) == ("memory-fault", "write_beyond")
    assert "0 bytes into a 256-byte hipMalloc buffer" in fault["detail"]


GPU_ONLY = {
    "hipGraphCreate": "void f() { hipGraph_t g; hipGraphCreate(&g, 0); }",
    "hipStreamBeginCapture": "void f() { hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal); }",
    "hipModuleLoad": 'void f() { hipModule_t m; hipModuleLoad(&m, "k.hsaco"); }',
    "hipTextureDesc": "void f() { hipTextureDesc d = {}; }",
    "tex2D": "__global__ void k(hipTextureObject_t t, float* y) { y[0] = tex2D<float>(t, 1, 2); }\n"
    "void f(float* y) { k<<<1, 1>>>(nullptr, y); }",
    "hipLaunchKernel": "void f(const void* k) { hipLaunchKernel(k, dim3(1), dim3(1), nullptr, 0, nullptr); }",
}


@pytest.mark.parametrize("name", GPU_ONLY)
def test_gpu_only(programs: Programs, name: str) -> None:
    """Code that needs a GPU does not compile, and the error names it."""
    result = programs.compile(GPU_ONLY[name])
    assert result.returncode != 0
    assert re.search(rf"{name}.* runs on a GPU only", result.stderr)


def test_a_false_assertion_waits_for_an_instance(programs: Programs) -> None:
    """`static_assert(false)` in a branch that no instance uses compiles; in a used one it is an error."""
    template = (
        "template <int n> int f() { if constexpr (n == 1) { return 1; } "
        'else { static_assert(false, "only 1"); } return 0; }\n'
    )
    assert programs.compile(template + "int x = f<1>();\n").returncode == 0
    used = programs.compile(template + "int x = f<2>();\n")
    assert "static assertion failed: only 1" in used.stderr
    assert programs.compile("static_assert(0);\n").returncode != 0


@pytest.mark.parametrize("part", ["warp_functions", "device_functions", "hip_vector_types", "math_functions"])
def test_parts_of_the_main_header(programs: Programs, part: str) -> None:
    """The names by which some authors include parts of the main header exist."""
    compiled = programs.compile(f"#include <hip/amd_detail/amd_{part}.h>\n__global__ void k(float4 v) {{}}\n")
    assert compiled.returncode == 0, compiled.stderr


LIBRARY_PARTS = {
    "hipcub/block/block_radix_sort.hpp": "hipcub::BlockRadixSort<float, 64, 4>",
    "hipcub/warp/warp_reduce.hpp": "hipcub::WarpReduce<int>",
    "rocprim/block/block_scan.hpp": "rocprim::block_scan<int, 64>",
    "hip/driver_types.h": "hipEvent_t",
}


@pytest.mark.parametrize("header", LIBRARY_PARTS)
def test_parts_of_libraries(programs: Programs, header: str) -> None:
    """A part of a library can be included on its own."""
    compiled = programs.compile(f"#include <{header}>\nusing Part = {LIBRARY_PARTS[header]};\n")
    assert compiled.returncode == 0, compiled.stderr


def test_a_parameter_in_shared_memory(programs: Programs) -> None:
    """`__shared__` before a parameter has no effect, as with clang: the memory is the caller's."""
    compiled = programs.compile(
        "__device__ float first(__shared__ float tile[64], __shared__ float *other) {"
        " return tile[0] + *other; }\n"
        "__global__ void k(float* y) { __shared__ float tile[64]; tile[0] = 1; *y = first(tile, tile); }\n"
    )
    assert compiled.returncode == 0, compiled.stderr
