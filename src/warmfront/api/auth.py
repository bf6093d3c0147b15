"""Authentication: find the user behind a request, or reject the request with 401 or 403.

An API key belongs to a user. If no key was ever created and the service is bound to loopback, there is one
user, `local`, with an operator's permissions; revoking the last key does not restore that user. A page of
another site could use a browser on the same machine to act as that user, so requests without a key are also
protected against CSRF and DNS rebinding.
"""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from warmfront.api.error_responses import error_response, quote_value
from warmfront.audit_chain import Actor
from warmfront.errors import NotAllowed, NotAuthenticated, WarmfrontError
from warmfront.store.records import Role
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from warmfront.api.context import ServiceContext

#: Protected paths. Health checks, the OpenAPI document and the keys to verify receipts are public, for
#: monitoring and tools.
_PROTECTED = re.compile(r"/api/amd(/|$)|/metrics/?$")
_PUBLIC = frozenset({"/api/amd/health", "/api/amd/ready", "/api/amd/keys"})

_SECRET = re.compile(r"wf_[A-Za-z0-9_-]{1,200}")
_LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, kw_only=True)
class Caller:
    """The user behind a request."""

    user: str
    role: Role
    team: str | None = None
    key_id: str | None = None  #: None for the local user, who has no key

    @property
    def is_operator(self) -> bool:
        """Whether the caller is an operator."""
        return self.role is Role.OPERATOR

    @property
    def actor(self) -> Actor:
        """The caller as the audit log names them."""
        return Actor(name=self.user, via=self.key_id or "local")

    def may_see(self, owner: str | None) -> bool:
        """Return whether the caller may see the data of `owner`."""
        return self.is_operator or owner == self.user


LOCAL = Caller(user="local", role=Role.OPERATOR)


class AuthMiddleware:
    """Middleware that adds the `Caller` to requests for protected paths, or responds with 401 or 403."""

    def __init__(self, app: ASGIApp, service: ServiceContext) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and _PROTECTED.match(scope["path"]) and scope["path"] not in _PUBLIC:
            try:
                scope["warmfront.caller"] = await self._authenticate(scope)
            except WarmfrontError as error:
                await error_response(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _authenticate(self, scope: Scope) -> Caller:
        headers = Headers(scope=scope)
        secret = _bearer_secret(headers.get("authorization"))
        store = self._service.store
        if secret is not None:
            key = await store.find_key(secret)
            if key is None:
                raise NotAuthenticated("This API key is unknown or revoked.")
            return Caller(user=key.user, role=key.role, team=key.team, key_id=key.id)
        if await store.has_any_key() or not is_loopback(self._service.settings.host):
            raise NotAuthenticated
        _reject_dns_rebinding(headers)
        _reject_csrf(scope["method"], headers)
        return LOCAL


def is_loopback(host: str) -> bool:
    """Return whether an address is reachable only from this machine."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _bearer_secret(header: str | None) -> str | None:
    """Return the API key of a request; reject text that cannot be a key without a database query."""
    if header is None:
        return None
    scheme, _, secret = header.partition(" ")
    if scheme.lower() != "bearer" or not _SECRET.fullmatch(secret.strip()):
        raise NotAuthenticated("The Authorization header contains no Warmfront API key.")
    return secret.strip()


def _reject_dns_rebinding(headers: Headers) -> None:
    """Reject a Host header that does not name this machine.

    In a DNS rebinding attack, another site's name is resolved to 127.0.0.1, so that the browser treats this
    service as part of that site. The Host header still contains the site's name.
    """
    host = _host_name(f"//{headers.get('host', '')}")
    if host not in _LOCAL_NAMES:
        raise NotAllowed(
            f"Host is {quote_value(host)}; allowed without an API key: 127.0.0.1, localhost, [::1].",
            hint="Use http://127.0.0.1, or send an API key in the header `Authorization: Bearer wf_...`.",
        )


def _reject_csrf(method: str, headers: Headers) -> None:
    """Reject a cross-site request that changes something (CSRF).

    Browsers send the Origin header with every such request, and no page can forge it.
    """
    origin = headers.get("origin")
    if method not in {"GET", "HEAD"} and origin is not None and _host_name(origin) not in _LOCAL_NAMES:
        raise NotAllowed(
            f"Cross-site request from {quote_value(origin)} rejected.",
            hint="Use this service's own page, or send an API key.",
        )


def _host_name(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
