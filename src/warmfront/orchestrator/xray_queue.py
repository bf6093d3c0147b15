"""X-ray new submissions, a few at a time and fair between owners, before they wait for a VM.

A source that the target's compiler rejects ends here, at no cost. It does not know VMs.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from warmfront.events import Xray
from warmfront.orchestrator.control_plane_verdicts import cancelled, compile_error
from warmfront.orchestrator.fair_queue import FairQueue
from warmfront.submission import Submission
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warmfront.clock import Clock
    from warmfront.orchestrator.submission_lifecycle import ActiveSubmission, SubmissionLifecycle
    from warmfront.orchestrator.tasks import TaskSupervisor
    from warmfront.store.store import Store

log = logging.getLogger(__name__)

#: Returns the X-ray of a submission's source.
XraySubmission = Callable[[Submission, str], Awaitable[Xray]]

#: Concurrent X-rays: each keeps a core busy.
CONCURRENT_XRAYS = 2


class XrayQueue:
    """The submissions that wait for their X-ray, in state ADMITTING."""

    def __init__(
        self,
        *,
        xray: XraySubmission,
        submissions: SubmissionLifecycle,
        store: Store,
        clock: Clock,
        tasks: TaskSupervisor,
    ) -> None:
        self._xray = xray
        self._submissions = submissions
        self._store = store
        self._clock = clock
        self._tasks = tasks
        self._queue = FairQueue()
        self._waiting: dict[str, ActiveSubmission] = {}
        self._running = 0

    def __len__(self) -> int:
        return len(self._queue)

    def waiting(self) -> Iterator[Submission]:
        """Yield the waiting submissions in approximately the order in which they will be served."""
        return (self._waiting[item].submission for item in self._queue.heads())

    def position(self, owner: str) -> int:
        """Return about how many X-rays precede a new one of this owner."""
        return self._queue.position(owner)

    def add(self, active: ActiveSubmission) -> None:
        """Let a submission wait for its X-ray."""
        self._waiting[active.id] = active
        self._queue.push(active.owner, active.id)
        self._tasks.wake()

    def remove(self, active: ActiveSubmission) -> bool:
        """Remove a submission; return whether it was still waiting."""
        return self._queue.remove(active.id) and self._waiting.pop(active.id, None) is not None

    def start_next(self) -> None:
        """Start as many X-rays as may run at the same time."""
        while self._running < CONCURRENT_XRAYS and (submission_id := self._queue.pop()):
            self._running += 1
            self._tasks.spawn(self._admit(self._waiting.pop(submission_id)))

    async def _admit(self, active: ActiveSubmission) -> None:
        """X-ray a submission, and queue or complete it."""
        try:
            code, problem_def = await self._submissions.sources.get(active.id)
            xray = await self._run_xray(active.submission, code)
        finally:
            self._running -= 1
            self._queue.done(active.owner)
            self._tasks.wake()
        if active.submission.endpoint == Endpoint.XRAY:
            await self._submissions.complete(active, xray)
            return
        # The service does not know a problem that an operator sent: its judge decides what compiles.
        if xray.compiles is False and problem_def is None:
            await self._store.append_event(active.id, xray.fields(), self._clock.now())
            await self._submissions.complete(active, compile_error(xray))
            return
        await self._store.admit(active.id, xray.fields(), self._clock.now())
        if active.cancel_requested:
            await self._submissions.complete(active, cancelled())
            return
        self._submissions.enqueue(active)

    async def _run_xray(self, submission: Submission, code: str) -> Xray:
        try:
            return await self._xray(submission, code)
        except Exception as error:  # a broken X-ray must not cost a submission its verdict
            log.exception("the X-ray of submission %s failed; continuing without it", submission.id)
            return Xray(
                arch="",
                gpu=submission.gpu,
                compiler="",
                compiles=None,
                kernels=[],
                findings=[],
                notes=[f"The X-ray failed: {error}"],
            )
