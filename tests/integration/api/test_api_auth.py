"""Authentication: API keys, the local user of a service without keys, CSRF and DNS rebinding."""

from __future__ import annotations

import pytest

from tests.support.api_harness import ApiHarness, Client, served
from warmfront.roles import Role
from warmfront.store import account_queries

GUARDED = [
    ("GET", "/api/amd/submissions"),
    ("POST", "/api/amd/submit"),
    ("POST", "/api/amd/xray"),
    ("GET", "/api/amd/metrics"),
    ("GET", "/api/amd/costs"),
    ("GET", "/api/amd/vms"),
    ("GET", "/api/amd/gpus"),
    ("GET", "/api/amd/problems"),
    ("GET", "/api/amd/leaderboard/relu"),
    ("GET", "/api/amd/submissions/sub_1/events"),
    ("GET", "/metrics"),
    ("GET", "/api/amd/nothing-here"),
]


@pytest.mark.parametrize(("method", "path"), GUARDED)
def test_a_key_is_required_once_one_exists(method: str, path: str) -> None:
    """A missing, unknown or malformed key gets 401 on every protected route."""

    @served(start=False)
    async def ask(harness: ApiHarness) -> None:
        right = harness.key("ada")
        wrong = right[:-1] + ("0" if right[-1] != "0" else "1")
        for header in (
            None,
            f"Bearer {wrong}",
            "Bearer sk-123",
            "Basic YTpi",
            "Bearer",
            f"Token {right}",
            "",
        ):
            headers = {} if header is None else {"authorization": header}
            answer = await harness.client.ask(method, path, headers=headers)
            assert (answer.status, answer.json()["code"]) == (401, "NOT_AUTHENTICATED"), header
            assert answer.headers["www-authenticate"] == "Bearer"
            assert right not in answer.body.decode()

    ask()


@served(start=False)
async def test_an_action_names_the_role_that_it_needs(harness: ApiHarness) -> None:
    """Each role includes the roles below it; a rejected request names the role needed and the caller's."""
    reader = harness.user("rea", Role.READER)
    actions = {
        Role.AUTHOR: ("POST", "/api/amd/xray"),
        Role.OPERATOR: ("POST", "/api/amd/provisioning/MI300X/reset"),
    }
    assert (await reader.get("/api/amd/problems")).status == 200
    submitted = await reader.submit()
    assert submitted.json()["detail"] == "Submitting a kernel requires the role author; your role is reader."
    for needed, (method, path) in actions.items():
        for role in Role:
            client = harness.user(f"ada-{role}", role)
            answer = await client.ask(
                method,
                path,
                [b'{"solution_code": "// a kernel", "arch": "gfx942"}'],
                {"content-type": "application/json"},
            )
            if role.includes(needed):
                assert answer.status == 200, (role, answer.body)
                continue
            problem = answer.json()
            assert (answer.status, problem["code"]) == (403, "NOT_ALLOWED")
            assert problem["role_needed"] == needed
            assert problem["detail"].endswith(f"requires the role {needed}; your role is {role}.")


@served(start=False)
async def test_a_key_identifies_its_user(harness: ApiHarness) -> None:
    """A submission belongs to the user of the key."""
    ada = harness.user("ada")
    place = (await ada.submit()).json()["urls"]["self"]
    assert (await ada.get(place)).json()["owner"] == "ada"


@served(start=False)
async def test_a_revoked_key_is_rejected(harness: ApiHarness) -> None:
    """The next request with it gets 401; the user's other key stays valid."""
    first, second = harness.user("ada"), harness.user("ada")
    assert (await first.get("/api/amd/gpus")).status == 200
    oldest = harness.database.run(account_queries.all_keys)
    lost = next(key for key in oldest if key.id in first._headers["authorization"])
    harness.database.run(account_queries.revoke_key, lost.id, harness.clock.now())
    assert (await first.get("/api/amd/gpus")).status == 401
    assert (await second.get("/api/amd/gpus")).status == 200


@served(start=False)
async def test_revoking_the_last_key_does_not_open_the_service(harness: ApiHarness) -> None:
    """Once a key was created there is no local user, even when every key is revoked."""
    harness.key("ada", Role.OPERATOR)
    (only,) = harness.database.run(account_queries.all_keys)
    harness.database.run(account_queries.revoke_key, only.id, harness.clock.now())
    answer = await harness.client.get("/api/amd/submissions?all=1")
    assert (answer.status, answer.json()["code"]) == (401, "NOT_AUTHENTICATED")


@served(start=False, host="0.0.0.0")  # noqa: S104 - nothing is bound; only the setting matters
async def test_there_is_no_local_user_beyond_loopback(harness: ApiHarness) -> None:
    """A service without keys that is bound to a public address serves only health checks."""
    assert (await harness.client.get("/api/amd/gpus")).status == 401
    assert (await harness.client.get("/health")).status == 200


@pytest.mark.parametrize(
    "path", ["/health", "/ready", "/api/amd/health", "/api/amd/ready", "/api/amd/keys", "/openapi.json"]
)
def test_public_routes_need_no_key(path: str) -> None:
    """Health checks, the keys of receipts and the OpenAPI document are public."""

    @served(start=False)
    async def ask(harness: ApiHarness) -> None:
        harness.key("ada")
        assert (await harness.client.get(path)).status == 200

    ask()


@served(start=False)
async def test_without_keys_the_local_user_is_an_operator(harness: ApiHarness) -> None:
    """On loopback without any key in the store, the caller is `local` and sees everything."""
    place = (await harness.client.submit()).json()["urls"]["self"]
    assert (await harness.client.get(place)).json()["owner"] == "local"
    assert (await harness.client.get("/api/amd/submissions?all=1")).status == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:3000", 200),
        ("localhost", 200),
        ("LOCALHOST:3000", 200),
        ("[::1]:3000", 200),
        ("evil.example", 403),
        ("127.0.0.1.evil.example:3000", 403),
        ("localhost@evil.example", 403),
        ("[::1", 403),
        ("", 403),
    ],
)
def test_dns_rebinding_is_rejected(host: str, status: int) -> None:
    """Without keys, only requests for this machine's own host names are served."""

    @served(start=False)
    async def ask(harness: ApiHarness) -> None:
        assert (await Client(harness.client.app, host=host).get("/api/amd/gpus")).status == status

    ask()


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://127.0.0.1:3000", 202),
        ("http://localhost:5173", 202),
        ("https://evil.example", 403),
        ("null", 403),
        ("http://localhost.evil.example", 403),
    ],
)
def test_csrf_is_rejected(origin: str, status: int) -> None:
    """Without keys, a POST with the Origin of another site gets 403."""

    @served(start=False)
    async def ask(harness: ApiHarness) -> None:
        body = {"solution_code": "// x", "problem": "relu"}
        answer = await harness.client.post("/api/amd/submit", body, origin=origin, accept="application/json")
        assert answer.status == status

    ask()


@served(start=False)
async def test_any_host_is_accepted_with_a_key(harness: ApiHarness) -> None:
    """Behind a proxy with its own host name, the key is sufficient."""
    key = harness.key("ada")
    client = Client(harness.client.app, key=key, host="kernels.example")
    assert (await client.get("/api/amd/gpus", origin="https://kernels.example")).status == 200
