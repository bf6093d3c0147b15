"""Metrics, costs, VMs, the catalog, Prometheus and health checks over HTTP."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from decimal import Decimal

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support.api_harness import ApiHarness, served
from warmfront.api import serialization
from warmfront.errors import InfrastructureError, ProviderError, StoreUnavailable
from warmfront.store import ledger_queries, vm_queries
from warmfront.store.records import LedgerEntry, Meter
from warmfront.vm import VMInstance, VMState


def _spent(amount_usd: str) -> LedgerEntry:
    return LedgerEntry(
        vm_id="vm_x", meter=Meter.WORK, started_at=1.0, ended_at=2.0, amount_usd=Decimal(amount_usd)
    )


def _before(harness: ApiHarness) -> None:
    over = VMInstance(
        id="vm_x", provider="simulated", gpu="MI300X", state=VMState.TERMINATED, created_at=1.0, ended_at=2.0
    )
    harness.database.run(vm_queries.save, over)
    harness.database.run(ledger_queries.add, [_spent("5.25")])


@served(before=_before)
async def test_the_headline_metrics(harness: ApiHarness) -> None:
    """$5.25 of $1,400 is 0.4 percent with $1,394.75 remaining; there are exactly seven fields."""
    answer = await harness.client.get("/api/amd/metrics")
    assert answer.json() == {
        "total_cost_usd": 5.25,
        "remaining_credits_usd": 1394.75,
        "credits_used_pct": 0.4,
        "tasks_completed": 0,
        "cold_starts": 0,
        "warm_reuses": 0,
        "active_vms": 0,
    }
    assert b'"total_cost_usd":5.25,' in answer.body


@served()
async def test_metrics_count_tasks_and_starts(harness: ApiHarness) -> None:
    """One cold start, one warm reuse and one compile error are two tasks on one VM."""
    for code in ("// a", "// b", "// DOES_NOT_COMPILE"):
        await harness.client.submit(accept="*/*", solution_code=code)
    figures = (await harness.client.get("/api/amd/metrics")).json()
    assert (figures["tasks_completed"], figures["cold_starts"], figures["warm_reuses"]) == (2, 1, 1)
    assert figures["active_vms"] == 1
    assert figures["total_cost_usd"] == float(serialization.round_to_cents(harness.provider.spent_usd()))


@served()
async def test_detail_adds_more_metrics(harness: ApiHarness) -> None:
    """?detail=1 adds the pool, the queue, latencies and daily costs to the seven metrics."""
    await harness.client.submit(accept="*/*")
    plain = (await harness.client.get("/api/amd/metrics")).json()
    detail = (await harness.client.get("/api/amd/metrics?detail=1")).json()
    assert {name: detail[name] for name in plain} == plain
    assert detail["pool"] == {"IDLE": 1}
    assert (detail["queue_length"], detail["verdicts"]) == (0, {"CHECKED": 1})
    assert detail["latencies_s"]["cold"]["count"] == 1
    assert detail["latencies_s"]["all"]["p50_s"] > 5
    assert [day["day"] for day in detail["costs_by_day"]] == ["2023-11-14"]


@pytest.mark.parametrize(
    ("part", "whole", "pct"),
    [("5.25", "1400", 0.4), ("0", "1400", 0.0), ("1400", "1400", 100.0), ("0", "0", 0.0), ("1", "0", 100.0)],
)
def test_percentages_are_rounded(part: str, whole: str, pct: float) -> None:
    """They have one decimal, and zero credits do not divide by zero."""
    assert serialization.percent(Decimal(part), Decimal(whole)) == pct


@served(provider="dstack", cpu_fleet_name="cpu-nodes")
async def test_the_saving_by_cpu_nodes_is_their_time_at_the_difference_of_the_rates(
    harness: ApiHarness,
) -> None:
    """The comparison is with VMs of the default GPU type; a submission that is timed does not count."""
    assert (await harness.client.get("/api/amd/costs")).json()["cpu_nodes"] is None
    quotes = [
        (await harness.client.get(f"/api/amd/quote?problem=leaky-relu&endpoint={endpoint}")).json()
        for endpoint in ("checker", "benchmark")
    ]
    await harness.client.submit(accept="*/*", endpoint="checker")
    await harness.client.submit(accept="*/*", endpoint="benchmark")
    await asyncio.sleep(harness.settings.idle_timeout_s + 60)
    cpu_node, timed = (await harness.client.get("/api/amd/vms")).json()["items"][::-1]
    assert (cpu_node["gpu_type"], timed["gpu_type"]) == ("CPU", "MI300X")
    assert quotes[0]["cost_usd"] == pytest.approx(quotes[1]["cost_usd"] * 0.10 / 1.99, rel=1e-3)
    saving = (await harness.client.get("/api/amd/costs")).json()["cpu_nodes"]
    hours = saving["seconds"] / 3600
    assert saving["cost_usd"] == pytest.approx(0.10 * hours, rel=1e-3) == cpu_node["cost_usd"]
    assert saving["gpu_usd"] == pytest.approx(1.99 * hours, rel=1e-3)
    assert saving["saved_usd"] == pytest.approx(1.89 * hours, rel=1e-3)
    assert saving["gpu_type"] == "MI300X"


@served()
async def test_costs_come_from_the_ledger(harness: ApiHarness) -> None:
    """Costs by VM, by meter and by day each add up to the provider's bill after the VM has ended."""
    await harness.client.submit(accept="*/*")
    await asyncio.sleep(harness.settings.idle_timeout_s + 60)
    costs = (await harness.client.get("/api/amd/costs")).json()
    bill = pytest.approx(float(harness.provider.spent_usd()), abs=2e-6)
    assert costs["total_usd"] == bill
    assert costs["reserved_usd"] == 0
    assert sum(vm["cost_usd"] for vm in costs["by_vm"]) == bill
    assert sum(day["cost_usd"] for day in costs["by_day"]) == bill
    assert {row["meter"] for row in costs["by_meter"]} == {"PROVISIONING", "WORK", "IDLE"}
    assert sum(row["cost_usd"] for row in costs["by_vm"][0]["meters"]) == bill
    assert costs["credits_usd"] - costs["remaining_usd"] == pytest.approx(costs["total_usd"], abs=1e-6)
    assert costs["today"]["user"] == "local"
    assert costs["simulated"] is False


