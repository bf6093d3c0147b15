"""VMs with several slots: assignment, the end of a VM, sizes, and charges."""

from __future__ import annotations

import asyncio
from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from tests.support.orchestrator_harness import OrchestratorHarness, orchestrated
from warmfront.errors import ProviderError
from warmfront.provisioning import FailureKind
from warmfront.store.records import Meter
from warmfront.vm import VMState

if TYPE_CHECKING:
    from warmfront.submission import Submission
    from warmfront.testing.fake_provider import FakeVM
    from warmfront.vm import VMInstance


async def _submit(harness: OrchestratorHarness, count: int, work_s: float = 60.0) -> list[Submission]:
    return [await harness.submit(work_s=work_s) for _ in range(count)]


async def _verdicts(harness: OrchestratorHarness, submissions: list[Submission]) -> list[str]:
    return [(await harness.follow(submission))[-1].status for submission in submissions]


async def _warm_vm(harness: OrchestratorHarness) -> VMInstance:
    """Return the only VM, after its first submission."""
    await _verdicts(harness, [await harness.submit()])
    [vm] = harness.orchestrator.pool()
    return vm


@orchestrated(sizes=(8,))
async def test_a_vm_with_eight_gpus_judges_eight_submissions_at_once(harness: OrchestratorHarness) -> None:
    """Each has its own slot; the ninth waits for the first free one."""
    vm = await _warm_vm(harness)
    assert (vm.gpu_count, vm.slots) == (8, 8)
    submissions = await _submit(harness, 9)
    await asyncio.sleep(30)
    running = list(harness.listeners.running())
    assert sorted(run.slot for run in running) == list(range(8))
    assert harness.orchestrator.slots() == (8, 8)
    assert harness.orchestrator.queue_length() == 1
    assert await _verdicts(harness, submissions) == ["CHECKED"] * 9
    assert harness.listeners.overlaps == []
    assert len(await harness.vms()) == 1
    ready = next(event for event in await harness.follow(submissions[7]) if event.status == "VM_READY")
    assert (ready.fields["slot"], ready.fields["slots"]) == (7, 8)
    assert ready.fields["metrics"]["pool"]["busy_slots"] == 8


@orchestrated(sizes=(8,), idle_timeout_s=60.0)
async def test_a_vm_is_idle_when_all_slots_are(harness: OrchestratorHarness) -> None:
    """It has no deadline while one slot works, and is released after the last one."""
    await _warm_vm(harness)
    short, long = [await harness.submit(work_s=work_s) for work_s in (10.0, 300.0)]
    await _verdicts(harness, [short])
    [vm] = harness.orchestrator.pool()
    assert (vm.state, vm.deadline_at) == (VMState.BUSY, None)
    await _verdicts(harness, [long])
    [vm] = harness.orchestrator.pool()
    assert vm.state is VMState.IDLE
    assert vm.deadline_at == pytest.approx(harness.clock.now() + 60.0, abs=1.0)
    await asyncio.sleep(90)
    assert harness.orchestrator.pool() == []


@orchestrated(sizes=(8,))
async def test_a_lost_vm_returns_all_its_submissions(harness: OrchestratorHarness) -> None:
    """Each of them is queued again and judged on another VM; none is charged for the lost attempt."""
    vm = await _warm_vm(harness)
    submissions = await _submit(harness, 5)
    await asyncio.sleep(20)
    harness.provider.end(harness.provider.vms[vm.id], "vanished")
    assert await _verdicts(harness, submissions) == ["CHECKED"] * 5
    for submission in submissions:
        first, second = harness.attempts(submission)
        assert (first.vm_id, first.outcome) == (vm.id, "LOST")
        assert second.vm_id != vm.id
    _, entries, _ = await harness.store.vm_with_entries(vm.id)
    lost = [entry for entry in entries if entry.meter is Meter.WORK and entry.submission_id is None]
    assert len(lost) == 5
    assert sum(entry.amount_usd for entry in entries) == harness.provider.bill_usd(vm.id)


@orchestrated(sizes=(8,))
async def test_a_cancellation_ends_one_slots_attempt(harness: OrchestratorHarness) -> None:
    """The others continue on the same VM."""
    await _warm_vm(harness)
    submissions = await _submit(harness, 4)
    await asyncio.sleep(20)
    cancelled = await harness.orchestrator.cancel(submissions[1].id)
    assert cancelled.verdict == "CANCELLED"
    assert sorted(run.slot for run in harness.listeners.running()) == [0, 2, 3]
    replacement = await harness.submit(work_s=10)
    await _verdicts(harness, [replacement])
    assert harness.attempts(replacement)[0].slot == 1
    assert await _verdicts(harness, submissions) == ["CHECKED", "CANCELLED", "CHECKED", "CHECKED"]
    assert all(len(harness.attempts(submission)) == 1 for submission in submissions)


@orchestrated(sizes=(4,))
async def test_a_restart_keeps_the_slots(harness: OrchestratorHarness) -> None:
    """Attempts continue in their slots, and new ones get the others."""
    await _warm_vm(harness)
    submissions = await _submit(harness, 2)
    await asyncio.sleep(10)
    await harness.orchestrator.stop()
    harness.orchestrator = harness.new_orchestrator()
    await harness.orchestrator.start()
    submissions += await _submit(harness, 2)
    await asyncio.sleep(10)
    assert sorted(run.slot for run in harness.listeners.running()) == [0, 1, 2, 3]
    assert await _verdicts(harness, submissions) == ["CHECKED"] * 4
    assert harness.listeners.overlaps == []


