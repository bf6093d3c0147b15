"""Times a kernel that is known to be right.

Every sample has inputs of its own and its output is verified. The number is HIP's own; the judge's clock,
outside the sandbox, audits it: the slope of total time over the count of calls must agree.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from warmfront.events import Timing
from warmfront.gpus import MI300X
from warmfront.judge.buffer_layout import BufferLayout
from warmfront.judge.kernel_failure import KernelFailure
from warmfront.judge.output_check import check_call
from warmfront.judge.statistics import median_interval, relative_width
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from warmfront.hip.toolchain import Toolchain
    from warmfront.judge.case_data import CaseData, CaseGenerator
    from warmfront.judge.guest import GuestProcess, RunReport
    from warmfront.judge_request import JudgeRequest

MIN_SAMPLES = 7
MAX_SAMPLES = 100
#: The interval is looked at after this many more samples: a bootstrap costs as much as a few calls.
STEP = 5
#: The median is sure enough when its interval reaches no farther than this share of it.
TARGET_WIDTH = 0.005

#: Sets of buffers that the audited calls go round.
AUDIT_SLOTS = 3
#: The audited calls take at least this long together, so that one command's overhead is lost in it.
AUDIT_MS = 8.0
#: And this many times as long as one alone. One that was held up says nothing: many held against it would
#: seem to take no time at all.
AUDIT_TIMES = 3.0
AUDIT_MAX_CALLS = 2000
AUDIT_ROUNDS = 8
#: Samples and audit are taken again this often before a time counts as forged.
CLOCK_TRIES = 3
#: A time that our clock puts this much higher is not believed; ours is taken instead.
DOUBTED = 1.5
#: No noise explains this much: the smallest of several slopes is compared.
FORGED = 4.0
#: What a call may cost outside HIP's events: the loop in the worker, a look at the clock.
CALL_OVERHEAD_MS = 0.01


@dataclass(frozen=True, kw_only=True)
class SampleSummary:
    """What the samples of a case say."""

    samples: tuple[float, ...]
    median_ms: float
    interval_ms: tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class CaseTimer:
    """Everything that timing a case needs."""

    submission: JudgeRequest
    toolchain: Toolchain
    worker: GuestProcess
    data: Path  #: the data file
    questions: CaseGenerator
    budget_s: float

    def time(self, number: int) -> Timing:
        """Time case `number`."""
        first = self.questions.draw(number, sample=1)
        self.worker.case_name = first.case.name
        self._warm_up(first)
        for _ in range(CLOCK_TRIES):
            measured = self._sample(number)
            outer_ms = self._audit(number, measured.median_ms)
            if not _is_forged(measured.median_ms, outer_ms):
                break
            # Or the machine was busy between the one and the other: a forger is caught the next time too.
        claimed_ms, note = measured.median_ms, ""
        if outer_ms > DOUBTED * claimed_ms + CALL_OVERHEAD_MS:
            _refuse_forged(first, claimed_ms, outer_ms)
            note = (
                f"HIP's events say {claimed_ms:.4g} ms, the judge's clock {outer_ms:.4g} ms: ours is taken."
            )
            measured = replace(measured, median_ms=outer_ms, interval_ms=(outer_ms, outer_ms))
        return self._timing(first, measured, outer_ms, note)

    def _layout(self, question: CaseData, slots: int = 1) -> BufferLayout:
        submission = self.submission
        layout = BufferLayout(
            submission.problem,
            question.case,
            submission.dtype,
            self.toolchain.guards,
            question.inputs,
            slots=slots,
        )
        # The worker maps the file when it plans, so the file must have its size by then.
        layout.write(self.data, [question.inputs] * slots)
        self.worker.plan(layout)
        return layout

    def _warm_up(self, question: CaseData) -> None:
        """Run the kernel until clocks and caches are as they will be; these calls are not counted."""
        self._layout(question)
        stop = time.perf_counter() + self.toolchain.warm_up_s
        calls = 1
        while True:
            self.worker.run(calls=calls)
            if time.perf_counter() >= stop:
                return
            calls = min(calls * 2, 64)

    def _sample(self, number: int) -> SampleSummary:
        """Samples until the median is sure enough, or the time is up."""
        samples: list[float] = []
        median, interval = 0.0, (0.0, float("inf"))
        rng = np.random.default_rng(number)
        stop = time.perf_counter() + self.budget_s
        layout: BufferLayout | None = None
        while len(samples) < MAX_SAMPLES:
            question = self.questions.draw(number, sample=2 + len(samples))
            layout = layout or self._layout(question)
            ran = self._checked_run(layout, question)
            samples.extend(ran.times_ms)
            if len(samples) < MIN_SAMPLES:
                continue
            out_of_time = time.perf_counter() >= stop
            if out_of_time or len(samples) % STEP == 0:
                median, interval = median_interval(samples, rng)
                if out_of_time or relative_width(median, interval) <= TARGET_WIDTH:
                    break
        return SampleSummary(samples=tuple(samples), median_ms=median, interval_ms=interval)

    def _checked_run(self, layout: BufferLayout, question: CaseData) -> RunReport:
        layout.write(self.data, [question.inputs])
        ran = self.worker.run(flush_bytes=self.toolchain.flush_bytes)
        check_call(question, layout, self.data, ran=ran)
        return ran

    def _audit(self, number: int, claimed_ms: float) -> float:
        """Milliseconds a call by our own clock: the slope between one call and many."""
        asked = [self.questions.draw(number, sample=MAX_SAMPLES + 2 + slot) for slot in range(AUDIT_SLOTS)]
        layout = self._layout(asked[0], slots=AUDIT_SLOTS)
        one_ms = self._audited_run(layout, asked, calls=1)
        # By our clock, not by the claim: whoever claims nothing would be asked for ever.
        calls = AUDIT_SLOTS + 1
        many_ms = self._audited_run(layout, asked, calls=calls)
        while not _far_apart(one_ms, many_ms) and calls < AUDIT_MAX_CALLS:
            calls = min(calls * 4, AUDIT_MAX_CALLS)
            one_ms = min(one_ms, self._audited_run(layout, asked, calls=1))
            many_ms = self._audited_run(layout, asked, calls=calls)
        for _ in range(AUDIT_ROUNDS):
            slope_ms = (many_ms - one_ms) / (calls - 1)
            if _far_apart(one_ms, many_ms) and slope_ms <= DOUBTED * claimed_ms + CALL_OVERHEAD_MS:
                break
            # The smallest of each: noise only ever adds.
            one_ms = min(one_ms, self._audited_run(layout, asked, calls=1))
            many_ms = min(many_ms, self._audited_run(layout, asked, calls=calls))
        return slope_ms if _far_apart(one_ms, many_ms) else many_ms / calls

    def _audited_run(self, layout: BufferLayout, asked: list[CaseData], *, calls: int) -> float:
        layout.write(self.data, [question.inputs for question in asked])
        outer_ms = self.worker.run(calls=calls).outer_ms
        for slot in range(min(calls, AUDIT_SLOTS)):
            check_call(asked[slot], layout, self.data, slot=slot)
        return outer_ms

    def _timing(self, question: CaseData, measured: SampleSummary, outer_ms: float, note: str) -> Timing:
        problem, dtype = self.submission.problem, self.submission.dtype
        flops, moved = problem.flops(question.case), problem.bytes_moved(question.case, dtype)
        floor_ms = None if self.toolchain.simulated else MI300X.floor_ms(flops, moved, dtype)
        ms = max(measured.median_ms, 1e-6)
        if floor_ms is not None and ms < floor_ms:
            raise _below_floor(question, ms, floor_ms, flops, moved)
        return Timing(
            test_id=question.number,
            name=question.case.name,
            runtime_ms=measured.median_ms,
            ci=measured.interval_ms,
            gflops=flops / ms / 1e6 if flops else None,
            gbps=moved / ms / 1e6,
            runs=measured.samples,
            outer_ms=outer_ms,
            pct_of_floor=None if floor_ms is None else 100 * floor_ms / ms,
            note=note,
        )


def _far_apart(one_ms: float, many_ms: float) -> bool:
    return many_ms - one_ms >= AUDIT_MS and many_ms >= AUDIT_TIMES * one_ms


def _is_forged(claimed_ms: float, outer_ms: float) -> bool:
    return outer_ms > FORGED * claimed_ms + FORGED * CALL_OVERHEAD_MS


def _refuse_forged(question: CaseData, claimed_ms: float, outer_ms: float) -> None:
    if _is_forged(claimed_ms, outer_ms):
        raise KernelFailure(
            Verdict.RUNTIME_ERROR,
            "TIME_FORGED",
            f"{question.title}: the program reports {claimed_ms:.4g} ms a call; "
            f"by the judge's clock a call takes {outer_ms:.4g} ms.",
            hint="Work must be done when solution() returns, on the clock that it was given.",
            case=question.case.name,
        )


def _below_floor(question: CaseData, ms: float, floor_ms: float, flops: int, moved: int) -> KernelFailure:
    rate = f"{MI300X.bandwidth_bytes_per_s / 1e12:g} TB/s"
    return KernelFailure(
        Verdict.RUNTIME_ERROR,
        "BELOW_ROOFLINE",
        f"{question.title}: {ms:.4g} ms is void. {moved:,} bytes at {rate} and {flops:,} operations "
        f"take an {MI300X.name} at least {floor_ms:.4g} ms.",
        hint="If this kernel is honest, the problem counts its bytes or operations wrong: tell its author.",
        case=question.case.name,
    )
