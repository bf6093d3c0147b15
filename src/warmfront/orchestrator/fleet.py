"""The VMs: leased, watched, metered and released, each by tasks of its own.

It knows nothing of queues. Who may be served by a VM, and when one is wanted, is decided elsewhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from decimal import Decimal
from typing import TYPE_CHECKING

from warmfront.errors import BudgetExceeded, ProviderError, VMUnreachable, WarmfrontError
from warmfront.events import Provisioning
from warmfront.money import meter
from warmfront.orchestrator.keepwarm import clock_time
from warmfront.orchestrator.ready import Deadlines, FreeVMs
from warmfront.orchestrator.state import Machine
from warmfront.providers.base import Lease, Phase
from warmfront.store import attempts, ledger, vms
from warmfront.vm import VMInstance, VMState

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from sqlalchemy import Connection

    from warmfront.clock import Clock
    from warmfront.listener.protocol import ListenerClient
    from warmfront.money.book import Book
    from warmfront.orchestrator.estimates import Estimates
    from warmfront.orchestrator.journal import Journal
    from warmfront.orchestrator.keepwarm import KeepWarm
    from warmfront.orchestrator.state import Track
    from warmfront.providers.base import Provider
    from warmfront.settings import Settings
    from warmfront.store.records import LedgerEntry

log = logging.getLogger(__name__)

COLD_START = "COLD_START"
WARM_REUSE = "WARM_REUSE"

#: Pauses between tries to end a VM, and the longest that one try may take.
_RETRY_S = 1.0
_LONGEST_RETRY_S = 30.0
_RELEASE_TRY_S = 60.0
#: A listener that was just started may need some tries until it answers.
_KNOCK_S = 0.2


class Fleet:
    """Every VM that is not over."""

    def __init__(
        self,
        *,
        provider: Provider,
        listeners: ListenerClient,
        journal: Journal,
        book: Book,
        estimates: Estimates,
        keep_warm: KeepWarm,
        settings: Settings,
        clock: Clock,
        token_of: Callable[[str], str],
        spawn: Callable[[Coroutine[object, object, None]], object],
        changed: Callable[[], None],
        lost: Callable[[list[Track]], None],
        boot_failed: Callable[[str], None],
    ) -> None:
        self.machines: dict[str, Machine] = {}
        self.free = FreeVMs()
        self.deadlines = Deadlines()
        self.provider = provider
        self._listeners = listeners
        self._journal = journal
        self._book = book
        self.estimates = estimates
        self.keep_warm = keep_warm
        self._settings = settings
        self._clock = clock
        self._token_of = token_of
        self._spawn = spawn
        self._changed = changed
        self._lost = lost
        self._boot_failed = boot_failed

    # What may be asked at any time.

    def accrued_usd(self) -> Decimal:
        """What the VMs alive have come to so far."""
        now = self._clock.now()
        costs = (
            meter.accrued_usd(m.vm, self.provider.billing(m.vm.gpu), now) for m in self.machines.values()
        )
        return sum(costs, start=Decimal(0))

    def promised_usd(self, vm_id: str) -> Decimal:
        """The most that this VM may come to."""
        return self._book.promised_usd(vm_id)

    def worst_case_usd(
        self, gpu: str, *, age_s: float, boots: bool, tasks: int = 1, keep_s: float | None = None
    ) -> Decimal:
        """The most that a VM of this age may come to if it takes so many more tasks and is kept so long."""
        settings = self._settings
        if keep_s is None:
            keep_s = settings.idle_timeout_s
        ahead_s = settings.task_timeout_s * tasks + keep_s + settings.stop_lag_s
        return self.provider.billing(gpu).cost_usd(
            age_s + ahead_s + (settings.provision_timeout_s if boots else 0.0)
        )

    def one_more_usd(self, machine: Machine) -> Decimal:
        """The most that this VM may come to with one task more."""
        age_s = self.age_s(machine.vm)
        return self.worst_case_usd(machine.vm.gpu, age_s=age_s, boots=False, tasks=len(machine.running) + 1)

    def extend_escrow(self, machine: Machine) -> None:
        """Reserve what one task more on this VM may come to, or raise `BudgetExceeded`."""
        self._book.promise(machine.vm.id, self.one_more_usd(machine))
        machine.vm = machine.vm.becomes(escrow_usd=self._book.promised_usd(machine.vm.id))

    def age_s(self, vm: VMInstance) -> float:
        """For how long it is billed already."""
        return max(0.0, self._clock.now() - vm.started_at) if vm.started_at is not None else 0.0

    def idled(self, vm: VMInstance, now: float) -> VMInstance:
        """The VM with nothing to do from now on: when it is let go, and why then."""
        others = (m for m in self.machines.values() if m.vm.id != vm.id)
        spare = any(m.takes_more and not m.running for m in others)
        decision = self.keep_warm.decide(now, vm, spare=spare)
        keep_s = min(max(0.0, decision.until - now), self._settings.idle_timeout_max_s)
        try:
            self._book.promise(
                vm.id, self.worst_case_usd(vm.gpu, age_s=self.age_s(vm), boots=False, tasks=0, keep_s=keep_s)
            )
        except BudgetExceeded:  # for so long it is in the book since its last task began
            keep_s = min(keep_s, self._settings.idle_timeout_s)
        until, reason = now + keep_s, decision.reason
        if vm.started_at is not None:
            age_s = max(0.0, until - vm.started_at)
            paid_s = self.provider.billing(vm.gpu).free_until_s(age_s, self.estimates.stop.seconds) - age_s
            if paid_s >= 1:
                until += paid_s
                reason = f"kept until {clock_time(until)}: it is paid for until then"
        escrow_usd = max(vm.escrow_usd, self._book.promised_usd(vm.id))
        return vm.becomes(deadline_at=until, reason=reason, escrow_usd=escrow_usd)

    # Its life.

    def begin(self, vm: VMInstance) -> Machine:
        """Lease a VM that is in the book already."""
        machine = self._take_in(vm)
        self._spawn(self._boot(machine, known=False))
        return machine

    def resume(self, vm: VMInstance) -> Machine:
        """Go on with a VM after a restart, from the state that the store has."""
        machine = self._take_in(vm)
        self._book.restore(vm.id, vm.escrow_usd)
        if vm.state is VMState.PROVISIONING:
            self._spawn(self._boot(machine, known=True))
        elif vm.state is VMState.SHUTTING_DOWN:
            machine.going = True
            self._spawn(self._end(machine))
        else:
            self._spawn(self._watch(machine))
        return machine

    def release(self, machine: Machine, reason: str, *, failed: bool = False) -> None:
        """Have it ended; what runs on it is lost. Asked for twice, it is done once."""
        if machine.going:
            return
        machine.going = True
        self._spawn(self._shut_down(machine, reason, failed=failed))

    def offer(self, machine: Machine) -> None:
        """It may be free now, or have a new deadline."""
        self.free.offer(machine)
        self.deadlines.note(machine)
        self._changed()

    def free_the_deserted(self) -> None:
        """VMs can be used from now on; one that the store has as busy, with nothing on it, is idle."""
        now = self._clock.now()
        for machine in self.machines.values():
            if machine.vm.state is VMState.BUSY and not machine.running:
                machine.vm = self.idled(machine.vm.becomes(state=VMState.IDLE), now)
            self.offer(machine)

    def _take_in(self, vm: VMInstance) -> Machine:
        machine = Machine(vm=vm, slots=self.provider.slots(vm.gpu))
        self.machines[vm.id] = machine
        return machine

    async def _boot(self, machine: Machine, *, known: bool) -> None:
        """From asked for to ready, or to its end."""
        vm = machine.vm
        if not known:
            await self._journal.write(vms.save, vm)
        left_s = vm.created_at + self._settings.provision_timeout_s - self._clock.now()
        try:
            async with asyncio.timeout(max(0.0, left_s)):
                steps = self.provider.provision(vm.id, vm.gpu, self._token_of(vm.id))
                async with contextlib.aclosing(steps):  # type: ignore[type-var]  # every one is a generator
                    async for lease in steps:
                        if machine.going:
                            return None
                        await self._note_phase(machine, lease)
                await self._until_it_answers(machine)
        except TimeoutError:
            return self._give_up(
                machine, f"it did not answer within {self._settings.provision_timeout_s:.0f} s"
            )
        except WarmfrontError as error:
            return self._give_up(machine, error.message)
        except Exception as error:
            log.exception("booting VM %s failed", vm.id)
            return self._give_up(machine, repr(error))
        if machine.going:
            return None
        now = self._clock.now()
        self.estimates.boot.observe(now - vm.created_at)
        async with machine.writing:
            machine.vm = self.idled(machine.vm.becomes(state=VMState.WARM, ready_at=now), now)
            await self._journal.write(vms.save, machine.vm)
        log.info("VM %s is ready after %.1f s", vm.id, now - vm.created_at)
        self._spawn(self._watch(machine))
        self.offer(machine)
        return None

    def _give_up(self, machine: Machine, reason: str) -> None:
        log.warning("VM %s did not come: %s", machine.vm.id, reason)
        self._boot_failed(reason)
        self.release(machine, reason, failed=True)

    async def _note_phase(self, machine: Machine, lease: Lease) -> None:
        if lease.phase is Phase.ENDED:
            raise ProviderError(f"The VM ended while it booted. {lease.detail}".strip())
        if lease.started_at != machine.vm.started_at or lease.address != machine.vm.address:
            await self.move(machine, started_at=lease.started_at, address=lease.address)
        vm = machine.vm
        if vm.boots_for is None:
            return
        elapsed_s = self._clock.now() - vm.created_at
        progress = Provisioning(
            vm_state=COLD_START,
            vm_id=vm.id,
            phase=lease.phase.value,
            elapsed_s=round(elapsed_s, 3),
            eta_s=round(max(0.0, self.estimates.boot.seconds - elapsed_s), 1),
        )
        await self._journal.tell_waiting(vm.boots_for, progress)

    async def _until_it_answers(self, machine: Machine) -> None:
        while True:
            try:
                await self._listeners.heartbeat(machine.vm)
            except VMUnreachable:
                lease = await self.provider.describe(machine.vm.id)
                if lease is None or lease.phase is Phase.ENDED:
                    raise ProviderError("The VM ended before its listener answered.") from None
                await self.follow_address(machine, lease)
                await asyncio.sleep(_KNOCK_S)
            else:
                return

    async def _watch(self, machine: Machine) -> None:
        """Heartbeats for as long as it is ours; a VM that answers none for too long is lost."""
        heard_at = self._clock.now()
        while not machine.going:
            try:
                await self._listeners.heartbeat(machine.vm)
                heard_at = self._clock.now()
            except VMUnreachable:
                if self._clock.now() - heard_at >= self._settings.lost_after_s or await self.has_ended(
                    machine
                ):
                    self.release(machine, "it answers no more", failed=True)
                    return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(machine.gone.wait(), self._settings.heartbeat_s)

    async def has_ended(self, machine: Machine) -> bool:
        """Whether its provider knows that it is gone; no answer is no."""
        try:
            lease = await self.provider.describe(machine.vm.id)
        except WarmfrontError:
            return False
        if lease is None or lease.phase is Phase.ENDED:
            return True
        await self.follow_address(machine, lease)
        return False

    async def follow_address(self, machine: Machine, lease: Lease) -> None:
        """Whoever is reached through a tunnel has another address when that is opened anew."""
        if lease.address is not None and lease.address != machine.vm.address:
            await self.move(machine, address=lease.address)

    # Its end.

    async def _shut_down(self, machine: Machine, reason: str, *, failed: bool) -> None:
        log.info("VM %s is released: %s", machine.vm.id, reason)
        # Failed VMs are told from released ones by their reason until the end is confirmed.
        await self.move(
            machine,
            state=VMState.SHUTTING_DOWN,
            reason=f"{_FAILED}{reason}" if failed else reason,
            deadline_at=None,
        )
        await self._end(machine)

    async def _end(self, machine: Machine) -> None:
        """Ask until the provider confirms, then close the books.

        What ran on it is lost only now: a VM that cannot be reached may still be at work, and no submission
        may run twice at once.
        """
        asked_at = self._clock.now()
        lease = await self._confirmed_end(machine.vm.id)
        self.estimates.stop.observe(min(self._clock.now() - asked_at, self._settings.stop_lag_s))
        async with machine.writing:
            tracks = list(machine.running.values())
            vm, entries = self._closed(machine, lease)
            total = await self._journal.write(
                _store_end, vm, entries, [t.attempt.id for t in tracks if t.attempt]
            )
            machine.vm = vm
            machine.running.clear()
        self._book.settle(vm.id, total)
        del self.machines[vm.id]
        machine.gone.set()
        self._lost(tracks)
        self._changed()

    async def _confirmed_end(self, vm_id: str) -> Lease:
        pause_s = _RETRY_S
        while True:
            try:
                async with asyncio.timeout(_RELEASE_TRY_S):
                    return await self.provider.release(vm_id)
            except Exception as error:  # noqa: BLE001 - whatever it is, a VM that is not ended costs money
                log.warning("VM %s could not be ended, trying again: %r", vm_id, error)
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, _LONGEST_RETRY_S)

    def _closed(self, machine: Machine, lease: Lease) -> tuple[VMInstance, list[LedgerEntry]]:
        """The VM as it is over, and its last entries, up to the end that its provider has on record."""
        vm = machine.vm
        ended_at = lease.ended_at if lease.ended_at is not None else self._clock.now()
        if lease.started_at is not None:
            vm = vm.becomes(started_at=lease.started_at)
        served = next(iter(machine.running.values()), None)
        vm, entries = meter.settle(
            vm,
            self.provider.billing(vm.gpu),
            ended_at,
            worked=served is not None,
            submission_id=served.id if served else None,
            owner=served.owner if served else None,
        )
        failed = vm.reason.startswith(_FAILED)
        return vm.becomes(
            state=VMState.FAILED if failed else VMState.TERMINATED,
            reason=vm.reason.removeprefix(_FAILED),
            ended_at=ended_at,
            deadline_at=None,
        ), entries

    async def move(self, machine: Machine, **changes: object) -> None:
        """Change a VM and store it."""
        async with machine.writing:
            machine.vm = machine.vm.becomes(**changes)
            await self._journal.write(vms.save, machine.vm)


#: Marks the reason of a VM that ends because it failed.
_FAILED = "failed: "


def _store_end(c: Connection, vm: VMInstance, entries: list[LedgerEntry], lost: list[str]) -> Decimal:
    """The end of a VM in one transaction; what it came to, over its whole life."""
    vms.save(c, vm)
    ledger.add(c, entries)
    for attempt_id in lost:
        attempts.lose(c, attempt_id, vm.ended_at or vm.created_at, vm.reason)
    return ledger.total_of_vm(c, vm.id)
