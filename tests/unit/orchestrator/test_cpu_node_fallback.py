"""While no CPU node can be provisioned, VMs with a GPU judge checks, within the budget."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import TYPE_CHECKING

from tests.support.orchestrator_harness import OrchestratorHarness, orchestrated
from warmfront.errors import ProviderError
from warmfront.gpus import CPU_NODE
from warmfront.provisioning import FailureKind
from warmfront.usage_limits import DailyCaps
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from warmfront.store.records import StoredEvent
    from warmfront.submission import Submission

#: How long a boot takes, approximately: `FakeProvider.typical_boot_s`.
BOOT_S = 37.0


def refuse_cpu_nodes(harness: OrchestratorHarness, kind: FailureKind) -> None:
    """Refuse CPU nodes from now on, and no other VMs."""
    harness.provider.refuses = lambda gpu: (
        ProviderError("The CPU cloud is down.", kind=kind) if gpu == CPU_NODE else None
    )


async def gpus_of(harness: OrchestratorHarness, submission: Submission) -> list[str]:
    """Return the GPU types of the VMs that judged a submission."""
    vms = {vm.id: vm for vm in await harness.vms()}
    return [vms[attempt.vm_id].gpu for attempt in harness.attempts(submission)]


def moved(events: list[StoredEvent]) -> StoredEvent:
    """Return the event that says that a GPU judges the check."""
    [event] = [event for event in events if event.fields.get("kind") == "NO_CPU_NODES"]
    return event


@orchestrated(cpu_nodes=1)
async def test_a_refused_fleet_of_cpu_nodes_moves_checks_to_gpus(harness: OrchestratorHarness) -> None:
    """The first check gets the reason; the next one is quoted the price of a GPU from the beginning."""
    refuse_cpu_nodes(harness, FailureKind.DENIED)
    submission = await harness.submit(endpoint="checker")
    events = await harness.follow(submission)
    assert events[-1].status == Verdict.CHECKED
    assert await gpus_of(harness, submission) == ["MI300X"]
    assert moved(events).fields["reason"] == (
        "No CPU node can be provisioned (The CPU cloud is down); a VM with an MI300X will judge the check"
    )
    assert events[-1].fields["simulated"] is False
    later = await harness.submit(endpoint="checker")
    events = await harness.follow(later)
    assert [event.status for event in events if event.status == "WAITING"] == []
    assert await gpus_of(harness, later) == ["MI300X"]
    [problem] = harness.orchestrator.provisioning_problems()
    assert (problem.gpu, problem.is_open) == (CPU_NODE, True)


@orchestrated(cpu_nodes=1)
async def test_the_boot_of_the_gpu_is_charged_to_the_pool(harness: OrchestratorHarness) -> None:
    """The quote of the check did not include it."""
    refuse_cpu_nodes(harness, FailureKind.DENIED)
    submission = await harness.submit(endpoint="checker", work_s=36.0)
    await harness.follow(submission)
    stored = await harness.store.get_submission(submission.id)
    assert stored is not None
    assert stored.cost_usd is not None
    work_usd = Decimal("1.99") * 36 / 3600
    assert abs(stored.cost_usd - work_usd) < Decimal("0.001")


@orchestrated(cpu_nodes=1)
async def test_a_shortage_is_waited_out_for_the_time_of_a_boot(harness: OrchestratorHarness) -> None:
    """A GPU is used only if waiting takes longer than a CPU node takes to boot."""
    refuse_cpu_nodes(harness, FailureKind.NO_CAPACITY)
    begun_at = harness.clock.now()
    submission = await harness.submit(endpoint="checker")
    events = await harness.follow(submission)
    assert events[-1].status == Verdict.CHECKED
    assert BOOT_S <= moved(events).time - begun_at < BOOT_S + 1
    assert await gpus_of(harness, submission) == ["MI300X"]


@orchestrated(cpu_nodes=1)
async def test_a_short_shortage_moves_nothing(harness: OrchestratorHarness) -> None:
    """The CPU node that is available after a few seconds judges the check."""
    refuse_cpu_nodes(harness, FailureKind.NO_CAPACITY)
    submission = await harness.submit(endpoint="checker")
    await asyncio.sleep(2)
    assert harness.orchestrator.provisioning_problems()
    harness.provider.refuses = lambda _: None
    assert (await harness.follow(submission))[-1].status == Verdict.CHECKED
    assert await gpus_of(harness, submission) == [CPU_NODE]


@orchestrated(cpu_nodes=1)
async def test_a_free_gpu_judges_a_check_during_a_shortage_at_once(harness: OrchestratorHarness) -> None:
    """It is warm, so nothing needs to boot."""
    await harness.follow(await harness.submit(endpoint="benchmark"))
    refuse_cpu_nodes(harness, FailureKind.NO_CAPACITY)
    begun_at = harness.clock.now()
    events = await harness.follow(await harness.submit(endpoint="checker", work_s=1.0))
    assert events[-1].status == Verdict.CHECKED
    assert events[-1].time - begun_at < BOOT_S / 2
    assert len(await harness.vms()) <= 2  # the VM with a GPU, and the refused CPU node


@orchestrated(cpu_nodes=1, max_vms=1)
async def test_waiting_checks_return_when_a_cpu_node_is_ready(harness: OrchestratorHarness) -> None:
    """They do not wait for a busy GPU while a CPU node is free."""
    busy = await harness.submit(endpoint="benchmark", work_s=1500.0)
    refuse_cpu_nodes(harness, FailureKind.DENIED)
    first = await harness.submit(endpoint="checker")
    await asyncio.sleep(BOOT_S)
    harness.provider.refuses = lambda _: None
    assert harness.orchestrator.reset_provisioning(CPU_NODE)
    second = await harness.submit(endpoint="checker")
    for check in (first, second):
        assert (await harness.follow(check))[-1].status == Verdict.CHECKED
        assert await gpus_of(harness, check) == [CPU_NODE]
    await harness.orchestrator.cancel(busy.id)


@orchestrated(cpu_nodes=1, credits_usd=Decimal("0.50"))
async def test_credits_that_do_not_cover_a_gpu_move_nothing(harness: OrchestratorHarness) -> None:
    """The check fails with the reason of the CPU nodes, and no VM with a GPU is provisioned."""
    refuse_cpu_nodes(harness, FailureKind.DENIED)
    events = await harness.follow(await harness.submit(endpoint="checker"))
    assert (events[-1].status, events[-1].fields["code"]) == (Verdict.ERROR, "NO_VM")
    assert "The CPU cloud is down" in events[-1].fields["message"]
    assert {vm.gpu for vm in await harness.vms()} <= {CPU_NODE}


@orchestrated(cpu_nodes=1, daily_budget_usd=Decimal("0.004"))
async def test_a_check_that_fits_its_cap_only_on_a_cpu_node_waits_for_one(
    harness: OrchestratorHarness,
) -> None:
    """It returns to the queue for CPU nodes, and does not move again."""
    refuse_cpu_nodes(harness, FailureKind.NO_CAPACITY)
    caps = DailyCaps.for_user(harness.settings, "ada", None)
    submission = await harness.submit(endpoint="checker", caps=caps)
    await asyncio.sleep(4 * BOOT_S)
    assert any(vm.gpu == "MI300X" and vm.ready_at for vm in harness.orchestrator.pool())
    assert harness.attempts(submission) == []
    harness.provider.refuses = lambda _: None
    events = await harness.follow(submission)
    assert moved(events)
    assert events[-1].status == Verdict.CHECKED
    assert await gpus_of(harness, submission) == [CPU_NODE]


@orchestrated(cpu_nodes=1)
async def test_checks_stay_if_there_are_no_gpus_either(harness: OrchestratorHarness) -> None:
    """During a shortage of both, a check waits for a CPU node, which is cheaper."""
    refuse = ProviderError("No VM is available.", kind=FailureKind.NO_CAPACITY)
    harness.provider.refuses = lambda _: refuse
    timed = await harness.submit(endpoint="benchmark")
    check = await harness.submit(endpoint="checker")
    await asyncio.sleep(4 * BOOT_S)
    harness.provider.refuses = lambda _: None
    assert (await harness.follow(check))[-1].status == Verdict.CHECKED
    assert await gpus_of(harness, check) == [CPU_NODE]
    assert (await harness.follow(timed))[-1].status == Verdict.BENCHMARKED
