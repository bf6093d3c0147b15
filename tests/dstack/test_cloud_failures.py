"""Each switch of the simulated cloud, and what a real dstack server makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.dstack.harness import finished, job, stopped, until
from tests.support.fake_cloud import ANY

if TYPE_CHECKING:
    from tests.dstack.conftest import MakeFleet
    from tests.dstack.harness import Stack
    from tests.support.fake_cloud import Switches

#: A real server takes its time.
pytestmark = pytest.mark.slow
_NO_CAPACITY = "failed_to_start_due_to_no_capacity"


def test_no_capacity(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """A cloud that is full has no VM for a task, and bills none."""
    switches.capacity = 0
    name = fleet()
    run = stack.run("full", name, "true")
    assert (run.status.value, job(run).termination_reason) == ("failed", _NO_CAPACITY)
    assert "not available in this region" in job(run).termination_reason_message
    assert stack.billed("full") == []


def test_boot_that_never_ends(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """A VM that does not come up is billed until its run was stopped and its fleet deleted."""
    switches.never_boots = True
    name = fleet()
    run = stack.submit("never", name, "true")
    until(lambda: stack.billed("never"))
    [billed] = stack.billed("never")
    assert not stack.cloud.droplets[billed.id].is_active
    assert stopped(run).status.value == "terminated"
    stack.delete_fleet(name)
    assert stack.cloud.billed(billed.id).ended_at is not None


def test_slow_boot(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """A VM that takes its time to boot is waited for."""
    switches.boot_s = 3.0
    run = stack.run("slow", fleet(), "true")
    provisioned_s = (job(run).finished_at - job(run).submitted_at).total_seconds()
    assert run.status.value == "done"
    assert provisioned_s > 3.0


def test_image_that_cannot_be_pulled(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """A task whose image does not exist fails, says so, and has a VM all the same."""
    switches.unpullable.add("registry.example/nothing:1")
    name = fleet()
    run = stack.run("image", name, "true", image="registry.example/nothing:1")
    assert (run.status.value, job(run).termination_reason) == ("failed", "creating_container_error")
    assert "pull access denied" in job(run).termination_reason_message
    assert [billed.ended_at for billed in stack.billed("image")] == [None]


def test_api_that_breaks(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """A cloud that answers creations with errors gives no VM, and one that recovers does."""
    switches.broken["POST"] = 500
    name = fleet()
    broken = stack.run("broken", name, "true")
    assert (job(broken).termination_reason, stack.billed("broken")) == (_NO_CAPACITY, [])
    switches.broken.clear()
    assert stack.run("mended", name, "true").status.value == "done"


def test_rejected_key(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """A key that the cloud no longer takes gives no VM."""
    switches.rejects_key = True
    name = fleet()
    run = stack.run("key", name, "true")
    assert (run.status.value, job(run).termination_reason) == ("failed", _NO_CAPACITY)
    assert stack.billed("key") == []


def test_silent_api(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """A request that gets no answer holds its run up, and the run goes on when answers come again."""
    switches.silent.add(ANY)
    name = fleet()
    run = stack.submit("silent", name, "true")
    until(lambda: stack.cloud.waiting)
    assert stack.billed("silent") == []
    switches.silent.clear()
    assert finished(run).status.value == "done"


def test_hot_aisle(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """A VM of Hot Aisle runs a task once dstack started its shim, and is billed for its reservation."""
    switches.minimum_reservation_s = 3600.0
    name = fleet(backends=["hotaisle"])
    run = stack.run("aisle", name, "true")
    assert (run.status.value, job(run).job_provisioning_data.backend.value) == ("done", "hotaisle")
    stack.delete_fleet(name)
    billed = stack.cloud.billed(job(run).job_provisioning_data.instance_id)
    assert billed.ended_at is not None
    assert billed.cost_usd() == pytest.approx(1.99)
