"""`warmfront keys`: create, list and revoke API keys.

The commands write directly to the database, even while the service is running, so they require access to it.
A secret is printed once and is not stored.
"""

from __future__ import annotations

import asyncio
import getpass
import re
import sys
import time
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from warmfront import settings
from warmfront.audit_chain import Actor
from warmfront.cli.error_report import report
from warmfront.cli.formatting import print_columns, print_json
from warmfront.errors import BadRequest, NotFound, UsageError, WarmfrontError
from warmfront.roles import Role
from warmfront.store.sql_database import open_store

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from warmfront.store.records import ApiKey
    from warmfront.store.store import Store


def create(user: str, role: str, *, team: str | None = None, as_json: bool) -> int:
    """Create a key and print its secret."""

    async def work(store: Store) -> int:
        team_name = None if team is None else _valid_name("--team", team)
        key, secret = await store.create_key(
            _valid_name("--user", user), _valid_role(role), time.time(), team=team_name, by=_actor()
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

    return _with_store(work, as_json=as_json)


def show_all(*, as_json: bool) -> int:
    """List all keys, including revoked ones."""

    async def work(store: Store) -> int:
        all_keys = await store.list_keys()
        if as_json:
            print_json([_fields(key) for key in all_keys])
        else:
            print_columns([("ID", "USER", "TEAM", "ROLE", "CREATED", "REVOKED"), *map(_row, all_keys)])
        return 0

    return _with_store(work, as_json=as_json)


def revoke(prefix: str, *, as_json: bool) -> int:
    """Revoke the key whose id starts with `prefix`."""

    async def work(store: Store) -> int:
        key = _select(await store.list_keys(), prefix)
        await store.revoke_key(key.id, time.time(), by=_actor())
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

    return _with_store(work, as_json=as_json)


def _actor() -> Actor:
    """Return the user of this machine, for the audit log."""
    try:
        name = getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in a container
        name = "unknown"
    return Actor(name=name, via="command line")


def _with_store(work: Callable[[Store], Awaitable[int]], *, as_json: bool) -> int:
    async def opened() -> int:
        store = await open_store(settings.load(), exclusive=False)
        try:
            return await work(store)
        finally:
            await store.close()

    try:
        return asyncio.run(opened())
    except WarmfrontError as error:
        return report(error, as_json=as_json)


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


def _valid_name(option: str, name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}", name):
        raise BadRequest(
            f"{option} is {name[:80]!r}, which is not a valid name.",
            hint="Use up to 64 letters, digits and . _ @ -, starting with a letter or digit.",
        )
    return name


def _valid_role(name: str) -> Role:
    name = _EARLIER_ROLES.get(name, name)
    if name not in set(Role):
        raise BadRequest(f"--role is {name!r}.", hint=f"Use one of: {', '.join(Role)}.")
    return Role(name)


#: Roles of earlier releases by their names then, which scripts may still use.
_EARLIER_ROLES = {"user": Role.AUTHOR.value}


def _fields(key: ApiKey) -> dict[str, object]:
    return {**asdict(key), "created_at": _iso(key.created_at), "revoked_at": _iso(key.revoked_at)}


def _row(key: ApiKey) -> tuple[str, ...]:
    return (
        key.id,
        key.user,
        key.team or "",
        key.role,
        _iso(key.created_at) or "",
        _iso(key.revoked_at) or "",
    )


def _iso(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
