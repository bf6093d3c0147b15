"""The VM pool: provisioning, heartbeats, release, and an orderly stop."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from tests.support.orchestrator_harness import OrchestratorHarness, orchestrated
from warmfront.errors import DstackUnreachable, VMUnreachable
from warmfront.simulate.virtual_time import run_virtual
from warmfront.vm import VMInstance, VMState

if TYPE_CHECKING:
    from warmfront.listener.protocol import ListenerHealth
    from warmfront.providers.base import Lease


def _requested(harness: OrchestratorHarness, vm_id: str = "vm-a", gpu: str = "MI300X") -> VMInstance:
    orchestrator = harness.orchestrator
    return VMInstance.request(
        vm_id,
        provider=harness.provider.name,
        gpu=gpu,
        created_at=harness.clock.now(),
        simulated=False,
        escrow_usd=orchestrator._budget.reserve_new(vm_id, gpu),
        provisioned_for=None,
    )


@orchestrated(start=False)
async def test_a_provisioned_vm_becomes_warm_with_a_deadline(harness: OrchestratorHarness) -> None:
    """When its listener answers, a VM is WARM, stored, free, and has a release deadline."""
    pool = harness.orchestrator._pool
    pooled = pool.provision(_requested(harness))
    await asyncio.sleep(60)
    assert pooled.vm.state is VMState.WARM
    assert pooled.is_free
    assert pooled.vm.deadline_at is not None
    assert await harness.store.get_vm("vm-a") == pooled.vm
    assert pool.free("MI300X").take() is pooled


@orchestrated(start=False)
async def test_a_listener_that_starts_is_asked_more_often_than_its_provider(
    harness: OrchestratorHarness,
) -> None:
    """The provider's description is slow, so the first heartbeats that fail are repeated without it."""
    heartbeat, describe = harness.listeners.heartbeat, harness.provider.describe
    asked: list[str] = []

    async def heartbeat_of_a_starting_listener(vm: VMInstance) -> ListenerHealth:
        asked.append("listener")
        if asked.count("listener") <= 7:
            raise VMUnreachable("The listener is being started.")
        return await heartbeat(vm)

    async def counted_describe(vm_id: str) -> Lease | None:
        asked.append("provider")
        return await describe(vm_id)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(harness.listeners, "heartbeat", heartbeat_of_a_starting_listener)
        patch.setattr(harness.provider, "describe", counted_describe)
        pooled = harness.orchestrator._pool.provision(_requested(harness))
        await asyncio.sleep(60)
    assert pooled.vm.state is VMState.WARM
    assert asked[:9] == [*["listener"] * 5, "provider", *["listener"] * 3]


@orchestrated(start=False)
async def test_a_vm_is_stored_before_it_is_leased(harness: OrchestratorHarness) -> None:
    """The provider never sees a VM that the store does not have."""
    stored: list[bool] = []
    harness.provider.on_create = lambda vm: stored.append(
        harness.database.count(f"SELECT count(*) FROM vms WHERE id = '{vm.id}'") == 1  # noqa: S608 - our id
    )
    harness.orchestrator._pool.provision(_requested(harness))
    await asyncio.sleep(60)
    assert stored == [True]


@orchestrated(start=False)
async def test_releasing_twice_is_releasing_once(harness: OrchestratorHarness) -> None:
    """The first reason stays, and the end is stored once, with the reservation settled."""
    pool = harness.orchestrator._pool
    pooled = pool.provision(_requested(harness))
    await asyncio.sleep(60)
    pool.release(pooled, "first")
    pool.release(pooled, "second", failed=True)
    await pooled.ended.wait()
    assert (pooled.vm.state, pooled.vm.reason) == (VMState.TERMINATED, "first")
    assert len(pool) == 0
    assert harness.orchestrator._budget.escrow.reserved_usd("vm-a") == 0
    assert harness.orchestrator._budget.escrow.settled_usd == await harness.store.vm_cost_usd("vm-a") > 0