@orchestrated(sizes=(4,), heartbeat_s=1.0)
async def test_a_slot_that_fails_takes_no_attempts(harness: OrchestratorHarness) -> None:
    """The VM has one slot fewer until the slot works again."""
    harness.listeners.reports = lambda _: {"slots": 3, "failed_slots": (1,)}
    vm = await _warm_vm(harness)
    assert vm.slots == 4
    submissions = await _submit(harness, 4)
    await asyncio.sleep(10)
    assert sorted(run.slot for run in harness.listeners.running()) == [0, 2, 3]
    harness.listeners.reports = lambda _: {}
    await asyncio.sleep(10)
    assert sorted(run.slot for run in harness.listeners.running()) == [0, 1, 2, 3]
    assert await _verdicts(harness, submissions) == ["CHECKED"] * 4


@orchestrated(sizes=(8,), max_vms=1)
async def test_a_vm_with_fewer_slots_than_gpus_is_refused(harness: OrchestratorHarness) -> None:
    """GPUs without a slot would be paid for but not used."""
    harness.listeners.reports = lambda _: {"slots": 1}
    submission = await harness.submit()
    events = await harness.follow(submission)
    assert events[-1].status == "ERROR"
    assert "offers 1 slot, but was leased with 8 GPUs" in events[-1].fields["message"]
    assert len(await harness.vms()) == 1


@orchestrated(sizes=(8,))
async def test_a_submission_pays_for_its_slot(harness: OrchestratorHarness) -> None:
    """It is charged an eighth of the VM's rate, as its quote says, whatever the other slots do."""
    await _warm_vm(harness)
    quote = harness.orchestrator.quote("MI300X", "ada")
    alone = await harness.submit(work_s=100)
    await _verdicts(harness, [alone])
    together = await _submit(harness, 8, work_s=100)
    await _verdicts(harness, together)
    costs = []
    for submission in (alone, *together):
        stored = await harness.store.get_submission(submission.id)
        assert stored is not None
        assert stored.cost_usd is not None
        costs.append(float(stored.cost_usd))
    assert costs == pytest.approx([100 * 1.99 / 3600] * 9, rel=0.02)
    assert float(quote.cost_usd) == pytest.approx(quote.task_s * 1.99 / 3600, rel=0.01)


@orchestrated(sizes=(1, 8), max_vms=3, idle_timeout_s=120.0)
async def test_a_long_queue_gets_a_large_vm_and_a_short_one_a_small(harness: OrchestratorHarness) -> None:
    """The size is the one with the lowest price per slot that the queue would use."""
    await _verdicts(harness, [await harness.submit()])
    await asyncio.sleep(300)
    assert [vm.gpu_count for vm in await harness.vms()] == [1]
    submissions = await _submit(harness, 60, work_s=30)
    assert await _verdicts(harness, submissions) == ["CHECKED"] * 60
    counts = Counter(vm.gpu_count for vm in await harness.vms())
    assert counts[8] >= 1


@orchestrated(sizes=(1, 8), credits_usd=Decimal("4.00"), max_vms=2)
async def test_a_size_that_the_credits_do_not_cover_is_not_requested(harness: OrchestratorHarness) -> None:
    """A smaller VM judges the queue instead."""
    submissions = await _submit(harness, 40, work_s=30)
    assert await _verdicts(harness, submissions) == ["CHECKED"] * 40
    assert {vm.gpu_count for vm in await harness.vms()} == {1}


@orchestrated(sizes=(1, 8), max_vms=1)
async def test_a_size_that_is_not_available_is_replaced_by_another(harness: OrchestratorHarness) -> None:
    """If there is no VM with eight GPUs, one with one GPU is requested next."""
    create = harness.provider._create

    def refuse_large(vm: FakeVM) -> FakeVM:
        if vm.gpu_count == 8:
            raise ProviderError("no large VM", kind=FailureKind.NO_CAPACITY)
        return create(vm)

    harness.provider._create = refuse_large  # type: ignore[method-assign]
    first = await harness.submit(work_s=1)
    await harness.orchestrator.cancel(first.id)
    submissions = await _submit(harness, 40, work_s=30)
    assert await _verdicts(harness, submissions) == ["CHECKED"] * 40
    used = {vm.gpu_count for vm in await harness.vms() if vm.ready_at is not None}
    assert used == {1}


@orchestrated(sizes=(1, 8), max_vms=2)
async def test_a_vm_that_works_is_filled_before_an_idle_one(harness: OrchestratorHarness) -> None:
    """The others become idle and are released."""
    first = await harness.submit(work_s=400)
    await asyncio.sleep(60)
    queue = await _submit(harness, 60, work_s=30)
    await _verdicts(harness, queue)
    small, large = sorted(harness.orchestrator.pool(), key=lambda vm: vm.gpu_count)
    assert (small.gpu_count, large.gpu_count) == (1, 8)
    await _verdicts(harness, [first])
    long = await harness.submit(work_s=100)
    await asyncio.sleep(10)
    assert harness.attempts(long)[0].vm_id == small.id  # both are idle: the cheaper one
    more = await _submit(harness, 2, work_s=20)
    await _verdicts(harness, more)
    assert {harness.attempts(submission)[0].vm_id for submission in more} == {large.id}
    await _verdicts(harness, [long])
