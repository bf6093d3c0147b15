"""Who may ask: keys, the local user of a service without any, and pages of other sites."""

from __future__ import annotations

import pytest

from tests.support.api_harness import Client, Lab, served
from warmfront.store import key_queries

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
def test_where_there_are_keys_one_is_needed(method: str, path: str) -> None:
    """Without a key, with one that is wrong, or that is not ours, the answer is 401, whatever is asked."""

    @served(start=False)
    async def ask(lab: Lab) -> None:
        right = lab.key("ada")
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
            answer = await lab.client.ask(method, path, headers=headers)
            assert (answer.status, answer.json()["code"]) == (401, "NOT_AUTHENTICATED"), header
            assert answer.headers["www-authenticate"] == "Bearer"
            assert right not in answer.body.decode()

    ask()


@served(start=False)
async def test_a_key_names_its_user(lab: Lab) -> None:
    """What is submitted with a key belongs to its user."""
    ada = lab.user("ada")
    place = (await ada.submit()).json()["urls"]["self"]
    assert (await ada.get(place)).json()["owner"] == "ada"


@served(start=False)
async def test_a_revoked_key_opens_nothing_from_then_on(lab: Lab) -> None:
    """The next request with it is 401; the user's other key goes on."""
    first, second = lab.user("ada"), lab.user("ada")
    assert (await first.get("/api/amd/gpus")).status == 200
    oldest = lab.database.run(key_queries.all_keys)
    lost = next(key for key in oldest if key.id in first._headers["authorization"])
    lab.database.run(key_queries.revoke, lost.id, lab.clock.now())
    assert (await first.get("/api/amd/gpus")).status == 401
    assert (await second.get("/api/amd/gpus")).status == 200


@served(start=False, host="0.0.0.0")  # noqa: S104 - nothing is bound: it is what the setting says
async def test_off_loopback_nobody_is_local(lab: Lab) -> None:
    """Bound to the world, a service without keys serves nobody but those who watch it."""
    assert (await lab.client.get("/api/amd/gpus")).status == 401
    assert (await lab.client.get("/health")).status == 200


@pytest.mark.parametrize("path", ["/health", "/ready", "/api/amd/health", "/api/amd/ready", "/openapi.json"])
def test_some_things_are_for_everyone(path: str) -> None:
    """Health and the API's form need no key."""

    @served(start=False)
    async def ask(lab: Lab) -> None:
        lab.key("ada")
        assert (await lab.client.get(path)).status == 200

    ask()


@served(start=False)
async def test_without_keys_the_local_user_is_an_operator(lab: Lab) -> None:
    """On loopback with no key in the store, whoever asks is `local` and may see all."""
    place = (await lab.client.submit()).json()["urls"]["self"]
    assert (await lab.client.get(place)).json()["owner"] == "local"
    assert (await lab.client.get("/api/amd/submissions?all=1")).status == 200


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
def test_a_name_bent_to_this_machine_is_refused(host: str, status: int) -> None:
    """Without keys only this machine's own names are served, or any page could rebind its name."""

    @served(start=False)
    async def ask(lab: Lab) -> None:
        assert (await Client(lab.client.app, host=host).get("/api/amd/gpus")).status == status

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
def test_a_page_of_another_site_cannot_submit(origin: str, status: int) -> None:
    """Without keys, a browser says whose page it is, and that page must be this machine's."""

    @served(start=False)
    async def ask(lab: Lab) -> None:
        body = {"solution_code": "// x", "problem": "relu"}
        answer = await lab.client.post("/api/amd/submit", body, origin=origin, accept="application/json")
        assert answer.status == status

    ask()


@served(start=False)
async def test_with_a_key_any_name_serves(lab: Lab) -> None:
    """Behind a proxy with a name of its own the key is what counts."""
    key = lab.key("ada")
    client = Client(lab.client.app, key=key, host="kernels.example")
    assert (await client.get("/api/amd/gpus", origin="https://kernels.example")).status == 200
