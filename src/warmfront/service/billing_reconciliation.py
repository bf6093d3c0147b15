"""Holds the ledger against the provider's own record of every VM that has ended lately.

The ledger is made from the same record when a VM ends, so that a difference means that one of the two was
changed since. It is shown, and left to people: nothing is corrected here.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from warmfront.errors import WarmfrontError
from warmfront.money.billing import CENT
from warmfront.store import ledger, vms

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from warmfront.clock import Clock
    from warmfront.providers.base import Lease, Provider
    from warmfront.store.base import Store
    from warmfront.vm import VMInstance

#: How often, and how many VMs are looked at: more than end in between.
INTERVAL_S = 300.0
_LATEST = 50
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class BillingDifference:
    """A VM on which the two do not agree."""

    vm_id: str
    ledger_usd: Decimal
    billed_usd: Decimal


@dataclass(frozen=True, kw_only=True)
class BillingReconciliation:
    """What an audit found."""

    at: float  #: in seconds since 1970
    vms: int  #: how many it compared
    differences: tuple[BillingDifference, ...]  #: those that are more than a cent off


class BillingReconciler:
    """Looks now and every few minutes, and keeps the latest report."""

    latest: BillingReconciliation | None = None  #: None: there was none yet

    def __init__(self, store: Store, provider: Provider, clock: Clock) -> None:
        self._store = store
        self._provider = provider
        self._clock = clock

    async def reconcile(self) -> BillingReconciliation:
        """Compare every VM that ended lately."""
        compared, found = 0, []
        for vm, ledger_usd in await self._store.read(_ended, self._provider.name):
            lease = await self._provider.describe(vm.id)
            if lease is None or lease.ended_at is None:
                continue
            compared += 1
            billed_usd = self._billed_usd(vm.gpu, lease)
            if abs(billed_usd - ledger_usd) > CENT:
                found.append(BillingDifference(vm_id=vm.id, ledger_usd=ledger_usd, billed_usd=billed_usd))
        self.latest = BillingReconciliation(at=self._clock.now(), vms=compared, differences=tuple(found))
        return self.latest

    async def run(self) -> None:
        """A difference is logged once."""
        told: set[BillingDifference] = set()
        while True:
            try:
                for each in (await self.reconcile()).differences:
                    if each not in told:
                        told.add(each)
                        _log.warning(
                            "VM %s cost $%.4f by its provider's record and $%.4f by the ledger",
                            each.vm_id,
                            each.billed_usd,
                            each.ledger_usd,
                        )
            except WarmfrontError as error:
                _log.info("the ledger could not be audited now: %s", error.message)
            await asyncio.sleep(INTERVAL_S)

    def _billed_usd(self, gpu: str, lease: Lease) -> Decimal:
        """By the provider's record; what never started costs nothing."""
        if lease.started_at is None or lease.ended_at is None:
            return Decimal(0)
        return self._provider.billing(gpu).cost_usd(max(0.0, lease.ended_at - lease.started_at))


def _ended(c: Connection, provider: str) -> list[tuple[VMInstance, Decimal]]:
    """Those that are over, with what they came to."""
    latest = [vm for vm in vms.recent(c, _LATEST) if vm.state.is_over and vm.provider == provider]
    return [(vm, ledger.total_of_vm(c, vm.id)) for vm in latest]
