"""An orchestrator in real time whose VMs are pretend VMs, with a store in memory."""

from __future__ import annotations

import asyncio
import itertools
import logging
import tempfile
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.pretend_vm.provider import PretendProvider
from warmfront import settings
from warmfront.clock import SystemClock
from warmfront.events import Xray
from warmfront.listener.client import HttpListenerClient
from warmfront.orchestrator.event_log import EventBus, EventLog
from warmfront.orchestrator.orchestrator import VMOrchestrator
from warmfront.store.memory_database import MemoryDatabase
from warmfront.store.store import Store
from warmfront.submission import NewSubmission

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.pretend_vm.machine import PretendMachine
    from warmfront.store.records import StoredEvent
    from warmfront.submission import Submission
    from warmfront.vm import VMInstance

IMAGE = "warmfront-pretend-vm:1"
#: The settings of an operator without a GPU, with the checks of a GPU turned on.
ENVIRON = {
    "WARMFRONT_WORKER_IMAGE": IMAGE,
    "WARMFRONT_CHECK_GPU": "true",
    "WARMFRONT_BUG_FINDER": "false",
    "WARMFRONT_BENCH_BUDGET": "0.05",
    "WARMFRONT_HEARTBEAT": "0.5",
    "AMD_VM_MAX_CONCURRENT": "1",
}


@dataclass(kw_only=True)
class PretendService:
    """A service without HTTP, with one pretend VM at a time."""

    provider: PretendProvider
    orchestrator: VMOrchestrator
    store: Store
    log: EventLog
    ids: itertools.count[int]

    async def submit(
        self, code: str, problem: str, *, endpoint: str = "checker", dtype: str = "float32"
    ) -> Submission:
        """Submit a kernel."""
        return await self.orchestrator.submit(
            NewSubmission(
                id=f"sub_{next(self.ids)}",
                owner="ada",
                problem=problem,
                gpu="MI300X",
                dtype=dtype,
                language="hip",
                endpoint=endpoint,
                file_name="solution.hip",
                code=code,
                created_at=SystemClock().now(),
            )
        )

    async def events(self, submission: Submission) -> list[StoredEvent]:
        """Return all events of a submission, up to its verdict."""
        return [event async for event in self.log.follow(submission.id)]

    async def vms(self) -> list[VMInstance]:
        """Return every VM, oldest first."""
        recent, _ = await self.store.recent_vms()
        return [vm for vm, _ in reversed(recent)]


@asynccontextmanager
async def pretend_service(machine: PretendMachine, **changes: Any) -> AsyncIterator[PretendService]:
    """Run a service on the machine, and end its VMs afterwards.

    Args:
        machine: where its VMs are.
        changes: variables of its environment, or fields of the provider.
    """
    fields = {name: changes.pop(name) for name in ("docker_socket", "leased_toolchain") if name in changes}
    configured = settings.load({**ENVIRON, **changes}, env_file=None)
    database, bus, clock = MemoryDatabase(), EventBus(), SystemClock()
    store = Store(database, bus)
    with tempfile.TemporaryDirectory(prefix="wf-tunnel-") as folder:
        provider = PretendProvider(machine=machine, settings=configured, folder=Path(folder), **fields)
        listeners = HttpListenerClient(lambda vm_id: f"token-of-{vm_id}")
        ids = itertools.count(1)
        orchestrator = VMOrchestrator(
            store=store,
            provider=provider,
            listeners=listeners,
            xray=_xray,
            settings=configured,
            clock=clock,
            token_for=lambda vm_id: f"token-of-{vm_id}",
            new_id=lambda prefix: f"{prefix}_{next(ids)}",
        )
        await orchestrator.start()
        try:
            yield PretendService(
                provider=provider, orchestrator=orchestrator, store=store, log=EventLog(store, bus), ids=ids
            )
        except BaseException:
            for vm_id, vm in provider.vms.items():
                if vm.container and vm.lease.address:
                    logging.getLogger(__name__).exception("output of %s:\n%s", vm_id, provider.output(vm_id))
            raise
        finally:
            await orchestrator.release_all("the test has ended")
            await orchestrator.stop()
            await listeners.close()
            await provider.close()
            await asyncio.sleep(0)  # closed transports end here
            database.dispose()


async def _xray(submission: Submission, code: str) -> Xray:
    del code
    return Xray(arch="gfx942", gpu=submission.gpu, compiler="none", compiles=True, kernels=[], findings=[])
