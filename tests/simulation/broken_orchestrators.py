"""Orchestrators with one classic mistake each. The simulation must find all of them."""

from __future__ import annotations

import asyncio
import copy
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlalchemy import update

from warmfront.money.escrow import Escrow
from warmfront.orchestrator import VMOrchestrator
from warmfront.store import schema
from warmfront.submission import SubmissionState
from warmfront.vm import VMState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from warmfront.orchestrator.pooled_vm import PooledVM
    from warmfront.orchestrator.submission_lifecycle import ActiveSubmission
    from warmfront.submission import NewSubmission, Submission
    from warmfront.usage_limits import DailyCaps, Quota


class LockedWhileProvisioning(VMOrchestrator):
    """Holds its lock from the decision to lease a VM until the VM is ready."""

    def __init__(self, **ports: Any) -> None:
        super().__init__(**ports)
        self._lock = asyncio.Lock()

    async def submit(
        self, new: NewSubmission, *, quotas: Sequence[Quota] = (), caps: DailyCaps | None = None
    ) -> Submission:
        """Store a submission when the lock is free."""
        async with self._lock:
            return await super().submit(new, quotas=quotas, caps=caps)

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
        active = self._submissions._active.values()
        if not self._retries and any(submission.lost_attempts for submission in active):
            self._retries = True
            self._autoscaler._budget = copy.copy(self._budget)
            self._autoscaler._budget.escrow = Escrow(credits_usd=Decimal(10**6))
        super()._decide()


class MetersAtTheHighestPrice(VMOrchestrator):
    """Meters every VM at the configured rate, whatever its own price is."""

    def __init__(self, **ports: Any) -> None:
        super().__init__(**ports)
        budget = self._budget
        budget.billing_of = lambda vm: budget.billing(vm.gpu, vm.gpu_count)  # type: ignore[method-assign]  # the mistake


class RequeuesWithoutLease(VMOrchestrator):
    """Requeues the submission of an unresponsive VM without checking that its attempt is still live."""

    def __init__(self, **ports: Any) -> None:
        super().__init__(**ports)
        self._release = self._pool.release
        self._pool.release = self._release_at_once  # type: ignore[method-assign]  # the planted mistake

    def _release_at_once(
        self, pooled: PooledVM, reason: str, *, failed: bool = False, lost: bool = False
    ) -> None:
        running = list(pooled.running.values()) if failed and not pooled.releasing else []
        self._release(pooled, reason, failed=failed, lost=lost)
        for active in running:
            if active.attempt is not None:
                pooled.remove(active.attempt.id)
            self._tasks.spawn(self._take_back(active))

    async def _take_back(self, active: ActiveSubmission) -> None:
        await self._retrying.database.write(_queue_again, active.id)
        self._submissions.requeue(active)


def _queue_again(conn: Connection, submission_id: str) -> None:
    rows = schema.submissions
    conn.execute(
        update(rows).where(rows.c.id == submission_id).values(state=SubmissionState.QUEUED, attempt_id=None)
    )


class SharesSlots(VMOrchestrator):
    """Assigns every attempt to the first slot of its VM."""

    def __init__(self, **ports: Any) -> None:
        super().__init__(**ports)
        assign = self._attempts.assign

        def assign_to_first(active: ActiveSubmission, pooled: PooledVM) -> None:
            assign(active, pooled)
            assert active.attempt is not None
            active.attempt = replace(active.attempt, slot=0)

        self._attempts.assign = assign_to_first  # type: ignore[method-assign]
