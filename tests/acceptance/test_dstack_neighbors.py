"""Two real services in one project of a real dstack server, both killed repeatedly, and the bill.

The server's intervals are scaled to a twentieth, so that an hour of its time takes three minutes.
"""

from __future__ import annotations

import random
import time
from contextlib import ExitStack
from decimal import Decimal
from typing import TYPE_CHECKING

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
        foreign_owners = live_for_an_hour(pair, users)
        vms = [user.wait_until_all_vms_ended() for user in users]
        assert not stack.cloud.droplets
        owners = [check_ledger(stack, user, ended) for user, ended in zip(users, vms, strict=True)]
        assert len({*owners}) == 2
        assert foreign_owners == [{owners[1]}, {owners[0]}]
        billed_usd = Decimal(str(sum(entry.cost_usd() for entry in stack.cloud.bill())))
        count = len(stack.cloud.bill())
        assert abs(sum(user.spent_usd() for user in users) - billed_usd) < CENT * count


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


def check_ledger(stack: Stack, user: User, vms: list[dict[str, object]]) -> str:
    """Check the VMs of a service against the cloud's bill; return the owner id of the service.

    dstack may put a run on a machine that an earlier run of the same service has just left. Both VMs then
    share the machine, which is named after the first, and their costs are its bill together.
    """
    bill = {f"amddevcloud/{entry.id}": entry for entry in stack.cloud.bill()}
    tenants: dict[str, list[dict[str, object]]] = {}
    for vm in vms:
        if vm["started_at"] is not None:  # otherwise it was never created
            tenants.setdefault(str(vm["machine_id"]), []).append(vm)
    owners = set()
    for machine_id, on_machine in tenants.items():
        entry = bill[machine_id]
        label = parse_run_name(entry.name.removeprefix("dstack-main-").rpartition("-")[0])
        assert label is not None, entry
        assert label.our_id in {vm["id"] for vm in on_machine}
        owners.add(label.owner)
        assert {vm["state"] for vm in on_machine} == {"TERMINATED"}, on_machine
        assert all(vm["end_confirmed"] is True for vm in on_machine)
        cost_usd = sum(Decimal(str(vm["cost_usd"])) for vm in on_machine)
        assert abs(cost_usd - Decimal(str(entry.cost_usd()))) < CENT, (on_machine, entry)
    (owner,) = owners
    assert owner is not None
    return owner
