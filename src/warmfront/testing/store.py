"""The real queries on the real tables, in memory and inline: a store for virtual time, without threads.

Each call passes a gate of faults, so that a store can be slow, away, or crash before or after its commit.
"""

from __future__ import annotations

import functools
import sqlite3
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import NullPool

from warmfront.errors import StoreUnavailable
from warmfront.store import schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from warmfront.testing.faults import Gate

P = ParamSpec("P")
T = TypeVar("T")


class MemoryDatabase:
    """An SQLite database in memory; it outlives every `InlineStore` on it."""

    def __init__(self) -> None:
        self.connection: Connection = _engine().connect()

    def run(self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a query in a transaction of its own, at once."""
        with self.connection.begin():
            return query(self.connection, *args, **kwargs)

    def count(self, statement: str) -> int:
        """The one number that this SQL gives; quicker than a query, for who looks at every step."""
        raw = self.connection.connection.driver_connection
        assert isinstance(raw, sqlite3.Connection)  # noqa: S101 - we made it
        return int(raw.execute(statement).fetchone()[0])

    def close(self) -> None:
        """Forget everything."""
        self.connection.close()


class InlineStore:
    """A `Store` on a `MemoryDatabase`, as one incarnation of the control plane sees it."""

    def __init__(self, database: MemoryDatabase, gate: Gate | None = None) -> None:
        """Without a gate nothing ever goes wrong."""
        self._database = database
        self._gate = gate

    async def read(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """What the query says."""
        return await self._run("read", query, *args, **kwargs)

    async def write(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """One transaction."""
        return await self._run("write", query, *args, **kwargs)

    async def close(self) -> None:
        """The database stays: another incarnation goes on with it."""

    async def _run(
        self, kind: str, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        if self._gate is None:
            return self._database.run(query, *args, **kwargs)
        call, detail = f"store.{kind}", _words(query, args)
        fault = await self._gate.before(call, detail, StoreUnavailable)
        result = self._database.run(query, *args, **kwargs)
        await self._gate.after(fault, call, detail, StoreUnavailable)
        return result


def _words(query: Callable[..., object], args: tuple[object, ...]) -> str:
    """A query for the trace: its name, and what it is about where that is an id."""
    name = getattr(query, "__name__", "query")
    about = args[0] if args else ""
    return f"{name} {about if isinstance(about, str) else getattr(about, 'id', '')}"


@functools.cache
def _engine() -> Engine:
    """One for the process: what it compiled once, no world compiles again."""
    template = _template()

    def connect() -> sqlite3.Connection:
        raw = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        raw.deserialize(template)
        raw.execute("PRAGMA foreign_keys = ON")
        return raw

    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool)
    event.listen(engine, "begin", _begin)
    return engine


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN")  # by ourselves: the driver would begin too late for a savepoint


def _template() -> bytes:
    """An empty database with every table."""
    raw = sqlite3.connect(":memory:", isolation_level=None)
    engine = create_engine("sqlite://", creator=lambda: raw, poolclass=NullPool)
    try:
        with engine.connect() as connection:
            schema.create_all(connection)
            connection.commit()
            return raw.serialize()
    finally:
        engine.dispose()
        raw.close()
