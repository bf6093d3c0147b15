"""Reading, listing and cancelling submissions over HTTP, and who may do it."""

from __future__ import annotations

import asyncio
from urllib.parse import unquote

import pytest

from tests.support.api_harness import GOOD, ApiHarness, Client, served
from warmfront.roles import Role
from warmfront.testing.fake_listeners import FakeKernel
from warmfront.verdicts import Verdict


@served()
async def test_a_finished_submission_shows_its_verdict(harness: ApiHarness) -> None:
    """It has all fields, and the terminal event as `result`."""
    events = (await harness.client.submit(accept="*/*", endpoint="submit", file_name="mine.hip")).events()
    one = (await harness.client.get("/api/amd/submissions/sub_1")).json()
    assert (one["state"], one["verdict"], one["owner"], one["file_name"]) == (
        "DONE",
        "ACCEPTED",
        "local",
        "mine.hip",
    )
    assert one["result"] == events[-1]
    assert one["last_event_id"] == len(events)
    assert one["cost_usd"] == pytest.approx(events[-1]["cost_usd"], abs=1e-6)
    assert one["finished_at"] == events[-1]["time"]


@served(start=False)
async def test_an_unfinished_submission_has_no_result(harness: ApiHarness) -> None:
    """`result` is null before the verdict."""
    await harness.client.submit()
    one = (await harness.client.get("/api/amd/submissions/sub_1")).json()
    assert (one["state"], one["verdict"], one["result"]) == ("ADMITTING", None, None)


@served(start=False)
async def test_the_source_is_returned_as_it_was_sent(harness: ApiHarness) -> None:
    """Only line endings are normalized."""
    source = "// größer\r\nint x;\n"
    await harness.client.submit(solution_code=source)
    code = (await harness.client.get("/api/amd/submissions/sub_1/code")).json()
    assert code["solution_code"] == source.replace("\r\n", "\n")


PLACES = [
    ("GET", "/api/amd/submissions/{}"),
    ("GET", "/api/amd/submissions/{}/events"),
    ("GET", "/api/amd/submissions/{}/code"),
    ("POST", "/api/amd/submissions/{}/cancel"),
]


@pytest.mark.parametrize(("method", "place"), PLACES)
def test_another_users_submission_is_not_found(method: str, place: str) -> None:
    """The response is the same 404 as for an unknown id; an operator can read it."""

    @served(start=False)
    async def ask(harness: ApiHarness) -> None:
        mine = (await harness.user("ada").submit()).json()["id"]
        bob = harness.user("bob")
        hidden = await bob.ask(method, place.format(mine))
        unknown = await bob.ask(method, place.format("sub_9"))
        assert (hidden.status, unknown.status) == (404, 404)
        assert hidden.body.replace(mine.encode(), b"sub_9") == unknown.body
        assert (await harness.user("eve", Role.OPERATOR).get(f"/api/amd/submissions/{mine}")).status == 200

    ask()


@pytest.mark.parametrize("strange", ["x" * 500, "%00", "%0a", "..%2f..", "%F0%9F%94%A5", "sub_1'--"])
def test_a_malformed_id_is_not_found(strange: str) -> None:
    """It gets 404 without a query."""

    @served(start=False)
    async def ask(harness: ApiHarness) -> None:
        # Percent-decoded, as a server does before routing.
        answer = await harness.client.get(f"/api/amd/submissions/{unquote(strange)}")
        assert answer.status == 404
        assert answer.headers["content-type"] == "application/problem+json"

    ask()


@served(start=False)
async def test_the_list_has_the_callers_submissions_newest_first(harness: ApiHarness) -> None:
    """Operators can list all users' submissions with ?all=1; other users get 403."""
    ada, eve = harness.user("ada"), harness.user("eve", Role.OPERATOR)
    first = (await ada.submit()).json()["id"]
    await asyncio.sleep(1)
    second = (await ada.submit()).json()["id"]
    await asyncio.sleep(1)
    other = (await eve.submit()).json()["id"]
    assert _ids((await ada.get("/api/amd/submissions")).json()) == [second, first]
    assert _ids((await eve.get("/api/amd/submissions")).json()) == [other]
    assert _ids((await eve.get("/api/amd/submissions?all=1")).json()) == [other, second, first]
    assert (await ada.get("/api/amd/submissions?all=1")).status == 403


