"""Attempts: one submission on one VM, from the assignment to its verdict or its loss.

Every line of the listener is stored before the next is read; what came twice is stored once. It neither
chooses the VM nor decides whether a lost attempt is tried again.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from warmfront.errors import UnknownAttempt, UsageError, VMUnreachable
from warmfront.events import VMReady
from warmfront.listener.protocol import ExecuteRequest
from warmfront.money import meter
from warmfront.orchestrator.verdicts import cancelled, refused
from warmfront.store import attempts, ledger, vms
from warmfront.store import log as stored
from warmfront.store.records import AttemptRecord, LedgerEntry
from warmfront.verdicts import Endpoint, Verdict, is_terminal
from warmfront.vm import VMInstance, VMState

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

    from sqlalchemy import Connection

    from warmfront.clock import Clock
    from warmfront.listener.protocol import AttemptEvent, ListenerClient
    from warmfront.orchestrator.fleet import Fleet
    from warmfront.orchestrator.journal import Journal
    from warmfront.orchestrator.sources import Sources
    from warmfront.orchestrator.state import Machine, Track
    from warmfront.settings import Settings
    from warmfront.store.records import StoredEvent

log = logging.getLogger(__name__)

#: Pause before a cut stream is taken up again.
_RECONNECT_S = 0.5


class Lost(Exception):
    """The attempt will give no verdict, and runs no more."""


@dataclass(kw_only=True)
class Runs:
    """Carries out attempts."""

    fleet: Fleet
    listeners: ListenerClient
    journal: Journal
    sources: Sources
    settings: Settings
    clock: Clock
    new_id: Callable[[str], str]
    finished: Callable[[Track, str], None]  #: a verdict is stored
    requeue: Callable[[Track], None]  #: an attempt is lost, and is no lease any more
    pool_metrics: Callable[[], dict[str, Any]]

    def reserve(self, track: Track, machine: Machine) -> None:
        """Put the submission on the VM, in memory, so that no other decision counts on its place."""
        track.attempt = AttemptRecord(
            id=self.new_id("att"),
            submission_id=track.id,
            vm_id=machine.vm.id,
            number=track.record.attempts + 1,
            started_at=self.clock.now(),
        )
        track.machine = machine
        machine.running[track.attempt.id] = track

    # Both look at the track now, and not when their work begins: by then it may be on its next VM.

    def begin(self, track: Track) -> Coroutine[object, object, None]:
        """Carry out what was reserved."""
        return self._begin(_turn(track))

    def follow(self, track: Track) -> Coroutine[object, object, None]:
        """See an attempt to its end that was begun before a restart."""
        return self._see_through(_turn(track), fresh=False)

    async def _begin(self, turn: _Turn) -> None:
        if not await self._store_beginning(turn):
            return
        if turn.track.cancel:
            await self._finish(turn, cancelled().fields())
            return
        await self._see_through(turn, fresh=True)

    async def _see_through(self, turn: _Turn, *, fresh: bool) -> None:
        """To its verdict or its loss; `fresh` if the listener cannot know it yet."""
        left_s = turn.attempt.started_at + self.settings.task_timeout_s - self.clock.now()
        try:
            async with asyncio.timeout(max(0.0, left_s)):
                await self._take_lines(turn, fresh=fresh)
        except TimeoutError:
            await self._break_off(turn, f"it took longer than {self.settings.task_timeout_s:.0f} s")
        except Lost as lost:
            log.warning("attempt %s is lost: %s", turn.attempt.id, lost)
            await self._lose(turn, str(lost))
        except UsageError as error:  # the listener will not take it, now or later
            await self._finish(turn, refused(Verdict.ERROR, error).fields())
        except Exception as error:  # the edge of an attempt: whatever happened, the submission goes on
            log.exception("attempt %s failed", turn.attempt.id)
            await self._break_off(turn, f"the orchestrator failed: {error!r}")

    async def _store_beginning(self, turn: _Turn) -> bool:
        """Whether it has begun; if not, someone else sees to its submission."""
        track, machine, attempt = turn.track, turn.machine, turn.attempt
        async with machine.writing:
            if turn.is_over or machine.going:
                return False  # the end of the VM came first, and gives the submission back
            vm, entries = machine.vm, list[LedgerEntry]()
            cold = vm.state is VMState.WARM
            if vm.state is not VMState.BUSY:
                vm, entries = meter.settle(
                    vm,
                    self.fleet.provider.billing(vm.gpu),
                    attempt.started_at,
                    worked=False,
                    submission_id=track.id,
                    owner=track.owner,
                )
            vm = vm.becomes(state=VMState.BUSY, deadline_at=None, reason="")
            ready = self._ready_event(track, vm, attempt, cold=cold)
            event = await self.journal.write(_store_begin, vm, attempt, entries, ready.fields(), cold=cold)
            if event is not None:
                machine.vm = vm
        if event is None:  # it has its verdict already: it was cancelled in this very moment
            machine.running.pop(attempt.id, None)
            self.fleet.offer(machine)
            self.finished(track, "")
            return False
        track.record = replace(track.record, attempts=attempt.number)
        if attempt.number == 1:
            self.fleet.keep_warm.arrived(track.record.created_at, track.owner)
        self.journal.publish(event)
        return True

    def _ready_event(self, track: Track, vm: VMInstance, attempt: AttemptRecord, *, cold: bool) -> VMReady:
        own = {"tasks_done": vm.tasks_done, "age_s": round(self.fleet.age_s(vm), 3)}
        return VMReady(
            vm_id=vm.id,
            vm_state="COLD_START" if cold else "WARM_REUSE",
            gpu=track.record.gpu,
            simulated=vm.simulated,
            attempt=attempt.number,
            metrics={"vm": own, "pool": self.pool_metrics()},
        )

    async def _take_lines(self, turn: _Turn, *, fresh: bool) -> None:
        """Store line after line until the verdict; a cut stream is taken up where it was cut."""
        machine, seen = turn.machine, turn.attempt.last_seq
        while not turn.is_over:
            try:
                async for line in await self._stream(turn, seen, fresh=fresh):
                    if turn.is_over:
                        return
                    if line.seq <= seen:
                        continue
                    if await self._take(turn, line):
                        return
                    seen = line.seq
                # A stream that ends before the verdict was cut as well.
            except VMUnreachable as error:
                log.info("attempt %s: %s", turn.attempt.id, error.message)
            fresh = False
            if machine.going or await self.fleet.has_ended(machine):
                self.fleet.release(machine, "it was lost in the middle of an attempt", failed=True)
                await machine.gone.wait()
                return  # the end of the VM has taken the attempt with it
            await asyncio.sleep(_RECONNECT_S)

    async def _stream(self, turn: _Turn, seen: int, *, fresh: bool) -> AsyncIterator[AttemptEvent]:
        if fresh:
            return self.listeners.execute(turn.machine.vm, await self._request(turn))
        return self._again(turn, seen)

    async def _again(self, turn: _Turn, seen: int) -> AsyncIterator[AttemptEvent]:
        """Re-attach; a listener that never heard of the attempt is told now."""
        known = True
        try:
            async for line in self.listeners.events(turn.machine.vm, turn.attempt.id, seen):
                yield line
        except UnknownAttempt:
            known = False
        if known:
            return
        if seen:
            raise Lost("its listener has forgotten it")
        async for line in self.listeners.execute(turn.machine.vm, await self._request(turn)):
            yield line

    async def _request(self, turn: _Turn) -> ExecuteRequest:
        code, problem_def = await self.sources.of(turn.track.id)
        record = turn.track.record
        return ExecuteRequest(
            id=turn.attempt.id,
            source=code,
            file_name=record.file_name,
            problem=record.problem,
            dtype=record.dtype,
            endpoint=record.endpoint,
            problem_def=problem_def,
        )

    async def _take(self, turn: _Turn, line: AttemptEvent) -> bool:
        """Store one line; whether it was the last."""
        track, status = turn.track, str(line.fields.get("status"))
        if status == Verdict.CANCELLED and not track.cancel:
            raise Lost("it was stopped on its VM, and not by its owner")
        if is_terminal(status, Endpoint(track.record.endpoint)):
            await self._finish(turn, line.fields, seq=line.seq)
            return True
        now = self.clock.now()
        event = await self.journal.write(
            stored.append, track.id, line.fields, now, attempt_id=turn.attempt.id, seq=line.seq
        )
        self.journal.publish(event)
        return False

    async def _finish(self, turn: _Turn, fields: dict[str, Any], *, seq: int | None = None) -> None:
        """The verdict, its cost and the VM's new state, in one transaction."""
        machine, attempt = turn.machine, turn.attempt
        now = self.clock.now()
        async with machine.writing:
            if turn.is_over:
                return  # the end of the VM came first, and took the attempt with it
            vm, entries = self._after_work(turn.track, machine, now)
            vm = vm.becomes(tasks_done=vm.tasks_done + 1)
            event = await self.journal.write(
                _store_verdict, vm, entries, attempt=attempt, fields=fields, seq=seq, now=now
            )
            machine.vm = vm
            del machine.running[attempt.id]
        self.fleet.offer(machine)
        self.fleet.estimates.task.observe(now - attempt.started_at)
        self.journal.publish(event, last=True)
        self.finished(turn.track, str(fields["status"]))

    async def _break_off(self, turn: _Turn, reason: str) -> None:
        """Have it stopped. A listener that does so keeps its VM."""
        if turn.is_over:
            return
        try:
            await self.listeners.cancel(turn.machine.vm, turn.attempt.id)
        except VMUnreachable:
            self.fleet.release(turn.machine, "an attempt on it could not be stopped", failed=True)
            return
        await self._lose(turn, reason)

    async def _lose(self, turn: _Turn, reason: str) -> None:
        """The VM lives and works on it no more: the VM is free again, the submission is not on it."""
        machine, attempt = turn.machine, turn.attempt
        now = self.clock.now()
        async with machine.writing:
            if turn.is_over:
                return  # as above
            vm, entries = self._after_work(turn.track, machine, now)
            await self.journal.write(_store_loss, vm, entries, attempt=attempt, now=now, reason=reason)
            machine.vm = vm
            del machine.running[attempt.id]
        self.fleet.offer(machine)
        self.requeue(turn.track)

    def _after_work(self, track: Track, machine: Machine, now: float) -> tuple[VMInstance, list[LedgerEntry]]:
        """The VM when this attempt is off it, and what the work came to."""
        vm, entries = meter.settle(
            machine.vm,
            self.fleet.provider.billing(machine.vm.gpu),
            now,
            worked=True,
            submission_id=track.id,
            owner=track.owner,
        )
        vm = vm.becomes(escrow_usd=self.fleet.promised_usd(vm.id))
        if len(machine.running) == 1 and not machine.going:
            vm = self.fleet.idled(vm.becomes(state=VMState.IDLE), now)
        return vm, entries


