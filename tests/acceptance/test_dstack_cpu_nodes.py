"""A fleet of CPU nodes beside the fleet with GPUs, on a real dstack server: checks run on the cheap one."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from tests.dstack.harness import open_stack, until
from tests.support.dstack_services import User, dstack_service, temporary_home, vms_of
from tests.support.fake_cloud import amd_developer_cloud
from tests.support.fake_cloud.amd_developer_cloud import cpu_size
from warmfront.money.billing import CENT

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from tests.dstack.harness import Stack
    from tests.support.services import Service

pytestmark = [pytest.mark.dstack, pytest.mark.slow]

GPU_FLEET, CPU_FLEET = "with-gpus", "cpu-nodes"
CPU_PRICE = 0.07143
SETTINGS = {
    "WARMFRONT_AMDDEVCLOUD_READ_KEY": amd_developer_cloud.KEY,
    "AMD_FLEET_NAME": GPU_FLEET,
    "AMD_CPU_FLEET_NAME": CPU_FLEET,
    "AMD_CPU_FLEET_MAX_NODES": "2",
    "AMD_CPU_HOURLY_RATE": str(CPU_PRICE),
    "AMD_CPU_IDLE_TIMEOUT": "5",
    "AMD_VM_IDLE_TIMEOUT": "5",
}


def test_checks_run_on_cpu_nodes_and_times_on_gpus(tmp_path: Path) -> None:
    """Each runs on a VM of its own fleet, even after `kill -9`; the ledger equals the bill to the cent."""
    with temporary_home() as folder, open_stack(folder) as stack:
        stack.cloud.switches.extra_sizes = [
            cpu_size("s-4vcpu-8gb", vcpus=4, memory_gb=8, disk_gb=160, price=CPU_PRICE)
        ]
        with dstack_service(stack, tmp_path, **stack.cloud.environment, **SETTINGS) as service:
            user = User(service, "alice")
            _create_cpu_fleet(service)
            checking = user.submit(endpoint="checker")
            timing = user.submit(endpoint="benchmark")
            until(lambda: len(user.vms_alive()) == 2)
            service.kill()
            service.start()
            checked, timed = list(user.follow(checking)), list(user.follow(timing))
            assert (checked[-1]["status"], timed[-1]["status"]) == ("CHECKED", "BENCHMARKED")
            vms = {vm["id"]: vm for vm in user.vms()}
            assert [vms[vm_id]["gpu_type"] for vm_id in vms_of(checked)] == ["CPU"]
            assert [vms[vm_id]["gpu_type"] for vm_id in vms_of(timed)] == ["MI300X"]
            assert _ready(checked)["simulated"] is checked[-1]["simulated"] is True
            assert "fidelity" in checked[-1]
            ended = user.wait_until_all_vms_ended()
            assert [vm["state"] for vm in ended] == ["TERMINATED"] * 2
            assert all(vm["end_confirmed"] for vm in ended)
            _compare_with_bill(stack, user, ended)
            report = service.run("cost", WARMFRONT_API_KEY=user.key).stdout
            assert "the same time on VMs with an MI300X would have cost" in report, report
        stack.remove_fleet(CPU_FLEET)


def test_a_gpu_judges_checks_while_there_is_no_fleet_of_cpu_nodes(tmp_path: Path) -> None:
    """The author sees the reason, the operator what to do; after that, a CPU node judges the next check."""
    with temporary_home() as folder, open_stack(folder) as stack:
        stack.cloud.switches.extra_sizes = [
            cpu_size("s-4vcpu-8gb", vcpus=4, memory_gb=8, disk_gb=160, price=CPU_PRICE)
        ]
        with dstack_service(stack, tmp_path, **stack.cloud.environment, **SETTINGS) as service:
            user = User(service, "alice")
            events = user.submit_and_wait(endpoint="checker")
            assert (events[-1]["status"], _ready(events)["gpu"]) == ("CHECKED", "MI300X")
            [moved] = [event for event in events if event.get("kind") == "NO_CPU_NODES"]
            assert CPU_FLEET in moved["reason"]
            assert moved["reason"].endswith("; a VM with an MI300X will judge the check")
            report = service.run("provisioning", WARMFRONT_API_KEY=user.key).stdout
            assert f"The fleet {CPU_FLEET} does not exist" in report, report
            assert "fleet create --cpu" in report, report
            preflight = [line for line in service.lines if "fleet of CPU nodes: Project main has no" in line]
            assert "`warmfront fleet create --cpu` creates it" in preflight[0]
            _create_cpu_fleet(service)
            service.run("provisioning", "--reset", "CPU", WARMFRONT_API_KEY=user.key)
            events = user.submit_and_wait(endpoint="checker")
            assert (events[-1]["status"], _ready(events)["gpu"]) == ("CHECKED", "CPU")
            ended = user.wait_until_all_vms_ended()
            _compare_with_bill(stack, user, [vm for vm in ended if vm["machine_id"]])
        stack.remove_fleet(CPU_FLEET)


def _create_cpu_fleet(service: Service) -> None:
    """Create and verify the fleet with the command line, as an operator does."""
    created = service.run("fleet", "create", "--cpu", "--yes")
    assert f"Fleet {CPU_FLEET} is active" in created.stdout, created.stdout + created.stderr
    assert "from $0.07143 per hour" in service.run("fleet", "verify", "--cpu").stdout


def _ready(events: list[dict[str, Any]]) -> dict[str, Any]:
    return next(event for event in events if event["status"] == "VM_READY")


def _compare_with_bill(stack: Stack, user: User, vms: list[dict[str, Any]]) -> None:
    bill = {f"amddevcloud/{entry.id}": entry for entry in stack.cloud.bill()}
    assert {vm["machine_id"] for vm in vms} == set(bill)
    prices = {vm["gpu_type"]: bill[vm["machine_id"]].price for vm in vms}
    assert prices == {"CPU": CPU_PRICE, "MI300X": 1.99}
    for vm in vms:
        billed_usd = Decimal(str(bill[vm["machine_id"]].cost_usd()))
        assert abs(Decimal(str(vm["cost_usd"])) - billed_usd) < CENT / 2
    billed_usd = Decimal(str(sum(entry.cost_usd() for entry in bill.values())))
    assert abs(user.spent_usd() - billed_usd) < CENT
