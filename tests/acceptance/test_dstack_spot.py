"""Spot VMs of a dstack fleet: an interruption in mid-benchmark ends in a verdict from another VM."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from tests.dstack.harness import open_stack
from tests.support.dstack_services import SLOW, User, dstack_service, temporary_home, vms_of
from tests.support.fake_cloud import Switches, amd_developer_cloud
from warmfront.money.billing import CENT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.dstack.harness import Stack
    from tests.support.services import Service

pytestmark = [pytest.mark.dstack, pytest.mark.slow]

_SPOT_USD_PER_H = 0.796
_SETTINGS = {
    "AMD_VM_IDLE_TIMEOUT": "5",
    "AMD_SPOT_PRICE_RATIO": "0.4",
    "WARMFRONT_WAIT_VALUE_USD_PER_HOUR": "0",
}


def interrupt_and_follow(stack: Stack, service: Service) -> dict[str, Any]:
    """Preempt the spot VM in mid-benchmark; return it, as the service reports it, when all VMs have ended."""
    user = User(service, "alice")
    events: list[dict[str, Any]] = []
    for event in user.follow(user.submit(solution_code=SLOW)):
        events.append(event)
        if event["status"] == "BENCHMARKING" and len(vms_of(events)) == 1:
            (droplet,) = stack.cloud.droplets
            stack.cloud.interrupt(droplet)
    assert events[-1]["status"] == "ACCEPTED"
    first, second = vms_of(events)
    failed = next(event for event in events if event["status"] == "VM_FAILED")
    assert (failed["vm_id"], "preempted the spot VM" in failed["reason"]) == (first, True)
    vms = {vm["id"]: vm for vm in user.wait_until_all_vms_ended()}
    assert set(vms) == {first, second}
    bill = stack.cloud.bill()
    assert [(entry.spot, entry.price) for entry in bill] == [(True, _SPOT_USD_PER_H), (False, 1.99)]
    assert not stack.cloud.droplets
    return vms[first]


def test_interruption_in_mid_benchmark(tmp_path: Path) -> None:
    """The submission is judged on an on-demand VM, and the ledger has both at their own prices."""
    with (
        temporary_home() as folder,
        open_stack(folder, switches=Switches(spot_price=_SPOT_USD_PER_H)) as stack,
        dstack_service(stack, tmp_path, **_SETTINGS) as service,
    ):
        interrupted = interrupt_and_follow(stack, service)
        assert interrupted["end_confirmed"] is False
        billed_usd = Decimal(str(sum(entry.cost_usd() for entry in stack.cloud.bill())))
        assert abs(User(service, "bob").spent_usd() - billed_usd) < CENT


@pytest.mark.parametrize("records_actions", [True, False])
def test_the_ledger_of_a_spot_vm_closes_with_it(tmp_path: Path, records_actions: bool) -> None:  # noqa: FBT001 - a parameter
    """The cloud's list shows at once that the VM has ended; its record has the time, to the second.

    Without the list, the service would wait for an hour until the VM counts as lost.
    """
    switches = Switches(spot_price=_SPOT_USD_PER_H, records_actions=records_actions)
    with (
        temporary_home() as folder,
        open_stack(folder, switches=switches) as stack,
        dstack_service(
            stack,
            tmp_path,
            **_SETTINGS,
            **stack.cloud.environment,
            WARMFRONT_AMDDEVCLOUD_READ_KEY=amd_developer_cloud.KEY,
            WARMFRONT_LOST_AFTER="3600",
        ) as service,
    ):
        interrupted = interrupt_and_follow(stack, service)
        assert interrupted["end_confirmed"] is True
        billed = stack.cloud.bill()[0]
        difference_usd = abs(Decimal(str(interrupted["cost_usd"])) - Decimal(str(billed.cost_usd())))
        # The record has whole seconds. By the list alone, the end lies between a heartbeat and the next list.
        one_second_usd = Decimal(str(billed.price)) / 3600
        assert difference_usd <= (one_second_usd + Decimal("0.00001") if records_actions else CENT)