@dataclass(frozen=True, kw_only=True)
class _Turn:
    """An attempt as it was given out. Its track may be on another VM long before its stream has ended."""

    track: Track
    machine: Machine
    attempt: AttemptRecord

    @property
    def is_over(self) -> bool:
        """Whether the attempt has its verdict or is lost: whatever still comes of it counts no more."""
        return self.attempt.id not in self.machine.running


def _turn(track: Track) -> _Turn:
    assert track.machine is not None  # noqa: S101 - whoever has an attempt has a VM
    assert track.attempt is not None  # noqa: S101 - as above
    return _Turn(track=track, machine=track.machine, attempt=track.attempt)


def _store_begin(
    c: Connection,
    vm: VMInstance,
    attempt: AttemptRecord,
    entries: list[LedgerEntry],
    fields: dict[str, Any],
    *,
    cold: bool,
) -> StoredEvent | None:
    event = attempts.begin(c, attempt, fields, cold=cold)
    if event is not None:
        vms.save(c, vm)
        ledger.add(c, entries)
    return event


def _store_verdict(
    c: Connection,
    vm: VMInstance,
    entries: list[LedgerEntry],
    *,
    attempt: AttemptRecord,
    fields: dict[str, Any],
    seq: int | None,
    now: float,
) -> StoredEvent | None:
    vms.save(c, vm)
    ledger.add(c, entries)
    cost = ledger.of_submission(c, attempt.submission_id)
    fields = {**fields, "cost_usd": float(round(cost, 6))}
    return stored.finish(c, attempt.submission_id, fields, now, attempt_id=attempt.id, seq=seq, cost_usd=cost)


def _store_loss(
    c: Connection,
    vm: VMInstance,
    entries: list[LedgerEntry],
    *,
    attempt: AttemptRecord,
    now: float,
    reason: str,
) -> None:
    vms.save(c, vm)
    ledger.add(c, entries)
    attempts.lose(c, attempt.id, now, reason)
