"""One sign-in from the redirect to the issuer until its callback.

The browser keeps one random token in a cookie; state, nonce and the PKCE verifier are derived from it. So
nothing has to be stored for people who never return, and a callback that was started in another browser
(login CSRF) or with another state is rejected.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import secrets
from urllib.parse import urlsplit

from warmfront.value_class import dataclass

#: A sign-in must be completed within this time.
LIFETIME_S = 600

_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")
_MAX_RETURN_CHARS = 500


@dataclass(frozen=True, kw_only=True)
class SignInTransaction:
    """The secrets of one sign-in, and the page to open after it."""

    token: str
    return_to: str = "/"  #: the path of the page to open afterwards
    invitation: str | None = None  #: the secret of the invitation that started it

    @classmethod
    def begin(cls, return_to: str, invitation: str | None) -> SignInTransaction:
        """Return a new transaction."""
        return cls(
            token=secrets.token_urlsafe(32), return_to=local_path(return_to), invitation=invitation or None
        )

    @classmethod
    def parse(cls, cookie: str | None) -> SignInTransaction | None:
        """Return the transaction in a cookie; None if the cookie contains none."""
        try:
            token, return_to, invitation = json.loads(base64.urlsafe_b64decode((cookie or "").encode()))
        except ValueError:
            return None
        texts = [token, return_to, invitation or ""]
        if not all(isinstance(text, str) for text in texts) or not _TOKEN.fullmatch(token):
            return None
        return cls(token=token, return_to=local_path(return_to), invitation=invitation or None)

    def cookie(self) -> str:
        """Return the value of the cookie."""
        fields = [self.token, self.return_to, self.invitation or ""]
        return base64.urlsafe_b64encode(json.dumps(fields).encode()).decode()

    @property
    def state(self) -> str:
        """The value that the issuer returns unchanged, and that only this browser can produce."""
        return self._derived("state")

    @property
    def nonce(self) -> str:
        """The value that the ID token must contain, so that an old token cannot be replayed."""
        return self._derived("nonce")

    @property
    def code_verifier(self) -> str:
        """The PKCE verifier (RFC 7636): a stolen authorization code is useless without it."""
        return self._derived("code verifier")

    def matches(self, state: str) -> bool:
        """Return whether a callback belongs to this transaction."""
        return hmac.compare_digest(state.encode(), self.state.encode())

    def _derived(self, purpose: str) -> str:
        digest = hmac.digest(self.token.encode(), purpose.encode(), hashlib.sha256)
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def local_path(text: str) -> str:
    """Return a path of this service, or `/`: a sign-in must not redirect to another site.

    Example:
        >>> local_path("/problems/relu?from=1"), local_path("//evil.example"), local_path("https://evil.example")
        ('/problems/relu?from=1', '/', '/')
    """
    try:
        parts = urlsplit(text)
    except ValueError:
        return "/"
    is_local = not parts.scheme and not parts.netloc and text.startswith("/") and not text.startswith("//")
    is_plain = text.isascii() and text.isprintable() and "\\" not in text and len(text) <= _MAX_RETURN_CHARS
    return text if is_local and is_plain else "/"
