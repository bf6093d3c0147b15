"""The service on a dstack fleet, as an operator runs it: real processes, a real dstack server, a bill."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from tests.dstack.harness import open_stack, until
from tests.support.dstack_services import ASLEEP, DROWSY, ENDLESS, User, at_home, serving_dstack, vm_of
from tests.support.services import statuses
from warmfront.money.billing import CENT
from warmfront.secret import FILE_NAME

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
    """A server that the tests of this file kill and start again."""
    with at_home() as folder, open_stack(folder) as stack:
        yield stack


def assert_the_bill_is_right(stack: Stack, user: User, since: int) -> None:
    """The ledger has what the cloud asks for the VMs after so many others; each of them is over."""
    records = stack.cloud.bill()[since:]
    assert all(record.ended_at is not None for record in records), records
    billed_usd = Decimal(str(sum(record.cost_usd() for record in records)))
    assert abs(user.spent_usd() - billed_usd) < CENT


def live_through(stack: Stack, service: Service) -> None:
    """A day of a service, short: what may happen does, and at its end nothing is left but a right bill."""
    before = len(stack.cloud.bill())
    alice, bob = User(service, "alice"), User(service, "bob")
    vm_id = cold_start(alice)
    warm_reuse(bob, vm_id)
    cancel(alice, vm_id)
    killed_service(service, bob, vm_id)
    lost_vm(stack, alice, vm_id)
    vms = alice.wait_until_no_vm_is_alive()
    assert {vm["id"]: vm["state"] for vm in vms}[vm_id] == "FAILED"
    assert sum(vm["state"] == "TERMINATED" and vm["reason"].startswith("idle for") for vm in vms) == 1
    assert len(stack.cloud.bill()) - before == 2
    assert not stack.cloud.droplets
    assert_the_bill_is_right(stack, alice, before)


def cold_start(user: User) -> str:
    """The first submission sees its VM come, phase by phase; the VM."""
    events = user.judged()
    assert statuses(events) == ["IN_QUEUE", "XRAY", "PROVISIONING", *JUDGED, "ACCEPTED"]
    phases = [event["phase"] for event in events if event["status"] == "PROVISIONING"]
    # dstack is asked now and then, so that a short phase may pass unseen.
    assert (phases[0], phases[-1]) == ("queued", "ready")
    assert [phase for phase in PHASES if phase in phases] == phases
    assert all(event["eta_s"] > 0 for event in events if event["status"] == "PROVISIONING")
    return vm_of(events)[0]


def warm_reuse(user: User, vm_id: str) -> None:
    """Another user's submission is on the same VM, with no wait for one."""
    events = user.judged()
    assert statuses(events) == ["IN_QUEUE", "XRAY", *JUDGED, "ACCEPTED"]
    ready = next(event for event in events if event["status"] == "VM_READY")
    assert (ready["vm_id"], ready["vm_state"]) == (vm_id, "WARM_REUSE")


def cancel(user: User, vm_id: str) -> None:
    """What runs is stopped when its owner says so, and its VM lives on."""
    submission_id = user.submit(solution_code=ENDLESS, problem="relu")
    events: list[dict[str, Any]] = []
    for event in user.follow(submission_id):
        events.append(event)
        if event["status"] == "CHECKING":
            user.cancel(submission_id)
    assert statuses(events)[-2:] == ["CHECKING", "CANCELLED"]
    assert [vm["id"] for vm in user.vms() if vm["state"] == "IDLE"] == [vm_id]


def killed_service(service: Service, user: User, vm_id: str) -> None:
    """A service that is killed in the middle goes on with the same attempt on the same VM."""
    submission_id = user.submit()
    for event in user.follow(submission_id):
        if event["status"] == "CHECKING":
            break
    service.kill()
    service.start()
    events = list(user.follow(submission_id))
    assert [event["id"] for event in events] == list(range(1, len(events) + 1))
    assert events[-1]["status"] == "ACCEPTED"
    assert vm_of(events) == [vm_id]


def lost_vm(stack: Stack, user: User, vm_id: str) -> None:
    """A VM that vanishes in mid-benchmark costs no verdict: another one gives it."""
    events: list[dict[str, Any]] = []
    for event in user.follow(user.submit(solution_code=DROWSY)):
        events.append(event)
        if event["status"] == "BENCHMARKING" and len(vm_of(events)) == 1:
            (droplet,) = stack.cloud.droplets
            stack.cloud.vanish(droplet)
    assert events[-1]["status"] == "ACCEPTED"
    first, second = vm_of(events)
    assert (first, second != vm_id) == (vm_id, True)


def test_a_day_of_the_service(stack: Stack, tmp_path: Path) -> None:
    """Cold, warm, cancelled, killed, lost: every submission gets its verdict, and the bill is right."""
    with serving_dstack(stack, tmp_path, AMD_VM_IDLE_TIMEOUT="15") as service:
        live_through(stack, service)


