"""Escrow: the reserved worst case of every live VM, so that `spent + reserved <= credits` always holds.

The escrow is kept only in memory: the caller stores a VM's `escrow_usd` before it acts on a reservation.
"""

from __future__ import annotations

from dataclasses import field
from decimal import Decimal

from warmfront.errors import BudgetExceeded
from warmfront.value_class import dataclass

_NOTHING = Decimal(0)


@dataclass(frozen=True, kw_only=True)
class BudgetStatus:
    """The state of the credits: how much is spent, reserved and left."""

    credits_usd: Decimal
    spent_usd: Decimal  #: so far, including live VMs
    reserved_usd: Decimal  #: the most that live VMs can still cost
    alert_sent: bool  #: whether the alert at the threshold was sent

    @property
    def remaining_usd(self) -> Decimal:
        """The credits that are not spent."""
        return self.credits_usd - self.spent_usd

    @property
    def used_pct(self) -> Decimal:
        """The share of the credits that is spent, in percent."""
        return self.spent_usd * 100 / self.credits_usd if self.credits_usd else Decimal(100)


@dataclass(kw_only=True)
class Escrow:
    """The reservations of all live VMs."""

    credits_usd: Decimal
    settled_usd: Decimal = Decimal(0)  #: the cost of all VMs that have ended
    _reserved: dict[str, Decimal] = field(default_factory=dict)  #: by VM
    _reserved_usd: Decimal = Decimal(0)

    @property
    def committed_usd(self) -> Decimal:
        """The most that all VMs so far can cost."""
        return self.settled_usd + self._reserved_usd

    def reserved_usd(self, vm_id: str) -> Decimal:
        """Return the most that this VM can cost."""
        return self._reserved.get(vm_id, _NOTHING)

    def reserve(self, vm_id: str, worst_usd: Decimal) -> None:
        """Reserve up to `worst_usd` for a VM.

        Raises:
            BudgetExceeded: the credits do not cover it; nothing changes.
        """
        additional_usd = worst_usd - self._reserved.get(vm_id, _NOTHING)
        if additional_usd <= 0:
            return
        if self.settled_usd + self._reserved_usd + additional_usd > self.credits_usd:
            raise self._shortage(worst_usd)
        self._reserved[vm_id] = worst_usd
        self._reserved_usd += additional_usd

    def shortage(self, vm_id: str, worst_usd: Decimal) -> BudgetExceeded | None:
        """Return why `worst_usd` cannot be reserved for this VM; None if it can."""
        additional_usd = worst_usd - self.reserved_usd(vm_id)
        if additional_usd <= 0 or self.committed_usd + additional_usd <= self.credits_usd:
            return None
        return self._shortage(worst_usd)

    def _shortage(self, worst_usd: Decimal) -> BudgetExceeded:
        free_usd = self.credits_usd - self.committed_usd
        return BudgetExceeded(
            f"A VM can cost up to ${worst_usd:.2f}; only ${free_usd:.2f} of the budget is unreserved "
            f"(credits ${self.credits_usd:.2f}, spent by ended VMs ${self.settled_usd:.2f}, "
            f"reserved for live VMs ${self._reserved_usd:.2f}).",
            hint="Raise AMD_GRANT_CREDITS_TOTAL, lower AMD_VM_IDLE_TIMEOUT, or wait until a VM has ended.",
        )

    def restore(self, vm_id: str, worst_usd: Decimal) -> None:
        """Set a reservation that was stored before a restart."""
        self._reserved_usd += worst_usd - self.reserved_usd(vm_id)
        self._reserved[vm_id] = worst_usd

    def settle(self, vm_id: str, total_usd: Decimal) -> None:
        """Replace the reservation of an ended VM with its final cost."""
        self._reserved_usd -= self._reserved.pop(vm_id, Decimal(0))
        self.settled_usd += total_usd

    def reopen(self, total_usd: Decimal) -> None:
        """Undo the settlement of a VM that turns out to be live."""
        self.settled_usd -= total_usd
