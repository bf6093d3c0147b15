"""What a submission may expect, said before it is taken. It promises nothing, and changes nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from warmfront.orchestrator.fleet import COLD_START, WARM_REUSE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from warmfront.clock import Clock
    from warmfront.errors import BudgetExceeded
    from warmfront.money.book import Book
    from warmfront.orchestrator.fleet import Fleet
    from warmfront.orchestrator.queue import FairQueue
    from warmfront.orchestrator.state import Machine
    from warmfront.vm import VMInstance

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


@dataclass(kw_only=True)
class Quotes:
    """Looks at the queue, the VMs and the credits as they are."""

    fleet: Fleet
    queue: FairQueue
    book: Book
    clock: Clock

    def of(self, gpu: str, owner: str) -> Quote:
        """What a submission of this owner may expect, if it came now."""
        machines = [m for m in self.fleet.machines.values() if m.vm.gpu == gpu and not m.going]
        ready = [machine for machine in machines if machine.vm.ready_at is not None]
        position = self.queue.position(owner)
        task_s, boot_s = self.fleet.estimates.task.seconds, self.fleet.estimates.boot.seconds
        billed_s = task_s + (0.0 if ready else boot_s)
        cost = self.fleet.provider.billing(gpu).rate_usd_per_h * Decimal(round(billed_s * 1000)) / 3_600_000
        at_once = position == 0 and any(machine.takes_more for machine in ready)
        wait_s = task_s * (position + 1) / max(1, len(machines)) + (0.0 if ready else boot_s)
        return Quote(
            vm_state=WARM_REUSE if ready else COLD_START,
            position=position,
            wait_s=0.0 if at_once else wait_s,
            cost_usd=cost,
            task_s=task_s,
            warm_chance=warm_chance([machine.vm for machine in machines], self.clock.now(), boot_s),
            refusal=self._refusal(gpu, machines),
        )

    def _refusal(self, gpu: str, machines: list[Machine]) -> BudgetExceeded | None:
        """Why the credits would cover one task more on none of these VMs, or no VM if there are none."""
        if not machines:
            return self.book.refusal("", self.fleet.worst_case_usd(gpu, age_s=0.0, boots=True))
        refusals = [self.book.refusal(each.vm.id, self.fleet.one_more_usd(each)) for each in machines]
        return None if None in refusals else refusals[0]


def warm_chance(machines: Iterable[VMInstance], now: float, boot_s: float) -> float:
    """How likely one of these is ready when what is quoted now is sent: authors take a minute to decide."""
    return max((_chance(vm, now, boot_s) for vm in machines), default=0.0)


def _chance(vm: VMInstance, now: float, boot_s: float) -> float:
    if vm.ready_at is None:  # it boots, and is of use to whoever takes longer than that
        return math.exp(-max(0.0, vm.created_at + boot_s - now) / _DECIDED_S)
    if vm.deadline_at is None:  # it works, and is kept for a while after that
        return 1.0
    return 1.0 - math.exp(-max(0.0, vm.deadline_at - now) / _DECIDED_S)
