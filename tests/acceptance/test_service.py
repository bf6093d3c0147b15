"""The whole service: real processes, real HTTP, the real judge."""

from __future__ import annotations

import itertools
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.problems.test_writing_a_problem import block
from tests.support.services import Service, serving, statuses

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.databases import PostgresServer

COLD = [
    "IN_QUEUE",
    "XRAY",
    "PROVISIONING",
    "VM_READY",
    "COMPILING",
    "CHECKING",
    "TEST_RESULT",
    "CHECKED",
    "BENCHMARKING",
    "BENCHMARK_RESULT",
    "ACCEPTED",
]
WARM = [status for status in COLD if status != "PROVISIONING"]


def intervals(vm: dict[str, Any]) -> dict[str, Decimal]:
    """Return the cost of each meter of a VM."""
    return {meter["meter"]: Decimal(str(meter["cost_usd"])) for meter in vm["meters"]}


def seconds_between(vm: dict[str, Any], start: str, end: str) -> Decimal:
    """Return the seconds between two times of a VM."""
    begun, ended = (datetime.fromisoformat(vm[name]) for name in (start, end))
    return Decimal(str((ended - begun).total_seconds()))


def test_a_cold_start_a_warm_reuse_and_the_release_of_the_idle_vm(tmp_path: Path) -> None:
    """The first submission provisions a VM, the second reuses it, and the idle VM is terminated."""
    with serving(tmp_path) as service:
        first, second = service.judged(), service.judged()
        # From here on only: on a busy machine the second submission may take longer than this to get its VM.
        service.run(
            "limits", "set", "idle_timeout_s=1", "--reason", "release the VM", "--yes"
        ).check_returncode()
        assert statuses(first) == COLD
        assert statuses(second) == WARM
        ready = [event for event in first + second if event["status"] == "VM_READY"]
        assert [event["vm_state"] for event in ready] == ["COLD_START", "WARM_REUSE"]
        assert all(event["simulated"] for event in (first[-1], second[-1]))
        assert [event["id"] for event in first] == list(range(1, len(first) + 1))
        (vm,) = service.wait_until_no_vm_is_alive()
        assert (vm["state"], vm["tasks_done"]) == ("TERMINATED", 2)
        ledger = service.get(f"vms/{vm['id']}")["intervals"]
        # It is idle for milliseconds between provisioning and the first attempt, and between attempts.
        assert [entry["meter"] for entry in ledger] == [
            "PROVISIONING",
            "IDLE",
            "WORK",
            "IDLE",
            "WORK",
            "IDLE",
        ]
        assert [ledger[0]["started_at"], ledger[-1]["ended_at"]] == [vm["started_at"], vm["ended_at"]]
        assert all(one["ended_at"] == next_one["started_at"] for one, next_one in itertools.pairwise(ledger))
        assert ledger[-1]["submission_id"] is None
        metrics = service.get("metrics")
        assert metrics == {
            "total_cost_usd": 0.0,
            "remaining_credits_usd": 1400.0,
            "credits_used_pct": 0.0,
            "tasks_completed": 2,
            "cold_starts": 1,
            "warm_reuses": 1,
            "active_vms": 0,
        }


def test_a_rehearsal_costs_what_a_cloud_would(tmp_path: Path) -> None:
    """A rehearsal has a cloud's boot time and $1.99 per hour, and its dollars are marked as simulated."""
    with serving(
        tmp_path, AMD_VM_IDLE_TIMEOUT="2", WARMFRONT_REHEARSE="true", WARMFRONT_REHEARSE_BOOT="3"
    ) as service:
        events = service.judged()
        assert statuses(events) == COLD
        phases = [event["phase"] for event in events if event["status"] == "PROVISIONING"]
        assert phases == ["queued", "booting", "pulling", "starting", "ready"]
        assert events[-1]["cost_usd"] > 0
        (vm,) = service.wait_until_no_vm_is_alive()
        costs = service.get("costs")
        assert costs["simulated"] is True
        (cost,) = costs["by_vm"]
        lived_s = seconds_between(vm, "started_at", "ended_at")
        assert abs(Decimal(str(cost["cost_usd"])) - Decimal("1.99") * lived_s / 3600) < Decimal("0.00001")
        assert abs(sum(intervals(cost).values()) - Decimal(str(cost["cost_usd"]))) < Decimal("0.00001")
        assert all(amount > 0 for amount in intervals(cost).values())


