"""Divide the life of a VM into billed intervals: provisioning, work and idle.

The amounts of a VM's intervals add up to its provider's bill exactly, wherever the divisions are.
"""

from __future__ import annotations

import itertools
from decimal import Decimal
from typing import TYPE_CHECKING

from warmfront.store.records import LedgerEntry, Meter

if TYPE_CHECKING:
    from warmfront.money.billing import Billing
    from warmfront.vm import VMInstance


def accrued_usd(vm: VMInstance, billing: Billing, now: float) -> Decimal:
    """Return what the VM has cost so far."""
    if vm.started_at is None:
        return Decimal(0)
    return billing.cost_usd(max(0.0, now - vm.started_at))


def settle(
    vm: VMInstance,
    billing: Billing,
    until: float,
    *,
    worked: bool,
    submission_id: str | None,
    owner: str | None,
) -> tuple[VMInstance, list[LedgerEntry]]:
    """Return the VM metered up to `until`, and the ledger entries since it was last metered.

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
        entries.append(
            LedgerEntry(
                vm_id=vm.id,
                meter=meter,
                started_at=min(start, end),
                ended_at=end,
                amount_usd=_between_usd(
                    vm, billing, start, end, first=vm.metered_until is None and start == begin
                ),
                submission_id=submission_id,
                owner=owner,
            )
        )
    return vm.meter(until), entries


def _between_usd(vm: VMInstance, billing: Billing, start: float, end: float, *, first: bool) -> Decimal:
    """Return the difference of two totals; the first interval includes the minimum charge."""
    assert vm.started_at is not None  # noqa: S101 - checked by the caller
    before = Decimal(0) if first else billing.cost_usd(max(0.0, start - vm.started_at))
    return billing.cost_usd(max(0.0, end - vm.started_at)) - before
