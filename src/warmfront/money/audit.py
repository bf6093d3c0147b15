"""Holds the ledger against the provider's own record of every VM that has ended lately.

The ledger is made from the same record when a VM ends, so that a difference means that one of the two was
changed since. It is shown, and left to people: nothing is corrected here.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warmfront.errors import WarmfrontError
from warmfront.money.billing import CENT
from warmfront.store import ledger, vms

if TYPE_CHECKING:
    from decimal import Decimal

    from sqlalchemy import Connection

    from warmfront.providers.base import Provider
    from warmfront.store.base import Store
    from warmfront.vms import VMInstance

#: How often, and how many VMs are looked at: more than end in between.
INTERVAL_S = 300.0
_LATEST = 50
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A VM on which the two do not agree."""

    vm_id: str
    ledger_usd: Decimal
    billed_usd: Decimal


async def audit(store: Store, provider: Provider) -> list[Difference]:
    """Every VM that ended lately and is more than a cent off."""
    found = []
    for vm, ledger_usd in await store.read(_ended, provider.name):
        lease = await provider.describe(vm.id)
        if lease is None or lease.ended_at is None:
            continue
        lived_s = 0.0 if lease.started_at is None else max(0.0, lease.ended_at - lease.started_at)
        billed_usd = provider.billing.cost_usd(lived_s) if lease.started_at is not None else ledger_usd * 0
        if abs(billed_usd - ledger_usd) > CENT:
            found.append(Difference(vm_id=vm.id, ledger_usd=ledger_usd, billed_usd=billed_usd))
    return found


async def audit_for_ever(store: Store, provider: Provider) -> None:
    """Now and every few minutes; a difference is told once."""
    told: set[Difference] = set()
    while True:
        try:
            for each in await audit(store, provider):
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


def _ended(c: Connection, provider: str) -> list[tuple[VMInstance, Decimal]]:
    """Those that are over, with what they came to."""
    latest = [vm for vm in vms.recent(c, _LATEST) if vm.state.is_over and vm.provider == provider]
    return [(vm, ledger.total_of_vm(c, vm.id)) for vm in latest]
