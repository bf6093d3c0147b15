"""Compile, check and time one request, and yield its events.

A kernel that fails raises `KernelFailure`; `judge.py` turns exceptions into verdicts.
"""

from __future__ import annotations

import functools
import logging
import time
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from warmfront.errors import GpuFailed
from warmfront.events import (
    Accepted,
    Benchmarked,
    Benchmarking,
    BenchmarkResult,
    CaseResult,
    Checked,
    Checking,
    Compiling,
    Event,
    Failed,
    FailedCase,
    TestResult,
    Timing,
)
from warmfront.hip.device_facts import confirm_device
from warmfront.hip.fidelity import assess_fidelity
from warmfront.hip.scratch import ScratchProblem
from warmfront.hip.toolchain import DATA_FILE, LIBRARY_FILE
from warmfront.judge import compilation
from warmfront.judge.bug_finder import (
    EXPLAINABLE,
    QUICK,
    THOROUGH,
    BugFinderRun,
    BugReport,
    choose_cases,
    explain,
    failure_for,
)
from warmfront.judge.case_data import CaseData, CaseGenerator, CasePrefetcher, ExpectedOutputs
from warmfront.judge.case_memory import CaseMemory, CopiedMemory, DeviceMemory, FileMemory
from warmfront.judge.compile_jobs import CompileJobs
from warmfront.judge.gpu_recheck import check_after_failure, clear_after_run
from warmfront.judge.guest import GuestProcess
from warmfront.judge.kernel_failure import KernelFailure
from warmfront.judge.receipt_facts import receipt_facts
from warmfront.verdicts import Endpoint, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from warmfront.events import BufferValues, Receipt
    from warmfront.hip.device_facts import DeviceFacts
    from warmfront.hip.toolchain import Toolchain
    from warmfront.judge.box_messages import RunAnswer
    from warmfront.judge.buffer_layout import BufferLayout
    from warmfront.judge.cancellation import CancellationToken
    from warmfront.judge_request import JudgeRequest
    from warmfront.sandbox.base import Box, Sandbox
    from warmfront.settings import Settings

log = logging.getLogger(__name__)

#: Windows without work; their median is the judge's own overhead.
OVERHEAD_WINDOWS = 5


