"""Check the machine with complete submissions: each small kernel is compiled, run in boxes and checked.

The correct kernel must pass. Each broken kernel must get its expected verdict, and the GPU must work
afterwards. The cases are small, so that a machine can be checked in seconds.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from warmfront.errors import GpuFailed
from warmfront.hip.gpu_health import HealthCheck
from warmfront.judge.gpu_recheck import check_device
from warmfront.judge.judge import Judge
from warmfront.judge_request import JudgeRequest
from warmfront.problems.spec import Dtype, Scale
from warmfront.problems.vector_addition import VectorAddition
from warmfront.value_class import dataclass
from warmfront.verdicts import Endpoint, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from warmfront.hip.toolchain import Toolchain
    from warmfront.problems.ranges import Range
    from warmfront.problems.spec import Case
    from warmfront.sandbox.base import Sandbox
    from warmfront.settings import Settings

#: Time limit of a case, so that the check with the endless kernel is short.
CASE_TIMEOUT_S = 2.0
#: The GPU must be usable this long after a kernel failed, in addition to the time of the check itself.
MAX_RECOVERY_S = 1.0
CHECKED = "CHECKED"  #: the status of a kernel that passed all cases

_SOURCE = """#include <hip/hip_runtime.h>
#include <cassert>
__global__ void add(const float* a, const float* b, float* c, size_t n) {{
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  {body}
}}
extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {{
  add<<<(n + 255) / 256, {threads}>>>(d_input1, d_input2, d_output, n);
}}
"""


@dataclass(frozen=True, kw_only=True)
class HealthKernel:
    """A kernel and the verdict that it must get."""

    name: str
    status: str
    body: str
    threads: int = 256

    @property
    def source(self) -> str:
        """The HIP source."""
        return _SOURCE.format(body=self.body, threads=self.threads)


HONEST = HealthKernel(name="honest", status=CHECKED, body="if (i < n) c[i] = a[i] + b[i];")
BROKEN = (
    HealthKernel(
        name="wrong result", status=Verdict.WRONG_ANSWER, body="if (i < n) c[i] = a[i] + b[i] + (i == n - 1);"
    ),
    HealthKernel(
        name="write past the output",
        status=Verdict.RUNTIME_ERROR,
        body="if (i < n) c[i] = a[i] + b[i]; if (i == 0) c[n] = 1.0f;",
    ),
    HealthKernel(
        name="memory fault", status=Verdict.RUNTIME_ERROR, body="c[i + (size_t{1} << 44)] = a[i % n];"
    ),
    HealthKernel(name="assertion", status=Verdict.RUNTIME_ERROR, body="assert(i > n);"),
    HealthKernel(
        name="endless loop",
        status=Verdict.TIME_LIMIT_EXCEEDED,
        body="volatile float* flag = c; while (flag[0] != 1234.5f) {} if (i < n) c[i] = a[i];",
    ),
    HealthKernel(
        name="too many threads per block",
        status=Verdict.RUNTIME_ERROR,
        body="if (i < n) c[i] = a[i] + b[i];",
        threads=2048,
    ),
)


class SmallVectorAddition(VectorAddition):
    """Vector addition with small cases on every toolchain."""

    def cases(self, scale: Scale) -> Sequence[Case]:  # noqa: ARG002 - the same for all
        """Return the cases of the CPU runtime."""
        return super().cases(Scale.CPU)

    def ranges(self, scale: Scale) -> Mapping[str, Range]:  # noqa: ARG002 - the same for all
        """Return the lengths of the CPU runtime."""
        return super().ranges(Scale.CPU)


def check_kernel(toolchain: Toolchain, sandbox: Sandbox, settings: Settings) -> HealthCheck:
    """Judge a correct kernel, as the listener does before it is ready."""
    start = time.monotonic()
    verdict = _judge(HONEST, toolchain, sandbox, settings)
    elapsed_s = time.monotonic() - start
    if verdict["status"] == CHECKED:
        detail = f"compiled, run and checked in {elapsed_s:.1f} s"
        return HealthCheck(name="kernel in a box", ok=True, detail=detail)
    return HealthCheck(
        name="kernel in a box",
        ok=False,
        detail=f"a correct kernel got {_describe(verdict)}",
        remedy="The message says which part failed: compiler, sandbox or GPU. Release this machine.",
    )


def check_verdicts(toolchain: Toolchain, sandbox: Sandbox, settings: Settings) -> Iterator[HealthCheck]:
    """Judge broken kernels. Each must get its expected verdict and leave the GPU working."""
    start = time.monotonic()
    check_device(toolchain, sandbox, settings)
    usual_s = time.monotonic() - start
    for kernel in BROKEN:
        verdict = _judge(kernel, toolchain, sandbox, settings)
        yield HealthCheck(
            name=f"kernel: {kernel.name}",
            ok=verdict["status"] == kernel.status,
            detail=_describe(verdict),
            remedy=f"Expected {kernel.status}. Report this text.",
        )
        yield _recovery(kernel, toolchain, sandbox, settings, usual_s)


def _recovery(
    kernel: HealthKernel, toolchain: Toolchain, sandbox: Sandbox, settings: Settings, usual_s: float
) -> HealthCheck:
    name = f"GPU after: {kernel.name}"
    start = time.monotonic()
    try:
        check_device(toolchain, sandbox, settings)
    except GpuFailed as error:
        remedy = "The GPU does not recover from such kernels: release this machine, and update the driver."
        return HealthCheck(name=name, ok=False, detail=error.message, remedy=remedy)
    late_s = max(0.0, time.monotonic() - start - usual_s)
    return HealthCheck(
        name=name,
        ok=late_s <= MAX_RECOVERY_S,
        detail=f"usable, {late_s:.1f} s later than usual",
        remedy="The next submission waits this long after such a kernel.",
        required=False,
    )


def _judge(
    kernel: HealthKernel, toolchain: Toolchain, sandbox: Sandbox, settings: Settings
) -> dict[str, Any]:
    """Return the fields of the verdict."""
    request = JudgeRequest(
        source=kernel.source,
        problem=SmallVectorAddition(),
        dtype=Dtype.FLOAT32,
        endpoint=Endpoint.CHECKER,
        file_name=f"{kernel.name.replace(' ', '_')}.hip",
    )
    limited = replace(settings, bug_finder=False, case_timeout_s=min(settings.case_timeout_s, CASE_TIMEOUT_S))
    *_, verdict = Judge(toolchain, sandbox, limited).judge(request)
    return verdict.fields()


def _describe(verdict: Mapping[str, Any]) -> str:
    message = str(verdict.get("message", "")).partition("\n")[0]
    return f"{verdict['status']}: {message}" if message else str(verdict["status"])
