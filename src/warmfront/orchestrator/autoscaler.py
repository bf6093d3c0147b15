"""Decide when to provision another VM: for queued submissions, or in advance (prewarming).

Decisions are made in memory without waiting. The worst case of a VM is reserved before it is requested.
"""

from __future__ import annotations

import contextlib
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warmfront.errors import BudgetExceeded
from warmfront.orchestrator.control_plane_verdicts import no_vm
from warmfront.verdicts import Verdict
from warmfront.vm import VMInstance

if TYPE_CHECKING:
    from collections.abc import Callable

    from warmfront.clock import Clock
    from warmfront.orchestrator.budget import Budget
    from warmfront.orchestrator.submission_lifecycle import SubmissionLifecycle
    from warmfront.orchestrator.vm_pool import BootFailure, VMPool
    from warmfront.providers.base import Provider
    from warmfront.settings import Settings

log = logging.getLogger(__name__)

#: After this many consecutive failures to provision, every queued submission for the GPU type fails.
BOOT_TRIES = 3
#: Linear backoff after a failure to provision: this, times the consecutive failures.
_BOOT_BACKOFF_S = 2.0
#: After BOOT_TRIES VMs in a row that were not what was leased, none is provisioned for this long, doubled
#: with each further one: every one of them was billed. Submissions fail at once in this time.
_SUSPENSION_S = 60.0
_LONGEST_SUSPENSION_S = 3600.0
#: At most one VM per GPU type is prewarmed in this time.
_PREWARM_INTERVAL_S = 3600.0


@dataclass(kw_only=True)
class _Backoff:
    """What was recently tried for one GPU type."""

    failures: int = 0  #: consecutive failures to provision
    unfit: int = 0  #: consecutive VMs that were not what was leased
    suspended_until: float = 0.0  #: no VM is provisioned before
    reason: str = ""  #: why the last VM was not what was leased
    provision_after: float = 0.0
    prewarm_after: float = 0.0


