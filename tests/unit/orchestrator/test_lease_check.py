"""VMs that differ from their lease: they never become ready, and nothing is charged for them."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.orchestrator_harness import OrchestratorHarness, orchestrated
from warmfront.errors import SlotFailed
from warmfront.listener.protocol import ListenerHealth
from warmfront.orchestrator.lease_check import difference_from_lease, other_gpu_of_time
from warmfront.store import ledger_queries
from warmfront.vm import VMState

if TYPE_CHECKING:
    from warmfront.store.records import StoredEvent
    from warmfront.testing.fake_listeners import FakeRun
    from warmfront.testing.fake_provider import FakeVM

MI300X = {"arch": "gfx942", "compute_units": 304, "memory_bytes": 191 * 10**9}
HEALTH = {
    "version": "1",
    "toolchain": "rocm",
    "gpu": "MI300X",
    "simulated": False,
    "running": (),
    "uptime_s": 1.0,
    "devices": (MI300X,),
}


def _difference(**changes: Any) -> str | None:
    health = ListenerHealth(**{**HEALTH, **changes})
    return difference_from_lease(health, gpu="MI300X", toolchain="rocm")


def test_what_was_leased_is_accepted() -> None:
    """One GPU, its partitions, or more than was leased."""
    assert _difference() is None
    parts = tuple({**MI300X, "compute_units": 38, "memory_bytes": 24 * 10**9} for _ in range(8))
    assert _difference(devices=parts) is None
    assert _difference(devices=(MI300X,) * 8) is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"toolchain": "cpu", "devices": ()}, "has the toolchain 'cpu'; requested: 'rocm'"),
        ({"simulated": True}, "simulates its GPU"),
        ({"devices": ()}, "reports no GPU; requested: 1 MI300X"),
        ({"gpu": "MI325X"}, "has GPU type MI325X; requested: MI300X"),
        ({"devices": ({**MI300X, "arch": "gfx90a"},)}, "GPU is gfx90a; an MI300X is gfx942"),
        ({"devices": ({**MI300X, "memory_bytes": 64 * 10**9},)}, "has 64 GB of memory; an MI300X has 192 GB"),
        ({"failure": "/dev/kfd: no such file"}, "The VM cannot judge: /dev/kfd: no such file."),
    ],
)
def test_a_difference_is_named(changes: dict[str, Any], words: str) -> None:
    """The message states the VM's properties and the requested ones."""
    assert words in str(_difference(**changes))


def _failures(events: list[StoredEvent]) -> list[dict[str, Any]]:
    return [event.fields for event in events if event.status == "VM_FAILED"]


@orchestrated(max_vms=1)
async def test_a_vm_that_cannot_judge_is_released_and_the_submission_goes_elsewhere(
    harness: OrchestratorHarness,
) -> None:
    """The reason is in the VM's record and in the events, and the boot is charged to the pool."""
    health = {"ok": False, "summary": "ECC: 3 uncorrectable memory errors", "checks": []}
    first: list[str] = []

    def report(vm: FakeVM) -> dict[str, Any]:
        if vm.id not in first and first:
            return {}
        first[:] = [vm.id]
        return {"failure": health["summary"], "gpu_health": health}

    harness.listeners.reports = report
    submission = await harness.submit()
    events = await harness.follow(submission)
    assert events[-1].status == "CHECKED"
    broken, used = await harness.vms()
    assert (broken.state, broken.ready_at, broken.tasks_done) == (VMState.FAILED, None, 0)
    assert "ECC: 3 uncorrectable memory errors" in broken.reason
    assert broken.report["gpu_health"] == health
    assert used.tasks_done == 1
    (reported,) = _failures(events)
    assert reported["vm_id"] == broken.id
    assert reported["reason"] == broken.reason
    _, entries, _ = await harness.store.vm_with_entries(broken.id)
    assert {entry.submission_id for entry in entries} == {None}
    assert sum(entry.amount_usd for entry in entries) == harness.provider.bill_usd(broken.id)


@orchestrated(max_vms=2)
async def test_a_provider_whose_vms_are_all_wrong_does_not_burn_the_budget(
    harness: OrchestratorHarness,
) -> None:
    """After one VM the author gets ERROR, free of charge; later submissions get it without another VM."""
    harness.listeners.reports = lambda _: {"gpu": "MI325X"}
    events = await harness.follow(await harness.submit())
    assert events[-1].status == "ERROR"
    assert events[-1].fields["cost_usd"] == 0
    assert "The VM has GPU type MI325X; requested: MI300X." in events[-1].fields["message"]
    assert "Nothing was charged" in events[-1].fields["hint"]
    assert len(_failures(events)) == 1
    for _ in range(20):
        events = await harness.follow(await harness.submit())
        assert events[-1].fields["code"] == "NO_VM"
    assert len(harness.provider.vms) == 1
    # Later it is tried again, one VM at a time, until one is right.
    await asyncio.sleep(900)
    await harness.follow(await harness.submit())
    assert len(harness.provider.vms) == 2
    harness.listeners.reports = lambda _: {}
    await asyncio.sleep(3000)
    events = await harness.follow(await harness.submit())
    assert events[-1].status == "CHECKED"


