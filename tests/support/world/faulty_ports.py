"""Database, provider and listeners with injected faults, as one process of the service sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from warmfront.errors import ProviderError, StoreUnavailable, VMUnreachable
from warmfront.providers.base import SpotProvider, max_cpu_nodes, spot_billing

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from sqlalchemy import Connection

    from tests.support.world.faults import FaultInjector
    from warmfront.listener.protocol import AttemptEvent, ExecuteRequest, ListenerClient, ListenerHealth
    from warmfront.money.billing import Billing
    from warmfront.providers.base import Lease, Provider
    from warmfront.store.memory_database import MemoryDatabase
    from warmfront.vm import VMInstance

P = ParamSpec("P")
T = TypeVar("T")


class FaultyDatabase:
    """A `Database` whose calls can be slow, fail, or crash the control plane before or after the commit."""

    def __init__(self, database: MemoryDatabase, injector: FaultInjector) -> None:
        self._database = database
        self._injector = injector

    async def read(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a query with faults."""
        return await self._run("read", query, *args, **kwargs)

    async def write(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a transaction with faults."""
        return await self._run("write", query, *args, **kwargs)

    async def close(self) -> None:
        """Do nothing: the next process continues with the same database."""

    async def _run(
        self, kind: str, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        call, detail = f"store.{kind}", _description(query, args)
        fault = await self._injector.before(call, detail, StoreUnavailable)
        result = self._database.run(query, *args, **kwargs)
        await self._injector.after(fault, call, detail, StoreUnavailable)
        return result


def _description(query: Callable[..., object], args: tuple[object, ...]) -> str:
    """Describe a query for the trace: its name, and the id that it is about."""
    name = getattr(query, "__name__", "query")
    subject = args[0] if args else ""
    return f"{name} {subject if isinstance(subject, str) else getattr(subject, 'id', '')}"


class FaultyProvider:
    """A `Provider` with injected faults."""

    def __init__(self, provider: Provider, injector: FaultInjector) -> None:
        self._provider = provider
        self._injector = injector
        self.name = provider.name
        self.toolchain = provider.toolchain
        self.simulated = provider.simulated
        self.vms_outlive_service = provider.vms_outlive_service
        self.foreign_vms = provider.foreign_vms
        self.max_vms = provider.max_vms
        self.max_cpu_nodes = max_cpu_nodes(provider)

    def gpu_counts(self, gpu: str) -> Sequence[int]:
        """Return the provider's sizes of VMs; no fault is injected."""
        return self._provider.gpu_counts(gpu)

    def billing(self, gpu: str, gpu_count: int = 1) -> Billing:
        """Return the provider's billing model; no fault is injected."""
        return self._provider.billing(gpu, gpu_count)

    def spot_billing(self, gpu: str, gpu_count: int = 1) -> Billing | None:
        """Return the provider's billing model of spot VMs; no fault is injected."""
        return spot_billing(self._provider, gpu, gpu_count)

    def provision_spot(self, vm_id: str, gpu: str, token: str, *, gpu_count: int = 1) -> AsyncIterator[Lease]:
        """Provision a spot VM, with the faults of `provision`."""
        assert isinstance(self._provider, SpotProvider)
        leases = self._provider.provision_spot(vm_id, gpu, token, gpu_count=gpu_count)
        return self._faulty_leases(vm_id, leases)

    def typical_boot_s(self, gpu: str) -> float:
        """Return the provider's typical boot time; no fault is injected."""
        return self._provider.typical_boot_s(gpu)

    def slots(self, gpu: str, gpu_count: int = 1) -> int:
        """Return the provider's slots; no fault is injected."""
        return self._provider.slots(gpu, gpu_count)

    async def check_ready(self, gpu: str) -> None:
        """Ask the provider; no fault is injected."""
        await self._provider.check_ready(gpu)

    def provision(self, vm_id: str, gpu: str, token: str, *, gpu_count: int = 1) -> AsyncIterator[Lease]:
        """Provision a VM, with faults before the first lease and at each lease."""
        leases = self._provider.provision(vm_id, gpu, token, gpu_count=gpu_count)
        return self._faulty_leases(vm_id, leases)

    async def _faulty_leases(self, vm_id: str, leases: AsyncIterator[Lease]) -> AsyncIterator[Lease]:
        fault, call = (
            await self._injector.before("provider.provision", vm_id, ProviderError),
            "provider.provision",
        )
        async for lease in leases:
            await self._injector.after(fault, call, vm_id, ProviderError)
            yield lease
            call = f"phase.{lease.phase}"
            fault = await self._injector.before(call, vm_id, ProviderError)

    async def release(self, vm_id: str) -> Lease:
        """Release a VM, with faults."""
        fault = await self._injector.before("provider.release", vm_id, ProviderError)
        lease = await self._provider.release(vm_id)
        await self._injector.after(fault, "provider.release", vm_id, ProviderError)
        return lease

    def end_command(self, machine_id: str | None) -> str:
        """Return the command of the provider."""
        return self._provider.end_command(machine_id)

    async def describe(self, vm_id: str) -> Lease | None:
        """Describe a VM, with faults."""
        fault = await self._injector.before("provider.describe", vm_id, ProviderError)
        lease = await self._provider.describe(vm_id)
        await self._injector.after(fault, "provider.describe", vm_id, ProviderError)
        return lease

    async def leases(self) -> list[Lease]:
        """List the leases, with faults."""
        fault = await self._injector.before("provider.leases", "", ProviderError)
        leases = await self._provider.leases()
        await self._injector.after(fault, "provider.leases", "", ProviderError)
        return leases

    async def close(self) -> None:
        """Do nothing: the cloud outlives the process."""


class FaultyListeners:
    """A `ListenerClient` with injected faults; its streams break and repeat events."""

    def __init__(self, listeners: ListenerClient, injector: FaultInjector) -> None:
        self._listeners = listeners
        self._injector = injector

    async def execute(self, vm: VMInstance, attempt: ExecuteRequest) -> AsyncIterator[AttemptEvent]:
        """Start an attempt, with faults."""
        call, detail = "listener.execute", f"{vm.id} {attempt.id}"
        fault = await self._injector.before(call, detail, VMUnreachable)
        begun = False
        async for line in self._faulty(self._listeners.execute(vm, attempt), call, detail):
            if not begun:
                begun = True
                await self._injector.after(fault, call, detail, VMUnreachable)
            yield line

    async def events(self, vm: VMInstance, attempt_id: str, after: int) -> AsyncIterator[AttemptEvent]:
        """Re-attach to an attempt, with faults."""
        call, detail = "listener.events", f"{vm.id} {attempt_id} after {after}"
        fault = await self._injector.before(call, detail, VMUnreachable)
        async for line in self._faulty(self._listeners.events(vm, attempt_id, after), call, detail):
            yield line
        await self._injector.after(fault, call, detail, VMUnreachable)

    async def cancel(self, vm: VMInstance, attempt_id: str) -> None:
        """Cancel an attempt, with faults."""
        call, detail = "listener.cancel", f"{vm.id} {attempt_id}"
        fault = await self._injector.before(call, detail, VMUnreachable)
        await self._listeners.cancel(vm, attempt_id)
        await self._injector.after(fault, call, detail, VMUnreachable)

    async def health(self, vm: VMInstance) -> ListenerHealth:
        """Ask for the health of a VM, with faults."""
        fault = await self._injector.before("listener.health", vm.id, VMUnreachable)
        health = await self._listeners.health(vm)
        await self._injector.after(fault, "listener.health", vm.id, VMUnreachable)
        return health

    async def heartbeat(self, vm: VMInstance) -> ListenerHealth:
        """Send a heartbeat, with faults."""
        fault = await self._injector.before("listener.heartbeat", vm.id, VMUnreachable)
        health = await self._listeners.heartbeat(vm)
        await self._injector.after(fault, "listener.heartbeat", vm.id, VMUnreachable)
        return health

    async def close(self) -> None:
        """Do nothing: the VMs outlive the process."""

    async def _faulty(
        self, lines: AsyncIterator[AttemptEvent], call: str, detail: str
    ) -> AsyncIterator[AttemptEvent]:
        """Yield the events, some of them twice, until the stream breaks with or without an error."""
        faults = self._injector.faults
        async for line in lines:
            fault = await self._injector.before("line", f"{detail} line {line.seq}", VMUnreachable)
            yield line
            if faults.duplicates_event(call):
                yield line
            await self._injector.after(fault, "line", f"{detail} line {line.seq}", VMUnreachable)
            if faults.breaks_stream(call):
                faults.note(f"{call} {detail} breaks off")
                return
