"""Decide when to provision another VM: for queued submissions, or in advance (prewarming).

Decisions are made in memory without waiting. The worst case of a VM is reserved before it is requested.
"""

from __future__ import annotations

import contextlib
import logging
import math
from collections import Counter
from typing import TYPE_CHECKING

from warmfront.errors import BudgetExceeded
from warmfront.events import Waiting
from warmfront.gpus import CPU_NODE, vm_with
from warmfront.orchestrator.control_plane_verdicts import no_vm, none_available
from warmfront.orchestrator.cpu_nodes import CpuNodeFallback
from warmfront.orchestrator.provisioning_state import ProvisioningState
from warmfront.providers.base import max_cpu_nodes
from warmfront.provisioning import FailureKind
from warmfront.verdicts import Verdict
from warmfront.vm import VMInstance

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from decimal import Decimal

    from warmfront.clock import Clock
    from warmfront.orchestrator.breaker_records import BreakerRecords
    from warmfront.orchestrator.budget import Budget
    from warmfront.orchestrator.pooled_vm import BootFailure, PooledVM
    from warmfront.orchestrator.provisioning_state import Shortage
    from warmfront.orchestrator.submission_lifecycle import SubmissionLifecycle
    from warmfront.orchestrator.vm_pool import VMPool
    from warmfront.providers.base import Provider
    from warmfront.provisioning import ProvisioningProblem
    from warmfront.settings import Settings

log = logging.getLogger(__name__)

#: At most one VM per GPU type is prewarmed in this time.
_PREWARM_INTERVAL_S = 3600.0


#: At most one VM per GPU type is released for a larger one in this time: a larger one may not be available.
_REPLACE_INTERVAL_S = 600.0
#: A boot without waiting submissions is stopped after this time: an author who cancels may submit again soon.
_UNWANTED_BOOT_S = 10.0
#: How many submissions at the front of a queue are notified of every request during a shortage.
_NOTIFIED_EVERY_TRY = 100


