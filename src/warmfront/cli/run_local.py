"""`warmfront run`: one file to its verdict, on this machine.

It puts the parts together and hands the events to whoever shows them; it decides nothing itself. What the
compilers do not need is loaded when they are at work.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warmfront import problems, settings
from warmfront.cli import interrupts
from warmfront.cli.event_views import JsonView, View, refuse
from warmfront.errors import (
    InfrastructureError,
    IsolationRequired,
    UnknownDtype,
    UsageError,
    WarmfrontError,
)
from warmfront.judge_request import JudgeRequest, read_source
from warmfront.problems.spec import Dtype
from warmfront.verdicts import Endpoint, Verdict, is_terminal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from warmfront.events import Event
    from warmfront.hip.toolchain import Toolchain, Translated
    from warmfront.judge.compile_jobs import CompileJobs
    from warmfront.problems.spec import Problem
    from warmfront.sandbox.base import Sandbox
    from warmfront.settings import Settings


REPORT = "Run it again; if it stays, report it with the source."


@dataclass(frozen=True, kw_only=True)
class Request:
    """What was typed."""

    file: Path
    problem: str
    endpoint: str
    dtype: str | None
    toolchain: str | None
    sandbox: str | None
    seed: int | None
    trust: bool
    bugs: bool = False  #: look for bugs at the most thorough


def run_request(request: Request, *, as_json: bool) -> int:
    """Judge it and show what happens; the exit code."""
    try:
        submission = read_submission(request)
        configured = settings.load()
        bench = open_workbench(request, configured, submission)
    except WarmfrontError as error:
        return refuse(error, as_json=as_json)
    except Exception as error:  # noqa: BLE001 - the process edge: a stream always ends with a verdict
        return refuse(InfrastructureError(f"Warmfront failed: {error!r}", hint=REPORT), as_json=as_json)
    with contextlib.closing(bench):
        from warmfront.events import Failed, Stamp  # noqa: PLC0415 - the compilers are at work

        view: View = JsonView() if as_json else _terminal_view(submission)
        stamp = Stamp()
        try:
            interrupts.release()
            events = _events(submission, bench, configured, thorough=request.bugs)
            return _show_events(map(stamp, events), submission.endpoint, view)
        except KeyboardInterrupt:
            view.show(stamp(Failed(verdict=Verdict.CANCELLED, code="CANCELLED", message="You stopped it.")))
            return Verdict.CANCELLED.exit_code
        finally:
            view.close()


def _events(
    submission: JudgeRequest, bench: Workbench, configured: Settings, *, thorough: bool
) -> Iterable[Event]:
    events = _judged(submission, bench, configured, thorough=thorough)
    if not configured.xray:
        return events
    from warmfront.cli.parallel_xray import admitted  # noqa: PLC0415 - the compilers are at work

    return admitted(events, submission, bench.sandbox, configured)


def _judged(
    submission: JudgeRequest, bench: Workbench, configured: Settings, *, thorough: bool
) -> Iterator[Event]:
    """The judge's events. It is loaded with the first: the X-ray's compiler starts before."""
    from warmfront.judge.judge import Judge  # noqa: PLC0415 - as said

    judge = Judge(bench.toolchain, bench.sandbox, configured)
    yield from judge.judge(submission, thorough=thorough, compile_jobs=bench.builds)


@dataclass(frozen=True)
class Workbench:
    """The tools for one submission."""

    toolchain: Toolchain
    sandbox: Sandbox
    builds: CompileJobs | None  #: its compilers, at work; None where its text is not fit for one

    def close(self) -> None:
        """End what is at work, and leave nothing behind."""
        if self.builds:
            self.builds.close()
        self.sandbox.close()


def open_workbench(request: Request, configured: Settings, submission: JudgeRequest) -> Workbench:
    """The toolchain and the sandbox that were asked for, and the compilers begun.

    Trying out a sandbox is waiting for other processes: the toolchain is loaded meanwhile.
    """
    with ThreadPoolExecutor(1) as pool:
        opening = pool.submit(choose_sandbox, request, configured)
        from warmfront.hip.toolchain import open_toolchain  # noqa: PLC0415 - a bad call needs none of it
        from warmfront.judge.compile_jobs import CompileJobs  # noqa: PLC0415 - as above

        try:
            toolchain = open_toolchain(request.toolchain, configured)
            if toolchain.simulated:
                # NumPy loads in half the time without a pool of threads, and small sums need none.
                os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
            if not toolchain.is_built:
                opening.result()  # nothing is built for a machine that cannot run it
                print(toolchain.first_build, file=sys.stderr, flush=True)
            toolchain.build()
            translated = _translate(submission, toolchain)
            sandbox = opening.result()
            thorough = request.bugs
            builds = (
                CompileJobs(translated, toolchain, sandbox, configured, thorough=thorough)
                if translated
                else None
            )
        except BaseException:
            if opening.exception() is None:
                opening.result().close()
            raise
    return Workbench(toolchain, sandbox, builds)


def _translate(submission: JudgeRequest, toolchain: Toolchain) -> Translated | None:
    from warmfront.hip.source.edits import RewriteError  # noqa: PLC0415 - loaded with the toolchain

    try:
        return toolchain.translate(submission)
    except RewriteError:
        return None  # the judge will say why


def _show_events(events: Iterable[Mapping[str, Any]], endpoint: Endpoint, view: View) -> int:
    verdict = Verdict.ERROR
    for event in events:
        view.show(event)
        if is_terminal(event["status"], endpoint):
            verdict = Verdict(event["status"])
    return verdict.exit_code


def read_submission(request: Request) -> JudgeRequest:
    """The submission that the request describes, or a `UsageError` that names what is wrong with it."""
    endpoint = _endpoint(request.endpoint)
    problem = problems.get(request.problem)
    return JudgeRequest(
        source=read_source(request.file),
        problem=problem,
        dtype=choose_dtype(problem, request.dtype),
        endpoint=endpoint,
        file_name=request.file.name,
        seed=request.seed,
    )


def choose_dtype(problem: Problem, name: str | None) -> Dtype:
    """The dtype of that name, or the problem's default."""
    if name is None:
        return problem.dtypes[0]
    allowed = " or ".join(dtype.value for dtype in problem.dtypes)
    if name not in {dtype.value for dtype in problem.dtypes}:
        raise UnknownDtype(f"{problem.slug} has no dtype {name!r}.", hint=f"Use --dtype {allowed}.")
    return Dtype(name)


