"""The bug hunt: a checked build of the submission, run on small cases beside the judge's own run.

It has boxes of its own and a thread that drives them. Whatever becomes of it, the check goes on: a hunt that
could not be finished says so and accuses nobody.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING

from warmfront.errors import WarmfrontError
from warmfront.hip.cpu.checked_build import FINDINGS_FILE, PLACES_FILE
from warmfront.hip.toolchain import DATA_FILE, LIBRARY_FILE
from warmfront.judge import bug_findings
from warmfront.judge.guest import GuestProcess
from warmfront.judge.kernel_failure import KernelFailure
from warmfront.sandbox.base import ExitReason
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from warmfront.events import Finding
    from warmfront.hip.cpu.checked_build import CheckedBuild
    from warmfront.hip.toolchain import Guards
    from warmfront.judge.case_data import CaseData
    from warmfront.judge.compile_jobs import CompileJob
    from warmfront.judge_request import JudgeRequest
    from warmfront.problems.spec import Case
    from warmfront.sandbox.base import Box, Sandbox, Template
    from warmfront.settings import Settings

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class BugFinderLimits:
    """How much a hunt may do."""

    most_cases: int
    most_work: int  #: operations and words of one case
    most_steps: int  #: accesses and waits, in all cases together
    wait_s: float  #: how long its cases may take together, and the verdict may wait for them


#: Part of every check: some hundredths of a second of looking.
QUICK = BugFinderLimits(most_cases=4, most_work=100_000, most_steps=1_200_000, wait_s=1.0)
#: Asked for.
THOROUGH = BugFinderLimits(most_cases=1000, most_work=100_000_000, most_steps=10**12, wait_s=60.0)


#: What a verdict says when a limit came first.
UNFINISHED = "It did not look at everything in the time that a check has: `warmfront check --bugs` does."


class _CaseOutcome(Enum):
    """How one case of a hunt ended."""

    RIGHT = auto()
    WRONG = auto()
    FAULT = auto()  #: the kernel's doing
    LIMIT = auto()  #: ours


@dataclass(frozen=True, kw_only=True)
class BugReport:
    """What a hunt came to."""

    findings: tuple[Finding, ...] = ()
    cases: int = 0  #: that were run to their end
    note: str = ""  #: why it is not the whole truth, if it is not

    @property
    def errors(self) -> list[Finding]:
        """What is wrong for certain."""
        return [finding for finding in self.findings if finding.severity == "error"]


def choose_cases(submission: JudgeRequest, cases: Sequence[Case], effort: BugFinderLimits) -> frozenset[int]:
    """The numbers of the cases to hunt in: the smallest, and the largest that are small enough."""
    work = {
        number: submission.problem.flops(case) + submission.problem.bytes_moved(case, submission.dtype) // 4
        for number, case in enumerate(cases, 1)
    }
    small = sorted((n for n in work if work[n] <= effort.most_work), key=lambda n: work[n])
    if len(small) <= effort.most_cases:
        return frozenset(small)
    return frozenset([small[0], *small[len(small) - effort.most_cases + 1 :]])


#: How long the end of a hunt may take, beside its cases.
GRACE_S = 1.0

#: How long it may take to name the lines of what was found in time, on a machine that is busy.
NAMING_S = 5.0

#: Verdicts whose cause the bug finder may know.
EXPLAINED = {Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR, Verdict.TIME_LIMIT_EXCEEDED}


def rejection_for(report: BugReport) -> KernelFailure:
    """The verdict on a kernel whose every answer is right, and which is wrong for certain."""
    first = report.errors[0]
    return KernelFailure(
        Verdict.RUNTIME_ERROR,
        first.kind.upper().replace("-", "_"),
        f"Case `{first.case}`: {describe(first)}",
        hint=first.hint,
        case=first.case,
        findings=report.findings,
    )


def explain(rejected: KernelFailure, report: BugReport) -> KernelFailure:
    """The same verdict, and what the bug finder saw."""
    event = rejected.event
    if not report.findings:
        return rejected
    cause = describe(report.findings[0])
    hint = f"{cause[0].upper()}{cause[1:]} {event.hint}".strip()
    details = {**event.details, "findings": report.findings}
    return KernelFailure(event.verdict, event.code, event.message, hint=hint, **details)


def describe(finding: Finding) -> str:
    """A finding in one sentence, with its place."""
    line = f"line {finding.line}" if finding.line else "a line that cannot be told"
    other = ""
    if finding.other_thread is not None and finding.other_line:
        other = f" and thread {_spelled(finding.other_thread)} at line {finding.other_line}"
    place = f"kernel `{finding.kernel}`, block {_spelled(finding.block)}, thread {_spelled(finding.thread)}"
    return f"{line}, {place}{other}: {finding.message}"


def _spelled(place: tuple[int, int, int] | None) -> str:
    return f"({', '.join(map(str, place))})" if place else "(?)"


@dataclass
class BugFinderRun:
    """One submission's hunt. `start` it, `offer` it every question, and `finish` it once."""

    submission: JudgeRequest
    build: CheckedBuild
    guards: Guards
    sandbox: Sandbox
    settings: Settings
    effort: BugFinderLimits
    chosen: frozenset[int]
    _questions: queue.SimpleQueue[CaseData | None] = field(default_factory=queue.SimpleQueue)
    _records: list[bug_findings.BugRecord] = field(default_factory=list)
    _wrong: set[str] = field(default_factory=set)
    _boxes: list[Box] = field(default_factory=list)
    _report: BugReport | None = None
    _done: int = 0
    _stopped: bool = False

    def start(self, begun: Future[CompileJob] | None) -> None:
        """Wait in the background for its build, and then for questions; None: it cannot be built here."""
        self._thread = threading.Thread(target=self._run, args=(begun,), name="bug hunt", daemon=True)
        self._thread.start()

    def offer(self, question: CaseData, *, failed: bool = False) -> None:
        """A question that the judge has asked; a failed one is looked at in any case."""
        if failed or question.number in self.chosen:
            self._questions.put(question)

    def finish(self) -> BugReport:
        """No more questions come; what was found, after a bounded wait."""
        self._questions.put(None)
        self._thread.join(self.effort.wait_s + GRACE_S)
        if self._records:
            self._thread.join(NAMING_S)
        self.stop()
        return self._report or BugReport(
            note="It did not come to an end in time; the verdict stands without it."
        )

    def stop(self) -> None:
        """Give up: what runs is ended."""
        self._stopped = True
        self._questions.put(None)
        for box in list(self._boxes):
            box.destroy()
        self._thread.join(GRACE_S)

    def _run(self, begun: Future[CompileJob] | None) -> None:
        try:
            self._report = self._hunt(begun)
        except WarmfrontError as error:
            self._report = BugReport(note=f"It could not work here: {error.message}")
        except KernelFailure as rejected:  # before the first case: what a case does is taken down with it
            self._report = BugReport(note=f"Its own build did not work. {rejected.event.message}")
        except Exception:
            if not self._stopped:
                log.exception("the bug finder failed")
        finally:
            for box in list(self._boxes):
                box.destroy()

    def _hunt(self, begun: Future[CompileJob] | None) -> BugReport:
        if begun is None:
            return BugReport(note="It could not be built on this machine.")
        compiled = self._await(begun)
        if compiled is None:
            return BugReport(note="Its own build of this source did not compile.")
        library, output = compiled
        finished = self._ask_all(library)
        evidence = bug_findings.BugEvidence(
            records=self._records,
            lines=self._find_lines(library),
            wrong_cases=frozenset(self._wrong),
            cut_votes=bug_findings.cut_votes(output, self.submission.source),
            source=self.submission.source,
        )
        note = "" if finished else UNFINISHED
        return BugReport(findings=tuple(bug_findings.derive_findings(evidence)), cases=self._done, note=note)

    @property
    def _run_template(self) -> Template:
        return self.build.run_template(self.settings, most_steps=self.effort.most_steps)

    def _take(self, template: Template) -> Box:
        return self._keep(self.sandbox.take(template))

    def _keep(self, box: Box) -> Box:
        self._boxes.append(box)
        if self._stopped:
            box.destroy()
        return box

    def _await(self, begun: Future[CompileJob]) -> tuple[bytes, str] | None:
        self.sandbox.prepare(self._run_template)
        box = self._keep(begun.result().box)
        end = box.wait()
        library = (box.folder / LIBRARY_FILE).read_bytes() if end.reason is ExitReason.EXITED else b""
        box.destroy()
        return (library, end.output.decode(errors="replace")) if end.code == 0 and library else None

    def _ask_all(self, library: bytes) -> bool:
        """Run every question; False if one could not be brought to its end."""
        runner: tuple[GuestProcess, Box] | None = None
        left_s = self.effort.wait_s  # for cases: that the judge is slow to ask is not counted
        while (question := self._questions.get()) is not None:
            if self._stopped or left_s <= 0:
                return False
            started = time.monotonic()
            runner = runner or self._open_runner(library)
            runner[0].case_timeout_s = left_s
            end = self._ask(question, *runner)
            left_s -= time.monotonic() - started
            if end is _CaseOutcome.LIMIT:
                return False
            self._done += 1
            if end is _CaseOutcome.FAULT:  # the next case needs a box of its own
                runner[1].destroy()
                runner = None
        return True

    def _open_runner(self, library: bytes) -> tuple[GuestProcess, Box]:
        box = self._take(self._run_template)
        (box.folder / LIBRARY_FILE).write_bytes(library)
        box.go()
        worker = GuestProcess(box, case_timeout_s=self.effort.wait_s)
        worker.load()
        return worker, box

    def _ask(self, question: CaseData, worker: GuestProcess, box: Box) -> _CaseOutcome:
        """Run one case and take down what was found."""
        from warmfront.judge.buffer_layout import BufferLayout  # noqa: PLC0415 - as above
        from warmfront.judge.output_check import check_call  # noqa: PLC0415 - NumPy, loaded while the compiler ran

        submission, case = self.submission, question.case
        layout = BufferLayout(submission.problem, case, submission.dtype, self.guards, question.inputs)
        data = box.folder / DATA_FILE
        layout.write(data, [question.inputs])
        worker.case_name = case.name
        end = _CaseOutcome.RIGHT
        try:
            worker.plan(layout)
            ran = worker.run()
        except KernelFailure as rejected:
            slow = rejected.event.verdict is Verdict.TIME_LIMIT_EXCEEDED
            end = _CaseOutcome.LIMIT if slow else _CaseOutcome.FAULT
        else:
            try:
                check_call(question, layout, data, ran=ran)
            except KernelFailure:
                end = _CaseOutcome.WRONG
        if self._take_down(worker, box, case.name):
            end = _CaseOutcome.LIMIT
        if end in {_CaseOutcome.WRONG, _CaseOutcome.FAULT}:
            self._wrong.add(case.name)
        return end

    def _take_down(self, worker: GuestProcess, box: Box, case: str) -> bool:
        """Read what was found in this case; whether the finder spent its last step on it."""
        text = (box.folder / FINDINGS_FILE).read_bytes()[: 1 << 20].decode(errors="replace")
        known = sum(1 for record in self._records if record.box == id(box))
        fresh = bug_findings.read_records(text)[known:]
        self._records += [
            bug_findings.BugRecord(
                data=data, case=case, tensor=worker.whereabouts(data.get("address")), box=id(box)
            )
            for data in fresh
        ]
        return any(data["kind"] == bug_findings.STEP_LIMIT_REACHED for data in fresh)

    def _find_lines(self, library: bytes) -> dict[int, list[int]]:
        places = bug_findings.offsets(self._records)
        if not places:
            return {}
        box = self._take(self.build.lines_template(self.settings))
        (box.folder / LIBRARY_FILE).write_bytes(library)
        (box.folder / PLACES_FILE).write_text("".join(f"{place:#x}\n" for place in places))
        box.go()
        box.send(b"go\n")
        end = box.wait()
        box.destroy()
        return bug_findings.read_lines(end.output.decode(errors="replace"), self.submission.source)
