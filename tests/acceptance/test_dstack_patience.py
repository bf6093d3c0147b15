"""Shortages, failures that repeat and an unavailable dstack server, as authors and operators see them."""

from __future__ import annotations

import time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.dstack.harness import SCALE, open_stack, until
from tests.support.dstack_services import User, dstack_service, temporary_home, vms_of
from tests.support.fake_cloud import amd_developer_cloud, refusals
from tests.support.services import PROMPT_S
from warmfront.money.billing import CENT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.dstack.harness import Stack
    from tests.support.fake_cloud.refusals import Refusal
    from tests.support.services import Service

#: The real dstack server is slow.
pytestmark = [pytest.mark.slow, pytest.mark.dstack]
_TWENTY_MINUTES_S = 1200.0 * SCALE


@pytest.fixture(scope="module", name="stack")
def _stack() -> Iterator[Stack]:
    with temporary_home() as folder, open_stack(folder) as stack:
        yield stack


@pytest.fixture(autouse=True)
def _reset_switches(stack: Stack) -> Iterator[None]:
    yield
    stack.cloud.switches.reset()


def waits(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the events that say why a submission waits."""
    return [event for event in events if event["status"] == "WAITING"]


def test_capacity_that_appears_after_twenty_minutes(stack: Stack, tmp_path: Path) -> None:
    """Every queued submission gets its verdict, none gets ERROR, and each client received the reason.

    The minutes are those of the dstack server, whose intervals are scaled.
    """
    stack.cloud.switches.capacity = 0
    began = time.monotonic()
    with dstack_service(stack, tmp_path) as service:
        user = User(service, "alice")
        ids = [user.submit(endpoint="checker") for _ in range(4)]
        first = user.follow(ids[0])
        events = [next(first)]
        while len(waits(events)) < 3 or time.monotonic() - began < _TWENTY_MINUTES_S:
            events.append(next(first))
            assert events[-1]["status"] != "ERROR", events[-1]
        assert [problem["kind"] for problem in user.provisioning_problems()] == ["NO_CAPACITY"]
        service.environment["WARMFRONT_API_KEY"] = user.key
        assert "No MI300X" in service.run("vms").stdout
        stack.cloud.switches.capacity = None
        followed = [list(user.follow(submission_id)) for submission_id in ids]
        for events in followed:
            assert events[-1]["status"] == "CHECKED", events[-1]
            assert all("No MI300X is available on amddevcloud" in wait["reason"] for wait in waits(events))
        assert sorted(waits(events)[0]["ahead"] for events in followed) == [0, 1, 2, 3]
        assert user.provisioning_problems() == []


def test_a_fleet_of_one_with_the_default_limit_of_vms(stack: Stack, tmp_path: Path) -> None:
    """After a cold start, twenty submissions wait for the only VM that the fleet may have."""
    stack.cloud.switches.boot_s = 5.0
    before = len(stack.cloud.bill())
    limits = {"AMD_FLEET_MAX_NODES": "1", "AMD_VM_MAX_CONCURRENT": "3"}
    with dstack_service(stack, tmp_path, nodes="0..1", **limits) as service:
        user = User(service, "alice")
        ids = [user.submit(endpoint="checker") for _ in range(20)]
        assert {list(user.follow(submission_id))[-1]["status"] for submission_id in ids} == {"CHECKED"}
        assert len(stack.cloud.bill()) - before == 1


def test_a_second_backend_is_tried(stack: Stack, tmp_path: Path) -> None:
    """If AMD Developer Cloud has no capacity in any region, the VM is one of Hot Aisle."""
    stack.cloud.switches.regions = {"atl1": 0, "nyc2": 0}
    both = {"AMD_BACKEND": "amddevcloud,hotaisle", "AMD_MINIMUM_RESERVATION": "0s"}
    with dstack_service(stack, tmp_path, backends=("amddevcloud", "hotaisle"), **both) as service:
        events = User(service, "alice").submit_and_wait(endpoint="checker")
        assert events[-1]["status"] == "CHECKED", events[-1]
        assert stack.cloud.bill()[-1].backend == "hotaisle"


def test_the_cheaper_backend_is_used_first(tmp_path: Path) -> None:
    """Without it, the more expensive one is used; the ledger has the price and the minimum of each."""
    with temporary_home() as folder, open_stack(folder) as stack:
        stack.cloud.switches.hot_aisle_price = 0.50
        stack.cloud.switches.minimum_reservation_s = 60.0
        both = {
            **stack.cloud.environment,
            "WARMFRONT_AMDDEVCLOUD_READ_KEY": amd_developer_cloud.KEY,
            "AMD_BACKEND": "amddevcloud,hotaisle",
            "AMD_MINIMUM_RESERVATION": "1m",
            "AMD_VM_IDLE_TIMEOUT": "1",
        }
        with dstack_service(stack, tmp_path, backends=("amddevcloud", "hotaisle"), **both) as service:
            user = User(service, "alice")
            assert user.submit_and_wait(endpoint="checker")[-1]["status"] == "CHECKED"
            user.wait_until_all_vms_ended()
            stack.server.restart_without("hotaisle")
            assert user.submit_and_wait(endpoint="checker")[-1]["status"] == "CHECKED"
            vms = sorted(user.wait_until_all_vms_ended(), key=lambda vm: str(vm["created_at"]))
            bill = stack.cloud.bill()
            assert [(entry.backend, entry.price) for entry in bill] == [
                ("hotaisle", 0.5),
                ("amddevcloud", 1.99),
            ]
            assert [vm["rate_usd_per_h"] for vm in vms] == [entry.price for entry in bill]
            for vm, entry in zip(vms, bill, strict=True):
                assert abs(Decimal(str(vm["cost_usd"])) - Decimal(str(entry.cost_usd()))) < CENT / 2
            billed_usd = sum(entry.cost_usd() for entry in bill)
            assert abs(user.spent_usd() - Decimal(str(billed_usd))) < CENT


def test_a_key_that_is_revoked_while_the_service_runs(tmp_path: Path) -> None:
    """Submissions fail with the reason, and nothing is billed; with a valid key and a reset they succeed.

    The stack is new, so that dstack has cached the offers when the key is revoked. Without offers, it does
    not report that the cloud rejects the key.
    """
    with (
        temporary_home() as folder,
        open_stack(folder) as stack,
        dstack_service(stack, tmp_path) as service,
    ):
        user = User(service, "alice")
        stack.cloud.switches.rejects_key = True
        last = user.submit_and_wait(endpoint="checker")[-1]
        assert last["status"] == "ERROR"
        assert "amddevcloud rejects the API key of the dstack server" in last["message"]
        assert [problem["kind"] for problem in user.provisioning_problems()] == ["DENIED"]
        assert stack.cloud.bill() == []
        stack.cloud.switches.rejects_key = False
        service.run("provisioning", "--reset", "MI300X", WARMFRONT_API_KEY=user.key)
        assert user.submit_and_wait(endpoint="checker")[-1]["status"] == "CHECKED"


@pytest.mark.parametrize("refusal", [refusals.RATE_LIMIT, refusals.SERVER_ERROR])
def test_failures_of_the_cloud_are_waited_out(stack: Stack, tmp_path: Path, refusal: Refusal) -> None:
    """They are not reported as a lack of capacity, and submissions continue when they have ended."""
    stack.cloud.switches.refuses_create = refusal
    with dstack_service(stack, tmp_path) as service:
        user = User(service, "alice")
        events = []
        for event in user.follow(user.submit(endpoint="checker")):
            events.append(event)
            if event["status"] == "WAITING":
                stack.cloud.switches.refuses_create = None
        assert events[-1]["status"] == "CHECKED", events[-1]
        assert {wait["kind"] for wait in waits(events)} == {"UNREACHABLE"}
        assert all(str(refusal.status) in wait["reason"] for wait in waits(events))


def test_a_fleet_that_another_service_fills(stack: Stack, tmp_path: Path) -> None:
    """The reason names the fleet and its limit; the operator sees whose VMs they are."""
    fleet = {"AMD_FLEET_NAME": "filled"}
    with dstack_service(stack, tmp_path / "first", nodes="0..1", AMD_VM_IDLE_TIMEOUT="600", **fleet) as first:
        assert User(first, "alice").submit_and_wait(endpoint="checker")[-1]["status"] == "CHECKED"
        with dstack_service(stack, tmp_path / "second", nodes="0..1", **fleet) as second:
            user = User(second, "bob")
            submission_id = user.submit(endpoint="checker")
            wait = next(event for event in user.follow(submission_id) if event["status"] == "WAITING")
            assert wait["kind"] == "FLEET_FULL"
            assert wait["reason"] == "The fleet filled has reached its limit of 1 VM (AMD_FLEET_MAX_NODES)."
            report = second.run("provisioning", WARMFRONT_API_KEY=user.key).stdout
            assert "fleet create` applies AMD_FLEET_MAX_NODES=3 to it" in report, report
            assert "foreign: service" in second.run("fleet", "show").stdout
            user.cancel(submission_id)


@pytest.mark.parametrize(
    ("refusal", "kind", "status"),
    [
        (refusals.FORBIDDEN, "DENIED", "ERROR"),
        (refusals.NO_CREDITS, "NO_CREDITS", "ERROR"),
        (refusals.DROPLET_LIMIT, "NO_QUOTA", "WAITING"),
    ],
)
def test_refusals_are_distinguished(
    stack: Stack, tmp_path: Path, refusal: Refusal, kind: str, status: str
) -> None:
    """A forbidden action, missing credits and a quota have their own kind, and cost nothing."""
    before = len(stack.cloud.bill())
    stack.cloud.switches.refuses_create = refusal
    with dstack_service(stack, tmp_path) as service:
        user = User(service, "alice")
        submission_id = user.submit(endpoint="checker")
        seen = next(event for event in user.follow(submission_id) if event["status"] == status)
        assert [problem["kind"] for problem in user.provisioning_problems()] == [kind]
        assert len(stack.cloud.bill()) == before
        if status == "WAITING":
            assert seen["kind"] == kind
            user.cancel(submission_id)
        stack.cloud.switches.reset()


def test_an_image_that_cannot_be_pulled_is_paid_once(stack: Stack, tmp_path: Path) -> None:
    """One VM is tried; then all get ERROR, even after a crash, until the circuit breaker is reset."""
    image = f"registry.example/nothing:1@sha256:{'1' * 64}"
    stack.cloud.switches.unpullable.add(image)
    before = len(stack.cloud.bill())
    with dstack_service(stack, tmp_path, WARMFRONT_WORKER_IMAGE=image) as service:
        user = User(service, "alice")
        ids = [user.submit(endpoint="checker") for _ in range(5)]
        for submission_id in ids:
            last = list(user.follow(submission_id))[-1]
            assert last["status"] == "ERROR"
            assert "WARMFRONT_WORKER_IMAGE" in last["message"]
        user.wait_until_all_vms_ended()
        assert user.submit_and_wait(endpoint="checker")[-1]["status"] == "ERROR"
        service.kill()
        service.start()
        assert user.submit_and_wait(endpoint="checker")[-1]["status"] == "ERROR"
        assert len(stack.cloud.bill()) - before == 1
        assert [(problem["kind"], problem["open"]) for problem in user.provisioning_problems()] == [
            ("BAD_IMAGE", True)
        ]
        authorization = {"Authorization": f"Bearer {user.key}"}
        metrics = httpx.get(f"{service.url}/metrics", headers=authorization, timeout=PROMPT_S).text
        assert 'warmfront_provisioning_breaker_open{gpu="MI300X",kind="BAD_IMAGE"} 1.0' in metrics
        stack.cloud.switches.unpullable.clear()
        service.environment["WARMFRONT_API_KEY"] = user.key
        assert "VMs are provisioned as needed" in service.run("provisioning", "--reset", "MI300X").stdout
        assert user.submit_and_wait(endpoint="checker")[-1]["status"] == "CHECKED"


def test_without_ssh_no_vm_is_paid(stack: Stack, tmp_path: Path) -> None:
    """The first submission fails with the reason before a VM is requested; the preflight logged it."""
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / "asyncssh.py").write_text('raise ImportError("no SSH")')
    before = len(stack.cloud.bill())
    with dstack_service(stack, tmp_path / "data", PYTHONPATH=str(modules)) as service:
        user = User(service, "alice")
        last = user.submit_and_wait(endpoint="checker")[-1]
        assert last["status"] == "ERROR"
        assert "cannot reach VMs through SSH" in last["message"]
        assert len(stack.cloud.bill()) == before
        until(lambda: any("preflight: ssh" in line for line in service.lines))


def test_the_boot_of_a_cancelled_submission_is_stopped(stack: Stack, tmp_path: Path) -> None:
    """Its VM, which would never be ready, is ended long before the provisioning timeout."""
    stack.cloud.switches.never_boots = True
    with dstack_service(stack, tmp_path) as service:
        user = User(service, "alice")
        submission_id = user.submit(endpoint="checker")
        until(lambda: stack.cloud.droplets)
        user.cancel(submission_id)
        (vm,) = user.wait_until_all_vms_ended()
        assert (vm["state"], vm["reason"]) == ("TERMINATED", "no submission waits for it")
        assert not stack.cloud.droplets
        assert user.spent_usd() > 0


def test_the_service_starts_while_dstack_is_down(tmp_path: Path) -> None:
    """Submissions wait with the reason, history is readable, and a warm VM is kept and used."""
    with temporary_home() as folder, open_stack(folder) as stack, dstack_service(stack, tmp_path) as service:
        user = User(service, "alice")
        restart_without_dstack(stack, service)
        submission_id = user.submit(endpoint="checker")
        wait = next(event for event in user.follow(submission_id) if event["status"] == "WAITING")
        assert wait["kind"] == "UNREACHABLE"
        assert "No dstack server responds" in wait["reason"]
        assert user.vms() == []
        stack.server.start()
        assert list(user.follow(submission_id))[-1]["status"] == "CHECKED"
        (vm,) = user.vms_alive()
        restart_without_dstack(stack, service)
        # Without dstack there is no tunnel to the VM, but its watchdog leaves it alive for minutes.
        submission_id = user.submit(endpoint="checker")
        stack.server.start()
        events = list(user.follow(submission_id))
        assert events[-1]["status"] == "CHECKED"
        assert vms_of(events) == [vm["id"]]


def restart_without_dstack(stack: Stack, service: Service) -> None:
    """Kill the service and dstack, and start the service alone."""
    service.kill()
    stack.server.kill()
    service.start()
