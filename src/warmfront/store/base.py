"""What the rest of Warmfront asks of a store: to run a query, alone or as one transaction.

Queries are plain functions of a connection, in the modules beside this one; nothing here knows what they say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

P = ParamSpec("P")
T = TypeVar("T")


class Store(Protocol):
    """Where everything is kept that must survive. A database that cannot do it raises `StoreUnavailable`."""

    async def read(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """What the query says of one moment. It must not write."""

    async def write(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run the query in one transaction: all of it or nothing, and on disk when this returns.

        An error of the query's own undoes it and is raised. After `StoreUnavailable` nothing was written.
        """

    async def close(self) -> None:
        """Finish the writes that wait, and let go of the database."""
