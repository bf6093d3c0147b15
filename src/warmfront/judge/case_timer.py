"""Time a kernel that passed the check, and audit the times that the guest claims.

Every sample has inputs of its own and its output is verified. The reported time is measured with HIP events
in the guest. The judge audits it with its own clock outside the sandbox: the slope of total time over the
number of calls must agree. The package docstring explains the method.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from warmfront.events import Timing
from warmfront.judge.buffer_layout import BufferLayout
from warmfront.judge.kernel_failure import KernelFailure
from warmfront.judge.output_check import check_call
from warmfront.judge.statistics import median_interval, relative_width
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from warmfront.gpus import Gpu
    from warmfront.hip.toolchain import Toolchain
    from warmfront.judge.case_data import CaseData, CaseGenerator
    from warmfront.judge.guest import GuestProcess, RunReport
    from warmfront.judge_request import JudgeRequest

MIN_SAMPLES = 7
MAX_SAMPLES = 100
#: Samples between two computations of the interval: a bootstrap costs as much as a few calls.
STEP = 5
#: Sampling stops when the confidence interval is within this fraction of the median.
TARGET_WIDTH = 0.005

#: Sets of buffers that the audited calls cycle through.
AUDIT_SLOTS = 3
#: Minimum difference between many calls and one call, so that the overhead of a command is negligible.
AUDIT_MS = 8.0
#: Minimum ratio between many calls and one call. If the single call was delayed by other load, the difference
#: alone would be too small, and the kernel would seem to take no time.
AUDIT_TIMES = 3.0
AUDIT_MAX_CALLS = 2000
AUDIT_ROUNDS = 8
#: Samples and audit are repeated up to this many times before a time counts as forged.
CLOCK_TRIES = 3
#: If the judge's clock measures more than this multiple of the claim, its own time is reported instead.
DOUBTED = 1.5
#: Noise does not explain a higher multiple, because the smallest of several slopes is compared.
FORGED = 4.0
#: Cost of a call outside the HIP events: the loop in the guest and reading the clock.
CALL_OVERHEAD_MS = 0.01


@dataclass(frozen=True, kw_only=True)
class SampleSummary:
    """The median of the samples of a case, and its confidence interval."""

    samples: tuple[float, ...]
    median_ms: float
    interval_ms: tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class CaseTimer:
    """Times the cases of one request with one guest."""

    request: JudgeRequest
    toolchain: Toolchain
    guest: GuestProcess
    data_file: Path
    case_generator: CaseGenerator
    budget_s: float

    def time(self, number: int) -> Timing:
        """Time case `number`. Raises `KernelFailure` if an output is wrong or the time is forged."""
        first = self.case_generator.generate(number, sample=1)
        self.guest.case_name = first.case.name
        self._warm_up(first)
        for _ in range(CLOCK_TRIES):
            measured = self._sample(number)
            outer_ms = self._audit(number, measured.median_ms)
            if not _is_forged(measured.median_ms, outer_ms):
                break
            # Perhaps other load delayed the audit: retry. A forged time fails every try.
        claimed_ms, note = measured.median_ms, ""
        if outer_ms > DOUBTED * claimed_ms + CALL_OVERHEAD_MS:
            _reject_forged(first, claimed_ms, outer_ms)
            note = (
                f"HIP events report {claimed_ms:.4g} ms, but the judge's clock measured {outer_ms:.4g} ms; "
                "the judge's time is used."
            )
            measured = replace(measured, median_ms=outer_ms, interval_ms=(outer_ms, outer_ms))
        return self._timing(first, measured, outer_ms, note)

    def _layout(self, case_data: CaseData, slots: int = 1) -> BufferLayout:
        request = self.request
        layout = BufferLayout(
            request.problem,
            case_data.case,
            request.dtype,
            self.toolchain.guards,
            case_data.inputs,
            slots=slots,
        )
        # The guest maps the file during PLAN, so the file must have its final size by then.
        layout.write(self.data_file, [case_data.inputs] * slots)
        self.guest.plan(layout)
        return layout

    def _warm_up(self, case_data: CaseData) -> None:
        """Run the kernel until clock frequencies and caches are stable; these calls are not timed."""
        self._layout(case_data)
        stop = time.perf_counter() + self.toolchain.warm_up_s
        calls = 1
        while True:
            self.guest.run(calls=calls)
            if time.perf_counter() >= stop:
                return
            calls = min(calls * 2, 64)

    def _sample(self, number: int) -> SampleSummary:
        """Take samples until the interval is narrow enough or the time budget is used up."""
        samples: list[float] = []
        median, interval = 0.0, (0.0, float("inf"))
        rng = np.random.default_rng(number)
        stop = time.perf_counter() + self.budget_s
        layout: BufferLayout | None = None
        while len(samples) < MAX_SAMPLES:
            case_data = self.case_generator.generate(number, sample=2 + len(samples))
            layout = layout or self._layout(case_data)
            run_report = self._checked_run(layout, case_data)
            samples.extend(run_report.times_ms)
            if len(samples) < MIN_SAMPLES:
                continue
            out_of_time = time.perf_counter() >= stop
            if out_of_time or len(samples) % STEP == 0:
                median, interval = median_interval(samples, rng)
                if out_of_time or relative_width(median, interval) <= TARGET_WIDTH:
                    break
        return SampleSummary(samples=tuple(samples), median_ms=median, interval_ms=interval)

    def _checked_run(self, layout: BufferLayout, case_data: CaseData) -> RunReport:
        layout.write(self.data_file, [case_data.inputs])
        run_report = self.guest.run(flush_bytes=self.toolchain.flush_bytes)
        check_call(case_data, layout, self.data_file, run_report=run_report)
        return run_report

    def _audit(self, number: int, claimed_ms: float) -> float:
        """Return the milliseconds per call by the judge's clock: the slope between one call and many."""
        cases = [
            self.case_generator.generate(number, sample=MAX_SAMPLES + 2 + slot) for slot in range(AUDIT_SLOTS)
        ]
        layout = self._layout(cases[0], slots=AUDIT_SLOTS)
        one_ms = self._audited_run(layout, cases, calls=1)
        # The number of calls depends on the judge's clock and not on the claim, which may be 0 ms.
        calls = AUDIT_SLOTS + 1
        many_ms = self._audited_run(layout, cases, calls=calls)
        while not _is_conclusive(one_ms, many_ms) and calls < AUDIT_MAX_CALLS:
            calls = min(calls * 4, AUDIT_MAX_CALLS)
            one_ms = min(one_ms, self._audited_run(layout, cases, calls=1))
            many_ms = self._audited_run(layout, cases, calls=calls)
        for _ in range(AUDIT_ROUNDS):
            slope_ms = (many_ms - one_ms) / (calls - 1)
            if _is_conclusive(one_ms, many_ms) and slope_ms <= DOUBTED * claimed_ms + CALL_OVERHEAD_MS:
                break
            # Keep the smallest of each: noise only ever adds time.
            one_ms = min(one_ms, self._audited_run(layout, cases, calls=1))
            many_ms = min(many_ms, self._audited_run(layout, cases, calls=calls))
        return slope_ms if _is_conclusive(one_ms, many_ms) else many_ms / calls

    def _audited_run(self, layout: BufferLayout, cases: list[CaseData], *, calls: int) -> float:
        layout.write(self.data_file, [case_data.inputs for case_data in cases])
        outer_ms = self.guest.run(calls=calls).outer_ms
        for slot in range(min(calls, AUDIT_SLOTS)):
            check_call(cases[slot], layout, self.data_file, slot=slot)
        return outer_ms

    def _timing(self, case_data: CaseData, measured: SampleSummary, outer_ms: float, note: str) -> Timing:
        problem, dtype = self.request.problem, self.request.dtype
        flops, moved = problem.flops(case_data.case), problem.bytes_moved(case_data.case, dtype)
        floor_ms = None if self.toolchain.simulated else self.toolchain.gpu.floor_ms(flops, moved, dtype)
        ms = max(measured.median_ms, 1e-6)
        if floor_ms is not None and ms < floor_ms:
            raise _below_floor(case_data, ms, floor_ms, gpu=self.toolchain.gpu, flops=flops, moved=moved)
        return Timing(
            test_id=case_data.number,
            name=case_data.case.name,
            runtime_ms=measured.median_ms,
            ci=measured.interval_ms,
            gflops=flops / ms / 1e6 if flops else None,
            gbps=moved / ms / 1e6,
            runs=measured.samples,
            outer_ms=outer_ms,
            pct_of_floor=None if floor_ms is None else 100 * floor_ms / ms,
            note=note,
        )


