"""Quotes: the expected wait and cost of a submission before it is sent. A quote reserves nothing.

Quotes use estimated durations per GPU type: exponentially weighted moving averages (EWMA).
"""

from __future__ import annotations

import math
from dataclasses import field
from typing import TYPE_CHECKING

from warmfront.events import QueueQuote, VMStart
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable
    from decimal import Decimal

    from warmfront.clock import Clock
    from warmfront.errors import BudgetExceeded
    from warmfront.orchestrator.autoscaler import Autoscaler
    from warmfront.orchestrator.budget import Budget
    from warmfront.orchestrator.submission_lifecycle import SubmissionLifecycle
    from warmfront.orchestrator.vm_pool import VMPool
    from warmfront.vm import VMInstance

#: How long authors take to submit after they see a quote: the mean of an exponential distribution.
_MEAN_DECISION_S = 60.0

#: The weight of the newest observation: a handful of recent observations dominate.
_ALPHA = 0.3
#: The assumed duration of an attempt before any were observed.
_INITIAL_TASK_S = 10.0
#: The assumed time to end a VM before any ends were observed.
_INITIAL_STOP_S = 15.0


@dataclass(kw_only=True)
class DurationEstimate:
    """An EWMA of durations in seconds."""

    seconds: float  #: the current estimate
    observations: int = 0

    def observe(self, seconds: float) -> None:
        """Add an observation. The first one replaces the initial guess."""
        if self.observations:
            self.seconds += _ALPHA * (seconds - self.seconds)
        else:
            self.seconds = seconds
        self.observations += 1


@dataclass(kw_only=True)
class DurationEstimates:
    """Estimates of how long provisioning, attempts and ends take on one GPU type."""

    boot: DurationEstimate  #: from the request for a VM to the first answer of its listener
    task: DurationEstimate  #: one attempt
    stop: DurationEstimate  #: from the request for a VM's end to its confirmation
    by_endpoint: dict[str, DurationEstimate] = field(default_factory=dict)  #: one attempt, by its endpoint

    def observe_task(self, endpoint: str, seconds: float) -> None:
        """Add the duration of an attempt."""
        self.task.observe(seconds)
        self.by_endpoint.setdefault(endpoint, DurationEstimate(seconds=seconds)).observe(seconds)

    def task_s(self, endpoint: str) -> float:
        """Return how long an attempt with this endpoint takes; for any endpoint if none was observed yet."""
        return self.by_endpoint.get(endpoint, self.task).seconds

    @classmethod
    def initial(cls, boot_s: float) -> DurationEstimates:
        """Return the initial guesses; the provider knows how long provisioning typically takes."""
        return cls(
            boot=DurationEstimate(seconds=boot_s),
            task=DurationEstimate(seconds=_INITIAL_TASK_S),
            stop=DurationEstimate(seconds=_INITIAL_STOP_S),
        )


@dataclass(frozen=True, kw_only=True)
class Quote:
    """The expected wait and cost of a submission that is sent now."""

    vm_state: VMStart
    position: int  #: how many submissions are served before it
    wait_s: float
    cost_usd: Decimal  #: the charge: its attempt, and the boot if it `pays_boot`
    pays_boot: bool = False  #: whether a VM would be provisioned for it
    task_s: float = 0.0  #: how long its attempt takes
    warm_chance: float = 0.0  #: the probability of a ready VM if it is sent within the next minutes
    shortage: BudgetExceeded | None = None  #: why the credits would not cover it

    def for_event(self) -> QueueQuote:
        """Return the quote in the form used in events."""
        return QueueQuote(
            vm_state=self.vm_state,
            wait_s=round(self.wait_s, 1),
            cost_usd=float(round(self.cost_usd, 4)),
            warm_chance=round(self.warm_chance, 2),
        )


class QuoteCalculator:
    """A calculator of quotes from the current state of queue, pool and budget."""

    def __init__(
        self,
        *,
        pool: VMPool,
        submissions: SubmissionLifecycle,
        budget: Budget,
        autoscaler: Autoscaler,
        clock: Clock,
    ) -> None:
        self._pool = pool
        self._submissions = submissions
        self._budget = budget
        self._autoscaler = autoscaler
        self._clock = clock

    def quote(self, gpu: str, owner: str) -> Quote:
        """Return a quote for a submission of this owner and GPU type."""
        vms = [pooled for pooled in self._pool.with_gpu(gpu) if not pooled.is_leaving]
        ready = [pooled for pooled in vms if pooled.vm.ready_at is not None]
        position = self._submissions.queue(gpu).position(owner)
        estimates = self._pool.estimates(gpu)
        task_s, boot_s = estimates.task.seconds, estimates.boot.seconds
        free = next((pooled for pooled in ready if pooled.accepts_attempts), None)
        at_once = position == 0 and free is not None
        slots = max(1, sum(pooled.vm.slots for pooled in vms))
        wait_s = 0.0 if at_once else task_s * (position + 1) / slots + (0.0 if ready else boot_s)
        pays_boot = free is None and self._autoscaler.provisions_for_another(gpu)
        gpu_count = self._autoscaler.next_gpu_count(gpu)
        if pays_boot or not vms:
            cost_usd = self._budget.work_after_boot_usd(gpu, gpu_count, boot_s, task_s)
        else:
            cost_usd = self._budget.work_usd((free or vms[0]).vm, task_s, begins_in_s=wait_s)
        if pays_boot:
            cost_usd += self._budget.boot_usd(gpu, gpu_count, boot_s)
        return Quote(
            vm_state=VMStart.WARM_REUSE if ready else VMStart.COLD_START,
            position=position,
            wait_s=wait_s,
            cost_usd=cost_usd,
            pays_boot=pays_boot,
            task_s=task_s,
            warm_chance=warm_chance([pooled.vm for pooled in vms], self._clock.now(), boot_s),
            shortage=self._budget.shortage_of([pooled.vm for pooled in vms], gpu),
        )


def warm_chance(vms: Iterable[VMInstance], now: float, boot_s: float) -> float:
    """Return the probability that one of these VMs is ready when the author decides to submit."""
    return max((_ready_chance(vm, now, boot_s) for vm in vms), default=0.0)


def _ready_chance(vm: VMInstance, now: float, boot_s: float) -> float:
    if vm.ready_at is None:  # provisioning: ready if the author takes longer than the rest of the boot
        return math.exp(-max(0.0, vm.created_at + boot_s - now) / _MEAN_DECISION_S)
    if vm.deadline_at is None:  # busy, and kept for a while afterwards
        return 1.0
    return 1.0 - math.exp(-max(0.0, vm.deadline_at - now) / _MEAN_DECISION_S)
