"""Decides when one VM more is wanted: for those who wait, or for those who are foreseen.

It decides in memory, with no wait inside. What a VM may cost is promised before it is begun.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warmfront.errors import BudgetExceeded
from warmfront.orchestrator.verdicts import no_vm
from warmfront.verdicts import Verdict
from warmfront.vm import VMInstance, VMState

if TYPE_CHECKING:
    from collections.abc import Callable

    from warmfront.clock import Clock
    from warmfront.errors import WarmfrontError
    from warmfront.money.book import Book
    from warmfront.orchestrator.fleet import Fleet
    from warmfront.orchestrator.queue import FairQueue
    from warmfront.settings import Settings

#: VMs that fail to boot one after the other until those who wait are told.
BOOT_TRIES = 3
#: Pause after a boot that failed, times the failures in a row.
_BOOT_PAUSE_S = 2.0
#: A VM that nobody asked for is booted this often at most.
_PREWARM_AGAIN_S = 3600.0


@dataclass(kw_only=True)
class Growth:
    """Begins VMs."""

    fleet: Fleet
    queue: FairQueue
    book: Book
    settings: Settings
    clock: Clock
    new_id: Callable[[str], str]
    refuse_all: Callable[[Verdict, WarmfrontError], None]  #: there will be no VM for those who wait
    failures: int = 0  #: boots that failed in a row
    _boot_after: float = 0.0
    _prewarm_after: float = 0.0

    def scale_up(self, now: float) -> None:
        """One VM more for as long as waiting for those that we have takes longer than booting one."""
        while self._wants_another(now):
            try:
                self._begin(now)
            except BudgetExceeded as refusal:
                if not self.fleet.machines:
                    self.refuse_all(Verdict.BUDGET_EXCEEDED, refusal)
                return

    def prewarm(self, now: float) -> None:
        """A VM before anybody asks, where the policy foresees that somebody will."""
        at = self._prewarm_at(now)
        if at is not None and at <= now:
            # What the credits do not cover is left to those who ask.
            self._prewarm_after = now + _PREWARM_AGAIN_S
            with contextlib.suppress(BudgetExceeded):
                self._begin(now)

    def next_at(self, now: float) -> float | None:
        """When there is something to decide here though nothing happened."""
        if len(self.queue):  # then nothing is booted ahead
            return self._boot_after if self._boot_after > now else None
        return self._prewarm_at(now)

    def note_failure(self, reason: str) -> None:
        """A boot failed: the next one waits a little, and after some of them nobody waits any more."""
        self.failures += 1
        self._boot_after = self.clock.now() + _BOOT_PAUSE_S * self.failures
        others = any(other.vm.ready_at and not other.going for other in self.fleet.machines.values())
        if self.failures >= BOOT_TRIES and not others:
            self.failures = 0
            self.refuse_all(Verdict.ERROR, no_vm(BOOT_TRIES, reason))

    def _wants_another(self, now: float) -> bool:
        machines = self.fleet.machines.values()
        if not len(self.queue) or len(machines) >= self.settings.max_vms or now < self._boot_after:
            return False
        serving = [machine for machine in machines if not machine.going]
        if not serving:
            return True
        # The last who waits begins when all others are done, or under way on the other VMs.
        before = len(self.queue) - 1 + sum(len(machine.running) for machine in serving)
        estimates = self.fleet.estimates
        return before * estimates.task.seconds / len(serving) > estimates.boot.seconds

    def _begin(self, now: float) -> None:
        """Boot one more, for whoever waits first; `BudgetExceeded` if the credits do not cover it."""
        vm_id = self.new_id("vm")
        gpu = self.settings.default_gpu
        worst_usd = self.fleet.worst_case_usd(gpu, age_s=0.0, boots=True)
        self.book.promise(vm_id, worst_usd)
        self.fleet.begin(
            VMInstance(
                id=vm_id,
                provider=self.fleet.provider.name,
                gpu=gpu,
                state=VMState.PROVISIONING,
                created_at=now,
                simulated=self.fleet.provider.simulated,
                escrow_usd=worst_usd,
                boots_for=self._next_to_boot_for(),
            )
        )

    def _next_to_boot_for(self) -> str | None:
        """Who is shown that a VM boots: the first of those who wait and are not shown one yet."""
        shown = {machine.vm.boots_for for machine in self.fleet.machines.values()}
        return next((item for item in self.queue.heads() if item not in shown), None)

    def _prewarm_at(self, now: float) -> float | None:
        """When a VM is to be begun, unless there is one already or none could be had lately."""
        if self.fleet.machines or len(self.queue) or self.failures:
            return None
        at = self.fleet.keep_warm.prewarm_at(now)
        return None if at is None else max(at, self._prewarm_after)
