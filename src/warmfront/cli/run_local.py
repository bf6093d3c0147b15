"""`warmfront run` and `warmfront check`: judge one file on this machine.

This module connects the components and passes their events to a view. It makes no decisions itself.

Load order: the compiler takes most of the time, so it is started as early as possible, and modules that it
does not need (the judge, the X-ray, events, views, NumPy) are imported while it runs. That saves 17% of the
command; `bench/startup.py` measures it. The imports inside functions below are in that order for this
reason.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from warmfront import problems, settings
from warmfront.cli import interrupts
from warmfront.cli.arguments import check_receipt_file, parse_case, parse_dtype, parse_endpoint
from warmfront.cli.event_views import EventView, JsonView, show_error
from warmfront.errors import InfrastructureError, IsolationRequired, UsageError, WarmfrontError
from warmfront.judge_request import JudgeRequest, read_source
from warmfront.value_class import dataclass
from warmfront.verdicts import Endpoint, Verdict, is_terminal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from warmfront.cli.local_receipts import LocalReceipts
    from warmfront.events import Event
    from warmfront.hip.toolchain import Toolchain
    from warmfront.judge.compile_jobs import CompileJobs
    from warmfront.problems.spec import Case, Dtype, Problem
    from warmfront.sandbox.base import Sandbox
    from warmfront.settings import Settings


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The arguments of `warmfront run`, as typed."""

    file: Path
    problem: str
    endpoint: str
    dtype: str | None
    toolchain: str | None
    sandbox: str | None
    seed: int | None
    trust: bool
    bugs: bool = False  #: run the bug finder on every case
    receipt: Path | None = None  #: the file to save the signed receipt to
    cases: tuple[str, ...] = ()  #: the author's own cases
    all_cases: bool = False  #: continue after a wrong answer
    heading: str | None = None  #: the first line of the output, instead of file, problem and dtype


def run(options: RunOptions, *, as_json: bool, request: JudgeRequest | None = None) -> int:
    """Judge the file, or the request, show the events, and return the verdict's exit code."""
    try:
        request = request or read_request(options)
        configured = settings.load()
        judge = LocalJudge.open(options, configured, request)
    except WarmfrontError as error:
        return show_error(error, as_json=as_json)
    except Exception as error:  # noqa: BLE001 - the process edge: a stream always ends with a verdict
        failure = InfrastructureError(
            f"Warmfront failed: {error!r}", hint="Run it again. If it fails again, report it with the source."
        )
        return show_error(failure, as_json=as_json)
    with contextlib.closing(judge):
        from warmfront.events import Failed, Stamp

        try:
            receipts = _open_receipts(options, configured, request)
        except WarmfrontError as error:
            return show_error(error, as_json=as_json)
        view: EventView = JsonView() if as_json else _terminal_view(request, options.heading)
        stamp = Stamp()
        try:
            interrupts.release()
            events = map(receipts.sign, map(stamp, judge.events(request, thorough=options.bugs)))
            exit_code = _show_events(events, request.endpoint, view)
        except KeyboardInterrupt:
            view.show(
                stamp(Failed(verdict=Verdict.CANCELLED, code="CANCELLED", message="Stopped by Ctrl-C."))
            )
            return Verdict.CANCELLED.exit_code
        finally:
            view.close()
        return receipts.save(exit_code)


@dataclass(frozen=True)
class LocalJudge:
    """A toolchain and a sandbox for one request, with its compilers already running."""

    settings: Settings
    toolchain: Toolchain
    sandbox: Sandbox
    compile_jobs: CompileJobs | None  #: None if the source cannot be translated; the judge explains why

    @classmethod
    def open(cls, options: RunOptions, configured: Settings, request: JudgeRequest) -> LocalJudge:
        """Open the requested toolchain and sandbox, and start the compilers.

        Probing a sandbox waits for other processes, so the toolchain is loaded at the same time.
        """
        with ThreadPoolExecutor(1) as pool:
            opening = pool.submit(open_requested_sandbox, options, configured)
            from warmfront.hip.toolchain import open_toolchain

            try:
                toolchain = open_toolchain(options.toolchain, configured)
                if toolchain.simulated:
                    _load_numpy_faster()
                if not toolchain.is_built:
                    opening.result()  # do not build anything on a machine that cannot run it
                    print(toolchain.first_build_notice, file=sys.stderr, flush=True)
                toolchain.build()
                sandbox = opening.result()
                jobs = _start_compile_jobs(request, toolchain, sandbox, configured, thorough=options.bugs)
            except BaseException:
                if opening.exception() is None:
                    opening.result().close()
                raise
        return cls(configured, toolchain, sandbox, jobs)

    def events(self, request: JudgeRequest, *, thorough: bool) -> Iterable[Event]:
        """Judge the request and yield its events, including the X-ray's unless it is disabled."""
        events = self._judge(request, thorough=thorough)
        if not self.settings.xray:
            return events
        from warmfront.cli.parallel_xray import with_xray

        return with_xray(events, request, self.sandbox, self.settings)

    def _judge(self, request: JudgeRequest, *, thorough: bool) -> Iterator[Event]:
        # Imported at the first event, after the X-ray's compiler has started.
        from warmfront.judge.judge import Judge

        judge = Judge(self.toolchain, self.sandbox, self.settings)
        yield from judge.judge(request, thorough=thorough, compile_jobs=self.compile_jobs)

    def close(self) -> None:
        """Stop the compilers and remove the sandbox."""
        if self.compile_jobs:
            self.compile_jobs.close()
        self.sandbox.close()


