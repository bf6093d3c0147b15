"""ID tokens that are forged, expired or meant for others, and issuers that do not describe themselves well.

The issuer here is a small server of our own, because a certified one does not send such tokens.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hmac
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey

from warmfront.errors import IssuerUnavailable, SignInFailed, WarmfrontError
from warmfront.sign_in.github import GithubProvider
from warmfront.sign_in.oidc import OidcProvider
from warmfront.sign_in.transaction import SignInTransaction
from warmfront.store.account_records import Identity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEY = RSAKey.generate_key(2048, {"kid": "a", "use": "sig"})
OTHER_KEY = RSAKey.generate_key(2048, {"kid": "a", "use": "sig"})
REDIRECT_URI = "http://127.0.0.1:3000/auth/callback"
SUBJECT = "subject-1"


class HostileIssuer:
    """A server whose documents a test can change."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self.keys = [KEY]
        self.tokens: list[dict[str, str]] = []  #: the form of every request for a token
        self.documents: dict[str, Any] = {
            "/.well-known/openid-configuration": {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/keys",
                "userinfo_endpoint": f"{self.url}/userinfo",
            },
            "/userinfo": {"sub": SUBJECT, "email": "Ada@Example.com", "email_verified": True},
        }
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def document(self, path: str) -> Any:
        """Return the JSON at a path; None for 404."""
        if path == "/keys":
            return {"keys": [key.as_dict(private=False) for key in self.keys]}
        return self.documents.get(path)

    def close(self) -> None:
        """Stop the server."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(issuer: HostileIssuer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._respond(issuer.document(urlsplit(self.path).path))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            issuer.tokens.append({name: values[0] for name, values in parse_qs(body).items()})
            self._respond(issuer.document(urlsplit(self.path).path))

        def _respond(self, document: Any) -> None:
            body = json.dumps(document).encode()
            self.send_response(404 if document is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    return Handler


@pytest.fixture
def issuer() -> Iterator[HostileIssuer]:
    """A running issuer."""
    with contextlib.closing(HostileIssuer()) as running:
        yield running


def _claims(issuer: HostileIssuer, transaction: SignInTransaction) -> dict[str, Any]:
    now = int(time.time())
    return {
        "iss": issuer.url,
        "sub": SUBJECT,
        "aud": "warmfront",
        "exp": now + 3600,
        "iat": now,
        "nonce": transaction.nonce,
    }


def _identify(issuer: HostileIssuer, transaction: SignInTransaction, id_token: str) -> Identity:
    provider = OidcProvider(issuer.url, "warmfront", "secret", name="Issuer")
    issuer.documents["/token"] = {"access_token": "x", "token_type": "Bearer", "id_token": id_token}
    parameters = {"state": transaction.state, "code": "c"}
    return asyncio.run(provider.identify(transaction, REDIRECT_URI, parameters))


def _sign(claims: dict[str, Any], key: RSAKey = KEY) -> str:
    return jwt.encode({"alg": "RS256", "kid": "a"}, claims, key)


def test_a_valid_token_identifies_a_person(issuer: HostileIssuer) -> None:
    """The code is exchanged with the PKCE verifier, and the address is in lower case."""
    transaction = SignInTransaction.begin("/", None)
    identity = _identify(issuer, transaction, _sign(_claims(issuer, transaction)))
    assert identity == Identity(issuer=issuer.url, subject=SUBJECT, email="ada@example.com")
    assert issuer.tokens[0]["code_verifier"] == transaction.code_verifier


_WRONG: dict[str, tuple[Callable[[HostileIssuer, dict[str, Any]], str], str]] = {
    "signed by another key": (lambda _, claims: _sign(claims, OTHER_KEY), "bad_signature"),
    "without a signature": (lambda _, claims: _unsigned(claims), ""),
    "signed with the public key as a secret": (
        lambda _, claims: _signed_with_public_key(claims),
        "",
    ),
    "expired": (lambda _, claims: _sign({**claims, "exp": int(time.time()) - 3600}), "expired_token"),
    "of the future": (
        lambda _, claims: _sign({**claims, "iat": int(time.time()) + 86400}),
        "issued in the future",
    ),
    "for another service": (lambda _, claims: _sign({**claims, "aud": "another"}), "aud"),
    "of another issuer": (lambda _, claims: _sign({**claims, "iss": "https://evil.example"}), "iss"),
    "of an earlier sign-in": (lambda _, claims: _sign({**claims, "nonce": "another"}), "nonce"),
    "without a nonce": (lambda _, claims: _sign(_without(claims, "nonce")), "nonce"),
    "without a subject": (lambda _, claims: _sign(_without(claims, "sub")), "sub"),
    "not a token": (lambda _, __: "no.token.at-all", ""),
    "about another person": (lambda _, claims: _sign({**claims, "sub": "someone else"}), "different person"),
}


@pytest.mark.parametrize("name", _WRONG)
def test_a_token_is_rejected(issuer: HostileIssuer, name: str) -> None:
    """Signature, issuer, audience, times, nonce and subject are checked; the message says which is wrong."""
    forge, reason = _WRONG[name]
    transaction = SignInTransaction.begin("/", None)
    with pytest.raises(SignInFailed) as caught:
        _identify(issuer, transaction, forge(issuer, _claims(issuer, transaction)))
    assert reason in caught.value.message


def test_a_sign_in_does_not_begin_while_the_issuer_is_down(issuer: HostileIssuer) -> None:
    """The person sees why on this service's page, not the browser's error at the issuer's address."""
    now = time.time()
    provider = OidcProvider(issuer.url, "warmfront", "secret", name="Issuer", now=lambda: now)
    transaction = SignInTransaction.begin("/", None)
    url = asyncio.run(provider.authorization_url(transaction, REDIRECT_URI))
    assert url.startswith(f"{issuer.url}/authorize?")
    issuer.documents.clear()
    assert asyncio.run(provider.authorization_url(transaction, REDIRECT_URI))  # it has just responded
    now += 60
    with pytest.raises(IssuerUnavailable, match="Sign-in with Issuer is unavailable"):
        asyncio.run(provider.authorization_url(transaction, REDIRECT_URI))


