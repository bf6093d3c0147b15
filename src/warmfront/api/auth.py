"""Who asks: the gate in front of every route that is not public.

A key names a user. Without any key in the store, and bound to loopback, there is one local user with an
operator's rights; then the browser of that machine is kept from acting for the pages of others.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from warmfront.api import error_responses
from warmfront.api.error_responses import quote_value
from warmfront.errors import NotAllowed, NotAuthenticated, WarmfrontError
from warmfront.store import keys
from warmfront.store.records import Role

if TYPE_CHECKING:
    from sqlalchemy import Connection
    from starlette.types import ASGIApp, Receive, Scope, Send

    from warmfront.api.context import ServiceContext
    from warmfront.store.records import ApiKey

#: Where the gate stands. Health is for whoever watches the service, the form of the API for everyone.
_GUARDED = re.compile(r"/api/amd(/|$)|/metrics/?$")
_PUBLIC = frozenset({"/api/amd/health", "/api/amd/ready"})

_SECRET = re.compile(r"wf_[A-Za-z0-9_-]{1,200}")
_LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, kw_only=True)
class Caller:
    """The user behind a request."""

    user: str
    role: Role
    team: str | None = None

    @property
    def is_operator(self) -> bool:
        """Whether the service is theirs."""
        return self.role is Role.OPERATOR

    def may_see(self, owner: str | None) -> bool:
        """Whether what belongs to this user is theirs to see."""
        return self.is_operator or owner == self.user


LOCAL = Caller(user="local", role=Role.OPERATOR)


class AuthMiddleware:
    """Lets a request in with its caller, or answers 401 or 403."""

    def __init__(self, app: ASGIApp, service: ServiceContext) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and _GUARDED.match(scope["path"]) and scope["path"] not in _PUBLIC:
            try:
                scope["warmfront.caller"] = await self._admit(scope)
            except WarmfrontError as error:
                await error_responses.of_error(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _admit(self, scope: Scope) -> Caller:
        headers = Headers(scope=scope)
        secret = _secret_of(headers.get("authorization"))
        key, keyless = await self._service.store.read(_look_up, secret)
        if key is not None:
            return Caller(user=key.user, role=key.role, team=key.team)
        if secret is not None:
            raise NotAuthenticated("This API key is unknown or revoked.")
        if not keyless or not is_loopback(self._service.settings.host):
            raise NotAuthenticated
        _refuse_other_sites(scope["method"], headers)
        return LOCAL


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens there."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _look_up(c: Connection, secret: str | None) -> tuple[ApiKey | None, bool]:
    """The key, and whether there is none at all in the store."""
    if secret is not None:
        return keys.find(c, secret), False
    return None, not keys.any_active(c)


def _secret_of(header: str | None) -> str | None:
    """The key that a request carries; one that cannot be a key is refused unseen."""
    if header is None:
        return None
    scheme, _, secret = header.partition(" ")
    if scheme.lower() != "bearer" or not _SECRET.fullmatch(secret.strip()):
        raise NotAuthenticated("The Authorization header contains no Warmfront API key.")
    return secret.strip()


def _refuse_other_sites(method: str, headers: Headers) -> None:
    """Without a key, a name bent to this machine or a page of another site could act as the user."""
    host = _host_name(f"//{headers.get('host', '')}")
    if host not in _LOCAL_NAMES:
        raise NotAllowed(
            f"The Host header names {quote_value(host)}; without a key only localhost is served.",
            hint="Use http://127.0.0.1, or send an API key in the header `Authorization: Bearer wf_...`.",
        )
    origin = headers.get("origin")
    if method not in {"GET", "HEAD"} and origin is not None and _host_name(origin) not in _LOCAL_NAMES:
        raise NotAllowed(
            f"A page of {quote_value(origin)} may not act here.",
            hint="Use this service's own page, or an API key.",
        )


def _host_name(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