def choose_sandbox(request: Request, configured: Settings) -> Sandbox:
    """The sandbox to use; none at all only for one's own code, switched off twice."""
    from warmfront.sandbox import TRUSTED, open_sandbox  # noqa: PLC0415 - not needed to refuse a bad call

    if not configured.isolation:
        if not request.trust:
            raise IsolationRequired(
                "AMD_CONTAINER_ISOLATION is false, and code is not run without a sandbox.",
                hint="Unset it; or, for code that you wrote yourself, add --trust.",
            )
        return open_sandbox(TRUSTED, base=configured.box_dir)
    name = request.sandbox or configured.sandbox
    if name not in {None, "bubblewrap", "docker"}:
        raise UsageError(
            f"There is no sandbox {name!r}.", hint="Use --sandbox bubblewrap or --sandbox docker."
        )
    return open_sandbox(name, base=configured.box_dir, image=configured.docker_image)


def _endpoint(name: str) -> Endpoint:
    runs = [endpoint.value for endpoint in Endpoint if endpoint is not Endpoint.XRAY]
    if name not in runs:
        allowed = ", ".join(runs)
        raise UsageError(f"There is no endpoint {name!r}.", hint=f"Use --endpoint with one of: {allowed}.")
    return Endpoint(name)


def _terminal_view(submission: JudgeRequest) -> View:
    from warmfront.cli.terminal_view import TerminalView  # noqa: PLC0415 - for people only

    heading = f"{submission.file_name} for {submission.problem.slug}, {submission.dtype.value}"
    view = TerminalView(heading, submission.endpoint, sys.stdout, began_at=time.time())
    view.begin("compiling")
    return view
