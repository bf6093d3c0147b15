"""How a provider bills a VM: rate, granularity, minimum.

A model tells the cost of a VM's first `elapsed_s` seconds. What an interval comes to is the difference
of two such costs, so that intervals add up to the provider's bill exactly, however they are cut.
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
    """A provider's price of one VM."""

    rate_usd_per_h: Decimal
    granularity_s: float = 0.0  #: every started unit is paid; 0: by the microsecond
    minimum_s: float = 0.0  #: what is paid at least, from the first moment

    def cost_usd(self, elapsed_s: float) -> Decimal:
        """What the provider asks for a VM that has lived this long."""
        if elapsed_s < 0:
            raise ValueError(f"a VM cannot have lived {elapsed_s} s")
        return (self.rate_usd_per_h * self._paid_us(elapsed_s) / _US_PER_H).quantize(NANO, ROUND_HALF_EVEN)

    def paid_until_s(self, elapsed_s: float) -> float:
        """Up to which age a VM of this age is paid for already: ending it sooner saves nothing."""
        if not self.granularity_s:
            return max(elapsed_s, self.minimum_s)
        return self._paid_us(elapsed_s) / _US

    def _paid_us(self, elapsed_s: float) -> int:
        """What is paid for at this age, in whole microseconds."""
        paid_us = round(max(elapsed_s, self.minimum_s) * _US)
        if not self.granularity_s:
            return paid_us
        unit_us = round(self.granularity_s * _US)
        return -(-paid_us // unit_us) * unit_us

    def free_until_s(self, elapsed_s: float, stop_s: float) -> float:
        """Up to which age a VM can be kept for what ending it at this age would cost.

        An end takes `stop_s` to take effect: it must be asked for so long before the next unit begins.
        """
        return max(elapsed_s, self.paid_until_s(elapsed_s + stop_s) - stop_s)