@orchestrated(max_vms=2)
async def test_vms_with_broken_gpus_are_tried_three_times(harness: OrchestratorHarness) -> None:
    """Another VM may have a GPU that works; three that do not are enough."""
    harness.listeners.reports = lambda _: {"failure": "ECC: 3 uncorrectable memory errors"}
    events = await harness.follow(await harness.submit())
    assert "3 VMs in a row failed to provision" in events[-1].fields["message"]
    assert "ECC" in events[-1].fields["message"]
    assert len(harness.provider.vms) == len(_failures(events)) == 3
    events = await harness.follow(await harness.submit())
    assert events[-1].fields["code"] == "NO_VM"
    assert len(harness.provider.vms) == 3


@orchestrated(max_vms=1)
async def test_a_vm_that_breaks_during_an_attempt(harness: OrchestratorHarness) -> None:
    """It is released, and the submission is retried; its owner pays for one boot and one attempt."""
    broken: list[str] = []

    def breaks(run: FakeRun) -> str:
        if broken:
            return ""
        broken.append(run.vm_id)
        return "the GPU fell off the bus"

    harness.listeners.breaks = breaks
    submission = await harness.submit(work_s=30)
    events = await harness.follow(submission)
    assert events[-1].status == "CHECKED"
    assert [reported["reason"] for reported in _failures(events)] == ["the GPU fell off the bus"]
    first, second = harness.attempts(submission)
    assert (first.vm_id, first.outcome, first.reason) == (broken[0], "LOST", "the GPU fell off the bus")
    assert second.vm_id != first.vm_id
    vm = (await harness.vms())[0]
    assert (vm.failed, vm.reason) == (True, "the GPU fell off the bus")
    entries = harness.database.run(ledger_queries.within, 0.0, harness.clock.now() + 1)
    worked = {entry.vm_id for entry in entries if entry.submission_id and entry.meter == "WORK"}
    assert worked == {second.vm_id}


@orchestrated(max_vms=1)
async def test_a_slot_that_fails_is_not_the_end_of_its_vm(harness: OrchestratorHarness) -> None:
    """The VM starts the slot again, so the submission is tried again there."""
    reason = "Slot 3 of the VM failed: its process ended with code -9."
    reasons = iter([reason])
    harness.listeners.breaks = lambda _: next(reasons, "")
    harness.listeners.broken_code = SlotFailed.code
    submission = await harness.submit()
    events = await harness.follow(submission)
    assert events[-1].status == "CHECKED"
    first, second = harness.attempts(submission)
    assert (first.outcome, first.reason) == ("LOST", reason)
    assert second.vm_id == first.vm_id
    assert [vm.failed for vm in await harness.vms()] == [False]


@orchestrated(max_vms=1)
async def test_a_submission_that_breaks_every_vm_gets_an_error_free_of_charge(
    harness: OrchestratorHarness,
) -> None:
    """Three VMs are tried; the charge for the first boot is moved to the pool in the end."""
    harness.listeners.breaks = lambda _: "the GPU hangs"
    submission = await harness.submit()
    events = await harness.follow(submission)
    assert (events[-1].status, events[-1].fields["code"]) == ("ERROR", "VM_LOST")
    assert events[-1].fields["cost_usd"] == 0
    stored = await harness.store.get_submission(submission.id)
    assert stored is not None
    assert stored.cost_usd == Decimal(0)
    assert len(harness.attempts(submission)) == 3
    for vm in await harness.vms():
        if vm.ended_at is not None:
            _, entries, _ = await harness.store.vm_with_entries(vm.id)
            assert sum(entry.amount_usd for entry in entries) == harness.provider.bill_usd(vm.id)


@orchestrated(max_vms=1)
async def test_an_idle_vm_that_breaks_is_released(harness: OrchestratorHarness) -> None:
    """Its next heartbeat reports the failure."""
    await harness.follow(await harness.submit())
    harness.listeners.reports = lambda _: {"failure": "the GPU hangs"}
    await asyncio.sleep(30)
    (vm,) = await harness.vms()
    assert (vm.state, vm.reason) == (VMState.FAILED, "it can no longer judge: the GPU hangs")


@orchestrated(max_vms=1)
async def test_a_time_of_another_gpu_never_enters_a_leaderboard(harness: OrchestratorHarness) -> None:
    """Its VM is released and the submission is timed on another one: the device's own report decides."""
    wrong = ["MI300X-CPX-NPS4", "MI325X"]

    def on_another_gpu(_: FakeRun) -> dict[str, Any]:
        gpu = wrong.pop() if wrong else "MI300X"
        return {"avg_runtime_ms": 9.0 if gpu == "MI300X" else 1.0, "receipt": {"machine": {"gpu": gpu}}}

    harness.listeners.verdict_fields = on_another_gpu
    submission = await harness.submit(endpoint="submit")
    events = await harness.follow(submission)
    assert [reported["reason"] for reported in _failures(events)] == [
        "The VM has GPU type MI325X; requested: MI300X.",
        "The VM has GPU type MI300X-CPX-NPS4; requested: MI300X.",
    ]
    ((ranked, _),) = await harness.store.leaderboard(submission.problem)
    assert (ranked.id, ranked.gpu, ranked.avg_runtime_ms) == (submission.id, "MI300X", 9.0)
    assert len({attempt.vm_id for attempt in harness.attempts(submission)}) == 3


@pytest.mark.parametrize("verdict", [{}, {"receipt": None}, {"receipt": {"machine": {"gpu": ""}}}])
def test_a_verdict_without_a_gpu_is_accepted(verdict: dict[str, Any]) -> None:
    """The CPU runtime has none, and only accepted submissions have a receipt."""
    assert other_gpu_of_time(verdict, gpu="MI300X") is None
