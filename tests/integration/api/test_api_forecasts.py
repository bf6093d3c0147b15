"""Forecasts and what-if comparisons over HTTP, from the ledger and from simulations."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

from tests.support.api_harness import ApiHarness, served
from warmfront.api.routes.forecasts import Simulations
from warmfront.cli.cost_projections import what_if_lines
from warmfront.roles import Role
from warmfront.store import attempt_queries, event_queries, ledger_queries, submission_queries
from warmfront.store.records import AttemptRecord, LedgerEntry, Meter
from warmfront.submission import NewSubmission

DAY_S = 86_400


@dataclass(kw_only=True)
class Blocking(Simulations):
    """Runs the simulation process synchronously, because the virtual event loop cannot start processes."""

    asked: int = 0

    async def run(self, request: dict[str, Any], now: float) -> Any:
        """Run the simulation like the real class, without caching."""
        del now
        self.asked += 1
        done = subprocess.run(  # noqa: ASYNC221 - the docstring of the class says why
            [sys.executable, "-m", "warmfront.simulate.account_forecast"],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)


def _days(harness: ApiHarness, usd: list[str]) -> None:
    """Bill these amounts on the days before today."""
    today = harness.clock.now() - harness.clock.now() % DAY_S
    entries = [
        LedgerEntry(
            vm_id="vm_x",
            meter=Meter.WORK,
            started_at=today - (len(usd) - number) * DAY_S + 3600,
            ended_at=today - (len(usd) - number) * DAY_S + 7200,
            amount_usd=Decimal(amount),
        )
        for number, amount in enumerate(usd)
    ]
    harness.database.run(ledger_queries.add, entries)


@served(start=False, before=lambda harness: _days(harness, ["2", "3", "2", "3", "2", "3"]))
async def test_costs_have_a_forecast(harness: ApiHarness) -> None:
    """$2.50 per day is $75 per month; the credits last for the remaining amount divided by the daily cost."""
    body = (await harness.client.get("/api/amd/costs")).json()["forecast"]
    assert body["days_seen"] == 6
    month, lasts = body["month_usd"], body["lasts_days"]
    assert month["mid"] == pytest.approx(75.0)
    assert month["low"] < 75 < month["high"]
    assert lasts["mid"] == pytest.approx(
        1400 / 2.5
    )  # the orchestrator has not started, so it does not know about the $15
    assert lasts["low"] < lasts["mid"] < lasts["high"]


@served(start=False, before=lambda harness: _days(harness, ["2", "3"]))
async def test_a_forecast_needs_three_days(harness: ApiHarness) -> None:
    """With two full days in the ledger there is no forecast."""
    assert (await harness.client.get("/api/amd/costs")).json()["forecast"] is None


def _tasks(harness: ApiHarness) -> None:
    for number in range(12):
        new = NewSubmission(
            id=f"s{number}",
            owner="ada",
            problem="relu",
            gpu="MI300X",
            dtype="float32",
            language="hip",
            endpoint="checker",
            file_name="k.hip",
            code="//",
            created_at=harness.clock.now() - DAY_S * 5 + 20_000 * number,
        )
        harness.database.run(submission_queries.create, new, {"status": "IN_QUEUE"})
        harness.database.run(event_queries.admit, new.id, {"status": "XRAY"}, new.created_at)
        attempt = AttemptRecord(
            id=f"a{number}", submission_id=new.id, vm_id="vm", number=1, started_at=new.created_at
        )
        harness.database.run(attempt_queries.begin, attempt, {"status": "VM_READY"}, cold=False)


@served(start=False, before=_tasks)
async def test_a_forecast_has_the_present_pace_and_the_requested_one(harness: ApiHarness) -> None:
    """The service's own pace is first, then the requested one."""
    harness.client.app.state.simulations = Blocking()
    body = (await harness.client.get("/api/amd/forecast?tasks_per_day=4")).json()
    own, asked = body["items"]
    assert own["source"] == "its own arrivals"
    assert own["tasks_per_day"] == pytest.approx(2.0, abs=0.6)
    assert asked["tasks_per_day"] == 4
    assert asked["lasts_days"]["low"] < asked["lasts_days"]["high"]


@served(start=False, before=_tasks)
async def test_what_if_compares_the_ledger_with_policies(harness: ApiHarness) -> None:
    """The spent amount comes from the ledger, the policies' costs from replays; the optimum is computed."""
    _days(harness, ["1.25"])
    harness.client.app.state.simulations = Blocking()
    body = (await harness.client.get("/api/amd/what-if")).json()
    assert body["spent_usd"] == 1.25
    assert body["tasks"] == 12
    assert [row["best"] for row in body["items"]] == [False, False, True]
    (line, *_) = what_if_lines(body)
    assert line.startswith("this month $1.25; with fixed 10 minutes it would have been $")
    assert "the best possible was $" in line


@served(start=False)
async def test_a_month_without_tasks_needs_no_simulation(harness: ApiHarness) -> None:
    """Without tasks there is nothing to replay, and the list of policies is empty."""
    simulations = harness.client.app.state.simulations = Blocking()
    body = (await harness.client.get("/api/amd/what-if")).json()
    assert (body["items"], simulations.asked) == ([], 0)
    assert "no submission has needed a VM yet" in what_if_lines(body)[0]


@served(start=False)
async def test_simulations_are_for_operators(harness: ApiHarness) -> None:
    """A user's key gets 403 with an alternative in the hint; a pace out of range gets 422."""
    ada, olga = harness.user("ada"), harness.user("olga", Role.OPERATOR)
    for path in ("forecast", "what-if"):
        answer = await ada.get(f"/api/amd/{path}")
        assert answer.status == 403
        assert "/api/amd/costs" in answer.json()["hint"]
    for pace in ("0", "-1", "nan", "1e9", "many"):
        assert (await olga.get(f"/api/amd/forecast?tasks_per_day={pace}")).status == 422
