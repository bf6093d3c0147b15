"""`warmfront keys`: create, list and revoke API keys.

The commands write directly to the database, even while the service is running, so they require access to it.
A secret is printed once and is not stored.
"""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

from warmfront.cli.database_access import (
    isoformat,
    machine_actor,
    valid_name,
    valid_role,
    with_store,
)
from warmfront.cli.formatting import print_columns, print_json
from warmfront.errors import NotFound, UsageError

if TYPE_CHECKING:
    from warmfront.store.records import ApiKey
    from warmfront.store.store import Store


def create(user: str, role: str, *, team: str | None = None, as_json: bool) -> int:
    """Create a key and print its secret."""

    async def work(store: Store) -> int:
        team_name = None if team is None else valid_name("--team", team)
        key, secret = await store.create_key(
            valid_name("--user", user), valid_role(role), time.time(), team=team_name, by=machine_actor()
        )
        if as_json:
            print_json({**_fields(key), "secret": secret})
            return 0
        print(secret)
        print(
            f"Created key {key.id} for {key.user} ({key.role}). The secret is not shown again.\n"
            "  → export WARMFRONT_API_KEY=…   makes the other commands use it",
            file=sys.stderr,
        )
        return 0

    return with_store(work, as_json=as_json)


def show_all(*, as_json: bool) -> int:
    """List all keys, including revoked ones."""

    async def work(store: Store) -> int:
        all_keys = await store.list_keys()
        if as_json:
            print_json([_fields(key) for key in all_keys])
        else:
            print_columns([("ID", "USER", "TEAM", "ROLE", "CREATED", "REVOKED"), *map(_row, all_keys)])
        return 0

    return with_store(work, as_json=as_json)


def revoke(prefix: str, *, as_json: bool) -> int:
    """Revoke the key whose id starts with `prefix`."""

    async def work(store: Store) -> int:
        key = _select(await store.list_keys(), prefix)
        await store.revoke_key(key.id, time.time(), by=machine_actor())
        if as_json:
            print_json({"id": key.id, "revoked": True})
        else:
            print(f"{key.id}  revoked")
        if not await store.has_active_key():
            print(
                "No active key is left: the service rejects every request until a key is created.\n"
                "  → warmfront keys create --user NAME --role operator",
                file=sys.stderr,
            )
        return 0

    return with_store(work, as_json=as_json)


def _select(all_keys: list[ApiKey], prefix: str) -> ApiKey:
    """Return the only active key whose id starts with the prefix."""
    matches = [key for key in all_keys if key.id.startswith(prefix)]
    if not matches:
        raise NotFound(f"There is no key {prefix!r}.", hint="`warmfront keys list` lists all keys.")
    active = [key for key in matches if key.revoked_at is None]
    if not active:
        raise UsageError(f"Key {matches[0].id} is already revoked.")
    if len(active) > 1:
        raise UsageError(f"{prefix!r} is a prefix of {len(active)} ids.", hint="Give a longer prefix.")
    return active[0]


def _fields(key: ApiKey) -> dict[str, object]:
    return {**asdict(key), "created_at": isoformat(key.created_at), "revoked_at": isoformat(key.revoked_at)}


def _row(key: ApiKey) -> tuple[str, ...]:
    return (
        key.id,
        key.user,
        key.team or "",
        key.role,
        isoformat(key.created_at) or "",
        isoformat(key.revoked_at) or "",
    )
