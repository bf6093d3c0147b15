"""The output of a program is shown with every verdict, by case, except for hidden cases and timed calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from warmfront import problems
from warmfront.judge_request import JudgeRequest
from warmfront.problems.spec import Dtype
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from warmfront.judge import Judge

#: Prints the size on the host and the block size on the device. WRONG decides where it is wrong.
SOURCE = """
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void relu(const float* x, float* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i == 0) printf("block of %u\\n", blockDim.x);
  if (i < n) y[i] = x[i] > 0.0f ? x[i] : (WRONG) ? 7.0f : 0.0f;
}
extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  printf("rows %zu\\n", n);
  relu<<<(n * m + 255) / 256, 256>>>(input, output, n * m);
}
"""


def _verdict(judge: Judge, wrong: str, endpoint: Endpoint = Endpoint.CHECKER) -> dict[str, Any]:
    request = JudgeRequest(
        source=SOURCE.replace("WRONG", wrong),
        problem=problems.get("relu"),
        dtype=Dtype.FLOAT32,
        endpoint=endpoint,
    )
    *_, verdict = judge.judge(request)
    return verdict.fields()


def test_output_of_a_wrong_answer_is_shown_by_case(judge: Judge) -> None:
    """The output of the wrong case, and of the cases before it, is shown."""
    verdict = _verdict(judge, "n == 257")
    assert verdict["status"] == "WRONG_ANSWER"
    by_case = verdict["details"]["output_by_case"]
    assert by_case[verdict["case"]] == "rows 257\nblock of 256\n"
    assert len(by_case) == 3
    assert "rows 257" in verdict["output"]


@pytest.mark.parametrize("endpoint", [Endpoint.CHECKER, Endpoint.SUBMIT])
def test_output_of_a_correct_program_is_shown_by_case(judge: Judge, endpoint: Endpoint) -> None:
    """Every published case has its output, no hidden case has any, and timed calls add nothing."""
    verdict = _verdict(judge, "false", endpoint)
    assert verdict["status"] in {"CHECKED", "ACCEPTED"}
    results = verdict["test_results"]
    assert any(result["hidden"] for result in results)
    for result in results:
        lines = result["output"].splitlines()
        assert len(lines) == (0 if result["hidden"] else 2), result
    assert verdict["output"].count("rows") == sum(not result["hidden"] for result in results)
