"""Spot VMs of a dstack fleet: an interruption in mid-benchmark ends in a verdict from another VM."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from tests.dstack.harness import open_stack
from tests.support.dstack_services import SLOW, User, dstack_service, temporary_home, vms_of
from tests.support.fake_cloud import Switches
from warmfront.money.billing import CENT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.dstack, pytest.mark.slow]


def test_interruption_in_mid_benchmark(tmp_path: Path) -> None:
    """The submission is judged on an on-demand VM, and the ledger has both at their own prices."""
    settings = {
        "AMD_VM_IDLE_TIMEOUT": "5",
        "AMD_SPOT_PRICE_RATIO": "0.4",
        "WARMFRONT_WAIT_VALUE_USD_PER_HOUR": "0",
    }
    with (
        temporary_home() as folder,
        open_stack(folder, switches=Switches(spot_price=0.796)) as stack,
        dstack_service(stack, tmp_path, **settings) as service,
    ):
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
        assert (failed["vm_id"], "took the spot VM back" in failed["reason"]) == (first, True)
        vms = {vm["id"]: vm for vm in user.wait_until_all_vms_ended()}
        assert set(vms) == {first, second}
        bill = stack.cloud.bill()
        assert [(entry.spot, entry.price) for entry in bill] == [(True, 0.796), (False, 1.99)]
        billed_usd = Decimal(str(sum(entry.cost_usd() for entry in bill)))
        assert abs(user.spent_usd() - billed_usd) < CENT
        assert not stack.cloud.droplets
