"""Handing in a kernel over HTTP: what is taken, how it is answered, and what is refused unstored."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from tests.support.api_harness import BROKEN, GOOD, Lab, served
from warmfront.store import key_queries, ledger_queries, submission_queries
from warmfront.store.records import LedgerEntry, Meter, Role


@served()
async def test_a_submission_is_answered_with_its_events(lab: Lab) -> None:
    """Whoever takes anything gets the stream, from the first event to the verdict, ids without gap."""
    answer = await lab.client.submit(accept="*/*")
    events = answer.events()
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["location"] == "/api/amd/submissions/sub_1"
    assert [event["id"] for event in events] == list(range(1, len(events) + 1))
    statuses = [event["status"] for event in events]
    assert statuses[:3] == ["IN_QUEUE", "XRAY", "PROVISIONING"]
    assert statuses[-1] == "CHECKED"
    assert events[statuses.index("VM_READY")]["vm_state"] == "COLD_START"


@served()
async def test_the_second_submission_finds_a_warm_vm(lab: Lab) -> None:
    """A VM that is warm is used again, and no PROVISIONING is shown."""
    await lab.client.submit(accept="text/event-stream")
    events = (await lab.client.submit(accept="text/event-stream")).events()
    ready = next(event for event in events if event["status"] == "VM_READY")
    assert ready["vm_state"] == "WARM_REUSE"
    assert "PROVISIONING" not in {event["status"] for event in events}


@served()
async def test_json_is_answered_at_once(lab: Lab) -> None:
    """A client that asks for JSON gets 202, the id, and where to go on."""
    answer = await lab.client.submit(accept="application/json")
    assert answer.status == 202
    assert answer.json()["status"] == "IN_QUEUE"
    assert answer.headers["location"] == answer.json()["urls"]["self"]
    followed = await lab.client.get(answer.json()["urls"]["events"])
    assert followed.events()[-1]["status"] == "CHECKED"


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("", 200),
        ("text/event-stream", 200),
        ("application/json, text/event-stream", 200),
        ("application/json;q=0.5, text/event-stream;q=0.9", 200),
        ("application/json, text/event-stream;q=0.5", 202),
        ("APPLICATION/JSON", 202),
        ("application/json, */*;q=0.1", 202),
    ],
)
def test_the_better_liked_form_is_sent(accept: str, status: int) -> None:
    """Where both are taken, the stream is sent unless JSON is preferred."""

    @served()
    async def ask(lab: Lab) -> None:
        assert (await lab.client.submit(accept=accept, solution_code=BROKEN)).status == status

    ask()


@served()
async def test_a_source_that_does_not_compile_costs_nothing(lab: Lab) -> None:
    """It ends at admission: no VM, no dollar."""
    events = (await lab.client.submit(accept="*/*", solution_code=BROKEN)).events()
    assert [event["status"] for event in events] == ["IN_QUEUE", "XRAY", "COMPILE_ERROR"]
    assert not lab.provider.vms
    assert events[-1]["cost_usd"] == 0


@served()
async def test_what_is_left_out_has_a_default(lab: Lab) -> None:
    """Code and problem are enough: the default GPU, the problem's first dtype, HIP, `submit`."""
    body = {"solution_code": GOOD, "problem": "leaky-relu"}
    taken = await lab.client.post("/api/amd/submit", body, accept="application/json")
    one = (await lab.client.get(taken.json()["urls"]["self"])).json()
    assert (one["gpu_type"], one["dtype"], one["language"], one["endpoint"]) == (
        "MI300X",
        "float32",
        "hip",
        "submit",
    )


@served()
async def test_an_alias_is_stored_as_its_problem(lab: Lab) -> None:
    """Boards and filters see one name for one problem."""
    taken = await lab.client.submit(problem="sort")
    assert (await lab.client.get(taken.json()["urls"]["self"])).json()["problem"] == "array-sort"


