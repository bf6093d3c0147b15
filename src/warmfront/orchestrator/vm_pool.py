"""The owner of the VMs: provisions, monitors, meters and releases them, each in its own tasks.

Other modules decide which submission runs on a VM, and when another VM is needed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING

from warmfront.errors import BudgetExceeded, Conflict, ProviderError, VMUnreachable, WarmfrontError
from warmfront.events import PoolUsage, Provisioning, VMFailed, VMStart
from warmfront.gpus import CPU_NODE, vm_with
from warmfront.orchestrator.adaptive import make_policy
from warmfront.orchestrator.keep_warm import clock_time
from warmfront.orchestrator.pooled_vm import BootFailure, PooledVM
from warmfront.orchestrator.quotes import DurationEstimates
from warmfront.orchestrator.spot_policy import SpotPolicy
from warmfront.orchestrator.vm_end import confirm_end, ends_within, meter_lost, settle, stop_boot
from warmfront.orchestrator.vm_indexes import DeadlineIndex, FreeVMIndex
from warmfront.orchestrator.vm_monitor import VMMonitor
from warmfront.providers.base import Lease, Phase, provision
from warmfront.provisioning import FailureKind
from warmfront.store.records import AttemptOutcome
from warmfront.vm import VMState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from warmfront.audit_chain import AuditRecord
    from warmfront.clock import Clock
    from warmfront.listener.protocol import ListenerClient, ListenerHealth
    from warmfront.orchestrator.budget import Budget
    from warmfront.orchestrator.keep_warm import KeepWarmPolicy
    from warmfront.orchestrator.overdue_ends import OverdueEnds
    from warmfront.orchestrator.submission_lifecycle import SubmissionLifecycle
    from warmfront.orchestrator.tasks import TaskSupervisor
    from warmfront.providers.base import Provider
    from warmfront.settings import Settings
    from warmfront.store.records import Arrival
    from warmfront.store.store import Store
    from warmfront.vm import VMInstance

log = logging.getLogger(__name__)

#: The reason recorded for a spot VM that is lost.
_PREEMPTED = "the cloud preempted the spot VM"


class VMPool:
    """Every VM that has not ended."""

    def __init__(
        self,
        *,
        provider: Provider,
        listeners: ListenerClient,
        store: Store,
        budget: Budget,
        submissions: SubmissionLifecycle,
        settings: Settings,
        clock: Clock,
        token_for: Callable[[str], str],
        tasks: TaskSupervisor,
        overdue_ends: OverdueEnds,
    ) -> None:
        self._provider = provider
        self._listeners = listeners
        self._store = store
        self._budget = budget
        self._submissions = submissions
        self._settings = settings
        self._clock = clock
        self._token_for = token_for
        self._tasks = tasks
        self._overdue_ends = overdue_ends
        self._vms: dict[str, PooledVM] = {}
        self._booting: dict[str, PooledVM] = {}
        self._drained: dict[str, PooledVM] = {}  # by operators
        self._free: dict[str, FreeVMIndex] = {}
        self._estimates: dict[str, DurationEstimates] = {}
        self._policies: dict[str, KeepWarmPolicy] = {}
        self._boot_failures: list[BootFailure] = []
        self._stopping = False
        # How many VMs count against the limit, by whether they are CPU nodes: all except overdue ones.
        self._counted = Counter[bool]()
        self.deadlines = DeadlineIndex()
        self.spot = SpotPolicy.of(settings)
        self.monitor = VMMonitor(
            provider=provider, listeners=listeners, store=store, settings=settings, clock=clock
        )

    # Queries.

    def __len__(self) -> int:
        """Return how many VMs count against the limit: all except those that the cloud fails to end."""
        return self._counted.total()

    def count(self, *, cpu_nodes: bool) -> int:
        """Return how many CPU nodes, or how many VMs with a GPU, count against their limit."""
        return self._counted[cpu_nodes]

    def get(self, vm_id: str) -> PooledVM | None:
        """Return a VM of the pool."""
        return self._vms.get(vm_id)

    def all(self) -> Iterable[PooledVM]:
        """Return every VM of the pool."""
        return self._vms.values()

    def with_gpu(self, gpu: str) -> list[PooledVM]:
        """Return the VMs with this GPU type."""
        return [pooled for pooled in self._vms.values() if pooled.vm.gpu == gpu]

    def booting(self) -> Iterable[PooledVM]:
        """Return the VMs that are being provisioned and are not being released, oldest first."""
        return self._booting.values()

    def serves(self, gpu: str) -> bool:
        """Return whether there is a VM with this GPU type that is neither released nor drained."""
        for pooled in self._vms.values():  # noqa: SIM110 - asked with every decision; `any` takes twice as long
            if not pooled.is_leaving and pooled.vm.gpu == gpu:
                return True
        return False

    def instances(self) -> list[VMInstance]:
        """Return every VM of the pool as a value."""
        return [pooled.vm for pooled in self._vms.values()]

    def slots(self) -> tuple[int, int]:
        """Return how many slots of ready VMs are in use, and how many there are."""
        ready = [pooled for pooled in self._vms.values() if pooled.vm.ready_at and not pooled.releasing]
        return sum(len(pooled.running) for pooled in ready), sum(pooled.vm.slots for pooled in ready)

    def usage(self, queued: int) -> PoolUsage:
        """Return the pool in three figures, for VM_READY events."""
        busy_slots, slots = self.slots()
        return PoolUsage(
            active_vms=len(self._vms),
            busy_vms=sum(bool(pooled.running) for pooled in self._vms.values()),
            queued=queued,
            slots=slots,
            busy_slots=busy_slots,
        )

    def free(self, gpu: str) -> FreeVMIndex:
        """Return the index of the VMs with this GPU type that can take an attempt."""
        index = self._free.get(gpu)
        if index is None:
            index = self._free[gpu] = FreeVMIndex()
        return index

    def estimates(self, gpu: str) -> DurationEstimates:
        """Return the estimated durations for this GPU type."""
        estimates = self._estimates.get(gpu)
        if estimates is None:
            estimates = self._estimates[gpu] = DurationEstimates.initial(self._provider.typical_boot_s(gpu))
        return estimates

    def policy(self, gpu: str) -> KeepWarmPolicy:
        """Return the keep-warm policy of this GPU type, which learns from its arrivals only."""
        policy = self._policies.get(gpu)
        if policy is None:
            smallest = min(self._provider.gpu_counts(gpu))
            rate_usd_per_h = float(self._budget.billing(gpu, smallest).rate_usd_per_h)
            boot = self.estimates(gpu).boot
            policy = make_policy(self._settings, gpu, rate_usd_per_h, lambda: boot.seconds)
            self._policies[gpu] = policy
        return policy

    def known_gpus(self) -> list[str]:
        """Return the GPU types that have a policy, which are those of earlier arrivals."""
        return list(self._policies)

    def take_boot_failures(self) -> list[BootFailure]:
        """Return the VMs that failed to provision since the last call."""
        failures = self._boot_failures
        if failures:
            self._boot_failures = []
        return failures

    # Idle VMs.

    def offer(self, pooled: PooledVM) -> None:
        """Add a VM to the indexes, in case it has become free or got a deadline."""
        self.free(pooled.vm.gpu).add(pooled)
        self.deadlines.add(pooled)
        self._tasks.wake()

    def set_deadline(self, vm: VMInstance, now: float) -> VMInstance:
        """Return a free VM with the keep-warm policy's deadline and reason, and reserve its cost."""
        others = (pooled for pooled in self._vms.values() if pooled.vm.gpu == vm.gpu)
        spare = any(pooled.is_free and pooled.vm.id != vm.id for pooled in others)
        decision = self.policy(vm.gpu).decide(now, vm, spare=spare)
        keep_s = min(max(0.0, decision.until - now), self._settings.idle_timeout_max_s)
        pinned_s, reason = max(0.0, (vm.pinned_until or 0.0) - now), decision.reason
        if pinned_s > keep_s:
            keep_s, reason = pinned_s, f"pinned by an operator until {clock_time(now + pinned_s)}"
        worst_usd = self._budget.worst_case_usd(vm, boots=False, tasks=0, keep_s=keep_s)
        escrow = self._budget.escrow
        try:
            escrow.reserve(vm.id, worst_usd)
        except BudgetExceeded:  # the idle timeout was reserved with its last task, and a pin with its request
            keep_s = max(min(keep_s, self._settings.idle_timeout_of(vm.gpu)), pinned_s)
        until = now + keep_s
        if vm.started_at is not None:
            age_s = max(0.0, until - vm.started_at)
            stop_s = self.estimates(vm.gpu).stop.seconds
            paid_s = self._budget.billing_of(vm).free_until_s(age_s, stop_s) - age_s
            if paid_s >= 1:
                until += paid_s
                reason = f"kept until {clock_time(until)}: already paid for until then"
        return vm.keep_until(until, reason, escrow_usd=max(vm.escrow_usd, escrow.reserved_usd(vm.id)))

    # Provisioning.

    def provision(self, vm: VMInstance) -> PooledVM:
        """Start provisioning a VM whose worst case is reserved."""
        pooled = self._add(vm)
        self._begin_boot(pooled, stored=False)
        return pooled

    def resume(self, vm: VMInstance) -> PooledVM:
        """Continue with a VM from its stored state."""
        pooled = self._add(vm)
        if vm.draining:
            self._drained[vm.id] = pooled
        self._budget.escrow.restore(vm.id, vm.escrow_usd)
        if vm.state is VMState.PROVISIONING:
            self._begin_boot(pooled, stored=True)
        elif vm.state is VMState.SHUTTING_DOWN:
            pooled.releasing = True
            self._tasks.spawn(self._end(pooled))
        else:
            self._tasks.spawn(self._watch(pooled))
        return pooled

    def offer_resumed(self) -> None:
        """Make resumed VMs available; a VM stored as BUSY without a live attempt is idle."""
        now = self._clock.now()
        for pooled in self._vms.values():
            if pooled.vm.state is VMState.BUSY and not pooled.running:
                pooled.vm = self.set_deadline(pooled.vm.become_idle(), now)
            self.offer(pooled)

    def _add(self, vm: VMInstance) -> PooledVM:
        pooled = self._vms[vm.id] = PooledVM(vm=vm)
        self._counted[vm.gpu == CPU_NODE] += 1
        return pooled

    def _remove(self, pooled: PooledVM) -> None:
        del self._vms[pooled.vm.id]
        if not pooled.overdue:
            self._counted[pooled.vm.gpu == CPU_NODE] -= 1

    def _begin_boot(self, pooled: PooledVM, *, stored: bool) -> None:
        self._booting[pooled.vm.id] = pooled
        pooled.boot = self._tasks.spawn(self._boot(pooled, stored=stored))

    async def _boot(self, pooled: PooledVM, *, stored: bool) -> None:
        """Check that a VM could be provisioned, and provision it."""
        if not stored:
            try:
                await self._provider.check_ready(pooled.vm.gpu)
            except ProviderError as error:
                self._abandon_boot(pooled, error)
                return
            await self._store.save_vm(pooled.vm)
        await self._provision(pooled)

    async def _provision(self, pooled: PooledVM) -> None:
        """Provision a VM and wait until its listener responds, or release it."""
        vm = pooled.vm
        timeout_s = self._settings.provision_timeout_s
        left_s = vm.created_at + timeout_s - self._clock.now()
        try:
            async with asyncio.timeout(max(0.0, left_s)):
                leases = provision(self._provider, vm, self._token_for(vm.id))
                async with contextlib.aclosing(leases):  # type: ignore[type-var]  # all are generators
                    async for lease in leases:
                        if pooled.releasing:
                            return None
                        await self._record_phase(pooled, lease)
                await self.monitor.wait_for_listener(pooled)
        except TimeoutError:
            return await self._fail_slow_boot(pooled, timeout_s)
        except WarmfrontError as error:
            kind = error.kind if isinstance(error, ProviderError) else None
            return await self._fail_boot(pooled, error.message, hint=error.hint, kind=kind)
        except Exception as error:  # the edge of a task: the VM must be released
            log.exception("provisioning VM %s failed unexpectedly; releasing it", vm.id)
            return await self._fail_boot(pooled, repr(error))
        if pooled.releasing:
            return None
        now = self._clock.now()
        self.estimates(vm.gpu).boot.observe(now - vm.created_at)
        async with pooled.writing:
            pooled.vm = self.set_deadline(pooled.vm.mark_ready(now), now)
            self._booting.pop(vm.id, None)
            await self._store.save_vm(pooled.vm)
        log.info("VM %s is ready after %.1f s", vm.id, now - vm.created_at)
        self._tasks.spawn(self._watch(pooled))
        self.offer(pooled)
        return None

    def _abandon_boot(self, pooled: PooledVM, error: ProviderError) -> None:
        """Remove a VM that was neither stored nor requested, because provisioning it would fail."""
        vm = pooled.vm
        if pooled.releasing:
            return
        log.warning("requesting no %s: %s %s", vm_with(vm.gpu), error.message, error.hint or "")
        self._boot_failures.append(
            BootFailure(
                gpu=vm.gpu,
                kind=error.kind or FailureKind.OTHER,
                reason=error.message,
                hint=error.hint or "",
                requested_at=vm.created_at,
                gpu_count=vm.gpu_count,
            )
        )
        pooled.releasing = True
        self._budget.escrow.settle(vm.id, Decimal(0))
        self._booting.pop(vm.id, None)
        self._remove(pooled)
        pooled.ended.set()
        self._tasks.wake()

    async def _fail_slow_boot(self, pooled: PooledVM, timeout_s: float) -> None:
        if pooled.vm.started_at is None:
            reason = f"the provider did not start a VM within {timeout_s:.0f} s"
            await self._fail_boot(pooled, reason, kind=FailureKind.UNREACHABLE)
        else:
            await self._fail_boot(pooled, f"its listener did not answer within {timeout_s:.0f} s")

    async def _fail_boot(
        self, pooled: PooledVM, reason: str, *, hint: str | None = None, kind: FailureKind | None = None
    ) -> None:
        if pooled.releasing:  # it failed because it is being released
            return
        kind = kind or FailureKind.OTHER
        log.warning(
            "VM %s failed to provision: %s; releasing it. %s", pooled.vm.id, reason.rstrip("."), hint or ""
        )
        if pooled.vm.spot:
            self.spot.record_boot_failure(pooled.vm.gpu, self._clock.now())
        # Report it before the release, which may lead to a verdict. Shortages are reported to the whole
        # queue.
        if pooled.vm.provisioned_for is not None and not kind.is_shortage:
            await self.report_failure(pooled.vm.provisioned_for, pooled.vm, reason)
        self._boot_failures.append(
            BootFailure(
                gpu=pooled.vm.gpu,
                kind=kind,
                reason=reason,
                hint=hint or "",
                requested_at=pooled.vm.created_at,
                gpu_count=pooled.vm.gpu_count,
                spot=pooled.vm.spot,
            )
        )
        self.release(pooled, reason, failed=not kind.is_shortage)
        self._tasks.wake()

    async def report_failure(self, submission_id: str, vm: VMInstance, reason: str) -> None:
        """Add an event to a queued submission that says why a VM cannot be used for it."""
        event = VMFailed(vm_id=vm.id, reason=reason)
        await self._store.append_event_if_queued(submission_id, event.fields(), self._clock.now())

    async def _record_phase(self, pooled: PooledVM, lease: Lease) -> None:
        """Store the phase of a new VM, and report it to the submission that waits for it."""
        if lease.phase is Phase.ENDED:
            raise ProviderError(f"The VM ended during provisioning. {lease.detail}".strip())
        vm = pooled.vm
        if (lease.started_at, lease.address, lease.machine_id) != (vm.started_at, vm.address, vm.machine_id):
            await self.monitor.locate(pooled, lease, started_at=lease.started_at, address=lease.address)
        vm = pooled.vm
        if vm.provisioned_for is None or lease.phase is pooled.phase:  # nothing to report
            return
        pooled.phase = lease.phase
        elapsed_s = self._clock.now() - vm.created_at
        event = Provisioning(
            vm_state=VMStart.COLD_START,
            vm_id=vm.id,
            phase=lease.phase.value,
            elapsed_s=round(elapsed_s, 3),
            eta_s=round(max(0.0, self.estimates(vm.gpu).boot.seconds - elapsed_s), 1),
        )
        await self._store.append_event_if_queued(vm.provisioned_for, event.fields(), self._clock.now())

    # Heartbeats.

    async def _watch(self, pooled: PooledVM) -> None:
        """Send heartbeats; a VM that does not respond for too long is lost."""
        answered_at = self._clock.now()
        while not pooled.releasing:
            try:
                health = await self._listeners.heartbeat(pooled.vm)
                pooled.answered_at = answered_at = self._clock.now()
                await self.monitor.record_report(pooled, health)
                self._note_slots(pooled, health)
                if health.failure and not pooled.running:
                    self.release(pooled, f"it can no longer judge: {health.failure}", failed=True)
                    return
            except VMUnreachable:
                if await self.monitor.is_lost(pooled, answered_at):
                    self.release(pooled, "no heartbeat", failed=True, lost=True)
                    return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(pooled.ended.wait(), self._settings.heartbeat_s)

    def _note_slots(self, pooled: PooledVM, health: ListenerHealth) -> None:
        """Record which slots cannot judge. A slot that recovers can take attempts again."""
        failed = frozenset(slot for slot in health.failed_slots if slot < pooled.vm.slots)
        if failed == pooled.failed_slots:
            return
        slots = ", ".join(map(str, sorted(failed))) or "none"
        log.warning(
            "VM %s: slots not in use, as they cannot judge: %s (of %d)", pooled.vm.id, slots, pooled.vm.slots
        )
        pooled.failed_slots = failed
        self.offer(pooled)

    # Release and end.

    def release(self, pooled: PooledVM, reason: str, *, failed: bool = False, lost: bool = False) -> None:
        """End a VM, which loses the attempts on it. Idempotent.

        A spot VM that was `lost` counts as preempted, as it does for dstack.
        """
        if pooled.releasing:
            return
        pooled.releasing = True
        self._booting.pop(pooled.vm.id, None)
        if lost and pooled.vm.spot:
            pooled.vm, reason = pooled.vm.preempt(), f"{_PREEMPTED}: {reason}"
        self._tasks.spawn(self._shut_down(pooled, reason, failed=failed))

    async def release_by_operator(self, pooled: PooledVM, reason: str, record: AuditRecord) -> None:
        """End a VM for an operator; return when that and the entry of the audit log are stored.

        The attempts on it count as interrupted, not as lost.
        """
        stored = asyncio.Event()
        pooled.releasing = pooled.interrupted = True
        self._booting.pop(pooled.vm.id, None)
        self._tasks.spawn(self._shut_down(pooled, reason, failed=False, record=record, stored=stored))
        await stored.wait()

    async def drain(self, pooled: PooledVM, reason: str, record: AuditRecord) -> None:
        """Let a VM finish its attempts and then end it; return when that is stored."""
        async with pooled.writing:
            _require_live(pooled)
            pooled.vm = pooled.vm.drain(reason)
            self._drained[pooled.vm.id] = pooled
            await self._store.save_vm_by_operator(pooled.vm, record, self._clock.now())
        self._tasks.wake()

    async def pin(self, pooled: PooledVM, until: float | None, record: AuditRecord) -> None:
        """Keep a VM until a time, or end its pin with None; return when that is stored.

        Raises:
            BudgetExceeded: the credits do not cover the VM until then; nothing changes.
        """
        async with pooled.writing:
            _require_live(pooled)
            now = self._clock.now()
            vm = self._budget.reserve_pin(pooled.vm.pin(until))
            pooled.vm = self.set_deadline(vm, now) if pooled.is_free else vm
            await self._store.save_vm_by_operator(pooled.vm, record, now)
        self.offer(pooled)

    def apply_settings(self, settings: Settings, arrivals: Iterable[Arrival]) -> None:
        """Replace the settings; the keep-warm policies learn again from `arrivals`."""
        self._settings = settings
        self._policies.clear()
        for arrival in arrivals:
            self.policy(arrival.gpu).arrived(arrival.created_at, arrival.owner)

    async def save_reservations(self) -> None:
        """Store the reservation of each VM before anything relies on it."""
        for pooled in list(self._vms.values()):
            async with pooled.writing:
                reserved_usd = self._budget.escrow.reserved_usd(pooled.vm.id)
                if not pooled.releasing and pooled.vm.escrow_usd < reserved_usd:
                    pooled.vm = pooled.vm.reserve(reserved_usd)
                    await self._store.save_vm(pooled.vm)

    async def renew_deadlines(self) -> None:
        """Decide again how long the free VMs are kept, because a limit has changed."""
        for pooled in list(self._vms.values()):
            async with pooled.writing:
                if not pooled.is_free:
                    continue
                now = self._clock.now()
                idle_since = min(pooled.vm.metered_until or pooled.vm.ready_at or now, now)
                pooled.vm = self.set_deadline(pooled.vm, idle_since)
                await self._store.save_vm(pooled.vm)
            self.offer(pooled)

    def release_drained(self) -> None:
        """End the drained VMs whose attempts have ended."""
        for pooled in list(self._drained.values()):
            if not pooled.running:
                del self._drained[pooled.vm.id]
                self.release(pooled, "drained by an operator")

    async def release_all(self, reason: str, *, stopping: bool = False) -> None:
        """End every VM and wait until that is confirmed.

        With `stopping`, attempts on them count as interrupted by an orderly stop, not as lost.
        """
        self._stopping = self._stopping or stopping
        vms = list(self._vms.values())
        for pooled in vms:
            self.release(pooled, reason)
        await asyncio.gather(*(pooled.ended.wait() for pooled in vms))

    async def _shut_down(
        self,
        pooled: PooledVM,
        reason: str,
        *,
        failed: bool,
        record: AuditRecord | None = None,
        stored: asyncio.Event | None = None,
    ) -> None:
        log.info("releasing VM %s: %s", pooled.vm.id, reason)
        await stop_boot(pooled)
        async with pooled.writing:
            now = self._clock.now()
            pooled.vm = pooled.vm.shut_down(reason, failed=failed, now=now)
            if record is None:
                await self._store.save_vm(pooled.vm)
            else:
                await self._store.save_vm_by_operator(pooled.vm, record, now)
        if stored is not None:
            stored.set()
        await self._end(pooled)

    async def _end(self, pooled: PooledVM) -> None:
        """Request the end until the provider confirms it, then settle the VM and requeue its submissions.

        Attempts count as lost only after that: an unreachable VM may still be working, and no submission may
        run twice at the same time.
        """
        requested_at = self._clock.now()
        self._tasks.spawn(self._watch_end(pooled))
        lease = await confirm_end(self._provider, pooled.vm.id)
        stop_s = min(self._clock.now() - requested_at, self._settings.stop_lag_s)
        self.estimates(pooled.vm.gpu).stop.observe(stop_s)
        interrupted = self._stopping or pooled.interrupted
        preempted = pooled.vm.preempted and not interrupted
        outcome = AttemptOutcome.LOST
        if interrupted or preempted:
            outcome = AttemptOutcome.INTERRUPTED if interrupted else AttemptOutcome.PREEMPTED
        async with pooled.writing:
            lost = list(pooled.running.values())
            vm, entries = settle(
                pooled,
                lease,
                budget=self._budget,
                now=self._clock.now(),
                heartbeat_s=self._settings.heartbeat_s,
            )
            attempt_ids = [active.attempt.id for active in lost if active.attempt]
            total_usd = await self._store.end_vm(vm, entries, attempt_ids, outcome=outcome)
            pooled.vm = vm
            pooled.remove_all()
        self._budget.escrow.settle(vm.id, total_usd)
        if vm.spot and vm.started_at is not None and vm.ended_at is not None:
            self.spot.rate.observe(vm.ended_at - vm.started_at, interrupted=vm.preempted)
        self._remove(pooled)
        self._drained.pop(vm.id, None)
        pooled.ended.set()
        for active in lost:
            if vm.failed:
                await self.report_failure(active.id, vm, vm.reason)
            self._submissions.requeue(active, interrupted=interrupted, preempted=preempted)
        self._tasks.wake()

    async def _watch_end(self, pooled: PooledVM) -> None:
        """Alert when the end of a VM is overdue, and keep its cost reserved until it has ended."""
        if await ends_within(pooled, self._overdue_ends.left_s(pooled.vm)):
            return
        pooled.overdue = True
        self._counted[pooled.vm.gpu == CPU_NODE] -= 1
        await self._explain_overdue(pooled)
        self._tasks.wake()  # it no longer counts against the limit
        await self._overdue_ends.alert(pooled.vm)
        # By then, the watchdog of an unreachable listener has ended it.
        silence_s = max(0.0, self._settings.watchdog_s - self._settings.stop_lag_s)
        if await ends_within(pooled, silence_s):
            return
        await self._return_attempts(pooled)
        while not await ends_within(pooled, self._settings.stop_lag_s):
            await self._explain_overdue(pooled)

    async def _explain_overdue(self, pooled: PooledVM) -> None:
        async with pooled.writing:
            if not pooled.vm.state.has_ended:
                pooled.vm = self._overdue_ends.explained(pooled.vm)
                await self._store.save_vm(pooled.vm)

    async def _return_attempts(self, pooled: PooledVM) -> None:
        """Queue the submissions on a VM again, because its end is overdue and they should not wait for it."""
        reason = "its VM was released but has not ended"
        async with pooled.writing:
            lost = [active for active in pooled.running.values() if active.attempt is not None]
            if not lost or pooled.vm.state.has_ended:
                return
            now = self._clock.now()
            pooled.vm, entries = meter_lost(pooled, pooled.vm, now, self._budget)
            for active in lost:
                assert active.attempt is not None  # noqa: S101 - selected above
                await self._store.lose_attempt(active.attempt, now, reason, vm=pooled.vm, entries=entries)
                entries = []
            pooled.remove_all()
        for active in lost:
            await self.report_failure(active.id, pooled.vm, reason)
            self._submissions.requeue(active)


def _require_live(pooled: PooledVM) -> None:
    """Raise `Conflict` if a VM began to shut down while an operator's action waited for its lock."""
    if pooled.releasing:
        raise Conflict(f"VM {pooled.vm.id} is shutting down: {pooled.vm.reason}.")
