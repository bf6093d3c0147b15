"""The service with a dstack fleet, as an operator runs it: real processes, a real dstack server, a bill."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from tests.dstack.harness import open_stack, until
from tests.support.dstack_services import (
    ENDLESS,
    SLEEPING,
    SLOW,
    User,
    dstack_service,
    temporary_home,
    vms_of,
)
from tests.support.fake_cloud import amd_developer_cloud
from tests.support.services import statuses
from warmfront.money.billing import CENT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.dstack.harness import Stack
    from tests.support.services import Service

pytestmark = pytest.mark.dstack

PHASES = ["queued", "booting", "pulling", "starting", "ready"]
JUDGED = ["VM_READY", "COMPILING", "CHECKING", "TEST_RESULT", "CHECKED", "BENCHMARKING", "BENCHMARK_RESULT"]


@pytest.fixture(scope="module", name="stack")
def _stack() -> Iterator[Stack]:
    """A stack whose server the tests of this file kill and restart."""
    with temporary_home() as folder, open_stack(folder) as stack:
        yield stack


def reading(stack: Stack) -> dict[str, str]:
    """Return settings with a key that reads the cloud's list.

    Only the cloud knows when a VM vanished; dstack notices it later, and much later on a busy machine.
    """
    return {**stack.cloud.environment, "WARMFRONT_AMDDEVCLOUD_READ_KEY": amd_developer_cloud.KEY}


def assert_ledger_matches_bill(stack: Stack, user: User, since: int) -> None:
    """Check that the ledger matches the bill's entries from index `since` on, and that their VMs ended."""
    entries = stack.cloud.bill()[since:]
    assert all(entry.ended_at is not None for entry in entries), entries
    billed_usd = Decimal(str(sum(entry.cost_usd() for entry in entries)))
    assert abs(user.spent_usd() - billed_usd) < CENT


def run_scenario(stack: Stack, service: Service) -> None:
    """Go through the common events of a service; at the end no VM is left and the bill is right."""
    before = len(stack.cloud.bill())
    alice, bob = User(service, "alice"), User(service, "bob")
    vm_id = cold_start(alice)
    warm_reuse(bob, vm_id)
    cancel(alice, vm_id)
    killed_service(service, bob, vm_id)
    lost_vm(stack, alice, vm_id)
    vms = alice.wait_until_all_vms_ended()
    assert {vm["id"]: vm["state"] for vm in vms}[vm_id] == "FAILED"
    assert sum(vm["state"] == "TERMINATED" and vm["reason"].startswith("idle for") for vm in vms) == 1
    assert len(stack.cloud.bill()) - before == 2
    assert not stack.cloud.droplets
    assert_ledger_matches_bill(stack, alice, before)


def cold_start(user: User) -> str:
    """Submit the first kernel, check the phases of its VM and return the VM's id."""
    events = user.submit_and_wait()
    assert statuses(events) == ["IN_QUEUE", "XRAY", "PROVISIONING", *JUDGED, "ACCEPTED"]
    phases = [event["phase"] for event in events if event["status"] == "PROVISIONING"]
    # dstack is polled, so a short phase can be missed.
    assert (phases[0], phases[-1]) == ("queued", "ready")
    assert [phase for phase in PHASES if phase in phases] == phases
    assert all(event["eta_s"] > 0 for event in events if event["status"] == "PROVISIONING")
    return vms_of(events)[0]


def warm_reuse(user: User, vm_id: str) -> None:
    """Check that another user's submission runs on the same VM at once."""
    events = user.submit_and_wait()
    assert statuses(events) == ["IN_QUEUE", "XRAY", *JUDGED, "ACCEPTED"]
    ready = next(event for event in events if event["status"] == "VM_READY")
    assert (ready["vm_id"], ready["vm_state"]) == (vm_id, "WARM_REUSE")


def cancel(user: User, vm_id: str) -> None:
    """Check that a cancelled attempt ends and its VM stays."""
    submission_id = user.submit(solution_code=ENDLESS, problem="relu")
    events: list[dict[str, Any]] = []
    for event in user.follow(submission_id):
        events.append(event)
        if event["status"] == "CHECKING":
            user.cancel(submission_id)
    assert statuses(events)[-2:] == ["CHECKING", "CANCELLED"]
    assert [vm["id"] for vm in user.vms() if vm["state"] == "IDLE"] == [vm_id]


def killed_service(service: Service, user: User, vm_id: str) -> None:
    """Check that a killed and restarted service continues the attempt on the same VM."""
    submission_id = user.submit()
    for event in user.follow(submission_id):
        if event["status"] == "CHECKING":
            break
    service.kill()
    service.start()
    events = list(user.follow(submission_id))
    assert [event["id"] for event in events] == list(range(1, len(events) + 1))
    assert events[-1]["status"] == "ACCEPTED"
    assert vms_of(events) == [vm_id]


