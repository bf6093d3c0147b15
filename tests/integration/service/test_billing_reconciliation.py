"""The ledger against the provider's record, when one of them was changed."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import TYPE_CHECKING

from warmfront import settings
from warmfront.clock import SystemClock
from warmfront.money.billing import Billing
from warmfront.providers.base import Lease, Phase
from warmfront.service.billing_reconciliation import BillingReconciler, BillingReconciliation
from warmfront.store import ledger_queries, vm_queries
from warmfront.store.records import LedgerEntry, Meter
from warmfront.store.sql_database import open_store
from warmfront.vm import VMInstance, VMState

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Connection

    from warmfront.providers.base import Provider

HOUR_S = 3600.0


class RecordsOnlyProvider:
    """A provider whose records say that every VM lived for an hour, except for one that never started."""

    name = "dstack"

    def billing(self, gpu: str, gpu_count: int = 1) -> Billing:
        """Return the price of an MI300X."""
        assert (gpu, gpu_count) == ("MI300X", 1)
        return Billing(rate_usd_per_h=Decimal("1.99"))

    async def describe(self, vm_id: str) -> Lease | None:
        """Return the VM's lease."""
        if vm_id == "vm_forgotten":
            return None
        started_at = None if vm_id == "vm_never" else 0.0
        return Lease(vm_id=vm_id, phase=Phase.ENDED, started_at=started_at, ended_at=HOUR_S)


def store_vm(c: Connection, vm_id: str, amount_usd: str) -> None:
    """Store a terminated VM and a ledger entry for it."""
    state = VMState.TERMINATED
    vm_queries.save(c, VMInstance(id=vm_id, provider="dstack", gpu="MI300X", state=state, created_at=0.0))
    entry = LedgerEntry(
        vm_id=vm_id,
        meter=Meter.WORK,
        started_at=0.0,
        ended_at=HOUR_S,
        amount_usd=Decimal(amount_usd),
        submission_id=None,
        owner=None,
    )
    ledger_queries.add(c, [entry])


def test_differences_over_a_cent_are_found(tmp_path: Path) -> None:
    """Differences up to a cent, and VMs unknown to the provider, are not reported."""

    async def find(provider: Provider) -> BillingReconciliation:
        store = await open_store(settings.load({"WARMFRONT_DATA_DIR": str(tmp_path)}, env_file=None))
        try:
            for vm_id, amount in [("vm_a", "1.99"), ("vm_b", "1.985"), ("vm_c", "1.90"), ("vm_never", "0.5")]:
                await store.database.write(store_vm, vm_id, amount)
            await store.database.write(store_vm, "vm_forgotten", "7")
            return await BillingReconciler(store, provider, SystemClock()).reconcile()
        finally:
            await store.close()

    found = asyncio.run(find(RecordsOnlyProvider()))  # type: ignore[arg-type]  # implements what is called
    assert found.vms == 4
    assert sorted((each.vm_id, each.ledger_usd, each.billed_usd) for each in found.differences) == [
        ("vm_c", Decimal("1.90"), Decimal("1.99")),
        ("vm_never", Decimal("0.5"), Decimal(0)),
    ]
