"""Several services in one dstack project: each finds its own VMs, and leaves those of the others alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.dstack.test_provider import TOKEN, _home, new_id, provision, responds, with_provider
from tests.support.dstack_owners import OTHER, OWNERSHIP, owner
from warmfront.providers.base import Phase
from warmfront.providers.dstack.client import DstackClient
from warmfront.providers.dstack.configuration import run_name
from warmfront.providers.dstack.pool_mode import DstackProvider

if TYPE_CHECKING:
    from tests.dstack.conftest import MakeFleet
    from tests.dstack.harness import Stack

pytestmark = [
    pytest.mark.slow,  # the real dstack server is slow
    # dstack's client does not close its socket if it finds a port in use.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


__all__ = ["_home"]  # a fixture for these tests, too


@pytest.mark.parametrize("shares_fleet", [True, False])
def test_vms_of_another_service_are_foreign(stack: Stack, fleet: MakeFleet, *, shares_fleet: bool) -> None:
    """Each service lists only its own VM; it shows the other one as foreign and does not change it."""
    first_fleet = fleet(nodes="0..3")
    second_fleet = first_fleet if shares_fleet else fleet(nodes="0..3")
    first_vm, second_vm = new_id(), new_id()

    async def scenario(first: DstackProvider) -> None:
        second = _beside(first, OTHER, fleet_name=second_fleet)
        ready = (await provision(first, first_vm))[-1]
        assert await second.leases() == []
        (foreign,) = second.foreign_vms
        assert (foreign.owner, foreign.fleet) == (OWNERSHIP.id, first_fleet)
        assert foreign.used_by == run_name(first_vm, OWNERSHIP.id)
        assert str(foreign.rate_usd_per_h) == "1.99"
        await provision(second, second_vm)
        assert [lease.vm_id for lease in await first.leases()] == [first_vm]
        assert [lease.vm_id for lease in await second.leases()] == [second_vm]
        assert (await second.release(second_vm)).phase is Phase.ENDED
        assert await responds(ready)
        assert (await first.release(first_vm)).phase is Phase.ENDED
        await second.close()

    with_provider(stack, first_fleet, scenario)


def test_vms_from_before_owner_ids_are_ours_by_our_records(stack: Stack, fleet: MakeFleet) -> None:
    """A run without an owner id belongs to the service that has a record of its VM, and to no other."""
    vm_id = new_id()

    async def scenario(ours: DstackProvider) -> None:
        task = {**ours.task(vm_id, "MI300X", TOKEN), "name": run_name(vm_id)}
        await ours.client.apply_task(task)
        ready = (await provision(ours, vm_id))[-1]
        assert await responds(ready)
        other = _beside(ours, OTHER)
        assert await other.leases() == []
        assert [(foreign.owner, foreign.used_by) for foreign in other.foreign_vms] == [
            (None, run_name(vm_id))
        ]
        assert [lease.vm_id for lease in await ours.leases()] == [vm_id]
        assert ours.foreign_vms == []
        assert (await ours.release(vm_id)).started_at == ready.started_at
        await other.close()

    before = len(stack.cloud.bill())
    with_provider(stack, fleet(), scenario, ownership=owner(OWNERSHIP.id, vm_id))
    assert len(stack.cloud.bill()) - before == 1


def test_a_vm_that_another_service_left_idle_is_not_taken(stack: Stack, fleet: MakeFleet) -> None:
    """A run that belongs to no service leaves a VM on the fleet; our run waits, and gets another VM."""
    name = fleet(nodes="0..2", idle_duration="20s")
    left = stack.run("left-idle", name, "true")
    before = len(stack.cloud.bill())
    vm_id = new_id()

    async def scenario(ours: DstackProvider) -> None:
        leases = await provision(ours, vm_id)
        assert leases[0].detail.startswith("Waiting until ")
        await ours.release(vm_id)

    with_provider(stack, name, scenario)
    assert left.status.value == "done"
    assert len(stack.cloud.bill()) - before == 1


def _beside(provider: DstackProvider, ownership: Any, **changes: str) -> DstackProvider:
    """Open a provider of another service, in the same project."""
    settings = replace(provider.settings, **changes)  # type: ignore[arg-type]  # names and types of fields
    return DstackProvider(settings, DstackClient.open(settings), ownership=ownership)
