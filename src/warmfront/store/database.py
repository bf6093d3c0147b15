"""The interface between the store and a database: run a query alone, or as one transaction.

Internal to `store/`: queries are functions of a SQLAlchemy connection, in the `*_queries` modules. The rest
of Warmfront calls the named methods of `warmfront.store.store.Store`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

P = ParamSpec("P")
T = TypeVar("T")


class Database(Protocol):
    """Runs queries. Raises `StoreUnavailable` where the database cannot be used."""

    async def read(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a query on a consistent snapshot. It must not write."""

    async def write(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a query in one transaction, committed when this returns.

        An exception of the query rolls back its changes and is raised. After `StoreUnavailable` nothing
        was written.
        """

    async def close(self) -> None:
        """Finish pending writes and close the connections."""
