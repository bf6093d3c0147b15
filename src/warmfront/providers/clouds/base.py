"""Read the machines of an account from a cloud's own API. This module never changes anything in a cloud."""

from __future__ import annotations

from typing import Any, Protocol

import httpx

from warmfront.errors import ProviderError
from warmfront.value_class import dataclass

_TIMEOUT_S = 20.0


@dataclass(frozen=True, kw_only=True)
class CloudMachine:
    """A machine that the cloud has and bills."""

    backend: str  #: dstack's name for the cloud
    id: str  #: the cloud's own id, needed to delete the machine; dstack has it too
    name: str
    created_at: float | None = None  #: seconds since 1970; None if the cloud does not report it


@dataclass(frozen=True, kw_only=True)
class Lifetime:
    """The times at which a cloud created and ended a machine, by its own clock, in seconds since 1970."""

    created_at: float
    ended_at: float


class Cloud(Protocol):
    """An account of a cloud."""

    backend: str  #: dstack's name for the cloud

    async def machines(self) -> list[CloudMachine]:
        """Return all machines of the account.

        Raises:
            ProviderError: The cloud does not respond, or rejects the key.
        """

    async def lifetime(self, machine_id: str) -> Lifetime | None:
        """Return the lifetime of a machine that has ended; None if the cloud has not recorded both times.

        Raises:
            ProviderError: The cloud does not respond, or the key may not read its records.
        """

    async def close(self) -> None:
        """Close the connections."""


class CloudClient:
    """A read-only HTTP client of a cloud's API."""

    def __init__(self, backend: str, url: str, *, authorization: str, key_variable: str) -> None:
        self._backend = backend
        self._key_variable = key_variable
        self._http = httpx.AsyncClient(
            base_url=url, headers={"Authorization": authorization}, timeout=_TIMEOUT_S
        )

    async def get(self, path: str, **parameters: int) -> Any:  # noqa: ANN401 - JSON
        """Return the JSON of the API's response.

        Raises:
            ProviderError: The API does not respond, or responds with an error.
        """
        try:
            response = await self._http.get(path, params=parameters)
            if response.is_success:
                return response.json()
        except (httpx.HTTPError, ValueError) as error:
            raise ProviderError(
                f"The API of {self._backend} did not respond: {type(error).__name__}."
            ) from None
        hint = None
        if response.status_code in {401, 403}:
            hint = f"Set {self._key_variable} to a key that may read the machines of the account."
        raise ProviderError(
            f"The API of {self._backend} responded with status {response.status_code}.", hint=hint
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()
