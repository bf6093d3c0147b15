"""CPU nodes judge checks; VMs with a GPU judge what is timed, and what a CPU node cannot judge."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from tests.support.orchestrator_harness import OrchestratorHarness, orchestrated
from warmfront.gpus import CPU_NODE
from warmfront.listener.protocol import ListenerHealth
from warmfront.orchestrator.lease_check import difference_from_lease
from warmfront.simulate.virtual_time import run_virtual
from warmfront.store.records import AttemptOutcome
from warmfront.submission import NewSubmission
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from warmfront.submission import Submission
    from warmfront.vm import VMInstance


async def vms_of(harness: OrchestratorHarness, submission: Submission) -> list[VMInstance]:
    """Return the VMs that judged a submission, in order."""
    vms = {vm.id: vm for vm in await harness.vms()}
    return [vms[attempt.vm_id] for attempt in harness.attempts(submission)]


@orchestrated(cpu_nodes=1)
async def test_a_check_runs_on_a_cpu_node_and_a_benchmark_on_a_gpu(harness: OrchestratorHarness) -> None:
    """Each has a VM of its own kind, and only the verdict of the check is marked as simulated."""
    checked, timed = await harness.submit(endpoint="checker"), await harness.submit(endpoint="benchmark")
    events = {submission.id: await harness.follow(submission) for submission in (checked, timed)}
    assert [vm.gpu for vm in await vms_of(harness, checked)] == [CPU_NODE]
    assert [vm.gpu for vm in await vms_of(harness, timed)] == ["MI300X"]
    ready = {key: next(e for e in log if e.status == "VM_READY").fields for key, log in events.items()}
    assert (ready[checked.id]["gpu"], ready[checked.id]["simulated"]) == (CPU_NODE, True)
    assert (ready[timed.id]["gpu"], ready[timed.id]["simulated"]) == ("MI300X", False)
    assert events[checked.id][-1].fields["simulated"] is True
    assert events[timed.id][-1].fields["simulated"] is False


@orchestrated()
async def test_without_cpu_nodes_a_gpu_judges_checks(harness: OrchestratorHarness) -> None:
    """Nothing changes for a provider that has no CPU nodes."""
    checked = await harness.submit(endpoint="checker")
    assert (await harness.follow(checked))[-1].fields["simulated"] is False
    assert [vm.gpu for vm in await vms_of(harness, checked)] == ["MI300X"]


@orchestrated(cpu_nodes=1, max_vms=1)
async def test_each_kind_has_its_own_limit(harness: OrchestratorHarness) -> None:
    """A CPU node is no reason to wait for a VM with a GPU, and is not released for one."""
    checks = [await harness.submit(endpoint="checker", work_s=120.0) for _ in range(3)]
    timed = [await harness.submit(endpoint="submit", work_s=120.0) for _ in range(3)]
    for submission in [*checks, *timed]:
        assert (await harness.follow(submission))[-1].status in {Verdict.CHECKED, Verdict.ACCEPTED}
    assert sorted(vm.gpu for vm in await harness.vms()) == [CPU_NODE, "MI300X"]


@orchestrated(cpu_nodes=1)
async def test_a_cpu_node_is_charged_at_its_own_rate(harness: OrchestratorHarness) -> None:
    """The ledger of a CPU node is its time at its own price."""
    await harness.follow(await harness.submit(endpoint="checker", work_s=360.0))
    await harness.orchestrator.release_all("the test has ended")
    [vm] = await harness.vms()
    assert vm.started_at is not None
    assert vm.ended_at is not None
    expected = Decimal("0.10") * Decimal(str(vm.ended_at - vm.started_at)) / 3600
    spent = await harness.store.vm_cost_usd(vm.id)
    assert abs(spent - expected) < Decimal("0.000001")
    assert spent == pytest.approx(harness.provider.bill_usd(vm.id))


@orchestrated(cpu_nodes=1, idle_timeout_s=600.0, cpu_idle_timeout_s=60.0)
async def test_an_idle_cpu_node_has_its_own_timeout(harness: OrchestratorHarness) -> None:
    """AMD_CPU_IDLE_TIMEOUT decides how long a CPU node is kept."""
    await harness.follow(await harness.submit(endpoint="checker"))
    [vm] = harness.orchestrator.pool()
    assert vm.deadline_at is not None
    assert vm.deadline_at - harness.clock.now() == pytest.approx(60.0)


@orchestrated(cpu_nodes=1)
async def test_a_source_that_the_cpu_runtime_cannot_compile_gets_a_gpu(harness: OrchestratorHarness) -> None:
    """The verdict is that of the GPU alone; the attempt on the CPU node is not charged."""
    submission = await _submit_uncompilable(harness)
    events = await harness.follow(submission)
    assert events[-1].status == Verdict.COMPILE_ERROR
    assert [vm.gpu for vm in await vms_of(harness, submission)] == [CPU_NODE, "MI300X"]
    first, second = harness.attempts(submission)
    assert (first.outcome, second.outcome) == (AttemptOutcome.NEEDS_GPU, Verdict.COMPILE_ERROR)
    reasons = [event.fields["reason"] for event in events if event.status == "VM_FAILED"]
    assert reasons == ["the CPU runtime cannot compile it (requested by the source); a GPU will judge it"]


def test_a_restart_remembers_that_a_submission_needs_a_gpu() -> None:
    """After a crash between the two attempts, a GPU judges it, and no CPU node is asked again."""

    async def main() -> None:
        harness = OrchestratorHarness(cpu_nodes=1)
        await harness.orchestrator.start()
        submission = await _submit_uncompilable(harness)
        async for event in harness.log.follow(submission.id):
            if event.status == "VM_FAILED":
                break
        await harness.orchestrator.stop()
        harness.orchestrator = harness.new_orchestrator()
        await harness.orchestrator.start()
        await harness.follow(submission)
        assert [vm.gpu for vm in await vms_of(harness, submission)] == [CPU_NODE, "MI300X"]
        await harness.orchestrator.stop()
        harness.database.dispose()

    run_virtual(main())


@orchestrated(cpu_nodes=1)
async def test_a_cpu_node_that_does_not_say_that_it_simulates_is_released(
    harness: OrchestratorHarness,
) -> None:
    """Its verdict is not stored; another CPU node judges the submission."""
    reports = iter([False, True])
    harness.listeners.verdict_fields = lambda _: {"simulated": next(reports)}
    submission = await harness.submit(endpoint="checker")
    assert (await harness.follow(submission))[-1].fields["simulated"] is True
    first, second = await vms_of(harness, submission)
    assert first.id != second.id
    assert first.reason == "a CPU node reported a verdict that is not marked as simulated"


@pytest.mark.parametrize(
    ("toolchain", "simulated", "difference"),
    [
        ("cpu", True, None),
        ("rocm", False, "The VM has the toolchain 'rocm'; requested: 'cpu'."),
        ("cpu", False, "The CPU node does not mark its results as simulated."),
    ],
)
def test_the_listener_of_a_cpu_node_has_the_cpu_runtime(
    *, toolchain: str, simulated: bool, difference: str | None
) -> None:
    """Whatever the toolchain of VMs with a GPU is."""
    health = ListenerHealth(
        version="1", toolchain=toolchain, gpu="MI300X", simulated=simulated, running=(), uptime_s=1.0
    )
    found = difference_from_lease(health, gpu=CPU_NODE, toolchain="rocm")
    assert (found is None) if difference is None else (difference in str(found))


async def _submit_uncompilable(harness: OrchestratorHarness) -> Submission:
    return await harness.orchestrator.submit(
        NewSubmission(
            id="sub-uncompilable",
            owner="ada",
            problem="leaky-relu",
            gpu="MI300X",
            dtype="float32",
            language="hip",
            endpoint="checker",
            file_name="solution.hip",
            code="// key COMPILE_ERROR 5.000\n",
            created_at=harness.clock.now(),
        )
    )
