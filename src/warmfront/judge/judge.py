"""The judge: compiles in one box, runs in another, and compares outside both.

The package docstring explains why.

Whatever the submitted code does, the events end with exactly one verdict and every box is destroyed. A
failure of Warmfront itself gets the verdict ERROR.
"""

from __future__ import annotations

import errno
import logging
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from warmfront.errors import WarmfrontError
from warmfront.events import Event, Failed
from warmfront.judge.cancellation import CancellableSandbox, CancellationToken, cancelled_event
from warmfront.judge.judge_run import JudgeRun
from warmfront.judge.kernel_failure import KernelFailure
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from warmfront.hip.toolchain import Toolchain
    from warmfront.judge.compile_jobs import CompileJobs
    from warmfront.judge_request import JudgeRequest
    from warmfront.sandbox.base import Sandbox
    from warmfront.settings import Settings

log = logging.getLogger(__name__)


class Judge:
    """A judge with one toolchain and one kind of sandbox."""

    def __init__(self, toolchain: Toolchain, sandbox: Sandbox, settings: Settings) -> None:
        self._toolchain = toolchain
        self._sandbox = sandbox
        self._settings = settings

    def judge(
        self,
        request: JudgeRequest,
        *,
        thorough: bool = False,
        run_slot: AbstractContextManager[object] | None = None,
        cancellation: CancellationToken | None = None,
        compile_jobs: CompileJobs | None = None,
        before_timing: Callable[[], object] | None = None,
    ) -> Iterator[Event]:
        """Judge one request and yield its events; the last one is the verdict.

        Args:
            request: the submission to judge.
            thorough: let the bug finder run more and larger cases.
            run_slot: entered once the source is compiled, and left when all boxes are destroyed. The
                listener uses it to run one attempt at a time.
            cancellation: lets another thread cancel the run; the verdict is then CANCELLED, unless one was
                already yielded.
            compile_jobs: compilers that were started earlier, in boxes that `cancellation` does not cover.
            before_timing: called before the first timed call; the listener makes no boxes from then on.

        Example:
            >>> *progress, verdict = Judge(toolchain, sandbox, settings).judge(request)
        """
        cancellation = cancellation or CancellationToken()
        sandbox = CancellableSandbox(self._sandbox, cancellation)
        run = JudgeRun(
            request,
            self._toolchain,
            sandbox,
            self._settings,
            thorough=thorough,
            cancellation=cancellation,
            before_timing=before_timing,
        )
        for event in self._events(run, run_slot or nullcontext(), compile_jobs):
            yield cancelled_event() if isinstance(event, Failed) and cancellation.is_cancelled else event

    def _events(
        self, run: JudgeRun, run_slot: AbstractContextManager[object], compile_jobs: CompileJobs | None
    ) -> Iterator[Event]:
        """Yield the events of the run, and turn every exception into a verdict."""
        try:
            yield from run.events(run_slot, compile_jobs)
        except KernelFailure as failure:
            yield run.add_progress(failure.event)
        except WarmfrontError as error:
            yield Failed.of(error)
        except Exception as error:  # the edge of the judge: every request gets a verdict
            if not run.is_cancelled:
                log.exception("the judge failed; the verdict is ERROR")
            yield _internal_failure(error)


def _internal_failure(error: Exception) -> Failed:
    """Return the verdict for an exception that the kernel did not cause."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return Failed(
            verdict=Verdict.ERROR,
            code="NO_SPACE",
            message="The data of a case does not fit into this machine's directory for boxes.",
            hint="The operator must mount a larger tmpfs, or set WARMFRONT_BOX_DIR to another directory.",
        )
    return Failed(
        verdict=Verdict.ERROR,
        code="INTERNAL",
        message=f"The judge failed: {type(error).__name__}: {error}",
        hint="Retry. If it fails again, report it with the source.",
    )
