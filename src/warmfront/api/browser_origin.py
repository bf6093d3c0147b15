"""The address at which a browser reaches the service: cookies, redirects, and rejection of other sites."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from warmfront.api.error_responses import quote_value
from warmfront.errors import NotAllowed
from warmfront.sign_in.transaction import LIFETIME_S
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from starlette.datastructures import Headers
    from starlette.responses import Response

    from warmfront.settings import Settings

_LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_SAFE_METHODS = frozenset({"GET", "HEAD"})
#: The path of the callback, which must be registered at the issuer.
CALLBACK_PATH = "/auth/callback"


@dataclass(frozen=True, kw_only=True)
class BrowserOrigin:
    """The scheme, host and port in a browser's address bar."""

    url: str  #: such as `https://kernels.example` or `http://127.0.0.1:3000`

    @classmethod
    def of(cls, settings: Settings, headers: Headers) -> BrowserOrigin:
        """Return the public URL of the settings, or the Host header if it names this machine."""
        if settings.public_url is not None:
            return cls(url=settings.public_url.lower())
        reject_dns_rebinding(headers)
        return cls(url=f"http://{headers['host'].lower()}")

    @classmethod
    def for_links(cls, settings: Settings, headers: Headers) -> BrowserOrigin:
        """Return the origin with which links in a response to an authenticated caller begin."""
        return cls(url=settings.public_url or f"http://{headers.get('host', '')}")

    @property
    def is_secure(self) -> bool:
        """Whether cookies are sent over TLS only."""
        return self.url.startswith("https:")

    @property
    def redirect_uri(self) -> str:
        """The address to which the issuer sends the browser back."""
        return f"{self.url}{CALLBACK_PATH}"

    @property
    def session_cookie(self) -> str:
        """The name of the cookie with the token of the session."""
        return self._cookie_name("session")

    @property
    def sign_in_cookie(self) -> str:
        """The name of the cookie with the sign-in in progress."""
        return self._cookie_name("sign_in")

    def set_session(self, response: Response, token: str, session_s: int) -> None:
        """Set the cookie with the token of the session."""
        self._set(response, self.session_cookie, token, session_s)

    def set_sign_in(self, response: Response, value: str) -> None:
        """Set the cookie with the secrets of the sign-in in progress."""
        self._set(response, self.sign_in_cookie, value, LIFETIME_S)

    def clear(self, response: Response, name: str) -> None:
        """Delete a cookie."""
        self._set(response, name, "", 0)

    def reject_csrf(self, method: str, headers: Headers) -> None:
        """Reject a request that changes something and does not come from this service's own page (CSRF).

        Browsers send the Origin header with every such request, and no page can forge it. `SameSite=Lax`
        alone would accept requests from another port of the same host.
        """
        origin = headers.get("origin")
        if method not in _SAFE_METHODS and (origin or "").lower() != self.url:
            raise NotAllowed(
                f"Cross-site request from {quote_value(origin or 'an unknown origin')} rejected; "
                f"allowed: {self.url}.",
                hint="Use this service's own page, or send an API key instead of a cookie.",
            )

    def _cookie_name(self, purpose: str) -> str:
        if self.is_secure:
            return f"__Host-warmfront_{purpose}"  # browsers accept it only with Secure and without Domain
        # Cookies of one host are shared by all its ports.
        return f"warmfront_{purpose}_{urlsplit(self.url).port or 80}"

    def _set(self, response: Response, name: str, value: str, max_age_s: int) -> None:
        response.set_cookie(
            name,
            value,
            max_age=max_age_s,
            path="/",
            secure=self.is_secure,
            httponly=True,
            samesite="lax",
        )


def reject_dns_rebinding(headers: Headers) -> None:
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


def reject_cross_site(method: str, headers: Headers) -> None:
    """Reject a cross-site request of the local user that changes something (CSRF).

    Programs on this machine send no Origin header.
    """
    origin = headers.get("origin")
    if method not in _SAFE_METHODS and origin is not None and _host_name(origin) not in _LOCAL_NAMES:
        raise NotAllowed(
            f"Cross-site request from {quote_value(origin)} rejected.",
            hint="Use this service's own page, or send an API key.",
        )


def _host_name(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
