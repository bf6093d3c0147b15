"""The reconciler: VMs that only the provider knows, and VMs that only we know."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.support.orchestrator_harness import OrchestratorHarness, orchestrated
from warmfront.errors import ProviderError, VMUnreachable
from warmfront.vm import VMState

if TYPE_CHECKING:
    from warmfront.listener.protocol import ListenerHealth
    from warmfront.providers.base import Lease
    from warmfront.vm import VMInstance


async def _forget(harness: OrchestratorHarness) -> str:
    """Provision a VM, then stop the orchestrator and record its end although the provider still has it."""
    await harness.follow(await harness.submit())
    (vm,) = harness.orchestrator.pool()
    await harness.orchestrator.stop()
    ended = vm.shut_down("recorded by mistake", failed=True, now=1.0).end(harness.clock.now())
    await harness.store.save_vm(ended)
    return vm.id


@orchestrated()
async def test_a_vm_that_accepts_our_token_is_adopted(harness: OrchestratorHarness) -> None:
    """A VM that the provider still has is IDLE again, has a reservation, and runs the next submission."""
    vm_id = await _forget(harness)
    harness.orchestrator = harness.new_orchestrator()
    await harness.orchestrator.start()
    (vm,) = harness.orchestrator.pool()
    assert (vm.id, vm.state, vm.failed) == (vm_id, VMState.IDLE, False)
    assert vm.escrow_usd > 0
    events = await harness.follow(await harness.submit())
    assert [event.fields["vm_id"] for event in events if event.status == "VM_READY"] == [vm_id]


@orchestrated()
async def test_a_vm_that_cannot_be_described_is_adopted_soon(harness: OrchestratorHarness) -> None:
    """A provider that is too busy to answer is asked again within seconds, before the next submission."""
    vm_id = await _forget(harness)
    describe, failures = harness.provider.describe, iter([ProviderError("It is busy.")])

    async def describe_later(vm_id: str) -> Lease | None:
        for failure in failures:
            raise failure
        return await describe(vm_id)

    harness.provider.describe = describe_later  # type: ignore[method-assign]  # it fails once
    harness.orchestrator = harness.new_orchestrator()
    await harness.orchestrator.start()
    assert harness.orchestrator.pool() == []
    await asyncio.sleep(10)
    assert [vm.id for vm in harness.orchestrator.pool()] == [vm_id]


@orchestrated()
async def test_a_vm_that_rejects_our_token_is_ended_and_billed(harness: OrchestratorHarness) -> None:
    """A VM that cannot be used is ended, and its cost is in the ledger."""

    async def rejected(vm: VMInstance) -> ListenerHealth:
        raise VMUnreachable(f"{vm.id} rejects the token")

    harness.listeners.heartbeat = rejected  # type: ignore[method-assign]  # every VM rejects our token
    harness.provider.add_unknown_vm("stranger")
    await asyncio.sleep(300)
    vm = await harness.store.get_vm("stranger")
    assert vm is not None
    assert (vm.state, vm.reason) == (VMState.FAILED, "unknown to this service")
    assert await harness.store.vm_cost_usd("stranger") > 0
    assert harness.provider.alive() == []


@orchestrated()
async def test_a_vm_that_the_provider_no_longer_has_is_released(harness: OrchestratorHarness) -> None:
    """A VM that vanished ends as FAILED, and a later submission gets another one."""
    await harness.follow(await harness.submit())
    (vm,) = harness.orchestrator.pool()
    await harness.provider.release(vm.id)
    events = await harness.follow(await harness.submit())
    assert events[-1].status == "CHECKED"
    first, *_ = await harness.vms()
    assert (first.id, first.state) == (vm.id, VMState.FAILED)


@orchestrated()
async def test_an_unavailable_provider_changes_nothing(harness: OrchestratorHarness) -> None:
    """While the provider does not respond, no VM is given up; the reconciler retries soon."""

    async def unavailable() -> list[object]:
        raise ProviderError("the cloud does not respond")

    await harness.follow(await harness.submit())
    harness.provider.leases = unavailable  # type: ignore[method-assign,assignment]  # it fails
    assert await harness.orchestrator._reconciler.reconcile() is False
    assert [vm.state for vm in harness.orchestrator.pool()] == [VMState.IDLE]
