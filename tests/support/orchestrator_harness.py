"""The orchestrator and its parts in virtual time, with fake VMs, for unit tests."""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING, Any

from warmfront.events import Xray
from warmfront.orchestrator.event_log import EventBus, EventLog
from warmfront.orchestrator.orchestrator import VMOrchestrator
from warmfront.settings import Settings
from warmfront.simulate.virtual_time import VirtualClock, run_virtual
from warmfront.store.memory_database import MemoryDatabase
from warmfront.store.store import Store
from warmfront.submission import NewSubmission
from warmfront.testing.fake_listeners import FakeListeners
from warmfront.testing.fake_provider import FakeProvider

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from decimal import Decimal

    from warmfront.store.records import AttemptRecord, StoredEvent
    from warmfront.submission import Submission
    from warmfront.usage_limits import DailyCaps
    from warmfront.vm import VMInstance


class OrchestratorHarness:
    """An orchestrator on fake VMs. Its parts are reachable, so that a test can call one directly."""

    def __init__(
        self,
        *,
        database: MemoryDatabase | None = None,
        slots: int = 1,
        sizes: tuple[int, ...] = (1,),
        cpu_nodes: int = 0,
        offers: tuple[Decimal, ...] = (),
        **settings: Any,
    ) -> None:
        self.clock = VirtualClock(asyncio.get_running_loop())
        self.database = database or MemoryDatabase()
        self.bus = EventBus()
        self.store = Store(self.database, self.bus)
        self.log = EventLog(self.store, self.bus)
        self.provider = FakeProvider(
            clock=self.clock, slots=slots, gpu_counts=sizes, max_cpu_nodes=cpu_nodes, offers=offers
        )
        self.listeners = FakeListeners(self.provider, clock=self.clock)
        self.settings = Settings(**settings)
        self._ids = itertools.count(1)
        self.orchestrator = self.new_orchestrator()

    def new_orchestrator(self) -> VMOrchestrator:
        """Return another orchestrator on the same store and cloud, as after a restart."""
        return VMOrchestrator(
            store=self.store,
            provider=self.provider,
            listeners=self.listeners,
            xray=_xray,
            settings=self.settings,
            clock=self.clock,
            token_for=lambda vm_id: f"token of {vm_id}",
            new_id=lambda prefix: f"{prefix}{next(self._ids)}",
        )

    async def submit(
        self,
        *,
        gpu: str = "MI300X",
        owner: str = "ada",
        work_s: float = 5.0,
        endpoint: str = "checker",
        caps: DailyCaps | None = None,
    ) -> Submission:
        """Submit a kernel that runs for `work_s`."""
        number = next(self._ids)
        return await self.orchestrator.submit(
            NewSubmission(
                id=f"sub{number}",
                owner=owner,
                problem="leaky-relu",
                gpu=gpu,
                dtype="float32",
                language="hip",
                endpoint=endpoint,
                file_name="solution.hip",
                code=f"// key{number} GOOD {work_s:.3f}\n",
                created_at=self.clock.now(),
            ),
            caps=caps,
        )

    async def follow(self, submission: Submission) -> list[StoredEvent]:
        """Return all events of a submission, up to its verdict."""
        return [event async for event in self.log.follow(submission.id)]

    async def vms(self) -> list[VMInstance]:
        """Return every VM in the store, oldest first."""
        recent, _ = await self.store.recent_vms()
        return [vm for vm, _ in reversed(recent)]

    def attempts(self, submission: Submission) -> list[AttemptRecord]:
        """Return the attempts of a submission."""
        from warmfront.store import attempt_queries  # noqa: PLC0415 - internal to the store

        return self.database.run(attempt_queries.of_submission, submission.id)


async def _xray(submission: Submission, code: str) -> Xray:
    del code
    return Xray(arch="gfx942", gpu=submission.gpu, compiler="none", compiles=True, kernels=[], findings=[])


def orchestrated(
    *, start: bool = True, **settings: Any
) -> Callable[[Callable[[OrchestratorHarness], Awaitable[None]]], Callable[[], None]]:
    """Run a test in virtual time with a started orchestrator that has these settings."""

    def decorate(test: Callable[[OrchestratorHarness], Awaitable[None]]) -> Callable[[], None]:
        async def main() -> None:
            harness = OrchestratorHarness(**settings)
            try:
                if start:
                    await harness.orchestrator.start()
                await test(harness)
                await harness.orchestrator.stop()
            finally:
                harness.database.dispose()

        def run() -> None:
            run_virtual(main())

        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        return run

    return decorate
