"""The judge: compile in one box, run in another, compare outside both; yields events, the verdict last.

Whatever the submitted code does, exactly one terminal event comes, both boxes are gone afterwards, and
what went wrong in Warmfront itself is told apart as ERROR.
"""

from __future__ import annotations

import hashlib
import logging
import time
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import TYPE_CHECKING

from warmfront import __version__
from warmfront.errors import WarmfrontError
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
    TestResult,
    Timing,
)
from warmfront.hip.toolchain import DATA_FILE, LIBRARY_FILE
from warmfront.judge import compilation
from warmfront.judge.bug_finder import (
    EXPLAINED,
    QUICK,
    THOROUGH,
    BugFinderRun,
    BugReport,
    choose_cases,
    explain,
    rejection_for,
)
from warmfront.judge.cancellation import CancellableSandbox, CancellationToken, cancelled_event
from warmfront.judge.case_data import PREFETCH_COUNT, CaseData, CaseGenerator, CasePrefetcher, scale_for
from warmfront.judge.compile_jobs import CompileJobs
from warmfront.judge.guest import GuestProcess
from warmfront.judge.kernel_failure import KernelFailure
from warmfront.verdicts import Endpoint, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warmfront.hip.toolchain import Toolchain
    from warmfront.judge.guest import RunReport
    from warmfront.judge_request import JudgeRequest
    from warmfront.sandbox.base import Box, Sandbox
    from warmfront.settings import Settings

log = logging.getLogger(__name__)


class Judge:
    """Judges submissions with one toolchain in one kind of sandbox."""

    def __init__(self, toolchain: Toolchain, sandbox: Sandbox, settings: Settings) -> None:
        self._toolchain = toolchain
        self._sandbox = sandbox
        self._settings = settings

    def judge(
        self,
        submission: JudgeRequest,
        *,
        thorough: bool = False,
        turn: AbstractContextManager[object] | None = None,
        stop: CancellationToken | None = None,
        builds: CompileJobs | None = None,
    ) -> Iterator[Event]:
        """The events of one submission, ending with its verdict; `thorough` is for the bug finder.

        `turn` is entered when it is compiled and left when nothing of it runs any more. Another thread
        may end it all by `stop`: the verdict is then CANCELLED, unless there was one before. `builds` are
        its compilers where they are at work already, in boxes that `stop` does not know.
        """
        stop = stop or CancellationToken()
        sandbox = CancellableSandbox(self._sandbox, stop)
        trial = _Trial(submission, self._toolchain, sandbox, self._settings, thorough=thorough, stop=stop)
        for event in self._judged(trial, trial.events(turn or nullcontext(), builds), stop):
            yield cancelled_event() if isinstance(event, Failed) and stop.is_cancelled else event

    def _judged(self, trial: _Trial, events: Iterator[Event], stop: CancellationToken) -> Iterator[Event]:
        try:
            yield from events
        except KernelFailure as rejected:
            yield trial.complete(rejected.event)
        except WarmfrontError as error:
            yield Failed.of(error)
        except Exception as error:  # the process edge of the judge: every submission gets a verdict
            if not stop.is_cancelled:
                log.exception("the judge failed")
            yield Failed(
                verdict=Verdict.ERROR,
                code="INTERNAL",
                message=f"The judge failed: {type(error).__name__}: {error}",
                hint="Run it again; if it stays, report it with the source.",
            )


