"""Sign-in with any OpenID Connect issuer: discovery, authorization code flow, and checks of the ID token."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import httpx
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from warmfront.errors import IssuerUnavailable, SignInFailed
from warmfront.sign_in.oauth_client import AsyncOAuth2Client, OAuthError
from warmfront.sign_in.provider import REQUEST_TIMEOUT_S, callback_code, get_json, issuer_requests
from warmfront.store.account_records import Identity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from warmfront.sign_in.transaction import SignInTransaction

_SCOPE = "openid profile email"
#: Signatures with a private key of the issuer. `none` and those with a shared secret are not accepted.
_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
#: How far the issuer's clock may differ from ours.
_LEEWAY_S = 60
#: How long the discovery document and the issuer's keys are used without fetching them again.
_METADATA_S = 3600.0
#: A sign-in begins only if the issuer has responded within this time.
_RESPONDS_S = 10.0


class OidcProvider:
    """An OpenID Connect issuer.

    Args:
        issuer: its address; `/.well-known/openid-configuration` below it describes it.
        client_id: the id of this service at the issuer.
        client_secret: the secret of this service; None for a public client, which PKCE alone protects.
        name: the name on the page's sign-in button.
        now: the time, in seconds since 1970.
    """

    def __init__(
        self,
        issuer: str,
        client_id: str,
        client_secret: str | None,
        *,
        name: str,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.name = name
        self._issuer = issuer.rstrip("/")
        self._client_id = client_id
        self._client_secret = client_secret
        self._now = now
        self._metadata: dict[str, Any] = {}
        self._keys: KeySet | None = None
        self._fetched_at = 0.0

    async def authorization_url(self, transaction: SignInTransaction, redirect_uri: str) -> str:
        """Return the address at which the person signs in."""
        async with issuer_requests(self.name):
            # Otherwise a person would leave for an issuer that is down, and see only the browser's own error.
            metadata = await self._discover(max_age_s=_RESPONDS_S)
        async with self._client(redirect_uri) as client:
            url, _ = client.create_authorization_url(
                metadata["authorization_endpoint"],
                state=transaction.state,
                nonce=transaction.nonce,
                code_verifier=transaction.code_verifier,
            )
        return str(url)

    async def identify(
        self, transaction: SignInTransaction, redirect_uri: str, parameters: Mapping[str, str]
    ) -> Identity:
        """Exchange the authorization code for an ID token, verify it, and return the person."""
        async with issuer_requests(self.name):
            metadata = await self._discover()
            code = callback_code(transaction, parameters, issuer=metadata["issuer"])
            async with self._client(redirect_uri) as client:
                token = await self._fetch_token(client, code, transaction)
                claims = await self._verified_claims(token, transaction.nonce)
                profile = await self._profile(client, claims["sub"])
        return _identity(metadata["issuer"], {**profile, **claims})

    def _client(self, redirect_uri: str) -> Any:  # noqa: ANN401 - Authlib has no types
        return AsyncOAuth2Client(
            self._client_id,
            self._client_secret,
            token_endpoint_auth_method=self._client_authentication(),
            scope=_SCOPE,
            redirect_uri=redirect_uri,
            code_challenge_method="S256",
            timeout=REQUEST_TIMEOUT_S,
        )

    def _client_authentication(self) -> str:
        if self._client_secret is None:
            return "none"
        methods = self._metadata.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        return "client_secret_basic" if "client_secret_basic" in methods else "client_secret_post"

    async def _discover(self, max_age_s: float = _METADATA_S) -> dict[str, Any]:
        """Fetch the discovery document and the keys, unless they are recent."""
        if self._metadata and self._now() - self._fetched_at < max_age_s:
            return self._metadata
        async with httpx.AsyncClient(timeout=REQUEST_TIMEOUT_S) as client:
            metadata = await get_json(client, f"{self._issuer}/.well-known/openid-configuration")
            _check_metadata(metadata, self._issuer)
            self._keys = _import_keys(await get_json(client, metadata["jwks_uri"]), self._issuer)
        self._metadata, self._fetched_at = metadata, self._now()
        return self._metadata

    async def _fetch_token(
        self,
        client: Any,  # noqa: ANN401 - Authlib has no types
        code: str,
        transaction: SignInTransaction,
    ) -> Mapping[str, Any]:
        try:
            token: Mapping[str, Any] = await client.fetch_token(
                self._metadata["token_endpoint"], code=code, code_verifier=transaction.code_verifier
            )
        except OAuthError as error:
            raise SignInFailed(
                f"{self.name} rejected the sign-in: {error.description or error.error}.",
                hint="Sign in again. An operator can check WARMFRONT_OIDC_CLIENT_ID and its secret.",
            ) from None
        if not token.get("id_token"):
            raise SignInFailed(f"{self.name} sent no ID token.")
        return token

    async def _verified_claims(self, token: Mapping[str, Any], nonce: str) -> dict[str, Any]:
        """Return the claims of the ID token after checking signature, issuer, audience, times and nonce."""
        try:
            decoded = await self._decode(str(token["id_token"]))
            claims = CodeIDToken(
                decoded.claims,
                decoded.header,
                {
                    "iss": {"essential": True, "value": self._metadata["issuer"]},
                    "aud": {"essential": True, "value": self._client_id},
                },
                {"nonce": nonce, "client_id": self._client_id, "access_token": token.get("access_token")},
            )
            claims.validate(now=int(self._now()), leeway=_LEEWAY_S)
        except JoseError as error:
            raise SignInFailed(
                f"The ID token of {self.name} is not valid: {error.error} {error.description or ''}".rstrip(),
                hint="Sign in again. If it fails again, inform an operator: the token may be forged.",
            ) from None
        return dict(claims)

    async def _decode(self, id_token: str) -> jwt.Token:
        assert self._keys is not None  # noqa: S101 - `_discover` was called before
        try:
            return jwt.decode(id_token, self._keys, algorithms=_ALGORITHMS)
        except (JoseError, ValueError):
            # The issuer may have changed its keys since they were fetched.
            self._fetched_at = 0.0
            await self._discover()
        try:
            return jwt.decode(id_token, self._keys, algorithms=_ALGORITHMS)
        except ValueError as error:
            raise JoseError(str(error)) from None

    async def _profile(self, client: Any, subject: str) -> dict[str, Any]:  # noqa: ANN401 - Authlib has no types
        """Return the claims of the UserInfo endpoint; many issuers send name and address only there."""
        endpoint = self._metadata.get("userinfo_endpoint")
        if not endpoint:
            return {}
        profile = await get_json(client, endpoint)
        if not isinstance(profile, dict) or profile.get("sub") != subject:
            raise SignInFailed(f"The UserInfo of {self.name} is about a different person than its ID token.")
        return profile


def _check_metadata(metadata: Any, issuer: str) -> None:  # noqa: ANN401 - untrusted JSON
    needed = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")
    if not isinstance(metadata, dict) or not all(isinstance(metadata.get(name), str) for name in needed):
        raise IssuerUnavailable(
            f"The discovery document of {issuer} is incomplete.", hint="Check WARMFRONT_OIDC_ISSUER."
        )
    if metadata["issuer"].rstrip("/") != issuer:
        raise IssuerUnavailable(
            f"The discovery document of {issuer} names another issuer: {metadata['issuer'][:200]!r}.",
            hint="Set WARMFRONT_OIDC_ISSUER to the issuer's own name.",
        )


def _import_keys(document: Any, issuer: str) -> KeySet:  # noqa: ANN401 - untrusted JSON
    try:
        return KeySet.import_key_set(document)
    except (JoseError, KeyError, TypeError, ValueError) as error:
        raise IssuerUnavailable(f"The keys of {issuer} cannot be read: {error}.") from None


def _identity(issuer: str, claims: Mapping[str, Any]) -> Identity:
    def text(name: str) -> str:
        value = claims.get(name)
        return value.strip() if isinstance(value, str) else ""

    return Identity(
        issuer=issuer,
        subject=str(claims["sub"]),
        suggested_name=text("preferred_username") or text("nickname"),
        display_name=text("name"),
        email=text("email").lower() or None if claims.get("email_verified") is True else None,
    )
