"""The invariants of a world after every step, and when it has become quiescent.

The checks compare cloud, VMs and store, and do not trust the orchestrator.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Protocol

from sqlalchemy import select

from warmfront.gpus import CPU_NODE
from warmfront.money.billing import CENT
from warmfront.store import (
    attempt_queries,
    event_queries,
    ledger_queries,
    schema,
    submission_queries,
    vm_queries,
)
from warmfront.store.records import AttemptOutcome, Meter
from warmfront.submission import SubmissionState
from warmfront.testing.fake_listeners import WATCHDOG_EXPIRED
from warmfront.verdicts import KERNELS_FAULT, Endpoint, Verdict, is_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Connection

    from tests.support.world.author import Author
    from tests.support.world.scenario import Scenario
    from warmfront.clock import Clock
    from warmfront.money.escrow import BudgetStatus
    from warmfront.store.memory_database import MemoryDatabase
    from warmfront.store.records import AttemptRecord, LedgerEntry
    from warmfront.submission import Submission
    from warmfront.testing.fake_listeners import FakeListeners
    from warmfront.testing.fake_provider import FakeProvider, FakeVM
    from warmfront.vm import VMInstance

#: One attempt, and two retries if infrastructure loses it. One more if a spot VM was preempted, and one
#: more if a CPU node could not judge it.
_MAX_ATTEMPTS = 3
#: Outcomes after which an attempt is repeated.
_REPEATED = {AttemptOutcome.LOST, AttemptOutcome.PREEMPTED, AttemptOutcome.NEEDS_GPU}
#: Outcomes after which only the VM pool is charged for the attempt.
_UNCHARGED = {*_REPEATED, AttemptOutcome.INTERRUPTED}
_QUEUED = "SELECT count(*) FROM submissions WHERE state = 'QUEUED'"
#: Counts the queued submissions that may also run on a spot VM.
_QUEUED_FOR_SPOT = (
    "SELECT count(*) FROM submissions WHERE state = 'QUEUED'"
    " AND id NOT IN (SELECT submission_id FROM attempts WHERE outcome = 'PREEMPTED')"
)
#: Selects the submissions that wait for a CPU node, if there are CPU nodes.
_FOR_CPU_NODE = (
    "(endpoint = 'checker' AND id NOT IN (SELECT submission_id FROM attempts WHERE outcome = 'NEEDS_GPU'))"
)
#: How far the stored end of a spot VM may be from the cloud's own.
_END_TOLERANCE_S = 1.0


class ObservedOrchestrator(Protocol):
    """The part of an orchestrator that is checked."""

    def pool(self) -> list[VMInstance]:
        """Return its VMs."""

    def budget_status(self) -> BudgetStatus:
        """Return the orchestrator's own account of the credits."""


