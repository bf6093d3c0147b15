"""Decides: which submission is next, on which VM, and when a VM more or less is wanted.

Decisions are made in memory, in one go, with no wait inside; what they lead to is done by tasks that
write to the store before they act. It wakes on events and deadlines, and polls nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections.abc import Awaitable, Callable, Coroutine
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from warmfront.errors import BudgetExceeded, Conflict, NotFound, WarmfrontError
from warmfront.events import Failed, InQueue, Xray
from warmfront.money.book import Book, Money
from warmfront.orchestrator.adaptive import keep_warm
from warmfront.orchestrator.admissions import Admissions, Examine
from warmfront.orchestrator.estimates import Estimate, Estimates
from warmfront.orchestrator.fleet import COLD_START, WARM_REUSE, Fleet
from warmfront.orchestrator.journal import Journal
from warmfront.orchestrator.past import read_past
from warmfront.orchestrator.queue import FairQueue
from warmfront.orchestrator.quote import Quote, warm_chance
from warmfront.orchestrator.runs import Runs
from warmfront.orchestrator.sources import Sources
from warmfront.orchestrator.state import Machine, Track
from warmfront.orchestrator.verdicts import cancelled, given_up, no_vm, refused
from warmfront.store import attempts, ledger, marks, submissions
from warmfront.store import log as stored
from warmfront.store.records import AttemptRecord, NewSubmission, SubmissionRecord, SubmissionState
from warmfront.submissions import Verdict
from warmfront.vms import VMInstance, VMState

if TYPE_CHECKING:
    import random as random_module

    from sqlalchemy import Connection

    from warmfront.clock import Clock
    from warmfront.listener.protocol import ListenerClient
    from warmfront.orchestrator.log import EventLog
    from warmfront.providers.base import Provider
    from warmfront.settings import Settings
    from warmfront.store.base import Store
    from warmfront.store.records import StoredEvent

log = logging.getLogger(__name__)

#: Is told once when the credits run low.
Alert = Callable[[dict[str, Any]], Awaitable[None]]

#: An attempt lost to infrastructure is made again this often.
RETRIES = 2
#: VMs that fail to boot one after the other until those who wait are told.
BOOT_TRIES = 3
#: Pause after a boot that failed, times the failures in a row.
_BOOT_PAUSE_S = 2.0
#: How often our VMs are compared with the provider's.
RECONCILE_S = 60.0
#: A provider that could not be asked is asked again sooner: a VM that nobody knows costs money.
_RECONCILE_AGAIN_S = 5.0
#: A VM that nobody asked for is booted this often at most.
_PREWARM_AGAIN_S = 3600.0
#: How often at most the credits are looked at.
_LOOK_S = 1.0
#: How long a submission takes on a VM, until some were seen.
_TASK_GUESS_S = 10.0
#: And how long a provider takes to end a VM.
_STOP_GUESS_S = 15.0
#: A cancel is said again this often until the submission is over.
_CANCEL_AGAIN_S = 1.0


class VMOrchestrator:
    """The pool of VMs and the queue before it."""

    def __init__(
        self,
        *,
        store: Store,
        provider: Provider,
        listeners: ListenerClient,
        examine: Examine,
        settings: Settings,
        clock: Clock,
        log: EventLog,  # noqa: A002, RUF100 - the event log, not the logger
        token_of: Callable[[str], str],
        new_id: Callable[[str], str],
        random: random_module.Random,
        alert: Alert | None = None,
        reconcile_s: float = RECONCILE_S,
    ) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._new_id = new_id
        self._random = random
        self._alert = alert
        self._reconcile_s = reconcile_s
        self._alerted = False
        self._journal = Journal(store, log, clock)
        self._sources = Sources(self._journal)
        self._book = Book(credits_usd=settings.credits_usd)
        self._estimates = Estimates(
            boot=Estimate(seconds=provider.typical_boot_s),
            task=Estimate(seconds=_TASK_GUESS_S),
            stop=Estimate(seconds=_STOP_GUESS_S),
        )
        self._keep_warm = keep_warm(
            settings, float(provider.billing.rate_usd_per_h), lambda: self._estimates.boot.seconds
        )
        self._tracks: dict[str, Track] = {}
        self._queue = FairQueue()
        self._boot_failures = 0
        self._boot_after = 0.0
        self._prewarm_after = 0.0
        self._look_after = 0.0
        self._wake = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._fleet = Fleet(
            provider=provider,
            listeners=listeners,
            journal=self._journal,
            book=self._book,
            estimates=self._estimates,
            keep_warm=self._keep_warm,
            settings=settings,
            clock=clock,
            token_of=token_of,
            spawn=self._spawn,
            changed=self._wake.set,
            lost=self._requeue_all,
            boot_failed=self._note_boot_failure,
        )
        self._runs = Runs(
            fleet=self._fleet,
            listeners=listeners,
            journal=self._journal,
            sources=self._sources,
            settings=settings,
            clock=clock,
            new_id=new_id,
            finished=self._note_verdict,
            requeue=self._requeue,
            pool_metrics=self._pool_metrics,
        )
        self._listeners = listeners
        self._admissions = Admissions(
            examine=examine,
            journal=self._journal,
            sources=self._sources,
            clock=clock,
            finish=self._finish,
            admitted=self._enqueue,
            changed=self._wake.set,
        )

    # What may be asked at any time.

    def pool(self) -> list[VMInstance]:
        """Every VM that is not over."""
        return [machine.vm for machine in self._fleet.machines.values()]

    def queue_length(self) -> int:
        """How many wait for a VM or for their X-ray."""
        return len(self._queue) + len(self._admissions.waiting)

    def waiting(self, most: int) -> list[SubmissionRecord]:
        """The first of those who wait, in about the order in which they are served."""
        items = itertools.chain(self._queue.heads(), self._admissions.waiting.heads())
        return [self._tracks[item].record for item in itertools.islice(items, most)]

    def money(self) -> Money:
        """Where the credits are, this moment."""
        alive_usd = self._fleet.accrued_usd()
        return Money(
            credits_usd=self._book.credits_usd,
            spent_usd=self._book.settled_usd + alive_usd,
            reserved_usd=max(Decimal(0), self._book.committed_usd - self._book.settled_usd - alive_usd),
            alerted=self._alerted,
        )

    def quote(self, gpu: str, owner: str) -> Quote:
        """What a submission of this owner may expect, if it came now."""
        machines = [m for m in self._fleet.machines.values() if m.vm.gpu == gpu and not m.going]
        ready = [machine for machine in machines if machine.vm.ready_at is not None]
        position = self._queue.position(owner)
        task_s, boot_s = self._estimates.task.seconds, self._estimates.boot.seconds
        billed_s = task_s + (0.0 if ready else boot_s)
        cost = self._fleet.provider.billing.rate_usd_per_h * Decimal(round(billed_s * 1000)) / 3_600_000
        at_once = position == 0 and any(machine.takes_more for machine in ready)
        wait_s = task_s * (position + 1) / max(1, len(machines)) + (0.0 if ready else boot_s)
        return Quote(
            vm_state=WARM_REUSE if ready else COLD_START,
            position=position,
            wait_s=0.0 if at_once else wait_s,
            cost_usd=cost,
            task_s=task_s,
            warm_chance=warm_chance([machine.vm for machine in machines], self._clock.now(), boot_s),
            refusal=self._refusal(machines),
        )

    def _refusal(self, machines: list[Machine]) -> BudgetExceeded | None:
        """Why the credits would cover one task more on none of these VMs, or no VM if there are none."""
        if not machines:
            return self._book.refusal("", self._fleet.worst_case_usd(age_s=0.0, boots=True))
        refusals = [self._book.refusal(machine.vm.id, self._one_more_usd(machine)) for machine in machines]
        return None if None in refusals else refusals[0]

    # What may be asked for.

    async def submit(self, new: NewSubmission) -> SubmissionRecord:
        """Store it with its first event; from then on it will get its verdict."""
        # Whoever asked may go away in the middle: what is stored must be known here too.
        return await asyncio.shield(asyncio.ensure_future(self._submit(new)))

    async def _submit(self, new: NewSubmission) -> SubmissionRecord:
        quote = self.quote(new.gpu, new.owner)
        position = self._admissions.waiting.position(new.owner) + quote.position
        event = InQueue(submission_id=new.id, position=position, quote=quote.fields())
        record, first = await self._store.write(submissions.create, new, event.fields())
        if first is None:
            return record  # the same request came before
        self._journal.publish(first)
        self._sources.keep(new)
        track = self._tracks[record.id] = Track(record=record)
        self._admissions.add(track)
        return record

    async def cancel(self, submission_id: str) -> SubmissionRecord:
        """Stop it; returns when it is over and its sandbox is gone."""
        record = await self._store.write(submissions.request_cancel, submission_id)
        if record is None:
            raise NotFound(
                f"There is no submission {submission_id!r}.", hint="`warmfront ps -a` lists yours."
            )
        track = self._tracks.get(submission_id)
        if track is None:
            raise Conflict(
                f"Submission {submission_id} has its verdict, {record.verdict}.",
                hint="There is nothing to cancel.",
            )
        await self._cancel(track)
        return await self._journal.read(_known, submission_id)

    async def _cancel(self, track: Track) -> None:
        track.cancel = True
        if self._queue.remove(track.id) or self._admissions.remove(track.id):
            await self._finish(track, cancelled())
        while not track.over.is_set():
            if track.attempt is not None and track.machine is not None:
                try:
                    await self._listeners.cancel(track.machine.vm, track.attempt.id)
                except WarmfrontError as error:
                    log.info("submission %s could not be stopped yet: %s", track.id, error.message)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(track.over.wait(), _CANCEL_AGAIN_S)

    # Its life.

    async def start(self) -> None:
        """Go on from what the store has, compare with the provider, then work."""
        past = await self._journal.read(read_past, self._alert_name, self._keep_warm.memory)
        self._book.settled_usd = past.settled_usd
        self._alerted = past.alerted
        for seconds in past.boots_s:
            self._estimates.boot.observe(seconds)
        for at, owner in past.arrivals:
            self._keep_warm.arrived(at, owner)
        for vm in past.alive:
            self._fleet.resume(vm)
        for record in past.unfinished:
            self._resume(record, past.attempts.get(record.id))
        self._free_the_deserted()
        compared = await self._fleet.reconcile()
        self._spawn(self._work())
        self._spawn(self._reconcile(compared=compared))
        self._wake.set()

    async def stop(self) -> None:
        """Let go. VMs and attempts live on, and are found again."""
        tasks = set(self._tasks)
        while tasks:
            for task in tasks:
                task.cancel()
            # Again: `wait_for` forgets a cancel that comes in the moment in which it has what it waited for.
            _, tasks = await asyncio.wait(tasks, timeout=_CANCEL_AGAIN_S)

    async def release_all(self, reason: str) -> None:
        """End every VM and wait until that is confirmed: for a provider whose VMs nobody else would end."""
        machines = list(self._fleet.machines.values())
        for machine in machines:
            self._fleet.release(machine, reason)
        await asyncio.gather(*(machine.gone.wait() for machine in machines))

    def _resume(self, record: SubmissionRecord, attempt: AttemptRecord | None) -> None:
        """Take up a submission where the store has it."""
        track = Track(
            record=record,
            lost=max(0, record.attempts - (1 if attempt else 0)),
            cancel=record.cancel_requested,
        )
        self._tracks[record.id] = track
        machine = self._fleet.machines.get(attempt.vm_id) if attempt else None
        if record.state is SubmissionState.ADMITTING:
            self._admissions.add(track)
        elif attempt is not None and machine is not None:
            track.attempt, track.machine = attempt, machine
            machine.running[attempt.id] = track
            self._queue.started(record.owner)
            self._spawn(self._runs.follow(track))
        elif attempt is not None:
            self._spawn(self._lose_orphan(track, attempt))
        else:
            self._queue.push(record.owner, record.id)
        if track.cancel:
            self._spawn(self._cancel(track))

    def _free_the_deserted(self) -> None:
        """VMs can be used from now on; one that the store has as busy, with nothing on it, is idle."""
        now = self._clock.now()
        for machine in self._fleet.machines.values():
            if machine.vm.state is VMState.BUSY and not machine.running:
                machine.vm = self._fleet.idled(machine.vm.becomes(state=VMState.IDLE), now)
            self._fleet.offer(machine)

    async def _lose_orphan(self, track: Track, attempt: AttemptRecord) -> None:
        """An attempt on a VM that is over."""
        await self._journal.write(attempts.lose, attempt.id, self._clock.now(), "its VM is over")
        self._queue.started(track.owner)
        self._requeue(track)

    async def _work(self) -> None:
        """Decide whenever something changed, and when the next deadline comes."""
        loop = asyncio.get_running_loop()
        while True:
            # An alarm, and no timeout around the wait: this is done thousands of times a second.
            until_s = self._until_deadline_s()
            alarm = None if until_s is None else loop.call_later(until_s, self._wake.set)
            await self._wake.wait()
            if alarm is not None:
                alarm.cancel()
            self._wake.clear()
            self._decide()

    async def _reconcile(self, *, compared: bool) -> None:
        while True:
            await asyncio.sleep(self._reconcile_s if compared else _RECONCILE_AGAIN_S)
            compared = await self._fleet.reconcile()
            self._wake.set()

    # Decisions: no wait from here to the next heading.

    def _decide(self) -> None:
        """Everything that can be decided now."""
        now = self._clock.now()
        for work in self._admissions.due():
            self._spawn(work)
        self._assign()
        self._scale_up(now)
        self._prewarm(now)
        self._release_idle(now)
        self._look_at_money(now)

    def _assign(self) -> None:
        """Free VMs to those who wait, the longest-warm first."""
        while len(self._queue) and (machine := self._fleet.free.take()):
            try:
                self._extend_escrow(machine)
            except BudgetExceeded:
                self._fleet.release(machine, "the credits do not cover another task on it")
                continue
            submission_id = self._queue.pop()
            assert submission_id is not None  # noqa: S101 - somebody waits
            self._boot_failures = 0
            self._runs.reserve(self._tracks[submission_id], machine)
            self._fleet.free.offer(machine)
            self._spawn(self._runs.begin(self._tracks[submission_id]))

    def _extend_escrow(self, machine: Machine) -> None:
        """Reserve what one task more on this VM may come to."""
        self._book.promise(machine.vm.id, self._one_more_usd(machine))
        machine.vm = machine.vm.becomes(escrow_usd=self._book.promised_usd(machine.vm.id))

    def _one_more_usd(self, machine: Machine) -> Decimal:
        """The most that this VM may come to with one task more."""
        age_s = self._fleet.age_s(machine.vm)
        return self._fleet.worst_case_usd(age_s=age_s, boots=False, tasks=len(machine.running) + 1)

    def _scale_up(self, now: float) -> None:
        """One VM more for as long as waiting for those that we have takes longer than booting one."""
        while self._wants_another(now):
            try:
                self._begin_vm(now)
            except BudgetExceeded as refusal:
                if not self._fleet.machines:
                    self._refuse_all(Verdict.BUDGET_EXCEEDED, refusal)
                return

    def _begin_vm(self, now: float) -> None:
        """Boot one more, for whoever waits first; `BudgetExceeded` if the credits do not cover it."""
        vm_id = self._new_id("vm")
        worst_usd = self._fleet.worst_case_usd(age_s=0.0, boots=True)
        self._book.promise(vm_id, worst_usd)
        self._fleet.begin(
            VMInstance(
                id=vm_id,
                provider=self._fleet.provider.name,
                gpu=self._settings.default_gpu,
                state=VMState.PROVISIONING,
                created_at=now,
                simulated=self._fleet.provider.simulated,
                escrow_usd=worst_usd,
                boots_for=self._next_to_boot_for(),
            )
        )

    def _prewarm(self, now: float) -> None:
        """A VM before anybody asks, where the policy foresees that somebody will."""
        at = self._prewarm_at(now)
        if at is not None and at <= now:
            # What the credits do not cover is left to those who ask.
            self._prewarm_after = now + _PREWARM_AGAIN_S
            with contextlib.suppress(BudgetExceeded):
                self._begin_vm(now)

    def _prewarm_at(self, now: float) -> float | None:
        """When a VM is to be begun, unless there is one already or none could be had lately."""
        if self._fleet.machines or len(self._queue) or self._boot_failures:
            return None
        at = self._keep_warm.prewarm_at(now)
        return None if at is None else max(at, self._prewarm_after)

    def _wants_another(self, now: float) -> bool:
        machines = self._fleet.machines.values()
        if not len(self._queue) or len(machines) >= self._settings.max_vms or now < self._boot_after:
            return False
        serving = [machine for machine in machines if not machine.going]
        if not serving:
            return True
        # The last who waits begins when all others are done, or under way on the other VMs.
        before = len(self._queue) - 1 + sum(len(machine.running) for machine in serving)
        return before * self._estimates.task.seconds / len(serving) > self._estimates.boot.seconds

    def _next_to_boot_for(self) -> str | None:
        """Who is shown that a VM boots: the first of those who wait and are not shown one yet."""
        shown = {machine.vm.boots_for for machine in self._fleet.machines.values()}
        return next((item for item in self._queue.heads() if item not in shown), None)

    def _release_idle(self, now: float) -> None:
        for machine in self._fleet.deadlines.passed(now):
            idle_since = machine.vm.metered_until or machine.vm.ready_at or now
            self._fleet.release(machine, f"idle for {now - idle_since:.0f} s")

    def _until_deadline_s(self) -> float | None:
        now = self._clock.now()
        pause_ends_at = self._boot_after if len(self._queue) and self._boot_after > now else None
        known = (self._fleet.deadlines.next_at(), pause_ends_at, self._prewarm_at(now))
        moments = [moment for moment in known if moment is not None]
        return max(0.0, min(moments) - now) if moments else None

    def _look_at_money(self, now: float) -> None:
        if self._alerted or now < self._look_after:
            return
        self._look_after = now + _LOOK_S
        alert_usd = self._settings.alert_threshold * self._book.credits_usd
        # What is spent is never more than what is committed, which is known without looking at every VM.
        if self._book.committed_usd < alert_usd:
            return
        money = self.money()
        if money.spent_usd < alert_usd:
            return
        self._alerted = True
        self._spawn(self._raise_alert(money))

    def _refuse_all(self, verdict: Verdict, error: WarmfrontError) -> None:
        """Tell everyone who waits that there will be no VM."""
        for submission_id in self._queue.drain():
            self._spawn(self._finish(self._tracks[submission_id], refused(verdict, error)))

    # What decisions lead to, and what comes back.

    def _enqueue(self, track: Track) -> None:
        self._queue.push(track.owner, track.id)
        self._wake.set()

    async def _finish(self, track: Track, event: Failed | Xray) -> None:
        """A verdict without a VM."""
        verdict = await self._journal.write(_store_verdict, track.id, event.fields(), self._clock.now())
        self._journal.publish(verdict, last=True)
        self._forget(track)

    def _note_verdict(self, track: Track, status: str) -> None:
        """Its attempt ended with a verdict."""
        log.info("submission %s: %s", track.id, status or "was over already")
        self._queue.done(track.owner)
        self._forget(track)
        self._wake.set()

    def _forget(self, track: Track) -> None:
        self._tracks.pop(track.id, None)
        self._sources.forget(track.id)
        track.over.set()

    def _requeue_all(self, tracks: list[Track]) -> None:
        for track in tracks:
            self._requeue(track)

    def _requeue(self, track: Track) -> None:
        """Its attempt was lost to infrastructure: again, or no more."""
        self._queue.done(track.owner)
        track.attempt = track.machine = None
        track.lost += 1
        if track.cancel:
            self._spawn(self._finish(track, cancelled()))
        elif track.lost > RETRIES:
            self._spawn(self._finish(track, given_up(track.lost)))
        else:
            self._queue.push(track.owner, track.id, front=True)
        self._wake.set()

    def _note_boot_failure(self, reason: str) -> None:
        self._boot_failures += 1
        self._boot_after = self._clock.now() + _BOOT_PAUSE_S * self._boot_failures
        others = any(other.vm.ready_at and not other.going for other in self._fleet.machines.values())
        if self._boot_failures >= BOOT_TRIES and not others:
            self._boot_failures = 0
            self._refuse_all(Verdict.ERROR, no_vm(BOOT_TRIES, reason))
        self._wake.set()

    async def _raise_alert(self, money: Money) -> None:
        """Once in the life of these credits, also over restarts."""
        if not await self._journal.write(marks.once, self._alert_name, self._clock.now()):
            return
        facts = {
            "spent_usd": float(round(money.spent_usd, 2)),
            "credits_usd": float(money.credits_usd),
            "threshold": float(self._settings.alert_threshold),
        }
        log.warning(
            "budget alert: $%.2f of $%.2f are spent, %d%% or more",
            money.spent_usd,
            money.credits_usd,
            self._settings.alert_threshold * 100,
        )
        if self._alert is not None:
            await self._alert(facts)

    @property
    def _alert_name(self) -> str:
        """Other credits or another threshold are another alert."""
        return f"alert:{self._settings.alert_threshold}:{self._settings.credits_usd}"

    def _pool_metrics(self) -> dict[str, Any]:
        machines = self._fleet.machines.values()
        return {
            "active_vms": len(machines),
            "busy_vms": sum(bool(machine.running) for machine in machines),
            "queued": self.queue_length(),
        }

    def _spawn(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.create_task(_guarded(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


async def _guarded(work: Coroutine[object, object, None]) -> None:
    """The edge of a task: what nobody expected is logged with where it came from."""
    try:
        await work
    except Exception:
        log.exception("a task of the orchestrator failed")


def _known(c: Connection, submission_id: str) -> SubmissionRecord:
    record = submissions.get(c, submission_id)
    assert record is not None  # noqa: S101 - records are never deleted
    return record


def _store_verdict(
    c: Connection, submission_id: str, fields: dict[str, Any], now: float
) -> StoredEvent | None:
    """With what lost attempts came to, if there were any."""
    cost = ledger.of_submission(c, submission_id)
    fields = {**fields, "cost_usd": float(round(cost, 6))}
    return stored.finish(c, submission_id, fields, now, cost_usd=cost)
