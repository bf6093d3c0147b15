"""Time a kernel that passed the check, with windows: see `warmfront.judge` for the method.

In a window, the stopped guest gets fresh inputs for each call, runs, and is stopped before its outputs are
read. The outputs of all windows are verified. Nothing that the guest reports decides the time.
"""

from __future__ import annotations

import math
import secrets
import time
from contextlib import nullcontext
from dataclasses import field, replace
from typing import TYPE_CHECKING

from warmfront.events import Timing, Window
from warmfront.judge.buffer_layout import BufferLayout
from warmfront.judge.case_memory import DeviceMemory
from warmfront.judge.kernel_failure import KernelFailure
from warmfront.judge.machine_speed import FastCpu, slowest_accepted_ms, typical_ms
from warmfront.judge.statistics import (
    MIN_PAIRS,
    SLOWDOWN_NOTED,
    CallTime,
    kept_pairs,
    relative_width,
    slowdown,
    time_per_call,
)
from warmfront.judge.timed_inputs import FreshInputs, MixedInputs
from warmfront.value_class import dataclass
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from warmfront.gpus import Gpu
    from warmfront.hip.toolchain import Toolchain
    from warmfront.judge.case_data import CaseData, CasePrefetcher
    from warmfront.judge.case_memory import CaseMemory
    from warmfront.judge.guest import GuestProcess
    from warmfront.judge.machine_speed import MachineSpeed
    from warmfront.judge.timed_inputs import TimedInputs
    from warmfront.judge_request import JudgeRequest

#: A large window takes at least this long, so that our own overhead, which varies, is small in comparison.
WINDOW_MS = 4.0
#: Limits on the number of calls in a large window; each call has a slot with its own inputs.
MIN_CALLS, MAX_CALLS = 4, 96
#: The upper limit on a GPU, whose calls can be shorter, and on an emulated GPU, where a call takes much
#: longer than the virtual time that counts.
GPU_CALLS, EMULATED_CALLS = 192, 8
#: A small window has this share of the calls of a large one.
SMALL_SHARE = 4

MAX_PAIRS = 60
#: Pairs measured between two computations of the interval: a bootstrap costs as much as a few calls.
STEP = 3
#: Measuring stops when the interval is within this fraction of the median; more pairs cannot improve on
#: `statistics.REPEATABILITY`.
TARGET_WIDTH = 0.0095
#: If the interval is wider than this when the budget is used up, the budget is extended.
ACCEPTABLE_WIDTH = 0.045
EXTENSION = 4.0
#: The budget is multiplied by this on the CPU runtime: its time costs nothing, and other VMs of the host
#: disturb its windows more than those of a GPU.
CPU_BUDGET = 2.0
#: The same limit on a GPU, for the width before differences between runs are added: its windows are short, so
#: the varying time to wake a process is a larger part of them.
GPU_TARGET_WIDTH, GPU_ACCEPTABLE_WIDTH, GPU_EXTENSION = 0.006, 0.0075, 2.0
#: Numbers of windows with an empty guest, whose median is subtracted from windows with the same number of
#: calls: large windows, which determine the time; small windows, for the slope; and a first estimate.
EMPTY_LARGE, EMPTY_SMALL, EMPTY_ESTIMATE = 101, 21, 11
#: A time below the roofline floor is measured this often before it is rejected: on a busy machine, the empty
#: windows that are subtracted may have been slower than the others.
FLOOR_ATTEMPTS = 3
#: A measurement is disturbed if its guest waited for a CPU longer than this fraction of its time.
DISTURBED = 0.1


