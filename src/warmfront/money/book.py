"""Escrow: what is spent and what is promised never pass the credits.

Every VM alive is in the book with the most that it may come to; every VM that ended with what it came to.
The book is memory only: whoever changes it stores the VM's `escrow_usd` before acting on it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from warmfront.errors import BudgetExceeded


@dataclass(frozen=True, kw_only=True)
class Money:
    """Where the credits are."""

    credits_usd: Decimal
    spent_usd: Decimal  #: so far, also by VMs that are alive
    reserved_usd: Decimal  #: what VMs alive may still come to
    alerted: bool  #: the alert has come

    @property
    def remaining_usd(self) -> Decimal:
        """What is not spent."""
        return self.credits_usd - self.spent_usd

    @property
    def used_pct(self) -> Decimal:
        """The share that is spent, in percent."""
        return self.spent_usd * 100 / self.credits_usd if self.credits_usd else Decimal(100)


@dataclass(kw_only=True)
class Book:
    """The escrow of all VMs."""

    credits_usd: Decimal
    settled_usd: Decimal = Decimal(0)  #: what the VMs came to that are over
    _promised: dict[str, Decimal] = field(default_factory=dict)
    _promised_usd: Decimal = Decimal(0)

    @property
    def committed_usd(self) -> Decimal:
        """The most that everything may come to as things stand."""
        return self.settled_usd + self._promised_usd

    def promised_usd(self, vm_id: str) -> Decimal:
        """The most that this VM may come to."""
        return self._promised.get(vm_id, Decimal(0))

    def promise(self, vm_id: str, worst_usd: Decimal) -> None:
        """Reserve up to `worst_usd` for this VM, or raise `BudgetExceeded` and change nothing."""
        if refusal := self.refusal(vm_id, worst_usd):
            raise refusal
        self.restore(vm_id, max(worst_usd, self.promised_usd(vm_id)))

    def refusal(self, vm_id: str, worst_usd: Decimal) -> BudgetExceeded | None:
        """Why so much could not be promised to this VM now; None if it could."""
        more = worst_usd - self.promised_usd(vm_id)
        if more <= 0 or self.committed_usd + more <= self.credits_usd:
            return None
        return self._refusal(worst_usd, more)

    def restore(self, vm_id: str, worst_usd: Decimal) -> None:
        """Put in what was promised before a restart."""
        self._promised_usd += worst_usd - self.promised_usd(vm_id)
        self._promised[vm_id] = worst_usd

    def settle(self, vm_id: str, total_usd: Decimal) -> None:
        """The VM is over, and came to this."""
        self._promised_usd -= self._promised.pop(vm_id, Decimal(0))
        self.settled_usd += total_usd

    def reopen(self, total_usd: Decimal) -> None:
        """A VM that was settled at this turns out to be alive."""
        self.settled_usd -= total_usd

    def _refusal(self, worst_usd: Decimal, more: Decimal) -> BudgetExceeded:
        left = self.credits_usd - self.committed_usd
        return BudgetExceeded(
            f"A VM may come to ${worst_usd:.2f}, for which ${more:.2f} more must be free. "
            f"Of ${self.credits_usd:.2f} of credits, ${self.settled_usd:.2f} are spent by VMs that ended, "
            f"${self._promised_usd:.2f} are promised to VMs alive, and ${left:.2f} are left.",
            hint="Raise AMD_GRANT_CREDITS_TOTAL, lower AMD_VM_IDLE_TIMEOUT, or wait until a VM has ended.",
        )
