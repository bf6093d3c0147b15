"""The caller's own account: profile, keys, and the history of `local`."""

from __future__ import annotations

from decimal import Decimal

from tests.support.api_harness import ApiHarness, Client, served
from warmfront.roles import Role
from warmfront.store import account_queries, user_queries
from warmfront.store.account_records import Identity, SignUpPolicy, User

ADA = Identity("https://issuer.example", "1", "ada", "Ada", "ada@example.com")


def _user(harness: ApiHarness, identity: Identity = ADA, role: Role = Role.AUTHOR) -> User:
    user, _ = harness.database.run(
        user_queries.sign_in,
        identity,
        SignUpPolicy(default_role=role),
        harness.clock.now(),
        session_s=3600.0,
    )
    return user


@served()
async def test_a_profile_has_ranks_and_activity(harness: ApiHarness) -> None:
    """Solved problems have the rank on their leaderboard; another user's submissions do not count."""
    ada, bob = harness.user("ada"), harness.user("bob")
    for client in (ada, bob, ada):
        await client.submit(accept="text/event-stream", endpoint="submit")
    profile = (await ada.get("/api/amd/account")).json()
    assert (profile["user"], profile["submissions"], profile["accepted"]) == ("ada", 2, 2)
    (solved,) = profile["solved"]
    assert (solved["problem"], solved["of"]) == ("leaky-relu", 2)
    assert solved["rank"] in {1, 2}
    assert sum(day["submissions"] for day in profile["activity"]) == 2
    empty = (await harness.user("eve").get("/api/amd/account")).json()
    assert (empty["submissions"], empty["solved"], empty["activity"]) == (0, [], [])


@served(start=False)
async def test_users_manage_their_own_keys(harness: ApiHarness) -> None:
    """A key has at most the role of its creator, and only its user can list or revoke it."""
    ada, bob = harness.user("ada"), harness.user("bob")
    refused = await ada.post("/api/amd/account/keys", {"role": "operator"})
    assert (refused.status, refused.json()["role_needed"]) == (403, "operator")
    created = (await ada.post("/api/amd/account/keys", {})).json()
    program = Client(harness.client.app, key=created["secret"])
    assert (await program.get("/api/amd/session")).json()["user"] == "ada"
    assert created["secret"] not in (await ada.get("/api/amd/account/keys")).body.decode()
    assert (await bob.post(f"/api/amd/account/keys/{created['id']}/revoke")).status == 404
    assert (await ada.post(f"/api/amd/account/keys/{created['id']}/revoke")).status == 200
    assert (await program.get("/api/amd/account")).status == 401
    assert (await ada.post(f"/api/amd/account/keys/{created['id']}/revoke")).status == 404


@served(start=False)
async def test_the_local_user_does_not_lock_itself_out(harness: ApiHarness) -> None:
    """A key would end the access without one, so `local` cannot create it on the page."""
    answer = await harness.client.post("/api/amd/account/keys", {})
    assert (answer.status, answer.json()["code"]) == (409, "CONFLICT")
    assert (await harness.client.get("/api/amd/session")).json()["authentication"] == "local"


@served(start=False)
async def test_a_key_never_exceeds_its_user(harness: ApiHarness) -> None:
    """Role, team and budget of the user apply to their keys; disabling the user disables the keys."""
    user = _user(harness)
    key = harness.user(user.name, Role.OPERATOR)
    assert (await key.get("/api/amd/session")).json()["role"] == "author"

    def change(*, disabled: bool) -> None:
        harness.database.run(
            user_queries.change,
            user.name,
            harness.clock.now(),
            role=Role.READER,
            team="kernels",
            manages_team=False,
            daily_budget_usd=Decimal("0.5"),
            disabled=disabled,
        )

    change(disabled=False)
    session = (await key.get("/api/amd/session")).json()
    assert (session["role"], session["team"]) == ("reader", "kernels")
    change(disabled=True)
    assert (await key.get("/api/amd/account")).status == 401


@served(start=False)
async def test_a_key_of_a_manager_manages_their_team(harness: ApiHarness) -> None:
    """A program with a key of the manager's own role may do so, but not with a key of a lower role."""
    user = _user(harness)
    keys = {}
    for role in (Role.AUTHOR, Role.READER):
        now = harness.clock.now()
        _, secret = harness.database.run(account_queries.create_key, user.name, role, now, team="other")
        keys[role] = harness.client.with_key(secret)

    async def manages(role: Role, team: str | None) -> bool:
        harness.database.run(
            user_queries.change,
            user.name,
            harness.clock.now(),
            role=Role.AUTHOR,
            team=team,
            manages_team=True,
            daily_budget_usd=None,
            disabled=False,
        )
        answer = await keys[role].get(f"/api/amd/teams/{team or 'other'}")
        return bool(answer.json()["can_manage"])

    assert await manages(Role.AUTHOR, "kernels")
    assert not await manages(Role.READER, "kernels")
    assert not await manages(Role.AUTHOR, None)  # the team of the key is not the one that the user manages


@served()
async def test_a_budget_of_the_user_replaces_the_setting(harness: ApiHarness) -> None:
    """A submission above the user's own daily budget gets 402."""
    user = _user(harness)
    client = harness.user(user.name)
    for budget, status in ((Decimal("0.000001"), 402), (Decimal(5), 200)):
        harness.database.run(
            user_queries.change,
            user.name,
            harness.clock.now(),
            role=Role.AUTHOR,
            team=None,
            manages_team=False,
            daily_budget_usd=budget,
            disabled=False,
        )
        answer = await client.submit(accept="text/event-stream", endpoint="submit")
        assert answer.status == status


@served()
async def test_the_history_of_local_is_claimed(harness: ApiHarness) -> None:
    """The finished submissions change their owner; names of keys and of `local` are never given away."""
    await harness.client.submit(accept="text/event-stream", endpoint="submit")
    harness.database.run(account_queries.create_key, "ada", Role.AUTHOR, harness.clock.now())
    user = _user(harness)
    assert user.name == "ada-2"  # a key already has the name
    assert _user(harness, Identity("https://issuer.example", "2", "local")).name == "local-2"
    assert harness.database.run(user_queries.count_local_history) == 1
    assert harness.database.run(user_queries.claim_local_history, user.name) == 1
    assert harness.database.run(user_queries.claim_local_history, user.name) == 0
    client = harness.user(user.name)
    (mine,) = (await client.get("/api/amd/submissions")).json()["items"]
    assert mine["owner"] == "ada-2"
    refused = await client.post("/api/amd/account/claim-local-history")
    assert (refused.status, refused.json()["role_needed"]) == (403, "admin")
