"""Time a kernel that passed the check, with windows: see `warmfront.judge` for the method.

In a window, the stopped guest gets fresh inputs for each call, runs, and is stopped before its outputs are
read. All outputs of all windows are verified. Nothing that the guest reports decides the time.
"""

from __future__ import annotations

import math
import secrets
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from warmfront.events import Timing, Window
from warmfront.judge.buffer_layout import BufferLayout
from warmfront.judge.kernel_failure import KernelFailure
from warmfront.judge.output_check import check_call
from warmfront.judge.statistics import (
    MIN_PAIRS,
    CallTime,
    kept_pairs,
    relative_width,
    time_per_call,
)
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from warmfront.gpus import Gpu
    from warmfront.hip.toolchain import Toolchain
    from warmfront.judge.case_data import CaseData, CaseGenerator
    from warmfront.judge.case_memory import CaseMemory
    from warmfront.judge.guest import GuestProcess
    from warmfront.judge_request import JudgeRequest

#: A large window has at least this much work, so that our own overhead, which varies, is small beside it.
WINDOW_MS = 4.0
#: Limits for the calls of a large window; each has a slot with inputs of its own.
MIN_CALLS, MAX_CALLS = 4, 96
#: A small window has this share of the calls of a large one.
SMALL_SHARE = 4
#: Memory for all slots of a case.
MAX_SLOT_BYTES = 256 << 20

MAX_PAIRS = 40
#: Pairs between two computations of the interval: a bootstrap costs as much as a few calls.
STEP = 3
#: Measuring stops when the interval is within this fraction of the median; more pairs could gain no more than
#: `statistics.REPEATABILITY` allows.
TARGET_WIDTH = 0.0095
#: If the interval is wider than this when the budget is used up, the budget is extended.
ACCEPTABLE_WIDTH = 0.045
EXTENSION = 4.0
#: Windows with an empty guest, for each number of calls; their median counts.
EMPTY_WINDOWS = 3
#: A measurement is disturbed if its guest waited longer for a CPU than this, relative to its time.
DISTURBED = 0.1


