"""Each switch of the fake cloud, and its effect on a real dstack server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.dstack.harness import finished, job, running, stopped, until
from tests.support.fake_cloud import ANY, Layer, refusals

if TYPE_CHECKING:
    from tests.dstack.conftest import MakeFleet
    from tests.dstack.harness import Stack
    from tests.support.fake_cloud import Switches

#: The real dstack server is slow.
pytestmark = pytest.mark.slow
_NO_CAPACITY = "failed_to_start_due_to_no_capacity"


def test_no_capacity(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """If the cloud has no capacity, the run fails and nothing is billed."""
    switches.capacity = 0
    name = fleet()
    run = stack.run("full", name, "true")
    assert (run.status.value, job(run).termination_reason) == ("failed", _NO_CAPACITY)
    assert "not available in this region" in job(run).termination_reason_message
    assert stack.billed("full") == []


def test_boot_that_never_ends(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """A VM that never boots is billed until its run is stopped and its fleet deleted."""
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
    """The run waits for a VM that boots slowly."""
    switches.boot_s = 3.0
    run = stack.run("slow", fleet(), "true")
    provisioned_s = (job(run).finished_at - job(run).submitted_at).total_seconds()
    assert run.status.value == "done"
    assert provisioned_s > 3.0


def test_image_that_cannot_be_pulled(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """The run fails with the reason, and its VM stays."""
    switches.unpullable.add("registry.example/nothing:1")
    name = fleet()
    run = stack.run("image", name, "true", image="registry.example/nothing:1")
    assert (run.status.value, job(run).termination_reason) == ("failed", "creating_container_error")
    assert "pull access denied" in job(run).termination_reason_message
    assert [billed.ended_at for billed in stack.billed("image")] == [None]


def test_broken_api(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """If the API rejects creations, the run fails; after the API recovers, runs succeed."""
    switches.broken["POST"] = 500
    name = fleet()
    broken = stack.run("broken", name, "true")
    assert (job(broken).termination_reason, stack.billed("broken")) == (_NO_CAPACITY, [])
    switches.broken.clear()
    assert stack.run("recovered", name, "true").status.value == "done"


def test_rejected_key(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """If the cloud rejects the key, the run fails and nothing is billed."""
    switches.rejects_key = True
    name = fleet()
    run = stack.run("key", name, "true")
    assert (run.status.value, job(run).termination_reason) == ("failed", _NO_CAPACITY)
    assert stack.billed("key") == []


def test_silent_api(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """A run waits while the API does not respond, and continues when it does."""
    switches.silent.add(ANY)
    name = fleet()
    run = stack.submit("silent", name, "true")
    until(lambda: stack.cloud.waiting)
    assert stack.billed("silent") == []
    switches.silent.clear()
    assert finished(run).status.value == "done"


def test_hot_aisle(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """A Hot Aisle VM runs a task after dstack started its shim, and is billed for its minimum reservation."""
    switches.minimum_reservation_s = 3600.0
    name = fleet(backends=["hotaisle"])
    run = stack.run("aisle", name, "true")
    assert (run.status.value, job(run).job_provisioning_data.backend.value) == ("done", "hotaisle")
    stack.delete_fleet(name)
    billed = stack.cloud.billed(job(run).job_provisioning_data.instance_id)
    assert billed.ended_at is not None
    assert billed.cost_usd() == pytest.approx(1.99)


def test_pull_by_size_with_cached_layers(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """The first image of a VM is pulled whole; another one on the same VM pulls only its own layers."""
    base, first, second = Layer("base", 1_500_000), Layer("first", 500_000), Layer("second", 100_000)
    switches.bytes_per_s = 1e6
    switches.images = {"registry.example/a:1": (base, first), "registry.example/b:1": (base, second)}
    name = fleet()
    a = stack.submit("pull-a", name, "true", image="registry.example/a:1")
    until(lambda: _pulls_bytes(stack, 2_000_000))
    assert finished(a).status.value == "done"
    b = stack.submit("pull-b", name, "true", image="registry.example/b:1")
    until(lambda: _pulls_bytes(stack, 100_000))
    assert finished(b).status.value == "done"
    assert job(a).job_provisioning_data.instance_id == job(b).job_provisioning_data.instance_id


def _pulls_bytes(stack: Stack, total_bytes: int) -> bool:
    tasks = [task for vm in stack.cloud.droplets.values() for task in vm._shim.tasks.values()]
    return any(task.pull is not None and task.pull.total_bytes == total_bytes for task in tasks)


def test_quota(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """A quota counts as a lack of capacity, and the run has the cloud's message."""
    switches.refuses_create = refusals.DROPLET_LIMIT
    run = stack.run("quota", fleet(), "true")
    assert job(run).termination_reason == _NO_CAPACITY
    assert "exceed your droplet limit" in job(run).termination_reason_message
    assert stack.billed("quota") == []


def test_failure_after_the_charge_began(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """A VM whose creation failed after it took effect is unknown to dstack, and is still billed."""
    switches.fails_after_create = refusals.SERVER_ERROR
    run = stack.run("charged", fleet(), "true")
    assert job(run).termination_reason == _NO_CAPACITY
    orphans = stack.billed("charged")
    assert orphans
    assert all(orphan.ended_at is None for orphan in orphans)
    for orphan in orphans:
        stack.cloud.vanish(orphan.id)


def test_full_region(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """If one region is full, dstack takes the VM of the other."""
    switches.regions["atl1"] = 0
    assert stack.run("region", fleet(), "true").status.value == "done"
    [billed] = stack.billed("region")
    assert billed.region == "nyc2"


def test_lossy_network_and_skewed_clocks(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """A run succeeds although a tenth of its VM's packets is lost and the clocks differ by minutes."""
    switches.packet_loss, switches.latency_s = 0.1, 0.02
    switches.clock_skew_s, switches.vm_clock_skew_s = 120.0, -120.0
    name = fleet()
    run = running(stack.submit("lossy", name, "sleep 600"))
    vm = stack.cloud.droplets[job(run).job_provisioning_data.instance_id]
    assert vm.link.retransmitted > 0
    assert stopped(run).status.value == "terminated"
