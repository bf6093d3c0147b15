"""Compares the VMs that we know with those that their provider has, and settles what differs.

A VM that only the provider knows is adopted or ended; one that only we know is given up. It leases nothing.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warmfront.errors import WarmfrontError
from warmfront.providers.base import Phase
from warmfront.store import ledger, vms
from warmfront.vm import VMInstance, VMState

if TYPE_CHECKING:
    from collections.abc import Callable

    from warmfront.clock import Clock
    from warmfront.listener.protocol import ListenerClient
    from warmfront.money.book import Book
    from warmfront.orchestrator.fleet import Fleet
    from warmfront.orchestrator.journal import Journal
    from warmfront.providers.base import Lease
    from warmfront.settings import Settings

log = logging.getLogger(__name__)

#: How often our VMs are compared with the provider's.
RECONCILE_S = 60.0
#: A provider that could not be asked is asked again sooner: a VM that nobody knows costs money.
_AGAIN_S = 5.0


@dataclass(kw_only=True)
class Reconciler:
    """Holds the fleet against the provider's list."""

    fleet: Fleet
    listeners: ListenerClient
    journal: Journal
    book: Book
    settings: Settings
    clock: Clock
    changed: Callable[[], None]
    every_s: float = RECONCILE_S

    async def work(self, *, compared: bool) -> None:
        """Compare again and again; `compared`: it was done just now."""
        while True:
            await asyncio.sleep(self.every_s if compared else _AGAIN_S)
            compared = await self.reconcile()
            self.changed()

    async def reconcile(self) -> bool:
        """Adopt or end what we do not know, give up what the provider does not; whether it could be asked."""
        fleet = self.fleet
        try:
            leases = {lease.vm_id: lease for lease in await fleet.provider.leases()}
        except WarmfrontError as error:
            log.warning("the provider could not be asked for its VMs: %s", error.message)
            return False
        for found in leases.values():
            if found.vm_id not in fleet.machines:
                await self._meet(found)
        for machine in list(fleet.machines.values()):
            if machine.going or machine.vm.ready_at is None:
                continue
            lease = leases.get(machine.vm.id)
            if lease is not None:
                await fleet.follow_address(machine, lease)
            elif await fleet.has_ended(machine):
                fleet.release(machine, "its provider has it no more", failed=True)
        return True

    async def _meet(self, lease: Lease) -> None:
        """A VM that the provider has and the store does not: ours if it takes our token."""
        fleet = self.fleet
        known = await self.journal.read(vms.get, lease.vm_id)
        # The list may be older than the VM's end: what is met must be there still.
        if await self._is_gone(lease.vm_id):
            return
        if lease.vm_id in fleet.machines or (known is not None and not known.state.is_over):
            return
        vm = self._found(lease, known)
        settled_usd = await self.journal.read(ledger.total_of_vm, vm.id)
        ours = await self._answers(vm)
        log.warning("VM %s was not known here: %s", vm.id, "it is adopted" if ours else "it is ended")
        await self.journal.write(vms.save, vm)
        if known is not None:
            self.book.reopen(settled_usd)
        machine = fleet.resume(vm)
        if ours:
            fleet.offer(machine)
        else:
            fleet.release(machine, "nobody knew it", failed=True)

    def _found(self, lease: Lease, known: VMInstance | None) -> VMInstance:
        """The VM as it is from now on: idle, and with what it may come to."""
        now, fleet = self.clock.now(), self.fleet
        vm = known or VMInstance(
            id=lease.vm_id,
            provider=fleet.provider.name,
            gpu=lease.gpu or self.settings.default_gpu,
            state=VMState.IDLE,
            created_at=now,
        )
        vm = vm.becomes(
            state=VMState.IDLE,
            started_at=lease.started_at,
            address=lease.address,
            ready_at=vm.ready_at or now,
            ended_at=None,
            simulated=fleet.provider.simulated,
        )
        vm = vm.becomes(escrow_usd=fleet.worst_case_usd(vm.gpu, age_s=fleet.age_s(vm), boots=False))
        return fleet.idled(vm, now)

    async def _is_gone(self, vm_id: str) -> bool:
        """Whether nothing says that it is there; no answer is yes, until the next time."""
        try:
            lease = await self.fleet.provider.describe(vm_id)
        except WarmfrontError:
            return True
        return lease is None or lease.phase is Phase.ENDED

    async def _answers(self, vm: VMInstance) -> bool:
        if vm.address is None:
            return False
        try:
            await self.listeners.heartbeat(vm)
        except WarmfrontError:
            return False
        return True
