"""Submitting kernels over HTTP: responses, validation, idempotency and quotas."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from tests.support.api_harness import BROKEN, GOOD, ApiHarness, served
from warmfront.roles import Role
from warmfront.store import account_queries, ledger_queries, submission_queries
from warmfront.store.records import LedgerEntry, Meter


@served()
async def test_a_submission_responds_with_its_events(harness: ApiHarness) -> None:
    """With Accept: */* the response is the stream, up to the verdict, with ids without gaps."""
    answer = await harness.client.submit(accept="*/*")
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
async def test_the_second_submission_reuses_the_vm(harness: ApiHarness) -> None:
    """A warm VM is reused, and there is no PROVISIONING event."""
    await harness.client.submit(accept="text/event-stream")
    events = (await harness.client.submit(accept="text/event-stream")).events()
    ready = next(event for event in events if event["status"] == "VM_READY")
    assert ready["vm_state"] == "WARM_REUSE"
    assert "PROVISIONING" not in {event["status"] for event in events}


@served()
async def test_json_is_sent_immediately(harness: ApiHarness) -> None:
    """A client that accepts JSON gets 202 with the id and the paths of the submission."""
    answer = await harness.client.submit(accept="application/json")
    assert answer.status == 202
    assert answer.json()["status"] == "IN_QUEUE"
    assert answer.headers["location"] == answer.json()["urls"]["self"]
    followed = await harness.client.get(answer.json()["urls"]["events"])
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
def test_the_preferred_media_type_is_sent(accept: str, status: int) -> None:
    """The stream is sent unless the Accept header prefers JSON."""

    @served()
    async def ask(harness: ApiHarness) -> None:
        assert (await harness.client.submit(accept=accept, solution_code=BROKEN)).status == status

    ask()


@served()
async def test_a_source_that_does_not_compile_costs_nothing(harness: ApiHarness) -> None:
    """It ends after the X-ray, without a VM and without cost."""
    events = (await harness.client.submit(accept="*/*", solution_code=BROKEN)).events()
    assert [event["status"] for event in events] == ["IN_QUEUE", "XRAY", "COMPILE_ERROR"]
    assert not harness.provider.vms
    assert events[-1]["cost_usd"] == 0


@served()
async def test_omitted_fields_have_defaults(harness: ApiHarness) -> None:
    """Defaults: the service's GPU, the problem's first dtype, HIP and `submit`."""
    body = {"solution_code": GOOD, "problem": "leaky-relu"}
    taken = await harness.client.post("/api/amd/submit", body, accept="application/json")
    one = (await harness.client.get(taken.json()["urls"]["self"])).json()
    assert (one["gpu_type"], one["dtype"], one["language"], one["endpoint"]) == (
        "MI300X",
        "float32",
        "hip",
        "submit",
    )


@served()
async def test_an_alias_is_stored_as_its_problem(harness: ApiHarness) -> None:
    """Leaderboards and filters use the slug."""
    taken = await harness.client.submit(problem="sort")
    assert (await harness.client.get(taken.json()["urls"]["self"])).json()["problem"] == "array-sort"


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
def test_an_invalid_field_is_named(fields: dict[str, Any], field: str, words: str) -> None:
    """422 has the field, its value and what is allowed; nothing is stored."""

    @served(start=False)
    async def ask(harness: ApiHarness) -> None:
        answer = await harness.client.submit(**fields)
        assert answer.status == 422
        assert answer.headers["content-type"] == "application/problem+json"
        refusal = answer.json()
        assert (refusal["status"], refusal["code"], refusal["field"]) == (422, "BAD_REQUEST", field)
        assert words in refusal["detail"]
        assert len(refusal["detail"]) < 400
        assert harness.database.run(submission_queries.page).items == []

    ask()


@pytest.mark.parametrize("missing", ["solution_code", "problem"])
def test_a_missing_field_is_named(missing: str) -> None:
    """422 has the name of the required field."""

    @served(start=False)
    async def ask(harness: ApiHarness) -> None:
        body = {"solution_code": GOOD, "problem": "leaky-relu"}
        del body[missing]
        answer = await harness.client.post("/api/amd/submit", body)
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
def test_a_body_that_is_not_a_json_object_is_rejected(body: bytes, media_type: str, status: int) -> None:
    """Each kind of malformed body has its own status and message."""

    @served(start=False)
    async def ask(harness: ApiHarness) -> None:
        headers = {"content-type": media_type} if media_type else {}
        answer = await harness.client.ask("POST", "/api/amd/submit", [body], headers)
        assert answer.status == status
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["detail"]

    ask()


