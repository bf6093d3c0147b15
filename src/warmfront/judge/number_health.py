"""Measure the factors on which times depend: copies, the overhead of a call, bandwidth, and repeatability.

No check is required to pass, because a slow machine can judge too.
"""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from warmfront.hip.gpu_health import HealthCheck
from warmfront.judge.case_memory import DeviceMemory
from warmfront.judge.guest import GuestProcess
from warmfront.judge.judge import Judge
from warmfront.judge.verdict_health import HONEST
from warmfront.judge_request import JudgeRequest
from warmfront.problems.spec import Dtype, Scale
from warmfront.problems.vector_addition import VectorAddition
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from warmfront.hip.toolchain import Toolchain
    from warmfront.problems.ranges import Range
    from warmfront.problems.spec import Case
    from warmfront.sandbox.base import Sandbox
    from warmfront.settings import Settings

#: The size of the measured copy: on a GPU, and on a simulated GPU.
COPY_BYTES, SIMULATED_COPY_BYTES = 256 << 20, 16 << 20
#: Below this rate, copies slow submissions down: a PCIe 4.0 link has 25 GB/s.
MIN_PINNED_GBPS = 10.0
#: Number of windows with an empty guest, and the longest acceptable time of one.
EMPTY_WINDOWS = 200
MAX_EMPTY_MS = 1.0
#: A simple kernel should reach this share of the published bandwidth.
MIN_BANDWIDTH_SHARE = 0.5
#: Repetitions of a benchmark, on a GPU and on a simulated GPU, whose time is virtual; and how much their
#: results may differ.
RUNS, SIMULATED_RUNS = 20, 3
MAX_SPREAD = 0.01

STATUS = "BENCHMARKED"


class TimedVectorAddition(VectorAddition):
    """Vector addition with one small case and the smallest timed case of the toolchain."""

    def cases(self, scale: Scale) -> Sequence[Case]:
        """Return two cases."""
        cases = super().cases(scale)
        return [cases[0], next(case for case in cases if case.benchmark)]

    def ranges(self, scale: Scale) -> Mapping[str, Range]:  # noqa: ARG002 - hidden cases are small
        """Return the lengths of the CPU runtime."""
        return super().ranges(Scale.CPU)


def check_numbers(toolchain: Toolchain, sandbox: Sandbox, settings: Settings) -> Iterator[HealthCheck]:
    """Measure copies, an empty window, the bandwidth of a kernel, and the spread of several benchmarks."""
    yield _copies(toolchain, sandbox, settings)
    yield _empty_window(toolchain, sandbox, settings)
    runs = SIMULATED_RUNS if toolchain.simulated else RUNS
    verdicts = [_benchmark(toolchain, sandbox, settings) for _ in range(runs)]
    failed = next((verdict for verdict in verdicts if verdict["status"] != STATUS), None)
    if failed is not None:
        detail = f"{failed['status']}: {failed.get('message', '')}"
        yield HealthCheck(name="benchmark", ok=False, detail=detail, remedy="Report this text.")
        return
    timings = [verdict["test_results"][0] for verdict in verdicts]
    yield _bandwidth(timings, toolchain)
    yield _spread([timing["runtime_ms"] for timing in timings])


def _copies(toolchain: Toolchain, sandbox: Sandbox, settings: Settings) -> HealthCheck:
    with sandbox.take(toolchain.harness_template(settings)) as box:
        box.go()
        size_bytes = SIMULATED_COPY_BYTES if toolchain.simulated else COPY_BYTES
        rates = DeviceMemory(box).measure_copies(size_bytes)
    return HealthCheck(
        name="copies",
        ok=toolchain.simulated or min(rates.pinned_to_device, rates.pinned_to_host) >= MIN_PINNED_GBPS,
        detail=f"pageable {rates.pageable_to_device:.1f} and {rates.pageable_to_host:.1f} GB/s both ways, "
        f"pinned {rates.pinned_to_device:.1f} and {rates.pinned_to_host:.1f}",
        remedy="Submissions take longer; times are not affected. Check the PCIe link (`lspci -vv`).",
        required=False,
    )


def _empty_window(toolchain: Toolchain, sandbox: Sandbox, settings: Settings) -> HealthCheck:
    with sandbox.take(toolchain.run_template(settings)) as box:
        box.go()
        guest = GuestProcess(box, case_timeout_s=settings.case_timeout_s, elapsed_s=toolchain.elapsed_s)
        guest.check_device()
        times_ms = sorted(guest.empty_window().wall_ms for _ in range(EMPTY_WINDOWS))
    p50_ms, p99_ms = times_ms[len(times_ms) // 2], times_ms[len(times_ms) * 99 // 100]
    return HealthCheck(
        name="empty solution",
        ok=p99_ms <= MAX_EMPTY_MS,
        detail=f"p50 {1e3 * p50_ms:.0f} us, p99 {1e3 * p99_ms:.0f} us by the judge's clock",
        remedy="Short kernels get wide intervals: other programs use the CPUs of this machine.",
        required=False,
    )


def _benchmark(toolchain: Toolchain, sandbox: Sandbox, settings: Settings) -> dict[str, Any]:
    request = JudgeRequest(
        source=HONEST.source,
        problem=TimedVectorAddition(),
        dtype=Dtype.FLOAT32,
        endpoint=Endpoint.BENCHMARK,
        file_name="bandwidth.hip",
    )
    *_, verdict = Judge(toolchain, sandbox, replace(settings, bug_finder=False)).judge(request)
    return verdict.fields()


def _bandwidth(timings: list[dict[str, Any]], toolchain: Toolchain) -> HealthCheck:
    gbps = statistics.median(timing["gbps"] for timing in timings)
    share = gbps * 1e9 / toolchain.gpu.bandwidth_bytes_per_s
    return HealthCheck(
        name="bandwidth",
        ok=toolchain.simulated or share >= MIN_BANDWIDTH_SHARE,
        detail=f"{gbps:.0f} GB/s with vector addition, {100 * share:.0f}% of the {toolchain.gpu.name}'s peak",
        remedy="Check clocks, power cap and other processes: this GPU is slower than others of its type.",
        required=False,
    )


def _spread(times_ms: list[float]) -> HealthCheck:
    median_ms = statistics.median(times_ms)
    spread = (max(times_ms) - min(times_ms)) / median_ms if median_ms else 0.0
    return HealthCheck(
        name="repeatability",
        ok=spread <= MAX_SPREAD,
        detail=f"{len(times_ms)} runs of one kernel: median {median_ms:.4g} ms, spread {100 * spread:.1f}%",
        remedy="Other programs, clocks or heat change the times of this machine.",
        required=False,
    )
