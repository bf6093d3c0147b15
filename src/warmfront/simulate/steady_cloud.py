"""A cloud without failures or variance: all VMs boot in the same time, all attempts take the same time.

It implements `Provider` and `ListenerClient` on any event loop. The ledger computes costs from the times that
this cloud reports.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from warmfront.errors import UnknownAttempt
from warmfront.listener.protocol import AttemptEvent, ExecuteRequest, ListenerHealth
from warmfront.providers.base import Lease, Phase
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from warmfront.clock import Clock
    from warmfront.money.billing import Billing
    from warmfront.providers.ownership import ForeignVM
    from warmfront.vm import VMInstance

#: The only event of every attempt: a replay needs only its end.
_VERDICT = {"status": str(Verdict.CHECKED), "test_results": [], "passed_tests": 1, "total_tests": 1}


class SteadyProvider:
    """A `Provider` whose VMs take `boot_s` to boot, are billed from the request, and end immediately."""

    name = "simulated"
    toolchain: str | None = None
    simulated = True
    vms_outlive_service = True
    foreign_vms: Sequence[ForeignVM] = ()
    max_vms: int | None = None

    def __init__(self, *, clock: Clock, billing: Billing, boot_s: float) -> None:
        self._billing = billing
        self._boot_s = boot_s
        self._clock = clock
        self._vms: dict[str, Lease] = {}

    def gpu_counts(self, gpu: str) -> tuple[int, ...]:  # noqa: ARG002 - every GPU is alike
        """Return one GPU per VM."""
        return (1,)

    def billing(self, gpu: str, gpu_count: int = 1) -> Billing:  # noqa: ARG002 - every GPU has the same price
        """Return the price of every VM."""
        return self._billing

    def typical_boot_s(self, gpu: str) -> float:  # noqa: ARG002 - every GPU boots alike
        """Return the boot time of every VM."""
        return self._boot_s

    def slots(self, gpu: str, gpu_count: int = 1) -> int:  # noqa: ARG002 - every GPU is alike
        """Return one, because attempts do not overlap."""
        return 1

    async def check_ready(self, gpu: str) -> None:
        """Do nothing: this cloud is always ready."""

    async def provision(
        self,
        vm_id: str,
        gpu: str,  # noqa: ARG002 - every VM has every GPU
        token: str,  # noqa: ARG002 - every VM accepts every request
        *,
        gpu_count: int = 1,  # noqa: ARG002 - always one
    ) -> AsyncIterator[Lease]:
        """Yield the lease when the VM is ready. Earlier phases are not reported."""
        now = self._clock.now()
        self._vms[vm_id] = Lease(vm_id=vm_id, phase=Phase.BOOTING, started_at=now)
        await asyncio.sleep(self._boot_s)
        ready = Lease(vm_id=vm_id, phase=Phase.READY, started_at=now, address=f"http://{vm_id}.invalid")
        self._vms[vm_id] = ready
        yield ready

    async def release(self, vm_id: str) -> Lease:
        """End the VM now."""
        started_at = self._vms.pop(vm_id).started_at
        return Lease(vm_id=vm_id, phase=Phase.ENDED, started_at=started_at, ended_at=self._clock.now())

    def end_command(self, machine_id: str | None) -> str:  # noqa: ARG002 - see below
        """Return a note instead of a command, because this cloud has no real machines."""
        return "nothing to end: this VM is simulated"

    async def describe(self, vm_id: str) -> Lease | None:
        """Return the lease of a live VM; None for ended VMs."""
        return self._vms.get(vm_id)

    async def leases(self) -> list[Lease]:
        """Return the leases of all live VMs."""
        return list(self._vms.values())

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""


class SteadyListeners:
    """A `ListenerClient` for VMs on which every attempt takes `task_s` and succeeds."""

    def __init__(self, task_s: float) -> None:
        self._task_s = task_s

    async def execute(self, vm: VMInstance, attempt: ExecuteRequest) -> AsyncIterator[AttemptEvent]:  # noqa: ARG002 - all attempts are alike
        """Yield the verdict after `task_s`."""
        await asyncio.sleep(self._task_s)
        yield AttemptEvent(seq=1, fields=_VERDICT)

    async def events(self, vm: VMInstance, attempt_id: str, after: int) -> AsyncIterator[AttemptEvent]:  # noqa: ARG002 - it always raises
        """Raise `UnknownAttempt`, because no stream is ever interrupted or resumed."""
        raise UnknownAttempt
        yield

    async def cancel(self, vm: VMInstance, attempt_id: str) -> None:
        """Do nothing, because a replay does not cancel submissions."""

    async def health(self, vm: VMInstance) -> ListenerHealth:
        """Report the listener as healthy."""
        return ListenerHealth(
            version="simulated", toolchain="simulated", gpu=vm.gpu, simulated=True, running=(), uptime_s=0.0
        )

    async def heartbeat(self, vm: VMInstance) -> ListenerHealth:
        """Return the listener's health; there is no watchdog to reset."""
        return await self.health(vm)

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""