def _is_conclusive(one_ms: float, many_ms: float) -> bool:
    return many_ms - one_ms >= AUDIT_MS and many_ms >= AUDIT_TIMES * one_ms


def _is_forged(claimed_ms: float, outer_ms: float) -> bool:
    return outer_ms > FORGED * claimed_ms + FORGED * CALL_OVERHEAD_MS


def _reject_forged(case_data: CaseData, claimed_ms: float, outer_ms: float) -> None:
    if _is_forged(claimed_ms, outer_ms):
        raise KernelFailure(
            Verdict.RUNTIME_ERROR,
            "TIME_FORGED",
            f"{case_data.title}: the program reports {claimed_ms:.4g} ms per call; "
            f"the judge's clock measured {outer_ms:.4g} ms.",
            hint="All work must be finished when solution() returns, and clocks must not be tampered with.",
            case=case_data.case.name,
        )


def _below_floor(
    case_data: CaseData, ms: float, floor_ms: float, *, gpu: Gpu, flops: int, moved: int
) -> KernelFailure:
    rate = f"{gpu.bandwidth_bytes_per_s / 1e12:g} TB/s"
    return KernelFailure(
        Verdict.RUNTIME_ERROR,
        "BELOW_ROOFLINE",
        f"{case_data.title}: {ms:.4g} ms is impossible: {moved:,} bytes at {rate} and {flops:,} operations "
        f"take an {gpu.name} at least {floor_ms:.4g} ms.",
        hint="If the kernel does all the work, the problem counts its bytes or operations wrong: report it.",
        case=case_data.case.name,
    )