def test_changed_keys_are_fetched_again(issuer: HostileIssuer) -> None:
    """An issuer may replace its keys at any time."""
    provider = OidcProvider(issuer.url, "warmfront", None, name="Issuer")
    transaction = SignInTransaction.begin("/", None)

    async def scenario() -> Identity:
        await provider.authorization_url(transaction, REDIRECT_URI)
        issuer.keys = [OTHER_KEY]
        token = _sign(_claims(issuer, transaction), OTHER_KEY)
        issuer.documents["/token"] = {"access_token": "x", "token_type": "Bearer", "id_token": token}
        return await provider.identify(transaction, REDIRECT_URI, {"state": transaction.state, "code": "c"})

    assert asyncio.run(scenario()).subject == SUBJECT


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (None, "404"),
        ([], "incomplete"),
        ({"issuer": "x"}, "incomplete"),
        ({"issuer": "https://evil.example"}, "names another issuer"),
        ({"jwks_uri": "http://127.0.0.1:1/keys"}, "unavailable"),
        ({"jwks_uri": "{issuer}/userinfo"}, "keys of"),
    ],
)
def test_an_issuer_that_describes_itself_badly(issuer: HostileIssuer, document: Any, reason: str) -> None:
    """The error says what is wrong with the discovery document or the keys."""
    discovery = "/.well-known/openid-configuration"
    if isinstance(document, dict) and len(document) == 1 and document != {"issuer": "x"}:
        changes = {name: value.replace("{issuer}", issuer.url) for name, value in document.items()}
        document = {**issuer.documents[discovery], **changes}
    issuer.documents[discovery] = document
    provider = OidcProvider(issuer.url, "warmfront", "secret", name="Issuer")
    with pytest.raises(IssuerUnavailable, match=reason):
        asyncio.run(provider.authorization_url(SignInTransaction.begin("/", None), REDIRECT_URI))


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"code": "c"}, "another browser"),
        ({"code": "c", "state": "guessed"}, "another browser"),
        ({"error": "access_denied", "error_description": "no"}, "not completed: no"),
        ({"code": "c", "iss": "https://evil.example"}, "another issuer"),
        ({}, "no authorization code"),
    ],
)
def test_a_callback_is_rejected(issuer: HostileIssuer, parameters: dict[str, str], reason: str) -> None:
    """State, issuer and the code itself are checked before anything is sent to the issuer."""
    provider = OidcProvider(issuer.url, "warmfront", "secret", name="Issuer")
    transaction = SignInTransaction.begin("/", None)
    if "another browser" not in reason:
        parameters = {"state": transaction.state, **parameters}
    with pytest.raises(SignInFailed, match=reason):
        asyncio.run(provider.identify(transaction, REDIRECT_URI, parameters))
    assert issuer.tokens == []


def test_github_has_no_id_token(issuer: HostileIssuer) -> None:
    """The API says who signed in; only the primary, verified address counts."""
    issuer.documents |= {
        "/login/oauth/access_token": {"access_token": "x", "token_type": "bearer"},
        "/user": {"id": 42, "login": "ada", "name": "Ada"},
        "/user/emails": [
            {"email": "old@example.com", "primary": False, "verified": True},
            {"email": "Ada@example.com", "primary": True, "verified": True},
        ],
    }
    provider = GithubProvider("id", "secret", site=issuer.url, api=issuer.url)
    transaction = SignInTransaction.begin("/", None)
    parameters = {"state": transaction.state, "code": "c"}
    identity = asyncio.run(provider.identify(transaction, REDIRECT_URI, parameters))
    assert identity == Identity("https://github.com", "42", "ada", "Ada", "ada@example.com")
    assert issuer.tokens[0]["code_verifier"] == transaction.code_verifier
    url = asyncio.run(provider.authorization_url(transaction, REDIRECT_URI))
    assert "code_challenge_method=S256" in url
    issuer.documents["/user/emails"] = [{"email": "a@b.c", "primary": True, "verified": False}]
    assert asyncio.run(provider.identify(transaction, REDIRECT_URI, parameters)).email is None
    issuer.documents["/login/oauth/access_token"] = {"error": "bad_verification_code"}
    with pytest.raises(SignInFailed, match="bad_verification_code"):
        asyncio.run(provider.identify(transaction, REDIRECT_URI, parameters))
    del issuer.documents["/login/oauth/access_token"]
    with pytest.raises(WarmfrontError):
        asyncio.run(provider.identify(transaction, REDIRECT_URI, parameters))


def _without(claims: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in claims.items() if key != name}


def _signed_with_public_key(claims: dict[str, Any]) -> str:
    """Return a token for a verifier that would use the issuer's public key as the secret of an HMAC."""
    payload = _sign(claims).split(".")[1]
    header = _base64(b'{"alg":"HS256","kid":"a"}')
    signature = hmac.digest(KEY.as_pem(private=False), f"{header}.{payload}".encode(), "sha256")
    return f"{header}.{payload}.{_base64(signature)}"


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _unsigned(claims: dict[str, Any]) -> str:
    payload = _sign(claims).split(".")[1]
    header = _base64(b'{"alg":"none"}')
    return f"{header}.{payload}."
