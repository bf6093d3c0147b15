"""The interface between the store and a database, and a wrapper that retries with exponential backoff.

Internal to `store/`: queries are functions of a SQLAlchemy connection, in the `*_queries` modules. Other
packages call the named methods of `warmfront.store.store.Store`.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

from warmfront.errors import StoreUnavailable, Superseded

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from sqlalchemy import Connection

P = ParamSpec("P")
T = TypeVar("T")

log = logging.getLogger(__name__)

_FIRST_BACKOFF_S = 0.05
_LONGEST_BACKOFF_S = 5.0


class Database(Protocol):
    """A database that runs queries. Methods raise `StoreUnavailable` if it cannot be used."""

    async def read(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a read-only query on a consistent snapshot."""

    async def write(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a query in one transaction, committed when this returns.

        If the query raises an exception, its changes are rolled back and the exception is raised here. After
        `StoreUnavailable`, nothing was written.
        """

    async def close(self) -> None:
        """Finish pending writes and close the connections."""


class RetryingDatabase:
    """A database for callers that cannot continue without it. It retries a query until it succeeds."""

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
    """Repeat a call until the database is available. Never return if another service has taken over."""
    backoff_s = _FIRST_BACKOFF_S
    while True:
        try:
            return await call()
        except Superseded:
            # The caller must not act on this, not even by handling an error; the process is about to exit.
            await asyncio.Event().wait()
        except StoreUnavailable as error:
            log.warning("database unavailable: %s; retrying in %.2f s", error.message, backoff_s)
            await asyncio.sleep(backoff_s)
            backoff_s = min(2 * backoff_s, _LONGEST_BACKOFF_S)
