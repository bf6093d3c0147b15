"""VMs with eight GPUs in a dstack fleet: eight submissions at once, each in its own slot."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from tests.dstack.harness import MI300X, open_stack, until
from tests.support.dstack_services import SLEEPING, User, dstack_service, temporary_home
from tests.support.fake_cloud import amd_developer_cloud
from warmfront.money.billing import CENT

if TYPE_CHECKING:
    from pathlib import Path


pytestmark = [pytest.mark.dstack, pytest.mark.slow]

FLEET = "eight-gpus"
RESOURCES = {
    "gpu": {**MI300X, "memory": "192GB..", "count": "1..8"},
    "cpu": "2..",
    "memory": "8GB..",
    "disk": "100GB..",
}


def test_a_vm_with_eight_gpus_serves_eight_submissions_at_once(tmp_path: Path) -> None:
    """All of them run at the same time, even after `kill -9` of the service; a cancellation ends one.

    The cloud answers slowly, so dstack records the start too early and the end too late. A second of such a
    VM costs almost half a cent. The ledger is right to the cent, because it uses the cloud's own record.
    """
    settings = {
        "AMD_VM_GPUS": "8",
        "AMD_FLEET_NAME": FLEET,
        "AMD_VM_IDLE_TIMEOUT": "5",
        "WARMFRONT_CASE_TIMEOUT": "3600",
        "WARMFRONT_RUN_TIMEOUT": "3600",
        "WARMFRONT_AMDDEVCLOUD_READ_KEY": amd_developer_cloud.KEY,
    }
    with temporary_home() as folder, open_stack(folder) as stack:
        stack.apply_fleet(FLEET, nodes="0..3", resources=RESOURCES, spot_policy="auto", max_price=15.92)
        stack.cloud.switches.answer_s = 4.0
        with dstack_service(stack, tmp_path, **stack.cloud.environment, **settings) as service:
            user = User(service, "alice")
            endless = [user.submit(solution_code=SLEEPING, problem="relu") for _ in range(8)]
            _wait_until_all_run(user, endless)
            service.kill()
            service.start()
            _wait_until_all_run(user, endless)
            vm = user.vms_alive()[0]
            assert " 8/8 " in service.run("vms", WARMFRONT_API_KEY=user.key).stdout
            assert user.cancel(endless[3])["verdict"] == "CANCELLED"
            assert sorted(task["slot"] for task in user.vms_alive()[0]["tasks"]) == _others(vm, endless[3])
            judged = user.submit_and_wait()
            assert judged[-1]["status"] == "ACCEPTED"
            _cancel_all(user, [one for one in endless if one != endless[3]])
            ended = user.wait_until_all_vms_ended()
            assert [(one["id"], one["gpu_count"], one["slots"]) for one in ended] == [(vm["id"], 8, 8)]
            [entry] = stack.cloud.bill()
            assert entry.price == 15.92
            assert abs(user.spent_usd() - Decimal(str(entry.cost_usd()))) < CENT
            stack.cloud.switches.answer_s = 0.0


def _wait_until_all_run(user: User, submissions: list[str]) -> None:
    """Wait until one VM judges all of these, each in its slot."""

    def all_run() -> bool:
        tasks = [task for vm in user.vms_alive() for task in vm["tasks"]]
        return {task["submission_id"] for task in tasks} == set(submissions)

    until(all_run)
    for submission in submissions:  # its listener has started it; the VM's record alone does not show that
        next(event for event in user.follow(submission) if event["status"] == "CHECKING")
    [vm] = user.vms_alive()
    assert (vm["state"], vm["slots_used"], vm["slots"]) == ("BUSY", 8, 8)
    assert sorted(task["slot"] for task in vm["tasks"]) == list(range(8))


def _others(vm: dict[str, list[dict[str, int | str]]], submission: str) -> list[int | str]:
    return sorted(task["slot"] for task in vm["tasks"] if task["submission_id"] != submission)


def _cancel_all(user: User, submissions: list[str]) -> None:
    with ThreadPoolExecutor(4) as pool:
        verdicts = list(pool.map(user.cancel, submissions))
    assert [one["verdict"] for one in verdicts] == ["CANCELLED"] * len(submissions)