@served()
async def test_billing_differences_are_shown(harness: ApiHarness) -> None:
    """The latest reconciliation has the number of compared VMs and those that differ by more than a cent."""
    await harness.client.submit(accept="*/*")
    await asyncio.sleep(harness.settings.idle_timeout_s + 60)
    assert (await harness.client.get("/api/amd/costs")).json()["audit"] is None
    await harness.billing_reconciler.reconcile()
    agreed = (await harness.client.get("/api/amd/costs")).json()
    assert (agreed["audit"]["vms"], agreed["audit"]["differences"]) == (1, [])
    vm_id = agreed["by_vm"][0]["vm_id"]
    await harness.store.database.write(ledger_queries.add, [replace(_spent("0.5"), vm_id=vm_id)])
    await harness.billing_reconciler.reconcile()
    (difference,) = (await harness.client.get("/api/amd/costs")).json()["audit"]["differences"]
    assert difference["vm_id"] == vm_id
    assert difference["ledger_usd"] == pytest.approx(difference["billed_usd"] + 0.5)


@served()
async def test_vms_are_shown_without_their_address(harness: ApiHarness) -> None:
    """A VM has its state, times and cost; the address of its listener is not exposed."""
    await harness.client.submit(accept="*/*")
    answer = await harness.client.get("/api/amd/vms")
    (vm,) = answer.json()["items"]
    assert (vm["state"], vm["tasks_done"], vm["provider"]) == ("IDLE", 1, "simulated")
    assert vm["deadline_at"] > vm["ready_at"] > vm["created_at"]
    assert b".invalid" not in answer.body


@served()
async def test_prometheus_metrics_agree_with_the_json(harness: ApiHarness) -> None:
    """/metrics is valid Prometheus text with the same values."""
    await harness.client.submit(accept="*/*")
    answer = await harness.client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    found = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(answer.body.decode())
        for sample in family.samples
    }
    assert found["warmfront_tasks_completed_total",] == 1
    assert found["warmfront_attempts_total", "COLD_START"] == 1
    assert found["warmfront_verdicts_total", "CHECKED"] == 1
    assert found["warmfront_vms", "IDLE"] == 1
    assert found["warmfront_spent_usd", "false"] == pytest.approx(float(harness.provider.spent_usd()))


