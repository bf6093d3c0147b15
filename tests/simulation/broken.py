"""Orchestrators with one classic mistake each. The simulation must find all of them."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlalchemy import update

from warmfront.money.book import Book
from warmfront.orchestrator import VMOrchestrator
from warmfront.store import schema
from warmfront.submission import SubmissionState
from warmfront.vm import VMState

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from warmfront.orchestrator.state import Machine, Track
    from warmfront.submission import NewSubmission, Submission


class LockedWhileProvisioning(VMOrchestrator):
    """Holds its lock from the decision to lease a VM until the VM is ready."""

    def __init__(self, **ports: Any) -> None:
        super().__init__(**ports)
        self._lock = asyncio.Lock()

    async def submit(self, new: NewSubmission) -> Submission:
        """Accept a submission when the lock is free."""
        async with self._lock:
            return await super().submit(new)

    async def _work(self) -> None:
        while True:
            await asyncio.sleep(0.1)
            async with self._lock:
                self._decide()
                while any(vm.state is VMState.PROVISIONING for vm in self.pool()):  # noqa: ASYNC110 - the mistake to be found
                    await asyncio.sleep(0.1)


class ForgetsEscrowOnRetry(VMOrchestrator):
    """Reserves the worst case of a first VM, and nothing for the VM of a retry."""

    _retries = False

    def _decide(self) -> None:
        self._retries = self._retries or any(track.lost for track in self._tracks.values())
        self._growth.book = Book(credits_usd=Decimal(10**6)) if self._retries else self._book
        super()._decide()


class RequeuesWithoutLease(VMOrchestrator):
    """Requeues the submission of an unresponsive VM without checking that its attempt is still live."""

    def __init__(self, **ports: Any) -> None:
        super().__init__(**ports)
        self._release = self._fleet.release
        self._fleet.release = self._release_at_once  # type: ignore[method-assign]  # the mistake to be found

    def _release_at_once(self, machine: Machine, reason: str, *, failed: bool = False) -> None:
        tracks = list(machine.running.values()) if failed and not machine.going else []
        self._release(machine, reason, failed=failed)
        for track in tracks:
            if track.attempt is not None:
                machine.running.pop(track.attempt.id, None)
            self._spawn(self._take_back(track))

    async def _take_back(self, track: Track) -> None:
        await self._journal.write(_queue_again, track.id)
        self._outcomes.requeue(track)


def _queue_again(c: Connection, submission_id: str) -> None:
    rows = schema.submissions
    c.execute(
        update(rows).where(rows.c.id == submission_id).values(state=SubmissionState.QUEUED, attempt_id=None)
    )
