"""Ask the listener and the provider about a VM: whether it is ready, healthy, lost or has ended.

The monitor stores reports and addresses. The pool decides what follows from them.
"""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING

from warmfront.errors import ProviderError, VMUnreachable, WarmfrontError
from warmfront.orchestrator.lease_check import difference_from_lease
from warmfront.providers.base import Phase, locate
from warmfront.provisioning import FailureKind

if TYPE_CHECKING:
    from warmfront.clock import Clock
    from warmfront.listener.protocol import ListenerClient, ListenerHealth
    from warmfront.orchestrator.pooled_vm import PooledVM
    from warmfront.providers.base import Lease, Provider
    from warmfront.settings import Settings
    from warmfront.store.store import Store

#: A new listener is polled this often until it responds; the provider is asked once per several polls.
POLL_LISTENER_S = 0.1
_POLLS_PER_DESCRIPTION = 5


class VMMonitor:
    """Queries about VMs, to their listeners and to the provider."""

    def __init__(
        self,
        *,
        provider: Provider,
        listeners: ListenerClient,
        store: Store,
        settings: Settings,
        clock: Clock,
    ) -> None:
        self._provider = provider
        self._listeners = listeners
        self._store = store
        self._settings = settings
        self._clock = clock

    async def wait_for_listener(self, pooled: PooledVM) -> None:
        """Wait until the listener responds, and check its VM against the lease."""
        for poll in itertools.count(1):
            try:
                health = await self._listeners.heartbeat(pooled.vm)
            except VMUnreachable:
                # A health report takes several times as long as a heartbeat, and would delay the next one.
                if poll % _POLLS_PER_DESCRIPTION == 0 or pooled.vm.address is None:
                    lease = await self._provider.describe(pooled.vm.id)
                    if lease is None or lease.phase is Phase.ENDED:
                        raise ProviderError("The VM ended before its listener answered.") from None
                    await self.update_address(pooled, lease)
                await asyncio.sleep(POLL_LISTENER_S)
            else:
                await self.record_report(pooled, health)
                difference = difference_from_lease(
                    health,
                    gpu=pooled.vm.gpu,
                    gpu_count=pooled.vm.gpu_count,
                    toolchain=self._provider.toolchain,
                )
                if difference is not None:
                    kind = FailureKind.UNHEALTHY if health.failure else FailureKind.WRONG_VM
                    raise ProviderError(difference, kind=kind)
                pooled.vm = pooled.vm.divide(health.slots + len(health.failed_slots))
                pooled.failed_slots = frozenset(health.failed_slots)
                return

    async def record_report(self, pooled: PooledVM, health: ListenerHealth) -> None:
        """Store the listener's report about its GPUs, if it has changed."""
        vm = pooled.vm.record_report(health.devices, health.gpu_health)
        if (health.devices or health.gpu_health) and vm.report != pooled.vm.report:
            async with pooled.writing:
                pooled.vm = pooled.vm.record_report(health.devices, health.gpu_health)
                await self._store.save_vm_report(pooled.vm)

    async def is_lost(self, pooled: PooledVM, answered_at: float) -> bool:
        """Return whether a VM that does not respond is lost.

        While the provider is unavailable, it can neither reopen a tunnel to the VM nor end it. Then the VM
        counts as lost only when its watchdog must have ended it, or some time after the provider responds
        again.
        """
        lost_after_s = self._settings.lost_after_s
        ended = False
        try:
            async with asyncio.timeout(lost_after_s):
                ended = await self._ask_whether_ended(pooled)
        except (TimeoutError, WarmfrontError):
            pooled.not_asked_until = self._clock.now()
        now = self._clock.now()
        if ended or now - answered_at >= max(lost_after_s, self._settings.watchdog_s):
            return True
        return now - max(answered_at, pooled.not_asked_until) >= lost_after_s

    async def has_ended(self, pooled: PooledVM) -> bool:
        """Return whether the provider confirms that a VM has ended; False if the provider is unavailable."""
        try:
            return await self._ask_whether_ended(pooled)
        except WarmfrontError:
            return False

    async def _ask_whether_ended(self, pooled: PooledVM) -> bool:
        lease = await self._provider.describe(pooled.vm.id)
        if lease is None or lease.phase is Phase.ENDED:
            return True
        await self.update_address(pooled, lease)
        return False

    async def update_address(self, pooled: PooledVM, lease: Lease) -> None:
        """Store the VM's new address, because a reopened tunnel has another port."""
        if lease.address is not None and lease.address != pooled.vm.address:
            await self.locate(pooled, lease, started_at=pooled.vm.started_at, address=lease.address)

    async def locate(
        self, pooled: PooledVM, lease: Lease, *, started_at: float | None, address: str | None
    ) -> None:
        """Store the location of a VM, when it was started, and its price."""
        async with pooled.writing:
            pooled.vm = locate(pooled.vm, lease, started_at=started_at, address=address)
            await self._store.save_vm(pooled.vm)
