"""What a submission may expect, said before it is taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from decimal import Decimal

    from warmfront.errors import BudgetExceeded


@dataclass(frozen=True, kw_only=True)
class Quote:
    """What a submission may expect now."""

    vm_state: str  #: COLD_START or WARM_REUSE
    position: int  #: how many go before it
    wait_s: float
    cost_usd: Decimal
    task_s: float = 0.0  #: how long its turn takes, once it has come
    refusal: BudgetExceeded | None = None  #: why the credits would not cover it

    def fields(self) -> dict[str, Any]:
        """As it is shown."""
        return {
            "vm_state": self.vm_state,
            "wait_s": round(self.wait_s, 1),
            "cost_usd": float(round(self.cost_usd, 4)),
        }
