"""`warmfront keys`: who may use the service. It works on the store itself, beside a running service.

Only whoever may read the store can do this; a secret is printed once, and is nowhere afterwards.
"""

from __future__ import annotations

import asyncio
import re
import sys
import time
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from warmfront import settings
from warmfront.cli.error_report import report
from warmfront.cli.formatting import print_columns, print_json
from warmfront.errors import BadRequest, NotFound, UsageError, WarmfrontError
from warmfront.store import keys
from warmfront.store.engine import open_store
from warmfront.store.records import ApiKey, Role

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from warmfront.store.base import Store


def create(user: str, role: str, *, team: str | None = None, as_json: bool) -> int:
    """Make a key and print its secret."""

    async def work(store: Store) -> int:
        of_team = None if team is None else _name("--team", team)
        key, secret = await store.write(
            keys.create, _name("--user", user), _role(role), time.time(), team=of_team
        )
        if as_json:
            print_json({**_fields(key), "secret": secret})
            return 0
        print(secret)
        print(
            f"Key {key.id} of {key.user} ({key.role}). This is the only time that it is shown.\n"
            "  → export WARMFRONT_API_KEY=…   and every command uses it",
            file=sys.stderr,
        )
        return 0

    return _with_store(work, as_json=as_json)


def show_all(*, as_json: bool) -> int:
    """List every key, revoked ones too."""

    async def work(store: Store) -> int:
        found = await store.read(keys.all_keys)
        if as_json:
            print_json([_fields(key) for key in found])
        else:
            print_columns([("ID", "USER", "TEAM", "ROLE", "CREATED", "REVOKED"), *map(_row, found)])
        return 0

    return _with_store(work, as_json=as_json)


def revoke(beginning: str, *, as_json: bool) -> int:
    """Make a key open nothing from now on."""

    async def work(store: Store) -> int:
        key = _chosen(await store.read(keys.all_keys), beginning)
        await store.write(keys.revoke, key.id, time.time())
        if as_json:
            print_json({"id": key.id, "revoked": True})
        else:
            print(f"{key.id}  revoked")
        return 0

    return _with_store(work, as_json=as_json)


def _with_store(work: Callable[[Store], Awaitable[int]], *, as_json: bool) -> int:
    async def opened() -> int:
        store = await open_store(settings.load(), alone=False)
        try:
            return await work(store)
        finally:
            await store.close()

    try:
        return asyncio.run(opened())
    except WarmfrontError as error:
        return report(error, as_json=as_json)


def _chosen(found: list[ApiKey], beginning: str) -> ApiKey:
    """The key that can be revoked and whose id, alone, begins so."""
    fitting = [key for key in found if key.id.startswith(beginning)]
    if not fitting:
        raise NotFound(f"There is no key {beginning!r}.", hint="`warmfront keys list` has all of them.")
    active = [key for key in fitting if key.revoked_at is None]
    if not active:
        raise UsageError(f"The key {fitting[0].id} was revoked before.", hint="There is nothing to do.")
    if len(active) > 1:
        raise UsageError(f"{beginning!r} begins {len(active)} ids.", hint="Give more of it.")
    return active[0]


def _name(option: str, name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}", name):
        raise BadRequest(
            f"{option} is {name[:80]!r}.",
            hint="At most 64 letters, digits and . _ @ -, a letter or digit first.",
        )
    return name


def _role(name: str) -> Role:
    if name not in set(Role):
        raise BadRequest(f"--role is {name!r}.", hint=f"Use one of: {', '.join(Role)}.")
    return Role(name)


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
