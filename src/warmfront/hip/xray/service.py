"""The service that makes X-rays in worker threads and sandboxes, at most two at once.

The orchestrator decides when to make an X-ray and how to use the result.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from warmfront import gpus, problems
from warmfront.errors import IsolationRequired, WarmfrontError
from warmfront.hip.xray.analysis import no_xray_event, xray, xray_event
from warmfront.problems.spec import Dtype
from warmfront.sandbox import open_sandbox
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from warmfront.events import Xray
    from warmfront.hip.xray.xray_report import XrayReport
    from warmfront.problems.spec import Problem
    from warmfront.sandbox.base import Box, Sandbox, Template
    from warmfront.settings import Settings
    from warmfront.submission import Submission

#: X-rays at once. Each keeps one core busy.
_THREADS = 2


class XrayService:
    """A service that X-rays submissions and plain sources without blocking the event loop."""

    def __init__(self, settings: Settings, sandbox: Sandbox) -> None:
        self._settings = settings
        self._sandbox = sandbox
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="warmfront-xray")

    @classmethod
    def open(cls, settings: Settings) -> XrayService:
        """Open the configured sandbox and return a service that uses it.

        Raises:
            IsolationRequired: The settings disable isolation. A service compiles other people's code, which
            never
                happens outside a sandbox.
        """
        if not settings.isolation:
            raise IsolationRequired(
                "AMD_CONTAINER_ISOLATION is false, but a service runs other people's code.",
                hint="Unset AMD_CONTAINER_ISOLATION.",
            )
        sandbox = open_sandbox(settings.sandbox, base=settings.box_dir, image=settings.docker_image)
        return cls(settings, sandbox)

    async def xray(self, submission: Submission, source: str) -> Xray:
        """X-ray a submission for its GPU and return the event."""
        if not self._settings.xray and submission.endpoint != Endpoint.XRAY:
            return no_xray_event("WARMFRONT_XRAY is false.", gpus.get(submission.gpu))
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._xray, submission, source)

    async def report(
        self, source: str, *, arch: str, problem: Problem | None, dtype: Dtype | None
    ) -> XrayReport:
        """X-ray a source that is not a submission and return the full report.

        The compiler has WARMFRONT_XRAY_TIMEOUT seconds of CPU time. If the caller is cancelled, its box is
        destroyed, and this returns when the thread has ended.
        """
        timeout_s = min(self._settings.xray_timeout_s, self._settings.compile_timeout_s)
        boxes = _DroppableSandbox(self._sandbox)

        def make_report() -> XrayReport:
            return xray(
                source,
                arch=arch,
                problem=problem,
                dtype=dtype,
                sandbox=boxes,
                settings=replace(self._settings, compile_timeout_s=timeout_s),
            )

        work = asyncio.get_running_loop().run_in_executor(self._threads, make_report)
        try:
            return _name_limit(await asyncio.shield(work), timeout_s)
        except asyncio.CancelledError:
            await asyncio.to_thread(boxes.drop)
            await asyncio.gather(work, return_exceptions=True)
            raise

    def close(self) -> None:
        """Finish running X-rays, cancel the others and close the sandbox."""
        self._threads.shutdown(cancel_futures=True)
        self._sandbox.close()

    def _xray(self, submission: Submission, source: str) -> Xray:
        try:
            problem, dtype = problems.get(submission.problem), Dtype(submission.dtype)
        except WarmfrontError:  # an author's own problem: its code runs on VMs only, never here
            problem, dtype = None, None
        return xray_event(
            source,
            file_name=submission.file_name,
            gpu=gpus.get(submission.gpu),
            problem=problem,
            dtype=dtype,
            sandbox=self._sandbox,
            settings=self._settings,
        )


class _DroppableSandbox:
    """A sandbox whose box, for one X-ray, can be destroyed from another thread."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.name = sandbox.name
        self.detail = sandbox.detail
        self._sandbox = sandbox
        self._lock = threading.Lock()
        self._boxes: list[Box] = []
        self._is_dropped = False

    def prepare(self, template: Template) -> None:
        """Prepare a box in the underlying sandbox; `drop` does not destroy it unless it is taken."""
        self._sandbox.prepare(template)

    def settle(self) -> None:
        """Wait for the boxes that the underlying sandbox prepares."""
        self._sandbox.settle()

    def take(self, template: Template) -> Box:
        """Take a box; destroy it immediately if the X-ray was dropped in the meantime."""
        box = self._sandbox.take(template)
        with self._lock:
            self._boxes.append(box)
            is_dropped = self._is_dropped
        if is_dropped:
            box.destroy()
        return box

    def drop(self) -> None:
        """Destroy the box; the X-ray then fails."""
        with self._lock:
            self._is_dropped = True
            boxes = list(self._boxes)
        for box in boxes:
            box.destroy()

    def close(self) -> None:
        """Do nothing: the underlying sandbox is closed by its owner."""


def _name_limit(report: XrayReport, timeout_s: float) -> XrayReport:
    """Return the report; if the compiler exceeded its CPU time, name the limit of requests in the failure."""
    if report.failure is None or report.failure.code != "COMPILE_TIME_LIMIT":
        return report
    message = f"The compiler exceeded {timeout_s:g} s of CPU time (WARMFRONT_XRAY_TIMEOUT)."
    return replace(report, failure=replace(report.failure, message=message))