def test_three_vms_at_once_and_a_dstack_server_that_is_killed(stack: Stack, tmp_path: Path) -> None:
    """A queue gets three VMs, which are stopped and used while dstack's server is down, and ended after."""
    before = len(stack.cloud.bill())
    # Nothing is lost here, however busy the machine is, and nothing runs out of time.
    settings = {"AMD_VM_IDLE_TIMEOUT": "15", "WARMFRONT_CASE_TIMEOUT": "300", "WARMFRONT_LOST_AFTER": "60"}
    with serving_dstack(stack, tmp_path, **settings) as service:
        user = User(service, "carol")
        assert user.judged()[-1]["status"] == "ACCEPTED"
        # So many that waiting for two VMs would take longer than booting a third, however slow a boot is.
        endless = [user.submit(solution_code=ASLEEP, problem="relu") for _ in range(40)]
        until(lambda: [vm["state"] for vm in user.vms_alive()] == ["BUSY"] * 3)
        stack.server.kill()
        for submission_id in reversed(endless):
            user.cancel(submission_id)
        assert user.judged()[-1]["status"] == "ACCEPTED"
        stack.server.start()
        user.wait_until_no_vm_is_alive()
        assert len(stack.cloud.bill()) - before == 3
        assert not stack.cloud.droplets
        assert_the_bill_is_right(stack, user, before)


@pytest.mark.slow
def test_direct_mode(stack: Stack, tmp_path: Path) -> None:
    """With a dstack run for each submission, who submits sees the same events and verdicts."""
    before = len(stack.cloud.bill())
    with serving_dstack(stack, tmp_path, WARMFRONT_DSTACK_MODE="direct", AMD_VM_IDLE_TIMEOUT="15") as service:
        user = User(service, "erin")
        vm_id = cold_start(user)
        warm_reuse(user, vm_id)
        user.wait_until_no_vm_is_alive()
        assert not stack.cloud.droplets
        assert_the_bill_is_right(stack, user, before)


@pytest.mark.slow
def test_a_day_in_direct_mode(stack: Stack, tmp_path: Path) -> None:
    """With a dstack run for each submission, the same day brings the same events, verdicts and bill."""
    settings = {"WARMFRONT_DSTACK_MODE": "direct", "AMD_VM_IDLE_TIMEOUT": "15"}
    with serving_dstack(stack, tmp_path, **settings) as service:
        live_through(stack, service)


@pytest.mark.slow
def test_a_dstack_server_that_is_killed_while_a_vm_boots(
    stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The VM is waited for until dstack is back; it is asked for once, and gives the verdict."""
    before = len(stack.cloud.bill())
    monkeypatch.setattr(stack.cloud.switches, "boot_s", 5.0)  # long enough to be seen
    with serving_dstack(stack, tmp_path, AMD_VM_IDLE_TIMEOUT="1") as service:
        user = User(service, "dave")
        events = []
        for event in user.follow(user.submit()):
            events.append(event)
            if event.get("phase") == "booting":
                stack.server.kill()
                stack.server.start()
        assert "booting" in [event.get("phase") for event in events]
        assert events[-1]["status"] == "ACCEPTED"
        user.wait_until_no_vm_is_alive()
        assert len(stack.cloud.bill()) - before == 1
        assert_the_bill_is_right(stack, user, before)


@pytest.mark.slow
def test_vms_that_nobody_knows(stack: Stack, tmp_path: Path) -> None:
    """With its database lost, a service adopts a VM that takes its token; with another secret it ends it."""

    def forget(*patterns: str) -> None:
        service.kill()
        for path in (path for pattern in patterns for path in tmp_path.glob(pattern)):
            path.unlink()
        service.start()

    with serving_dstack(stack, tmp_path) as service:
        (vm_id,) = vm_of(User(service, "frank").judged())
        forget("*.db*")
        assert vm_of(User(service, "frank").judged()) == [vm_id]
        forget("*.db*", FILE_NAME)
        user = User(service, "frank")
        user.wait_until_no_vm_is_alive()
        assert [(vm["id"], vm["state"], vm["reason"]) for vm in user.vms()] == [
            (vm_id, "FAILED", "nobody knew it")
        ]
        assert not stack.cloud.droplets


@pytest.mark.slow
def test_a_day_with_the_unmodified_server(tmp_path: Path) -> None:
    """The same day with dstack's own intervals: nothing depends on their having been shortened."""
    with (
        at_home() as folder,
        open_stack(folder, scale=None) as stack,
        serving_dstack(stack, tmp_path, AMD_VM_IDLE_TIMEOUT="60") as service,
    ):
        live_through(stack, service)
