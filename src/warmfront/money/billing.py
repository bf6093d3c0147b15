"""Billing models of providers (rate, granularity, minimum), and a VM's life as billed intervals.

A model gives the cost of a VM's first `elapsed_s` seconds. The cost of an interval is the difference of two
such costs, so that intervals add up to the provider's bill exactly.
"""

from __future__ import annotations

import itertools
from decimal import ROUND_HALF_EVEN, Decimal
from typing import TYPE_CHECKING

from warmfront.store.records import LedgerEntry, Meter
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from warmfront.vm import VMInstance

#: The ledger counts in billionths of a dollar.
NANO = Decimal("0.000000001")
CENT = Decimal("0.01")
_US = 1_000_000
_US_PER_H = Decimal(3600 * _US)


@dataclass(frozen=True, kw_only=True)
class Billing:
    """The price of one VM."""

    rate_usd_per_h: Decimal
    granularity_s: float = 0.0  #: every started unit is charged in full; 0: charged by the microsecond
    minimum_s: float = 0.0  #: charged at least, from the first moment

    def cost_usd(self, elapsed_s: float) -> Decimal:
        """Return the cost of a VM that has lived this long."""
        if elapsed_s < 0:
            raise ValueError(f"elapsed_s is {elapsed_s}; it must not be negative")
        return (self.rate_usd_per_h * self._paid_us(elapsed_s) / _US_PER_H).quantize(NANO, ROUND_HALF_EVEN)

    def paid_until_s(self, elapsed_s: float) -> float:
        """Return the age up to which a VM of this age is already charged: ending it sooner saves nothing."""
        if not self.granularity_s:
            return max(elapsed_s, self.minimum_s)
        return self._paid_us(elapsed_s) / _US

    def _paid_us(self, elapsed_s: float) -> int:
        """Return what is charged at this age, in whole microseconds."""
        paid_us = round(max(elapsed_s, self.minimum_s) * _US)
        if not self.granularity_s:
            return paid_us
        unit_us = round(self.granularity_s * _US)
        return -(-paid_us // unit_us) * unit_us

    def free_until_s(self, elapsed_s: float, stop_s: float) -> float:
        """Return the age up to which keeping a VM costs no more than ending it at this age.

        An end takes `stop_s` to take effect, so it must be requested that long before the next unit begins.
        """
        return max(elapsed_s, self.paid_until_s(elapsed_s + stop_s) - stop_s)


def accrued_usd(vm: VMInstance, billing: Billing, now: float) -> Decimal:
    """Return what the VM has cost so far."""
    if vm.started_at is None:
        return Decimal(0)
    return billing.cost_usd(max(0.0, now - vm.started_at))


def meter_until(
    vm: VMInstance,
    billing: Billing,
    until: float,
    *,
    worked: bool,
    submission_id: str | None,
    owner: str | None,
    pays_boot: bool = False,
) -> tuple[VMInstance, list[LedgerEntry]]:
    """Return the VM metered up to `until`, and the ledger entries since it was last metered.

    Work is charged to the submission; idle time never is: it belongs to the pool, which keeps the VM warm.
    Provisioning is charged to the submission only if it `pays_boot`, because its quote included it.
    If the provider reports an end before what is metered already, the entry is a correction.
    """
    if vm.started_at is None:
        return vm, []
    begin = vm.metered_until if vm.metered_until is not None else vm.started_at
    if vm.metered_until is not None and until == begin:
        return vm, []
    cuts = [begin, until]
    if vm.ready_at is not None and begin < vm.ready_at < until:
        cuts.insert(1, vm.ready_at)
    entries = []
    for start, end in itertools.pairwise(cuts):
        booted = vm.ready_at is not None and end > vm.ready_at
        meter = Meter.PROVISIONING if not booted else Meter.WORK if worked else Meter.IDLE
        charged = meter is Meter.WORK or (meter is Meter.PROVISIONING and pays_boot)
        entries.append(
            LedgerEntry(
                vm_id=vm.id,
                meter=meter,
                started_at=min(start, end),
                ended_at=end,
                amount_usd=_between_usd(
                    vm, billing, start, end, first=vm.metered_until is None and start == begin
                ),
                submission_id=submission_id if charged else None,
                owner=owner if charged else None,
            )
        )
    return vm.meter(until), entries


def _between_usd(vm: VMInstance, billing: Billing, start: float, end: float, *, first: bool) -> Decimal:
    """Return the difference of two totals; the first interval includes the minimum charge."""
    assert vm.started_at is not None  # noqa: S101 - checked by the caller
    before = Decimal(0) if first else billing.cost_usd(max(0.0, start - vm.started_at))
    return billing.cost_usd(max(0.0, end - vm.started_at)) - before
