"""Two real services in one project of a real dstack server, both killed repeatedly, and the bill.

The server's intervals are scaled to a twentieth, so that an hour of its time takes three minutes.
"""

from __future__ import annotations

import itertools
import random
import time
from contextlib import ExitStack
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from tests.dstack.harness import SCALE, open_stack
from tests.support.dstack_services import User, dstack_service, temporary_home
from tests.support.fake_cloud import amd_developer_cloud
from warmfront.money.billing import CENT
from warmfront.providers.dstack.configuration import parse_run_name

if TYPE_CHECKING:
    from pathlib import Path

    from tests.dstack.harness import Stack
    from tests.support.services import Service

pytestmark = [pytest.mark.dstack, pytest.mark.slow]

_HOUR_S = 3600.0 * SCALE


@pytest.mark.parametrize("fleets", [("both", "both"), ("first", "second")])
def test_two_services_in_one_project(fleets: tuple[str, str], tmp_path: Path) -> None:
    """Every submission gets its verdict, no VM is touched by the other service, and the ledgers are right."""
    with temporary_home() as folder, open_stack(folder) as stack, ExitStack() as services:
        for fleet in {*fleets}:
            stack.apply_fleet(fleet, nodes="0..4")
        pair = [
            services.enter_context(
                dstack_service(
                    stack,
                    tmp_path / f"service-{number}",
                    **stack.cloud.environment,
                    WARMFRONT_AMDDEVCLOUD_READ_KEY=amd_developer_cloud.KEY,
                    AMD_FLEET_NAME=fleet,
                    AMD_VM_IDLE_TIMEOUT="3",
                    AMD_VM_MAX_CONCURRENT="2",
                    WARMFRONT_LOST_AFTER="60",
                )
            )
            for number, fleet in enumerate(fleets)
        ]
        users = [User(service, "alice") for service in pair]
        (second,), (first,) = live_for_an_hour(pair, users)  # the owner that each saw as foreign
        assert first != second
        vms = [user.wait_until_all_vms_ended() for user in users]
        assert not stack.cloud.droplets
        for user, ended in zip(users, vms, strict=True):
            check_ledger(user, ended)
        check_machines(stack, {first: vms[0], second: vms[1]}, may_hand_over=len({*fleets}) == 1)
        billed_usd = sum((Decimal(str(entry.cost_usd())) for entry in stack.cloud.bill()), Decimal(0))
        assert abs(sum((user.spent_usd() for user in users), Decimal(0)) - billed_usd) < CENT


def live_for_an_hour(pair: list[Service], users: list[User]) -> list[set[str]]:
    """Submit and crash for an hour of the server's time; return the owners that each saw as foreign."""
    draws = random.Random(15)  # noqa: S311 - must be reproducible
    foreign: list[set[str]] = [set(), set()]
    until = time.monotonic() + _HOUR_S
    while time.monotonic() < until or not all(foreign):
        submissions = [(user, user.submit()) for user in users for _ in range(2)]
        victim = draws.choice(pair)
        for event in users[0].follow(submissions[0][1]):
            if event["status"] == draws.choice(["PROVISIONING", "VM_READY", "CHECKING"]):
                break
        victim.kill()
        victim.start()
        for user, submission_id in submissions:
            assert list(user.follow(submission_id))[-1]["status"] == "ACCEPTED"
        for seen, user in zip(foreign, users, strict=True):
            seen |= {vm["owner"] for vm in user.foreign_vms()}
    return foreign


def check_ledger(user: User, vms: list[dict[str, Any]]) -> None:
    """Compare the total of a service with the costs of its VMs, which have ended."""
    assert {vm["state"] for vm in created(vms)} == {"TERMINATED"}, vms
    assert all(vm["end_confirmed"] is True for vm in created(vms))
    cost_usd = sum((Decimal(str(vm["cost_usd"])) for vm in vms), Decimal(0))
    assert abs(user.spent_usd() - cost_usd) < CENT / 2


def created(vms: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the VMs that the cloud created."""
    return [vm for vm in vms if vm["started_at"] is not None]


def check_machines(stack: Stack, vms: dict[str, list[dict[str, Any]]], *, may_hand_over: bool) -> None:
    """Check that the VMs on each machine add up to its bill, and that no service used another's VM.

    dstack may put a run on a machine that an earlier run has just left. Both VMs then share the machine,
    which is named after the first, and divide its bill. On a shared fleet, with `may_hand_over`, dstack does
    so with runs of two services as well, if one run is submitted while the other's VM is being released.
    """
    tenants: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for owner, of_owner in vms.items():
        for vm in created(of_owner):
            tenants.setdefault(vm["machine_id"], []).append((owner, vm))
    bill = {f"amddevcloud/{entry.id}": entry for entry in stack.cloud.bill()}
    assert tenants.keys() == bill.keys()
    for machine_id, on_machine in tenants.items():
        on_machine.sort(key=lambda tenant: str(tenant[1]["started_at"]))
        label = parse_run_name(bill[machine_id].name.removeprefix("dstack-main-").rpartition("-")[0])
        assert label is not None, bill[machine_id]
        first_owner, first = on_machine[0]
        assert (label.owner, label.our_id) == (first_owner, first["id"])
        if not may_hand_over:
            assert {owner for owner, _ in on_machine} == {first_owner}
        for (_, before), (_, after) in itertools.pairwise(on_machine):
            assert before["ended_at"] == after["started_at"], on_machine
        cost_usd = sum((Decimal(str(vm["cost_usd"])) for _, vm in on_machine), Decimal(0))
        billed_usd = Decimal(str(bill[machine_id].cost_usd()))
        assert abs(cost_usd - billed_usd) < CENT / 2, (on_machine, bill[machine_id])
