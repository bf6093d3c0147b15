"""Run attempts: one submission on one VM, from its assignment to its verdict or loss.

Every event of the listener is stored before the next is read; duplicates are dropped. The runner neither
chooses the VM nor decides whether a lost attempt is retried.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from warmfront.errors import (
    BudgetExceeded,
    SlotFailed,
    UnknownAttempt,
    UsageError,
    VMUnhealthy,
    VMUnreachable,
)
from warmfront.events import VMReady, VMReadyMetrics, VMStart, VMUsage
from warmfront.gpus import CPU_NODE
from warmfront.listener.protocol import ExecuteRequest
from warmfront.money.billing import charge_work, meter_until
from warmfront.orchestrator.control_plane_verdicts import cancelled, rejected
from warmfront.orchestrator.lease_check import other_gpu_of_time
from warmfront.store.records import AttemptOutcome, AttemptRecord
from warmfront.usage_limits import DailyCaps
from warmfront.verdicts import Endpoint, Verdict, is_terminal
from warmfront.vm import VMInstance, VMState

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

    from warmfront.clock import Clock
    from warmfront.listener.protocol import AttemptEvent, ListenerClient
    from warmfront.orchestrator.budget import Budget
    from warmfront.orchestrator.pooled_vm import PooledVM
    from warmfront.orchestrator.submission_lifecycle import ActiveSubmission, SubmissionLifecycle
    from warmfront.orchestrator.vm_pool import VMPool
    from warmfront.settings import Settings
    from warmfront.store.records import LedgerEntry
    from warmfront.store.store import Store

log = logging.getLogger(__name__)

#: Pause before a dropped stream is resumed.
_RECONNECT_S = 0.5


class SignReceipt(Protocol):
    """A function that adds a signed receipt to an ACCEPTED event."""

    def __call__(
        self, fields: dict[str, Any], *, submission_id: str, known_facts: dict[str, str], now: float
    ) -> dict[str, Any]:
        """Return the fields of the event; do not sign facts that contradict those of the control plane."""


class AttemptLost(Exception):
    """The attempt has stopped without a verdict."""


class VMBroken(AttemptLost):
    """The attempt has stopped because its VM cannot judge; the message is the reason."""


class NeedsGpu(AttemptLost):
    """The attempt has stopped because a CPU node cannot judge its submission; the message is the reason."""


class AttemptRunner:
    """The runner of attempts on the VMs of the pool.

    An attempt is live while it is in `running` of its VM. If the VM ends, the attempt may be removed during
    any `await`; its later reports are ignored.
    """

    def __init__(
        self,
        *,
        pool: VMPool,
        submissions: SubmissionLifecycle,
        budget: Budget,
        listeners: ListenerClient,
        store: Store,
        settings: Settings,
        clock: Clock,
        new_id: Callable[[str], str],
        sign_receipt: SignReceipt | None = None,
    ) -> None:
        self._pool = pool
        self._submissions = submissions
        self._budget = budget
        self._listeners = listeners
        self._store = store
        self._settings = settings
        self._clock = clock
        self._new_id = new_id
        self._sign_receipt = sign_receipt

    def apply_settings(self, settings: Settings) -> None:
        """Replace the settings."""
        self._settings = settings

    def assign(self, active: ActiveSubmission, pooled: PooledVM) -> None:
        """Assign a submission to a VM in memory, so that later decisions take its slot into account."""
        active.attempt = AttemptRecord(
            id=self._new_id("att"),
            submission_id=active.id,
            vm_id=pooled.vm.id,
            number=active.submission.attempts + 1,
            started_at=self._clock.now(),
            slot=pooled.free_slot(),
        )
        active.vm = pooled
        pooled.running[active.attempt.id] = active

    def run(self, active: ActiveSubmission) -> Coroutine[object, object, None]:
        """Run the assigned attempt."""
        return self._run(*_assignment(active))

    def resume(self, active: ActiveSubmission) -> Coroutine[object, object, None]:
        """Follow an attempt that began before a restart until it ends."""
        return self._follow(*_assignment(active), is_new=False)

    async def _run(self, pooled: PooledVM, attempt: AttemptRecord) -> None:
        begun = await self._begin(pooled, attempt)
        if begun is None:
            return
        attempt = begun
        active = pooled.running.get(attempt.id)
        if active is not None and active.cancel_requested:
            await self._complete(pooled, attempt, cancelled().fields())
            return
        await self._follow(pooled, attempt, is_new=True)

    async def _follow(self, pooled: PooledVM, attempt: AttemptRecord, *, is_new: bool) -> None:
        """Store an attempt's events up to its verdict or loss.

        `is_new` means that the listener has not received it yet.
        """
        timeout_s = self._settings.task_timeout_s
        left_s = attempt.started_at + timeout_s - self._clock.now()
        try:
            async with asyncio.timeout(max(0.0, left_s)):
                verdict = await self._store_events(pooled, attempt, is_new=is_new)
            # Outside the timeout block: a cancelled write may still be committed, and the interval that it
            # bills would be billed again when the attempt is lost.
            if verdict is not None:
                await self._complete(pooled, attempt, verdict.fields, seq=verdict.seq)
        except TimeoutError:
            await self._abort(pooled, attempt, f"it took longer than {timeout_s:.0f} s")
        except VMBroken as broken:
            log.warning("VM %s cannot judge: %s; releasing it", pooled.vm.id, broken)
            self._pool.release(pooled, str(broken), failed=True)
            await self._lose(pooled, attempt, str(broken))
        except NeedsGpu as needs_gpu:
            await self._lose(pooled, attempt, str(needs_gpu), outcome=AttemptOutcome.NEEDS_GPU)
        except AttemptLost as lost:
            log.warning("attempt %s is lost: %s; the submission is queued again", attempt.id, lost)
            await self._lose(pooled, attempt, str(lost))
        except UsageError as error:  # the listener rejects it, and would reject a retry
            await self._complete(pooled, attempt, rejected(Verdict.ERROR, error).fields())
        except Exception as error:  # the edge of a task: the submission must still get a verdict
            log.exception("attempt %s failed unexpectedly; aborting it", attempt.id)
            await self._abort(pooled, attempt, f"internal error: {error!r}")

    async def _begin(self, pooled: PooledVM, attempt: AttemptRecord) -> AttemptRecord | None:
        """Store the beginning of an attempt and return it.

        None if something else now handles its submission.
        """
        async with pooled.writing:
            active = pooled.running.get(attempt.id)
            if active is None or pooled.releasing:
                return None  # the VM has ended first, which queues the submission again
            cold = pooled.vm.state is VMState.WARM
            # The time before the attempt is metered now; from here on, the attempt is.
            attempt = replace(attempt, started_at=max(attempt.started_at, pooled.vm.metered_until or 0.0))
            vm, entries = self._before_work(pooled, attempt, active)
            # Set it again: a transition of another attempt may have stored the VM with its earlier
            # reservation.
            vm = vm.begin_task().reserve(self._budget.escrow.reserved_usd(vm.id))
            ready = self._ready_event(vm, attempt, cold=cold)
            caps = DailyCaps.for_user(
                self._settings,
                active.owner,
                active.submission.team,
                own_limit_usd=active.submission.daily_budget_usd,
            )
            event, refusal = None, None
            try:
                event = await self._store.begin_attempt(
                    attempt,
                    ready.fields(),
                    vm=vm,
                    entries=entries,
                    cold=cold,
                    # Only caps depend on expected costs.
                    expected_usd=self._expected_usd(vm) if caps else Decimal(0),
                    caps=caps,
                )
            except BudgetExceeded as error:  # earlier submissions cost more than they were expected to
                refusal = error
            if event is not None:
                pooled.vm, active.attempt = vm, attempt
                pooled.begun[attempt.id] = attempt.started_at
        if event is None:
            await self._withdraw(active, pooled, attempt, refusal)
            return None
        active.submission = replace(active.submission, attempts=attempt.number, pays_boot=False)
        if attempt.number == 1:
            # The keep-warm policy of VMs with a GPU does not learn from checks that CPU nodes will judge.
            gpu = CPU_NODE if active.instead_of_cpu_node else active.gpu
            self._pool.policy(gpu).arrived(active.submission.created_at, active.owner)
        return attempt

    async def _withdraw(
        self,
        active: ActiveSubmission,
        pooled: PooledVM,
        attempt: AttemptRecord,
        refusal: BudgetExceeded | None,
    ) -> None:
        """Undo an assignment that was refused, or whose submission was just cancelled."""
        pooled.remove(attempt.id)
        self._pool.offer(pooled)
        if refusal is not None and active.instead_of_cpu_node:
            self._submissions.requeue_for_cpu_node(active)
            return
        if refusal is not None:
            verdict = rejected(Verdict.BUDGET_EXCEEDED, refusal)
            await self._store.complete(active.id, verdict.fields(), self._clock.now())
        self._submissions.finish_attempt(active, None if refusal is None else Verdict.BUDGET_EXCEEDED)

    def _ready_event(self, vm: VMInstance, attempt: AttemptRecord, *, cold: bool) -> VMReady:
        return VMReady(
            vm_id=vm.id,
            vm_state=VMStart.COLD_START if cold else VMStart.WARM_REUSE,
            gpu=vm.gpu,
            simulated=vm.simulated or vm.gpu == CPU_NODE,
            attempt=attempt.number,
            slot=attempt.slot,
            slots=vm.slots,
            metrics=VMReadyMetrics(
                vm=VMUsage(tasks_done=vm.tasks_done, age_s=round(self._budget.age_s(vm), 3)),
                pool=self._pool.usage(self._submissions.queue_length()),
            ),
        )

    async def _store_events(
        self, pooled: PooledVM, attempt: AttemptRecord, *, is_new: bool
    ) -> AttemptEvent | None:
        """Store the events before the verdict, and return the verdict; None if the attempt was already ended.

        A dropped stream is resumed.
        """
        last_seq = attempt.last_seq
        while (active := pooled.running.get(attempt.id)) is not None:
            try:
                if is_new:
                    stream = self._listeners.execute(pooled.vm, await self._request(pooled, active, attempt))
                else:
                    stream = self._resume_stream(active, pooled, attempt, last_seq)
                async for event in stream:
                    if attempt.id not in pooled.running:
                        return None
                    if event.seq <= last_seq:
                        continue
                    if self._is_verdict(active, event):
                        return event
                    await self._store.report(attempt, event.seq, event.fields, self._clock.now())
                    last_seq = event.seq
                # A stream that ends before the verdict counts as dropped too.
            except VMUnreachable as error:
                log.info(
                    "attempt %s: stream dropped (%s); resuming after event %d",
                    attempt.id,
                    error.message,
                    last_seq,
                )
            is_new = False
            if pooled.releasing or await self._pool.monitor.has_ended(pooled):
                self._pool.release(pooled, "lost during an attempt", failed=True, lost=True)
                await pooled.ended.wait()
                return None  # the VM has ended, and the attempt with it
            await asyncio.sleep(_RECONNECT_S)
        return None

    async def _resume_stream(
        self, active: ActiveSubmission, pooled: PooledVM, attempt: AttemptRecord, last_seq: int
    ) -> AsyncIterator[AttemptEvent]:
        """Resume the stream; send the request again to a listener that never received it."""
        known = True
        try:
            async for event in self._listeners.events(pooled.vm, attempt.id, last_seq):
                yield event
        except UnknownAttempt:
            known = False
        if known:
            return
        if last_seq:
            raise AttemptLost("its listener has no record of it")
        async for event in self._listeners.execute(pooled.vm, await self._request(pooled, active, attempt)):
            yield event

    async def _request(
        self, pooled: PooledVM, active: ActiveSubmission, attempt: AttemptRecord
    ) -> ExecuteRequest:
        submission = active.submission
        source = await self._submissions.sources.get(submission.id)
        return ExecuteRequest(
            id=attempt.id,
            source=source.code,
            file_name=submission.file_name,
            problem=submission.problem,
            dtype=submission.dtype,
            endpoint=submission.endpoint,
            problem_def=source.problem_def,
            own_cases=source.own_cases,
            launch=source.launch,
            all_cases=source.all_cases or None,
            slot=attempt.slot if pooled.vm.slots > 1 else None,
        )

    @staticmethod
    def _is_verdict(active: ActiveSubmission, event: AttemptEvent) -> bool:
        """Return whether an event of the listener is the verdict of its submission."""
        status = str(event.fields.get("status"))
        if status == Verdict.CANCELLED and not active.cancel_requested:
            raise AttemptLost("it was stopped on its VM, not by its owner")
        if status == Verdict.ERROR and event.fields.get("code") == VMUnhealthy.code:
            raise VMBroken(str(event.fields.get("message")))
        other_gpu = other_gpu_of_time(event.fields, gpu=active.submission.gpu)
        if other_gpu is not None:
            raise VMBroken(other_gpu)
        if status == Verdict.ERROR and event.fields.get("code") == SlotFailed.code:
            raise AttemptLost(str(event.fields.get("message")))
        if active.on_cpu_node and status == Verdict.COMPILE_ERROR:
            # The X-ray has compiled it for the GPU, so it is the CPU runtime that lacks something.
            raise NeedsGpu(f"the CPU runtime cannot compile it ({_first_line(event)}); a GPU will judge it")
        if active.on_cpu_node and status == Verdict.CHECKED and event.fields.get("simulated") is not True:
            raise VMBroken("a CPU node reported a verdict that is not marked as simulated")
        return is_terminal(status, Endpoint(active.submission.endpoint))

    async def _complete(
        self, pooled: PooledVM, attempt: AttemptRecord, fields: dict[str, Any], *, seq: int | None = None
    ) -> None:
        """Store the verdict, its cost and the VM's new state, in one transaction."""
        now = self._clock.now()
        async with pooled.writing:
            active = pooled.running.get(attempt.id)
            if active is None:
                return  # the VM has ended first, and the attempt with it
            vm, entries = self._after_work(pooled, attempt, active, now)
            vm = vm.finish_task()
            sign = await self._receipt_signer(active, fields)
            await self._store.complete_attempt(
                attempt,
                fields,
                now,
                seq=seq,
                vm=vm,
                entries=entries,
                finish_event=sign and partial(sign, now=now),
            )
            pooled.vm = vm
            pooled.remove(attempt.id)
        self._pool.offer(pooled)
        self._pool.estimates(vm.gpu).observe_task(active.submission.endpoint, now - attempt.started_at)
        self._submissions.finish_attempt(active, str(fields["status"]))

    async def _receipt_signer(
        self, active: ActiveSubmission, fields: dict[str, Any]
    ) -> Callable[..., dict[str, Any]] | None:
        """Return the function that signs the receipt of an ACCEPTED submission.

        None if there is nothing to sign.
        """
        if self._sign_receipt is None or fields["status"] != Verdict.ACCEPTED:
            return None
        submission = active.submission
        source = await self._submissions.sources.get(submission.id)
        known_facts = {
            "source_sha256": hashlib.sha256(source.code.encode()).hexdigest(),
            "problem": submission.problem,
            "dtype": submission.dtype,
        }
        return partial(self._sign_receipt, submission_id=submission.id, known_facts=known_facts)

    async def _abort(self, pooled: PooledVM, attempt: AttemptRecord, reason: str) -> None:
        """Stop an attempt on its VM and count it as lost.

        Release the VM if its listener cannot stop the attempt.
        """
        if attempt.id not in pooled.running:
            return
        try:
            await self._listeners.cancel(pooled.vm, attempt.id)
        except VMUnreachable:
            self._pool.release(pooled, "an attempt could not be stopped", failed=True)
            return
        await self._lose(pooled, attempt, reason)

    async def _lose(
        self,
        pooled: PooledVM,
        attempt: AttemptRecord,
        reason: str,
        *,
        outcome: AttemptOutcome = AttemptOutcome.LOST,
    ) -> None:
        """Queue the submission again. Its VM is alive and no longer runs the attempt."""
        now = self._clock.now()
        async with pooled.writing:
            active = pooled.running.get(attempt.id)
            if active is None:
                return  # the VM has ended first, and the attempt with it
            vm, entries = self._after_work(pooled, attempt, None, now)
            await self._store.lose_attempt(attempt, now, reason, vm=vm, entries=entries, outcome=outcome)
            pooled.vm = vm
            pooled.remove(attempt.id)
        await self._pool.report_failure(active.id, vm, reason)
        self._pool.offer(pooled)
        self._submissions.requeue(active, needs_gpu=outcome is AttemptOutcome.NEEDS_GPU)

    def _before_work(
        self, pooled: PooledVM, attempt: AttemptRecord, active: ActiveSubmission
    ) -> tuple[VMInstance, list[LedgerEntry]]:
        """Return the VM metered up to the beginning of an attempt, and the ledger entries of the time before.

        In that time the slot was idle or booting. Attempts in other slots are charged separately.
        """
        return meter_until(
            pooled.vm,
            self._budget.billing_of(pooled.vm),
            attempt.started_at,
            busy_since=pooled.begun.values(),
            submission_id=active.id,
            owner=active.owner,
            pays_boot=active.submission.pays_boot,
        )

    def _expected_usd(self, vm: VMInstance) -> Decimal:
        """Return the expected cost of an attempt that begins now on a VM."""
        return self._budget.work_usd(vm, self._pool.estimates(vm.gpu).task.seconds)

    def _after_work(
        self, pooled: PooledVM, attempt: AttemptRecord, charged: ActiveSubmission | None, now: float
    ) -> tuple[VMInstance, list[LedgerEntry]]:
        """Return the VM without the attempt, and the ledger entries for its work; None charges the pool."""
        billing = self._budget.billing_of(pooled.vm)
        vm, entries = meter_until(pooled.vm, billing, now, busy_since=pooled.begun.values())
        entries += charge_work(
            vm,
            billing,
            attempt.started_at,
            now,
            submission_id=charged.id if charged else None,
            owner=charged.owner if charged else None,
        )
        vm = vm.reserve(self._budget.escrow.reserved_usd(vm.id))
        if pooled.begun.keys() <= {attempt.id} and not pooled.releasing:
            vm = self._pool.set_deadline(vm.become_idle(), now)
        return vm, entries


def _first_line(event: AttemptEvent) -> str:
    """Return the first line of a verdict's message."""
    return (str(event.fields.get("message") or "").splitlines() or [""])[0].rstrip(".")


def _assignment(active: ActiveSubmission) -> tuple[PooledVM, AttemptRecord]:
    """Return the current VM and attempt of a submission, which may change when the attempt ends."""
    assert active.vm is not None  # noqa: S101 - set together with the attempt
    assert active.attempt is not None  # noqa: S101 - the caller has assigned it
    return active.vm, active.attempt