@served(start=False)
async def test_pages_list_every_submission_once(harness: ApiHarness) -> None:
    """Following the cursors lists each submission exactly once."""
    made = []
    for _ in range(5):
        made.append((await harness.client.submit()).json()["id"])
        await asyncio.sleep(1)
    seen, place = [], "/api/amd/submissions?limit=2"
    while True:
        page = (await harness.client.get(place)).json()
        seen += _ids(page)
        if page["next_cursor"] is None:
            break
        place = f"/api/amd/submissions?limit=2&cursor={page['next_cursor']}"
    assert seen == made[::-1]


@served()
async def test_the_list_can_be_filtered(harness: ApiHarness) -> None:
    """Filters: problem, verdict, state and endpoint."""
    failing = FakeKernel(key="w", verdict=Verdict.WRONG_ANSWER).source()
    await harness.client.submit(accept="*/*", problem="relu", solution_code=failing)
    await harness.client.submit(accept="*/*", problem="array-sort", endpoint="submit")
    filters = {
        "problem=sort": ["array-sort"],
        "problem=softmax": [],
        "verdict=WRONG_ANSWER": ["relu"],
        "endpoint=submit": ["array-sort"],
        "state=DONE": ["array-sort", "relu"],
        "state=QUEUED": [],
    }
    for query, expected in filters.items():
        page = (await harness.client.get(f"/api/amd/submissions?{query}")).json()
        assert [item["problem"] for item in page["items"]] == expected, query


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("limit=many", "limit"),
        ("state=GONE", "state"),
        ("verdict=GREAT", "verdict"),
        ("endpoint=train", "endpoint"),
        ("problem=nope", "problem"),
        ("cursor=zzz", "cursor"),
        ("cursor=" + "A" * 300, "cursor"),
        ("all=perhaps", "all"),
    ],
)
def test_an_invalid_filter_is_named(query: str, field: str) -> None:
    """422 has the parameter, its value and what is allowed."""

    @served(start=False)
    async def ask(harness: ApiHarness) -> None:
        answer = await harness.client.get(f"/api/amd/submissions?{query}")
        assert (answer.status, answer.json()["field"]) == (422, field)
        assert "allowed" in answer.json()["detail"]

    ask()


@served()
async def test_a_running_submission_can_be_cancelled(harness: ApiHarness) -> None:
    """It ends with CANCELLED after its attempt has ended; the submission and its events are kept."""
    taken = await harness.client.submit(solution_code=FakeKernel(key="long", work_s=500).source())
    place = taken.json()["urls"]["self"]
    await _until_running(harness.client, place)
    answer = await harness.client.post(f"{place}/cancel")
    assert (answer.status, answer.json()["verdict"]) == (200, "CANCELLED")
    assert list(harness.listeners.running()) == []
    assert (await harness.client.get(f"{place}/events")).events()[-1]["status"] == "CANCELLED"


async def _until_running(client: Client, place: str) -> None:
    for _ in range(600):
        if (await client.get(place)).json()["state"] == "RUNNING":
            return
        await asyncio.sleep(1)
    raise AssertionError("it never ran")


@pytest.mark.parametrize("how", ["cancelled", "finished"])
def test_a_finished_submission_cannot_be_cancelled(how: str) -> None:
    """A verdict is final: the response is 409 and nothing changes."""

    @served()
    async def ask(harness: ApiHarness) -> None:
        taken = await harness.client.submit(solution_code=GOOD)
        place = taken.json()["urls"]["self"]
        if how == "cancelled":
            await harness.client.post(f"{place}/cancel")
        else:
            await harness.client.get(f"{place}/events")
        before = (await harness.client.get(place)).json()
        answer = await harness.client.post(f"{place}/cancel")
        assert (answer.status, answer.json()["code"]) == (409, "CONFLICT")
        assert (await harness.client.get(place)).json() == before

    ask()


@served()
async def test_the_leaderboard_has_the_best_of_each_user(harness: ApiHarness) -> None:
    """It lists one accepted submission per user; other users' submission ids are hidden."""
    ada, bob = harness.user("ada"), harness.user("bob")
    for client in (ada, ada, bob):
        await client.submit(accept="*/*", endpoint="submit")
    await bob.submit(accept="*/*", endpoint="benchmark")
    board = (await bob.get("/api/amd/leaderboard/leaky-relu")).json()
    assert [(row["rank"], row["tied"], row["user"]) for row in board["items"]] == [
        (1, True, "ada"),
        (1, True, "bob"),
    ]
    assert board["items"][0]["ci"] == [1.47, 1.53]
    assert [row["submission_id"] is None for row in board["items"]] == [True, False]
    assert board["simulated"] == []
    assert (await bob.get("/api/amd/leaderboard/nope")).status == 404


def _ids(page: dict[str, list[dict[str, str]]]) -> list[str]:
    return [item["id"] for item in page["items"]]
