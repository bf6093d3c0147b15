"""Scratch kernels are launched in the judge's boxes, with the bug finder, and their buffers are shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from warmfront.hip.scratch import ScratchProblem, compose_source, validate_launch
from warmfront.judge_request import JudgeRequest
from warmfront.problems.spec import Dtype
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from warmfront.judge import Judge

HEADER = "#include <hip/hip_runtime.h>\n#include <hip/hip_fp16.h>\n#include <cstdio>\n#include <cstdint>\n"
SCALE = (
    HEADER
    + """
__global__ void scale(const float* __restrict__ input, float* output, float factor, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i == 0) printf("%u blocks\\n", gridDim.x);
  if (i < n) output[i] = factor * input[i];
}
"""
)


def launched(judge: Judge, source: str, **declared: Any) -> dict[str, Any]:
    """Return the verdict of a launch, as JSON types."""
    launch = validate_launch({"grid": [1], "block": [64], **declared}, source)
    request = JudgeRequest(
        source=compose_source(source, launch),
        problem=ScratchProblem(launch),
        dtype=Dtype.FLOAT32,
        endpoint=Endpoint.CHECKER,
    )
    *_, verdict = judge.judge(request)
    fields = verdict.fields()
    json.dumps(fields, allow_nan=False)
    return fields


def test_values_and_output_of_a_launch_are_shown(judge: Judge) -> None:
    """The verdict has the first values, what was never written, and what the kernel printed."""
    verdict = launched(
        judge,
        SCALE,
        kernel="scale",
        grid=[4],
        arguments=[{"count": 300, "fill": "index"}, {"count": 300}, {"value": 2}, {"value": 250}],
    )
    assert verdict["status"] == "CHECKED", verdict
    [output] = verdict["buffers"]
    assert (output["name"], output["type"], output["count"]) == ("output", "float", 300)
    assert output["values"] == [2.0 * i for i in range(64)]
    assert output["unwritten"] == 50
    assert verdict["output"] == "4 blocks\n"
    assert verdict["simulated"]


@pytest.mark.parametrize(
    ("c_type", "values", "expected"),
    [
        ("float", [1.5, -2.0], [2.5, -1.0, 2.5]),
        ("double", [1e300, -2], [1e300, -1.0, 1e300]),
        ("int", [7, -8], [8, -7, 8]),
        ("unsigned", [4294967294], [4294967295] * 3),
        ("int64_t", [2**53], [2**53 + 1] * 3),
        ("unsigned long long", [2**64 - 2], [2**64 - 1] * 3),
        ("uint8_t", [9, 255], [10, 0, 10]),
        ("short", [-3], [-2, -2, -2]),
    ],
)
def test_a_buffer_with_initial_values_is_changed_in_place(
    judge: Judge, c_type: str, values: list[float], expected: list[float]
) -> None:
    """The typed values are repeated, and each type is shown as numbers."""
    source = f"{HEADER}__global__ void next({c_type}* x) {{ x[threadIdx.x] += 1; }}\n"
    verdict = launched(judge, source, kernel="next", block=[3], arguments=[{"count": 3, "values": values}])
    assert verdict["status"] == "CHECKED", verdict
    assert verdict["buffers"][0]["values"] == expected
    assert verdict["buffers"][0]["unwritten"] == 0


def test_halves_and_vectors(judge: Judge) -> None:
    """An odd number of halves, and vectors, whose numbers are shown in a row."""
    source = (
        HEADER
        + "__global__ void mixed(const __half* h, float4* v) {\n"
        + "  v[threadIdx.x] = make_float4(__half2float(h[threadIdx.x]), 1, 2, 3);\n}\n"
    )
    arguments = [{"count": 3, "values": [0.5]}, {"count": 3, "fill": "zeros"}]
    verdict = launched(judge, source, kernel="mixed", block=[3], arguments=arguments)
    assert verdict["status"] == "CHECKED", verdict
    assert verdict["buffers"][0]["values"] == [0.5, 1.0, 2.0, 3.0] * 3


def test_an_out_of_bounds_write_is_located(judge: Judge) -> None:
    """The fault has the line of the author's source, and the finding names the buffer."""
    source = SCALE.replace("if (i < n) output", "output")
    arguments = [{"count": 256}, {"count": 100}, {"value": 1.0}, {"value": 100}]
    verdict = launched(judge, source, kernel="scale", arguments=arguments, block=[128])
    assert verdict["status"] == "RUNTIME_ERROR"
    assert any("output" in finding["message"] for finding in verdict["details"]["findings"])
    assert {finding["line"] for finding in verdict["details"]["findings"]} == {9}


def test_a_race_is_found_and_the_values_are_still_shown(judge: Judge) -> None:
    """The bug finder examines the launch; the verdict has its findings and the buffers."""
    source = (
        HEADER
        + """
__global__ void racing(const int* x, int* y) {
  __shared__ int tile[256];
  tile[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = tile[255 - threadIdx.x];  // no barrier
}
"""
    )
    arguments = [{"count": 256, "fill": "index"}, {"count": 256}]
    verdict = launched(judge, source, kernel="racing", block=[256], arguments=arguments)
    findings = verdict.get("warnings") or verdict["details"]["findings"]
    buffers = verdict.get("buffers") or verdict["details"]["buffers"]
    assert [finding["kind"] for finding in findings] == ["data-race"]
    assert findings[0]["line"] in {8, 9}  # the write or the read
    assert len(buffers[0]["values"]) == 64


def test_a_const_buffer_must_not_change(judge: Judge) -> None:
    """A cast does not make an input writable."""
    source = HEADER + "__global__ void sly(const int* x) { const_cast<int*>(x)[threadIdx.x] = 5; }\n"
    verdict = launched(judge, source, kernel="sly", arguments=[{"count": 64}])
    assert verdict["status"] in {"WRONG_ANSWER", "RUNTIME_ERROR"}


def test_a_kernel_that_never_ends_is_stopped(judge: Judge) -> None:
    """The time limit of every case applies."""
    source = HEADER + "__global__ void endless(int* x) { for (volatile int i = 0;; ++i) x[0] = i; }\n"
    verdict = launched(judge, source, kernel="endless", block=[1], arguments=[{"count": 1}])
    assert verdict["status"] == "TIME_LIMIT_EXCEEDED"


def test_a_kernel_without_buffers_can_print(judge: Judge) -> None:
    """A launch needs no arguments at all."""
    source = HEADER + '__global__ void hello() { if (threadIdx.x == 0) printf("hello\\n"); }\n'
    verdict = launched(judge, source, kernel="hello", arguments=[])
    assert (verdict["status"], verdict["output"], verdict["buffers"]) == ("CHECKED", "hello\n", [])
