"""The real queries on the real tables, in memory, for one who asks a million times and never looks back.

It stands in for SQLAlchemy's connection: a statement is compiled once, by SQLAlchemy, and from then on goes
straight to SQLite. Nothing is ever rolled back, so it is of no use where something may fail.
"""

from __future__ import annotations

import sqlite3
from collections import namedtuple
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

from sqlalchemy import create_engine
from sqlalchemy.dialects import sqlite
from sqlalchemy.pool import StaticPool

from warmfront.store import log, schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from sqlalchemy import Connection
    from sqlalchemy.sql import Executable
    from sqlalchemy.sql.compiler import SQLCompiler

P = ParamSpec("P")
T = TypeVar("T")

_DIALECT = sqlite.dialect(paramstyle="qmark")


class QuickDatabase:
    """An SQLite database in memory, and a `Store` on it."""

    def __init__(self) -> None:
        self._raw = sqlite3.connect(":memory:", isolation_level=None, cached_statements=512)
        self._engine = create_engine("sqlite://", creator=lambda: self._raw, poolclass=StaticPool)
        self._connection = self._engine.connect()
        schema.create_all(self._connection)
        for name in _UNUSED_INDEXES:
            self._raw.execute(f"DROP INDEX {name}")
        self._connection.commit()
        self._raw.execute("PRAGMA journal_mode = OFF")
        self._raw.execute("BEGIN")  # and no end: there is nobody to commit to
        self._quick = cast("Connection", _QuickConnection(self._raw, self._connection))

    def run(self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a query, at once."""
        return query(self._quick, *args, **kwargs)

    async def read(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """What the query says."""
        return query(self._quick, *args, **kwargs)

    async def write(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As `read`: nobody else looks, and nothing fails."""
        return query(self._quick, *args, **kwargs)

    async def close(self) -> None:
        """It stays until it is forgotten: what came of a life is read after its end."""

    def forget(self) -> None:
        """Give the memory back."""
        self._connection.close()
        self._engine.dispose()
        self._raw.close()


#: Those that serve pages and boards; a replay has neither, and would keep them up to date for nobody.
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


class _QuickConnection:
    """As much of a connection as our queries use."""

    def __init__(self, raw: sqlite3.Connection, slow: Connection) -> None:
        self._raw = raw
        self._slow = slow
        self._prepared: dict[tuple[int, bool], _Prepared] = {}
        #: Nobody follows a replayed submission, so that its events are not kept.
        self._unread = id(log._INSERT)  # noqa: SLF001 - the one statement that writes them

    def execute(self, statement: Executable, parameters: Any = None) -> Any:  # noqa: ANN401 - as the real one
        """Run one statement, or, with a list, the same one for each."""
        if id(statement) == self._unread:
            return None
        rows = parameters if isinstance(parameters, list) else [parameters or {}]
        prepared = self._prepared.get((id(statement), bool(rows[0]))) or self._prepare(statement, rows[0])
        if prepared.is_odd:
            return self._slow.execute(statement, parameters)
        for row in rows:
            cursor = self._raw.execute(prepared.sql, prepared.bind(row))
        return _Result(cursor, prepared)

    def _prepare(self, statement: Executable, row: Mapping[str, Any]) -> _Prepared:
        compiled = cast("SQLCompiler", statement.compile(dialect=_DIALECT, column_keys=list(row)))  # type: ignore[attr-defined]
        prepared = self._prepared[id(statement), bool(row)] = _Prepared(statement, compiled)
        return prepared


class _Prepared:
    """A compiled statement, with what is done to each value on its way in and out."""

    def __init__(self, statement: Executable, compiled: SQLCompiler) -> None:
        self.statement = statement  # kept, so that its id is not another's
        self.sql = compiled.string
        #: Lists of values become part of the text of such a statement each time.
        self.is_odd = bool(compiled.post_compile_params or compiled.literal_execute_params)
        self._defaults = dict(compiled.params)
        inward = compiled._bind_processors  # noqa: SLF001 - how SQLAlchemy's own execution gets at them
        self._inward = [(name, cast("Callable[[Any], Any]", convert)) for name, convert in inward.items()]
        self._order = _in_order(compiled.positiontup or ())
        columns = compiled._result_columns  # noqa: SLF001 - as above
        self.outward = [column.type.result_processor(_DIALECT, None) for column in columns]
        self.converts = any(self.outward)
        self.row = _row_type([column.keyname for column in columns])

    def bind(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        """The values in the order in which the statement wants them."""
        values = {**self._defaults, **row}
        for name, convert in self._inward:
            values[name] = convert(values[name])
        return self._order(values)


def _in_order(names: Sequence[str]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    """Those of a mapping's values, as a tuple."""
    if len(names) > 1:
        return itemgetter(*names)
    return lambda values: tuple(values[name] for name in names)


def _row_type(names: Iterable[str]) -> type:
    base = namedtuple("Row", names, rename=True)  # type: ignore[misc]  # noqa: PYI024 - its fields are a query's
    return type("Row", (base,), {"_mapping": property(lambda row: row._asdict())})


class _Result:
    """As much of a result as our queries use."""

    def __init__(self, cursor: sqlite3.Cursor, prepared: _Prepared) -> None:
        self._cursor = cursor
        self._prepared = prepared
        self.rowcount = cursor.rowcount

    def __iter__(self) -> Iterator[Any]:
        return (self._row(values) for values in self._cursor)

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
        return prepared.row._make(values)  # type: ignore[attr-defined]
