"""Billing models of providers: rate, granularity and minimum.

A model gives the cost of a VM's first `elapsed_s` seconds. The cost of an interval is the difference of two
such costs, so that intervals add up to the provider's bill exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal

#: The ledger counts in billionths of a dollar.
NANO = Decimal("0.000000001")
CENT = Decimal("0.01")
_US = 1_000_000
_US_PER_H = 3600 * _US


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
