"""What a submission may expect, said before it is taken."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from decimal import Decimal

    from warmfront.errors import BudgetExceeded
    from warmfront.vms import VMInstance

#: How long an author thinks about a quote, on average, before it is sent.
_DECIDED_S = 60.0


@dataclass(frozen=True, kw_only=True)
class Quote:
    """What a submission may expect now."""

    vm_state: str  #: COLD_START or WARM_REUSE
    position: int  #: how many go before it
    wait_s: float
    cost_usd: Decimal
    task_s: float = 0.0  #: how long its turn takes, once it has come
    warm_chance: float = 0.0  #: of finding a VM that is ready, if it is sent within the next minutes
    refusal: BudgetExceeded | None = None  #: why the credits would not cover it

    def fields(self) -> dict[str, Any]:
        """As it is shown."""
        return {
            "vm_state": self.vm_state,
            "wait_s": round(self.wait_s, 1),
            "cost_usd": float(round(self.cost_usd, 4)),
            "warm_chance": round(self.warm_chance, 2),
        }


def warm_chance(machines: Iterable[VMInstance], now: float, boot_s: float) -> float:
    """How likely one of these is ready when what is quoted now is sent: authors take a minute to decide."""
    return max((_chance(vm, now, boot_s) for vm in machines), default=0.0)


def _chance(vm: VMInstance, now: float, boot_s: float) -> float:
    if vm.ready_at is None:  # it boots, and is of use to whoever takes longer than that
        return math.exp(-max(0.0, vm.created_at + boot_s - now) / _DECIDED_S)
    if vm.deadline_at is None:  # it works, and is kept for a while after that
        return 1.0
    return 1.0 - math.exp(-max(0.0, vm.deadline_at - now) / _DECIDED_S)
