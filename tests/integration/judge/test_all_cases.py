"""A check of all cases continues after a wrong answer; its verdict is that of the first one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from warmfront import problems
from warmfront.errors import BadRequest
from warmfront.judge_request import JudgeRequest
from warmfront.problems.spec import Dtype
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from warmfront.judge import Judge

#: Wrong where WRONG holds; the host code aborts where ABORTS does.
SOURCE = """
#include <hip/hip_runtime.h>
#include <cstdlib>
__global__ void relu(const float* x, float* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.0f ? x[i] : (WRONG) ? 7.0f : 0.0f;
}
extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  if (ABORTS) std::abort();
  relu<<<(n * m + 255) / 256, 256>>>(input, output, n * m);
}
"""


def _judge(
    judge: Judge, wrong: str, aborts: str = "false", *, all_cases: bool = True
) -> tuple[list[str], dict[str, Any]]:
    request = JudgeRequest(
        source=SOURCE.replace("WRONG", wrong).replace("ABORTS", aborts),
        problem=problems.get("relu"),
        dtype=Dtype.FLOAT32,
        endpoint=Endpoint.CHECKER,
        all_cases=all_cases,
    )
    *events, verdict = judge.judge(request)
    fields = [event.fields() for event in events]
    statuses = [event["result"]["status"] for event in fields if event["status"] == "TEST_RESULT"]
    return statuses, verdict.fields()


def test_every_case_has_a_result(judge: Judge) -> None:
    """The verdict is that of the first wrong answer, and has the differences of every failed case."""
    first, without = _judge(judge, "n > 1", all_cases=False)
    assert first[-1] == "FAILED"
    assert first.count("FAILED") == 1
    assert "failed_cases" not in without["details"]
    results, verdict = _judge(judge, "n > 1")
    assert len(results) == verdict["total_tests"] > len(first)
    assert results.count("PASSED") == verdict["passed_tests"]
    assert (verdict["status"], verdict["case"]) == ("WRONG_ANSWER", without["case"])
    failed = verdict["details"]["failed_cases"]
    assert len(failed) == results.count("FAILED") > 1
    assert failed[0]["debug_info"] == verdict["debug_info"]
    for case in failed:
        assert results[case["test_id"] - 1] == "FAILED"
        assert case["debug_info"]["sample_differences"]
        assert case["output_name"] == "output"


def test_a_program_that_aborts_ends_the_check(judge: Judge) -> None:
    """It cannot be called again. The verdict is still that of the first failure, as without all cases."""
    results, verdict = _judge(judge, "n == 257", "n > 257")
    assert (verdict["status"], verdict["total_tests"] > len(results)) == ("WRONG_ANSWER", True)
    assert results[-1] == "FAILED"
    assert [case["debug_info"] is None for case in verdict["details"]["failed_cases"]] == [False, True]


def test_a_correct_program_is_checked_as_before(judge: Judge) -> None:
    """Nothing failed, so there is nothing to continue after."""
    results, verdict = _judge(judge, "false")
    assert verdict["status"] == "CHECKED"
    assert set(results) == {"PASSED"}


@pytest.mark.parametrize("endpoint", [Endpoint.BENCHMARK, Endpoint.SUBMIT])
def test_a_timed_run_ends_with_the_first_wrong_answer(endpoint: Endpoint) -> None:
    """The judge has no request that times a program after a wrong answer."""
    with pytest.raises(BadRequest, match="checker"):
        JudgeRequest(
            source="",
            problem=problems.get("relu"),
            dtype=Dtype.FLOAT32,
            endpoint=endpoint,
            all_cases=True,
        )
