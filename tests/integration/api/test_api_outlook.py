"""Forecasts and what might have been, over HTTP: from the ledger, and from simulations in other processes."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

from tests.support.api_harness import Lab, served
from warmfront.api.routes.forecasts import Simulations
from warmfront.cli.cost_projections import what_if_lines
from warmfront.store import attempt_queries, event_queries, ledger_queries, submission_queries
from warmfront.store.records import AttemptRecord, LedgerEntry, Meter, Role
from warmfront.submission import NewSubmission

DAY_S = 86_400


@dataclass(kw_only=True)
class Blocking(Simulations):
    """The same process, waited for outside the virtual clock, on which no process can be."""

    asked: int = 0

    async def run(self, request: dict[str, Any], now: float) -> Any:
        """As the real one, without keeping anything."""
        del now
        self.asked += 1
        done = subprocess.run(  # noqa: ASYNC221 - see above
            [sys.executable, "-m", "warmfront.simulate.outlook"],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)


def _days(lab: Lab, usd: list[str]) -> None:
    """So many dollars on each of the days before today."""
    today = lab.clock.now() - lab.clock.now() % DAY_S
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
    lab.database.run(ledger_queries.add, entries)


@served(start=False, before=lambda lab: _days(lab, ["2", "3", "2", "3", "2", "3"]))
async def test_costs_have_a_forecast_from_the_ledgers_days(lab: Lab) -> None:
    """$2.50 a day are $75 a month, within an interval, and what is left over them is how long it lasts."""
    told = (await lab.client.get("/api/amd/costs")).json()["forecast"]
    assert told["days_seen"] == 6
    month, lasts = told["month_usd"], told["lasts_days"]
    assert month["mid"] == pytest.approx(75.0)
    assert month["low"] < 75 < month["high"]
    assert lasts["mid"] == pytest.approx(1400 / 2.5)  # nothing runs here that knows of the 15 spent
    assert lasts["low"] < lasts["mid"] < lasts["high"]


@served(start=False, before=lambda lab: _days(lab, ["2", "3"]))
async def test_two_days_are_no_forecast(lab: Lab) -> None:
    """Until three full days were seen there is none."""
    assert (await lab.client.get("/api/amd/costs")).json()["forecast"] is None


def _tasks(lab: Lab) -> None:
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
            created_at=lab.clock.now() - DAY_S * 5 + 20_000 * number,
        )
        lab.database.run(submission_queries.create, new, {"status": "IN_QUEUE"})
        lab.database.run(event_queries.admit, new.id, {"status": "XRAY"}, new.created_at)
        attempt = AttemptRecord(
            id=f"a{number}", submission_id=new.id, vm_id="vm", number=1, started_at=new.created_at
        )
        lab.database.run(attempt_queries.begin, attempt, {"status": "VM_READY"}, cold=False)


@served(start=False, before=_tasks)
async def test_a_forecast_tells_of_the_present_pace_and_of_another(lab: Lab) -> None:
    """The account's own tasks a day come first, then the pace that was asked for."""
    lab.client.app.state.simulations = Blocking()
    told = (await lab.client.get("/api/amd/forecast?tasks_per_day=4")).json()
    own, asked = told["items"]
    assert own["source"] == "its own arrivals"
    assert own["tasks_per_day"] == pytest.approx(2.0, abs=0.6)
    assert asked["tasks_per_day"] == 4
    assert asked["lasts_days"]["low"] < asked["lasts_days"]["high"]


@served(start=False, before=_tasks)
async def test_what_if_has_the_ledgers_dollars_and_the_policies(lab: Lab) -> None:
    """What was spent is the ledger's; the policies' dollars come from replays, the best from arithmetic."""
    _days(lab, ["1.25"])
    lab.client.app.state.simulations = Blocking()
    told = (await lab.client.get("/api/amd/what-if")).json()
    assert told["spent_usd"] == 1.25
    assert told["tasks"] == 12
    assert [row["best"] for row in told["items"]] == [False, False, True]
    (line, *_) = what_if_lines(told)
    assert line.startswith("this month $1.25; with fixed 10 minutes it would have been $")
    assert "the best possible was $" in line


@served(start=False)
async def test_a_month_without_tasks_needs_no_simulation(lab: Lab) -> None:
    """There is nothing to replay, and that is said."""
    simulations = lab.client.app.state.simulations = Blocking()
    told = (await lab.client.get("/api/amd/what-if")).json()
    assert (told["items"], simulations.asked) == ([], 0)
    assert "no submission has needed a VM yet" in what_if_lines(told)[0]


@served(start=False)
async def test_simulations_are_for_operators(lab: Lab) -> None:
    """A user's key gets 403 with where to look instead; a pace that makes no sense gets 422."""
    ada, olga = lab.user("ada"), lab.user("olga", Role.OPERATOR)
    for path in ("forecast", "what-if"):
        answer = await ada.get(f"/api/amd/{path}")
        assert answer.status == 403
        assert "/api/amd/costs" in answer.json()["hint"]
    for pace in ("0", "-1", "nan", "1e9", "many"):
        assert (await olga.get(f"/api/amd/forecast?tasks_per_day={pace}")).status == 422
