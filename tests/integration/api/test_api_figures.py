"""Figures over HTTP: money to the cent, counts, VMs, Prometheus, and whether the service is well."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from decimal import Decimal

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support.api_harness import Lab, served
from warmfront.api import serialization
from warmfront.errors import ProviderError, StoreUnavailable
from warmfront.store import ledger_queries, vm_queries
from warmfront.store.records import LedgerEntry, Meter
from warmfront.vm import VMInstance, VMState


def _spent(amount_usd: str) -> LedgerEntry:
    return LedgerEntry(
        vm_id="vm_x", meter=Meter.WORK, started_at=1.0, ended_at=2.0, amount_usd=Decimal(amount_usd)
    )


def _before(lab: Lab) -> None:
    over = VMInstance(
        id="vm_x", provider="simulated", gpu="MI300X", state=VMState.TERMINATED, created_at=1.0, ended_at=2.0
    )
    lab.database.run(vm_queries.save, over)
    lab.database.run(ledger_queries.add, [_spent("5.25")])


@served(before=_before)
async def test_the_seven_figures(lab: Lab) -> None:
    """5.25 spent of 1,400 is 1,394.75 left and 0.4 percent, as numbers, in fields of these names alone."""
    answer = await lab.client.get("/api/amd/metrics")
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
async def test_the_figures_count_what_happened(lab: Lab) -> None:
    """One cold start, one warm reuse and one compile error are two tasks on one VM."""
    for code in ("// a", "// b", "// DOES_NOT_COMPILE"):
        await lab.client.submit(accept="*/*", solution_code=code)
    figures = (await lab.client.get("/api/amd/metrics")).json()
    assert (figures["tasks_completed"], figures["cold_starts"], figures["warm_reuses"]) == (2, 1, 1)
    assert figures["active_vms"] == 1
    assert figures["total_cost_usd"] == float(serialization.round_to_cents(lab.provider.spent_usd()))


@served()
async def test_details_are_behind_a_parameter(lab: Lab) -> None:
    """?detail=1 adds pool, queue, latencies and costs by day to the same seven."""
    await lab.client.submit(accept="*/*")
    plain = (await lab.client.get("/api/amd/metrics")).json()
    detail = (await lab.client.get("/api/amd/metrics?detail=1")).json()
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
def test_percents_are_for_people(part: str, whole: str, pct: float) -> None:
    """To a tenth, and without credits there is no division."""
    assert serialization.percent(Decimal(part), Decimal(whole)) == pct


@served()
async def test_costs_are_the_ledgers(lab: Lab) -> None:
    """By VM, by what it did and by day, each adds up to what the provider asks, once the VM is over."""
    await lab.client.submit(accept="*/*")
    await asyncio.sleep(lab.settings.idle_timeout_s + 60)
    costs = (await lab.client.get("/api/amd/costs")).json()
    bill = pytest.approx(float(lab.provider.spent_usd()), abs=2e-6)
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
async def test_costs_that_the_provider_does_not_ask_for_are_shown(lab: Lab) -> None:
    """The latest audit goes along: how many VMs it compared, and those that are over a cent off."""
    await lab.client.submit(accept="*/*")
    await asyncio.sleep(lab.settings.idle_timeout_s + 60)
    assert (await lab.client.get("/api/amd/costs")).json()["audit"] is None
    await lab.billing_reconciler.reconcile()
    agreed = (await lab.client.get("/api/amd/costs")).json()
    assert (agreed["audit"]["vms"], agreed["audit"]["differences"]) == (1, [])
    vm_id = agreed["by_vm"][0]["vm_id"]
    await lab.store.database.write(ledger_queries.add, [replace(_spent("0.5"), vm_id=vm_id)])
    await lab.billing_reconciler.reconcile()
    (difference,) = (await lab.client.get("/api/amd/costs")).json()["audit"]["differences"]
    assert difference["vm_id"] == vm_id
    assert difference["ledger_usd"] == pytest.approx(difference["billed_usd"] + 0.5)


@served()
async def test_vms_are_shown_without_their_address(lab: Lab) -> None:
    """State, times and cost of each; where its listener is, is nobody's business."""
    await lab.client.submit(accept="*/*")
    answer = await lab.client.get("/api/amd/vms")
    (vm,) = answer.json()["items"]
    assert (vm["state"], vm["tasks_done"], vm["provider"]) == ("IDLE", 1, "simulated")
    assert vm["deadline_at"] > vm["ready_at"] > vm["created_at"]
    assert b".invalid" not in answer.body