class Invariants:
    """The invariants of the control plane."""

    def __init__(
        self,
        *,
        scenario: Scenario,
        provider: FakeProvider,
        listeners: FakeListeners,
        database: MemoryDatabase,
        clock: Clock,
        report_violation: Callable[[str], None],
    ) -> None:
        """Call `report_violation` for every violation."""
        self._scenario = scenario
        self._settings = scenario.settings
        self._provider = provider
        self._listeners = listeners
        self._database = database
        self._clock = clock
        self._report_violation = report_violation
        self._wasted_since: float | None = None
        self.alerts = 0
        self.steps = 0
        provider.on_create = self._on_create

    # After every step.

    def after_step(self, orchestrator: ObservedOrchestrator | None) -> None:
        """Check the invariants that hold at any time; `orchestrator` is None while it starts."""
        self.steps += 1
        for overlap in self._listeners.overlaps:
            self._report_violation(overlap)
        alive = self._provider.alive()
        cpu_nodes = sum(vm.gpu == CPU_NODE for vm in alive)
        if len(alive) - cpu_nodes > self._settings.max_vms + self._scenario.zombies:
            self._report_violation(f"{len(alive)} VMs are alive, {self._settings.max_vms} are allowed")
        if cpu_nodes > self._scenario.max_cpu_nodes:
            self._report_violation(f"{cpu_nodes} CPU nodes, {self._scenario.max_cpu_nodes} are allowed")
        spent_usd = self._provider.spent_usd()
        if spent_usd > self._settings.credits_usd:
            self._report_violation(
                f"the cloud's bill is {spent_usd}, the credits are {self._settings.credits_usd}"
            )
        if self.alerts > 1:
            self._report_violation("the budget alert was sent twice")
        if orchestrator is None:
            self._wasted_since = None  # no decisions are made during the start
            return
        self._check_escrow(orchestrator)
        self._check_idle_vms(orchestrator)

    def _check_escrow(self, orchestrator: ObservedOrchestrator) -> None:
        money = orchestrator.budget_status()
        if money.spent_usd + money.reserved_usd > money.credits_usd:
            self._report_violation(
                f"spent {money.spent_usd} and reserved {money.reserved_usd} exceed {money.credits_usd}"
            )
        for vm in orchestrator.pool():
            if vm.id not in self._provider.vms:
                continue
            bill_usd = self._provider.bill_usd(vm.id)
            if bill_usd > vm.escrow_usd:
                self._report_violation(f"{vm.id} costs {bill_usd}, but {vm.escrow_usd} was reserved for it")

    def _check_idle_vms(self, orchestrator: ObservedOrchestrator) -> None:
        """Check that no VM stays free while a submission waits for one."""
        free = [vm for vm in orchestrator.pool() if vm.state.is_free]
        cpu_nodes = [vm for vm in free if vm.gpu == CPU_NODE]
        if not self._waits_for(cpu_nodes) and not self._waits_for([vm for vm in free if vm.gpu != CPU_NODE]):
            self._wasted_since = None
            return
        now = self._clock.now()
        if self._wasted_since is None:
            self._wasted_since = now
        if now - self._wasted_since > self._scenario.patience_s:
            self._report_violation(
                f"for {now - self._wasted_since:.1f} s a VM is free and a submission waits"
            )

    def _waits_for(self, free: list[VMInstance]) -> bool:
        """Return whether a submission waits that one of these VMs, all CPU nodes or none, could judge."""
        if not free:
            return False
        waits = _QUEUED_FOR_SPOT if all(vm.spot for vm in free) else _QUEUED
        if self._scenario.max_cpu_nodes:
            waits += f" AND {_FOR_CPU_NODE}" if free[0].gpu == CPU_NODE else f" AND NOT {_FOR_CPU_NODE}"
        return bool(self._database.count(waits))

    def _on_create(self, vm: FakeVM) -> None:
        """Check that a VM is stored before it is leased, and that all reservations fit into the credits."""
        known = self._database.run(vm_queries.get, vm.id)
        if known is None or known.state.has_ended:
            self._report_violation(f"{vm.id} was leased before it was stored")
        committed_usd = self._database.run(_committed_usd)
        if committed_usd > self._settings.credits_usd:
            self._report_violation(
                f"with {vm.id} {committed_usd} are committed of {self._settings.credits_usd}"
            )

    # At the end.

    def check_quiescent(self, authors: list[Author], alive_in_pool: int) -> None:
        """Check the invariants that hold when the world is quiescent."""
        for vm in self._provider.alive():
            self._report_violation(f"{vm.id} is alive but not needed")
        if alive_in_pool:
            self._report_violation(f"the orchestrator still has {alive_in_pool} VMs, and the cloud none")
        self._compare_bills()
        by_key = {author.planned.kernel.key: author for author in authors}
        for record, key in self._database.run(_all_submissions):
            author = by_key.get(key)
            if author is None:
                self._report_violation(f"{record.id} has no author")
                continue
            for problem in self._of_submission(record, author):
                self._report_violation(f"{record.id} ({key}): {problem}")
        if self._scenario.name == "calm":
            self._check_fairness(authors)

    def _compare_bills(self) -> None:
        for vm_id, vm in self._provider.vms.items():
            if vm_id.startswith("zombie") and vm.detail == WATCHDOG_EXPIRED:
                continue  # its watchdog ended it before the orchestrator found it
            bill_usd = self._provider.bill_usd(vm_id)
            written_usd = self._database.run(ledger_queries.total_of_vm, vm_id)
            stored = self._database.run(vm_queries.get, vm_id)
            if vm.spot and vm.started_at and stored is not None:
                late_s = (stored.ended_at or 0.0) - (vm.ended_at or 0.0)
                if abs(late_s) > _END_TOLERANCE_S:
                    self._report_violation(f"the ledger of spot VM {vm_id} ends {late_s:.1f} s late")
            if abs(bill_usd - written_usd) >= CENT / 2:
                self._report_violation(
                    f"{vm_id} costs {bill_usd} in the provider's bill and {written_usd} in the ledger"
                )
        if strangers := self._database.run(_billed) - set(self._provider.vms):
            self._report_violation(f"the ledger has {strangers}, which the cloud does not know")

    def _of_submission(self, record: Submission, author: Author) -> Iterator[str]:
        if record.state is not SubmissionState.DONE:
            yield f"it remains {record.state}"
            return
        yield from self._of_events(record, author)
        yield from self._of_attempts(record, author)
        yield from self._of_verdict(record, author)
        yield from self._of_charges(record)
        if author.response_s > self._scenario.patience_s:
            yield f"its author waited {author.response_s:.1f} s for the response"

    def _of_events(self, record: Submission, author: Author) -> Iterator[str]:
        events = self._database.run(event_queries.after, record.id, 0, 10_000)
        if [event.id for event in events] != list(range(1, len(events) + 1)):
            yield f"its event ids are {[event.id for event in events]}"
        ends = [event.status for event in events if is_terminal(event.status, Endpoint(record.endpoint))]
        if ends != [record.verdict] or events[-1].status != record.verdict:
            yield f"its verdict is {record.verdict}, its events {[event.status for event in events]}"
        if record.id == author.submission_id and [e.fields for e in author.events] != [
            e.fields for e in events
        ]:
            yield "its author received other events than are stored"

    def _of_attempts(self, record: Submission, author: Author) -> Iterator[str]:
        tries = self._database.run(attempt_queries.of_submission, record.id)
        preempted = sum(attempt.outcome == AttemptOutcome.PREEMPTED for attempt in tries)
        needed_gpu = sum(attempt.outcome == AttemptOutcome.NEEDS_GPU for attempt in tries)
        if max(preempted, needed_gpu) > 1:
            yield f"spot VMs were preempted {preempted} times, CPU nodes could not judge {needed_gpu} times"
        if len(tries) > _MAX_ATTEMPTS + preempted + needed_gpu:
            yield f"it had {len(tries)} attempts"
        if [attempt.number for attempt in tries] != list(range(1, len(tries) + 1)):
            yield f"its attempts are numbered {[attempt.number for attempt in tries]}"
        for attempt in tries[:-1]:
            if attempt.outcome not in _REPEATED:
                yield f"it was retried after {attempt.outcome}"
        if tries:
            yield from self._of_last_attempt(record, tries[-1])
        for attempt in tries:
            yield from self._of_cpu_node(record, attempt)
        runs = [run for run in self._listeners.runs if run.kernel.key == author.planned.kernel.key]
        if self._scenario.is_sound and len(runs) > 1 + preempted + needed_gpu:
            yield f"it was executed {len(runs)} times, and no VM was lost"
        if {run.attempt.id for run in runs} - {attempt.id for attempt in tries}:
            yield "a VM executed an attempt that is not stored"

    def _of_cpu_node(self, record: Submission, attempt: AttemptRecord) -> Iterator[str]:
        """Check that CPU nodes judge only checks, and that exactly their results are simulated."""
        vm = self._provider.vms.get(attempt.vm_id)
        on_cpu_node = vm is not None and vm.gpu == CPU_NODE
        if on_cpu_node and record.endpoint != Endpoint.CHECKER:
            yield f"{attempt.vm_id}, a CPU node, judged it for {record.endpoint}"
        if attempt.outcome == record.verdict == Verdict.CHECKED and record.simulated is not on_cpu_node:
            yield f"simulated is {record.simulated}, and its VM was {attempt.vm_id}"

    @staticmethod
    def _of_last_attempt(record: Submission, last: AttemptRecord) -> Iterator[str]:
        if not last.outcome:
            yield f"attempt {last.id} never ended"
        elif last.outcome in set(KERNELS_FAULT) and last.outcome != record.verdict:
            yield f"the kernel's {last.outcome} became {record.verdict}"

    def _of_charges(self, record: Submission) -> Iterator[str]:
        """Check that a submission is charged for no more than its own attempts and the boot of one VM.

        Lost attempts are not charged.
        """
        charged = self._database.run(_charged_to, record.id)
        if Meter.IDLE in {entry.meter for entry in charged}:
            yield "it is charged for idle time"
        if len({entry.vm_id for entry in charged if entry.meter is Meter.PROVISIONING}) > 1:
            yield "it is charged for more than one boot"
        tries = self._database.run(attempt_queries.of_submission, record.id)
        for vm_id in {attempt.vm_id for attempt in tries}:
            on_vm = [attempt for attempt in tries if attempt.vm_id == vm_id]
            work = [entry for entry in charged if entry.vm_id == vm_id and entry.meter is Meter.WORK]
            if all(attempt.outcome in _UNCHARGED for attempt in on_vm):
                worked_usd = sum((entry.amount_usd for entry in work), Decimal(0))
                if worked_usd:
                    yield f"it is charged {worked_usd} for attempts on {vm_id} that were lost"
                continue
            worked_s = sum(entry.ended_at - entry.started_at for entry in work)
            occupied_s = sum(max(0.0, (attempt.ended_at or 0.0) - attempt.started_at) for attempt in on_vm)
            if worked_s > occupied_s + 0.001:
                yield f"it is charged for {worked_s:.3f} s on {vm_id}, and had {occupied_s:.3f} s"

    def _of_verdict(self, record: Submission, author: Author) -> Iterator[str]:
        verdict = Verdict(str(record.verdict))
        if verdict is author.planned.verdict:
            return
        if verdict is Verdict.CANCELLED:
            yield from self._of_cancelled(record, author)
        elif verdict is Verdict.BUDGET_EXCEEDED:
            if self._scenario.name != "poor":
                yield "the budget was not exceeded"
        elif verdict is not Verdict.ERROR or self._scenario.is_sound:
            yield f"its verdict is {verdict}, not {author.planned.verdict}"

    def _of_cancelled(self, record: Submission, author: Author) -> Iterator[str]:
        if not author.cancelled:
            yield "no one cancelled it"
        for run in self._listeners.runs:
            late = (run.ended_at or 0.0) > (record.finished_at or 0.0)
            if run.kernel.key == author.planned.kernel.key and late:
                yield f"attempt {run.attempt.id} continued after it was cancelled"

    def _check_fairness(self, authors: list[Author]) -> None:
        """Check that an author who floods the queue delays a single submission by at most one round."""
        bound = max(self._settings.max_vms, self._scenario.max_cpu_nodes) * self._scenario.slots + 2
        begun = {run.kernel.key: run.started_at for run in self._listeners.runs}
        checks = {run.kernel.key for run in self._listeners.runs if run.attempt.endpoint == Endpoint.CHECKER}
        if not self._scenario.max_cpu_nodes:
            checks = set()  # all wait for the same VMs
        for author in authors:
            key = author.planned.kernel.key
            if author.planned.owner == "flood" or key not in begun:
                continue
            admitted_at = next(event.time for event in author.events if event.status == "XRAY")
            before = [
                other
                for other, at in begun.items()
                if other.startswith("flood")
                and (other in checks) is (key in checks)
                and admitted_at < at < begun[key]
            ]
            if len(before) > bound:
                self._report_violation(f"{len(before)} submissions of the flood were started before {key}")