BAD_FIELDS: list[tuple[dict[str, Any], str, str]] = [
    ({"problem": "leaky-rellu"}, "problem", "leaky-relu"),
    ({"problem": 5}, "problem", "valid string"),
    ({"gpu_type": "H100"}, "gpu_type", "MI300X"),
    ({"gpu_type": "MI325X"}, "gpu_type", "MI300X"),
    ({"language": "cuda"}, "language", "'hip'"),
    ({"endpoint": "train"}, "endpoint", "'benchmark'"),
    ({"dtype": "int32"}, "dtype", "float32, float16"),
    ({"dtype": 32}, "dtype", "'float32'"),
    ({"file_name": "../../etc/passwd"}, "file_name", "match pattern"),
    ({"solution_code": ""}, "solution_code", "empty"),
    ({"solution_code": " \n\t"}, "solution_code", "empty"),
    ({"solution_code": "int x;\0"}, "solution_code", "NUL"),
    ({"solution_code": "x" * 300 * 1024}, "solution_code", "262,144 bytes"),
    ({"solution_code": ["int x;"]}, "solution_code", "valid string"),
    ({"solution_code": None}, "solution_code", "valid string"),
    ({"solution_code": "\ud800"}, "solution_code", "not UTF-8"),
    ({"file_name": "\ud800"}, "file_name", "unicode"),
    ({"problem": "\ud800"}, "problem", "unicode"),
    ({"priority": 9}, "priority", "not a field"),
    ({"submission_id": "sub_1"}, "submission_id", "the service assigns it"),
]


@pytest.mark.parametrize(("fields", "field", "words"), BAD_FIELDS)
def test_a_bad_field_is_named(fields: dict[str, Any], field: str, words: str) -> None:
    """422 names the field, shows the value and says what is allowed; nothing is stored."""

    @served(start=False)
    async def ask(lab: Lab) -> None:
        answer = await lab.client.submit(**fields)
        assert answer.status == 422
        assert answer.headers["content-type"] == "application/problem+json"
        refusal = answer.json()
        assert (refusal["status"], refusal["code"], refusal["field"]) == (422, "BAD_REQUEST", field)
        assert words in refusal["detail"]
        assert len(refusal["detail"]) < 400
        assert lab.database.run(submission_queries.page).items == []

    ask()


@pytest.mark.parametrize("missing", ["solution_code", "problem"])
def test_a_missing_field_is_named(missing: str) -> None:
    """What is required and not there is said by name."""

    @served(start=False)
    async def ask(lab: Lab) -> None:
        body = {"solution_code": GOOD, "problem": "leaky-relu"}
        del body[missing]
        answer = await lab.client.post("/api/amd/submit", body)
        assert (answer.status, answer.json()["field"]) == (422, missing)
        assert "required" in answer.json()["detail"]

    ask()


@pytest.mark.parametrize(
    ("body", "media_type", "status"),
    [
        (b"{", "application/json", 400),
        (b"", "application/json", 422),
        (b"[]", "application/json", 422),
        (b"null", "application/json", 422),
        (b'"text"', "application/json", 422),
        (b'{"solution_code": "\xff"}', "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b'{"problem": ' + b"9" * 5000 + b"}", "application/json", 400),
        (b"solution_code=x", "application/x-www-form-urlencoded", 415),
        (b"{}", "text/plain", 415),
        (b"{}", "", 415),
    ],
)
def test_what_is_not_a_json_object_is_refused(body: bytes, media_type: str, status: int) -> None:
    """Not JSON, not an object, not UTF-8, nested without end, not said to be JSON: each is told."""

    @served(start=False)
    async def ask(lab: Lab) -> None:
        headers = {"content-type": media_type} if media_type else {}
        answer = await lab.client.ask("POST", "/api/amd/submit", [body], headers)
        assert answer.status == status
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["detail"]

    ask()


@served(start=False)
async def test_a_body_said_to_be_too_large_is_not_read(lab: Lab) -> None:
    """Its length is enough: 413 before a byte of it is asked for."""
    exchange = lab.client.begin(
        "POST", "/api/amd/submit", [b"x"], {"content-length": "600000", "content-type": "application/json"}
    )
    start = await exchange.sent.get()
    assert start["status"] == 413
    assert exchange.pulled == 0


