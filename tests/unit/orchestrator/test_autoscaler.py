"""The autoscaler: when a VM is provisioned, for which GPU type, and when the queue is given up."""

from __future__ import annotations

import asyncio
from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING

from tests.support.orchestrator_harness import OrchestratorHarness, orchestrated
from warmfront.vm import VMState

if TYPE_CHECKING:
    from warmfront.submission import Submission


async def _statuses(harness: OrchestratorHarness, submissions: list[Submission]) -> list[str]:
    return [(await harness.follow(submission))[-1].status for submission in submissions]


@orchestrated(max_vms=4)
async def test_submissions_run_on_vms_with_their_gpu(harness: OrchestratorHarness) -> None:
    """With two GPU types queued, each submission gets a VM of its own type, at that type's price."""
    submissions = [await harness.submit(gpu=gpu) for gpu in ("MI300X", "MI325X", "MI300X", "MI325X")]
    assert await _statuses(harness, submissions) == ["CHECKED"] * 4
    vms = {vm.id: vm for vm in await harness.vms()}
    assert Counter(vm.gpu for vm in vms.values()) == {"MI300X": 1, "MI325X": 1}
    for submission in submissions:
        stored = await harness.store.get_submission(submission.id)
        assert stored is not None
        assert vms[str(stored.vm_id)].gpu == submission.gpu
    rates = {gpu: harness.provider.billing(gpu).rate_usd_per_h for gpu in ("MI300X", "MI325X")}
    for vm in harness.orchestrator.pool():
        _, entries, _ = await harness.store.vm_with_entries(vm.id)
        seconds = sum(entry.ended_at - entry.started_at for entry in entries)
        cost_usd = sum((entry.amount_usd for entry in entries), Decimal(0))
        assert abs(cost_usd - rates[vm.gpu] * Decimal(seconds) / 3600) < Decimal("0.000001")


@orchestrated(max_vms=1)
async def test_an_idle_vm_of_another_gpu_makes_room(harness: OrchestratorHarness) -> None:
    """With a full pool, an idle VM without queued submissions is released for another GPU type."""
    first = await harness.submit(gpu="MI300X")
    assert await _statuses(harness, [first]) == ["CHECKED"]
    second = await harness.submit(gpu="MI325X")
    assert await _statuses(harness, [second]) == ["CHECKED"]
    released, running = await harness.vms()
    assert (released.gpu, running.gpu) == ("MI300X", "MI325X")
    assert "MI325X" in released.reason
    assert released.state is VMState.TERMINATED
    assert released.ended_at is not None
    assert running.ready_at is not None
    assert released.ended_at < running.ready_at


@orchestrated(max_vms=1)
async def test_a_busy_vm_of_another_gpu_is_waited_for(harness: OrchestratorHarness) -> None:
    """A submission for another GPU type waits until the running one is done; nothing is lost."""
    first = await harness.submit(gpu="MI300X", work_s=200)
    await asyncio.sleep(100)
    second = await harness.submit(gpu="MI325X")
    assert await _statuses(harness, [first, second]) == ["CHECKED", "CHECKED"]
    assert [attempt.outcome for attempt in harness.attempts(first)] == ["CHECKED"]


@orchestrated(max_vms=3)
async def test_a_long_queue_gets_more_vms(harness: OrchestratorHarness) -> None:
    """VMs are added while the queue takes longer than a boot, up to the limit."""
    submissions = [await harness.submit(work_s=60) for _ in range(12)]
    assert await _statuses(harness, submissions) == ["CHECKED"] * 12
    assert len(await harness.vms()) == 3


@orchestrated(max_vms=3)
async def test_a_short_queue_waits_for_the_vm(harness: OrchestratorHarness) -> None:
    """Two quick submissions share one VM: waiting for it is shorter than a boot."""
    submissions = [await harness.submit(work_s=1) for _ in range(2)]
    assert await _statuses(harness, submissions) == ["CHECKED"] * 2
    assert len(await harness.vms()) == 1


@orchestrated(credits_usd=Decimal("0.05"))
async def test_without_budget_the_queue_is_rejected(harness: OrchestratorHarness) -> None:
    """If the credits do not cover a VM, the verdict is BUDGET_EXCEEDED, and no VM is leased."""
    submission = await harness.submit()
    events = await harness.follow(submission)
    assert events[-1].status == "BUDGET_EXCEEDED"
    assert "only $0.05 of the budget is unreserved" in events[-1].fields["message"]
    assert await harness.vms() == []


@orchestrated(max_vms=2)
async def test_quotes_depend_on_the_gpu(harness: OrchestratorHarness) -> None:
    """A warm VM of one GPU type is a warm reuse for that type only, and prices differ."""
    await _statuses(harness, [await harness.submit(gpu="MI300X")])
    warm, cold = (harness.orchestrator.quote(gpu, "ada") for gpu in ("MI300X", "MI325X"))
    assert (warm.vm_state, cold.vm_state) == ("WARM_REUSE", "COLD_START")
    assert warm.wait_s == 0.0 < cold.wait_s
    assert warm.cost_usd < cold.cost_usd
