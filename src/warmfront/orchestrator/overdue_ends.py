"""Alert the operator to VMs that do not end: they are billed until the operator ends them in the cloud.

A cloud may refuse a deletion for hours, until dstack stops trying. The ledger counts the VM's cost until its
end is confirmed. The alert names the VM, its cost per hour and the command that ends it.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmfront.clock import Clock
    from warmfront.orchestrator.budget import Budget, SendAlert
    from warmfront.providers.base import Provider
    from warmfront.settings import Settings
    from warmfront.store.store import Store
    from warmfront.vm import VMInstance

log = logging.getLogger(__name__)

#: The event of the alert, in the body that is posted to the webhook.
VM_NOT_ENDED = "VM_NOT_ENDED"


class OverdueEnds:
    """The alerts to the operator about VMs whose end is overdue."""

    def __init__(
        self,
        *,
        provider: Provider,
        store: Store,
        budget: Budget,
        settings: Settings,
        clock: Clock,
        send_alert: SendAlert | None,
    ) -> None:
        self._provider = provider
        self._store = store
        self._budget = budget
        self._settings = settings
        self._clock = clock
        self._send_alert = send_alert

    def left_s(self, vm: VMInstance) -> float:
        """Return the seconds until the end of a VM is overdue, which is the stop lag after the request."""
        requested_at = vm.release_requested_at
        now = self._clock.now()
        return (now if requested_at is None else requested_at) + self._settings.stop_lag_s - now

    def explained(self, vm: VMInstance) -> VMInstance:
        """Return the VM with instructions for the operator, and reserve its cost until the next check."""
        ahead_s = 2 * self._settings.stop_lag_s
        worst_usd = self._budget.lifetime_usd(vm, self._budget.age_s(vm) + ahead_s)
        self._budget.escrow.restore(vm.id, max(worst_usd, self._budget.escrow.reserved_usd(vm.id)))
        vm = vm.reserve(self._budget.escrow.reserved_usd(vm.id))
        note = f"not ended {self._settings.stop_lag_s:.0f} s after its end was requested, and still billed"
        if note in vm.reason:
            return vm
        rate_usd = self._budget.billing_of(vm).rate_usd_per_h
        command = self._provider.end_command(vm.machine_id)
        return vm.explain(f"{vm.reason}; {note} at ${rate_usd:.2f} per hour: {command}")

    async def alert(self, vm: VMInstance) -> None:
        """Alert the operator to a VM, in the log and once through the webhook."""
        billing = self._budget.billing_of(vm)
        command = self._provider.end_command(vm.machine_id)
        cost_usd = billing.cost_usd(self._budget.age_s(vm))
        log.error(
            "VM %s (machine %s) has not ended %.0f s after its end was requested, and costs $%.2f per hour, "
            "$%.2f so far. To end it: %s",
            vm.id,
            vm.machine_id or "unknown",
            self._settings.stop_lag_s,
            billing.rate_usd_per_h,
            cost_usd,
            command,
        )
        if self._send_alert is None:
            return
        if not await self._store.mark_once(f"overdue:{vm.id}:{vm.release_requested_at}", self._clock.now()):
            return
        await self._send_alert(
            {
                "event": VM_NOT_ENDED,
                "vm_id": vm.id,
                "machine_id": vm.machine_id,
                "rate_usd_per_h": float(billing.rate_usd_per_h),
                "cost_usd": float(round(cost_usd, 2)),
                "command": command,
            }
        )
