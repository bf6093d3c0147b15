"""A database for callers that cannot continue without it: retries with exponential backoff."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Concatenate

from warmfront.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from sqlalchemy import Connection

    from warmfront.store.database import Database, P, T

log = logging.getLogger(__name__)

_FIRST_BACKOFF_S = 0.05
_LONGEST_BACKOFF_S = 5.0


class RetryingDatabase:
    """Repeats each query until the database accepts it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a query; retry while the database is unavailable."""
        return await _retry(lambda: self._database.read(query, *args, **kwargs))

    async def write(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a transaction; retry while the database is unavailable."""
        return await _retry(lambda: self._database.write(query, *args, **kwargs))

    async def close(self) -> None:
        """Do nothing: the wrapped database has its own owner."""


async def _retry(call: Callable[[], Awaitable[T]]) -> T:
    backoff_s = _FIRST_BACKOFF_S
    while True:
        try:
            return await call()
        except StoreUnavailable as error:
            log.warning("database unavailable: %s; retrying in %.2f s", error.message, backoff_s)
            await asyncio.sleep(backoff_s)
            backoff_s = min(2 * backoff_s, _LONGEST_BACKOFF_S)