@served(start=False)
async def test_a_body_that_turns_out_too_large_is_not_read_on(lab: Lab) -> None:
    """Without a length it is counted, and reading stops at the limit."""
    pieces = [b"x" * 65536] * 100
    exchange = lab.client.begin("POST", "/api/amd/submit", pieces, {"content-type": "application/json"})
    start = await exchange.sent.get()
    assert start["status"] == 413
    assert exchange.pulled == 9


@served()
async def test_the_same_key_is_the_same_submission(lab: Lab) -> None:
    """A client that did not hear the answer asks again, and nothing is done twice."""
    body = {"solution_code": GOOD, "problem": "leaky-relu"}
    headers = {"accept": "application/json", "idempotency-key": "once"}
    first = await lab.client.post("/api/amd/submit", body, **headers)
    again = await lab.client.post("/api/amd/submit", body, **headers)
    other = await lab.client.post("/api/amd/submit", {**body, "endpoint": "xray"}, **headers)
    assert again.json()["id"] == first.json()["id"]
    assert (other.status, other.json()["code"]) == (409, "CONFLICT")
    assert len(lab.database.run(submission_queries.page).items) == 1


@served(start=False)
async def test_the_same_key_of_another_user_is_another(lab: Lab) -> None:
    """Keys are a user's own."""
    body, headers = {"solution_code": GOOD, "problem": "relu"}, {"accept": "application/json"}
    ids = [
        (await lab.user(name).post("/api/amd/submit", body, idempotency_key="k", **headers)).json()["id"]
        for name in ("ada", "bob")
    ]
    assert ids[0] != ids[1]


@pytest.mark.parametrize("key", ["", "x" * 201, "a b", "k\xe9y"])
def test_a_strange_idempotency_key_is_refused(key: str) -> None:
    """It is kept, so it has a form."""

    @served(start=False)
    async def ask(lab: Lab) -> None:
        body = {"solution_code": GOOD, "problem": "relu"}
        answer = await lab.client.post("/api/amd/submit", body, idempotency_key=key)
        assert (answer.status, answer.json()["field"]) == (422, "Idempotency-Key")

    ask()


@served(start=False)
async def test_a_problem_of_ones_own_takes_an_operator(lab: Lab) -> None:
    """problem_def is Python: 403 for users, taken and kept for operators."""
    source = "class Mine: ...\n"
    refused = await lab.user("ada").submit(problem="mine", problem_def=source)
    assert (refused.status, refused.json()["code"]) == (403, "NOT_ALLOWED")
    operator = lab.user("eve", Role.OPERATOR)
    taken = await operator.submit(problem="mine", problem_def=source)
    assert taken.status == 202
    assert (await operator.get(taken.json()["urls"]["code"])).json()["problem_def"] == source


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"problem": "Not A Slug"}, "problem"),
        ({"dtype": "float8"}, "dtype"),
        ({"problem_def": ""}, "problem_def"),
    ],
)
def test_a_problem_of_ones_own_has_a_form(fields: dict[str, Any], field: str) -> None:
    """Its name, dtype and text are checked as far as they can be without running it."""

    @served(start=False)
    async def ask(lab: Lab) -> None:
        answer = await lab.client.submit(**{"problem": "mine", "problem_def": "x = 1", **fields})
        assert (answer.status, answer.json()["field"]) == (422, field)

    ask()


@served(start=False, rate_limit_per_min=2)
async def test_a_minute_has_so_many(lab: Lab) -> None:
    """The one too many gets 429 and when to come again; others are not touched, and then it goes on."""
    ada, bob = lab.user("ada"), lab.user("bob")
    answers = [await ada.submit() for _ in range(3)]
    assert [answer.status for answer in answers] == [202, 202, 429]
    assert answers[2].json()["code"] == "RATE_LIMIT_EXCEEDED"
    assert (await bob.submit()).status == 202
    assert len(lab.database.run(submission_queries.page, owner="ada").items) == 2
    await asyncio.sleep(int(answers[2].headers["retry-after"]))
    assert (await ada.submit()).status == 202


