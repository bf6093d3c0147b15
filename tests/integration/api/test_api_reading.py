"""Reading and stopping submissions over HTTP: one's own and nobody else's."""

from __future__ import annotations

import asyncio
from urllib.parse import unquote

import pytest

from tests.support.api_harness import GOOD, Client, Lab, served
from warmfront.store.records import Role
from warmfront.testing.fake_listeners import Kernel
from warmfront.verdicts import Verdict


@served()
async def test_a_finished_submission_shows_its_verdict(lab: Lab) -> None:
    """One submission has all its fields, and its terminal event as `result`."""
    events = (await lab.client.submit(accept="*/*", endpoint="submit", file_name="mine.hip")).events()
    one = (await lab.client.get("/api/amd/submissions/sub_1")).json()
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
async def test_an_unfinished_submission_has_no_result(lab: Lab) -> None:
    """Before the verdict there is none."""
    await lab.client.submit()
    one = (await lab.client.get("/api/amd/submissions/sub_1")).json()
    assert (one["state"], one["verdict"], one["result"]) == ("ADMITTING", None, None)


@served(start=False)
async def test_code_comes_back_as_it_was_sent(lab: Lab) -> None:
    """Line ends are made the same; nothing else changes."""
    source = "// größer\r\nint x;\n"
    await lab.client.submit(solution_code=source)
    code = (await lab.client.get("/api/amd/submissions/sub_1/code")).json()
    assert code["solution_code"] == source.replace("\r\n", "\n")


PLACES = [
    ("GET", "/api/amd/submissions/{}"),
    ("GET", "/api/amd/submissions/{}/events"),
    ("GET", "/api/amd/submissions/{}/code"),
    ("POST", "/api/amd/submissions/{}/cancel"),
]


@pytest.mark.parametrize(("method", "place"), PLACES)
def test_another_users_submission_does_not_exist(method: str, place: str) -> None:
    """It is 404, in the same words as one that never was; an operator sees it."""

    @served(start=False)
    async def ask(lab: Lab) -> None:
        mine = (await lab.user("ada").submit()).json()["id"]
        bob = lab.user("bob")
        hidden = await bob.ask(method, place.format(mine))
        unknown = await bob.ask(method, place.format("sub_9"))
        assert (hidden.status, unknown.status) == (404, 404)
        assert hidden.body.replace(mine.encode(), b"sub_9") == unknown.body
        assert (await lab.user("eve", Role.OPERATOR).get(f"/api/amd/submissions/{mine}")).status == 200

    ask()


@pytest.mark.parametrize("strange", ["x" * 500, "%00", "%0a", "..%2f..", "%F0%9F%94%A5", "sub_1'--"])
def test_a_strange_id_is_not_found(strange: str) -> None:
    """What cannot be an id never reaches the database."""

    @served(start=False)
    async def ask(lab: Lab) -> None:
        # Unquoted, as a server does before it routes.
        answer = await lab.client.get(f"/api/amd/submissions/{unquote(strange)}")
        assert answer.status == 404
        assert answer.headers["content-type"] == "application/problem+json"

    ask()


@served(start=False)
async def test_the_list_is_mine_and_the_newest_first(lab: Lab) -> None:
    """A user sees their own; an operator sees all where they ask for it; a user may not ask."""
    ada, eve = lab.user("ada"), lab.user("eve", Role.OPERATOR)
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
async def test_pages_follow_each_other(lab: Lab) -> None:
    """By cursors, every submission is seen once."""
    made = []
    for _ in range(5):
        made.append((await lab.client.submit()).json()["id"])
        await asyncio.sleep(1)
    seen, place = [], "/api/amd/submissions?limit=2"
    while True:
        page = (await lab.client.get(place)).json()
        seen += _ids(page)
        if page["next_cursor"] is None:
            break
        place = f"/api/amd/submissions?limit=2&cursor={page['next_cursor']}"
    assert seen == made[::-1]


@served()
async def test_the_list_can_be_filtered(lab: Lab) -> None:
    """By problem, verdict, state and endpoint."""
    failing = Kernel(key="w", verdict=Verdict.WRONG_ANSWER).source()
    await lab.client.submit(accept="*/*", problem="relu", solution_code=failing)
    await lab.client.submit(accept="*/*", problem="array-sort", endpoint="submit")
    filters = {
        "problem=sort": ["array-sort"],
        "problem=softmax": [],
        "verdict=WRONG_ANSWER": ["relu"],
        "endpoint=submit": ["array-sort"],
        "state=DONE": ["array-sort", "relu"],
        "state=QUEUED": [],
    }
    for query, expected in filters.items():
        page = (await lab.client.get(f"/api/amd/submissions?{query}")).json()
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
def test_a_bad_filter_is_named(query: str, field: str) -> None:
    """422 says which parameter, with what it holds and may hold."""

    @served(start=False)
    async def ask(lab: Lab) -> None:
        answer = await lab.client.get(f"/api/amd/submissions?{query}")
        assert (answer.status, answer.json()["field"]) == (422, field)
        assert "allowed" in answer.json()["detail"]

    ask()


@served()
async def test_a_running_submission_is_stopped(lab: Lab) -> None:
    """Cancelling ends it with CANCELLED, once its attempt is gone; the record and the events stay."""
    taken = await lab.client.submit(solution_code=Kernel(key="long", work_s=500).source())
    place = taken.json()["urls"]["self"]
    await _until_running(lab.client, place)
    answer = await lab.client.post(f"{place}/cancel")
    assert (answer.status, answer.json()["verdict"]) == (200, "CANCELLED")
    assert list(lab.listeners.running()) == []
    assert (await lab.client.get(f"{place}/events")).events()[-1]["status"] == "CANCELLED"


async def _until_running(client: Client, place: str) -> None:
    for _ in range(600):
        if (await client.get(place)).json()["state"] == "RUNNING":
            return
        await asyncio.sleep(1)
    raise AssertionError("it never ran")


@pytest.mark.parametrize("how", ["cancelled", "finished"])
def test_what_is_over_cannot_be_stopped(how: str) -> None:
    """A verdict is final: 409, and it stays as it is."""

    @served()
    async def ask(lab: Lab) -> None:
        taken = await lab.client.submit(solution_code=GOOD)
        place = taken.json()["urls"]["self"]
        if how == "cancelled":
            await lab.client.post(f"{place}/cancel")
        else:
            await lab.client.get(f"{place}/events")
        before = (await lab.client.get(place)).json()
        answer = await lab.client.post(f"{place}/cancel")
        assert (answer.status, answer.json()["code"]) == (409, "CONFLICT")
        assert (await lab.client.get(place)).json() == before

    ask()


@served()
async def test_the_board_has_the_best_of_each(lab: Lab) -> None:
    """Accepted submissions alone, one for each user; whose id is whose stays private."""
    ada, bob = lab.user("ada"), lab.user("bob")
    for client in (ada, ada, bob):
        await client.submit(accept="*/*", endpoint="submit")
    await bob.submit(accept="*/*", endpoint="benchmark")
    board = (await bob.get("/api/amd/leaderboard/leaky-relu")).json()
    assert [(row["rank"], row["user"]) for row in board["items"]] == [(1, "ada"), (2, "bob")]
    assert [row["submission_id"] is None for row in board["items"]] == [True, False]
    assert board["simulated"] == []
    assert (await bob.get("/api/amd/leaderboard/nope")).status == 404


def _ids(page: dict[str, list[dict[str, str]]]) -> list[str]:
    return [item["id"] for item in page["items"]]