def _committed_usd(conn: Connection) -> Decimal:
    """Return the stored commitments: the cost of ended VMs and the reservations of the others."""
    alive = vm_queries.live(conn)
    metered = sum((ledger_queries.total_of_vm(conn, vm.id) for vm in alive), Decimal(0))
    return ledger_queries.total_usd(conn) - metered + sum((vm.escrow_usd for vm in alive), Decimal(0))


def _charged_to(conn: Connection, submission_id: str) -> list[LedgerEntry]:
    """Return the ledger entries that are charged to a submission."""
    return [
        entry
        for entry in ledger_queries.within(conn, float("-inf"), float("inf"))
        if entry.submission_id == submission_id
    ]


def _billed(conn: Connection) -> set[str]:
    """Return the VMs that have ledger entries."""
    rows = schema.ledger.c
    return {vm_id for (vm_id,) in conn.execute(select(rows.vm_id).where(rows.amount_usd != Decimal(0)))}


def _all_submissions(conn: Connection) -> list[tuple[Submission, str]]:
    """Return every submission with the key of its kernel."""
    pairs = []
    for (submission_id,) in conn.execute(select(schema.submissions.c.id)).all():
        record = submission_queries.get(conn, submission_id)
        source = submission_queries.source(conn, submission_id)
        assert record is not None
        pairs.append((record, source.code.split()[1]))
    return pairs
