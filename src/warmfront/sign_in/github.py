"""Sign-in with GitHub, which supports OAuth 2.0 but not OpenID Connect: its API returns who signed in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warmfront.errors import SignInFailed
from warmfront.sign_in.oauth_client import AsyncOAuth2Client, OAuthError
from warmfront.sign_in.provider import REQUEST_TIMEOUT_S, callback_code, get_json, issuer_requests
from warmfront.store.account_records import Identity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warmfront.sign_in.transaction import SignInTransaction

ISSUER = "https://github.com"
_API = "https://api.github.com"
_SCOPE = "read:user user:email"


class GithubProvider:
    """GitHub as an identity provider.

    Args:
        client_id: the id of the OAuth app.
        client_secret: its secret.
        name: the name on the page's sign-in button.
        site: the address of GitHub's pages.
        api: the address of its API.
    """

    def __init__(
        self,
        client_id: str,
        client_secret: str | None,
        *,
        name: str = "GitHub",
        site: str = ISSUER,
        api: str = _API,
    ) -> None:
        self.name = name
        self._client_id = client_id
        self._client_secret = client_secret
        self._site = site
        self._api = api

    async def authorization_url(self, transaction: SignInTransaction, redirect_uri: str) -> str:
        """Return the address at which the person signs in."""
        async with self._client(redirect_uri) as client:
            url, _ = client.create_authorization_url(
                f"{self._site}/login/oauth/authorize",
                state=transaction.state,
                code_verifier=transaction.code_verifier,
            )
        return str(url)

    async def identify(
        self, transaction: SignInTransaction, redirect_uri: str, parameters: Mapping[str, str]
    ) -> Identity:
        """Exchange the authorization code for an access token, and ask the API who signed in."""
        code = callback_code(transaction, parameters)
        async with issuer_requests(self.name), self._client(redirect_uri) as client:
            try:
                await client.fetch_token(
                    f"{self._site}/login/oauth/access_token",
                    code=code,
                    code_verifier=transaction.code_verifier,
                    headers={"Accept": "application/json"},
                )
            except OAuthError as error:
                raise SignInFailed(
                    f"GitHub rejected the sign-in: {error.description or error.error}.",
                    hint="Sign in again.",
                ) from None
            person = await get_json(client, f"{self._api}/user")
            emails = await get_json(client, f"{self._api}/user/emails")
        return self._identity(person, emails)

    def _client(self, redirect_uri: str) -> Any:  # noqa: ANN401 - Authlib has no types
        return AsyncOAuth2Client(
            self._client_id,
            self._client_secret,
            token_endpoint_auth_method="client_secret_post",  # noqa: S106 - the name of a method
            scope=_SCOPE,
            redirect_uri=redirect_uri,
            code_challenge_method="S256",
            timeout=REQUEST_TIMEOUT_S,
        )

    def _identity(self, person: Any, emails: Any) -> Identity:  # noqa: ANN401 - untrusted JSON
        if not isinstance(person, dict) or not isinstance(person.get("id"), int):
            raise SignInFailed("GitHub did not report who signed in.", hint="Sign in again.")
        primary = [
            entry["email"]
            for entry in (emails if isinstance(emails, list) else [])
            if isinstance(entry, dict) and entry.get("primary") is True and entry.get("verified") is True
        ]
        return Identity(
            issuer=ISSUER,
            subject=str(person["id"]),  # a login can be renamed and reused, the id cannot
            suggested_name=str(person.get("login") or ""),
            display_name=str(person.get("name") or ""),
            email=str(primary[0]).lower() if primary else None,
        )