@served(start=False, rate_limit_per_min=1)
async def test_a_retry_at_the_limit_gets_its_submission(lab: Lab) -> None:
    """A retry with the same Idempotency-Key is not counted again and returns the first submission."""
    body = {"solution_code": GOOD, "problem": "leaky-relu", "endpoint": "checker"}
    answers = [
        await lab.client.post("/api/amd/submit", body, accept="application/json", idempotency_key="k1")
        for _ in range(3)
    ]
    assert [answer.status for answer in answers] == [202, 202, 202]
    assert len({answer.json()["id"] for answer in answers}) == 1
    other = await lab.client.post("/api/amd/submit", body, accept="application/json", idempotency_key="k2")
    assert (other.status, other.json()["code"]) == (429, "RATE_LIMIT_EXCEEDED")


@served(start=False, daily_budget_usd=Decimal("2.00"))
async def test_a_retry_after_the_daily_cap_gets_its_submission(lab: Lab) -> None:
    """A retry of a submission that was accepted before the cap was used up is not refused."""
    ada = lab.user("ada")
    body = {"solution_code": GOOD, "problem": "leaky-relu", "endpoint": "checker"}
    first = await ada.post("/api/amd/submit", body, accept="application/json", idempotency_key="k1")
    _spent(lab)
    retry = await ada.post("/api/amd/submit", body, accept="application/json", idempotency_key="k1")
    assert (first.status, retry.status) == (202, 202)
    assert retry.json()["id"] == first.json()["id"]
    assert (await ada.submit()).status == 402


@served(start=False, daily_submissions=2)
async def test_a_day_has_so_many(lab: Lab) -> None:
    """The day's quota is counted apart, and what it refuses is not counted for the minute."""
    answers = [await lab.client.submit() for _ in range(3)]
    assert [answer.status for answer in answers] == [202, 202, 429]
    assert "per day" in answers[2].json()["detail"]
    assert 0 < int(answers[2].headers["retry-after"]) <= 86_400


@served(start=False, rate_limit_per_min=600)
async def test_a_thousand_at_once_are_counted_exactly(lab: Lab) -> None:
    """Of 1,000 by one user 600 are stored and 400 are told to wait, while another user is served."""
    ada, bob = lab.user("ada"), lab.user("bob")
    answers = await asyncio.gather(*(ada.submit() for _ in range(1000)), bob.submit())
    statuses = [answer.status for answer in answers]
    assert statuses[-1] == 202
    assert (statuses[:-1].count(202), statuses[:-1].count(429)) == (600, 400)
    assert lab.database.run(submission_queries.queued_by, "ada") == 600


def _spent(lab: Lab) -> None:
    now = lab.clock.now()
    entry = LedgerEntry(
        vm_id="vm_x",
        meter=Meter.WORK,
        started_at=now - 60,
        ended_at=now,
        amount_usd=Decimal("2.0131"),
        owner="ada",
    )
    lab.database.run(ledger_queries.add, [entry])


@served(start=False, before=_spent, daily_budget_usd=Decimal("2.00"))
async def test_a_day_has_so_many_dollars(lab: Lab) -> None:
    """A user who spent the day's share gets 402 with the numbers; another user does not."""
    answer = await lab.user("ada").submit()
    assert (answer.status, answer.json()["code"]) == (402, "BUDGET_EXCEEDED")
    assert "$2.0131 of $2.00 per day" in answer.json()["detail"]
    assert (await lab.user("bob").submit()).status == 202


@served(start=False, before=_spent, team_daily_budget_usd=Decimal("2.00"))
async def test_a_team_has_so_many_dollars_a_day(lab: Lab) -> None:
    """What one member spent counts for all of the team, and for nobody else."""
    _, of_ada = lab.database.run(key_queries.create, "ada", Role.USER, lab.clock.now(), team="kernels")
    _, of_bob = lab.database.run(key_queries.create, "bob", Role.USER, lab.clock.now(), team="kernels")
    for secret in (of_ada, of_bob):
        answer = await lab.client.with_key(secret).submit()
        assert (answer.status, answer.json()["code"]) == (402, "BUDGET_EXCEEDED")
        assert "Team kernels has spent $2.0131 of $2.00 per day" in answer.json()["detail"]
        assert "resets at midnight UTC" in answer.json()["detail"]
    assert (await lab.user("cid").submit()).status == 202
