"""VMs with different prices: the highest one is reserved, and the ledger has the price of each VM."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from decimal import Decimal

from tests.support.orchestrator_harness import OrchestratorHarness, orchestrated
from warmfront.money.billing import CENT, Billing
from warmfront.store import ledger_queries

HALF, WHOLE = Decimal("0.5"), Decimal(1)
RATE = Decimal("1.99")


async def _run_and_end(harness: OrchestratorHarness, count: int = 1) -> None:
    """Judge submissions, each on a VM of its own, and wait until the VMs have ended."""
    for submission in [await harness.submit(work_s=60) for _ in range(count)]:
        await harness.follow(submission)
    await asyncio.sleep(3600)
    assert harness.orchestrator.pool() == []


def _compare_ledger_with_bill(harness: OrchestratorHarness) -> None:
    for vm_id in harness.provider.vms:
        ledger_usd = harness.database.run(ledger_queries.total_of_vm, vm_id)
        assert ledger_usd == harness.provider.bill_usd(vm_id) > 0


@orchestrated(offers=(HALF, WHOLE), max_vms=8)
async def test_each_vm_is_metered_at_its_own_price(harness: OrchestratorHarness) -> None:
    """VMs of two offers run at the same time; the ledger of each equals its bill, and so does the total."""
    await _run_and_end(harness, count=8)
    vms = await harness.vms()
    assert {vm.rate_usd_per_h for vm in vms} == {RATE, RATE * HALF}
    _compare_ledger_with_bill(harness)
    assert harness.orchestrator.budget_status().spent_usd == harness.provider.spent_usd()


@orchestrated(offers=(HALF,))
async def test_the_highest_price_is_reserved(harness: OrchestratorHarness) -> None:
    """The reservation is the same as for a VM at the configured rate, before and after its price is known."""
    budget = harness.orchestrator._budget
    submission = await harness.submit(work_s=60)
    await asyncio.sleep(1)
    (vm,) = harness.orchestrator.pool()
    assert vm.rate_usd_per_h is None
    assert vm.escrow_usd == budget.new_vm_usd("MI300X")
    await harness.follow(submission)
    (vm,) = harness.orchestrator.pool()
    assert vm.rate_usd_per_h == RATE * HALF
    assert budget.one_more_task_usd(vm) == budget.one_more_task_usd(replace(vm, rate_usd_per_h=None))
    assert budget.work_usd(vm, 3600) == RATE * HALF


@orchestrated(offers=(WHOLE,))
async def test_another_configured_rate_does_not_change_the_price_of_a_vm(
    harness: OrchestratorHarness,
) -> None:
    """After a restart with a lower rate, the ledger and the reservation of the VM still have its price."""
    await harness.follow(await harness.submit(work_s=60))
    await harness.orchestrator.stop()
    harness.provider._billing = Billing(rate_usd_per_h=RATE / 2)
    harness.orchestrator = harness.new_orchestrator()
    await harness.orchestrator.start()
    (vm,) = harness.orchestrator.pool()
    budget = harness.orchestrator._budget
    assert (
        budget.one_more_task_usd(vm) > 2 * budget.one_more_task_usd(replace(vm, rate_usd_per_h=None)) - CENT
    )
    await _run_and_end(harness)
    _compare_ledger_with_bill(harness)


@orchestrated()
async def test_a_vm_that_is_already_metered_keeps_the_configured_rate(harness: OrchestratorHarness) -> None:
    """Its price is reported late, after an update: entries at two rates would not add up to any bill."""
    await harness.follow(await harness.submit(work_s=60))
    await harness.orchestrator.stop()
    (fake_vm,) = harness.provider.vms.values()
    fake_vm.billing = Billing(rate_usd_per_h=RATE * HALF)
    harness.orchestrator = harness.new_orchestrator()
    await harness.orchestrator.start()
    await asyncio.sleep(3600)
    (vm,) = await harness.vms()
    assert vm.started_at is not None
    assert vm.ended_at is not None
    billed_usd = harness.provider.billing("MI300X").cost_usd(vm.ended_at - vm.started_at)
    assert harness.database.run(ledger_queries.total_of_vm, vm.id) == billed_usd


@orchestrated(offers=(HALF,))
async def test_a_vm_that_only_the_provider_knew_has_its_price(harness: OrchestratorHarness) -> None:
    """An adopted VM is metered at its own price too."""
    harness.provider.add_unknown_vm("stranger")
    await asyncio.sleep(3600)
    vm = await harness.store.get_vm("stranger")
    assert vm is not None
    assert vm.rate_usd_per_h == RATE * HALF
    _compare_ledger_with_bill(harness)
