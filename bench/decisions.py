"""Decisions per second of the orchestrator with 1,000 and 10,000 VMs and 100,000 queued submissions.

The figures are divided by the figure for 10 VMs and 1,000 submissions. A decision assigns one submission to
one VM: it selects both, checks the budget, and decides whether to provision another VM. Decisions are not
executed, so store and network do not count.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from warmfront.clock import SystemClock
from warmfront.orchestrator.orchestrator import VMOrchestrator
from warmfront.orchestrator.submission_lifecycle import ActiveSubmission
from warmfront.settings import Settings
from warmfront.store.memory_database import MemoryDatabase
from warmfront.store.store import Store
from warmfront.submission import Submission, SubmissionState
from warmfront.testing.fake_listeners import FakeListeners
from warmfront.testing.fake_provider import FakeProvider
from warmfront.vm import VMInstance, VMState

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from warmfront.events import Xray

OWNERS = 100
SECONDS = 2.0


class DecidingOrchestrator(VMOrchestrator):
    """An orchestrator that makes decisions but does not execute them."""

    def __init__(self, **ports: Any) -> None:  # noqa: ANN401 - the arguments of the superclass
        super().__init__(**ports)
        self._tasks.spawn = _discard  # type: ignore[method-assign,assignment]  # decisions are not executed

    def fill(self, vms: int, queued: int) -> None:
        """Fill the pool with free VMs and the queue with submissions."""
        now = self._clock.now()
        for number in range(vms):
            vm = VMInstance(
                id=f"vm{number}",
                provider="simulated",
                gpu="MI300X",
                state=VMState.IDLE,
                created_at=now,
                started_at=now,
                ready_at=now + number / 1e6,
                deadline_at=now + 600,
            )
            self._pool.offer(self._pool.resume(vm))
        for number in range(queued):
            self.enqueue(number)

    def enqueue(self, number: int) -> None:
        """Queue one more submission."""
        submission = Submission(
            id=f"sub{number}",
            owner=f"user{number % OWNERS}",
            problem="relu",
            gpu="MI300X",
            dtype="float32",
            language="hip",
            endpoint="submit",
            file_name="k.hip",
            code_sha256="",
            state=SubmissionState.QUEUED,
            created_at=0.0,
        )
        active = ActiveSubmission(submission=submission)
        self._submissions.track(active)
        self._submissions.enqueue(active)

    def round(self) -> int:
        """End every running attempt, decide after each, and return the number of decisions."""
        self._decide()
        decided = 0
        for pooled in list(self._pool.all()):
            for attempt_id, active in list(pooled.running.items()):
                del pooled.running[attempt_id]
                pooled.vm = replace(pooled.vm, deadline_at=self._clock.now() + 600)
                self._pool.offer(pooled)
                self._submissions.finish_attempt(active, "ACCEPTED")
                self._decide()
                decided += 1
        return decided


def _discard(work: Coroutine[object, object, None]) -> None:
    work.close()


async def measure(vms: int, queued: int) -> float:
    """Return the number of decisions per second."""
    clock, database = SystemClock(), MemoryDatabase()
    provider = FakeProvider(clock=clock, seed=1)
    store, ids = Store(database), itertools.count()

    async def xray(_submission: Submission, _code: str) -> Xray:
        raise AssertionError("no submission is X-rayed in this benchmark")

    orchestrator = DecidingOrchestrator(
        store=store,
        provider=provider,
        listeners=FakeListeners(provider, clock=clock, seed=1, watchdog_s=1e9),
        xray=xray,
        settings=Settings(max_vms=vms, credits_usd=Decimal(1_000_000)),
        clock=clock,
        token_for=lambda vm_id: vm_id,
        new_id=lambda kind: f"{kind}-{next(ids)}",
    )
    orchestrator.fill(vms, queued)
    decided, number, start = 0, queued, time.perf_counter()
    while (elapsed_s := time.perf_counter() - start) < SECONDS:
        done = orchestrator.round()
        decided += done
        for _ in range(done):  # keep the length of the queue constant
            orchestrator.enqueue(number)
            number += 1
    database.dispose()
    return decided / elapsed_s


def main() -> None:
    """Measure all sizes and print the ratios."""
    small = asyncio.run(measure(10, 1_000))
    print(f"      10 VMs,   1,000 queued: {small:9,.0f} decisions per second")
    for vms in (1_000, 10_000):
        large = asyncio.run(measure(vms, 100_000))
        print(f"  {vms:6,} VMs, 100,000 queued: {large:9,.0f} decisions per second")
        print(f"  ratio of large to small: {large / small:.2f}")


if __name__ == "__main__":
    main()
