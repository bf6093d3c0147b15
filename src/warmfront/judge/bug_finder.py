"""Run the bug finder: a checked build of the submission, on small cases, alongside the judge's own run.

It runs in its own boxes, which a separate thread controls. A failure of the bug finder never fails the check:
the report of an incomplete run says so and contains no errors.
"""

from __future__ import annotations

import logging
import queue
import threading
from dataclasses import field
from enum import Enum, auto
from typing import TYPE_CHECKING

from warmfront.errors import WarmfrontError
from warmfront.hip.cpu.checked_build import FINDINGS_FILE, PLACES_FILE
from warmfront.hip.toolchain import DATA_FILE, LIBRARY_FILE
from warmfront.judge import bug_findings
from warmfront.judge.case_memory import FileMemory
from warmfront.judge.guest import GuestProcess
from warmfront.judge.kernel_failure import KernelFailure
from warmfront.sandbox.base import WALL_S_PER_CPU_S, ExitReason, OutputTooLarge, read_output
from warmfront.value_class import dataclass
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from warmfront.events import Finding
    from warmfront.hip.cpu.checked_build import CheckedBuild
    from warmfront.hip.toolchain import GuardZones
    from warmfront.judge.case_data import CaseData
    from warmfront.judge.compile_jobs import CompileJob
    from warmfront.judge_request import JudgeRequest
    from warmfront.problems.spec import Case
    from warmfront.sandbox.base import Box, Sandbox, Template
    from warmfront.settings import Settings

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class BugFinderLimits:
    """The limits of the bug finder for one submission."""

    max_cases: int
    max_work: int  #: operations plus 4-byte words of one case
    max_steps: int  #: memory accesses and waits, of all cases together
    cpu_s: float  #: CPU time of all cases together


#: For every check; this takes a few hundredths of a second.
QUICK = BugFinderLimits(max_cases=4, max_work=100_000, max_steps=1_200_000, cpu_s=1.0)
#: For the case with which a quick check failed: its author waits for the cause, and nothing else is left.
FAILED_CASE = BugFinderLimits(max_cases=1, max_work=100_000_000, max_steps=40_000_000, cpu_s=4.0)
#: For a thorough check, on request.
THOROUGH = BugFinderLimits(max_cases=1000, max_work=100_000_000, max_steps=10**12, cpu_s=60.0)


#: The note in a verdict when the bug finder reached a limit.
UNFINISHED = "The bug finder reached its limits before it finished; a thorough check has higher limits."


class _CaseOutcome(Enum):
    """The outcome of one case."""

    CORRECT = auto()
    WRONG = auto()
    FAULT = auto()  #: the kernel ended the process
    LIMIT = auto()  #: a limit of the bug finder ended it


@dataclass(frozen=True, kw_only=True)
class BugReport:
    """The result of the bug finder for one submission."""

    findings: tuple[Finding, ...] = ()
    cases: int = 0  #: number of cases that ran to completion
    note: str = ""  #: why the report is incomplete; empty if it is complete

    @property
    def errors(self) -> list[Finding]:
        """The findings that are certainly bugs."""
        return [finding for finding in self.findings if finding.severity == "error"]


def choose_cases(request: JudgeRequest, cases: Sequence[Case], limits: BugFinderLimits) -> frozenset[int]:
    """Return the numbers of the cases to run: the smallest, and the largest ones within the limits."""
    work = {
        number: request.problem.flops(case) + request.problem.bytes_moved(case, request.dtype) // 4
        for number, case in enumerate(cases, 1)
    }
    small = sorted((n for n in work if work[n] <= limits.max_work), key=lambda n: work[n])
    if len(small) <= limits.max_cases:
        return frozenset(small)
    return frozenset([small[0], *small[len(small) - limits.max_cases + 1 :]])


#: The size limit of the bug finder's build, which contains debug information. Larger builds are not run.
MAX_CHECKED_LIBRARY_BYTES = 256 << 20
MAX_RECORDS_BYTES = 1 << 20

#: CPU time limit of the checked build, counted from when the bug finder starts to wait for it.
BUILD_CPU_S = 10.0

#: How long `stop` may take.
GRACE_S = 1.0

#: Verdicts whose cause the bug finder may find.
EXPLAINABLE = {Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR, Verdict.TIME_LIMIT_EXCEEDED}


def failure_for(report: BugReport) -> KernelFailure:
    """Return the failure for a kernel that has a certain bug although its outputs are correct."""
    first = report.errors[0]
    return KernelFailure(
        Verdict.RUNTIME_ERROR,
        first.kind.upper().replace("-", "_"),
        f"Case `{first.case}`: {describe(first)}",
        hint=first.hint,
        case=first.case,
        findings=report.findings,
    )


def explain(failure: KernelFailure, report: BugReport) -> KernelFailure:
    """Add the cause that the bug finder reports, if any, to the failure."""
    event = failure.event
    if not report.findings:
        return failure
    cause = describe(report.findings[0])
    hint = f"{cause[0].upper()}{cause[1:]} {event.hint}".strip()
    details = {**event.details, "findings": report.findings}
    return KernelFailure(event.verdict, event.code, event.message, hint=hint, **details)


