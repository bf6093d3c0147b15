"""Simulated authors: they retry requests, follow their events across disconnects, and cancel.

An author sees only what a client of the API sees, and reports violations that a client would notice.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from warmfront.errors import Conflict, NotFound, StoreUnavailable
from warmfront.submission import NewSubmission
from warmfront.verdicts import is_terminal

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Coroutine

    from tests.support.world.faults import ControlPlaneProcess
    from tests.support.world.scenario import PlannedSubmission
    from warmfront.clock import Clock
    from warmfront.orchestrator.event_log import EventLog
    from warmfront.store.records import StoredEvent
    from warmfront.submission import Submission

_PAUSE_S = 1.0


class OrchestratorPort(Protocol):
    """The part of an orchestrator that an author uses."""

    async def submit(self, new: NewSubmission) -> Submission:
        """Accept a submission."""

    async def cancel(self, submission_id: str) -> Submission:
        """Cancel a submission."""


@dataclass(frozen=True, kw_only=True)
class RunningService:
    """The service while it runs."""

    process: ControlPlaneProcess
    orchestrator: OrchestratorPort
    log: EventLog


@dataclass(kw_only=True, eq=False)
class Author:
    """An author that makes one submission and follows it to its verdict."""

    planned: PlannedSubmission
    clock: Clock
    up: Callable[[], Coroutine[Any, Any, RunningService]]  #: waits until the service runs
    new_id: Callable[[str], str]
    report_violation: Callable[[str], None]
    still_running: Callable[[str], bool]  #: whether any VM works on this key; only the world knows
    rng: random.Random
    submission_id: str | None = None  #: set by the first response
    response_s: float = 0.0  #: how long the response took
    events: list[StoredEvent] = field(default_factory=list)
    cancelled: bool = False  #: whether the author cancelled it

    async def live(self) -> None:
        """Submit, follow the events, and perhaps cancel."""
        await asyncio.sleep(self.planned.at_s)
        self.submission_id = await self._submit()
        if self.submission_id is None:
            return
        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow(self.submission_id))
            if self.planned.cancel_after_s is not None:
                group.create_task(self._cancel(self.submission_id, self.planned.cancel_after_s))

    async def _submit(self) -> str | None:
        patience_s = self.planned.timeout_s
        while True:
            service = await self.up()
            sent_at = self.clock.now()
            try:
                async with asyncio.timeout(patience_s):
                    record = await service.process.call(service.orchestrator.submit(self._new()))
            except (ConnectionError, StoreUnavailable, TimeoutError):
                if not self.planned.retries:
                    return None  # it may be stored or not; this author does not retry
                patience_s = None
                await asyncio.sleep(_PAUSE_S)
            else:
                self.response_s = self.clock.now() - sent_at
                return record.id

    def _new(self) -> NewSubmission:
        return NewSubmission(
            id=self.new_id("sub"),
            owner=self.planned.owner,
            problem="leaky-relu",
            gpu="MI300X",
            dtype="float32",
            language="hip",
            endpoint=str(self.planned.endpoint),
            file_name="solution.hip",
            code=self.planned.kernel.source(),
            created_at=self.clock.now(),
            idempotency_key=self.planned.kernel.key if self.planned.retries else None,
        )

    async def _follow(self, submission_id: str) -> None:
        """Read every event once, across disconnects."""
        while not self._has_verdict():
            service = await self.up()
            reading = service.process.spawn(self._read(service.log, submission_id))
            patience_s = (
                None
                if self.planned.reconnect_s is None
                else self.planned.reconnect_s * (0.1 + self.rng.random())
            )
            either: list[asyncio.Future[Any]] = [reading, service.process.died]
            await asyncio.wait(either, timeout=patience_s, return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                self._judge(reading)
            else:
                reading.cancel()
            if not self._has_verdict():
                await asyncio.sleep(_PAUSE_S * self.rng.random())

    async def _read(self, log: EventLog, submission_id: str) -> None:
        async for event in log.follow(submission_id, after=len(self.events)):
            if event.id != len(self.events) + 1:
                self.report_violation(f"{submission_id}: event {event.id} follows event {len(self.events)}")
            if self._has_verdict():
                self.report_violation(f"{submission_id}: {event.status} follows the verdict")
            self.events.append(event)

    def _judge(self, reading: asyncio.Task[None]) -> None:
        """Check that a stream which ended has delivered the verdict, or failed for a known reason."""
        error = reading.exception() if not reading.cancelled() else None
        if isinstance(error, StoreUnavailable):
            return
        if error is not None:
            self.report_violation(f"{self.submission_id}: its stream failed with {error!r}")
        elif not self._has_verdict():
            self.report_violation(f"{self.submission_id}: its stream ended without a verdict")

    def _has_verdict(self) -> bool:
        return bool(self.events) and is_terminal(self.events[-1].status, self.planned.endpoint)

    async def _cancel(self, submission_id: str, after_s: float) -> None:
        await asyncio.sleep(after_s)
        while True:
            service = await self.up()
            self.cancelled = True
            try:
                record = await service.process.call(service.orchestrator.cancel(submission_id))
            except (ConnectionError, StoreUnavailable):
                await asyncio.sleep(_PAUSE_S)
                continue
            except (Conflict, NotFound) as refusal:
                if isinstance(refusal, NotFound):
                    self.report_violation(f"{submission_id} was not found for its owner")
                return
            if record.verdict is None:
                self.report_violation(f"{submission_id}: cancel returned before the verdict")
            if self.still_running(self.planned.kernel.key):
                self.report_violation(f"{submission_id}: cancel returned while a VM still works on it")
            return
