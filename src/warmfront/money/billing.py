"""Billing models of providers (rate, granularity, minimum), and the billed intervals of a VM.

A model gives the cost of a VM's first `elapsed_s` seconds. The cost of an interval is the difference of two
such costs, so that intervals add up to the provider's bill exactly.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from decimal import ROUND_HALF_EVEN, Decimal
from typing import TYPE_CHECKING

from warmfront.store.records import LedgerEntry, Meter
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    granularity_s: float = 0.0  #: every started unit is charged in full; 0 to charge by the microsecond
    minimum_s: float = 0.0  #: the minimum time that is charged

    def cost_usd(self, elapsed_s: float) -> Decimal:
        """Return the cost of a VM with this lifetime."""
        if elapsed_s < 0:
            raise ValueError(f"elapsed_s is {elapsed_s}; it must not be negative")
        return (self.rate_usd_per_h * self._paid_us(elapsed_s) / _US_PER_H).quantize(NANO, ROUND_HALF_EVEN)

    def paid_until_s(self, elapsed_s: float) -> float:
        """Return the age up to which a VM of this age is already paid for. Ending it sooner saves nothing."""
        if not self.granularity_s:
            return max(elapsed_s, self.minimum_s)
        return self._paid_us(elapsed_s) / _US

    def _paid_us(self, elapsed_s: float) -> int:
        """Return the charged time at this age, in whole microseconds."""
        paid_us = round(max(elapsed_s, self.minimum_s) * _US)
        if not self.granularity_s:
            return paid_us
        unit_us = round(self.granularity_s * _US)
        return -(-paid_us // unit_us) * unit_us

    def free_until_s(self, elapsed_s: float, stop_s: float) -> float:
        """Return the age up to which keeping a VM costs no more than ending it at this age.

        Ending a VM takes `stop_s`, so the end must be requested that long before the next unit begins.
        """
        return max(elapsed_s, self.paid_until_s(elapsed_s + stop_s) - stop_s)


def actual_billing(vm: VMInstance, configured: Billing) -> Billing:
    """Return the billing model of a VM: its own price if the provider has reported it, or the configured one.

    Backends have different prices; the configured rate is the highest that is accepted.
    """
    rate_usd_per_h, minimum_s = vm.rate_usd_per_h, vm.minimum_s
    if rate_usd_per_h is None or minimum_s is None:
        return configured
    if (rate_usd_per_h, minimum_s) == (configured.rate_usd_per_h, configured.minimum_s):
        return configured
    return replace(configured, rate_usd_per_h=rate_usd_per_h, minimum_s=minimum_s)


def accrued_usd(vm: VMInstance, billing: Billing, now: float) -> Decimal:
    """Return the cost of the VM so far."""
    if vm.started_at is None:
        return Decimal(0)
    return billing.cost_usd(max(0.0, now - vm.started_at))


def meter_until(
    vm: VMInstance,
    billing: Billing,
    until: float,
    *,
    busy_since: Iterable[float] = (),
    submission_id: str | None = None,
    owner: str | None = None,
    pays_boot: bool = False,
) -> tuple[VMInstance, list[LedgerEntry]]:
    """Return the VM metered up to `until`, and the ledger entries since it was last metered.

    They are charged to the pool, which keeps the VM warm. The share of busy slots is left out: `charge_work`
    charges it when their attempts end. If the provider reports an end before the time that is already
    metered, the entry is a correction.

    Args:
        vm: the VM.
        billing: its billing model.
        until: the end of the interval.
        busy_since: when each attempt that is still running began.
        submission_id: the first submission on the VM.
        owner: its owner.
        pays_boot: whether the submission is charged for its slot's share of the boot, because its quote
            included it.
    """
    if vm.started_at is None:
        return vm, []
    begin = vm.metered_until if vm.metered_until is not None else vm.started_at
    if vm.metered_until is not None and until == begin:
        return vm, []
    cuts = [begin, until]
    if vm.ready_at is not None and begin < vm.ready_at < until:
        cuts.insert(1, vm.ready_at)
    busy = list(busy_since)
    entries: list[LedgerEntry] = []
    for start, end in itertools.pairwise(cuts):
        first = vm.metered_until is None and start == begin
        amount_usd = _cost_at(vm, billing, end) - (Decimal(0) if first else _cost_at(vm, billing, start))
        if vm.ready_at is None or end <= vm.ready_at:
            entry = _entry(vm, Meter.PROVISIONING, start, end, amount_usd)
            entries += _charge_boot(entry, vm.slots, submission_id, owner) if pays_boot else [entry]
            continue
        working = [max(start, since) for since in busy]
        amount_usd -= sum((_share_usd(vm, billing, since, end) for since in working), Decimal(0))
        if amount_usd or working.count(start) < vm.slots:
            entries.append(_entry(vm, Meter.IDLE, start, end, amount_usd))
    return vm.meter(until), entries


def charge_work(
    vm: VMInstance,
    billing: Billing,
    since: float,
    until: float,
    *,
    submission_id: str | None,
    owner: str | None,
) -> list[LedgerEntry]:
    """Return the ledger entry of an attempt in one slot; empty if the VM is not billed.

    A slot's share of the VM's price does not depend on the other slots.
    """
    if vm.started_at is None:
        return []
    since = max(since, vm.started_at)
    entry = _entry(vm, Meter.WORK, since, until, _share_usd(vm, billing, since, until))
    return [replace(entry, submission_id=submission_id, owner=owner)]


def _charge_boot(
    entry: LedgerEntry, slots: int, submission_id: str | None, owner: str | None
) -> list[LedgerEntry]:
    """Charge one slot's share of the boot to a submission, and the rest to the pool."""
    share_usd = (entry.amount_usd / slots).quantize(NANO, ROUND_HALF_EVEN)
    own = replace(entry, amount_usd=share_usd, submission_id=submission_id, owner=owner)
    return [own] if slots == 1 else [own, replace(entry, amount_usd=entry.amount_usd - share_usd)]


def _entry(vm: VMInstance, meter: Meter, start: float, end: float, amount_usd: Decimal) -> LedgerEntry:
    return LedgerEntry(
        vm_id=vm.id, meter=meter, started_at=min(start, end), ended_at=end, amount_usd=amount_usd
    )


def _share_usd(vm: VMInstance, billing: Billing, since: float, until: float) -> Decimal:
    """Return one slot's share, as a difference of totals, so that parts of an interval add up exactly."""
    return _slot_cost_at(vm, billing, until) - _slot_cost_at(vm, billing, since)


def _slot_cost_at(vm: VMInstance, billing: Billing, moment: float) -> Decimal:
    return (_cost_at(vm, billing, moment) / vm.slots).quantize(NANO, ROUND_HALF_EVEN)


def _cost_at(vm: VMInstance, billing: Billing, moment: float) -> Decimal:
    assert vm.started_at is not None  # noqa: S101 - checked by the caller
    return billing.cost_usd(max(0.0, moment - vm.started_at))