@orchestrated(start=False, provision_timeout_s=10.0)
async def test_a_vm_that_takes_too_long_is_a_boot_failure(harness: OrchestratorHarness) -> None:
    """After the provision timeout the VM is released as failed, and the autoscaler is notified."""
    pool = harness.orchestrator._pool
    pooled = pool.provision(_requested(harness))
    await pooled.ended.wait()
    assert pooled.vm.state is VMState.FAILED
    (failure,) = pool.take_boot_failures()
    assert (failure.gpu, failure.reason) == ("MI300X", "its listener did not answer within 10 s")
    assert pool.take_boot_failures() == []


@orchestrated(max_vms=1)
async def test_a_silent_vm_is_kept_while_the_provider_is_unavailable(harness: OrchestratorHarness) -> None:
    """Without dstack its tunnel cannot be reopened, so it is given up only after its watchdog's time."""
    await harness.follow(await harness.submit())

    async def unreachable(*_: object) -> None:
        raise VMUnreachable("no tunnel")

    async def unavailable(*_: object) -> None:
        raise DstackUnreachable("no dstack server")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(harness.listeners, "heartbeat", unreachable)
        patch.setattr(harness.provider, "describe", unavailable)
        await asyncio.sleep(harness.settings.lost_after_s + 60)
        assert not next(iter(harness.orchestrator._pool.all())).releasing
    assert (await harness.follow(await harness.submit()))[-1].fields["status"] == "CHECKED"
    assert len(await harness.vms()) == 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(harness.listeners, "heartbeat", unreachable)
        patch.setattr(harness.provider, "describe", unavailable)
        await asyncio.sleep(harness.settings.watchdog_s + 60)
    assert [vm.reason for vm in await harness.vms()] == ["no heartbeat"]


@orchestrated(start=False)
async def test_prices_depend_on_the_gpu(harness: OrchestratorHarness) -> None:
    """A VM with a more expensive GPU reserves and costs more."""
    budget = harness.orchestrator._budget
    assert budget.new_vm_usd("MI325X") > budget.new_vm_usd("MI300X") > Decimal(0)


def test_an_orderly_stop_ends_vms_that_do_not_outlive_the_service() -> None:
    """VMs end as TERMINATED, the attempt is interrupted, and the next start uses up no retry for it."""

    async def main() -> None:
        harness = OrchestratorHarness()
        harness.provider.vms_outlive_service = False
        await harness.orchestrator.start()
        submission = await harness.submit(work_s=300)
        await asyncio.sleep(120)
        assert [vm.state for vm in harness.orchestrator.pool()] == [VMState.BUSY]
        await harness.orchestrator.stop()
        assert [vm.state for vm in await harness.vms()] == [VMState.TERMINATED]
        assert [attempt.outcome for attempt in harness.attempts(submission)] == ["INTERRUPTED"]
        harness.orchestrator = harness.new_orchestrator()
        await harness.orchestrator.start()
        resumed = harness.orchestrator._submissions.get(submission.id)
        assert resumed is not None
        assert resumed.lost_attempts == 0
        events = await harness.follow(submission)
        assert events[-1].status == "CHECKED"
        assert not [vm for vm in await harness.vms() if vm.state is VMState.FAILED]
        await harness.orchestrator.stop()

    run_virtual(main())


def test_a_crash_uses_up_a_retry() -> None:
    """The attempt on a lost VM counts as lost, unlike after an orderly stop."""

    async def main() -> None:
        harness = OrchestratorHarness()
        await harness.orchestrator.start()
        submission = await harness.submit(work_s=300)
        await asyncio.sleep(120)
        (vm,) = harness.orchestrator.pool()
        pooled = harness.orchestrator._pool.get(vm.id)
        assert pooled is not None
        harness.orchestrator._pool.release(pooled, "no heartbeat", failed=True)
        events = await harness.follow(submission)
        assert events[-1].status == "CHECKED"
        assert [attempt.outcome for attempt in harness.attempts(submission)] == ["LOST", "CHECKED"]
        await harness.orchestrator.stop()

    run_virtual(main())