def describe(finding: Finding) -> str:
    """Describe a finding in one sentence, with its line and thread."""
    line = f"line {finding.line}" if finding.line else "unknown line"
    other = ""
    if finding.other_thread is not None and finding.other_line:
        other = f" and thread {_format_coordinates(finding.other_thread)} at line {finding.other_line}"
    block, thread = _format_coordinates(finding.block), _format_coordinates(finding.thread)
    place = f"kernel `{finding.kernel}`, block {block}, thread {thread}"
    return f"{line}, {place}{other}: {finding.message}"


def _format_coordinates(place: tuple[int, int, int] | None) -> str:
    return f"({', '.join(map(str, place))})" if place else "(?)"


@dataclass
class BugFinderRun:
    """The bug finder's run for one request: `start` it, `offer` every case to it, and `finish` it once."""

    request: JudgeRequest
    build: CheckedBuild
    guards: GuardZones
    sandbox: Sandbox
    settings: Settings
    limits: BugFinderLimits
    chosen: frozenset[int]
    _queue: queue.SimpleQueue[CaseData | None] = field(default_factory=queue.SimpleQueue)
    _failed_case: CaseData | None = None
    _records: list[bug_findings.BugRecord] = field(default_factory=list)
    _wrong_cases: set[str] = field(default_factory=set)
    _boxes: list[Box] = field(default_factory=list)
    _report: BugReport | None = None
    _finished_cases: int = 0
    _is_stopped: bool = False

    def start(self, job: Future[CompileJob] | None) -> None:
        """Start the thread, which waits for the checked build. Pass None if this machine cannot build it."""
        self._thread = threading.Thread(target=self._run, args=(job,), name="warmfront-bugs", daemon=True)
        self._thread.start()

    def offer(self, case_data: CaseData, *, failed: bool = False) -> None:
        """Queue a case that the judge has run. The bug finder runs it if it was chosen or failed.

        A case that failed must be the last one.
        """
        if failed:
            self._failed_case = case_data
        elif case_data.number in self.chosen:
            self._queue.put(case_data)

    def finish(self) -> BugReport:
        """Wait for the queued cases, for a limited time, and return the report."""
        self._queue.put(None)
        self._thread.join(WALL_S_PER_CPU_S * (BUILD_CPU_S + self.limits.cpu_s + FAILED_CASE.cpu_s))
        self.stop()
        return self._report or BugReport(
            note="The bug finder did not finish in time; the verdict does not depend on it."
        )

    def stop(self) -> None:
        """Stop immediately and destroy every box."""
        self._is_stopped = True
        self._queue.put(None)
        for box in list(self._boxes):
            box.destroy()
        self._thread.join(GRACE_S)

    def _run(self, job: Future[CompileJob] | None) -> None:
        try:
            self._report = self._find_bugs(job)
        except WarmfrontError as error:
            self._report = BugReport(note=f"The bug finder does not work on this machine: {error.message}")
        except (
            KernelFailure
        ) as failure:  # raised while the library was loaded; _run_case handles failures of cases
            self._report = BugReport(note=f"The bug finder's build failed to load. {failure.event.message}")
        except Exception:
            if not self._is_stopped:
                log.exception("the bug finder failed; the verdict does not depend on it")
        finally:
            for box in list(self._boxes):
                box.destroy()

    def _find_bugs(self, job: Future[CompileJob] | None) -> BugReport:
        if job is None:
            return BugReport(note="The bug finder cannot be built on this machine.")
        compiled = self._await_build(job)
        if compiled is None:
            return BugReport(note="The bug finder's build of this source did not compile.")
        library, output = compiled
        finished = self._run_cases(library)
        if self._failed_case:
            finished = self._run_failed_case(library, self._failed_case)
        evidence = bug_findings.BugEvidence(
            records=self._records,
            lines=self._find_lines(library),
            wrong_cases=frozenset(self._wrong_cases),
            truncated_votes=bug_findings.truncated_votes(output, self.request.source),
            source=self.request.source,
        )
        note = "" if finished else UNFINISHED
        return BugReport(
            findings=tuple(bug_findings.derive_findings(evidence)), cases=self._finished_cases, note=note
        )

    def _run_template(self, limits: BugFinderLimits) -> Template:
        return self.build.run_template(self.settings, max_steps=limits.max_steps)

    def _take(self, template: Template) -> Box:
        return self._keep(self.sandbox.take(template))

    def _keep(self, box: Box) -> Box:
        self._boxes.append(box)
        if self._is_stopped:
            box.destroy()
        return box

    def _await_build(self, job: Future[CompileJob]) -> tuple[bytes, str] | None:
        self.sandbox.prepare(self._run_template(self.limits))
        box = self._keep(job.result().box)
        end = box.wait(cpu_timeout_s=BUILD_CPU_S)
        try:
            library = read_output(box, LIBRARY_FILE, limit_bytes=MAX_CHECKED_LIBRARY_BYTES)
        except OutputTooLarge:
            library = b""
        box.destroy()
        is_built = end.reason is ExitReason.EXITED and end.code == 0 and library
        return (library, end.output.decode(errors="replace")) if is_built else None

    def _run_cases(self, library: bytes) -> bool:
        """Run every queued case. Return False if a limit ended the run early.

        If it did, the rest of the queue is read and ignored, because a case that failed may still follow.
        """
        is_finished = True
        guest_and_box: tuple[GuestProcess, Box] | None = None
        left_s = self.limits.cpu_s  # waiting for the judge or for a CPU does not count
        while (case_data := self._queue.get()) is not None:
            is_finished = is_finished and not self._is_stopped and left_s > 0
            if not is_finished:
                continue
            guest_and_box = guest_and_box or self._open_guest(library, self.limits)
            guest, box = guest_and_box
            guest.case_timeout_s = left_s
            used_s = box.usage().cpu_s
            outcome = self._run_case(case_data, guest, box)
            left_s -= box.usage().cpu_s - used_s
            if outcome is _CaseOutcome.LIMIT:
                is_finished = False
                continue
            self._finished_cases += 1
            if outcome is _CaseOutcome.FAULT:  # the process has ended, so the next case needs a new box
                guest_and_box[1].destroy()
                guest_and_box = None
        return is_finished

    def _run_failed_case(self, library: bytes, case_data: CaseData) -> bool:
        """Run the case with which the check failed. Return False if a limit ended it early."""
        if self._is_stopped:
            return False
        limits = FAILED_CASE if self.limits is QUICK else self.limits
        outcome = self._run_case(case_data, *self._open_guest(library, limits))
        # The judge's own run of it failed, even if a limit ended this one.
        self._wrong_cases.add(case_data.case.name)
        return outcome is not _CaseOutcome.LIMIT

    def _open_guest(self, library: bytes, limits: BugFinderLimits) -> tuple[GuestProcess, Box]:
        box = self._take(self._run_template(limits))
        (box.folder / LIBRARY_FILE).write_bytes(library)
        box.go()
        guest = GuestProcess(box, case_timeout_s=limits.cpu_s)
        guest.load()
        return guest, box

    def _run_case(self, case_data: CaseData, guest: GuestProcess, box: Box) -> _CaseOutcome:
        """Run one case and collect the records of the bug finder."""
        # These modules need NumPy, which is loaded while the compiler runs.
        from warmfront.judge.buffer_layout import BufferLayout  # noqa: PLC0415
        from warmfront.judge.output_check import check_call  # noqa: PLC0415

        request, case = self.request, case_data.case
        layout = BufferLayout(
            request.problem, case, request.dtype, self.guards, case_data.inputs, shared=True
        )
        memory = FileMemory(box.folder / DATA_FILE)
        guest.case_name = case.name
        outcome = _CaseOutcome.CORRECT
        try:
            guest.plan(layout, memory.plan(layout))
            memory.fill(layout, [case_data.inputs])
            run_answer = guest.run()
        except KernelFailure as failure:
            is_limit = failure.event.verdict in {Verdict.TIME_LIMIT_EXCEEDED, Verdict.MEMORY_LIMIT_EXCEEDED}
            outcome = _CaseOutcome.LIMIT if is_limit else _CaseOutcome.FAULT
        else:
            try:
                check_call(case_data, layout, memory.data_file, run_answer=run_answer)
            except KernelFailure:
                outcome = _CaseOutcome.WRONG
        if self._collect_records(guest, box, case.name):
            outcome = _CaseOutcome.LIMIT
        if outcome in {_CaseOutcome.WRONG, _CaseOutcome.FAULT}:
            self._wrong_cases.add(case.name)
        return outcome

    def _collect_records(self, guest: GuestProcess, box: Box, case: str) -> bool:
        """Collect the new records of this case, and return whether the step limit was reached."""
        with (box.folder / FINDINGS_FILE).open("rb") as file:
            text = file.read(MAX_RECORDS_BYTES).decode(errors="replace")
        known = sum(1 for record in self._records if record.box == id(box))
        new_records = bug_findings.read_records(text)[known:]
        self._records += [
            bug_findings.BugRecord(
                data=data, case=case, tensor=guest.describe_address(data.get("address")), box=id(box)
            )
            for data in new_records
        ]
        return any(data["kind"] == bug_findings.STEP_LIMIT_REACHED for data in new_records)

    def _find_lines(self, library: bytes) -> dict[int, list[int]]:
        offsets = bug_findings.offsets(self._records)
        if not offsets:
            return {}
        box = self._take(self.build.lines_template(self.settings))
        (box.folder / LIBRARY_FILE).write_bytes(library)
        (box.folder / PLACES_FILE).write_text("".join(f"{place:#x}\n" for place in offsets))
        box.go()
        box.send(b"go\n")
        end = box.wait()
        box.destroy()
        return bug_findings.read_lines(end.output.decode(errors="replace"), self.request.source)
