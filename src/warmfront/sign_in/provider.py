"""The interface of an identity provider, and the choice of one from the settings."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol

import httpx

from warmfront.errors import IssuerUnavailable, SignInFailed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from warmfront.settings import Settings
    from warmfront.sign_in.transaction import SignInTransaction
    from warmfront.store.account_records import Identity

#: The issuer of Google, by the name of its preset.
GOOGLE_ISSUER = "https://accounts.google.com"

#: Seconds for one request to the issuer. A person waits for it.
REQUEST_TIMEOUT_S = 20.0


class IdentityProvider(Protocol):
    """A service at which people sign in."""

    name: str  #: as the page's button calls it, such as `GitHub`

    async def authorization_url(self, transaction: SignInTransaction, redirect_uri: str) -> str:
        """Return the address at which the person signs in.

        Raises:
            IssuerUnavailable: the issuer does not respond.
        """

    async def identify(
        self, transaction: SignInTransaction, redirect_uri: str, parameters: Mapping[str, str]
    ) -> Identity:
        """Return the person who signed in, from the parameters of the callback.

        Raises:
            SignInFailed: the sign-in was aborted, or a token is not valid.
            IssuerUnavailable: the issuer does not respond.
        """


def open_identity_provider(settings: Settings) -> IdentityProvider | None:
    """Return the identity provider of the settings; None if none is set."""
    if settings.oidc_issuer is None:
        return None
    # Imported here: a service without sign-in does not need the library.
    from warmfront.sign_in.github import GithubProvider  # noqa: PLC0415 - see above
    from warmfront.sign_in.oidc import OidcProvider  # noqa: PLC0415 - see above

    client_id, secret = settings.oidc_client_id or "", settings.oidc_client_secret
    if settings.oidc_issuer == "github":
        return GithubProvider(client_id, secret, name=settings.oidc_name or "GitHub")
    if settings.oidc_issuer == "google":
        return OidcProvider(GOOGLE_ISSUER, client_id, secret, name=settings.oidc_name or "Google")
    name = settings.oidc_name or httpx.URL(settings.oidc_issuer).host
    return OidcProvider(settings.oidc_issuer, client_id, secret, name=name)


def callback_code(
    transaction: SignInTransaction, parameters: Mapping[str, str], *, issuer: str | None = None
) -> str:
    """Return the authorization code of a callback, or raise `SignInFailed`.

    Args:
        transaction: the sign-in that this browser has started.
        parameters: the parameters of the callback.
        issuer: the issuer, to compare with the parameter `iss` (RFC 9207) if it is present.
    """
    if not transaction.matches(parameters.get("state", "")):
        raise SignInFailed("The sign-in was started in another browser or tab.", hint="Sign in again.")
    if error := parameters.get("error"):
        reason = parameters.get("error_description") or error
        raise SignInFailed(f"The sign-in was not completed: {reason[:200]}.", hint="Sign in again.")
    if issuer is not None and parameters.get("iss", issuer) != issuer:
        raise SignInFailed("The response is from another issuer.", hint="Sign in again.")
    if not (code := parameters.get("code")):
        raise SignInFailed("The issuer's response has no authorization code.", hint="Sign in again.")
    return code


@asynccontextmanager
async def issuer_requests(name: str) -> AsyncIterator[None]:
    """Raise `IssuerUnavailable` if a request in the block fails."""
    try:
        async with asyncio.timeout(REQUEST_TIMEOUT_S):
            yield
    except (httpx.HTTPError, TimeoutError, ValueError) as error:
        reason = f"{type(error).__name__}: {error}".rstrip(": ")
        raise IssuerUnavailable(
            f"Sign-in with {name} is unavailable: {reason}.",
            hint="Try again in a minute. API keys work without it.",
        ) from error


async def get_json(client: httpx.AsyncClient, url: str, **options: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return the JSON of a successful response."""
    response = await client.get(url, **options)
    response.raise_for_status()
    return response.json()
