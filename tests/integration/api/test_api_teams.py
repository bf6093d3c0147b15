"""Teams and classes: private boards, assignments with a deadline, and the export of results."""

from __future__ import annotations

import asyncio
import csv
import io
from typing import Any

import pytest

from tests.support.api_harness import ApiHarness, Client, served
from warmfront.roles import Role
from warmfront.store import account_queries
from warmfront.wire.base import isoformat


def _member(harness: ApiHarness, name: str, team: str | None = "class-1", role: Role = Role.AUTHOR) -> Client:
    _, secret = harness.database.run(account_queries.create_key, name, role, harness.clock.now(), team=team)
    return harness.client.with_key(secret)


def _deadline(harness: ApiHarness, after_s: float) -> str:
    return isoformat(harness.clock.now() + after_s)


async def _assign(harness: ApiHarness, client: Client, **fields: object) -> dict[str, Any]:
    body = {"problem": "leaky-relu", "deadline_at": _deadline(harness, 3600.0), **fields}
    answer = await client.post("/api/amd/teams/class-1/assignments", body)
    assert answer.status == 201, answer.body
    return dict(answer.json())


@served()
async def test_an_assignment_counts_until_its_deadline(harness: ApiHarness) -> None:
    """A submission counts by the time it was sent; members see their own result, a manager sees all."""
    olga = _member(harness, "olga", role=Role.OPERATOR)
    ada, bob = _member(harness, "ada"), _member(harness, "bob")
    team = await _assign(harness, olga, title="Week 1")
    assert team["members"] == ["ada", "bob", "olga"]
    await ada.submit(accept="text/event-stream", endpoint="submit")
    await asyncio.sleep(7200.0)  # in virtual time
    await bob.submit(accept="text/event-stream", endpoint="submit")  # too late
    (own,) = (await ada.get("/api/amd/teams/class-1")).json()["assignments"]
    assert (own["title"], own["is_open"]) == ("Week 1", False)
    (result,) = own["results"]
    assert (result["user"], result["solved"], result["submissions"]) == ("ada", True, 1)
    (all_results,) = (await olga.get("/api/amd/teams/class-1")).json()["assignments"]
    assert {item["user"]: item["solved"] for item in all_results["results"]} == {
        "ada": True,
        "bob": False,
        "olga": False,
    }


@served()
async def test_results_are_exported(harness: ApiHarness) -> None:
    """The CSV has one row per member and assignment, and no cell that a spreadsheet would evaluate."""
    olga, ada = _member(harness, "olga", role=Role.OPERATOR), _member(harness, "ada")
    await _assign(harness, olga, title="=1+1")
    await ada.submit(accept="text/event-stream", endpoint="submit")
    answer = await olga.get("/api/amd/teams/class-1/results.csv")
    assert (answer.status, answer.headers["content-type"]) == (200, "text/csv; charset=utf-8")
    rows = list(csv.DictReader(io.StringIO(answer.body.decode())))
    assert [(row["user"], row["solved"], row["assignment"]) for row in rows] == [
        ("ada", "yes", "'=1+1"),
        ("olga", "no", "'=1+1"),
    ]
    refused = await ada.get("/api/amd/teams/class-1/results.csv")
    assert (refused.status, refused.json()["code"]) == (403, "NOT_ALLOWED")


@served()
async def test_a_team_has_its_own_board(harness: ApiHarness) -> None:
    """Only its members are ranked, and only they and operators see it."""
    ada, eve = _member(harness, "ada"), _member(harness, "eve", None)
    operator = _member(harness, "olga", None, Role.OPERATOR)
    for client in (ada, eve):
        await client.submit(accept="text/event-stream", endpoint="submit")

    async def ranked(client: Client, path: str) -> set[str]:
        board = (await client.get(path)).json()
        return {entry["user"] for entry in board["items"] + board["simulated"]}

    assert await ranked(ada, "/api/amd/leaderboard/leaky-relu") == {"ada", "eve"}
    for client in (ada, operator):
        assert await ranked(client, "/api/amd/leaderboard/leaky-relu?team=class-1") == {"ada"}
    for path in ("/api/amd/leaderboard/leaky-relu?team=class-1", "/api/amd/teams/class-1"):
        assert (await eve.get(path)).status == 404
    assert (await operator.get("/api/amd/teams/nothing")).status == 404


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"problem": "nothing"}, "problem"),
        ({"deadline_at": "tomorrow"}, "deadline_at"),
        ({"deadline_at": "2030-01-01T00:00:00"}, "deadline_at"),  # without a time zone
        ({"deadline_at": "1970-01-01T00:00:00Z"}, "deadline_at"),
        ({"deadline_at": "9999-12-31T23:59:00-12:00"}, "deadline_at"),  # the year 10000 in UTC
        ({"deadline_at": 1_893_456_000}, "deadline_at"),
        ({"deadline_at": "1893456000"}, "deadline_at"),  # seconds or milliseconds
        ({"title": "x" * 201}, "title"),
    ],
)
def test_an_invalid_assignment_is_rejected(changes: dict[str, str | int], field: str) -> None:
    """The error names the field."""

    @served(start=False)
    async def ask(harness: ApiHarness) -> None:
        olga = _member(harness, "olga", role=Role.OPERATOR)
        body = {"problem": "relu", "deadline_at": _deadline(harness, 60.0), **changes}
        answer = await olga.post("/api/amd/teams/class-1/assignments", body)
        assert (answer.status, answer.json()["field"]) == (422, field)

    ask()