@served(start=False)
async def test_a_large_content_length_is_rejected_unread(harness: ApiHarness) -> None:
    """413 is sent before any of the body is read."""
    exchange = harness.client.begin(
        "POST", "/api/amd/submit", [b"x"], {"content-length": "600000", "content-type": "application/json"}
    )
    start = await exchange.sent.get()
    assert start["status"] == 413
    assert exchange.pulled == 0


@served(start=False)
async def test_a_large_chunked_body_is_rejected(harness: ApiHarness) -> None:
    """Without Content-Length the bytes are counted, and reading stops at the limit."""
    pieces = [b"x" * 65536] * 100
    exchange = harness.client.begin("POST", "/api/amd/submit", pieces, {"content-type": "application/json"})
    start = await exchange.sent.get()
    assert start["status"] == 413
    assert exchange.pulled == 9


@served()
async def test_the_same_idempotency_key_returns_the_same_submission(harness: ApiHarness) -> None:
    """A retry after a lost response creates nothing."""
    body = {"solution_code": GOOD, "problem": "leaky-relu"}
    headers = {"accept": "application/json", "idempotency-key": "once"}
    first = await harness.client.post("/api/amd/submit", body, **headers)
    again = await harness.client.post("/api/amd/submit", body, **headers)
    other = await harness.client.post("/api/amd/submit", {**body, "endpoint": "xray"}, **headers)
    assert again.json()["id"] == first.json()["id"]
    assert (other.status, other.json()["code"]) == (409, "CONFLICT")
    assert len(harness.database.run(submission_queries.page).items) == 1


@served(start=False)
async def test_idempotency_keys_are_per_user(harness: ApiHarness) -> None:
    """The same key of another user creates another submission."""
    body, headers = {"solution_code": GOOD, "problem": "relu"}, {"accept": "application/json"}
    ids = [
        (await harness.user(name).post("/api/amd/submit", body, idempotency_key="k", **headers)).json()["id"]
        for name in ("ada", "bob")
    ]
    assert ids[0] != ids[1]


@pytest.mark.parametrize("key", ["", "x" * 201, "a b", "k\xe9y"])
def test_an_invalid_idempotency_key_is_rejected(key: str) -> None:
    """Only short printable ASCII is accepted, because the key is stored."""

    @served(start=False)
    async def ask(harness: ApiHarness) -> None:
        body = {"solution_code": GOOD, "problem": "relu"}
        answer = await harness.client.post("/api/amd/submit", body, idempotency_key=key)
        assert (answer.status, answer.json()["field"]) == (422, "Idempotency-Key")

    ask()


@served(start=False)
async def test_problem_def_requires_an_operator(harness: ApiHarness) -> None:
    """problem_def gets 403 for users and is accepted and stored for operators."""
    source = "class Mine: ...\n"
    refused = await harness.user("ada").submit(problem="mine", problem_def=source)
    assert (refused.status, refused.json()["code"]) == (403, "NOT_ALLOWED")
    operator = harness.user("eve", Role.OPERATOR)
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
def test_problem_def_is_validated(fields: dict[str, Any], field: str) -> None:
    """Its name, dtype and text are checked without running it."""

    @served(start=False)
    async def ask(harness: ApiHarness) -> None:
        answer = await harness.client.submit(**{"problem": "mine", "problem_def": "x = 1", **fields})
        assert (answer.status, answer.json()["field"]) == (422, field)

    ask()


@served(start=False, rate_limit_per_min=2)
async def test_the_rate_limit_per_minute(harness: ApiHarness) -> None:
    """A request above it gets 429 with Retry-After; other users are not affected, and it resets."""
    ada, bob = harness.user("ada"), harness.user("bob")
    answers = [await ada.submit() for _ in range(3)]
    assert [answer.status for answer in answers] == [202, 202, 429]
    assert answers[2].json()["code"] == "RATE_LIMIT_EXCEEDED"
    assert (await bob.submit()).status == 202
    assert len(harness.database.run(submission_queries.page, owner="ada").items) == 2
    await asyncio.sleep(int(answers[2].headers["retry-after"]))
    assert (await ada.submit()).status == 202