class JudgeRun:
    """One request being judged, from source to verdict."""

    def __init__(
        self,
        request: JudgeRequest,
        toolchain: Toolchain,
        sandbox: Sandbox,
        settings: Settings,
        *,
        thorough: bool,
        cancellation: CancellationToken,
        before_timing: Callable[[], object] | None = None,
    ) -> None:
        self._request = request
        self._toolchain = toolchain
        self._sandbox = sandbox
        self._cancellation = cancellation
        self._settings = settings
        self._bug_finder_limits = THOROUGH if thorough else QUICK
        self._before_timing = before_timing or (lambda: None)
        self._bug_finder: BugFinderRun | None = None
        self._bug_report = BugReport()
        self._results: list[CaseResult] = []
        self._failures: list[FailedCase] = []
        self._last_failure: KernelFailure | None = None
        self._total = 0
        self._empty_guest: GuestProcess | None = None  # measures the copies of a harness
        self._device: DeviceFacts | None = None  # as the HIP runtime of the harness describes it
        self._buffers: tuple[BufferValues, ...] = ()  # of a scratch kernel
        self._launches: int | None = None  # None: the toolchain cannot count them
        self._started = time.perf_counter()

    @property
    def is_cancelled(self) -> bool:
        """Whether another thread cancelled this run."""
        return self._cancellation.is_cancelled

    def add_progress(self, event: Failed) -> Failed:
        """Return the failure with the number of cases that passed before it."""
        details = {**event.details, "simulated": self._toolchain.simulated, **self._fidelity}
        if self._total:
            details |= {"passed_tests": self._passed, "total_tests": self._total}
        if self._request.all_cases:
            details |= {"failed_cases": self._failures}
        return Failed(
            verdict=event.verdict, code=event.code, message=event.message, hint=event.hint, details=details
        )

    @functools.cached_property
    def _fidelity(self) -> dict[str, str]:
        """The fields of a verdict that say whether a GPU computes the same bits; none on a GPU."""
        if not self._toolchain.simulated:
            return {}
        fidelity = assess_fidelity(self._request.source)
        return {"fidelity": str(fidelity.level), "fidelity_reason": fidelity.reason}

    def events(
        self, run_slot: AbstractContextManager[object], compile_jobs: CompileJobs | None
    ) -> Iterator[Event]:
        """Compile, check and time; yield the events. Raises `KernelFailure` if the kernel fails."""
        toolchain, sandbox, settings = self._toolchain, self._sandbox, self._settings
        compile_jobs = compile_jobs or self._start_compile_jobs()
        with ExitStack() as slot_stack, ExitStack() as stack:
            stack.callback(clear_after_run, toolchain)  # called last, when all boxes are destroyed
            stack.callback(compile_jobs.close)
            # While the compiler works, prepare everything that does not depend on its result.
            scale = toolchain.scale
            case_generator = CaseGenerator(self._request, scale)
            prefetch = CasePrefetcher(case_generator, base_sets=self._mixes_inputs)
            stack.callback(prefetch.stop)
            self._start_bug_finder(case_generator, compile_jobs, stack)
            if self._bug_finder:
                self._cancellation.on_cancel(self._bug_finder.stop)
            run_template = toolchain.run_template(settings)
            sandbox.prepare(run_template)
            yield Compiling(
                compiler=toolchain.compiler,
                toolchain=toolchain.name,
                sandbox=sandbox.name,
                seed_commitment=case_generator.seed.commitment,
            )
            job = compile_jobs.primary.result()
            compiled = compilation.finish(
                job,
                self._request,
                toolchain,
                compile_jobs.translated,
                limit_bytes=settings.library_bytes,
            )
            job.box.destroy()
            slot_stack.enter_context(run_slot)
            self._total = len(case_generator.cases)
            yield Checking(total_tests=self._total, compile_s=compiled.seconds)
            box, guest = self._start_guest(compiled, stack)
            memory = self._open_memory(guest, box, stack)
            overhead_ms = self._measure_overhead(guest)
            try:
                guest.load()
                yield from self._check(prefetch, guest, memory)
                self._finish_bug_finder()
                yield from self._conclude(prefetch, guest, memory, compiled, overhead_ms)
            except KernelFailure as failure:
                explained = failure.with_details(**self._output_details(guest, failure))
                stack.close()  # a hanging kernel must have ended before the GPU is checked
                check_after_failure(self._last_failure or failure, toolchain, sandbox, settings)
                raise explained from None

    @property
    def _mixes_inputs(self) -> bool:
        """Whether there are timed calls whose inputs a harness mixes from base sets."""
        return not self._toolchain.shared_memory and self._request.endpoint is not Endpoint.CHECKER

    def _start_compile_jobs(self) -> CompileJobs:
        self._cancellation.raise_if_cancelled()
        translated = compilation.translate(self._request, self._toolchain)
        thorough = self._bug_finder_limits is THOROUGH
        return CompileJobs(
            lambda: translated, self._toolchain, self._sandbox, self._settings, thorough=thorough
        )

    def _start_guest(
        self, compiled: compilation.CompiledLibrary, stack: ExitStack
    ) -> tuple[Box, GuestProcess]:
        """Start the guest in the run box.

        On a GPU, check that the device works before submitted code is loaded.
        """
        try:
            return self._take_run_box(compiled, stack)
        except GpuFailed as error:  # a GPU reset ends every waiting box, so a new one may work
            log.warning("a guest failed before it was used (%s); starting another one", error.message)
            return self._take_run_box(compiled, stack)

    def _take_run_box(
        self, compiled: compilation.CompiledLibrary, stack: ExitStack
    ) -> tuple[Box, GuestProcess]:
        box = stack.enter_context(self._sandbox.take(self._toolchain.run_template(self._settings)))
        (box.folder / LIBRARY_FILE).write_bytes(compiled.library)
        box.go()
        guest = self._open_guest(box)
        if not self._toolchain.shared_memory:
            guest.check_device()
        return box, guest

    def _open_memory(self, guest: GuestProcess, box: Box, stack: ExitStack) -> CaseMemory:
        """Return the memory of the cases: the data file on the CPU runtime, otherwise memory of a harness."""
        toolchain = self._toolchain
        if toolchain.shared_memory:
            return FileMemory(box.folder / DATA_FILE)
        harness_box = stack.enter_context(self._sandbox.take(toolchain.harness_template(self._settings)))
        harness_box.go()
        memory = DeviceMemory(harness_box, flush_bytes=toolchain.flush_bytes)
        self._device = confirm_device(memory.describe_device(), toolchain.device)
        if memory.is_open_in(guest):
            empty_box = stack.enter_context(self._sandbox.take(toolchain.run_template(self._settings)))
            empty_box.go()
            self._empty_guest = self._open_guest(empty_box)
            return memory
        return CopiedMemory(box.folder / DATA_FILE, guest)

    def _open_guest(self, box: Box) -> GuestProcess:
        return GuestProcess(
            box, case_timeout_s=self._settings.case_timeout_s, elapsed_s=self._toolchain.elapsed_s
        )

    def _measure_overhead(self, guest: GuestProcess) -> float:
        """Return the time of a window without any work, before submitted code is loaded.

        If there is an empty guest, it measures the overhead including the copies.
        """
        if self._request.endpoint is Endpoint.CHECKER or self._empty_guest:
            return 0.0
        by_cpu_time = self._toolchain.counts_cpu_time
        windows = [guest.empty_window(by_cpu_time=by_cpu_time) for _ in range(OVERHEAD_WINDOWS)]
        return sorted(window.time_ms for window in windows)[OVERHEAD_WINDOWS // 2]

    def _output_details(self, guest: GuestProcess, failure: KernelFailure) -> dict[str, object]:
        """Return the program's output and buffers, for the details of a failure."""
        is_hanging = failure.event.verdict is Verdict.TIME_LIMIT_EXCEEDED
        outputs = guest.outputs(patience_s=0.0) if is_hanging else guest.outputs()
        details: dict[str, object] = {"buffers": self._buffers} if self._buffers else {}
        if outputs:
            details |= {"output": "".join(outputs.values()), "output_by_case": outputs}
        return details

    def _check(self, prefetch: CasePrefetcher, guest: GuestProcess, memory: CaseMemory) -> Iterator[Event]:
        first: tuple[KernelFailure, CaseData] | None = None
        for case_data in prefetch:
            result = CaseResult(
                test_id=case_data.number,
                name=case_data.case.name,
                status="PASSED",
                hidden=case_data.hidden,
                own=case_data.own,
            )
            try:
                self._run_case(case_data, guest, memory)
            except KernelFailure as failure:
                self._cancellation.raise_if_cancelled()  # the box was destroyed; the kernel did not fail
                failed = replace(result, status="FAILED")
                yield TestResult(result=failed, total_tests=self._total)
                first = first or (failure, case_data)
                self._record_failure(failed, failure)
                if self._continues_after(failure):
                    continue
                break
            if self._bug_finder:
                self._bug_finder.offer(case_data)
            self._results.append(result)
            yield TestResult(result=result, total_tests=self._total)
        if first is not None:
            raise self._explain(*first) from None
        if self._launches == 0:
            raise KernelFailure(
                Verdict.RUNTIME_ERROR,
                "NO_KERNEL_LAUNCHED",
                "Every output is correct, but no kernel was launched: the outputs were computed on the host.",
                hint="Do the work in a __global__ function, launched from solution().",
            )

    def _continues_after(self, failure: KernelFailure) -> bool:
        """Return whether the next case is checked: after a wrong answer, the program can still be called."""
        return self._request.all_cases and failure.event.verdict is Verdict.WRONG_ANSWER

    def _record_failure(self, result: CaseResult, failure: KernelFailure) -> None:
        self._last_failure = failure
        self._failures.append(
            FailedCase(
                test_id=result.test_id,
                name=result.name,
                code=failure.event.code,
                message=failure.event.message,
                output_name=failure.event.details.get("output_name", ""),
                debug_info=failure.event.details.get("debug_info"),
            )
        )

    def _start_bug_finder(
        self, case_generator: CaseGenerator, compile_jobs: CompileJobs, stack: ExitStack
    ) -> None:
        """Start the bug finder, with its own build, unless it is disabled or unavailable."""
        is_enabled = self._settings.bug_finder or self._bug_finder_limits is THOROUGH
        if self._toolchain.checked_build is None or not is_enabled:
            return
        self._bug_finder = BugFinderRun(
            request=self._request,
            build=self._toolchain.checked_build,
            guards=self._toolchain.guards,
            sandbox=self._sandbox,
            settings=self._settings,
            limits=self._bug_finder_limits,
            chosen=choose_cases(self._request, case_generator.cases, self._bug_finder_limits),
        )
        self._bug_finder.start(compile_jobs.checked)
        stack.callback(self._bug_finder.stop)

    def _finish_bug_finder(self) -> None:
        """Fail a kernel with correct outputs if the bug finder reports an error."""
        if self._bug_finder is None:
            return
        self._bug_report = self._bug_finder.finish()
        if self._bug_report.errors:
            raise failure_for(self._bug_report)

    def _explain(self, failure: KernelFailure, case_data: CaseData) -> KernelFailure:
        """Return the failure with the cause that the bug finder reports."""
        if self._bug_finder is None or failure.event.verdict not in EXPLAINABLE:
            return failure
        self._bug_finder.offer(case_data, failed=True)
        return explain(failure, self._bug_finder.finish())

    def _run_case(self, case_data: CaseData, guest: GuestProcess, memory: CaseMemory) -> None:
        """Run one case; raise `KernelFailure` if its result is wrong."""
        # These modules need NumPy, which is loaded while the compiler runs.
        from warmfront.judge.buffer_layout import BufferLayout  # noqa: PLC0415

        request = self._request
        layout = BufferLayout(
            request.problem,
            case_data.case,
            request.dtype,
            self._toolchain.guards,
            case_data.inputs,
            shared=self._toolchain.shared_memory,
        )
        guest.case_name = case_data.case.name
        guest.plan(layout, memory.plan(layout))
        memory.fill(layout, [case_data.inputs])
        memory.reveal(1)
        answer = guest.run(protect=True, shows_output=not case_data.hidden)
        memory.save(1)
        self._check_outputs(case_data, layout, memory, answer)
        self._read_buffers(layout, memory)
        # A case of one element may need no kernel; all cases together do.
        self._launches = None if answer.launches is None else (self._launches or 0) + answer.launches
        _reject_running_threads(case_data, answer)

    def _check_outputs(
        self, case_data: CaseData, layout: BufferLayout, memory: CaseMemory, answer: RunAnswer
    ) -> None:
        """Check a call.

        The harness checks large outputs; the host checks the rest, and everything that the harness rejects.
        """
        from warmfront.judge.timed_inputs import check_slot  # noqa: PLC0415 - NumPy, as above

        problem = self._request.problem
        is_large = isinstance(case_data.expected, ExpectedOutputs)
        if is_large and isinstance(memory, DeviceMemory) and memory.has_reference(problem):
            [is_right] = memory.verify(problem, case_data.case, [case_data.tolerance])
            if is_right:
                return
        check_slot(case_data, layout, memory, answer)

    def _read_buffers(self, layout: BufferLayout, memory: CaseMemory) -> None:
        """Store the outputs of a scratch kernel, which are shown instead of compared."""
        problem = self._request.problem
        if not isinstance(problem, ScratchProblem):
            return
        outputs = [
            (region, layout.read(memory.data_file, region)) for region in layout.regions if region.output
        ]
        self._buffers = tuple(
            problem.describe_buffer(region.name, region.elements(raw), layout.count_unwritten(region, raw))
            for region, raw in outputs
        )

    def _conclude(
        self,
        prefetch: CasePrefetcher,
        guest: GuestProcess,
        memory: CaseMemory,
        compiled: compilation.CompiledLibrary,
        overhead_ms: float,
    ) -> Iterator[Event]:
        """Yield the events after a successful check; time the kernel if the endpoint requires it."""
        simulated = self._toolchain.simulated
        if self._request.endpoint is Endpoint.CHECKER:
            yield self._checked(guest.outputs())
            return
        yield self._checked({})
        timings: list[Timing] = []
        self._before_timing()
        yield from self._benchmark(prefetch, guest, memory, timings, overhead_ms)
        outputs = guest.outputs()
        output = "".join(outputs.values())
        average_ms, average_ci, average_gflops = _averages(timings)
        noisy = any(timing.noisy for timing in timings)
        if self._request.endpoint is Endpoint.BENCHMARK:
            yield Benchmarked(
                test_results=tuple(timings),
                avg_runtime_ms=average_ms,
                avg_gflops=average_gflops,
                avg_ci=average_ci,
                noisy=noisy,
                simulated=simulated,
                output=output,
                warnings=self._bug_report.findings,
                bug_finder=self._bug_report.note,
                **self._fidelity,
            )
            return
        yield Accepted(
            test_results=self._results_with(outputs),
            benchmark_results=tuple(timings),
            avg_runtime_ms=average_ms,
            avg_gflops=average_gflops,
            avg_ci=average_ci,
            noisy=noisy,
            simulated=simulated,
            cost_usd=0.0,
            receipt=self._receipt(compiled, prefetch.case_generator),
            output=output,
            passed_tests=self._passed,
            total_tests=self._total,
            warnings=self._bug_report.findings,
            bug_finder=self._bug_report.note,
            **self._fidelity,
        )

    def _results_with(self, outputs: dict[str, str]) -> tuple[CaseResult, ...]:
        """Return the results of all cases, each with the program's output during the case."""
        return tuple(replace(result, output=outputs.get(result.name, "")) for result in self._results)

    def _checked(self, outputs: dict[str, str]) -> Checked:
        return Checked(
            test_results=self._results_with(outputs),
            passed_tests=self._passed,
            total_tests=self._total,
            simulated=self._toolchain.simulated,
            output="".join(outputs.values()),
            warnings=self._bug_report.findings,
            bug_finder=self._bug_report.note,
            buffers=self._buffers,
            **self._fidelity,
        )

    def _benchmark(
        self,
        prefetch: CasePrefetcher,
        guest: GuestProcess,
        memory: CaseMemory,
        timings: list[Timing],
        overhead_ms: float,
    ) -> Iterator[Event]:
        # Not needed by the checker endpoint.
        from warmfront.judge.case_timer import CaseTimer  # noqa: PLC0415
        from warmfront.judge.machine_speed import MachineSpeed  # noqa: PLC0415

        timed = prefetch.case_generator.timed_numbers
        timer = CaseTimer(
            request=self._request,
            toolchain=self._toolchain,
            guest=guest,
            memory=memory,
            empty_guest=self._empty_guest,
            prefetch=prefetch,
            budget_s=self._settings.bench_budget_s,
            overhead_ms=overhead_ms,
            machine_speed=MachineSpeed(self._settings.cache_dir / "machine-speed")
            if self._toolchain.counts_cpu_time
            else None,
        )
        yield Benchmarking(total_tests=len(timed))
        for number in timed:
            timings.append(timer.time(number))
            yield BenchmarkResult(
                result=timings[-1], total_tests=len(timed), simulated=self._toolchain.simulated
            )

    def _receipt(self, compiled: compilation.CompiledLibrary, case_generator: CaseGenerator) -> Receipt:
        return receipt_facts(
            self._request,
            self._toolchain,
            self._sandbox,
            compiled,
            case_generator,
            total_s=time.perf_counter() - self._started,
            device=self._device,
        )

    @property
    def _passed(self) -> int:
        return len(self._results)


def _reject_running_threads(case_data: CaseData, run_answer: RunAnswer) -> None:
    if run_answer.left_threads > 0:
        raise KernelFailure(
            Verdict.RUNTIME_ERROR,
            "THREAD_LEFT_RUNNING",
            f"{case_data.title}: {run_answer.left_threads} thread(s) still running after solution() "
            "returned.",
            hint="Join every thread that you start: work after the return is not timed.",
            case=case_data.case.name,
        )


def _averages(timings: list[Timing]) -> tuple[float, tuple[float, float], float | None]:
    """Return the average time, its interval and the average FLOP/s of the timed cases."""
    from warmfront.judge.statistics import geometric_mean, mean_interval  # noqa: PLC0415 - NumPy

    gflops = [timing.gflops for timing in timings if timing.gflops is not None]
    average_ms = geometric_mean([timing.runtime_ms for timing in timings])
    interval_ms = mean_interval([timing.ci for timing in timings])
    return average_ms, interval_ms, geometric_mean(gflops) if gflops else None