@served(start=False)
async def test_a_repeated_request_creates_one_assignment(harness: ApiHarness) -> None:
    """The response has the id of the assignment; another title or deadline is another assignment."""
    olga = _member(harness, "olga", role=Role.OPERATOR)
    fields = {"title": "Week 1", "deadline_at": _deadline(harness, 600.0)}
    first = await _assign(harness, olga, **fields)
    assert [item["id"] for item in first["assignments"]] == [first["assignment_id"]]
    assert await _assign(harness, olga, **fields) == first
    for change in ({"title": "Week 2"}, {"deadline_at": _deadline(harness, 601.0)}, {"problem": "relu"}):
        other = await _assign(harness, olga, **{**fields, **change})
        assert other["assignment_id"] != first["assignment_id"]
    assert len(other["assignments"]) == 4


@served(start=False)
async def test_an_assignment_is_deleted(harness: ApiHarness) -> None:
    """Only by managers of the team, and only once."""
    olga, ada = _member(harness, "olga", role=Role.OPERATOR), _member(harness, "ada")
    team = await _assign(harness, olga)
    (assignment,) = team["assignments"]
    path = f"/api/amd/teams/class-1/assignments/{assignment['id']}/delete"
    assert (await ada.post(path)).status == 403
    assert (await olga.post(path)).json()["assignments"] == []
    assert (await olga.post(path)).status == 404


@served()
async def test_a_deadline_is_extended_after_it_passed(harness: ApiHarness) -> None:
    """Submissions between the two deadlines count then; only managers may do it, and not to the past."""
    olga, ada = _member(harness, "olga", role=Role.OPERATOR), _member(harness, "ada")
    (assignment,) = (await _assign(harness, olga))["assignments"]
    await asyncio.sleep(7200.0)  # in virtual time
    await ada.submit(accept="text/event-stream", endpoint="submit")
    path = f"/api/amd/teams/class-1/assignments/{assignment['id']}/deadline"
    later = {"deadline_at": _deadline(harness, 60.0)}
    assert (await ada.post(path, later)).status == 403
    refused = await olga.post(path, {"deadline_at": _deadline(harness, -60.0)})
    assert (refused.status, refused.json()["field"]) == (422, "deadline_at")
    missing = await olga.post(path.replace(assignment["id"], "asg_none"), later)
    assert (missing.status, missing.json()["code"]) == (404, "NOT_FOUND")
    (changed,) = (await olga.post(path, later)).json()["assignments"]
    assert changed["is_open"]
    assert [item["user"] for item in changed["results"] if item["solved"]] == ["ada"]


@served()
async def test_an_admin_sets_the_budget_of_a_team(harness: ApiHarness) -> None:
    """It is refused to operators, checked to the cent at the next submission, and in the audit log."""
    admin, ada = _member(harness, "root", team=None, role=Role.ADMIN), _member(harness, "ada")
    bob, olga = _member(harness, "bob"), _member(harness, "olga", team=None, role=Role.OPERATOR)
    path = "/api/amd/operators/teams/class-1/budget"
    refused = await olga.post(path, {"daily_budget_usd": 1})
    assert (refused.status, refused.json()["role_needed"]) == (403, "admin")
    await ada.submit(accept="text/event-stream", endpoint="submit")
    (team,) = (await olga.get("/api/amd/operators/teams")).json()["items"]
    assert (team["budget_usd"], team["limit_usd"]) == (None, None)
    spent_usd = team["spent_usd"]
    assert spent_usd > 0
    changed = (await admin.post(path, {"daily_budget_usd": spent_usd})).json()
    assert (changed["budget_usd"], changed["limit_usd"], changed["members"]) == (
        spent_usd,
        spent_usd,
        ["ada", "bob"],
    )
    rejected = await bob.submit()  # not a cent is left
    assert (rejected.status, rejected.json()["code"]) == (402, "BUDGET_EXCEEDED")
    assert rejected.json()["detail"].startswith("Daily cap reached: Team class-1 has spent $")
    assert "An admin can raise the budget of the team class-1." in rejected.json()["hint"]
    own = (await bob.get("/api/amd/teams/class-1")).json()
    assert (own["spent_usd"], own["limit_usd"]) == (spent_usd, spent_usd)
    await admin.post(path, {"daily_budget_usd": None})
    assert (await bob.submit(accept="text/event-stream")).status == 200
    entries = (await admin.get("/api/amd/audit?action=team.budget")).json()["items"]
    assert [(entry["actor"], entry["subject"]) for entry in entries] == [("root", "class-1")] * 2
    assert entries[0]["after"] == {"daily_budget_usd": None}
    assert float(entries[1]["after"]["daily_budget_usd"]) == spent_usd


@pytest.mark.parametrize("amount", [0, -1, "a lot", 1e9, True, "1.5"])
def test_an_amount_that_is_no_budget_is_refused(amount: object) -> None:
    """The error names the field."""

    @served()
    async def check(harness: ApiHarness) -> None:
        admin = _member(harness, "root", team=None, role=Role.ADMIN)
        answer = await admin.post("/api/amd/operators/teams/class-1/budget", {"daily_budget_usd": amount})
        assert answer.status == 422
        assert "daily_budget_usd" in answer.json()["detail"]

    check()