@dataclass(frozen=True, kw_only=True)
class CaseTimer:
    """Times the cases of one request with one guest."""

    request: JudgeRequest
    toolchain: Toolchain
    guest: GuestProcess
    memory: CaseMemory
    case_generator: CaseGenerator
    budget_s: float  #: CPU time of judge and guest for one case
    overhead_ms: float  #: time of a window with a solution that does nothing
    empty_guest: GuestProcess | None = None  #: without a solution, to measure copies; None if there are none
    empty_times: dict[tuple[int, int], float] = field(default_factory=dict)  #: of layout and calls, in ms

    def time(self, number: int) -> Timing:
        """Time case `number`. Raises `KernelFailure` if an output is wrong."""
        samples = _SampleSource(self.case_generator, number)
        first = samples.next()
        self.guest.case_name = first.case.name
        with self.guest.prioritized():
            self.guest.thaw()
            small, large, layout = self._plan(first, samples)
            self.guest.freeze()
            windows, reported_ms = self._measure(layout, samples, small, large)
            self.guest.thaw()
        return self._timing(first, windows, reported_ms)

    def _plan(self, first: CaseData, samples: _SampleSource) -> tuple[int, int, BufferLayout]:
        """Choose the calls per window from a window with one call, and plan that many slots."""
        layout = self._layout(first, slots=1)
        self.guest.freeze()
        self._checked_window(layout, [first])  # touches the memory and warms the caches
        estimate, _ = self._checked_window(layout, [samples.next()])
        self.guest.thaw()
        call_ms = max(estimate.time_ms - self.overhead_ms, 0.001)
        fitting = MAX_SLOT_BYTES // max(layout.slot_stride, 1)
        large = max(MIN_CALLS, min(math.ceil(WINDOW_MS / call_ms), MAX_CALLS, fitting))
        return max(1, large // SMALL_SHARE), large, self._layout(first, slots=large)

    def _measure(
        self, layout: BufferLayout, samples: _SampleSource, small: int, large: int
    ) -> tuple[list[Window], list[float]]:
        """Measure pairs of windows until the interval is narrow enough or the budget is used up.

        Pairs that the machine disturbed are left out, unless it is too busy to measure any other. In one
        window, which is not timed and comes at a random time, host code cannot access device memory.
        """
        windows: list[Window] = []
        reported_ms: list[float] = []
        self._checked_window(layout, samples.take(large))  # touches every slot
        protected_pair = secrets.randbelow(MIN_PAIRS)
        budget = _CpuBudget(self.budget_s)
        while len(windows) < 2 * MAX_PAIRS:
            pairs = len(windows) // 2
            if pairs == protected_pair:  # not timed: protection costs time
                self._checked_window(layout, samples.take(small), protect=True)
            for calls in (small, large) if pairs % 2 else (large, small):  # a drift cancels
                window, times_ms = self._checked_window(layout, samples.take(calls))
                budget.spend(window)
                windows.append(window)
                reported_ms += times_ms
            if len(windows) >= 2 * MIN_PAIRS and len(windows) // 2 % STEP == 0:
                result = time_per_call(_chosen(windows), self.overhead_ms)
                if relative_width(result.median_ms, result.interval_ms) <= budget.sufficient_width:
                    break
        return _chosen(windows), reported_ms

    def _layout(self, case_data: CaseData, slots: int) -> BufferLayout:
        request = self.request
        layout = BufferLayout(
            request.problem,
            case_data.case,
            request.dtype,
            self.toolchain.guards,
            case_data.inputs,
            slots=slots,
            shared=self.toolchain.shared_memory,
        )
        plan = self.memory.plan(layout)
        self.guest.plan(layout, plan)
        if self.empty_guest:
            self.empty_guest.thaw()
            self.empty_guest.plan(layout, plan)
            self.empty_guest.freeze()
        return layout

    def _checked_window(
        self, layout: BufferLayout, cases: list[CaseData], *, protect: bool = False
    ) -> tuple[Window, tuple[float, ...]]:
        """Measure one call on each of these inputs, and verify every output."""
        memory = self.memory
        memory.fill(layout, [case_data.inputs for case_data in cases])
        window, answer = self.guest.window(
            len(cases),
            memory,
            flush_bytes=self.toolchain.flush_bytes,
            protect=protect,
            by_cpu_time=self.toolchain.counts_cpu_time,
        )
        memory.collect(len(cases))
        for slot, case_data in enumerate(cases):
            check_call(case_data, layout, memory.data_file, run_answer=answer, slot=slot)
        if answer.launches is not None and answer.launches < len(cases):
            raise _host_code(cases[0], answer.launches, len(cases))
        return self._without_copies(layout, window), answer.times_ms

    def _without_copies(self, layout: BufferLayout, window: Window) -> Window:
        """Subtract the time of the same window with an empty guest, if copies are part of it."""
        if self.empty_guest is None:
            return window
        empty = self.empty_guest
        if self.empty_times.get((id(layout), window.calls)) is None:
            times = [
                empty.window(window.calls, self.memory, by_cpu_time=False)[0].wall_ms
                for _ in range(EMPTY_WINDOWS)
            ]
            self.empty_times[id(layout), window.calls] = sorted(times)[EMPTY_WINDOWS // 2]
        empty_ms = self.empty_times[id(layout), window.calls]
        return replace(window, time_ms=max(window.wall_ms - empty_ms, 0.0))

    def _timing(self, case_data: CaseData, windows: list[Window], reported_ms: list[float]) -> Timing:
        problem, dtype = self.request.problem, self.request.dtype
        result = time_per_call(windows, self.overhead_ms)
        flops, moved = problem.flops(case_data.case), problem.bytes_moved(case_data.case, dtype)
        floor_ms = None if self.toolchain.simulated else self.toolchain.gpu.floor_ms(flops, moved, dtype)
        ms = result.median_ms
        if floor_ms is not None and ms < floor_ms:
            raise _below_floor(case_data, ms, floor_ms, gpu=self.toolchain.gpu, flops=flops, moved=moved)
        discarded = sum(window.discarded for window in windows)
        return Timing(
            test_id=case_data.number,
            name=case_data.case.name,
            runtime_ms=ms,
            ci=result.interval_ms,
            gflops=flops / ms / 1e6 if flops else None,
            gbps=moved / ms / 1e6,
            runs=result.pairs_ms,
            outer_ms=ms,
            pct_of_floor=None if floor_ms is None else 100 * floor_ms / ms,
            note=_note(result, discarded, len(windows)),
            windows=tuple(windows),
            overhead_ms=self.overhead_ms,
            noisy=result.noisy,
            discarded_windows=discarded,
            missing_guarantees=self.memory.missing_guarantees,
            self_reported_ms=sorted(reported_ms)[len(reported_ms) // 2],
        )


class _SampleSource:
    """Generates fresh inputs for one case; no two calls get the same."""

    def __init__(self, case_generator: CaseGenerator, number: int) -> None:
        self._case_generator = case_generator
        self._number = number
        self._count = 0

    def next(self) -> CaseData:
        self._count += 1
        return self._case_generator.generate(self._number, sample=self._count)

    def take(self, count: int) -> list[CaseData]:
        return [self.next() for _ in range(count)]


class _CpuBudget:
    """Counts CPU time of this thread and of the guest: a busy machine does not shorten a measurement."""

    def __init__(self, budget_s: float) -> None:
        self._budget_s = budget_s
        self._spent_s = 0.0
        self._start_s = time.thread_time()

    def spend(self, window: Window) -> None:
        """Count the guest's part."""
        self._spent_s += window.time_ms / 1e3

    @property
    def sufficient_width(self) -> float:
        """How narrow the interval must be to stop now."""
        spent_s = self._spent_s + time.thread_time() - self._start_s
        if spent_s < self._budget_s:
            return TARGET_WIDTH
        return ACCEPTABLE_WIDTH if spent_s < EXTENSION * self._budget_s else math.inf


def _chosen(windows: list[Window]) -> list[Window]:
    """Mark the disturbed windows as discarded, if enough others remain."""
    marked = [
        replace(window, discarded=(window.waited_ms or 0.0) > DISTURBED * window.time_ms)
        for window in windows
    ]
    return marked if len(kept_pairs(marked)) >= MIN_PAIRS else windows


def _note(result: CallTime, discarded: int, windows: int) -> str:
    notes = []
    if result.noisy:
        notes.append("The machine was busy: the interval is wide. Repeat the measurement on a quiet machine.")
    if discarded:
        notes.append(f"{discarded} of {windows} windows were disturbed by other processes and left out.")
    return " ".join(notes)


def _host_code(case_data: CaseData, launches: int, calls: int) -> KernelFailure:
    return KernelFailure(
        Verdict.RUNTIME_ERROR,
        "NO_KERNEL_LAUNCHED",
        f"{case_data.title}: {calls} timed calls launched {launches} kernels; every call must launch one.",
        hint="Do the work of every call in a __global__ function, launched from solution().",
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