@served(start=False)
async def test_gpus_have_a_display_name(harness: ApiHarness) -> None:
    """The default GPU's display name has its memory and price; other GPUs are not enabled."""
    items = (await harness.client.get("/api/amd/gpus")).json()["items"]
    assert items[0]["display_name"] == "AMD MI300X (192GB, $1.99/hr)"
    assert (items[0]["enabled"], items[0]["default"]) == (True, True)
    assert not any(item["enabled"] for item in items[1:])


@served(start=False)
async def test_a_problem_has_statement_signature_and_starter(harness: ApiHarness) -> None:
    """They are available for each dtype, by slug and by alias."""
    listed = (await harness.client.get("/api/amd/problems")).json()["items"]
    assert {"leaky-relu", "array-sort"} <= {item["slug"] for item in listed}
    problem = (await harness.client.get("/api/amd/problems/leaky-relu")).json()
    assert set(problem["declarations"]) == set(problem["starters"]) == set(problem["dtypes"])
    assert problem["statement"]
    assert problem["cases"]["cpu"]
    assert (await harness.client.get("/api/amd/problems/sort")).json()["slug"] == "array-sort"
    assert (await harness.client.get("/api/amd/problems/nope")).status == 404


@served(start=False)
async def test_an_xray_is_not_stored(harness: ApiHarness) -> None:
    """The response is the report for the requested target and problem; no submission is created."""
    body = {"solution_code": "// x", "problem": "sort", "arch": "gfx90a"}
    report = (await harness.client.post("/api/amd/xray", body)).json()
    assert report["arch"] == "gfx90a"
    assert report["notes"][2] == "int32"
    assert (await harness.client.get("/api/amd/submissions")).json()["items"] == []


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"arch": "sm_90"}, "arch"),
        ({"problem": "nope"}, "problem"),
        ({"problem": "sort", "dtype": "float32"}, "dtype"),
        ({"solution_code": "\0"}, "solution_code"),
        ({"isa": "yes"}, "isa"),
    ],
)
def test_an_invalid_xray_request_names_the_field(fields: dict[str, object], field: str) -> None:
    """The response is 422 with the field at fault."""

    @served(start=False)
    async def ask(harness: ApiHarness) -> None:
        answer = await harness.client.post("/api/amd/xray", {"solution_code": "// x", **fields})
        assert (answer.status, answer.json()["field"]) == (422, field)

    ask()


@served(start=False, rate_limit_per_min=1)
async def test_xrays_have_their_own_rate_limit(harness: ApiHarness) -> None:
    """X-rays above the limit get 429; submissions are counted separately."""
    answers = [await harness.client.post("/api/amd/xray", {"solution_code": "// x"}) for _ in range(2)]
    assert [answer.status for answer in answers] == [200, 429]
    assert (await harness.client.submit()).status == 202


@served(start=False)
async def test_readiness_lists_the_reasons(harness: ApiHarness) -> None:
    """The service is alive but not ready: 503 with a reason for each component that fails."""

    async def unavailable(*_: object) -> None:
        raise StoreUnavailable

    async def lost() -> None:
        raise ProviderError("the cloud is unavailable")

    harness.store.database.read, harness.provider.leases = unavailable, lost
    assert (await harness.client.get("/health")).status == 200
    answer = await harness.client.get("/ready")
    assert (answer.status, answer.json()["status"]) == (503, "not ready")
    assert answer.json()["reasons"] == [
        "the store: The database is unavailable.",
        "the provider: the cloud is unavailable",
    ]


@served(start=False)
async def test_a_full_disk_is_not_ready(harness: ApiHarness) -> None:
    """Submissions could not be stored, so the response is 503 with the reason."""

    async def full() -> None:
        raise InfrastructureError("The disk of the data directory is almost full.")

    object.__setattr__(harness.service, "check_storage", full)
    answer = await harness.client.get("/ready")
    assert answer.status == 503
    assert answer.json()["reasons"] == ["the storage: The disk of the data directory is almost full."]


@served(start=False)
async def test_readiness_times_out(harness: ApiHarness) -> None:
    """A provider that hangs makes the service not ready; the check itself does not hang."""

    async def hang() -> None:
        await asyncio.Event().wait()

    harness.provider.leases = hang
    answer = await harness.client.get("/api/amd/ready")
    assert answer.status == 503
    assert "no response" in answer.json()["reasons"][0]
