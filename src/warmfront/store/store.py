"""The store of everything that must survive a crash, with one named method per transition or query.

Each transition is one transaction. It passes the stored event to the event bus and returns it. This is the
only place where events are published, and only after they are committed. SQLAlchemy does not appear in any
signature.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol

from warmfront.store import (
    account_queries,
    attempt_queries,
    audit_queries,
    event_queries,
    ledger_queries,
    operator_queries,
    report_queries,
    submission_queries,
    vm_queries,
)
from warmfront.store.account_store import AccountStore
from warmfront.store.database import RetryingDatabase
from warmfront.store.records import AttemptOutcome
from warmfront.store.share_store import ShareStore
from warmfront.store.team_store import TeamStore

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from warmfront.audit_chain import Actor, AuditEntry, AuditRecord, ChainCheck
    from warmfront.roles import Role
    from warmfront.store.attempt_queries import FinishEvent
    from warmfront.store.database import Database
    from warmfront.store.records import (
        ApiKey,
        Arrival,
        AttemptRecord,
        CostReport,
        LatencyQuantiles,
        LedgerEntry,
        Meter,
        OperationsReport,
        ProblemStatistics,
        RecoveredState,
        ReplayReport,
        RunningAttempt,
        StoredEvent,
        SubmissionPage,
        Totals,
    )
    from warmfront.submission import NewSubmission, Submission, SubmittedSource
    from warmfront.usage_limits import DailyCaps, DailySpending, Quota
    from warmfront.vm import VMInstance

_NOTHING = Decimal(0)


class EventPublisher(Protocol):
    """The receiver of committed events."""

    def publish(self, event: StoredEvent) -> None:
        """Pass an event to its subscribers."""

    def notify(self) -> None:
        """Notify the subscribers that watch the whole service of a change."""


class Store:
    """Named transactions and queries on a database.

    Args:
        database: runs the queries.
        bus: receives every event after its commit; None without subscribers.

    Raises:
        StoreUnavailable: from every method, if the database cannot be used. Nothing was written.

    Example:
        >>> store = await open_store(settings, bus=bus)
        >>> event = await store.admit(submission_id, xray.fields(), clock.now())
    """

    def __init__(self, database: Database, bus: EventPublisher | None = None) -> None:
        self.database = database
        self.accounts = AccountStore(database)  #: users, sessions and invitations
        self.shares = ShareStore(database)  #: shared submissions and X-rays
        self.teams = TeamStore(database)  #: teams and their assignments
        self._bus = bus

    def retrying(self) -> Store:
        """Return a store that waits until the database is available instead of raising an error."""
        return Store(RetryingDatabase(self.database), self._bus)

    async def close(self) -> None:
        """Finish pending writes and close the database."""
        await self.database.close()

    async def ping(self) -> None:
        """Check that the database responds."""
        await self.database.read(report_queries.ping)

    async def check_lock(self) -> None:
        """Check that this service may still write. This also keeps the lock from timing out.

        Raises:
            Superseded: another service has taken over.
        """
        await self.database.write(report_queries.ping)

    # Transitions of submissions.

    async def create_submission(
        self,
        new: NewSubmission,
        fields: dict[str, Any],
        *,
        quotas: Sequence[Quota] = (),
        caps: DailyCaps | None = None,
        expected_usd: Decimal = _NOTHING,
        pays_boot: bool = False,
    ) -> tuple[Submission, StoredEvent | None]:
        """Check idempotency key, quotas and daily caps, and store a submission with its first event.

        Args:
            new: the submission.
            fields: its first event.
            quotas: the quotas of its owner.
            caps: the daily caps of its owner.
            expected_usd: the quoted cost, which counts against the caps until the submission is completed.
            pays_boot: whether the quote included the boot of a VM.

        Returns:
            The submission and its first event. The event is None if the same owner already sent this request
            with this idempotency key; it is not counted again.

        Raises:
            Conflict: the idempotency key was used for a different request.
            QuotaExceeded: a quota of the owner is used up.
            BudgetExceeded: it would exceed a daily cap.
        """
        submission, event = await self.database.write(
            submission_queries.create,
            new,
            fields,
            quotas=quotas,
            caps=caps,
            expected_usd=expected_usd,
            pays_boot=pays_boot,
        )
        self._publish(event)
        return submission, event

    async def admit(self, submission_id: str, fields: dict[str, Any], now: float) -> StoredEvent | None:
        """Move a submission from the X-ray queue to the queue; None if it is in another state."""
        return self._publish(await self.database.write(event_queries.admit, submission_id, fields, now))

    async def append_event(
        self, submission_id: str, fields: dict[str, Any], now: float
    ) -> StoredEvent | None:
        """Add an event of the control plane; None if the submission has its verdict."""
        return self._publish(await self.database.write(event_queries.append, submission_id, fields, now))

    async def append_event_if_queued(
        self, submission_id: str, fields: dict[str, Any], now: float
    ) -> StoredEvent | None:
        """Add an event of the control plane; None unless the submission waits for a VM."""
        return self._publish(
            await self.database.write(event_queries.append_if_queued, submission_id, fields, now)
        )

    async def begin_attempt(
        self,
        attempt: AttemptRecord,
        fields: dict[str, Any],
        *,
        vm: VMInstance,
        entries: Sequence[LedgerEntry],
        cold: bool,
        expected_usd: Decimal = _NOTHING,
        caps: DailyCaps | None = None,
    ) -> StoredEvent | None:
        """Assign a queued submission to an attempt on `vm`; None, and nothing stored, if it is not queued.

        `expected_usd` is the expected cost of the attempt itself. Raises `BudgetExceeded` if it, or a boot
        charged in `entries`, would exceed one of the owner's daily caps.
        """
        return self._publish(
            await self.database.write(
                attempt_queries.begin_attempt,
                attempt,
                fields,
                vm=vm,
                entries=entries,
                cold=cold,
                expected_usd=expected_usd,
                caps=caps,
            )
        )

    async def report(
        self, attempt: AttemptRecord, seq: int, fields: dict[str, Any], now: float
    ) -> StoredEvent | None:
        """Add an event that the live attempt reported; None for a duplicate or a stale attempt."""
        return self._publish(
            await self.database.write(
                event_queries.report, attempt.submission_id, fields, now, attempt_id=attempt.id, seq=seq
            )
        )

    async def complete_attempt(
        self,
        attempt: AttemptRecord,
        fields: dict[str, Any],
        now: float,
        *,
        seq: int | None,
        vm: VMInstance,
        entries: Sequence[LedgerEntry],
        finish_event: FinishEvent | None = None,
    ) -> StoredEvent | None:
        """Store an attempt's verdict with its cost, and the VM's new state.

        `finish_event` receives the verdict with its cost, and returns the fields to store.
        """
        return self._publish(
            await self.database.write(
                attempt_queries.complete_attempt,
                attempt,
                fields,
                now,
                seq=seq,
                vm=vm,
                entries=entries,
                finish_event=finish_event,
            )
        )

    async def complete(self, submission_id: str, fields: dict[str, Any], now: float) -> StoredEvent | None:
        """Store a verdict of the control plane; None if the submission already has one."""
        return self._publish(await self.database.write(attempt_queries.complete, submission_id, fields, now))

    async def lose_attempt(
        self,
        attempt: AttemptRecord,
        now: float,
        reason: str,
        *,
        vm: VMInstance,
        entries: Sequence[LedgerEntry],
        outcome: AttemptOutcome = AttemptOutcome.LOST,
    ) -> None:
        """Return an attempt's submission to the queue, and store the VM's new state."""
        await self.database.write(
            attempt_queries.lose_attempt, attempt, now, reason, vm=vm, entries=entries, outcome=outcome
        )
        self._notify()

    async def lose_orphan(self, attempt_id: str, now: float, reason: str) -> None:
        """Return an attempt's submission to the queue after its VM has ended."""
        await self.database.write(attempt_queries.lose, attempt_id, now, reason)
        self._notify()

    async def request_cancel(
        self, submission_id: str, *, record: AuditRecord | None = None, now: float = 0.0
    ) -> Submission | None:
        """Record the request to cancel a submission, and return it; `record` is an operator's action.

        None if there is no such submission.
        """
        if record is None:
            submission = await self.database.write(submission_queries.request_cancel, submission_id)
        else:
            submission = await self.database.write(
                operator_queries.request_cancel, submission_id, record, now
            )
        self._notify()
        return submission

    # Transitions of VMs.

    async def save_vm(self, vm: VMInstance) -> None:
        """Store a VM after a transition that changes nothing else."""
        await self.database.write(vm_queries.save, vm)
        self._notify()

    async def save_vm_by_operator(self, vm: VMInstance, record: AuditRecord, now: float) -> None:
        """Store a VM and the operator's action that changed it."""
        await self.database.write(operator_queries.save_vm, vm, record, now)
        self._notify()

    async def save_vm_report(self, vm: VMInstance) -> None:
        """Store the report of a VM's listener about its GPUs and their health."""
        await self.database.write(vm_queries.save_report, vm)
        self._notify()

    async def end_vm(
        self,
        vm: VMInstance,
        entries: Sequence[LedgerEntry],
        attempt_ids: Sequence[str],
        *,
        outcome: AttemptOutcome = AttemptOutcome.LOST,
    ) -> Decimal:
        """Store a VM's confirmed end and return the submissions on it to the queue; return its total cost."""
        total_usd = await self.database.write(
            attempt_queries.end_vm, vm, entries, attempt_ids, outcome=outcome
        )
        self._notify()
        return total_usd

    # Quotas, alerts and API keys.

    async def consume_quota(self, user: str, now: float, quotas: Sequence[Quota]) -> None:
        """Count one use of every quota, or raise `QuotaExceeded` and count none."""
        await self.database.write(account_queries.consume_quotas, user, now, quotas)

    async def spent_today(self, user: str, team: str | None, now: float) -> DailySpending:
        """Return today's actual and expected spending (UTC) of a user, their team and the service."""
        return await self.database.read(ledger_queries.spent_today, user, team, now)

    async def mark_once(self, name: str, now: float) -> bool:
        """Set a named mark; return whether it was new."""
        return await self.database.write(account_queries.mark_once, name, now)

    async def active_alerts(self) -> dict[str, str]:
        """Return the active alerts, by their key."""
        return await self.database.read(account_queries.marks_with_prefix, account_queries.ALERT_MARK)

    async def save_alert(self, key: str, alert: str | None, now: float) -> None:
        """Store an active alert; None when it is resolved."""
        await self.database.write(account_queries.save_alert, key, alert, now)

    async def mark_budget_alert(self, key: str, now: float) -> bool:
        """Record that the budget alert is sent for a threshold and credits; return False if it was before."""
        return await self.mark_once(f"{account_queries.BUDGET_ALERT_MARK}{key}", now)

    async def budget_alerts(self) -> set[str]:
        """Return the thresholds and credits for which the budget alert was sent."""
        prefix = account_queries.BUDGET_ALERT_MARK
        return set(await self.database.read(account_queries.marks_with_prefix, prefix))

    async def delete_budget_alerts(self) -> None:
        """Delete the records of sent budget alerts, so that each can be sent again."""
        await self.database.write(account_queries.delete_marks, account_queries.BUDGET_ALERT_MARK)

    async def save_intake(self, state: str, record: AuditRecord, now: float) -> None:
        """Store the state of the intake, which an operator changed."""
        await self.database.write(operator_queries.save_intake, state, record, now)
        self._notify()

    async def save_limits(self, texts: Mapping[str, str | None], record: AuditRecord, now: float) -> None:
        """Store settings that an operator changed at run time, by field; None for the configured value."""
        await self.database.write(operator_queries.save_limits, texts, record, now)
        self._notify()

    async def save_breaker(self, gpu: str, record: str, now: float) -> None:
        """Store the record of the circuit breaker of a GPU type; empty if it is closed."""
        await self.database.write(account_queries.save_breaker, gpu, record, now)

    async def owner_id(self, new_id: str, now: float) -> str:
        """Return the owner id of this database; store `new_id` as the owner id if there is none yet."""
        return await self.database.write(account_queries.owner_id, new_id, now)

    async def save_secret_fingerprint(self, fingerprint: str, now: float) -> None:
        """Store the fingerprint of the secret that the active service uses."""
        await self.database.write(account_queries.put_mark, account_queries.SECRET_MARK, fingerprint, now)

    async def secret_fingerprint(self) -> str | None:
        """Return the fingerprint of the active service's secret; None if no service has stored one."""
        return await self.database.read(account_queries.get_mark, account_queries.SECRET_MARK)

    async def find_owner_id(self) -> str | None:
        """Return the owner id of this database; None if no service has used it yet."""
        return await self.database.read(account_queries.get_mark, account_queries.OWNER_MARK)

    async def create_key(
        self, user: str, role: Role, now: float, *, by: Actor, team: str | None = None
    ) -> tuple[ApiKey, str]:
        """Create an API key; return it with its secret, which cannot be retrieved later."""
        return await self.database.write(operator_queries.create_key, user, role, now, team=team, by=by)

    async def find_key(self, secret: str) -> ApiKey | None:
        """Return the active key with this secret."""
        return await self.database.read(account_queries.find_key, secret)

    async def list_keys(self) -> list[ApiKey]:
        """Return every key, revoked ones included, oldest first."""
        return await self.database.read(account_queries.all_keys)

    async def revoke_key(self, key_id: str, now: float, *, by: Actor) -> bool:
        """Revoke a key; return False if there is no active key with this id."""
        return await self.database.write(operator_queries.revoke_key, key_id, now, by=by)

    async def has_active_key(self) -> bool:
        """Return whether there is a key that is not revoked."""
        return await self.database.read(account_queries.any_active_key)

    async def has_any_key(self) -> bool:
        """Return whether a key was ever created, even if it is revoked now."""
        return await self.database.read(account_queries.any_key)

    async def active_key_ids(self) -> frozenset[str]:
        """Return the ids of the keys that are not revoked."""
        return await self.database.read(account_queries.active_key_ids)

    # The audit log.

    async def append_audit(self, record: AuditRecord, now: float) -> AuditEntry:
        """Append an entry to the audit log, and return it."""
        return await self.database.write(audit_queries.append, record, now)

    async def audit_page(
        self,
        *,
        before_seq: int | None = None,
        limit: int = 50,
        actor: str | None = None,
        action: str | None = None,
        subject: str | None = None,
    ) -> list[AuditEntry]:
        """Return at most `limit` entries of the audit log older than `before_seq`, newest first."""
        return await self.database.read(
            audit_queries.page,
            before_seq=before_seq,
            limit=limit,
            actor=actor,
            action=action,
            subject=subject,
        )

    async def check_audit(self) -> ChainCheck:
        """Check the hash chain of the whole audit log."""
        return await self.database.read(audit_queries.check)

    # Queries on submissions.

    async def get_submission(self, submission_id: str) -> Submission | None:
        """Return the submission with this id."""
        return await self.database.read(submission_queries.get, submission_id)

    async def get_source(self, submission_id: str) -> SubmittedSource:
        """Return a submission's source, with the problem, own cases and launch sent with it."""
        return await self.database.read(submission_queries.source, submission_id)

    async def get_submission_and_verdict(
        self, submission_id: str
    ) -> tuple[Submission | None, StoredEvent | None]:
        """Return a submission and its terminal event, or None before its verdict."""
        return await self.database.read(report_queries.submission_and_verdict, submission_id)

    async def list_submissions(
        self,
        *,
        owner: str | None = None,
        state: str | None = None,
        verdict: str | None = None,
        problem: str | None = None,
        endpoint: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> SubmissionPage:
        """Return one page of submissions, newest first; a malformed cursor raises `BadRequest`."""
        return await self.database.read(
            submission_queries.page,
            owner=owner,
            state=state,
            verdict=verdict,
            problem=problem,
            endpoint=endpoint,
            limit=limit,
            cursor=cursor,
        )

    async def read_events(
        self, submission_id: str, after_id: int, limit: int
    ) -> tuple[list[StoredEvent], int | None] | None:
        """Return at most `limit` events after the id `after_id`, and the id of the verdict if there is one.

        None if there is no such submission.
        """
        return await self.database.read(event_queries.batch, submission_id, after_id, limit)

    async def arrivals(self, latest: int) -> list[Arrival]:
        """Return the latest arrivals that got a VM, oldest first."""
        return await self.database.read(submission_queries.arrivals, latest)

    async def problem_statistics(self, user: str) -> dict[str, ProblemStatistics]:
        """Return, by problem, how often and how fast it was solved."""
        return await self.database.read(report_queries.problem_statistics, user)

    async def leaderboard(self, problem: str) -> list[tuple[Submission, StoredEvent | None]]:
        """Return the fastest accepted submission per user and GPU, each with its verdict."""
        return await self.database.read(report_queries.leaderboard, problem)

    # Queries on VMs and costs.

    async def recovered_state(self, arrivals: int) -> RecoveredState:
        """Return everything that an orchestrator needs to continue after a restart."""
        return await self.database.read(report_queries.recovered_state, arrivals)

    async def changed_limits(self) -> dict[str, str]:
        """Return the settings that were changed at run time, by field."""
        return await self.database.read(account_queries.marks_with_prefix, operator_queries.LIMIT_MARK)

    async def get_vm(self, vm_id: str) -> VMInstance | None:
        """Return the VM with this id."""
        return await self.database.read(vm_queries.get, vm_id)

    async def vm_cost_usd(self, vm_id: str) -> Decimal:
        """Return the cost of a VM in the ledger."""
        return await self.database.read(ledger_queries.total_of_vm, vm_id)

    async def recent_vms(
        self,
    ) -> tuple[list[tuple[VMInstance, dict[Meter, Decimal]]], list[RunningAttempt]]:
        """Return the live VMs and the most recent others, newest first, with costs and running attempts."""
        return await self.database.read(report_queries.recent_vms_and_attempts)

    async def vm_with_entries(
        self, vm_id: str
    ) -> tuple[VMInstance | None, list[LedgerEntry], list[RunningAttempt]]:
        """Return a VM with its ledger entries, and the running attempts."""
        return await self.database.read(report_queries.vm_with_entries, vm_id)

    async def ended_vms(self, provider: str) -> list[tuple[VMInstance, Decimal]]:
        """Return the VMs of a provider that ended most recently, each with its cost."""
        return await self.database.read(report_queries.ended_vms, provider)

    async def spent_since(self, since: float) -> Decimal:
        """Return the cost of all intervals that began at `since` or later."""
        return await self.database.read(ledger_queries.total_since, since)

    async def totals(self) -> Totals:
        """Return the counts of the whole service."""
        return await self.database.read(report_queries.totals)

    async def totals_and_latencies(
        self, since: float
    ) -> tuple[Totals, dict[str, LatencyQuantiles], dict[str, Decimal]]:
        """Return totals, latencies, and dollars per day from the day of `since`."""
        return await self.database.read(report_queries.totals_and_latencies, since)

    async def costs(self, user: str, *, today: float, since: float, history_since: float) -> CostReport:
        """Return costs by VM, meter and day."""
        return await self.database.read(
            report_queries.costs, user, today=today, since=since, history_since=history_since
        )

    async def operations(self, *, since: float, days_since: float) -> OperationsReport:
        """Return the figures of the operations page."""
        return await self.database.read(report_queries.operations, since=since, days_since=days_since)

    async def arrivals_and_boots(self, latest: int) -> tuple[list[float], list[float]]:
        """Return arrival times of submissions that got a VM, and provisioning times of recent VMs."""
        return await self.database.read(report_queries.arrivals_and_boots, latest)

    async def completed_since(self, since: float) -> int:
        """Return how many submissions that arrived at `since` or later were judged on a VM."""
        return await self.database.read(report_queries.completed_since, since)

    async def replay_report(self, *, since: float, begin: float, end: float) -> ReplayReport:
        """Return the results of a replay."""
        return await self.database.read(report_queries.replay_report, since=since, begin=begin, end=end)

    # Publishing.

    def _publish(self, event: StoredEvent | None) -> StoredEvent | None:
        """Pass a committed event to the bus."""
        if event is not None and self._bus is not None:
            self._bus.publish(event)
        return event

    def _notify(self) -> None:
        if self._bus is not None:
            self._bus.notify()
