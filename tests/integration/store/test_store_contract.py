"""The contract of a store: every transition has the same effect on SQLite, PostgreSQL and in memory."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from tests.support.databases import KINDS
from tests.support.store_samples import IN_QUEUE, VM_READY, XRAY, new_submission
from warmfront.errors import Conflict
from warmfront.store.memory_database import MemoryDatabase
from warmfront.store.records import AttemptRecord, LedgerEntry, Meter, StoredEvent
from warmfront.store.sql_database import open_store
from warmfront.store.store import Store
from warmfront.submission import SubmissionState
from warmfront.usage_limits import Quota, QuotaExceeded
from warmfront.vm import VMInstance, VMState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from warmfront.settings import Settings
    from warmfront.submission import Submission

    Scenario = Callable[[Store], Awaitable[None]]

VM = VMInstance(id="vm1", provider="local", gpu="MI300X", state=VMState.IDLE, created_at=1.0)
BUSY = replace(VM, state=VMState.BUSY)
ENDED = replace(VM, state=VMState.TERMINATED, ended_at=2000.0)
ATTEMPT = AttemptRecord(id="a1", submission_id="s1", vm_id="vm1", number=1, started_at=1001.0)
SECOND = replace(ATTEMPT, id="a2", number=2)
CHECKING = {"status": "CHECKING", "total_tests": 1}
CHECKED = {"status": "CHECKED", "passed_tests": 1, "total_tests": 1}


class RecordingBus:
    """A bus that keeps the published events."""

    def __init__(self) -> None:
        self.statuses: list[str] = []

    def publish(self, event: StoredEvent) -> None:
        """Keep the status of the event."""
        self.statuses.append(event.status)

    def notify(self) -> None:
        """Ignore changes without an event."""


@pytest.fixture(params=[*KINDS, "memory"])
def run(request: pytest.FixtureRequest) -> Callable[[Scenario], RecordingBus]:
    """Return a function that runs a scenario on an empty store of each kind and returns the store's bus."""

    async def with_store(scenario: Scenario, settings: Settings | None) -> RecordingBus:
        bus = RecordingBus()
        if settings is None:
            store = Store(MemoryDatabase(), bus)
        else:
            store = Store((await open_store(settings)).database, bus)
        try:
            await scenario(store)
        finally:
            await store.close()
        return bus

    if request.param == "memory":
        return lambda scenario: asyncio.run(with_store(scenario, None))
    settings: Settings = request.getfixturevalue(f"{request.param}_database")
    return lambda scenario: asyncio.run(with_store(scenario, settings))


async def get(store: Store) -> Submission:
    """Return the submission `s1`."""
    submission = await store.get_submission("s1")
    assert submission is not None
    return submission


async def queue(store: Store) -> None:
    """Create and admit the submission `s1`, and store the VM."""
    await store.create_submission(new_submission(), IN_QUEUE)
    await store.admit("s1", XRAY, 1000.5)
    await store.save_vm(VM)


async def begin(store: Store, attempt: AttemptRecord = ATTEMPT) -> StoredEvent | None:
    """Begin an attempt on the VM."""
    return await store.begin_attempt(attempt, VM_READY, vm=BUSY, entries=[], cold=False)


def work(usd: str) -> LedgerEntry:
    """Return a ledger entry for work on `s1`."""
    return LedgerEntry(
        vm_id="vm1",
        meter=Meter.WORK,
        started_at=1001.0,
        ended_at=1002.0,
        amount_usd=Decimal(usd),
        submission_id="s1",
        owner="ada",
    )


def test_a_submission_passes_through_its_states(run: Callable[[Scenario], RecordingBus]) -> None:
    """Each transition sets the state, stores one event and publishes it."""

    async def scenario(store: Store) -> None:
        await store.create_submission(new_submission(), IN_QUEUE)
        assert (await get(store)).state is SubmissionState.ADMITTING
        await store.admit("s1", XRAY, 1000.5)
        assert (await get(store)).state is SubmissionState.QUEUED
        await begin(store)
        assert (await get(store)).state is SubmissionState.ASSIGNED
        await store.report(ATTEMPT, 1, CHECKING, 1001.5)
        assert (await get(store)).state is SubmissionState.RUNNING
        await store.complete_attempt(ATTEMPT, CHECKED, 1002.0, seq=2, vm=VM, entries=[work("0.25")])
        submission = await get(store)
        assert (submission.state, submission.verdict) == (SubmissionState.DONE, "CHECKED")
        assert submission.cost_usd == Decimal("0.25")
        assert await store.get_vm("vm1") == VM
        assert await store.vm_cost_usd("vm1") == Decimal("0.25")

    assert run(scenario).statuses == ["IN_QUEUE", "XRAY", "VM_READY", "CHECKING", "CHECKED"]


