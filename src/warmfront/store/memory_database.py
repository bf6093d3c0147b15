"""SQLite in memory as a `Database`, without threads: for simulations and replays in virtual time.

It runs the real queries on the real tables. SQLAlchemy compiles each statement once per process. After that,
statements go directly to the SQLite driver through `_PreparedConnection`, which implements the part of
SQLAlchemy's connection that our queries use. SQLAlchemy's own execution takes longer: `python -m
bench.replay` prints the ratio of the two for the same replay.
"""

from __future__ import annotations

import functools
import sqlite3
from collections import namedtuple
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Concatenate, cast

from sqlalchemy import create_engine
from sqlalchemy.dialects import sqlite
from sqlalchemy.pool import NullPool, StaticPool

from warmfront.store import schema
from warmfront.store.event_queries import INSERT_EVENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from sqlalchemy import Connection
    from sqlalchemy.sql import Executable
    from sqlalchemy.sql.compiler import SQLCompiler

    from warmfront.store.database import P, T

_DIALECT = sqlite.dialect(paramstyle="qmark")
#: More statements than this are compiled only if queries are built dynamically; then the cache is cleared.
_MAX_PREPARED = 512


class MemoryDatabase:
    """An SQLite database in memory.

    Args:
        for_replay: omit what a replay does not need, for speed: rollback, events, and the indexes for lists
            and leaderboards.

    Example:
        >>> store = Store(MemoryDatabase())
    """

    def __init__(self, *, for_replay: bool = False) -> None:
        self._raw = sqlite3.connect(
            ":memory:", isolation_level=None, check_same_thread=False, cached_statements=512
        )
        self._raw.deserialize(_empty_database())
        self._engine = create_engine("sqlite://", creator=lambda: self._raw, poolclass=StaticPool)
        self._sqlalchemy = self._engine.connect()
        self._has_transactions = not for_replay
        discarded = frozenset({INSERT_EVENT}) if for_replay else frozenset()
        self._connection = cast("Connection", _PreparedConnection(self._raw, self._sqlalchemy, discarded))
        if for_replay:
            for name in _UNUSED_INDEXES:
                self._raw.execute(f"DROP INDEX {name}")
            self._raw.execute("PRAGMA journal_mode = OFF")
            self._raw.execute("BEGIN")  # never committed: no other connection reads this database
        else:
            self._raw.execute("PRAGMA foreign_keys = ON")

    def run(self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a query synchronously in its own transaction."""
        if not self._has_transactions:
            return query(self._connection, *args, **kwargs)
        self._raw.execute("BEGIN")
        try:
            result = query(self._connection, *args, **kwargs)
        except BaseException:
            self._raw.execute("ROLLBACK")
            raise
        self._raw.execute("COMMIT")
        return result

    async def read(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a query."""
        return self.run(query, *args, **kwargs)

    async def write(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a query in one transaction."""
        return self.run(query, *args, **kwargs)

    async def close(self) -> None:
        """Do nothing: the contents are read after the service has stopped. `dispose` frees the memory."""

    def count(self, statement: str) -> int:
        """Return the number that an SQL statement selects."""
        return int(self._raw.execute(statement).fetchone()[0])

    def dispose(self) -> None:
        """Free the memory."""
        self._sqlalchemy.close()
        self._engine.dispose()
        self._raw.close()


@functools.cache
def _empty_database() -> bytes:
    """Return the image of an empty database with all tables: loading it is faster than creating them."""
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


#: Indexes for lists and leaderboards, which a replay does not have.
_UNUSED_INDEXES = (
    "ix_submissions_owner_idempotency_key",
    "ix_submissions_owner_created_at_id",
    "ix_submissions_created_at_id",
    "ix_submissions_state_created_at",
    "ix_submissions_verdict_attempts",
    "ix_submissions_problem_verdict",
    "ix_submissions_finished_at",
    "ix_attempts_outcome_started_at",
    "ix_attempts_submission_id_number",
    "ix_ledger_owner_started_at",
    "ix_ledger_day",
    "ix_vms_state_created_at",
    "ix_vms_created_at",
)


class _PreparedConnection:
    """The part of SQLAlchemy's `Connection` that our queries use, on prepared statements."""

    def __init__(
        self, raw: sqlite3.Connection, sqlalchemy: Connection, discarded: frozenset[Executable]
    ) -> None:
        self._raw = raw
        self._sqlalchemy = sqlalchemy
        self._discarded = discarded

    def execute(self, statement: Executable, parameters: Any = None) -> Any:  # noqa: ANN401 - as SQLAlchemy's
        """Run a statement once, or once for each item of a list of parameters."""
        if statement in self._discarded:
            return None
        rows = parameters if isinstance(parameters, list) else [parameters or {}]
        prepared = _prepared.get((statement, bool(rows[0]))) or _prepare(statement, rows[0])
        if prepared.is_dynamic:
            return self._sqlalchemy.execute(statement, parameters)
        for row in rows:
            cursor = self._raw.execute(prepared.sql, prepared.bind(row))
        return _Result(cursor, prepared)


def _prepare(statement: Executable, row: Mapping[str, Any]) -> _PreparedStatement:
    if len(_prepared) >= _MAX_PREPARED:
        _prepared.clear()
    compiled = cast("SQLCompiler", statement.compile(dialect=_DIALECT, column_keys=list(row)))  # type: ignore[attr-defined]
    prepared = _prepared[statement, bool(row)] = _PreparedStatement(compiled)
    return prepared


class _PreparedStatement:
    """A compiled statement, with the conversions of its parameters and results."""

    def __init__(self, compiled: SQLCompiler) -> None:
        self.sql = compiled.string
        #: Whether lists of values are rendered into the text of the statement at every execution.
        self.is_dynamic = bool(compiled.post_compile_params or compiled.literal_execute_params)
        self._defaults = dict(compiled.params)
        inward = compiled._bind_processors  # noqa: SLF001 - as SQLAlchemy's own execution accesses them
        self._inward = [(name, cast("Callable[[Any], Any]", convert)) for name, convert in inward.items()]
        self._ordered = _picker(compiled.positiontup or ())
        columns = compiled._result_columns  # noqa: SLF001 - like the bind processors
        self.outward = [column.type.result_processor(_DIALECT, None) for column in columns]
        self.converts = any(self.outward)
        self.row = _row_type([column.keyname for column in columns]) if columns else None

    def bind(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the parameters in the order of the statement's placeholders."""
        values = {**self._defaults, **row}
        for name, convert in self._inward:
            values[name] = convert(values[name])
        return self._ordered(values)


#: By statement and whether it has parameters: an insert or update without them sets different columns.
_prepared: dict[tuple[Executable, bool], _PreparedStatement] = {}


def _picker(names: Sequence[str]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    """Return a function that picks these values from a mapping, as a tuple."""
    if len(names) > 1:
        return itemgetter(*names)
    return lambda values: tuple(values[name] for name in names)


def _row_type(names: Iterable[str]) -> type:
    base = namedtuple("Row", names, rename=True)  # type: ignore[misc]  # noqa: PYI024 - the fields are a query's
    return type("Row", (base,), {"_mapping": property(lambda row: row._asdict())})


class _Result:
    """The part of SQLAlchemy's `Result` that our queries use."""

    def __init__(self, cursor: sqlite3.Cursor, prepared: _PreparedStatement) -> None:
        self._cursor = cursor
        self._prepared = prepared
        self.rowcount = cursor.rowcount

    def __iter__(self) -> Iterator[Any]:
        return (self._row(values) for values in self._cursor)

    def all(self) -> list[Any]:
        return list(self)

    def first(self) -> Any:  # noqa: ANN401 - a row
        values = self._cursor.fetchone()
        return None if values is None else self._row(values)

    one = first

    def scalar(self) -> Any:  # noqa: ANN401 - a value
        row = self.first()
        return None if row is None else row[0]

    scalar_one = scalar

    def _row(self, values: Sequence[Any]) -> Any:  # noqa: ANN401 - a row
        prepared = self._prepared
        if prepared.converts:
            pairs = zip(values, prepared.outward, strict=True)
            values = [value if convert is None else convert(value) for value, convert in pairs]
        return values if prepared.row is None else prepared.row._make(values)  # type: ignore[attr-defined]