def _load_numpy_faster() -> None:
    """Keep NumPy from starting a thread pool, which small arrays do not need (see `bench/startup.py`)."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _resume_garbage_collection() -> None:
    """Resume garbage collection, which `fast_start` paused, and exempt the objects created by loading."""
    gc.freeze()
    gc.enable()


def _open_receipts(options: RunOptions, configured: Settings, request: JudgeRequest) -> LocalReceipts:
    """Load the signing key, while the compiler runs."""
    from warmfront.cli.local_receipts import LocalReceipts

    if request.endpoint is not Endpoint.SUBMIT:
        return LocalReceipts(None, options.receipt)
    return LocalReceipts.open(configured.data_dir, options.receipt)


def _start_compile_jobs(
    request: JudgeRequest, toolchain: Toolchain, sandbox: Sandbox, configured: Settings, *, thorough: bool
) -> CompileJobs | None:
    """Start the compilers, and translate the source while they start; return None if translation fails."""
    from warmfront.hip.source.edits import RewriteError
    from warmfront.judge.compile_jobs import CompileJobs

    translate = functools.partial(toolchain.translate, request)
    try:
        return CompileJobs(translate, toolchain, sandbox, configured, thorough=thorough)
    except RewriteError:
        return None


def _show_events(events: Iterable[Mapping[str, Any]], endpoint: Endpoint, view: EventView) -> int:
    from warmfront.events import Checking

    verdict = Verdict.ERROR
    for event in events:
        if event["status"] == Checking.status:
            _resume_garbage_collection()
        view.show(event)
        if is_terminal(event["status"], endpoint):
            verdict = Verdict(event["status"])
    return verdict.exit_code


def read_request(options: RunOptions) -> JudgeRequest:
    """Read the file and return the request, or raise a `UsageError` that names the invalid argument."""
    allowed = [endpoint for endpoint in Endpoint if endpoint is not Endpoint.XRAY]
    endpoint = parse_endpoint(options.endpoint, allowed)
    if options.receipt:
        check_receipt_file(options.receipt, endpoint)
    problem = problems.get(options.problem)
    dtype = parse_dtype(options.dtype, problem)
    return JudgeRequest(
        source=read_source(options.file),
        problem=problem,
        dtype=dtype,
        endpoint=endpoint,
        file_name=options.file.name,
        seed=options.seed,
        own_cases=_read_cases(options.cases, problem, dtype),
        all_cases=options.all_cases,
    )


def _read_cases(cases: tuple[str, ...], problem: Problem, dtype: Dtype) -> tuple[Case, ...]:
    """Return the author's own cases, for the CPU runtime, which `warmfront check` uses."""
    if not cases:
        return ()
    from warmfront.problems.own_cases import validate_own_cases
    from warmfront.problems.spec import Scale

    return validate_own_cases([parse_case(text) for text in cases], problem, dtype, Scale.CPU)


def open_requested_sandbox(options: RunOptions, configured: Settings) -> Sandbox:
    """Open the requested sandbox.

    Code runs without a sandbox only if both the setting and --trust allow it, which is meant for the user's
    own code.
    """
    from warmfront.sandbox import TRUSTED, open_sandbox

    if not configured.isolation:
        if not options.trust:
            raise IsolationRequired(
                "AMD_CONTAINER_ISOLATION is false; running without a sandbox also requires --trust.",
                hint="Unset AMD_CONTAINER_ISOLATION; or, for code that you wrote yourself, add --trust.",
            )
        return open_sandbox(TRUSTED, base=configured.box_dir)
    name = options.sandbox or configured.sandbox
    if name not in {None, "bubblewrap", "docker"}:
        raise UsageError(
            f"There is no sandbox {name!r}.", hint="Use --sandbox bubblewrap or --sandbox docker."
        )
    return open_sandbox(name, base=configured.box_dir, image=configured.docker_image)


def _terminal_view(request: JudgeRequest, heading: str | None) -> EventView:
    from warmfront.cli.terminal_view import TerminalView

    heading = heading or f"{request.file_name} for {request.problem.slug}, {request.dtype.value}"
    view = TerminalView(heading, request.endpoint, sys.stdout, began_at=time.time())
    view.begin("compiling")
    return view
