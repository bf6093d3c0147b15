"""`warmfront users`: invite people, such as the first admin, and list who has signed in.

The commands write directly to the database, even while the service is running, so they require access to it.
The link of an invitation is printed once; only a digest of its secret is stored.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from warmfront import settings, values
from warmfront.cli.database_access import (
    isoformat,
    machine_actor,
    valid_name,
    valid_role,
    with_store,
)
from warmfront.cli.formatting import print_columns, print_json
from warmfront.errors import BadRequest, BadSetting

if TYPE_CHECKING:
    from decimal import Decimal

    from warmfront.settings import Settings
    from warmfront.store.account_records import User
    from warmfront.store.store import Store

_MIN_VALID_S = 60
_MAX_VALID_S = 90 * 86400
_MAX_NOTE = 200


def invite(
    role: str, *, team: str | None, budget: str | None, note: str, valid_for: str, as_json: bool
) -> int:
    """Create an invitation and print its link."""

    async def work(store: Store) -> int:
        configured = settings.load()
        if configured.oidc_issuer is None:
            raise BadSetting(
                "Sign-in is not set up, so invitations cannot be accepted: WARMFRONT_OIDC_ISSUER is not set.",
                hint="docs/accounts.md has the steps. `warmfront keys create` creates keys for programs.",
            )
        now = time.time()
        invitation, secret = await store.accounts.create_invitation(
            role=valid_role(role),
            by=machine_actor(),
            now=now,
            expires_at=now + _valid_s(valid_for),
            team=None if team is None else valid_name("--team", team),
            daily_budget_usd=None if budget is None else parse_budget("--budget", budget),
            note=_valid_note(note),
        )
        link = f"{_page_url(configured)}/join#{secret}"
        if as_json:
            expires_at = isoformat(invitation.expires_at)
            print_json({"id": invitation.id, "role": role, "expires_at": expires_at, "link": link})
            return 0
        print(link)
        print(
            f"Created an invitation with the role {invitation.role}. The link works once, until "
            f"{isoformat(invitation.expires_at)}, and is not shown again.",
            file=sys.stderr,
        )
        return 0

    return with_store(work, as_json=as_json)


def show_all(*, as_json: bool) -> int:
    """List the users who have signed in."""

    async def work(store: Store) -> int:
        users = await store.accounts.list_users()
        if as_json:
            print_json([_fields(user) for user in users])
            return 0
        head = ("USER", "E-MAIL", "ROLE", "TEAM", "BUDGET PER DAY", "LAST SIGN-IN", "STATE")
        print_columns([head, *map(_row, users)])
        return 0

    return with_store(work, as_json=as_json)


def parse_budget(name: str, text: str) -> Decimal:
    """Return an amount above 0, or raise `BadRequest`."""
    try:
        amount = values.dollars(text)
    except ValueError:
        amount = None
    if not amount:
        raise BadRequest(f"{name} is {text[:80]!r}.", hint="Use dollars per day above 0, such as 2.50.")
    return amount


def _valid_s(text: str) -> int:
    try:
        return values.duration(_MIN_VALID_S, _MAX_VALID_S)(text)
    except ValueError:
        raise BadRequest(
            f"--valid-for is {text[:80]!r}; allowed: a duration from 1m to 90d.",
            hint="Use, for example, --valid-for 2d.",
        ) from None


def _valid_note(note: str) -> str:
    if len(note) > _MAX_NOTE:
        raise BadRequest(f"--note has {len(note)} characters; allowed: up to {_MAX_NOTE}.")
    return note.strip()


def _page_url(configured: Settings) -> str:
    """Return the address of the page: the public URL or, without one, as on loopback, the service's own."""
    return configured.public_url or f"http://{configured.host}:{configured.port}"


def _fields(user: User) -> dict[str, Any]:
    budget_usd = user.daily_budget_usd
    return {
        "name": user.name,
        "display_name": user.display_name,
        "email": user.email,
        "role": user.role.value,
        "team": user.team,
        "manages_team": user.manages_team,
        "daily_budget_usd": None if budget_usd is None else float(budget_usd),
        "last_sign_in_at": isoformat(user.last_sign_in_at),
        "disabled": user.disabled_at is not None,
    }


def _row(user: User) -> tuple[str, ...]:
    budget_usd = user.daily_budget_usd
    return (
        user.name,
        user.email or "",
        user.role,
        user.team or "",
        "" if budget_usd is None else f"${budget_usd:.2f}",
        isoformat(user.last_sign_in_at) or "",
        "" if user.disabled_at is None else "disabled",
    )
