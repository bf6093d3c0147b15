"""A service with an SSH fleet: your own machines serve, are released without being ended, and serve again."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from tests.dstack.harness import open_stack, until
from tests.support.dstack_services import SLEEPING, SLOW, User, dstack_service, temporary_home, vms_of
from tests.support.own_hosts import add_hosts, create_fleet
from warmfront.money.billing import CENT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.dstack.harness import Stack

pytestmark = [pytest.mark.dstack, pytest.mark.slow]

FLEET = "own-hosts"
#: A tenth of a cent per second.
RATE_USD_PER_H = Decimal("3.60")


def test_two_hosts_serve_and_survive_a_release(tmp_path: Path) -> None:
    """Both hosts serve at once, even after `kill -9` of the service; a release leaves them idle.

    They serve again after that, and cost the configured price.
    """
    with temporary_home() as folder, open_stack(folder) as stack:
        hosts = add_hosts(stack, folder, 2)
        assert "Only the runs on it are ended, never the host." in create_fleet(stack, tmp_path, FLEET, hosts)
        before = _instances(stack)
        settings = {
            **hosts,
            "AMD_FLEET_NAME": FLEET,
            "AMD_HOST_HOURLY_RATE": str(RATE_USD_PER_H),
            "AMD_VM_IDLE_TIMEOUT": "5",
            "WARMFRONT_CASE_TIMEOUT": "3600",  # the submissions never end on their own
            "WARMFRONT_RUN_TIMEOUT": "3600",
        }
        with dstack_service(stack, tmp_path, **settings) as service:
            user = User(service, "alice")
            endless = [user.submit(solution_code=SLEEPING, problem="relu") for _ in range(3)]
            until(lambda: [vm["state"] for vm in user.vms_alive()] == ["BUSY", "BUSY"])
            service.kill()
            service.start()
            until(lambda: [vm["state"] for vm in user.vms_alive()] == ["BUSY", "BUSY"])
            assert {instance.status.value for instance in stack.instances(FLEET)} == {"busy"}
            for submission in endless:
                assert user.cancel(submission)["verdict"] == "CANCELLED"
            first = user.wait_until_all_vms_ended()
            assert len(first) == 2
            assert _instances(stack) == before
            assert user.submit_and_wait()[-1]["status"] == "ACCEPTED"
            ended = user.wait_until_all_vms_ended()
            assert _instances(stack) == before
            assert all(vm["end_confirmed"] for vm in ended)
            assert {vm["machine_id"] for vm in ended} == {f"remote/{host}" for host in before}
            assert abs(user.spent_usd() - _used_h(ended) * RATE_USD_PER_H) < CENT
            assert all(host.is_active for host in stack.cloud.own_hosts.values())


def test_the_loss_of_a_host(tmp_path: Path) -> None:
    """A submission on a host that is switched off gets its verdict from the other one."""
    with temporary_home() as folder, open_stack(folder) as stack:
        hosts = add_hosts(stack, folder, 2)
        create_fleet(stack, tmp_path, FLEET, hosts)
        settings = {**hosts, "AMD_FLEET_NAME": FLEET, "AMD_VM_IDLE_TIMEOUT": "5"}
        with dstack_service(stack, tmp_path, **settings) as service:
            user = User(service, "alice")
            events: list[dict[str, Any]] = []
            for event in user.follow(user.submit(solution_code=SLOW)):
                events.append(event)
                if event["status"] == "BENCHMARKING" and len(vms_of(events)) == 1:
                    (vm,) = user.vms_alive()
                    lost = vm["machine_id"].removeprefix("remote/")
                    stack.cloud.lose_own_host(lost)
            assert events[-1]["status"] == "ACCEPTED"
            assert len(vms_of(events)) == 2
            until(lambda: any(instance.unreachable for instance in stack.instances(FLEET)))
            report = service.run("fleet", "verify").stdout
            assert f"{lost}  unreachable" in report
            user.wait_until_all_vms_ended()
            assert user.spent_usd() == 0
            assert len(stack.instances(FLEET)) == 2


def _instances(stack: Stack) -> dict[str, tuple[str, str]]:
    """Return dstack's id and status of each host."""
    return {one.hostname: (str(one.id), one.status.value) for one in stack.instances(FLEET)}


def _used_h(vms: list[dict[str, Any]]) -> Decimal:
    """Return the total time for which VMs were on the hosts."""
    intervals = [[datetime.fromisoformat(vm[name]) for name in ("started_at", "ended_at")] for vm in vms]
    used_s = sum((ended - started).total_seconds() for started, ended in intervals)
    return Decimal(str(used_s)) / 3600
