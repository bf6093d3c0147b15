"""The fake cloud behind a real dstack server, observed through dstack's own client."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.dstack.harness import finished, job, logs, open_stack, running, stopped, until
from tests.support.dstack_server import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.dstack.conftest import MakeFleet
    from tests.dstack.harness import Stack

#: The real dstack server is slow.
pytestmark = pytest.mark.slow
_SERVES = "exec python3 -m http.server 8000 --bind 127.0.0.1"


def test_fleet_costs_nothing_by_itself(stack: Stack, fleet: MakeFleet) -> None:
    """A new fleet has the requested properties and no VM, and no longer exists after its deletion."""
    billed = stack.cloud.bill()
    name = fleet(nodes="0..2", idle_duration="5m")
    created = stack.client.client.fleets.get(PROJECT, name=name)
    assert (created.status.value, created.instances) == ("active", [])
    assert (created.spec.configuration.nodes.max, created.spec.configuration.idle_duration) == (2, 300)
    stack.delete_fleet(name)
    assert name not in stack.fleets()
    assert stack.cloud.bill() == billed


def test_plan_has_the_offers_of_both_clouds(stack: Stack) -> None:
    """Each cloud offers an MI300X at the price of its API."""
    plan = stack.plan_fleet("offers", backends=["amddevcloud", "hotaisle"])
    offers = {(offer.backend.value, offer.instance.name, offer.price) for offer in plan.offers}
    assert offers == {("amddevcloud", "gpu-mi300x1-192gb", 1.99), ("hotaisle", "vm-mi300x-1", 1.99)}


def test_plan_has_the_offers_of_both_gpu_types(stack: Stack) -> None:
    """AMD Developer Cloud offers an MI325X beside the MI300X, at its own price."""
    gpu = {"name": ["MI300X", "MI325X"], "memory": "192GB..256GB", "count": 1}
    plan = stack.plan_fleet(
        "gpus", resources={"gpu": gpu, "cpu": "2..", "memory": "8GB..", "disk": "100GB.."}
    )
    offers = {(offer.instance.name, offer.price) for offer in plan.offers}
    assert offers == {("gpu-mi300x1-192gb", 1.99), ("gpu-mi325x1-256gb", 2.25)}


def test_cold_warm_and_idle(stack: Stack, fleet: MakeFleet) -> None:
    """The second task reuses the first one's VM; after its idle time the VM is deleted and its bill ends."""
    name = fleet(idle_duration="2s")
    cold = stack.run("cold", name, "echo from the VM")
    warm = stack.run("warm", name, "exit 3")
    assert (cold.status.value, logs(cold)) == ("done", "from the VM\r\n")
    assert (warm.status.value, job(warm).exit_status) == ("failed", 3)
    assert job(warm).termination_reason == "container_exited_with_error"
    vm_id = job(cold).job_provisioning_data.instance_id
    assert job(warm).job_provisioning_data.instance_id == vm_id
    until(lambda: vm_id not in stack.cloud.droplets)
    [billed] = stack.billed("cold")
    assert billed.ended_at is not None
    assert billed.ended_at > job(warm).finished_at.timestamp()
    assert billed.cost_usd() == pytest.approx((billed.ended_at - billed.started_at) * 1.99 / 3600)


def test_three_vms_at_once(stack: Stack, fleet: MakeFleet) -> None:
    """Parallel tasks have separate VMs and listen on the same port of separate loopback interfaces."""
    name = fleet(nodes="0..3")
    runs = [stack.submit(f"three-{number}", name, _SERVES) for number in range(3)]
    assert len({job(running(run)).job_provisioning_data.hostname for run in runs}) == 3
    assert [stopped(run).status.value for run in runs] == ["terminated"] * 3
    stack.delete_fleet(name)
    assert [billed.ended_at is not None for billed in stack.billed("three")] == [True] * 3


# dstack's client does not close its socket if it finds a port in use, such as another test's.
@pytest.mark.filterwarnings("ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning")
def test_attach(stack: Stack, fleet: MakeFleet) -> None:
    """A port of a task is reachable only through dstack's tunnel."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    run = stack.submit("attach", fleet(), "echo hello > index.html", _SERVES, ports=[f"{port}:8000"])
    running(run)
    url = f"http://127.0.0.1:{port}"
    assert not _responds(url)
    assert run.attach()
    until(lambda: _responds(url))
    assert httpx.get(url, trust_env=False).text == "hello\n"
    run.detach()


def test_files_and_environment(stack: Stack, fleet: MakeFleet, tmp_path: Path) -> None:
    """Files are at the paths that the task declares, and the environment has the task's variables."""
    (tmp_path / "tool").mkdir()
    (tmp_path / "tool" / "words.txt").write_text("delivered\n")
    run = stack.run(
        "files",
        fleet(),
        'cat /opt/fake/tool/words.txt "$PLACE/words.txt" relative/words.txt',
        'echo "$COLOR ${HTTPS_PROXY:-none}"',
        files=[f"{tmp_path}/tool:/opt/fake/tool", f"{tmp_path}/tool:relative"],
        env={"PLACE": "/opt/fake/tool", "COLOR": "green"},
    )
    assert logs(run).splitlines() == ["delivered"] * 3 + ["green none"]


def test_lost_vm(stack: Stack, fleet: MakeFleet) -> None:
    """The job of a lost VM fails as unreachable, and the VM stays in the fleet until it is deleted."""
    name = fleet()
    run = running(stack.submit("lost", name, "sleep 600"))
    stack.cloud.vanish(job(run).job_provisioning_data.instance_id)
    [billed] = stack.billed("lost")
    assert billed.ended_at is not None
    assert finished(run).status.value == "failed"
    assert job(run).termination_reason == "instance_unreachable"
    [instance] = stack.instances(name)
    stack.client.client.fleets.delete_instances(PROJECT, name, [instance.instance_num])
    until(lambda: not stack.instances(name))


def test_unmodified_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The unmodified server, with its own intervals, runs one task cold and the next one warm."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with open_stack(tmp_path, scale=None) as stack:
        stack.apply_fleet("released")
        cold = stack.run("cold", "released", "echo cold")
        warm = stack.run("warm", "released", "echo warm")
        assert (cold.status.value, warm.status.value) == ("done", "done")
        assert (logs(cold), logs(warm)) == ("cold\r\n", "warm\r\n")
        assert len(stack.cloud.bill()) == 1
        stack.delete_fleet("released")
        assert not stack.cloud.droplets


def _responds(url: str) -> bool:
    try:
        return httpx.get(url, trust_env=False).is_success
    except httpx.TransportError:
        return False