class Autoscaler:
    """The autoscaler: provisions VMs of every GPU type, within the operator's limit on their number."""

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
        breakers: BreakerRecords,
    ) -> None:
        self._pool = pool
        self._submissions = submissions
        self._budget = budget
        self._provider = provider
        self._settings = settings
        self._clock = clock
        self._new_id = new_id
        self._breakers = breakers
        self._states: dict[str, ProvisioningState] = {}
        self.cpu_fallback = CpuNodeFallback(
            provider=provider, pool=pool, submissions=submissions, budget=budget, state_of=self._state
        )

    def restore(self, records: Mapping[str, str]) -> None:
        """Restore the circuit breakers, by GPU type, that were stored before a restart."""
        self._states = {state.gpu: state for state in self._breakers.restore(records)}

    def apply_settings(self, settings: Settings) -> None:
        """Replace the settings."""
        self._settings = settings

    def scale(self, now: float, *, may_provision: bool = True) -> None:
        """Provision VMs for queued submissions, and in advance if the policy predicts arrivals.

        Without `may_provision` (the intake is paused), only stop boots that no submission waits for.
        """
        for failure in self._pool.take_boot_failures():
            self._record_failure(failure, now)
        if may_provision:
            self._provision_as_needed(now)
        self._stop_unwanted_boots(now)

    def _provision_as_needed(self, now: float) -> None:
        self.cpu_fallback.move(now)
        for gpu in self._submissions.queued_gpus():
            self._scale_up(gpu, now)
        for gpu in self._states:
            self._replace_by_larger(gpu, now)
        for state in self._states.values():
            is_awaited = len(self._submissions.queue(state.gpu)) or self.cpu_fallback.keeps(state, now)
            if state.shortage is not None and not is_awaited:
                state.end_shortage()
        for gpu in self._prewarm_candidates():
            self._prewarm(gpu, now)

    def next_at(self, now: float) -> float | None:
        """Return when to decide again even if nothing happens."""
        moments: list[float | None] = [self.cpu_fallback.next_at()]
        for gpu in self._submissions.queued_gpus():
            state = self._state(gpu)
            moments.append(state.provision_after)
            if state.shortage is not None:
                moments.append(state.shortage.since + self._settings.provision_timeout_s)
        moments += [self._prewarm_at(gpu, now) for gpu in self._prewarm_candidates()]
        moments += [
            pooled.unwanted_since + _UNWANTED_BOOT_S
            for pooled in self._pool.booting()
            if pooled.unwanted_since is not None
        ]
        return min((at for at in moments if at is not None and at > now), default=None)

    def problems(self) -> list[ProvisioningProblem]:
        """Return the GPU types for which no VM is provisioned, and why."""
        now = self._clock.now()
        found = (state.problem(now) for state in self._states.values())
        return [problem for problem in found if problem is not None]

    def reset(self, gpu: str) -> None:
        """Close the circuit breaker of a GPU type, and request a VM immediately if one is needed."""
        state = self._state(gpu)
        state.reset()
        self._breakers.save(state)

    def provisions_for_another(self, gpu: str) -> bool:
        """Return whether one more submission for this GPU type would cause a VM to be provisioned."""
        return self._is_worth_a_vm(gpu, len(self._submissions.queue(gpu)) + 1)

    def next_gpu_count(self, gpu: str) -> int:
        """Return how many GPUs the next VM would have if one more submission were queued."""
        return self._by_price(gpu, len(self._submissions.queue(gpu)) + 1)[0]

    def record_success(self, vm: VMInstance) -> None:
        """Record that a VM took a submission, so VMs of its GPU type work."""
        state = self._state(vm.gpu)
        if state.is_troubled:
            state.record_success(vm.created_at)
            self._breakers.save(state)

    def _state(self, gpu: str) -> ProvisioningState:
        state = self._states.get(gpu)
        if state is None:
            state = self._states[gpu] = ProvisioningState(gpu=gpu)
        return state

    def _is_full(self, gpu: str) -> bool:
        """Return whether the limit on VMs with a GPU, or the separate limit on CPU nodes, is reached.

        The limit on VMs is the operator's, or the provider's if that is lower.
        """
        if gpu == CPU_NODE:
            return self._pool.count(cpu_nodes=True) >= max_cpu_nodes(self._provider)
        own, limit = self._settings.max_vms, self._provider.max_vms
        return self._pool.count(cpu_nodes=False) >= (own if limit is None else min(own, limit))

    def _record_failure(self, failure: BootFailure, now: float) -> None:
        if (
            failure.spot
            and failure.kind is FailureKind.OTHER
            and self._pool.spot.is_avoided(failure.gpu, now)
        ):
            return  # it was probably preempted, and the next VM is requested on demand
        state = self._state(failure.gpu)
        was_open = state.is_open(now)
        state.record_failure(failure, now)
        self._breakers.save(state)
        if state.is_open(now) and not was_open and state.breaker is not None:
            log.error(
                "circuit breaker open: requesting no %s for %.0f s after %d failures: %s. Reset the circuit "
                "breaker to request one sooner. %s",
                vm_with(failure.gpu),
                state.breaker.retry_at - now,
                state.failures,
                failure.reason.rstrip("."),
                failure.hint,
            )

    # Queued submissions.

    def _scale_up(self, gpu: str, now: float) -> None:
        """Provision VMs while waiting for the existing ones takes longer than provisioning another."""
        state = self._state(gpu)
        if state.is_troubled and self._gives_up(state, now):
            return
        while self._needs_another(gpu, now):
            if self._is_full(gpu):
                self._release_spare(gpu, f"making room for a {vm_with(gpu)}", counts_alike=True)
                return
            try:
                self._provision(gpu, now)
            except BudgetExceeded as error:
                if not len(self._pool):
                    self._submissions.reject_all(gpu, Verdict.BUDGET_EXCEEDED, error)
                elif not self._pool.with_gpu(gpu) or self._needs_on_demand(gpu):
                    self._release_spare(gpu, f"its reserved budget is needed for a {vm_with(gpu)}")
                return

    def _gives_up(self, state: ProvisioningState, now: float) -> bool:
        """Add the reason for waiting to queued submissions, and fail those that cannot get a VM.

        If a VM is booting or ready, it serves them all and none fails. Returns whether the circuit breaker is
        open.
        """
        gpu, is_open = state.gpu, state.is_open(now)
        self._note_started(state)
        if self._pool.serves(gpu):
            return is_open
        if is_open and state.breaker is not None:
            error = no_vm(state.breaker.failures, state.breaker.reason)
            self._submissions.reject_all(gpu, Verdict.ERROR, error)
        elif state.shortage is not None:
            timeout_s = self._settings.provision_timeout_s
            if now >= state.shortage.since + timeout_s:
                error = none_available(timeout_s, state.shortage.reason)
                self._submissions.reject_older(gpu, now - timeout_s, error)
            self._report_shortage(state.shortage, gpu, now)
        return is_open

    def _note_started(self, state: ProvisioningState) -> None:
        """End a shortage if the cloud has started a VM since it began."""
        if state.shortage is not None:
            for pooled in self._pool.with_gpu(state.gpu):
                if pooled.vm.started_at is not None and not pooled.releasing:
                    state.record_start(pooled.vm.created_at)

    def _report_shortage(self, shortage: Shortage, gpu: str, now: float) -> None:
        """Report the shortage to every queued submission once, and every new request to the first ones."""
        queue, is_new_try = self._submissions.queue(gpu), shortage.notified_tries != shortage.tries
        if not is_new_try and len(queue) == len(shortage.notified):
            return
        shortage.notified_tries = shortage.tries
        queued = list(queue.heads())
        self._submissions.report_waiting(
            [
                (submission_id, self._waiting(shortage, gpu, ahead, now))
                for ahead, submission_id in enumerate(queued)
                if submission_id not in shortage.notified or (is_new_try and ahead < _NOTIFIED_EVERY_TRY)
            ]
        )
        shortage.notified = set(queued)

    def _waiting(self, shortage: Shortage, gpu: str, ahead: int, now: float) -> Waiting:
        estimates = self._pool.estimates(gpu)
        retry_in_s = max(0.0, shortage.retry_at - now)
        waited_s = now - shortage.since
        return Waiting(
            kind=shortage.kind.value,
            reason=shortage.reason,
            waited_s=round(waited_s, 1),
            retry_in_s=round(retry_in_s, 1),
            ahead=ahead,
            eta_s=round(retry_in_s + estimates.boot.seconds + ahead * estimates.task.seconds, 1),
            gives_up_in_s=round(max(0.0, self._settings.provision_timeout_s - waited_s), 1),
        )

    def _needs_another(self, gpu: str, now: float) -> bool:
        queued, state = len(self._submissions.queue(gpu)), self._state(gpu)
        if not queued or now < state.provision_after:
            return False
        if not self._is_worth_a_vm(gpu, queued) and not self._needs_on_demand(gpu):
            return False
        return not (state.requests_one_at_a_time and self._is_booting(gpu))

    def _is_booting(self, gpu: str) -> bool:
        return any(pooled.vm.gpu == gpu for pooled in self._pool.booting())

    def _is_worth_a_vm(self, gpu: str, queued: int) -> bool:
        """Return whether a new VM would serve the last queued submission sooner than the existing VMs."""
        if self._is_full(gpu):
            # Only for a GPU type without a VM, because an idle VM of another type can be released for it.
            return not self._pool.serves(gpu)
        slots, boots_of_work = self._slots(gpu), self._boots_of_work(gpu, queued)
        return not slots or boots_of_work > slots

    def _slots(self, gpu: str) -> int:
        """Return how many attempts the VMs with this GPU type can run at once, including booting VMs."""
        return sum(
            pooled.vm.slots - len(pooled.failed_slots)
            for pooled in self._pool.with_gpu(gpu)
            if not pooled.is_leaving
        )

    def _boots_of_work(self, gpu: str, queued: int) -> float:
        """Return the work ahead of the last of `queued` submissions, in units of the boot time.

        With this many slots, that submission would begin when a VM that is requested now becomes ready.
        """
        serving = (pooled for pooled in self._pool.with_gpu(gpu) if not pooled.is_leaving)
        before = queued - 1 + sum(len(pooled.running) for pooled in serving)
        estimates = self._pool.estimates(gpu)
        return before * estimates.task.seconds / max(estimates.boot.seconds, 1e-9)

    def _by_price(self, gpu: str, queued: int) -> list[int]:
        """Return the VM sizes, sorted by price per slot that the queue would use; larger first if equal.

        During a shortage, sizes that were not available come last.
        """
        short_of = self._state(gpu).short_of
        if short_of.issuperset(self._provider.gpu_counts(gpu)):
            short_of.clear()  # every size was tried: start over
        missing = max(1, math.ceil(self._boots_of_work(gpu, queued)) - self._slots(gpu))

        def rank(gpu_count: int) -> tuple[bool, float, int]:
            used = min(missing, self._provider.slots(gpu, gpu_count))
            rate = float(self._budget.billing(gpu, gpu_count).rate_usd_per_h)
            return gpu_count in short_of, round(rate / used, 9), -gpu_count

        return sorted(self._provider.gpu_counts(gpu), key=rank)

    # Larger VMs instead of small ones.

    def _replace_by_larger(self, gpu: str, now: float) -> None:
        """Replace a small VM with a larger one if the limit on VMs is reached and the queue would fill it.

        The VM with the fewest slots is drained and released. Then the larger one is provisioned for the
        queue.
        """
        if len(self._provider.gpu_counts(gpu)) == 1:
            return
        serving = [pooled for pooled in self._pool.with_gpu(gpu) if not pooled.is_leaving]
        drained = next((pooled for pooled in serving if pooled.draining), None)
        unpinned = (pooled for pooled in serving if not self._is_pinned(pooled, now))
        smallest = drained or min(unpinned, key=_cost_of_draining, default=None)
        if smallest is None or not self._would_fill_larger(smallest, now):
            if drained is not None:
                drained.draining = False
                self._pool.offer(drained)
            return
        if drained is None:
            self._state(gpu).replace_after = now + _REPLACE_INTERVAL_S
            smallest.draining = True
        if not smallest.running:
            self._pool.release(smallest, "making room for a VM with more slots")

    @staticmethod
    def _is_pinned(pooled: PooledVM, now: float) -> bool:
        return pooled.vm.pinned_until is not None and now < pooled.vm.pinned_until

    def _would_fill_larger(self, small: PooledVM, now: float) -> bool:
        """Return whether the queue would use every slot of a larger VM that replaces a small one."""
        gpu, state = small.vm.gpu, self._state(small.vm.gpu)
        largest = max(self._provider.gpu_counts(gpu))
        slots = self._slots(gpu) - small.vm.slots + self._provider.slots(gpu, largest)
        if small.vm.gpu_count == largest or not self._is_full(gpu) or state.is_troubled:
            return False
        if any(pooled.releasing for pooled in self._pool.all()):
            return False  # another VM is already being released
        if self._budget.escrow.shortage("", self._budget.new_vm_usd(gpu, largest)) is not None:
            return False
        is_due = small.draining or now >= state.replace_after
        return is_due and self._boots_of_work(gpu, len(self._submissions.queue(gpu))) >= slots

    def _release_spare(self, gpu: str, reason: str, *, counts_alike: bool = False) -> None:
        """Release an idle VM that no queued submission can use: of another GPU type, or a spot VM.

        With `counts_alike`, only a VM that counts against the same limit.
        """
        others = [
            pooled
            for pooled in self._pool.all()
            if not counts_alike or (pooled.vm.gpu == CPU_NODE) is (gpu == CPU_NODE)
        ]
        if any(pooled.releasing for pooled in others):
            return  # its slot and its reservation will be free soon
        spare = next((pooled for pooled in others if self._is_spare(pooled, gpu)), None)
        if spare is not None:
            self._pool.release(spare, reason)

    def _is_spare(self, pooled: PooledVM, gpu: str) -> bool:
        """Return whether an idle VM can be released for one with this GPU type."""
        if not pooled.is_free or self._is_pinned(pooled, self._clock.now()):
            return False
        if pooled.vm.gpu == gpu:
            return pooled.vm.spot and self._needs_on_demand(gpu)
        return not len(self._submissions.queue(pooled.vm.gpu))

    def _provision(self, gpu: str, now: float) -> None:
        """Provision a VM for the first submission that has none, or raise `BudgetExceeded`."""
        vm_id = self._new_id("vm")
        provisioned_for = self._next_without_vm(gpu)
        gpu_count, escrow_usd = self._reserve(vm_id, gpu)
        self._pool.provision(
            VMInstance.request(
                vm_id,
                provider=self._provider.name,
                gpu=gpu,
                created_at=now,
                simulated=self._provider.simulated,
                escrow_usd=escrow_usd,
                provisioned_for=provisioned_for,
                spot=self._chooses_spot(gpu, gpu_count, provisioned_for, now),
                gpu_count=gpu_count,
                slots=self._provider.slots(gpu, gpu_count),
            )
        )

    def _reserve(self, vm_id: str, gpu: str) -> tuple[int, Decimal]:
        """Reserve a VM of the best size that the credits cover; return its GPUs and its worst case."""
        sizes = self._by_price(gpu, len(self._submissions.queue(gpu)))
        for gpu_count in sizes[:-1]:
            with contextlib.suppress(BudgetExceeded):
                return gpu_count, self._budget.reserve_new(vm_id, gpu, gpu_count)
        return sizes[-1], self._budget.reserve_new(vm_id, gpu, sizes[-1])

    def _chooses_spot(self, gpu: str, gpu_count: int, submission_id: str | None, now: float) -> bool:
        """Return whether the new VM for the first queued submission should be a spot VM."""
        spot = self._budget.spot_billing(gpu, gpu_count)
        active = self._submissions.get(submission_id) if submission_id else None
        if spot is None or (active is not None and active.preempted) or self._needs_on_demand(gpu):
            return False
        estimates = self._pool.estimates(gpu)
        work_s = estimates.task_s(active.submission.endpoint) if active else estimates.task.seconds
        return self._pool.spot.chooses_spot(
            gpu,
            rate_usd_per_h=float(self._budget.billing(gpu, gpu_count).rate_usd_per_h),
            spot_rate_usd_per_h=float(spot.rate_usd_per_h),
            busy_s=estimates.boot.seconds + work_s,
            now=now,
        )

    def _needs_on_demand(self, gpu: str) -> bool:
        """Return whether a queued submission must run on demand, and there are only spot VMs."""
        smallest = min(self._provider.gpu_counts(gpu))
        if self._budget.spot_billing(gpu, smallest) is None or not self._submissions.needs_on_demand(gpu):
            return False
        return all(pooled.vm.spot or pooled.is_leaving for pooled in self._pool.with_gpu(gpu))

    def _next_without_vm(self, gpu: str) -> str | None:
        """Return the first queued submission for which no VM is being provisioned."""
        served = {pooled.vm.provisioned_for for pooled in self._pool.with_gpu(gpu) if not pooled.is_leaving}
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
            self._state(gpu).prewarm_after = now + _PREWARM_INTERVAL_S
            # If the credits do not cover it, they are left for submissions.
            with contextlib.suppress(BudgetExceeded):
                self._provision(gpu, now)

    def _prewarm_at(self, gpu: str, now: float) -> float | None:
        """Return when to prewarm a VM; None if the last ones failed or no arrival is predicted."""
        state = self._state(gpu)
        if state.is_troubled:
            return None
        at = self._pool.policy(gpu).prewarm_at(now)
        return None if at is None else max(at, state.prewarm_after)

    # Boots without waiting submissions.

    def _stop_unwanted_boots(self, now: float) -> None:
        """Release VMs that are booting for submissions that no longer wait, if that is cheaper."""
        boots: Counter[str] = Counter()
        for pooled in list(self._pool.booting()):
            if pooled.vm.provisioned_for is None or self._is_pinned(pooled, now):
                continue  # it is prewarmed, or an operator keeps it
            gpu = pooled.vm.gpu
            if not pooled.vm.spot and self._submissions.needs_on_demand(gpu):
                continue  # spot VMs do not replace it
            covered = boots[gpu]  # submissions covered by the slots of earlier VMs
            boots[gpu] += pooled.vm.slots
            if covered < len(self._submissions.queue(gpu)):
                pooled.unwanted_since = None
            elif pooled.unwanted_since is None:
                pooled.unwanted_since = now
            elif now >= pooled.unwanted_since + _UNWANTED_BOOT_S:
                self._stop_unwanted_boot(pooled, covered, now)

    def _stop_unwanted_boot(self, pooled: PooledVM, covered: int, now: float) -> None:
        """Release a booting VM, unless keeping it costs no more or the X-ray queue needs it."""
        if covered < self._submissions.waits_for(pooled.vm.gpu):
            pooled.unwanted_since = None
        elif self._is_stopping_cheaper(pooled, now):
            self._pool.release(pooled, "no submission waits for it")

    def _is_stopping_cheaper(self, pooled: PooledVM, now: float) -> bool:
        """Return whether ending a boot now costs less than keeping the VM, and no arrival is expected."""
        vm = pooled.vm
        estimates, billing = self._pool.estimates(vm.gpu), self._budget.billing_of(vm)
        age_s = self._budget.age_s(vm)
        ready_in_s = max(0.0, vm.created_at + estimates.boot.seconds - now)
        kept_s = age_s + ready_in_s + self._settings.idle_timeout_of(vm.gpu) + estimates.stop.seconds
        arrival_at = self._pool.policy(vm.gpu).prewarm_at(now)
        if arrival_at is not None and arrival_at <= now + ready_in_s:
            return False
        return billing.cost_usd(age_s + estimates.stop.seconds) < billing.cost_usd(kept_s)


def _cost_of_draining(pooled: PooledVM) -> tuple[int, int, float]:
    """Return the sort key for draining VMs: fewest slots, then fewest attempts, then newest."""
    return pooled.vm.slots, len(pooled.running), -pooled.vm.created_at
