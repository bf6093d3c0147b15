"""Authentication: find the user behind a request, or reject the request with 401 or 403.

A program sends an API key, which belongs to a user. A browser sends the cookie of its session, which begins
when a person signs in. If neither keys nor sign-in were ever set up and the service is bound to loopback,
there is one user, `local`, with an admin's permissions; revoking the last key does not restore that user. A
page of another site could use a browser to act as its user, so requests without a key are also protected
against CSRF, and those of `local` against DNS rebinding.
"""

from __future__ import annotations

import re
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from warmfront.api.browser_origin import BrowserOrigin, reject_cross_site, reject_dns_rebinding
from warmfront.api.error_responses import error_response, quote_value
from warmfront.audit_chain import Actor
from warmfront.errors import NotAuthenticated, RoleRequired, SignInRequired, UserChanged, WarmfrontError
from warmfront.roles import Role
from warmfront.usage_limits import DailyCaps
from warmfront.value_class import dataclass
from warmfront.values import is_loopback

if TYPE_CHECKING:
    from decimal import Decimal

    from starlette.types import ASGIApp, Receive, Scope, Send

    from warmfront.api.context import ServiceContext
    from warmfront.settings import Settings

#: Protected paths. Health checks, the OpenAPI document and the keys to verify receipts are public, for
#: monitoring and tools.
_PROTECTED = re.compile(r"/api/amd(/|$)|/metrics/?$")
_PUBLIC = frozenset({"/api/amd/health", "/api/amd/ready", "/api/amd/keys"})
#: Paths for which the caller may be unknown: those that a person needs to sign in, and shared results.
_OPTIONAL = re.compile(r"/api/amd/(session(/sign-in)?|invitations/preview|shared(/[^/]+)?)")

_SECRET = re.compile(r"wf_[A-Za-z0-9_-]{1,200}")
#: With this header, the page names the user who opened it.
USER_HEADER = "X-Warmfront-User"


@dataclass(frozen=True, kw_only=True)
class Caller:
    """The user behind a request."""

    user: str
    role: Role
    team: str | None = None
    key_id: str | None = None  #: None without a key
    session_id: str | None = None  #: None without a session
    daily_budget_usd: Decimal | None = None  #: the user's own daily budget, if they have one
    manages_team: bool = False  #: whether the user may set assignments for their team

    @property
    def is_operator(self) -> bool:
        """Whether the caller has the permissions of an operator."""
        return self.role.includes(Role.OPERATOR)

    def daily_caps(self, settings: Settings) -> DailyCaps | None:
        """Return the daily caps that apply to the caller; None if there are none."""
        return DailyCaps.for_user(settings, self.user, self.team, own_limit_usd=self.daily_budget_usd)

    def require(self, needed: Role, action: str, *, hint: str = "") -> None:
        """Raise `RoleRequired` unless the caller's role includes `needed`.

        Args:
            needed: the role that the action needs.
            action: the action as the subject of the message, such as "Draining a VM".
            hint: what to do instead.

        Example:
            >>> caller.require(Role.OPERATOR, "Draining a VM")
        """
        if not self.role.includes(needed):
            raise RoleRequired(needed, self.role, action, hint=hint)

    @property
    def actor(self) -> Actor:
        """The caller as the audit log names them."""
        via = "local" if self.session_id is None else "session"
        return Actor(name=self.user, via=self.key_id or via)

    def may_see(self, owner: str | None) -> bool:
        """Return whether the caller may see the data of `owner`."""
        return self.is_operator or owner == self.user


LOCAL = Caller(user="local", role=Role.ADMIN)


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
            except NotAuthenticated as error:
                if not _OPTIONAL.fullmatch(scope["path"]):
                    await error_response(error)(scope, receive, send)
                    return
                scope["warmfront.caller"] = None
            except WarmfrontError as error:
                await error_response(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _authenticate(self, scope: Scope) -> Caller:
        headers = Headers(scope=scope)
        secret = _bearer_secret(headers.get("authorization"))
        if secret is not None:
            return await self._caller_of_key(secret)
        settings = self._service.settings
        caller = None
        if self._service.identity_provider is not None:
            caller = await self._caller_of_session(scope["method"], headers)
            if caller is None:
                raise SignInRequired
        elif is_loopback(settings.host) and not await self._service.store.has_any_key():
            reject_dns_rebinding(headers)
            reject_cross_site(scope["method"], headers)
            caller = LOCAL
        if caller is None:
            raise NotAuthenticated
        _reject_other_user(caller, headers)
        return caller

    async def _caller_of_key(self, secret: str) -> Caller:
        key = await self._service.store.find_key(secret)
        if key is None:
            raise NotAuthenticated("This API key is unknown or revoked.")
        return Caller(
            user=key.user,
            role=key.role,
            team=key.team,
            key_id=key.id,
            daily_budget_usd=key.daily_budget_usd,
            manages_team=key.manages_team,
        )

    async def _caller_of_session(self, method: str, headers: Headers) -> Caller | None:
        origin = BrowserOrigin.of(self._service.settings, headers)
        token = cookie_value(headers, origin.session_cookie)
        if not token:
            return None
        session = await self._service.store.accounts.find_session(token, self._service.clock.now())
        if session is None:
            raise SignInRequired("Your session has ended.")
        origin.reject_csrf(method, headers)
        user = session.user
        return Caller(
            user=user.name,
            role=user.role,
            team=user.team,
            session_id=session.id,
            daily_budget_usd=user.daily_budget_usd,
            manages_team=user.manages_team,
        )


def cookie_value(headers: Headers, name: str) -> str | None:
    """Return the value of a cookie of the request."""
    for header in headers.getlist("cookie"):
        try:
            cookies = SimpleCookie(header)
        except CookieError:
            continue
        if name in cookies:
            return cookies[name].value
    return None


def _reject_other_user(caller: Caller, headers: Headers) -> None:
    """Reject a request from a page that was loaded for another user.

    Tabs of one browser share the session, so a sign-in in one of them changes the user of all.
    """
    expected = headers.get(USER_HEADER)
    if expected is not None and expected != caller.user:
        raise UserChanged(
            f"This page was opened by {quote_value(expected)}, but {caller.user} is signed in now.",
            hint="Reload the page to continue as the user who is signed in. Your code is kept.",
        )


def _bearer_secret(header: str | None) -> str | None:
    """Return the API key of a request; reject text that cannot be a key without a database query."""
    if header is None:
        return None
    scheme, _, secret = header.partition(" ")
    if scheme.lower() != "bearer" or not _SECRET.fullmatch(secret.strip()):
        raise NotAuthenticated("The Authorization header contains no Warmfront API key.")
    return secret.strip()