@served(start=False, rate_limit_per_min=1)
async def test_a_retry_at_the_limit_gets_its_submission(harness: ApiHarness) -> None:
    """A retry with the same Idempotency-Key is not counted again and returns the first submission."""
    body = {"solution_code": GOOD, "problem": "leaky-relu", "endpoint": "checker"}
    answers = [
        await harness.client.post("/api/amd/submit", body, accept="application/json", idempotency_key="k1")
        for _ in range(3)
    ]
    assert [answer.status for answer in answers] == [202, 202, 202]
    assert len({answer.json()["id"] for answer in answers}) == 1
    other = await harness.client.post(
        "/api/amd/submit", body, accept="application/json", idempotency_key="k2"
    )
    assert (other.status, other.json()["code"]) == (429, "RATE_LIMIT_EXCEEDED")


@served(start=False, daily_budget_usd=Decimal("2.00"))
async def test_a_retry_after_the_daily_cap_gets_its_submission(harness: ApiHarness) -> None:
    """A retry of a submission that was accepted before the cap was used up is not refused."""
    ada = harness.user("ada")
    body = {"solution_code": GOOD, "problem": "leaky-relu", "endpoint": "checker"}
    first = await ada.post("/api/amd/submit", body, accept="application/json", idempotency_key="k1")
    _spent(harness)
    retry = await ada.post("/api/amd/submit", body, accept="application/json", idempotency_key="k1")
    assert (first.status, retry.status) == (202, 202)
    assert retry.json()["id"] == first.json()["id"]
    assert (await ada.submit()).status == 402


@served(start=False, daily_submissions=2)
async def test_the_rate_limit_per_day(harness: ApiHarness) -> None:
    """It is separate, and a rejected request does not count towards the limit per minute."""
    answers = [await harness.client.submit() for _ in range(3)]
    assert [answer.status for answer in answers] == [202, 202, 429]
    assert "per day" in answers[2].json()["detail"]
    assert 0 < int(answers[2].headers["retry-after"]) <= 86_400


@served(start=False, rate_limit_per_min=600)
async def test_a_thousand_at_once_are_counted_exactly(harness: ApiHarness) -> None:
    """Of 1,000 requests of one user, 600 are stored and 400 get 429; another user is served."""
    ada, bob = harness.user("ada"), harness.user("bob")
    answers = await asyncio.gather(*(ada.submit() for _ in range(1000)), bob.submit())
    statuses = [answer.status for answer in answers]
    assert statuses[-1] == 202
    assert (statuses[:-1].count(202), statuses[:-1].count(429)) == (600, 400)
    assert harness.database.run(submission_queries.queued_by, "ada") == 600


def _spent(harness: ApiHarness) -> None:
    now = harness.clock.now()
    entry = LedgerEntry(
        vm_id="vm_x",
        meter=Meter.WORK,
        started_at=now - 60,
        ended_at=now,
        amount_usd=Decimal("2.0131"),
        owner="ada",
    )
    harness.database.run(ledger_queries.add, [entry])


@served(start=False, before=_spent, daily_budget_usd=Decimal("2.00"))
async def test_the_daily_budget_of_a_user(harness: ApiHarness) -> None:
    """A user who has used it up gets 402 with the amounts; another user does not."""
    answer = await harness.user("ada").submit()
    assert (answer.status, answer.json()["code"]) == (402, "BUDGET_EXCEEDED")
    assert "$2.0131 of $2.00 per day" in answer.json()["detail"]
    assert (await harness.user("bob").submit()).status == 202


@served(start=False, before=_spent, team_daily_budget_usd=Decimal("2.00"))
async def test_the_daily_budget_of_a_team(harness: ApiHarness) -> None:
    """The spending of one member counts for the whole team and for no other user."""
    _, of_ada = harness.database.run(
        account_queries.create_key, "ada", Role.AUTHOR, harness.clock.now(), team="kernels"
    )
    _, of_bob = harness.database.run(
        account_queries.create_key, "bob", Role.AUTHOR, harness.clock.now(), team="kernels"
    )
    for secret in (of_ada, of_bob):
        answer = await harness.client.with_key(secret).submit()
        assert (answer.status, answer.json()["code"]) == (402, "BUDGET_EXCEEDED")
        assert "Team kernels has spent $2.0131 of $2.00 per day" in answer.json()["detail"]
        assert "resets at midnight UTC" in answer.json()["detail"]
    assert (await harness.user("cid").submit()).status == 202


