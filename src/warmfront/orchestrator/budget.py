"""The owner of the budget: reservations, the possible cost of VMs, the amount spent, and the budget alert."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from warmfront.errors import Conflict
from warmfront.money.billing import NANO, accrued_usd, actual_billing
from warmfront.money.escrow import BudgetStatus, Escrow
from warmfront.providers.base import spot_billing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from warmfront.clock import Clock
    from warmfront.errors import BudgetExceeded
    from warmfront.money.billing import Billing
    from warmfront.orchestrator.tasks import TaskSupervisor
    from warmfront.providers.base import Provider
    from warmfront.settings import Settings
    from warmfront.store.store import Store
    from warmfront.vm import VMInstance

log = logging.getLogger(__name__)

#: Sends the budget alert, such as to a webhook.
SendAlert = Callable[[dict[str, Any]], Awaitable[None]]

#: The minimum time between two checks of the threshold.
_CHECK_INTERVAL_S = 1.0


class Budget:
    """The credits, and how much of them is reserved and spent."""

    def __init__(
        self,
        *,
        settings: Settings,
        provider: Provider,
        store: Store,
        clock: Clock,
        tasks: TaskSupervisor,
        send_alert: SendAlert | None,
    ) -> None:
        self._settings = settings
        self._provider = provider
        self._store = store
        self._clock = clock
        self._tasks = tasks
        self._send_alert = send_alert
        self._check_after = 0.0
        self._billing: dict[tuple[str, int], Billing] = {}  # constant, and needed for every decision
        self._spot_billing: dict[tuple[str, int], Billing | None] = {}
        self.escrow = Escrow(credits_usd=settings.credits_usd)
        self.alert_sent = False

    def apply_settings(self, settings: Settings) -> None:
        """Replace the settings."""
        self._settings = settings
        self.escrow.credits_usd = settings.credits_usd

    def reserve_for(self, settings: Settings, vms: Iterable[VMInstance]) -> None:
        """Reserve the worst-case cost of live VMs under new settings, then use these settings.

        Raises:
            Conflict: the credits would not cover the spent and reserved amounts; nothing changes.
        """
        before, self._settings = self._settings, settings
        worst_usd = {
            vm.id: max(
                self.escrow.reserved_usd(vm.id),
                self.worst_case_usd(vm, boots=vm.ready_at is None),
            )
            for vm in vms
        }
        if settings.idle_timeout_s <= before.idle_timeout_s:
            worst_usd = {vm_id: self.escrow.reserved_usd(vm_id) for vm_id in worst_usd}
        committed_usd = self.escrow.settled_usd + sum(worst_usd.values(), Decimal(0))
        if committed_usd > settings.credits_usd:
            self._settings = before
            raise Conflict(
                f"${settings.credits_usd:.2f} of credits do not cover the ${committed_usd:.2f} that are "
                "spent or that live VMs can still cost.",
                hint="Choose more credits, release VMs first, or lower the idle timeout.",
            )
        for vm_id, amount_usd in worst_usd.items():
            self.escrow.restore(vm_id, amount_usd)
        self.escrow.credits_usd = settings.credits_usd

    # What VMs cost.

    def billing(self, gpu: str, gpu_count: int) -> Billing:
        """Return the billing model of a new VM with this many GPUs of this type, at the highest price."""
        billing = self._billing.get((gpu, gpu_count))
        if billing is None:
            billing = self._billing[gpu, gpu_count] = self._provider.billing(gpu, gpu_count)
        return billing

    def spot_billing(self, gpu: str, gpu_count: int) -> Billing | None:
        """Return the billing model of a spot VM with this many GPUs of this type; None if there are none."""
        if (gpu, gpu_count) not in self._spot_billing:
            self._spot_billing[gpu, gpu_count] = spot_billing(self._provider, gpu, gpu_count)
        return self._spot_billing[gpu, gpu_count]

    def billing_of(self, vm: VMInstance) -> Billing:
        """Return the billing model of a VM, which the ledger uses: its own price, if that is known."""
        spot = self.spot_billing(vm.gpu, vm.gpu_count) if vm.spot else None
        return actual_billing(vm, spot or self.billing(vm.gpu, vm.gpu_count))

    def lifetime_usd(self, vm: VMInstance, lifetime_s: float) -> Decimal:
        """Return what is reserved for a VM that lives this long: its cost at the highest price.

        That is the configured on-demand rate, unless the operator has lowered it since the VM was requested.
        """
        highest_usd = self.billing(vm.gpu, vm.gpu_count).cost_usd(lifetime_s)
        if vm.rate_usd_per_h is None:
            return highest_usd
        return max(highest_usd, self.billing_of(vm).cost_usd(lifetime_s))

    def age_s(self, vm: VMInstance) -> float:
        """Return how long a VM has been billed."""
        return max(0.0, self._clock.now() - vm.started_at) if vm.started_at is not None else 0.0

    def accrued_usd(self, vms: Iterable[VMInstance]) -> Decimal:
        """Return the cost of these VMs so far."""
        now = self._clock.now()
        return sum((accrued_usd(vm, self.billing_of(vm), now) for vm in vms), start=Decimal(0))

    def worst_case_usd(
        self, vm: VMInstance, *, boots: bool, tasks: int = 1, keep_s: float | None = None
    ) -> Decimal:
        """Return the most that a VM can cost, over its whole life.

        Args:
            vm: the VM.
            boots: whether the VM must still be provisioned.
            tasks: the number of attempts that it still has to run one after the other, each up to its time
                limit.
            keep_s: how long it is kept idle afterwards; by default the idle timeout.
        """
        idle_s = self._settings.idle_timeout_of(vm.gpu) if keep_s is None else keep_s
        boot_s = self._settings.provision_timeout_s if boots else 0.0
        return self.lifetime_usd(vm, self.age_s(vm) + boot_s + self._ahead_s(tasks, idle_s))

    def _ahead_s(self, tasks: int, idle_s: float) -> float:
        """Return the longest time that a VM lives if it runs `tasks` and is then kept idle."""
        return self._settings.task_timeout_s * tasks + idle_s + self._settings.stop_lag_s

    def new_vm_usd(self, gpu: str, gpu_count: int = 1) -> Decimal:
        """Return the most that a new VM for one task can cost."""
        ahead_s = self._ahead_s(1, self._settings.idle_timeout_of(gpu))
        return self.billing(gpu, gpu_count).cost_usd(self._settings.provision_timeout_s + ahead_s)

    def one_more_task_usd(self, vm: VMInstance) -> Decimal:
        """Return the most that a VM can cost if it takes one more task now, after those that it runs."""
        worst_usd = self.worst_case_usd(vm, boots=False)
        return worst_usd if vm.pinned_until is None else max(worst_usd, self.pinned_usd(vm))

    def pinned_usd(self, vm: VMInstance) -> Decimal:
        """Return the most that a VM costs until its pin ends; 0 if it is not pinned."""
        if vm.pinned_until is None:
            return Decimal(0)
        pinned_s = max(0.0, vm.pinned_until - self._clock.now())
        return self.worst_case_usd(vm, boots=vm.started_at is None, tasks=0, keep_s=pinned_s)

    def work_usd(self, vm: VMInstance, work_s: float, *, begins_in_s: float = 0.0) -> Decimal:
        """Return the charge for `work_s` in one slot of a VM."""
        return self._added_usd(self.billing_of(vm), self.age_s(vm) + begins_in_s, work_s, vm.slots)

    def boot_usd(self, gpu: str, gpu_count: int, boot_s: float) -> Decimal:
        """Return one slot's share of the boot of a new VM, including a minimum charge if there is one."""
        slots = self._provider.slots(gpu, gpu_count)
        return (self.billing(gpu, gpu_count).cost_usd(boot_s) / slots).quantize(NANO)

    def work_after_boot_usd(self, gpu: str, gpu_count: int, boot_s: float, work_s: float) -> Decimal:
        """Return the charge for `work_s` in one slot of a VM that has just booted."""
        slots = self._provider.slots(gpu, gpu_count)
        return self._added_usd(self.billing(gpu, gpu_count), boot_s, work_s, slots)

    @staticmethod
    def _added_usd(billing: Billing, age_s: float, work_s: float, slots: int) -> Decimal:
        added_usd = billing.cost_usd(age_s + work_s) - billing.cost_usd(age_s)
        return (added_usd / slots).quantize(NANO)

    # Reservations.

    def reserve_new(self, vm_id: str, gpu: str, gpu_count: int = 1) -> Decimal:
        """Reserve the worst-case cost of a new VM and return it, or raise `BudgetExceeded`."""
        worst_usd = self.new_vm_usd(gpu, gpu_count)
        self.escrow.reserve(vm_id, worst_usd)
        return worst_usd

    def reserve_task(self, vm: VMInstance) -> VMInstance:
        """Reserve one more task on a VM and return the VM, or raise `BudgetExceeded`."""
        self.escrow.reserve(vm.id, self.one_more_task_usd(vm))
        return vm.reserve(self.escrow.reserved_usd(vm.id))

    def reserve_pin(self, vm: VMInstance) -> VMInstance:
        """Reserve a VM's cost until its pin ends, or release an earlier pin's reservation; return the VM.

        Raises:
            BudgetExceeded: the credits do not cover it; nothing changes.
        """
        unpinned_usd = self.worst_case_usd(vm, boots=vm.ready_at is None)
        pinned_usd = self.pinned_usd(vm)
        self.escrow.reserve(vm.id, pinned_usd)
        reserved_usd = min(self.escrow.reserved_usd(vm.id), max(unpinned_usd, pinned_usd))
        self.escrow.restore(vm.id, reserved_usd)
        return vm.reserve(reserved_usd)

    def shortage(self, vm: VMInstance | None, gpu: str) -> BudgetExceeded | None:
        """Return why the credits do not cover one more task on a VM, or on a new VM; None if they do."""
        if vm is None:
            smallest = min(self._provider.gpu_counts(gpu))
            return self.escrow.shortage("", self.new_vm_usd(gpu, smallest))
        return self.escrow.shortage(vm.id, self.one_more_task_usd(vm))

    def shortage_of(self, vms: Sequence[VMInstance], gpu: str) -> BudgetExceeded | None:
        """Return why none of these VMs, or no new VM if there are none, could take one more task."""
        if not vms:
            return self.shortage(None, gpu)
        shortages = [self.shortage(vm, gpu) for vm in vms]
        return None if None in shortages else shortages[0]

    # Status and alert.

    def status(self, vms: Iterable[VMInstance]) -> BudgetStatus:
        """Return how much of the credits is spent, reserved and left, given the live VMs."""
        live_usd = self.accrued_usd(vms)
        escrow = self.escrow
        return BudgetStatus(
            credits_usd=escrow.credits_usd,
            spent_usd=escrow.settled_usd + live_usd,
            reserved_usd=max(Decimal(0), escrow.committed_usd - escrow.settled_usd - live_usd),
            alert_sent=self.alert_sent,
        )

    @property
    def _alert_key(self) -> str:
        """The name under which the store remembers the alert: one per threshold and amount of credits."""
        return f"{self._settings.alert_threshold}:{self._settings.credits_usd}"

    @property
    def _threshold_usd(self) -> Decimal:
        return self._settings.alert_threshold * self.escrow.credits_usd

    async def restore_alert(self, store: Store, vms: Iterable[VMInstance]) -> None:
        """Read whether the alert was sent for these settings, at the start and after they have changed.

        If the spending is now below the threshold, the stored alerts are deleted, so that each is sent again
        when its threshold is reached again. A change of the spending alone deletes none: it can decrease
        slightly when the final cost of a VM becomes known.
        """
        sent = await store.budget_alerts()
        self.alert_sent = self._alert_key in sent
        if sent and not self.alert_sent and self.status(vms).spent_usd < self._threshold_usd:
            await store.delete_budget_alerts()

    def check_alert(self, now: float, live_vms: Callable[[], Iterable[VMInstance]]) -> None:
        """Send the alert if the threshold is reached."""
        if self.alert_sent or now < self._check_after:
            return
        self._check_after = now + _CHECK_INTERVAL_S
        threshold_usd = self._threshold_usd
        # Spending never exceeds the committed amount, which is known without looking at every VM.
        if self.escrow.committed_usd < threshold_usd:
            return
        status = self.status(live_vms())
        if status.spent_usd >= threshold_usd:
            self.alert_sent = True
            self._tasks.spawn(self._alert(self._alert_key, status, now))

    async def _alert(self, key: str, status: BudgetStatus, now: float) -> None:
        """Send the alert, once until `restore_alert` deletes it, even across restarts."""
        if not await self._store.mark_budget_alert(key, now):
            return
        log.warning(
            "budget alert: $%.2f of $%.2f spent (alert threshold %d%%)",
            status.spent_usd,
            status.credits_usd,
            self._settings.alert_threshold * 100,
        )
        if self._send_alert is not None:
            await self._send_alert(
                {
                    "spent_usd": float(round(status.spent_usd, 2)),
                    "credits_usd": float(status.credits_usd),
                    "threshold": float(self._settings.alert_threshold),
                }
            )