class _Trial:
    """One submission on its way to a verdict."""

    def __init__(
        self,
        submission: JudgeRequest,
        toolchain: Toolchain,
        sandbox: Sandbox,
        settings: Settings,
        *,
        thorough: bool,
        stop: CancellationToken,
    ) -> None:
        self._submission = submission
        self._toolchain = toolchain
        self._sandbox = sandbox
        self._stop = stop
        self._settings = settings
        self._effort = THOROUGH if thorough else QUICK
        self._hunt: BugFinderRun | None = None
        self._hunted = BugReport()
        self._results: list[CaseResult] = []
        self._total = 0
        self._launches: int | None = None  # None: the toolchain cannot tell
        self._started = time.perf_counter()

    def complete(self, event: Failed) -> Failed:
        """The failure with what was passed before it."""
        details = {**event.details, "simulated": self._toolchain.simulated}
        if self._total:
            details |= {"passed_tests": self._passed, "total_tests": self._total}
        return Failed(
            verdict=event.verdict, code=event.code, message=event.message, hint=event.hint, details=details
        )

    def events(self, turn: AbstractContextManager[object], builds: CompileJobs | None) -> Iterator[Event]:
        toolchain, sandbox, settings = self._toolchain, self._sandbox, self._settings
        builds = builds or self._begin_builds()
        with ExitStack() as turns, ExitStack() as stack:
            stack.callback(builds.close)
            # The compiler works; meanwhile everything gets ready that can be ready before it is done.
            scale = scale_for(simulated=toolchain.simulated)
            questions = CaseGenerator(self._submission, scale)
            prefetch = CasePrefetcher(questions, ahead=PREFETCH_COUNT[scale])
            stack.callback(prefetch.stop)
            self._start_hunt(questions, builds, stack)
            if self._hunt:
                self._stop.on_cancel(self._hunt.stop)
            run_template = toolchain.run_template(settings)
            sandbox.prepare(run_template)
            yield Compiling(compiler=toolchain.compiler, toolchain=toolchain.name, sandbox=sandbox.name)
            build = builds.judged.result()
            compiled = compilation.finish(build, self._submission, toolchain, builds.translated)
            build.box.destroy()
            turns.enter_context(turn)
            self._total = len(questions.cases)
            yield Checking(total_tests=self._total, compile_s=compiled.seconds)
            box = stack.enter_context(sandbox.take(run_template))
            (box.folder / LIBRARY_FILE).write_bytes(compiled.library)
            box.go()
            worker = GuestProcess(box, case_timeout_s=settings.case_timeout_s)
            worker.load()
            yield from self._check(prefetch, worker, box)
            self._finish_hunt()
            yield from self._conclude(questions, worker, box, compiled)

    def _begin_builds(self) -> CompileJobs:
        self._stop.raise_if_cancelled()
        translated = compilation.translate(self._submission, self._toolchain)
        thorough = self._effort is THOROUGH
        return CompileJobs(translated, self._toolchain, self._sandbox, self._settings, thorough=thorough)

    def _check(self, prefetch: CasePrefetcher, worker: GuestProcess, box: Box) -> Iterator[Event]:
        for question in prefetch:
            result = CaseResult(test_id=question.number, name=question.case.name, status="PASSED")
            try:
                self._ask(question, worker, box)
            except KernelFailure as rejected:
                self._stop.raise_if_cancelled()  # a box that was taken away says nothing about the case
                failed = CaseResult(test_id=question.number, name=question.case.name, status="FAILED")
                yield TestResult(result=failed, total_tests=self._total)
                raise self._explained(rejected, question) from None
            if self._hunt:
                self._hunt.offer(question)
            self._results.append(result)
            yield TestResult(result=result, total_tests=self._total)
        if self._launches == 0:
            raise KernelFailure(
                Verdict.RUNTIME_ERROR,
                "NO_KERNEL_LAUNCHED",
                "Every output is right, but computed on the host: no kernel was launched.",
                hint="Do the work in a __global__ function, launched from solution().",
            )

    def _start_hunt(self, questions: CaseGenerator, builds: CompileJobs, stack: ExitStack) -> None:
        """The bug finder gets a build of its own, beside ours."""
        wanted = self._settings.bug_finder or self._effort is THOROUGH
        if self._toolchain.checked is None or not wanted:
            return
        self._hunt = BugFinderRun(
            submission=self._submission,
            build=self._toolchain.checked,
            guards=self._toolchain.guards,
            sandbox=self._sandbox,
            settings=self._settings,
            effort=self._effort,
            chosen=choose_cases(self._submission, questions.cases, self._effort),
        )
        self._hunt.start(builds.checked)
        stack.callback(self._hunt.stop)

    def _finish_hunt(self) -> None:
        """Every answer is right: refuse it still for what is wrong in any case."""
        if self._hunt is None:
            return
        self._hunted = self._hunt.finish()
        if self._hunted.errors:
            raise rejection_for(self._hunted)

    def _explained(self, rejected: KernelFailure, question: CaseData) -> KernelFailure:
        """The rejection with what the bug finder knows about its cause."""
        if self._hunt is None or rejected.event.verdict not in EXPLAINED:
            return rejected
        self._hunt.offer(question, failed=True)
        return explain(rejected, self._hunt.finish())

    def _ask(self, question: CaseData, worker: GuestProcess, box: Box) -> None:
        """Put one question and refuse a wrong answer."""
        from warmfront.judge.buffer_layout import BufferLayout  # noqa: PLC0415 - as above
        from warmfront.judge.output_check import check_call  # noqa: PLC0415 - NumPy, loaded while the compiler ran

        submission = self._submission
        layout = BufferLayout(
            submission.problem, question.case, submission.dtype, self._toolchain.guards, question.inputs
        )
        data = box.folder / DATA_FILE
        layout.write(data, [question.inputs])
        worker.case_name = question.case.name
        worker.plan(layout)
        ran = worker.run(protect=True)
        check_call(question, layout, data, ran=ran)
        # A case of one element may need no kernel; a whole check does.
        self._launches = None if ran.launches is None else (self._launches or 0) + ran.launches
        _refuse_left_threads(question, ran)

    def _conclude(
        self, questions: CaseGenerator, worker: GuestProcess, box: Box, compiled: compilation.CompiledLibrary
    ) -> Iterator[Event]:
        """After the check: end here, or time the kernel as well."""
        results, simulated = tuple(self._results), self._toolchain.simulated
        if self._submission.endpoint is Endpoint.CHECKER:
            output = worker.quit()
            yield self._checked(output)
            return
        yield self._checked()
        timings: list[Timing] = []
        yield from self._benchmark(questions, worker, box, timings)
        output = worker.quit()
        average_ms, average_gflops = _averages(timings)
        if self._submission.endpoint is Endpoint.BENCHMARK:
            yield Benchmarked(
                test_results=tuple(timings),
                avg_runtime_ms=average_ms,
                avg_gflops=average_gflops,
                simulated=simulated,
                output=output,
                warnings=self._hunted.findings,
                bug_finder=self._hunted.note,
            )
            return
        yield Accepted(
            test_results=results,
            benchmark_results=tuple(timings),
            avg_runtime_ms=average_ms,
            avg_gflops=average_gflops,
            simulated=simulated,
            cost_usd=0.0,
            receipt=self._receipt(compiled),
            output=output,
            passed_tests=self._passed,
            total_tests=self._total,
            warnings=self._hunted.findings,
            bug_finder=self._hunted.note,
        )

    def _checked(self, output: str = "") -> Checked:
        return Checked(
            test_results=tuple(self._results),
            passed_tests=self._passed,
            total_tests=self._total,
            simulated=self._toolchain.simulated,
            output=output,
            warnings=self._hunted.findings,
            bug_finder=self._hunted.note,
        )

    def _benchmark(
        self, questions: CaseGenerator, worker: GuestProcess, box: Box, timings: list[Timing]
    ) -> Iterator[Event]:
        from warmfront.judge.case_timer import CaseTimer  # noqa: PLC0415 - only where something is timed

        timed = [number for number, case in enumerate(questions.cases, 1) if case.benchmark]
        bench = CaseTimer(
            submission=self._submission,
            toolchain=self._toolchain,
            worker=worker,
            data=box.folder / DATA_FILE,
            questions=questions,
            budget_s=self._settings.bench_budget_s,
        )
        yield Benchmarking(total_tests=len(timed))
        for number in timed:
            timings.append(bench.time(number))
            yield BenchmarkResult(
                result=timings[-1], total_tests=len(timed), simulated=self._toolchain.simulated
            )

    def _receipt(self, compiled: compilation.CompiledLibrary) -> dict[str, str | float]:
        submission = self._submission
        return {
            "warmfront": __version__,
            "problem": submission.problem.slug,
            "dtype": submission.dtype.value,
            "source_sha256": hashlib.sha256(submission.source.encode()).hexdigest(),
            "toolchain": self._toolchain.name,
            "compiler": self._toolchain.compiler,
            "sandbox": self._sandbox.name,
            "device": "CPU simulator (gfx942 semantics)" if self._toolchain.simulated else "MI300X",
            "compile_s": round(compiled.seconds, 4),
            "total_s": round(time.perf_counter() - self._started, 4),
        }

    @property
    def _passed(self) -> int:
        return len(self._results)


def _refuse_left_threads(question: CaseData, ran: RunReport) -> None:
    if ran.left_threads > 0:
        raise KernelFailure(
            Verdict.RUNTIME_ERROR,
            "THREAD_LEFT_RUNNING",
            f"{question.title}: {ran.left_threads} thread(s) still ran after solution() returned.",
            hint="Join every thread that you start: work after the return is not timed and not allowed.",
            case=question.case.name,
        )


def _averages(timings: list[Timing]) -> tuple[float, float | None]:
    from warmfront.judge.statistics import geometric_mean  # noqa: PLC0415 - NumPy

    gflops = [timing.gflops for timing in timings if timing.gflops is not None]
    return geometric_mean([t.runtime_ms for t in timings]), geometric_mean(gflops) if gflops else None