@served()
async def test_own_cases_reach_the_vm_and_are_stored(harness: ApiHarness) -> None:
    """The listener gets them with the source, and the source's route returns them."""
    case = {"values": {"n": 40, "m": 30, "alpha": 0.5}, "style": "far"}
    created = await harness.client.submit(
        endpoint="checker", own_cases=[case], all_cases=True, accept="application/json"
    )
    assert created.status == 202
    source = (await harness.client.get(created.json()["urls"]["code"])).json()
    assert source["own_cases"] == [case]
    assert source["all_cases"] is True


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"endpoint": "submit"}, "endpoint", "allowed: checker, because the request has own_cases"),
        ({"endpoint": "benchmark"}, "endpoint", "allowed: checker"),
        ({"own_cases": [{"values": {"n": 1}}] * 9}, "own_cases", "has 9 cases; the limit is 8"),
        ({"own_cases": [{"values": {"n": 0, "m": 1, "alpha": 1}}]}, "own_cases[0].values.n", "is 0; allowed"),
        ({"own_cases": [{"values": {}}]}, "own_cases[0].values.alpha", "is missing"),
        (
            {"own_cases": [{"values": {"n": 1, "m": 1, "alpha": 1}, "style": "x"}]},
            "own_cases[0].style",
            "is 'x'; allowed: normal",
        ),
        ({"own_cases": [{"values": "n"}]}, "own_cases.0.values", ""),
        ({"own_cases": [{}]}, "own_cases.0.values", ""),
        ({"problem_def": "x = 1"}, "own_cases", "cannot be combined with problem_def"),
        ({"own_cases": [], "all_cases": True, "endpoint": "submit"}, "endpoint", "the request has all_cases"),
        ({"all_cases": "yes"}, "all_cases", ""),
    ],
)
def test_an_invalid_own_case_is_rejected(fields: dict[str, Any], field: str, message: str) -> None:
    """The error names the field and the value, and nothing is stored."""

    @served()
    async def ask(harness: ApiHarness) -> None:
        valid = [{"values": {"n": 4, "m": 3, "alpha": 0.5}}]
        request = {"endpoint": "checker", "own_cases": valid, "problem": "leaky-relu", **fields}
        answer = await harness.client.submit(**request)
        assert answer.status == 422
        assert answer.json()["field"] == field
        assert message in answer.json()["detail"]
        assert (await harness.client.get("/api/amd/submissions")).json()["items"] == []

    ask()


LAUNCH: dict[str, Any] = {"kernel": "k", "grid": [1], "block": [64], "arguments": [{"count": 64}]}
SCRATCH: dict[str, Any] = {
    "problem": "scratch",
    "solution_code": "__global__ void k(float* x) {}",
    "launch": LAUNCH,
}


@served()
async def test_a_scratch_kernel_is_stored_with_its_launch(harness: ApiHarness) -> None:
    """It is a submission like any other, for the problem `scratch`."""
    created = await harness.client.submit(**SCRATCH)
    assert created.status == 202
    source = (await harness.client.get(created.json()["urls"]["code"])).json()
    assert source["launch"]["arguments"][0]["count"] == 64
    detail = (await harness.client.get(created.json()["urls"]["self"])).json()
    assert (detail["problem"], detail["endpoint"]) == ("scratch", "checker")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"endpoint": "submit"}, "endpoint"),
        ({"endpoint": "benchmark"}, "endpoint"),
        ({"problem": "relu"}, "problem"),
        ({"launch": None}, "launch"),
        ({"dtype": "float16"}, "dtype"),
        ({"own_cases": [{"values": {}}]}, "own_cases"),
        ({"all_cases": True}, "all_cases"),
        ({"launch": {**LAUNCH, "kernel": "other"}}, "launch.kernel"),
        ({"launch": {**LAUNCH, "block": [4096]}}, "launch.block[0]"),
        ({"launch": {**LAUNCH, "arguments": [{"count": 2**60}]}}, "launch.arguments[0].count"),
        ({"launch": {**LAUNCH, "arguments": [{"count": 2**23}]}}, "launch.arguments"),
        ({"launch": {**LAUNCH, "stream": 1}}, "launch.stream"),
        ({"launch": 3}, "launch"),
    ],
)
def test_an_invalid_launch_is_rejected(fields: dict[str, Any], field: str) -> None:
    """The error names the field, and nothing is stored."""

    @served()
    async def ask(harness: ApiHarness) -> None:
        answer = await harness.client.submit(**{**SCRATCH, **fields})
        assert (answer.status, answer.json()["field"]) == (422, field)
        assert (await harness.client.get("/api/amd/submissions")).json()["items"] == []

    ask()