def lost_vm(stack: Stack, user: User, vm_id: str) -> None:
    """Check that a submission is retried on another VM when its VM is lost."""
    events: list[dict[str, Any]] = []
    for event in user.follow(user.submit(solution_code=SLOW)):
        events.append(event)
        if event["status"] == "BENCHMARKING" and len(vms_of(events)) == 1:
            (droplet,) = stack.cloud.droplets
            stack.cloud.vanish(droplet)
    assert events[-1]["status"] == "ACCEPTED"
    first, second = vms_of(events)
    assert (first, second != vm_id) == (vm_id, True)


def test_pool_mode(stack: Stack, tmp_path: Path) -> None:
    """Every submission gets its verdict, and the ledger matches the bill."""
    with dstack_service(stack, tmp_path, **reading(stack), AMD_VM_IDLE_TIMEOUT="15") as service:
        run_scenario(stack, service)


@pytest.mark.slow
def test_three_vms_and_a_killed_dstack_server(stack: Stack, tmp_path: Path) -> None:
    """A queue gets three VMs, which stay usable while the dstack server is down, and end when it is back."""
    before = len(stack.cloud.bill())
    # Limits are generous, so that nothing is lost or times out on a busy machine.
    settings = {"AMD_VM_IDLE_TIMEOUT": "15", "WARMFRONT_CASE_TIMEOUT": "300", "WARMFRONT_LOST_AFTER": "60"}
    with dstack_service(stack, tmp_path, **settings) as service:
        user = User(service, "carol")
        assert user.submit_and_wait()[-1]["status"] == "ACCEPTED"
        # Enough submissions that booting a third VM is faster than waiting, however slow a boot is.
        endless = [user.submit(solution_code=SLEEPING, problem="relu") for _ in range(40)]
        until(lambda: [vm["state"] for vm in user.vms_alive()] == ["BUSY"] * 3)
        stack.server.kill()
        for submission_id in reversed(endless):
            user.cancel(submission_id)
        assert user.submit_and_wait()[-1]["status"] == "ACCEPTED"
        stack.server.start()
        user.wait_until_all_vms_ended()
        assert len(stack.cloud.bill()) - before == 3
        assert not stack.cloud.droplets
        assert_ledger_matches_bill(stack, user, before)


@pytest.mark.slow
def test_direct_mode(stack: Stack, tmp_path: Path) -> None:
    """In direct mode, a submission has the same events and verdict."""
    before = len(stack.cloud.bill())
    with dstack_service(stack, tmp_path, WARMFRONT_DSTACK_MODE="direct", AMD_VM_IDLE_TIMEOUT="15") as service:
        user = User(service, "erin")
        vm_id = cold_start(user)
        warm_reuse(user, vm_id)
        user.wait_until_all_vms_ended()
        assert not stack.cloud.droplets
        assert_ledger_matches_bill(stack, user, before)


@pytest.mark.slow
def test_direct_mode_scenario(stack: Stack, tmp_path: Path) -> None:
    """In direct mode, the whole scenario has the same events, verdicts and bill."""
    settings = {**reading(stack), "WARMFRONT_DSTACK_MODE": "direct", "AMD_VM_IDLE_TIMEOUT": "15"}
    with dstack_service(stack, tmp_path, **settings) as service:
        run_scenario(stack, service)


@pytest.mark.slow
def test_dstack_server_killed_while_a_vm_boots(
    stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service waits until dstack is back; the VM is requested once and judges the submission."""
    before = len(stack.cloud.bill())
    monkeypatch.setattr(stack.cloud.switches, "boot_s", 5.0)  # long enough to be observed
    with dstack_service(stack, tmp_path, AMD_VM_IDLE_TIMEOUT="1") as service:
        user = User(service, "dave")
        events = []
        for event in user.follow(user.submit()):
            events.append(event)
            if event.get("phase") == "booting":
                stack.server.kill()
                stack.server.start()
        assert "booting" in [event.get("phase") for event in events]
        assert events[-1]["status"] == "ACCEPTED"
        user.wait_until_all_vms_ended()
        assert len(stack.cloud.bill()) - before == 1
        assert_ledger_matches_bill(stack, user, before)


@pytest.mark.slow
def test_a_lost_database(stack: Stack, tmp_path: Path) -> None:
    """A service with a new database has another owner id: VMs of the old one are shown, and not touched."""
    with dstack_service(stack, tmp_path) as service:
        (vm_id,) = vms_of(User(service, "frank").submit_and_wait(endpoint="checker"))
        service.kill()
        for path in tmp_path.glob("*.db*"):
            path.unlink()
        service.start()
        user = User(service, "frank")
        until(user.foreign_vms)
        (foreign,) = user.foreign_vms()
        assert vm_id.removeprefix("vm_") in foreign["used_by"]
        events = user.submit_and_wait(endpoint="checker")
        assert events[-1]["status"] == "CHECKED"
        assert vms_of(events) != [vm_id]
        assert [vm["used_by"] for vm in user.foreign_vms()] == [foreign["used_by"]]


@pytest.mark.slow
def test_unmodified_server(tmp_path: Path) -> None:
    """The scenario also works with dstack's own intervals."""
    with (
        temporary_home() as folder,
        open_stack(folder, scale=None) as stack,
        dstack_service(stack, tmp_path, **reading(stack), AMD_VM_IDLE_TIMEOUT="60") as service,
    ):
        run_scenario(stack, service)
