"""The orchestrator: which submission runs next, on which VM, and how many VMs there are.

One loop makes all decisions, in memory and without waiting. Background tasks carry them out, and write to the
store before they act. The loop wakes on events and deadlines, and does not poll. Three objects own the state:
`VMPool` the VMs, `SubmissionLifecycle` the submissions, `Budget` the credits.
docs/architecture/concurrency.md explains what may run when.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from decimal import Decimal
from typing import TYPE_CHECKING, TypeVar

from warmfront.audit_chain import AuditAction
from warmfront.errors import BudgetExceeded, SubmissionNotFound, WarmfrontError
from warmfront.events import InQueue
from warmfront.gpus import CPU_NODE
from warmfront.orchestrator.action_effects import ActionEffects, already_completed
from warmfront.orchestrator.adaptive import policy_memory
from warmfront.orchestrator.control_plane_verdicts import cancelled
from warmfront.orchestrator.cpu_nodes import CpuNodeRouting
from warmfront.orchestrator.intake import Intake
from warmfront.orchestrator.quotes import Quote, QuoteCalculator
from warmfront.orchestrator.reconciler import RECONCILE_INTERVAL_S
from warmfront.orchestrator.runtime_limits import RuntimeLimits
from warmfront.orchestrator.submission_lifecycle import ActiveSubmission
from warmfront.orchestrator.tasks import TaskSupervisor
from warmfront.orchestrator.vm_controls import VMControls
from warmfront.orchestrator.wiring import (
    Dependencies,
    create_attempt_runner,
    create_autoscaler,
    create_owners,
    create_reconciler,
)
from warmfront.orchestrator.xray_queue import XrayQueue, XraySubmission
from warmfront.submission import ADMIT
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from warmfront.audit_chain import Actor
    from warmfront.clock import Clock
    from warmfront.listener.protocol import ListenerClient
    from warmfront.money.escrow import BudgetStatus
    from warmfront.orchestrator.attempt_runner import SignReceipt
    from warmfront.orchestrator.budget import SendAlert
    from warmfront.providers.base import Provider
    from warmfront.provisioning import ProvisioningProblem
    from warmfront.settings import Settings
    from warmfront.store.records import Arrival, AttemptRecord
    from warmfront.store.store import Store
    from warmfront.submission import NewSubmission, Submission
    from warmfront.usage_limits import DailyCaps, Quota
    from warmfront.vm import VMInstance

log = logging.getLogger(__name__)

#: A cancellation is repeated this often until the submission has its verdict.
_CANCEL_AGAIN_S = 1.0
#: How long an orderly stop waits for the end of VMs that cannot outlive the service.
_STOP_TIMEOUT_S = 30.0


T = TypeVar("T")


class VMOrchestrator:
    """The pool of VMs and the queue of submissions in front of it.

    Args:
        store: stores everything, and publishes events.
        provider: provisions VMs.
        listeners: the client for the VMs' listeners.
        xray: makes the X-ray of a submission's source.
        settings: the operator's limits.
        clock: returns the time. All waiting uses asyncio, so that an event loop with virtual time works.
        token_for: returns the token of a VM's listener.
        new_id: returns an unguessable id with a prefix.
        send_alert: sends the budget alert; with None it is only logged.
        sign_receipt: signs the receipt of an ACCEPTED submission; with None there are no receipts.
        reconcile_interval_s: how often the pool is compared with the provider.

    Example:
        >>> orchestrator = VMOrchestrator(store=store, provider=provider, ...)
        >>> await orchestrator.start()
        >>> submission = await orchestrator.submit(new)
        >>> await orchestrator.stop()
    """

    def __init__(
        self,
        *,
        store: Store,
        provider: Provider,
        listeners: ListenerClient,
        xray: XraySubmission,
        settings: Settings,
        clock: Clock,
        token_for: Callable[[str], str],
        new_id: Callable[[str], str],
        send_alert: SendAlert | None = None,
        sign_receipt: SignReceipt | None = None,
        reconcile_interval_s: float = RECONCILE_INTERVAL_S,
    ) -> None:
        self._store = store
        self._retrying = retrying = store.retrying()
        self._provider = provider
        self._listeners = listeners
        self._clock = clock
        self._routing = CpuNodeRouting(provider, settings)
        self._tasks = tasks = TaskSupervisor()
        self._loop_tasks: list[asyncio.Task[None]] = []
        needs = Dependencies(
            store=retrying,
            provider=provider,
            listeners=listeners,
            settings=settings,
            clock=clock,
            tasks=tasks,
            token_for=token_for,
            new_id=new_id,
            send_alert=send_alert,
            sign_receipt=sign_receipt,
        )
        owners = create_owners(needs)
        self._submissions, self._budget, self._pool = owners.submissions, owners.budget, owners.pool
        self._attempts = create_attempt_runner(needs, owners)
        self._xrays = XrayQueue(
            xray=xray, submissions=self._submissions, store=retrying, clock=clock, tasks=tasks
        )
        self._autoscaler = create_autoscaler(needs, owners)
        self._quotes = QuoteCalculator(
            pool=self._pool,
            submissions=self._submissions,
            budget=self._budget,
            autoscaler=self._autoscaler,
            clock=clock,
        )
        self._reconciler = create_reconciler(needs, owners, reconcile_interval_s)

        self.vm_controls = VMControls(
            pool=self._pool, budget=self._budget, store=retrying, settings=settings, clock=clock
        )
        self.intake = Intake(store=retrying, submissions=self._submissions, tasks=tasks, clock=clock)
        self.action_effects = ActionEffects(
            pool=self._pool,
            budget=self._budget,
            submissions=self._submissions,
            xrays=self._xrays,
            clock=clock,
        )
        self.limits = RuntimeLimits(
            settings=settings,
            pool=self._pool,
            budget=self._budget,
            store=retrying,
            clock=clock,
            apply=self._apply_settings,
        )

    # Queries.

    def pool(self) -> list[VMInstance]:
        """Return the VMs that have not ended."""
        return self._pool.instances()

    def slots(self) -> tuple[int, int]:
        """Return how many slots of ready VMs are in use, and how many there are."""
        return self._pool.slots()

    def queue_length(self) -> int:
        """Return how many submissions wait for a VM or for their X-ray."""
        return self._submissions.queue_length() + len(self._xrays)

    def waiting(self, limit: int) -> list[Submission]:
        """Return the first waiting submissions, in approximately the order in which they will be served."""
        return list(
            itertools.islice(itertools.chain(self._submissions.queued(), self._xrays.waiting()), limit)
        )

    def budget_status(self) -> BudgetStatus:
        """Return how much of the credits is spent, reserved and left."""
        return self._budget.status(self._pool.instances())

    def provisioning_problems(self) -> list[ProvisioningProblem]:
        """Return the GPU types for which no VM is provisioned now, and why."""
        return self._autoscaler.problems()

    def reset_provisioning(self, gpu: str) -> bool:
        """Close the circuit breaker of a GPU type; return whether there was anything to reset."""
        had_problem = any(problem.gpu == gpu for problem in self._autoscaler.problems())
        self._autoscaler.reset(gpu)
        self._tasks.wake()
        return had_problem

    def quote(self, gpu: str, owner: str, endpoint: str = Endpoint.SUBMIT) -> Quote:
        """Return the expected wait and cost of a submission of this owner if it is sent now."""
        return self._quotes.quote(CPU_NODE if self._gets_cpu_node(endpoint, gpu) else gpu, owner)

    def _gets_cpu_node(self, endpoint: str, gpu: str) -> bool:
        """Return whether a CPU node would judge a submission that is sent now."""
        replaces_cpu_nodes = self._autoscaler.cpu_fallback.replaces_cpu_nodes
        return self._routing.accepts(endpoint, gpu) and not replaces_cpu_nodes(gpu, self._clock.now())

    # Requests.

    async def run_xray(self, user: str, make_xray: Callable[[], Awaitable[T]]) -> T:
        """Make an X-ray without a submission, in the fair queue with all others.

        Raises:
            TooManyXrays: too many requests of this user are waiting.
        """
        return await self._xrays.run_request(user, make_xray)

    async def submit(
        self, new: NewSubmission, *, quotas: Sequence[Quota] = (), caps: DailyCaps | None = None
    ) -> Submission:
        """Store a submission with its first event. After that it is guaranteed to get a verdict.

        Raises:
            Conflict: its idempotency key was used for a different request.
            QuotaExceeded: a quota of its owner is used up.
            BudgetExceeded: it would exceed a daily cap.
            IntakePaused: an operator has paused the intake.
            StoreUnavailable: the database is unavailable, and nothing was stored.
        """
        self.intake.check()
        # Shielded: if the client disconnects in the middle, a stored submission must still be tracked here.
        return await asyncio.shield(asyncio.ensure_future(self._submit(new, quotas, caps)))

    async def _submit(
        self, new: NewSubmission, quotas: Sequence[Quota], caps: DailyCaps | None
    ) -> Submission:
        on_cpu_node = self._gets_cpu_node(new.endpoint, new.gpu)
        quote = self._quotes.quote(CPU_NODE if on_cpu_node else new.gpu, new.owner)
        position = self._xrays.position(new.owner) + quote.position
        first = InQueue(submission_id=new.id, position=position, quote=quote.for_event())
        needs_vm = new.endpoint != Endpoint.XRAY
        submission, event = await self._store.create_submission(
            new,
            first.fields(),
            quotas=quotas,
            caps=caps,
            expected_usd=quote.cost_usd if needs_vm else Decimal(0),
            pays_boot=quote.pays_boot and needs_vm,
        )
        if event is not None:  # None if the same request was stored before
            active = ActiveSubmission(
                submission=submission,
                on_cpu_node=on_cpu_node,
                instead_of_cpu_node=not on_cpu_node and self._routing.accepts(new.endpoint, new.gpu),
            )
            self._submissions.track(active, new)
            self._xrays.add(active)
        return submission

    async def cancel(self, submission_id: str, *, by: Actor | None = None) -> Submission:
        """Cancel a submission; return when it has its verdict and its sandbox is destroyed.

        Args:
            submission_id: the submission.
            by: the operator who cancels another user's submission, for the audit log.

        Raises:
            SubmissionNotFound: there is no such submission.
            Conflict: it already has its verdict.
            StoreUnavailable: the database is unavailable, and the submission is unchanged.
        """
        record = None
        if by is not None:
            after = {"cancel_requested": True}
            record = by.record(AuditAction.SUBMISSION_CANCEL, submission_id, after=after)
        submission = await self._store.request_cancel(submission_id, record=record, now=self._clock.now())
        if submission is None:
            raise SubmissionNotFound(submission_id)
        active = self._submissions.get(submission_id)
        if active is None:
            error = already_completed(submission_id, submission.verdict)
            if by is not None:
                refused = by.refused(AuditAction.SUBMISSION_CANCEL, submission_id, error.message)
                await self._retrying.append_audit(refused, self._clock.now())
            raise error
        await self._cancel(active)
        completed = await self._retrying.get_submission(submission_id)
        assert completed is not None  # noqa: S101 - submissions are never deleted
        return completed

    async def _cancel(self, active: ActiveSubmission) -> None:
        active.cancel_requested = True
        if self._submissions.remove_from_queue(active) or self._xrays.remove(active):
            self._tasks.wake()  # a VM may be booting for this submission
            await self._submissions.complete(active, cancelled())
        while not active.done.is_set():
            if active.attempt is not None and active.vm is not None:
                try:
                    await self._listeners.cancel(active.vm.vm, active.attempt.id)
                except WarmfrontError as error:
                    log.info(
                        "submission %s could not be stopped: %s; retrying in %.0f s",
                        active.id,
                        error.message,
                        _CANCEL_AGAIN_S,
                    )
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(active.done.wait(), _CANCEL_AGAIN_S)

    # Start and stop.

    async def start(self) -> None:
        """Continue from the state in the store, reconcile with the provider, and start the decision loop."""
        settings = self.limits.restore(await self._retrying.changed_limits())
        self._use_settings(settings, [])
        state = await self._retrying.recovered_state(policy_memory(settings))
        self._budget.escrow.settled_usd = state.settled_usd
        self.intake.restore(state.intake)
        await self._budget.restore_alert(self._retrying, state.live_vms)
        lived_s, preempted = state.spot_history
        self._pool.spot.rate.observed_h, self._pool.spot.rate.interruptions = lived_s / 3600, preempted
        self._autoscaler.restore(state.breakers)
        for gpu, seconds in state.boot_times:
            self._pool.estimates(gpu).boot.observe(seconds)
        for arrival in state.arrivals:
            vm_type = self._routing.vm_type(arrival.endpoint, arrival.gpu)
            self._pool.policy(vm_type).arrived(arrival.created_at, arrival.owner)
        for vm in state.live_vms:
            self._pool.resume(vm)
        for submission in state.unfinished:
            active = ActiveSubmission(
                submission=submission,
                lost_attempts=state.lost_attempts.get(submission.id, 0),
                preempted=submission.id in state.preempted,
                on_cpu_node=submission.id not in state.needs_gpu
                and self._routing.accepts(submission.endpoint, submission.gpu),
                cancel_requested=submission.cancel_requested,
            )
            self._resume(active, state.attempts.get(submission.id))
        self._pool.offer_resumed()
        succeeded = await self._reconciler.reconcile()
        self._loop_tasks = [
            self._tasks.spawn(self._work()),
            self._tasks.spawn(self._reconciler.run(succeeded=succeeded)),
        ]
        self._tasks.wake()

    async def _apply_settings(self, settings: Settings) -> None:
        """Replace the settings, and decide again about idle VMs."""
        self._use_settings(settings, await self._retrying.arrivals(policy_memory(settings)))
        await self._budget.restore_alert(self._retrying, self._pool.instances())
        await self._pool.renew_deadlines()
        self._tasks.wake()

    def _use_settings(self, settings: Settings, arrivals: Sequence[Arrival]) -> None:
        """Pass the settings to all parts; the keep-warm policies learn from `arrivals`."""
        self._budget.apply_settings(settings)
        self._pool.apply_settings(settings, arrivals)
        self._autoscaler.apply_settings(settings)
        self._attempts.apply_settings(settings)
        self.vm_controls.apply_settings(settings)

    async def stop(self) -> None:
        """Stop the decision loop, and end the VMs that cannot outlive the service.

        Other VMs keep running, and the next start finds them. Attempts on VMs that end here are interrupted,
        which does not use up a retry.
        """
        for task in self._loop_tasks:
            task.cancel()
        if not self._provider.vms_outlive_service:
            with contextlib.suppress(TimeoutError):  # the next start then finds out which VMs have ended
                async with asyncio.timeout(_STOP_TIMEOUT_S):
                    await self._pool.release_all("the service was stopped", stopping=True)
        await self._tasks.cancel_all()

    async def release_all(self, reason: str) -> None:
        """End every VM and wait until that is confirmed."""
        await self._pool.release_all(reason)

    def _resume(self, active: ActiveSubmission, attempt: AttemptRecord | None) -> None:
        """Continue a submission from its stored state."""
        self._submissions.track(active)
        pooled = self._pool.get(attempt.vm_id) if attempt else None
        if ADMIT.allows(active.submission.state):
            self._xrays.add(active)
        elif attempt is not None and pooled is not None:
            active.attempt, active.vm = attempt, pooled
            pooled.running[attempt.id] = active
            pooled.begun[attempt.id] = attempt.started_at
            self._submissions.resume_running(active)
            self._tasks.spawn(self._attempts.resume(active))
        elif attempt is not None:
            self._tasks.spawn(self._submissions.lose_orphan(active, attempt))
        else:
            self._submissions.enqueue(active)
        if active.cancel_requested:
            self._tasks.spawn(self._cancel(active))

    # The decision loop.

    async def _work(self) -> None:
        """Decide after every change, and at the next deadline."""
        while True:
            await self._tasks.wait(self._next_deadline_s())
            self._decide()

    def _decide(self) -> None:
        """Make every decision that can be made now, without waiting."""
        now = self._clock.now()
        self._xrays.start_next()
        if self.intake.holds_queue:
            self.intake.report(submission.id for submission in self._submissions.queued())
        else:
            self._assign()
        self._autoscaler.scale(now, may_provision=not self.intake.holds_queue)
        self._pool.release_drained()
        self._release_expired(now)
        self._budget.check_alert(now, self._pool.instances)

    def _assign(self) -> None:
        """Assign queued submissions to free VMs with their GPU type, in the order of `FreeVMIndex`."""
        for gpu in self._submissions.queued_gpus():
            queue, free = self._submissions.queue(gpu), self._pool.free(gpu)
            skipped = []
            while len(queue) and (pooled := free.take()):
                if pooled.vm.spot and len(queue) == self._submissions.needs_on_demand(gpu):
                    skipped.append(pooled)
                    continue
                try:
                    pooled.vm = self._budget.reserve_task(pooled.vm)
                except BudgetExceeded:
                    self._pool.release(pooled, "the credits do not cover another task on it")
                    continue
                active = self._submissions.dequeue(queue, spot=pooled.vm.spot)
                self._autoscaler.record_success(pooled.vm)
                self._attempts.assign(active, pooled)
                free.add(pooled)
                self._tasks.spawn(self._attempts.run(active))
            for pooled in skipped:
                free.add(pooled)

    def _release_expired(self, now: float) -> None:
        for pooled in self._pool.deadlines.pop_expired(now):
            idle_since = pooled.vm.metered_until or pooled.vm.ready_at or now
            self._pool.release(pooled, f"idle for {now - idle_since:.0f} s")

    def _next_deadline_s(self) -> float | None:
        now = self._clock.now()
        candidates = (self._pool.deadlines.next_at(), self._autoscaler.next_at(now))
        moments = [moment for moment in candidates if moment is not None]
        return max(0.0, min(moments) - now) if moments else None
