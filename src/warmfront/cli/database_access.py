"""Access to the database for the commands of the operator on the machine of the service.

They work while the service runs, and without an API key: access to the database allows everything.
"""

from __future__ import annotations

import asyncio
import getpass
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from warmfront import settings
from warmfront.audit_chain import Actor
from warmfront.cli.error_report import report
from warmfront.errors import BadRequest, WarmfrontError
from warmfront.roles import Role
from warmfront.store.sql_database import open_store

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from warmfront.store.store import Store

#: The former names of roles, which scripts may still use.
_EARLIER_ROLES = {"user": Role.AUTHOR.value}


def with_store(work: Callable[[Store], Awaitable[int]], *, as_json: bool) -> int:
    """Run `work` with the store and return its exit code; report an error as text or JSON."""

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


def machine_actor() -> Actor:
    """Return the operating-system user who runs the command, for the audit log."""
    try:
        name = getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in a container
        name = "unknown"
    return Actor(name=name, via="command line")


def valid_name(option: str, name: str) -> str:
    """Return the name of a user or a team, or raise `BadRequest`."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}", name):
        raise BadRequest(
            f"{option} is {name[:80]!r}, which is not a valid name.",
            hint="Use up to 64 letters, digits and . _ @ -, starting with a letter or digit.",
        )
    return name


def valid_role(name: str) -> Role:
    """Return a role by its name, or raise `BadRequest`."""
    name = _EARLIER_ROLES.get(name, name)
    if name not in set(Role):
        raise BadRequest(f"--role is {name!r}.", hint=f"Use one of: {', '.join(Role)}.")
    return Role(name)


def isoformat(seconds: float | None) -> str | None:
    """Return a time as ISO 8601 in UTC; None for None."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