class Autoscaler:
    """Provisions VMs of every GPU type within the operator's limit on their number."""

    def __init__(
        self,
        *,
        pool: VMPool,
        submissions: SubmissionLifecycle,
        budget: Budget,
        provider: Provider,
        settings: Settings,
        clock: Clock,
        new_id: Callable[[str], str],
    ) -> None:
        self._pool = pool
        self._submissions = submissions
        self._budget = budget
        self._provider = provider
        self._settings = settings
        self._clock = clock
        self._new_id = new_id
        self._backoffs: dict[str, _Backoff] = {}

    def scale(self, now: float) -> None:
        """Provision VMs for queued submissions, and in advance where the policy predicts arrivals."""
        for failure in self._pool.take_boot_failures():
            self._record_failure(failure, now)
        for gpu in self._submissions.queued_gpus():
            self._scale_up(gpu, now)
        for gpu in self._prewarm_candidates():
            self._prewarm(gpu, now)

    def next_at(self, now: float) -> float | None:
        """Return when to decide again even if nothing happens."""
        moments = []
        for gpu in self._submissions.queued_gpus():
            provision_after = self._backoff(gpu).provision_after
            if provision_after > now:
                moments.append(provision_after)
        moments += [
            at for gpu in self._prewarm_candidates() if (at := self._prewarm_at(gpu, now)) is not None
        ]
        return min(moments, default=None)

    def provisions_for_another(self, gpu: str) -> bool:
        """Return whether one more submission for this GPU type would make it provision a VM."""
        return self._is_worth_a_vm(gpu, len(self._submissions.queue(gpu)) + 1)

    def record_success(self, gpu: str) -> None:
        """Reset the backoff: a VM of this GPU type took a submission."""
        backoff = self._backoff(gpu)
        backoff.failures = backoff.unfit = 0

    def _backoff(self, gpu: str) -> _Backoff:
        backoff = self._backoffs.get(gpu)
        if backoff is None:
            backoff = self._backoffs[gpu] = _Backoff()
        return backoff

    def _record_failure(self, failure: BootFailure, now: float) -> None:
        """Back off; after BOOT_TRIES consecutive failures, fail every queued submission for this GPU type."""
        gpu, backoff = failure.gpu, self._backoff(failure.gpu)
        backoff.failures += 1
        backoff.provision_after = now + _BOOT_BACKOFF_S * backoff.failures
        if failure.unfit:
            self._record_unfit(backoff, failure.reason, now)
        if backoff.failures >= BOOT_TRIES and not self._has_ready(gpu):
            tries = max(backoff.failures, backoff.unfit)
            self._submissions.reject_all(gpu, Verdict.ERROR, no_vm(tries, failure.reason))
            backoff.failures = 0

    def _record_unfit(self, backoff: _Backoff, reason: str, now: float) -> None:
        """Count a VM that was not what was leased; suspend provisioning if that happens again and again."""
        backoff.unfit += 1
        backoff.reason = reason
        if backoff.unfit >= BOOT_TRIES:
            suspension_s = _SUSPENSION_S * 2 ** (backoff.unfit - BOOT_TRIES)
            backoff.suspended_until = now + min(suspension_s, _LONGEST_SUSPENSION_S)
            backoff.provision_after = backoff.suspended_until
            backoff.failures = max(backoff.failures, BOOT_TRIES)  # the next one that fails is the last

    def _has_ready(self, gpu: str) -> bool:
        return any(other.vm.ready_at and not other.releasing for other in self._pool.with_gpu(gpu))

    # Queued submissions.

    def _scale_up(self, gpu: str, now: float) -> None:
        """Provision VMs while waiting for the existing ones takes longer than provisioning another."""
        backoff = self._backoff(gpu)
        if now < backoff.suspended_until:
            if not self._pool.serves(gpu):
                self._submissions.reject_all(gpu, Verdict.ERROR, no_vm(backoff.unfit, backoff.reason))
            return
        while self._needs_another(gpu, now):
            if len(self._pool) >= self._settings.max_vms:
                self._release_spare(gpu, f"making room for a VM with {gpu}")
                return
            try:
                self._provision(gpu, now)
            except BudgetExceeded as error:
                if not len(self._pool):
                    self._submissions.reject_all(gpu, Verdict.BUDGET_EXCEEDED, error)
                elif not self._pool.with_gpu(gpu):
                    self._release_spare(gpu, f"its reserved budget is needed for a VM with {gpu}")
                return

    def _needs_another(self, gpu: str, now: float) -> bool:
        queued = len(self._submissions.queue(gpu))
        return bool(queued) and self._is_worth_a_vm(gpu, queued) and now >= self._backoff(gpu).provision_after

    def _is_worth_a_vm(self, gpu: str, queued: int) -> bool:
        """Return whether another VM would serve the last of `queued` submissions sooner than the others."""
        if len(self._pool) >= self._settings.max_vms:
            # Only for a GPU type without a VM, which an idle VM of another type can make room for.
            return not self._pool.serves(gpu)
        serving = [pooled for pooled in self._pool.with_gpu(gpu) if not pooled.releasing]
        if not serving:
            return True
        # The last in the queue begins when all others are done, or running on the other VMs.
        before = queued - 1 + sum(len(pooled.running) for pooled in serving)
        estimates = self._pool.estimates(gpu)
        return before * estimates.task.seconds / len(serving) > estimates.boot.seconds

    def _release_spare(self, gpu: str, reason: str) -> None:
        """Release an idle VM of another GPU type that no submission waits for."""
        if any(pooled.releasing for pooled in self._pool.all()):
            return  # its slot and its reservation will be free soon
        spare = next(
            (
                pooled
                for pooled in self._pool.all()
                if pooled.vm.gpu != gpu and pooled.is_free and not len(self._submissions.queue(pooled.vm.gpu))
            ),
            None,
        )
        if spare is not None:
            self._pool.release(spare, reason)

    def _provision(self, gpu: str, now: float) -> None:
        """Provision a VM for the first submission without one, or raise `BudgetExceeded`."""
        vm_id = self._new_id("vm")
        escrow_usd = self._budget.reserve_new(vm_id, gpu)
        self._pool.provision(
            VMInstance.request(
                vm_id,
                provider=self._provider.name,
                gpu=gpu,
                created_at=now,
                simulated=self._provider.simulated,
                escrow_usd=escrow_usd,
                provisioned_for=self._next_without_vm(gpu),
            )
        )

    def _next_without_vm(self, gpu: str) -> str | None:
        """Return the first queued submission that no VM is being provisioned for."""
        served = {pooled.vm.provisioned_for for pooled in self._pool.with_gpu(gpu) if not pooled.releasing}
        return next((item for item in self._submissions.queue(gpu).heads() if item not in served), None)

    # Prewarming.

    def _prewarm_candidates(self) -> list[str]:
        """Return the GPU types that may be prewarmed: none while there are VMs or queued submissions."""
        if len(self._pool) or self._submissions.queue_length():
            return []
        return self._pool.known_gpus()

    def _prewarm(self, gpu: str, now: float) -> None:
        at = self._prewarm_at(gpu, now)
        if at is not None and at <= now:
            self._backoff(gpu).prewarm_after = now + _PREWARM_INTERVAL_S
            # If the credits do not cover it, they are left for submissions.
            with contextlib.suppress(BudgetExceeded):
                self._provision(gpu, now)

    def _prewarm_at(self, gpu: str, now: float) -> float | None:
        """Return when to prewarm a VM; None if the last ones failed or no arrival is predicted."""
        backoff = self._backoff(gpu)
        if backoff.failures or backoff.unfit:
            return None
        at = self._pool.policy(gpu).prewarm_at(now)
        return None if at is None else max(at, backoff.prewarm_after)
