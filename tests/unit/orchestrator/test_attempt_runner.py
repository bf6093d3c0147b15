"""The attempt runner: events in order, dropped streams, cancellation and loss."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.support.orchestrator_harness import OrchestratorHarness, orchestrated
from warmfront.errors import Conflict
from warmfront.simulate.virtual_time import run_virtual
from warmfront.store.memory_database import MemoryDatabase
from warmfront.vm import VMState


@orchestrated()
async def test_the_first_attempt_is_a_cold_start_and_the_second_a_warm_reuse(
    harness: OrchestratorHarness,
) -> None:
    """VM_READY says how the submission got its VM, and only a cold start has PROVISIONING events."""
    first = await harness.follow(await harness.submit())
    second = await harness.follow(await harness.submit())
    assert [event.fields["vm_state"] for event in first if event.status == "VM_READY"] == ["COLD_START"]
    assert [event.fields["vm_state"] for event in second if event.status == "VM_READY"] == ["WARM_REUSE"]
    assert "PROVISIONING" in {event.status for event in first}
    assert "PROVISIONING" not in {event.status for event in second}


@orchestrated()
async def test_events_have_consecutive_ids_and_one_verdict(harness: OrchestratorHarness) -> None:
    """A subscriber sees every event once, in order, and the stream ends with the verdict."""
    events = await harness.follow(await harness.submit())
    assert [event.id for event in events] == list(range(1, len(events) + 1))
    assert events[-1].status == "CHECKED"
    assert [event.status for event in events].count("CHECKED") == 1


@orchestrated()
async def test_the_verdict_carries_the_cost(harness: OrchestratorHarness) -> None:
    """The cost in the verdict is the ledger's: provisioning and work."""
    submission = await harness.submit()
    events = await harness.follow(submission)
    stored = await harness.store.get_submission(submission.id)
    assert stored is not None
    assert stored.cost_usd is not None
    assert events[-1].fields["cost_usd"] == pytest.approx(float(stored.cost_usd), abs=1e-6)
    assert stored.cost_usd > 0


@orchestrated()
async def test_cancelling_a_running_attempt_frees_its_vm(harness: OrchestratorHarness) -> None:
    """The verdict is CANCELLED, nothing runs any longer, and the VM runs the next submission."""
    submission = await harness.submit(work_s=500)
    await asyncio.sleep(100)
    cancelled = await harness.orchestrator.cancel(submission.id)
    assert cancelled.verdict == "CANCELLED"
    assert not list(harness.listeners.running())
    assert [vm.state for vm in harness.orchestrator.pool()] == [VMState.IDLE]
    with pytest.raises(Conflict, match="already completed: CANCELLED"):
        await harness.orchestrator.cancel(submission.id)
    assert (await harness.follow(await harness.submit()))[-1].status == "CHECKED"


@orchestrated()
async def test_cancelling_a_queued_submission_completes_it(harness: OrchestratorHarness) -> None:
    """A submission that waits for a VM is completed at once, without an attempt."""
    submission = await harness.submit()
    await asyncio.sleep(2)
    assert (await harness.orchestrator.cancel(submission.id)).verdict == "CANCELLED"
    assert harness.attempts(submission) == []


@orchestrated(task_timeout_s=30.0)
async def test_an_attempt_that_takes_too_long_is_aborted_and_retried(harness: OrchestratorHarness) -> None:
    """After the task timeout the attempt is stopped and lost; after the retries the verdict is ERROR."""
    submission = await harness.submit(work_s=1000)
    events = await harness.follow(submission)
    assert (events[-1].status, events[-1].fields["code"]) == ("ERROR", "VM_LOST")
    attempts = harness.attempts(submission)
    assert [attempt.outcome for attempt in attempts] == ["LOST"] * 3
    assert "took longer than 30 s" in attempts[0].reason


def test_a_verdict_that_is_stored_late_is_billed_once() -> None:
    """If the task timeout expires while the verdict is being stored, the interval is not billed again."""

    class LateDatabase(MemoryDatabase):
        """Delivers the result of the first verdict a minute after it was committed."""

        is_late = True

        async def write(self, query: Any, *args: Any, **kwargs: Any) -> Any:
            result = self.run(query, *args, **kwargs)
            if query.__name__ == "complete_attempt" and self.is_late:
                self.is_late = False
                await asyncio.sleep(60)
            return result

    async def main() -> None:
        harness = OrchestratorHarness(database=LateDatabase(), task_timeout_s=30.0, idle_timeout_s=60.0)
        await harness.orchestrator.start()
        submission = await harness.submit(work_s=5)
        assert (await harness.follow(submission))[-1].status == "CHECKED"
        await asyncio.sleep(600)
        (vm,) = await harness.vms()
        assert vm.state is VMState.TERMINATED
        assert await harness.store.vm_cost_usd(vm.id) == harness.provider.bill_usd(vm.id)
        assert [attempt.outcome for attempt in harness.attempts(submission)] == ["CHECKED"]
        await harness.orchestrator.stop()

    run_virtual(main())
