"""Reconcile our VMs with the provider's.

A VM that only the provider lists is adopted if it accepts our token, and ended otherwise. A VM that the
provider no longer lists has ended. The reconciler never provisions a VM.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from warmfront.errors import WarmfrontError
from warmfront.providers.base import Phase
from warmfront.vm import VMInstance

if TYPE_CHECKING:
    from warmfront.clock import Clock
    from warmfront.listener.protocol import ListenerClient
    from warmfront.orchestrator.budget import Budget
    from warmfront.orchestrator.tasks import TaskSupervisor
    from warmfront.orchestrator.vm_pool import VMPool
    from warmfront.providers.base import Lease, Provider
    from warmfront.settings import Settings
    from warmfront.store.store import Store

log = logging.getLogger(__name__)

#: How often our VMs are compared with the provider's.
RECONCILE_INTERVAL_S = 60.0
#: How soon to retry after a failure: an unknown VM costs money.
_RETRY_S = 5.0


class Reconciler:
    """The comparison of the pool with the provider's list of VMs."""

    def __init__(
        self,
        *,
        pool: VMPool,
        budget: Budget,
        provider: Provider,
        listeners: ListenerClient,
        store: Store,
        settings: Settings,
        clock: Clock,
        tasks: TaskSupervisor,
        interval_s: float = RECONCILE_INTERVAL_S,
    ) -> None:
        self._pool = pool
        self._budget = budget
        self._provider = provider
        self._listeners = listeners
        self._store = store
        self._settings = settings
        self._clock = clock
        self._tasks = tasks
        self._interval_s = interval_s

    async def run(self, *, succeeded: bool) -> None:
        """Reconcile periodically; `succeeded` says whether the reconciliation before this call succeeded."""
        while True:
            await asyncio.sleep(self._interval_s if succeeded else _RETRY_S)
            succeeded = await self.reconcile()
            self._tasks.wake()

    async def reconcile(self) -> bool:
        """Resolve every difference; return False if the provider is unavailable for some of them."""
        try:
            leases = {lease.vm_id: lease for lease in await self._provider.leases()}
        except WarmfrontError as error:
            reason = error.message.rstrip(".")
            log.warning("the provider cannot list its VMs: %s; retrying in %.0f s", reason, _RETRY_S)
            return False
        unknown = [lease for lease in leases.values() if self._pool.get(lease.vm_id) is None]
        resolved = [await self._resolve_unknown(lease) for lease in unknown]
        for pooled in list(self._pool.all()):
            if pooled.releasing or pooled.vm.ready_at is None:
                continue
            known = leases.get(pooled.vm.id)
            if known is not None:
                await self._pool.monitor.update_address(pooled, known)
            elif await self._pool.monitor.has_ended(pooled):
                self._pool.release(pooled, "the provider no longer has it", failed=True, lost=True)
        return all(resolved)

    async def _resolve_unknown(self, lease: Lease) -> bool:
        """Adopt or end a VM that the provider has and the pool does not.

        Return False if the provider is unavailable, and nothing has changed.
        """
        stored = await self._store.get_vm(lease.vm_id)
        # The list may be older than the VM's end, so query this VM again.
        try:
            current = await self._provider.describe(lease.vm_id)
        except WarmfrontError as error:
            reason = error.message.rstrip(".")
            log.warning("the provider cannot describe VM %s: %s; retrying", lease.vm_id, reason)
            return False
        if current is None or current.phase is Phase.ENDED:
            return True
        if self._pool.get(lease.vm_id) is not None or (stored is not None and not stored.state.has_ended):
            return True
        vm = self._adopted(lease, stored)
        settled_usd = await self._store.vm_cost_usd(vm.id)
        is_ours = await self._answers(vm)
        log.warning("VM %s is not in the pool: %s", vm.id, "adopting it" if is_ours else "ending it")
        await self._store.save_vm(vm)
        if stored is not None:
            self._budget.escrow.reopen(settled_usd)
        pooled = self._pool.resume(vm)
        if is_ours:
            self._pool.offer(pooled)
        else:
            known = "its end was recorded, but the provider still has it"
            self._pool.release(pooled, known if stored else "unknown to this service", failed=True)
        return True

    def _adopted(self, lease: Lease, stored: VMInstance | None) -> VMInstance:
        """Return the VM as idle, with a deadline and its reservation."""
        now = self._clock.now()
        if stored is not None:
            vm = stored.adopt(started_at=lease.started_at, address=lease.address, now=now)
        else:
            vm = VMInstance.discover(
                lease.vm_id,
                provider=self._provider.name,
                gpu=lease.gpu or self._settings.default_gpu,
                now=now,
                started_at=lease.started_at,
                address=lease.address,
                simulated=self._provider.simulated,
                gpu_count=lease.gpu_count,
                slots=self._provider.slots(lease.gpu or self._settings.default_gpu, lease.gpu_count),
            )
        if lease.billing is not None:
            vm = vm.record_price(lease.billing.rate_usd_per_h, lease.billing.minimum_s)
        worst_usd = self._budget.worst_case_usd(vm, boots=False)
        return self._pool.set_deadline(vm.reserve(worst_usd), now)

    async def _answers(self, vm: VMInstance) -> bool:
        """Return whether the VM's listener accepts our token."""
        if vm.address is None:
            return False
        try:
            await self._listeners.heartbeat(vm)
        except WarmfrontError:
            return False
        return True
