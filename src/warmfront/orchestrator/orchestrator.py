"""Decides: which submission is next, on which VM, and when a VM more or less is wanted.

Decisions are made in memory, in one go, with no wait inside; what they lead to is done by tasks that
write to the store before they act. It wakes on events and deadlines, and polls nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from warmfront.errors import BudgetExceeded, Conflict, SubmissionNotFound, WarmfrontError
from warmfront.events import InQueue
from warmfront.money.book import Book, Money
from warmfront.orchestrator.adaptive import keep_warm
from warmfront.orchestrator.admissions import Admissions, Examine
from warmfront.orchestrator.alerts import Alert, Alerts
from warmfront.orchestrator.estimates import Estimates
from warmfront.orchestrator.fleet import Fleet
from warmfront.orchestrator.growth import Growth
from warmfront.orchestrator.journal import Journal
from warmfront.orchestrator.outcomes import Outcomes
from warmfront.orchestrator.past import read_past
from warmfront.orchestrator.queue import FairQueue
from warmfront.orchestrator.quote import Quote, Quotes
from warmfront.orchestrator.reconciler import RECONCILE_S, Reconciler
from warmfront.orchestrator.runs import Runs
from warmfront.orchestrator.sources import Sources
from warmfront.orchestrator.state import Track
from warmfront.orchestrator.verdicts import cancelled
from warmfront.store import submissions
from warmfront.submission import NewSubmission, Submission, SubmissionState

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from warmfront.clock import Clock
    from warmfront.listener.protocol import ListenerClient
    from warmfront.orchestrator.log import EventLog
    from warmfront.providers.base import Provider
    from warmfront.settings import Settings
    from warmfront.store.base import Store
    from warmfront.store.records import AttemptRecord
    from warmfront.vm import VMInstance

log = logging.getLogger(__name__)

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
        alert: Alert | None = None,
        reconcile_s: float = RECONCILE_S,
    ) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._listeners = listeners
        self._queue = FairQueue()
        self._wake = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._journal = Journal(store, log, clock)
        self._sources = Sources(self._journal)
        self._book = Book(credits_usd=settings.credits_usd)
        self._outcomes = Outcomes(
            queue=self._queue,
            journal=self._journal,
            sources=self._sources,
            clock=clock,
            spawn=self._spawn,
            changed=self._wake.set,
        )
        self._tracks = self._outcomes.tracks
        self._fleet = self._new_fleet(provider, token_of)
        self._runs = self._new_runs(new_id)
        self._admissions = self._new_admissions(examine)
        self._quotes = Quotes(fleet=self._fleet, queue=self._queue, book=self._book, clock=clock)
        self._alerts = self._new_alerts(alert)
        self._reconciler = self._new_reconciler(reconcile_s)
        self._growth = self._new_growth(new_id)

    def _new_alerts(self, alert: Alert | None) -> Alerts:
        return Alerts(
            settings=self._settings,
            book=self._book,
            journal=self._journal,
            money=self.money,
            spawn=self._spawn,
            tell=alert,
        )

    def _new_reconciler(self, every_s: float) -> Reconciler:
        return Reconciler(
            fleet=self._fleet,
            listeners=self._listeners,
            journal=self._journal,
            book=self._book,
            settings=self._settings,
            clock=self._clock,
            changed=self._wake.set,
            every_s=every_s,
        )

    def _new_growth(self, new_id: Callable[[str], str]) -> Growth:
        return Growth(
            fleet=self._fleet,
            queue=self._queue,
            book=self._book,
            settings=self._settings,
            clock=self._clock,
            new_id=new_id,
            refuse_all=self._outcomes.refuse_all,
        )

    def _new_fleet(self, provider: Provider, token_of: Callable[[str], str]) -> Fleet:
        settings = self._settings
        estimates = Estimates.at_first(provider.typical_boot_s(settings.default_gpu))
        rate_usd_per_h = float(provider.billing(settings.default_gpu).rate_usd_per_h)
        return Fleet(
            provider=provider,
            listeners=self._listeners,
            journal=self._journal,
            book=self._book,
            estimates=estimates,
            keep_warm=keep_warm(settings, rate_usd_per_h, lambda: estimates.boot.seconds),
            settings=settings,
            clock=self._clock,
            token_of=token_of,
            spawn=self._spawn,
            changed=self._wake.set,
            lost=self._outcomes.requeue_all,
            boot_failed=self._note_boot_failure,
        )

    def _new_runs(self, new_id: Callable[[str], str]) -> Runs:
        return Runs(
            fleet=self._fleet,
            listeners=self._listeners,
            journal=self._journal,
            sources=self._sources,
            settings=self._settings,
            clock=self._clock,
            new_id=new_id,
            finished=self._outcomes.finished,
            requeue=self._outcomes.requeue,
            pool_metrics=self._pool_metrics,
        )

    def _new_admissions(self, examine: Examine) -> Admissions:
        return Admissions(
            examine=examine,
            journal=self._journal,
            sources=self._sources,
            clock=self._clock,
            finish=self._outcomes.finish,
            admitted=self._outcomes.enqueue,
            changed=self._wake.set,
        )

    # What may be asked at any time.

    def pool(self) -> list[VMInstance]:
        """Every VM that is not over."""
        return [machine.vm for machine in self._fleet.machines.values()]

    def queue_length(self) -> int:
        """How many wait for a VM or for their X-ray."""
        return len(self._queue) + len(self._admissions.waiting)

    def waiting(self, most: int) -> list[Submission]:
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
            alerted=self._alerts.done,
        )

    def quote(self, gpu: str, owner: str) -> Quote:
        """What a submission of this owner may expect, if it came now."""
        return self._quotes.of(gpu, owner)

    # What may be asked for.

    async def submit(self, new: NewSubmission) -> Submission:
        """Store it with its first event; from then on it will get its verdict."""
        # Whoever asked may go away in the middle: what is stored must be known here too.
        return await asyncio.shield(asyncio.ensure_future(self._submit(new)))

    async def _submit(self, new: NewSubmission) -> Submission:
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

    async def cancel(self, submission_id: str) -> Submission:
        """Stop it; returns when it is over and its sandbox is gone."""
        record = await self._store.write(submissions.request_cancel, submission_id)
        if record is None:
            raise SubmissionNotFound(submission_id)
        track = self._tracks.get(submission_id)
        if track is None:
            raise Conflict(
                f"Submission {submission_id} has its verdict, {record.verdict}.",
                hint="There is nothing to cancel.",
            )
        await self._cancel(track)
        return await self._journal.read(submissions.known, submission_id)

    async def _cancel(self, track: Track) -> None:
        track.cancel = True
        if self._queue.remove(track.id) or self._admissions.remove(track.id):
            await self._outcomes.finish(track, cancelled())
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
        past = await self._journal.read(read_past, self._alerts.name, self._fleet.keep_warm.memory)
        self._book.settled_usd = past.settled_usd
        self._alerts.done = past.alerted
        for seconds in past.boots_s:
            self._fleet.estimates.boot.observe(seconds)
        for at, owner in past.arrivals:
            self._fleet.keep_warm.arrived(at, owner)
        for vm in past.alive:
            self._fleet.resume(vm)
        for record in past.unfinished:
            self._resume(record, past.attempts.get(record.id))
        self._fleet.free_the_deserted()
        compared = await self._reconciler.reconcile()
        self._spawn(self._work())
        self._spawn(self._reconciler.work(compared=compared))
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

    def _resume(self, record: Submission, attempt: AttemptRecord | None) -> None:
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
            self._spawn(self._outcomes.lose_orphan(track, attempt))
        else:
            self._queue.push(record.owner, record.id)
        if track.cancel:
            self._spawn(self._cancel(track))

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

    # Decisions: no wait from here to the next heading.

    def _decide(self) -> None:
        """Everything that can be decided now."""
        now = self._clock.now()
        for work in self._admissions.due():
            self._spawn(work)
        self._assign()
        self._growth.scale_up(now)
        self._growth.prewarm(now)
        self._release_idle(now)
        self._alerts.look(now)

    def _assign(self) -> None:
        """Free VMs to those who wait, the longest-warm first."""
        while len(self._queue) and (machine := self._fleet.free.take()):
            try:
                self._fleet.extend_escrow(machine)
            except BudgetExceeded:
                self._fleet.release(machine, "the credits do not cover another task on it")
                continue
            submission_id = self._queue.pop()
            assert submission_id is not None  # noqa: S101 - somebody waits
            self._growth.failures = 0
            self._runs.reserve(self._tracks[submission_id], machine)
            self._fleet.free.offer(machine)
            self._spawn(self._runs.begin(self._tracks[submission_id]))

    def _release_idle(self, now: float) -> None:
        for machine in self._fleet.deadlines.passed(now):
            idle_since = machine.vm.metered_until or machine.vm.ready_at or now
            self._fleet.release(machine, f"idle for {now - idle_since:.0f} s")

    def _until_deadline_s(self) -> float | None:
        now = self._clock.now()
        known = (self._fleet.deadlines.next_at(), self._growth.next_at(now))
        moments = [moment for moment in known if moment is not None]
        return max(0.0, min(moments) - now) if moments else None

    # What decisions lead to, and what comes back.

    def _note_boot_failure(self, reason: str) -> None:
        self._growth.note_failure(reason)
        self._wake.set()

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
