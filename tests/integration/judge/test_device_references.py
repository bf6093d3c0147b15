"""The harness's own references agree with those in NumPy, and they reject wrong outputs."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bench.modeled_gpu import device_references
from tests.integration.judge.test_device_memory import SeparateMemoryToolchain
from tests.support.attacks import ATTACKS, read
from warmfront import problems, settings
from warmfront.judge import Judge, case_data
from warmfront.judge.case_memory import DeviceMemory
from warmfront.judge_request import JudgeRequest
from warmfront.problems.spec import Case, Dtype, Problem, Tolerance
from warmfront.sandbox import TRUSTED, open_sandbox
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warmfront.sandbox.base import Sandbox

ROOT = Path(__file__).parents[3]
#: Examples of problems that another example covers.
_SECOND = {"conv_2d_matrix", "matmul_mfma"}
EXAMPLES = [path for path in sorted((ROOT / "examples").glob("*.hip")) if path.stem not in _SECOND]
IMPOSSIBLE = Tolerance(rtol=-1.0, atol=-1.0, why="nothing is within it")


@pytest.fixture(name="sandbox")
def _sandbox() -> Iterator[Sandbox]:
    sandbox = open_sandbox(TRUSTED)
    yield sandbox
    sandbox.close()


@pytest.fixture(name="host_checks")
def _host_checks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Make the harness check all cases, and return the slots that the host had to check."""
    collected: list[int] = []
    monkeypatch.setattr(case_data, "LARGE_INPUT_BYTES", 0)
    original = DeviceMemory.collect

    def collect(memory: DeviceMemory, slot: int) -> object:
        collected.append(slot)
        return original(memory, slot)

    monkeypatch.setattr(DeviceMemory, "collect", collect)
    return collected


def judged(
    sandbox: Sandbox, source: str, problem: Problem, dtype: Dtype, endpoint: Endpoint
) -> dict[str, Any]:
    """Return the verdict of a judge whose device memory belongs to a harness."""
    configured = replace(settings.load(), bug_finder=False, bench_budget_s=0.05)
    toolchain = SeparateMemoryToolchain(configured.cache_dir)
    request = JudgeRequest(source=source, problem=problem, dtype=dtype, endpoint=endpoint)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        toolchain.folder = Path(folder)
        *_, verdict = Judge(toolchain, sandbox, configured).judge(request)
    return verdict.fields()


def test_every_problem_has_a_reference() -> None:
    """Without one, NumPy checks all timed calls; `bench.gpu` reads the same list."""
    assert set(device_references()) == {problem.slug for problem in problems.all_problems()}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_reference_accepts_what_numpy_accepts(
    path: Path, sandbox: Sandbox, host_checks: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host need not check any case of a correct kernel; and the comparison is not empty."""
    in_half = path.stem.endswith("_half")
    problem = problems.get(path.stem.removesuffix("_half").replace("_", "-"))
    dtype = Dtype.FLOAT16 if in_half else problem.dtypes[0]
    accepts = DeviceMemory.verify
    impossible: list[bool] = []

    def verify(
        memory: DeviceMemory,
        problem: Problem,
        case: Case,
        tolerances: Sequence[Tolerance],
        *,
        row_share: int = 1,
    ) -> list[bool]:
        assert row_share == 1  # a check is of all rows
        if dtype is not Dtype.INT32:  # integers are compared without a tolerance
            impossible.extend(accepts(memory, problem, case, [IMPOSSIBLE] * len(tolerances)))
        return accepts(memory, problem, case, tolerances)

    monkeypatch.setattr(DeviceMemory, "verify", verify)
    verdict = judged(sandbox, path.read_text(), problem, dtype, Endpoint.CHECKER)
    assert verdict["status"] == "CHECKED", verdict
    assert not host_checks
    assert not any(impossible)


@pytest.mark.slow  # on a busy machine most of its windows are discarded
def test_timed_calls_are_checked_by_the_harness(sandbox: Sandbox, host_checks: list[int]) -> None:
    """The host checks no timed call of a correct kernel."""
    source = (ROOT / "examples/vector_addition.hip").read_text()
    problem = problems.get("vector-addition")
    verdict = judged(sandbox, source, problem, Dtype.FLOAT32, Endpoint.BENCHMARK)
    assert verdict["status"] == "BENCHMARKED", verdict
    assert not host_checks


#: One thread per row; the timed calls are those with these sizes.
_ATTENTION = """
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
__global__ void attend(const __half* q, const __half* k, const __half* v, __half* o, int rows, int n, int d) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  int keys = row / n * n;
  float largest = -1e30f, sum = 0, total[128] = {};
  for (int j = 0; j < n; ++j) {
    float score = 0;
    for (int l = 0; l < d; ++l) score += __half2float(q[row * d + l]) * __half2float(k[(keys + j) * d + l]);
    score /= sqrtf(float(d));
    float next = fmaxf(largest, score), old = expf(largest - next), weight = expf(score - next);
    sum = sum * old + weight;
    for (int l = 0; l < d; ++l) total[l] = total[l] * old + weight * __half2float(v[(keys + j) * d + l]);
    largest = next;
  }
  for (int l = 0; l < d; ++l) o[row * d + l] = __float2half(total[l] / sum);
}
extern "C" void solution(const __half* q, const __half* k, const __half* v, __half* output, size_t heads,
                         size_t n, size_t d) {
  static int calls = 0;
  int rows = heads * n;
  if (heads == 4 && n == 64 && d == 64 && ++calls > 3) rows -= SKIPPED;
  attend<<<(rows + 63) / 64, 64>>>(q, k, v, output, rows, n, d);
}
"""


@pytest.mark.parametrize(("skipped", "status"), [(0, "BENCHMARKED"), (16, "WRONG_ANSWER")])
def test_a_part_of_the_rows_finds_rows_that_are_left_out(
    skipped: int, status: str, sandbox: Sandbox, host_checks: list[int]
) -> None:
    """Of large products, the harness checks some rows of a timed call; the host describes what is wrong."""
    source = _ATTENTION.replace("SKIPPED", str(skipped))
    verdict = judged(sandbox, source, problems.get("attention"), Dtype.FLOAT16, Endpoint.BENCHMARK)
    assert verdict["status"] == status, verdict
    assert bool(host_checks) == bool(skipped)


@pytest.mark.parametrize(
    "name", ["replays_output", "skips_every_other_call", "skips_last_rows", "caches_by_pointer"]
)
def test_a_kernel_that_skips_timed_work_is_refused(
    name: str, sandbox: Sandbox, host_checks: list[int]
) -> None:
    """The harness finds the slot wrong, and the host describes the error."""
    attack = read(ATTACKS / f"{name}.hip")
    verdict = judged(sandbox, attack.source, problems.get("relu"), Dtype.FLOAT32, Endpoint.BENCHMARK)
    assert verdict["status"] == "WRONG_ANSWER", verdict
    assert host_checks