def test_a_lost_attempt_returns_its_submission_to_the_queue(
    run: Callable[[Scenario], RecordingBus],
) -> None:
    """The submission is QUEUED, the stale attempt cannot write, and another attempt can begin."""

    async def scenario(store: Store) -> None:
        await queue(store)
        await begin(store)
        await store.lose_attempt(ATTEMPT, 1002.0, "VM lost", vm=VM, entries=[])
        assert (await get(store)).state is SubmissionState.QUEUED
        assert await store.report(ATTEMPT, 1, CHECKING, 1003.0) is None
        assert await begin(store, SECOND) is not None
        assert (await get(store)).attempt_id == "a2"

    run(scenario)


def test_transitions_from_another_state_change_nothing(run: Callable[[Scenario], RecordingBus]) -> None:
    """An illegal transition returns None, stores nothing and publishes nothing."""

    async def scenario(store: Store) -> None:
        await queue(store)
        assert await store.admit("s1", XRAY, 1001.0) is None
        await begin(store)
        assert await begin(store, SECOND) is None
        assert await store.append_event_if_queued("s1", CHECKING, 1001.0) is None
        assert await store.complete("s1", {"status": "CANCELLED"}, 1002.0) is not None
        assert await store.complete("s1", {"status": "ERROR"}, 1003.0) is None
        assert await store.append_event("s1", CHECKING, 1003.0) is None
        assert (await get(store)).verdict == "CANCELLED"

    assert run(scenario).statuses == ["IN_QUEUE", "XRAY", "VM_READY", "CANCELLED"]


def test_the_end_of_a_vm_requeues_its_submissions(run: Callable[[Scenario], RecordingBus]) -> None:
    """The VM's end, its last ledger entries and the lost attempts are stored together."""

    async def scenario(store: Store) -> None:
        await queue(store)
        await begin(store)
        assert await store.end_vm(ENDED, [work("0.5")], ["a1"]) == Decimal("0.5")
        assert (await get(store)).state is SubmissionState.QUEUED
        assert await store.get_vm("vm1") == ENDED

    run(scenario)


def test_a_repeated_request_is_not_counted(run: Callable[[Scenario], RecordingBus]) -> None:
    """At the limit of a quota, a request with a known idempotency key returns its submission."""
    quota = Quota(kind="submit", window_s=60, limit=1, noun="submissions per minute", variable="X")

    async def scenario(store: Store) -> None:
        first, _ = await store.create_submission(
            new_submission(idempotency_key="k"), IN_QUEUE, quotas=[quota]
        )
        again, event = await store.create_submission(
            new_submission("s2", idempotency_key="k"), IN_QUEUE, quotas=[quota]
        )
        assert (again, event) == (first, None)
        with pytest.raises(QuotaExceeded):
            await store.create_submission(new_submission("s3"), IN_QUEUE, quotas=[quota])
        with pytest.raises(Conflict):
            await store.create_submission(new_submission("s4", idempotency_key="k", code="other"), IN_QUEUE)
        assert [await store.get_submission(name) for name in ("s2", "s3", "s4")] == [None] * 3

    assert run(scenario).statuses == ["IN_QUEUE"]


def test_a_cancel_request_is_stored(run: Callable[[Scenario], RecordingBus]) -> None:
    """A cancel request is recorded until the verdict; an unknown submission is None."""

    async def scenario(store: Store) -> None:
        await queue(store)
        cancelled = await store.request_cancel("s1")
        assert cancelled is not None
        assert cancelled.cancel_requested
        assert await store.request_cancel("unknown") is None

    run(scenario)
