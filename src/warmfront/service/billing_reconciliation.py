"""Compare the ledger with the provider's record of recently ended VMs.

The ledger is written from the same record when a VM ends, so a difference means that one of them has changed
since then. Differences are reported to the operator; nothing is corrected automatically.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from warmfront.errors import WarmfrontError
from warmfront.money.billing import CENT
from warmfront.providers.base import billing_of
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from warmfront.clock import Clock
    from warmfront.providers.base import Lease, Provider
    from warmfront.store.store import Store
    from warmfront.vm import VMInstance

#: Time between two reconciliations.
INTERVAL_S = 300.0
logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class BillingDifference:
    """A VM whose ledger and provider record differ."""

    vm_id: str
    ledger_usd: Decimal
    billed_usd: Decimal


@dataclass(frozen=True, kw_only=True)
class BillingReconciliation:
    """The result of one reconciliation."""

    at: float  #: seconds since 1970
    vms: int  #: how many VMs were compared
    differences: tuple[BillingDifference, ...]  #: differences of more than a cent


class BillingReconciler:
    """A task that reconciles the ledger every few minutes and keeps the latest result."""

    latest: BillingReconciliation | None = None  #: None before the first

    def __init__(self, store: Store, provider: Provider, clock: Clock) -> None:
        self._store = store
        self._provider = provider
        self._clock = clock

    async def reconcile(self) -> BillingReconciliation:
        """Compare the VMs that ended recently."""
        compared, differences = 0, []
        for vm, ledger_usd in await self._store.ended_vms(self._provider.name):
            lease = await self._provider.describe(vm.id)
            if lease is None or lease.ended_at is None:
                continue
            compared += 1
            if vm.end_confirmed and not lease.end_confirmed:
                lease = replace(lease, ended_at=vm.ended_at)  # the cloud's own list is more accurate
            billed_usd = self._billed_usd(vm, lease)
            if abs(billed_usd - ledger_usd) > CENT:
                differences.append(
                    BillingDifference(vm_id=vm.id, ledger_usd=ledger_usd, billed_usd=billed_usd)
                )
        self.latest = BillingReconciliation(
            at=self._clock.now(), vms=compared, differences=tuple(differences)
        )
        return self.latest

    async def run(self) -> None:
        """Reconcile until cancelled; log each difference once."""
        logged: set[BillingDifference] = set()
        while True:
            try:
                for difference in (await self.reconcile()).differences:
                    if difference not in logged:
                        logged.add(difference)
                        logger.warning(
                            "VM %s: the provider billed $%.4f, but the ledger has $%.4f and is not changed",
                            difference.vm_id,
                            difference.billed_usd,
                            difference.ledger_usd,
                        )
            except WarmfrontError as error:
                logger.info(
                    "billing reconciliation failed: %s; retrying in %.0f s", error.message, INTERVAL_S
                )
            await asyncio.sleep(INTERVAL_S)

    def _billed_usd(self, vm: VMInstance, lease: Lease) -> Decimal:
        """Return the cost according to the provider's record; 0 for a VM that never started."""
        if lease.started_at is None or lease.ended_at is None:
            return Decimal(0)
        billing = lease.billing or billing_of(self._provider, vm)
        return billing.cost_usd(max(0.0, lease.ended_at - lease.started_at))