@served()
async def test_prometheus_reads_the_same_figures(lab: Lab) -> None:
    """/metrics parses as Prometheus' text and agrees with the JSON."""
    await lab.client.submit(accept="*/*")
    answer = await lab.client.get("/metrics")
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
    assert found["warmfront_spent_usd", "false"] == pytest.approx(float(lab.provider.spent_usd()))


@served(start=False)
async def test_the_catalogue_names_the_gpu_for_people(lab: Lab) -> None:
    """The default GPU has its memory and price in its name; one that is not enabled says so."""
    items = (await lab.client.get("/api/amd/gpus")).json()["items"]
    assert items[0]["display_name"] == "AMD MI300X (192GB, $1.99/hr)"
    assert (items[0]["enabled"], items[0]["default"]) == (True, True)
    assert not any(item["enabled"] for item in items[1:])


@served(start=False)
async def test_a_problem_has_what_its_solver_needs(lab: Lab) -> None:
    """Statement, signature and starter for each dtype, under its slug and its aliases."""
    listed = (await lab.client.get("/api/amd/problems")).json()["items"]
    assert {"leaky-relu", "array-sort"} <= {item["slug"] for item in listed}
    problem = (await lab.client.get("/api/amd/problems/leaky-relu")).json()
    assert set(problem["declarations"]) == set(problem["starters"]) == set(problem["dtypes"])
    assert problem["statement"]
    assert problem["cases"]["cpu"]
    assert (await lab.client.get("/api/amd/problems/sort")).json()["slug"] == "array-sort"
    assert (await lab.client.get("/api/amd/problems/nope")).status == 404


@served(start=False)
async def test_an_xray_is_not_stored(lab: Lab) -> None:
    """The report comes back at once, for the target and the problem asked for."""
    body = {"solution_code": "// x", "problem": "sort", "arch": "gfx90a"}
    report = (await lab.client.post("/api/amd/xray", body)).json()
    assert report["arch"] == "gfx90a"
    assert report["notes"][2] == "int32"
    assert (await lab.client.get("/api/amd/submissions")).json()["items"] == []


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
def test_a_bad_xray_names_the_field(fields: dict[str, object], field: str) -> None:
    """As for a submission."""

    @served(start=False)
    async def ask(lab: Lab) -> None:
        answer = await lab.client.post("/api/amd/xray", {"solution_code": "// x", **fields})
        assert (answer.status, answer.json()["field"]) == (422, field)

    ask()


@served(start=False, rate_limit_per_min=1)
async def test_xrays_are_counted_apart(lab: Lab) -> None:
    """An X-ray takes a core for a moment, so it has a limit; submissions have their own."""
    answers = [await lab.client.post("/api/amd/xray", {"solution_code": "// x"}) for _ in range(2)]
    assert [answer.status for answer in answers] == [200, 429]
    assert (await lab.client.submit()).status == 202


@served(start=False)
async def test_a_service_that_cannot_serve_says_why(lab: Lab) -> None:
    """It is alive and not ready: 503 with a reason for each part that does not answer."""

    async def gone(*_: object) -> None:
        raise StoreUnavailable

    async def lost() -> None:
        raise ProviderError("the cloud is away")

    lab.store.database.read, lab.provider.leases = gone, lost
    assert (await lab.client.get("/health")).status == 200
    answer = await lab.client.get("/ready")
    assert (answer.status, answer.json()["status"]) == (503, "not ready")
    assert answer.json()["reasons"] == [
        "the store: The database is unavailable.",
        "the provider: the cloud is away",
    ]


@served(start=False)
async def test_a_part_that_never_answers_is_not_waited_for(lab: Lab) -> None:
    """A hanging provider makes it not ready, and not a hanging probe."""

    async def hang() -> None:
        await asyncio.Event().wait()

    lab.provider.leases = hang
    answer = await lab.client.get("/api/amd/ready")
    assert answer.status == 503
    assert "no response" in answer.json()["reasons"][0]
