"""A provider and listeners as one incarnation of the control plane sees them: through a gate of faults.

They add what can go wrong with a call, and nothing of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.errors import ProviderError, VMUnreachable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from warmfront.listener.protocol import AttemptEvent, ExecuteRequest, ListenerClient, ListenerHealth
    from warmfront.money.billing import Billing
    from warmfront.providers.base import Lease, Provider
    from warmfront.testing.faults import Gate
    from warmfront.vm import VMInstance


class FaultyProvider:
    """A `Provider` behind a gate."""

    def __init__(self, provider: Provider, gate: Gate) -> None:
        self._provider = provider
        self._gate = gate
        self.name = provider.name
        self.simulated = provider.simulated

    def billing(self, gpu: str) -> Billing:
        """Return the provider's billing model; no fault is injected."""
        return self._provider.billing(gpu)

    def typical_boot_s(self, gpu: str) -> float:
        """Return the provider's typical boot time; no fault is injected."""
        return self._provider.typical_boot_s(gpu)

    def slots(self, gpu: str) -> int:
        """Return the provider's slots; no fault is injected."""
        return self._provider.slots(gpu)

    async def provision(self, vm_id: str, gpu: str, token: str) -> AsyncIterator[Lease]:
        """As the provider, with faults before the first lease and at each."""
        fault, call = (
            await self._gate.before("provider.provision", vm_id, ProviderError),
            "provider.provision",
        )
        async for lease in self._provider.provision(vm_id, gpu, token):
            await self._gate.after(fault, call, vm_id, ProviderError)
            yield lease
            call = f"phase.{lease.phase}"
            fault = await self._gate.before(call, vm_id, ProviderError)

    async def release(self, vm_id: str) -> Lease:
        """As the provider."""
        fault = await self._gate.before("provider.release", vm_id, ProviderError)
        lease = await self._provider.release(vm_id)
        await self._gate.after(fault, "provider.release", vm_id, ProviderError)
        return lease

    async def describe(self, vm_id: str) -> Lease | None:
        """As the provider."""
        fault = await self._gate.before("provider.describe", vm_id, ProviderError)
        lease = await self._provider.describe(vm_id)
        await self._gate.after(fault, "provider.describe", vm_id, ProviderError)
        return lease

    async def leases(self) -> list[Lease]:
        """As the provider."""
        fault = await self._gate.before("provider.leases", "", ProviderError)
        leases = await self._provider.leases()
        await self._gate.after(fault, "provider.leases", "", ProviderError)
        return leases

    async def close(self) -> None:
        """The cloud stays."""


class FaultyListeners:
    """A `ListenerClient` behind a gate; its streams break off, and repeat themselves."""

    def __init__(self, listeners: ListenerClient, gate: Gate) -> None:
        self._listeners = listeners
        self._gate = gate

    async def execute(self, vm: VMInstance, attempt: ExecuteRequest) -> AsyncIterator[AttemptEvent]:
        """As the listener."""
        call, detail = "listener.execute", f"{vm.id} {attempt.id}"
        fault = await self._gate.before(call, detail, VMUnreachable)
        begun = False
        async for line in self._faulty(self._listeners.execute(vm, attempt), call, detail):
            if not begun:
                begun = True
                await self._gate.after(fault, call, detail, VMUnreachable)
            yield line

    async def events(self, vm: VMInstance, attempt_id: str, after: int) -> AsyncIterator[AttemptEvent]:
        """As the listener."""
        call, detail = "listener.events", f"{vm.id} {attempt_id} after {after}"
        fault = await self._gate.before(call, detail, VMUnreachable)
        async for line in self._faulty(self._listeners.events(vm, attempt_id, after), call, detail):
            yield line
        await self._gate.after(fault, call, detail, VMUnreachable)

    async def cancel(self, vm: VMInstance, attempt_id: str) -> None:
        """As the listener."""
        call, detail = "listener.cancel", f"{vm.id} {attempt_id}"
        fault = await self._gate.before(call, detail, VMUnreachable)
        await self._listeners.cancel(vm, attempt_id)
        await self._gate.after(fault, call, detail, VMUnreachable)

    async def health(self, vm: VMInstance) -> ListenerHealth:
        """As the listener."""
        fault = await self._gate.before("listener.health", vm.id, VMUnreachable)
        health = await self._listeners.health(vm)
        await self._gate.after(fault, "listener.health", vm.id, VMUnreachable)
        return health

    async def heartbeat(self, vm: VMInstance) -> ListenerHealth:
        """As the listener."""
        fault = await self._gate.before("listener.heartbeat", vm.id, VMUnreachable)
        health = await self._listeners.heartbeat(vm)
        await self._gate.after(fault, "listener.heartbeat", vm.id, VMUnreachable)
        return health

    async def close(self) -> None:
        """The machines stay."""

    async def _faulty(
        self, lines: AsyncIterator[AttemptEvent], call: str, detail: str
    ) -> AsyncIterator[AttemptEvent]:
        """The lines, some twice, until the stream breaks off, with a word or without."""
        faults = self._gate.faults
        async for line in lines:
            fault = await self._gate.before("line", f"{detail} line {line.seq}", VMUnreachable)
            yield line
            if faults.doubles(call):
                yield line
            await self._gate.after(fault, "line", f"{detail} line {line.seq}", VMUnreachable)
            if faults.cuts(call):
                faults.note(f"{call} {detail} breaks off")
                return
