"""The queue for X-rays of new submissions and of plain requests: a few at a time, fair between users.

A compiler keeps a core of the service's machine busy, so both kinds wait in one queue, and no user can occupy
all of its places. A submission whose source the target's compiler rejects ends here, at no cost. This module
does not use VMs.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from warmfront.errors import RateLimitExceeded
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

T = TypeVar("T")

#: Concurrent X-rays: each keeps a core busy.
CONCURRENT_XRAYS = 2
#: Concurrent X-rays per user, so that one user's slow X-rays do not delay the others.
XRAYS_PER_USER = CONCURRENT_XRAYS - 1
#: Waiting requests per user. Submissions are limited by their quotas.
MAX_WAITING_REQUESTS = 8


class TooManyXrays(RateLimitExceeded):
    """The user has too many waiting X-ray requests."""

    def __init__(self) -> None:
        super().__init__(
            f"Too many X-ray requests: at most {MAX_WAITING_REQUESTS} per user may wait.",
            hint="Wait for the responses to earlier requests.",
        )


class XrayQueue:
    """The submissions that wait for their X-ray, in state ADMITTING, and requests for one."""

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
        self._queue = FairQueue(max_running_per_owner=XRAYS_PER_USER)
        self._waiting: dict[str, ActiveSubmission] = {}
        self._turns: dict[str, asyncio.Future[None]] = {}  # the turns of requests, by their item in the queue
        self._requests_of: Counter[str] = Counter()  # waiting requests, by user
        self._request_numbers = itertools.count(1)
        self._running = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def waiting(self) -> Iterator[Submission]:
        """Yield the waiting submissions in approximately the order in which they will be served."""
        heads = self._queue.heads()
        return (self._waiting[item].submission for item in heads if item in self._waiting)

    def position(self, owner: str) -> int:
        """Estimate how many X-rays precede a new one of this owner."""
        return self._queue.position(owner)

    def add(self, active: ActiveSubmission) -> None:
        """Queue a submission for its X-ray."""
        self._waiting[active.id] = active
        self._queue.push(active.owner, active.id)
        self._tasks.wake()

    def remove(self, active: ActiveSubmission) -> bool:
        """Remove a submission; return whether it was still waiting."""
        return self._queue.remove(active.id) and self._waiting.pop(active.id, None) is not None

    def start_next(self) -> None:
        """Start as many X-rays as may run at the same time."""
        while self._running < CONCURRENT_XRAYS and (item := self._queue.pop()):
            self._running += 1
            turn = self._turns.get(item)
            if turn is None:
                self._tasks.spawn(self._admit(self._waiting.pop(item)))
            elif not turn.done():  # a cancelled request releases its place itself
                turn.set_result(None)

    async def run_request(self, user: str, make_xray: Callable[[], Awaitable[T]]) -> T:
        """Make an X-ray without a submission when it is this user's turn. Cancelling it frees its place.

        Raises:
            TooManyXrays: too many requests of this user are waiting.
        """
        await self._wait_for_turn(user)
        try:
            return await make_xray()
        finally:
            self._end(user)
            self.start_next()

    async def _wait_for_turn(self, user: str) -> None:
        if self._requests_of[user] >= MAX_WAITING_REQUESTS:
            raise TooManyXrays
        item = f"request {next(self._request_numbers)}"
        turn = self._turns[item] = asyncio.get_running_loop().create_future()
        self._requests_of[user] += 1
        self._queue.push(user, item)
        self.start_next()
        try:
            await turn
        except asyncio.CancelledError:
            if not self._queue.remove(item):  # its turn had started
                self._end(user)
                self.start_next()
            raise
        finally:
            del self._turns[item]
            self._requests_of[user] -= 1
            if not self._requests_of[user]:
                del self._requests_of[user]

    def _end(self, owner: str) -> None:
        """Release the place of an X-ray."""
        self._running -= 1
        self._queue.done(owner)
        self._tasks.wake()

    async def _admit(self, active: ActiveSubmission) -> None:
        """X-ray a submission, and queue or complete it."""
        try:
            source = await self._submissions.sources.get(active.id)
            xray = await self._run_xray(active.submission, source.code)
        finally:
            self._end(active.owner)
        if active.submission.endpoint == Endpoint.XRAY:
            await self._submissions.complete(active, xray)
            return
        # The service has not loaded a problem that an operator sent, so the judge decides whether the source
        # compiles.
        if xray.compiles is False and source.problem_def is None:
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
        except Exception as error:  # a failed X-ray must not prevent a verdict
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
