"""The price of each VM, as dstack reports it.

Backends have different prices for the same GPU type. The configured rate of the type is the highest price
that is accepted, and is reserved; the ledger uses the price of the offer that dstack took.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from warmfront.money.billing import NANO, Billing
from warmfront.providers.dstack.configuration import minimum_reservation_s, rate_variable

if TYPE_CHECKING:
    from collections.abc import Callable

    from warmfront.providers.dstack.tenancy import Tenancy
    from warmfront.settings import Settings

_log = logging.getLogger(__name__)


class VMPrices:
    """The prices of VMs on all fleets.

    Args:
        settings_for: returns the settings of the fleet for VMs with a GPU type, or for CPU nodes.
    """

    def __init__(self, settings_for: Callable[[str | None], Settings]) -> None:
        self._settings_for = settings_for
        self._checked: set[str] = set()

    def billing(self, tenancy: Tenancy | None, gpu: str | None) -> Billing | None:
        """Return the billing model of a VM; None if dstack reports no price, as for your own machines."""
        if tenancy is None or tenancy.instance.is_own_host or tenancy.instance.price_usd_per_h is None:
            return None
        minimum_s = minimum_reservation_s(self._settings_for(gpu), tenancy.instance.backend)
        return Billing(
            rate_usd_per_h=tenancy.instance.price_usd_per_h.quantize(NANO), minimum_s=float(minimum_s)
        )

    def check(self, vm_id: str, tenancy: Tenancy, gpu: str | None, gpu_count: int) -> None:
        """Warn once if a VM costs more than the configured rate, at which its worst case is reserved."""
        price = tenancy.instance.price_usd_per_h
        if price is None or gpu is None or vm_id in self._checked or tenancy.instance.is_own_host:
            return
        self._checked.add(vm_id)
        rate = self._settings_for(gpu).vm_rate_usd_per_h(gpu, gpu_count)
        if price > rate:
            _log.warning(
                "VM %s costs $%s per hour, more than the $%s that are reserved: set %s=%s",
                vm_id,
                price,
                rate,
                rate_variable(gpu, gpu_count),
                price,
            )