def test_a_compile_error_needs_no_vm(tmp_path: Path) -> None:
    """A compile error names its line; no VM is requested and nothing is spent."""
    with serving(tmp_path) as service:
        events = service.judged(code='extern "C" void solution() { int x = ; }')
        assert statuses(events) == ["IN_QUEUE", "XRAY", "COMPILE_ERROR"]
        assert "solution.hip:1" in events[-1]["message"]
        assert events[-1]["cost_usd"] == 0
        assert service.get("vms")["items"] == []


def test_a_vm_that_exceeds_the_credits_is_refused(tmp_path: Path) -> None:
    """A VM whose worst case exceeds the credits is refused with the numbers, and one alert is sent."""
    # A VM's worst case is $1 per hour times (10 + 10 + 1 + 15) s = 1 cent; booting costs a seventh of that.
    with serving(
        tmp_path,
        AMD_VM_IDLE_TIMEOUT="1",
        WARMFRONT_REHEARSE="true",
        WARMFRONT_REHEARSE_BOOT="5",
        WARMFRONT_PROVISION_TIMEOUT="10",
        WARMFRONT_TASK_TIMEOUT="10",
        WARMFRONT_STOP_LAG="15",
        AMD_MI300X_HOURLY_RATE="1.00",
        AMD_GRANT_CREDITS_TOTAL="0.0115",
        AMD_COST_ALERT_THRESHOLD="0.1",
    ) as service:
        last = {}
        for _ in range(4):
            last = service.judged(endpoint="checker")[-1]
            if last["status"] == "BUDGET_EXCEEDED":
                break
            assert last["status"] == "CHECKED"
            service.wait_until_no_vm_is_alive()
        assert last["status"] == "BUDGET_EXCEEDED"
        assert "$0.01" in last["message"]
        assert last["hint"]
        vms = service.get("vms")["items"]
        spent = sum(Decimal(str(vm["cost_usd"])) for vm in vms)
        assert 0 < spent <= Decimal("0.0115")
    assert sum("budget alert" in line for line in service.lines) == 1


@pytest.mark.parametrize("endpoint", ["xray", "checker", "benchmark"])
def test_each_endpoint_ends_with_its_verdict(tmp_path: Path, endpoint: str) -> None:
    """An X-ray ends with XRAY and no VM, a check with CHECKED, a benchmark with BENCHMARKED."""
    with serving(tmp_path) as service:
        last = service.judged(endpoint=endpoint)[-1]
        assert last["status"] == {"xray": "XRAY", "checker": "CHECKED", "benchmark": "BENCHMARKED"}[endpoint]
        assert len(service.get("vms")["items"]) == (endpoint != "xray")


def test_a_second_service_on_the_same_data_is_refused(tmp_path: Path) -> None:
    """Two services never share a data directory: the second reports that it is in use, and exits."""
    with serving(tmp_path):
        second = Service(tmp_path)
        with pytest.raises(AssertionError):
            second.start()
        assert second.stop() in {1, 2, 3}
        assert any("in use" in line or "holds" in line for line in second.lines), second.lines


def test_the_same_on_postgresql(tmp_path: Path, postgres: PostgresServer) -> None:
    """With WARMFRONT_DATABASE_URL a killed service continues from PostgreSQL; no SQLite file is created."""
    with serving(tmp_path, WARMFRONT_DATABASE_URL=postgres.new_database(tables=False)) as service:
        first = service.submit(endpoint="checker")
        service.kill()
        service.start()
        assert statuses(service.events(first))[-1] == "CHECKED"
        assert service.judged(endpoint="checker")[-1]["status"] == "CHECKED"
        assert not list(tmp_path.glob("*.db"))


def test_a_problem_sent_with_a_submission(tmp_path: Path) -> None:
    """A problem sent with a submission is used for that submission only, and is not listed."""
    fields = {"code": block("cpp"), "problem": "dot-product", "endpoint": "checker"}
    with serving(tmp_path) as service:
        last = service.judged(**fields, problem_def=block("python"))[-1]
        assert (last["status"], last["total_tests"]) == ("CHECKED", 8)  # two of them hidden
        assert "dot-product" not in {problem["slug"] for problem in service.get("problems")["items"]}