@dataclass(frozen=True, kw_only=True)
class CaseTimer:
    """The timer for the cases of one request, with one guest."""

    request: JudgeRequest
    toolchain: Toolchain
    guest: GuestProcess
    memory: CaseMemory
    prefetch: CasePrefetcher  #: provides the base sets of the timed calls, and the generator of other inputs
    budget_s: float  #: CPU time of judge and guest for one case; twice that on the CPU runtime
    overhead_ms: float  #: time of a window with a solution that does nothing
    machine_speed: MachineSpeed | None = None  #: None on a GPU, whose time does not depend on the CPU's
    empty_guest: GuestProcess | None = None  #: without a solution, to measure copies; None if there are none
    #: Of layout and calls, in ms.
    empty_times: dict[tuple[BufferLayout, int], float] = field(default_factory=dict)

    def time(self, number: int) -> Timing:
        """Time case `number`. Raises `KernelFailure` if an output is wrong."""
        inputs = self._open_inputs(number)
        self.guest.case_name = inputs.first.case.name
        with self.guest.prioritized():
            self.guest.thaw()
            small, large, layout = self._plan(inputs)
            self.guest.freeze()
            for attempt in range(1, FLOOR_ATTEMPTS + 1):
                windows, reported_ms, reference_ms = self._measure(layout, inputs, small, large)
                result = time_per_call(windows, self.overhead_ms, reference_ms)
                if attempt == FLOOR_ATTEMPTS or not self._is_below_floor(inputs.first, result.median_ms):
                    break
            self.guest.thaw()
        return self._timing(inputs.first, result, windows, reported_ms, reference_ms)

    @property
    def _is_emulated(self) -> bool:
        """Whether a program on the CPU emulates the GPU and its clock."""
        return self.toolchain.simulated and not self.toolchain.counts_cpu_time

    def _open_inputs(self, number: int) -> TimedInputs:
        if isinstance(self.memory, DeviceMemory):
            return MixedInputs(self.request, self.prefetch, number, self.memory)
        return FreshInputs(self.prefetch.case_generator, number, self.memory)

    def _plan(self, inputs: TimedInputs) -> tuple[int, int, BufferLayout]:
        """Choose the number of calls per window by timing a small window, and plan that many slots."""
        fitting = inputs.max_bytes // max(self._layout(inputs, slots=1).slot_stride, 1)
        most = max(MIN_CALLS, min(self._most_calls(inputs), fitting))
        layout = self._plan_slots(inputs, slots=most if inputs.plans_once else 1)
        calls = min(layout.slots, MIN_CALLS, inputs.max_calls or MIN_CALLS)
        self.guest.freeze()
        self._checked_window(layout, inputs, 1)  # touches the memory and warms the caches
        self._measure_copies(layout, calls, EMPTY_ESTIMATE)
        estimate, _ = self._checked_window(layout, inputs, calls)
        estimate = self._without_copies(layout, estimate)
        self.guest.thaw()
        call_ms = max((estimate.time_ms - self.overhead_ms) / estimate.calls, 0.001)
        large = max(MIN_CALLS, min(math.ceil(WINDOW_MS / call_ms), most))
        large = large if inputs.max_calls is None else min(large, inputs.max_calls)
        if layout.slots < large:
            layout = self._plan_slots(inputs, slots=large)
        return max(1, large // SMALL_SHARE), large, layout

    def _most_calls(self, inputs: TimedInputs) -> int:
        if self._is_emulated:
            return EMULATED_CALLS
        return GPU_CALLS if inputs.plans_once else MAX_CALLS

    def _measure(
        self, layout: BufferLayout, inputs: TimedInputs, small: int, large: int
    ) -> tuple[list[Window], list[float], float | None]:
        """Measure pairs of windows until the interval is narrow enough or the budget is used up.

        Disturbed pairs are discarded, unless the machine is too busy for undisturbed ones. In one window,
        which is not timed and is placed at random, host code cannot access device memory. The time of the
        judge's own computation at full speed is returned as well.
        """
        windows: list[Window] = []
        reported_ms: list[float] = []
        protected_pair = secrets.randbelow(MIN_PAIRS)
        with self._fast_cpu() as cpu:
            self._warm_up(layout, inputs, large)
            self._measure_copies(layout, small, EMPTY_SMALL)  # now that the GPU's clock frequency is high
            self._measure_copies(layout, large, EMPTY_LARGE)
            self.toolchain.keep_busy(self.toolchain.warm_up_s)  # its clock has slowed down meanwhile
            budget = self._budget()
            while len(windows) < 2 * MAX_PAIRS:
                pairs = len(windows) // 2
                if pairs == protected_pair:  # not timed: protection costs time
                    self._checked_window(layout, inputs, small, protect=True)
                for calls in (small, large) if pairs % 2 else (large, small):  # a drift cancels
                    window, times_ms = self._checked_window(layout, inputs, calls, cpu=cpu)
                    budget.spend(window)
                    windows.append(self._without_copies(layout, window))
                    reported_ms += times_ms
                if len(windows) >= 2 * MIN_PAIRS and len(windows) // 2 % STEP == 0:
                    reference_ms = _reference_ms(cpu)
                    result = time_per_call(_chosen(windows, reference_ms), self.overhead_ms, reference_ms)
                    if self._is_sufficient(result, budget):
                        break
            reference_ms = _reference_ms(cpu)
        return _chosen(windows, reference_ms), reported_ms, reference_ms

    def _budget(self) -> _Budget:
        if self.toolchain.counts_cpu_time:
            return _Budget(CPU_BUDGET * self.budget_s)
        return _Budget(self.budget_s, self.toolchain.elapsed_s)

    def _is_sufficient(self, result: CallTime, budget: _Budget) -> bool:
        """Return whether the interval is narrow enough for the remaining budget."""
        if self.empty_guest:
            limit = budget.sufficient_width(GPU_TARGET_WIDTH, GPU_ACCEPTABLE_WIDTH, GPU_EXTENSION)
            return result.sampling_width <= limit
        limit = budget.sufficient_width(TARGET_WIDTH, ACCEPTABLE_WIDTH, EXTENSION)
        return relative_width(result.median_ms, result.interval_ms) <= limit

    def _fast_cpu(self) -> AbstractContextManager[FastCpu | None]:
        if self.machine_speed is None:
            return nullcontext()
        return FastCpu(self.machine_speed, self.guest.pin)

    def _warm_up(self, layout: BufferLayout, inputs: TimedInputs, calls: int) -> None:
        """Run a call in every slot; on a GPU, repeat this until its clock frequency is high."""
        start_s = self.toolchain.elapsed_s()
        self._checked_window(layout, inputs, calls)
        if self.toolchain.counts_cpu_time or self.toolchain.keep_busy(self.toolchain.warm_up_s):
            return
        while self.toolchain.elapsed_s() - start_s < self.toolchain.warm_up_s:
            self._checked_window(layout, inputs, calls)

    def _layout(self, inputs: TimedInputs, slots: int) -> BufferLayout:
        request = self.request
        return BufferLayout(
            request.problem,
            inputs.first.case,
            request.dtype,
            self.toolchain.guards,
            inputs.first.inputs,
            slots=slots,
            file_slots=1 if inputs.plans_once else slots,
            shared=self.toolchain.shared_memory,
        )

    def _plan_slots(self, inputs: TimedInputs, slots: int) -> BufferLayout:
        layout = self._layout(inputs, slots)
        plan = inputs.plan(layout)
        self.guest.plan(layout, plan)
        if self.empty_guest:
            self.empty_guest.thaw()
            self.empty_guest.plan(layout, plan)
            self.empty_guest.freeze()
        return layout

    def _checked_window(
        self,
        layout: BufferLayout,
        inputs: TimedInputs,
        calls: int,
        *,
        protect: bool = False,
        cpu: FastCpu | None = None,
    ) -> tuple[Window, tuple[float, ...]]:
        """Measure calls with inputs that no other call had, and verify the outputs."""
        inputs.fill(layout, calls)
        before_ms = cpu.settle() if cpu else None
        window, answer = self.guest.window(
            calls, self.memory, protect=protect, by_cpu_time=self.toolchain.counts_cpu_time
        )
        if cpu and before_ms:
            window = _with_reference(window, cpu, before_ms)
        if self._is_emulated:  # a busy CPU does not disturb the time that counts
            window = replace(window, waited_ms=None, load=None)
        inputs.check(layout, answer)
        if answer.launches is not None and answer.launches < calls:
            raise _host_code(inputs.first, answer.launches, calls)
        return window, answer.times_ms

    def _measure_copies(self, layout: BufferLayout, calls: int, count: int) -> None:
        """Measure windows with an empty guest and this many calls, if copies are part of windows."""
        if self.empty_guest is None:
            return
        count = min(count, EMPTY_ESTIMATE) if self._is_emulated else count  # virtual time has no noise
        windows = [
            self.empty_guest.window(calls, self.memory, by_cpu_time=False)[0].wall_ms for _ in range(count)
        ]
        self.empty_times[layout, calls] = sorted(windows)[count // 2]

    def _without_copies(self, layout: BufferLayout, window: Window) -> Window:
        """Subtract the time of the same window with an empty guest, if copies are part of it."""
        if self.empty_guest is None:
            return window
        empty_ms = self.empty_times[layout, window.calls]
        return replace(window, time_ms=max(window.wall_ms - empty_ms, 0.0), empty_ms=empty_ms)

    def _floor_ms(self, case_data: CaseData) -> float | None:
        """Return the shortest possible time of a case; None if the GPU is simulated."""
        if self.toolchain.simulated:
            return None
        return self.request.problem.floor_ms(case_data.case, self.request.dtype, self.toolchain.gpu)

    def _is_below_floor(self, case_data: CaseData, ms: float) -> bool:
        floor_ms = self._floor_ms(case_data)
        return floor_ms is not None and ms < floor_ms

    def _timing(
        self,
        case_data: CaseData,
        result: CallTime,
        windows: list[Window],
        reported_ms: list[float],
        reference_ms: float | None,
    ) -> Timing:
        problem, dtype = self.request.problem, self.request.dtype
        flops, moved = problem.flops(case_data.case), problem.bytes_moved(case_data.case, dtype)
        floor_ms = self._floor_ms(case_data)
        ms = result.median_ms
        if floor_ms is not None and self._is_below_floor(case_data, ms):
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
            note=_note(result, windows, reference_ms),
            windows=tuple(windows),
            overhead_ms=self.overhead_ms,
            reference_ms=reference_ms,
            noisy=result.noisy,
            discarded_windows=discarded,
            missing_guarantees=self.memory.missing_guarantees,
            self_reported_ms=sorted(reported_ms)[len(reported_ms) // 2],
        )


class _Budget:
    """The CPU time of this thread and of the guest, so that a busy machine does not shorten a measurement.

    On a GPU it counts elapsed time, because the GPU works while judge and guest wait.
    """

    def __init__(self, budget_s: float, elapsed_s: Callable[[], float] | None = None) -> None:
        self._budget_s = budget_s
        self._spent_s = 0.0
        self._counts_windows = elapsed_s is None
        self._now_s = elapsed_s or time.thread_time
        self._start_s = self._now_s()

    def spend(self, window: Window) -> None:
        """Count CPU time that the guest used."""
        if self._counts_windows:
            self._spent_s += window.time_ms / 1e3

    def sufficient_width(self, target: float, acceptable: float, extension: float) -> float:
        """Return how narrow the interval must be to stop now."""
        spent_s = self._spent_s + self._now_s() - self._start_s
        if spent_s < self._budget_s:
            return target
        return acceptable if spent_s < extension * self._budget_s else math.inf


def _reference_ms(cpu: FastCpu | None) -> float | None:
    """Return the time of the judge's own computation at full speed, if known."""
    return cpu.fastest_ms if cpu else None


def _with_reference(window: Window, cpu: FastCpu, before_ms: float) -> Window:
    """Add the CPU's speed, measured next to this window, and leave a CPU that other processes use."""
    reference_ms = (before_ms + (cpu.measure() or before_ms)) / 2
    if _waited(window):
        cpu.move()
    return replace(window, reference_ms=reference_ms)


def _chosen(windows: list[Window], reference_ms: float | None) -> list[Window]:
    """Mark the disturbed windows as discarded, if enough others remain."""
    for limit_ms in _reference_limits_ms(windows, reference_ms):
        marked = [
            replace(window, discarded=_waited(window) or (window.reference_ms or 0.0) > limit_ms)
            for window in windows
        ]
        if len(kept_pairs(marked)) >= MIN_PAIRS:
            return marked
    return windows


def _reference_limits_ms(windows: list[Window], reference_ms: float | None) -> list[float]:
    """Return limits on the time of the computation beside a window, in the order in which they are tried.

    A window above the limit does not count. If the machine is slower than usual most of the time, windows at
    its usual speed are preferred.
    """
    now_ms = typical_ms(window.reference_ms for window in windows if window.reference_ms)
    if now_ms is None or reference_ms is None:
        return [math.inf]
    return [slowest_accepted_ms(now_ms, reference_ms), slowest_accepted_ms(now_ms, now_ms)]


def _waited(window: Window) -> bool:
    return (window.waited_ms or 0.0) > DISTURBED * window.time_ms


def _note(result: CallTime, windows: list[Window], reference_ms: float | None) -> str:
    """Describe anything unusual about how the time was measured."""
    notes = []
    slower = slowdown(windows, reference_ms)
    if slower > SLOWDOWN_NOTED:
        notes.append(
            f"The machine itself was {slower:.0%} slower than shortly before: a lower clock frequency, or "
            "another VM on its host. The time is scaled to its full speed, and the interval is wider."
        )
    elif result.noisy:
        notes.append("The machine was busy: the interval is wide. Repeat the measurement on a quiet machine.")
    discarded = [window for window in windows if window.discarded]
    waited = sum(_waited(window) for window in discarded)
    slowed = len(discarded) - waited
    reasons = [f"{waited} had to wait for a CPU"] * bool(waited)
    reasons += [f"{slowed} ran on a CPU below its full speed"] * bool(slowed)
    if reasons:
        notes.append(f"{len(discarded)} of {len(windows)} windows were left out: {', '.join(reasons)}.")
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
        hint="If the kernel does all the work, the problem miscounts its bytes or operations: report it.",
        case=case_data.case.name,
    )
