"""A service with a judge that does nothing, to measure the cost of the service itself.

The API, the orchestrator and the store on an SQLite file are real; provider, listener and X-ray respond
immediately. `python -m bench.trivial DIRECTORY [SLOTS] [EVENTS] [PAUSE_S]` prints its address and serves
until it is killed.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
import sys
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn

from warmfront.api.app import create_app
from warmfront.api.context import ServiceContext
from warmfront.clock import SystemClock
from warmfront.events import Xray
from warmfront.listener.protocol import AttemptEvent, ExecuteRequest, ListenerHealth
from warmfront.money.billing import Billing
from warmfront.orchestrator import EventBus, EventLog, VMInstance, VMOrchestrator
from warmfront.providers.base import Lease, Phase
from warmfront.settings import Settings
from warmfront.store.sql_database import open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from warmfront.hip.xray import XrayReport
    from warmfront.problems.spec import Dtype, Problem
    from warmfront.providers.ownership import ForeignVM
    from warmfront.submission import Submission


_FREE = Billing(rate_usd_per_h=Decimal(0))


class TrivialProvider:
    """A provider whose VMs are ready immediately and cost nothing."""

    name = "trivial"
    toolchain: str | None = None
    simulated = True
    vms_outlive_service = True
    foreign_vms: Sequence[ForeignVM] = ()
    max_vms: int | None = None

    def __init__(self, slots: int) -> None:
        self._slots = slots
        self._leases: dict[str, Lease] = {}

    def gpu_counts(self, gpu: str) -> tuple[int, ...]:
        """Return one GPU per VM."""
        del gpu
        return (1,)

    def billing(self, gpu: str, gpu_count: int = 1) -> Billing:
        """Return a price of zero."""
        del gpu, gpu_count
        return _FREE

    def typical_boot_s(self, gpu: str) -> float:
        """Return a boot time with which another VM is never worth its cost."""
        del gpu
        return 1000.0

    def slots(self, gpu: str, gpu_count: int = 1) -> int:
        """Return the number of slots given at creation."""
        del gpu, gpu_count
        return self._slots

    async def check_ready(self, gpu: str) -> None:
        """Do nothing: this provider is always ready."""

    async def provision(
        self, vm_id: str, gpu: str, token: str, *, gpu_count: int = 1
    ) -> AsyncIterator[Lease]:
        """Yield a lease that is ready."""
        del gpu, token, gpu_count
        self._leases[vm_id] = Lease(vm_id=vm_id, phase=Phase.READY, started_at=0.0, address="http://trivial")
        yield self._leases[vm_id]

    async def release(self, vm_id: str) -> Lease:
        """End the VM now."""
        self._leases.pop(vm_id, None)
        return Lease(vm_id=vm_id, phase=Phase.ENDED, started_at=0.0, ended_at=0.0)

    def end_command(self, machine_id: str | None) -> str:  # noqa: ARG002 - see below
        """Return no command: the machine has no name of its own."""
        return "there is no command"

    async def describe(self, vm_id: str) -> Lease | None:
        """Return the lease of a live VM."""
        return self._leases.get(vm_id)

    async def leases(self) -> list[Lease]:
        """Return the leases of all live VMs."""
        return list(self._leases.values())

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


class TrivialListeners:
    """Listeners on which every attempt succeeds."""

    def __init__(self, events: int, pause_s: float) -> None:
        self._events = events
        self._pause_s = pause_s

    async def execute(self, vm: VMInstance, attempt: ExecuteRequest) -> AsyncIterator[AttemptEvent]:
        """Yield a number of events, then the verdict."""
        del vm
        for seq in range(1, self._events + 1):
            if self._pause_s:
                await asyncio.sleep(self._pause_s)
            yield AttemptEvent(seq=seq, fields={"status": "TEST_RESULT", "attempt": attempt.id})
        yield AttemptEvent(seq=self._events + 1, fields={"status": "CHECKED", "simulated": True})

    async def events(self, vm: VMInstance, attempt_id: str, after: int) -> AsyncIterator[AttemptEvent]:
        """Raise `AssertionError`: no stream is ever resumed."""
        raise AssertionError(vm, attempt_id, after)
        yield

    async def cancel(self, vm: VMInstance, attempt_id: str) -> None:
        """Do nothing: no submission is cancelled."""

    async def health(self, vm: VMInstance) -> ListenerHealth:
        """Report the listener as healthy."""
        return ListenerHealth(
            version="",
            toolchain="",
            gpu=vm.gpu,
            simulated=True,
            running=(),
            uptime_s=0.0,
            slots=vm.slots,  # as many as the provider announced
        )

    heartbeat = health

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


async def _xray(_submission: Submission, _code: str) -> Xray:
    return Xray(arch="gfx942", gpu="MI300X", compiler="", compiles=True, kernels=[], findings=[])


async def _no_report(source: str, *, arch: str, problem: Problem | None, dtype: Dtype | None) -> XrayReport:
    raise AssertionError(source, arch, problem, dtype)


async def serve(directory: Path, *, slots: int, listeners: TrivialListeners) -> None:
    """Serve until the process is killed."""
    settings = Settings(
        data_dir=directory,
        rate_limit_per_min=10**9,
        daily_submissions=10**9,
        streams_per_user=10**9,
        max_vms=1,
    )
    clock, provider = SystemClock(), TrivialProvider(slots)
    bus = EventBus()
    store = await open_store(settings, bus=bus)
    log = EventLog(store, bus)

    def new_id(kind: str) -> str:
        return f"{kind}_{secrets.token_hex(12)}"

    orchestrator = VMOrchestrator(
        store=store,
        provider=provider,
        listeners=listeners,
        xray=_xray,
        settings=settings,
        clock=clock,
        token_for=lambda vm_id: vm_id,
        new_id=new_id,
    )
    await orchestrator.start()
    app = create_app(
        ServiceContext(
            settings=settings,
            store=store,
            orchestrator=orchestrator,
            log=log,
            provider=provider,
            clock=clock,
            new_id=new_id,
            xray=_no_report,
        )
    )
    listening = socket.create_server(("127.0.0.1", 0), backlog=4096)
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    await uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False)).serve([listening])


if __name__ == "__main__":
    arguments = sys.argv[1:]
    asyncio.run(
        serve(
            Path(arguments[0]),
            slots=int(arguments[1]) if len(arguments) > 1 else 8,
            listeners=TrivialListeners(
                events=int(arguments[2]) if len(arguments) > 2 else 10,
                pause_s=float(arguments[3]) if len(arguments) > 3 else 0.0,
            ),
        )
    )
