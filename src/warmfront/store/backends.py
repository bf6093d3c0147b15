"""The two databases: how a connection to each is made, and how one service keeps it to itself.

Nothing here knows a table. SQLite is locked by a file beside it, PostgreSQL by an advisory lock of the
writer's own session: a writer that lost its connection has lost the lock too, and cannot write without it.
"""

from __future__ import annotations

import fcntl
import os
import socket
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from sqlalchemy import URL, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, OperationalError
from sqlalchemy.pool import NullPool, QueuePool, StaticPool

from warmfront.errors import BadSetting, StoreUnavailable
from warmfront.store.failures import is_cut, name_of

if TYPE_CHECKING:
    from typing import IO

    from sqlalchemy import Connection, Engine

    from warmfront.settings import Settings

#: Reads at once, each on a connection of its own.
READERS = 4
_BUSY_TIMEOUT_S = 5
_CONNECT_TIMEOUT_S = 5
_LOCK_PATIENCE_S = 2
#: Says which of a database's advisory locks is ours: "warmfron" in ASCII.
_LOCK_KEY = int.from_bytes(b"warmfron", "big", signed=True)


class Backend(Protocol):
    """A database that the store can be kept in."""

    url: URL

    def prepare(self) -> None:
        """Make what must be there before the first connection."""

    def writer(self) -> Engine:
        """For the one connection that writes."""

    def reader(self) -> Engine:
        """For connections that cannot write."""

    def is_current(self, opened: object) -> bool:
        """Whether a connection opened then still leads to the database; `mark` gives `opened`."""

    def mark(self) -> object:
        """What tells this database from another one put in its place."""

    def hold(self, connection: Connection) -> None:
        """Keep every other service out, or raise `StoreUnavailable` that says who is in."""

    def let_go(self) -> None:
        """End the hold, where closing the connection does not."""

    def ticket(self, connection: Connection) -> int | None:
        """By what to ask later whether this transaction came through; None where a commit tells for sure."""

    def came_through(self, connection: Connection, ticket: int) -> bool | None:
        """Whether that transaction is committed; None if it is not decided yet."""


def backend_of(settings: Settings) -> Backend:
    """The database that the settings name: SQLite in the data directory, if none."""
    if settings.database_url is None:
        return Sqlite(settings.data_dir / "warmfront.db")
    try:
        url = make_url(settings.database_url)
    except (ArgumentError, ValueError):
        # The parser's own words may repeat the address, password and all.
        raise _bad_url("cannot be read as an address") from None
    if url.get_backend_name() == "postgresql":
        return Postgres(url)
    if not url.database or url.database == ":memory:":
        raise _bad_url("names no file")
    return Sqlite(Path(url.database).absolute())


def _bad_url(problem: str) -> BadSetting:
    return BadSetting(
        f"WARMFRONT_DATABASE_URL {problem}.",
        hint="Such as postgresql://user:password@host/name or sqlite:////path/to/file.db; "
        "write special characters of a password as %40 and the like.",
    )


class Sqlite:
    """A file, in WAL mode: readers never wait for the writer."""

    def __init__(self, path: Path) -> None:
        self.url = URL.create("sqlite", database=str(path))
        self._path = path
        self._lock: IO[str] | None = None

    def prepare(self) -> None:
        """Make the file and its directory; only its owner may read it."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.touch(mode=0o600)
        except OSError as error:
            raise StoreUnavailable(
                f"The database {self._path} cannot be made: {error.strerror}.",
                hint="Set WARMFRONT_DATA_DIR to a directory that this user may write.",
            ) from None

    def writer(self) -> Engine:
        """A write is durable against the death of any process; WAL is synced at each checkpoint."""
        engine = create_engine("sqlite://", creator=self._connect, poolclass=NullPool, hide_parameters=True)
        pragmas = ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON")
        return _with_transactions(engine, "BEGIN IMMEDIATE", pragmas)

    def reader(self) -> Engine:
        """Each read sees one moment."""
        engine = create_engine(
            "sqlite://",
            creator=self._connect,
            poolclass=QueuePool,
            pool_size=READERS,
            max_overflow=0,
            hide_parameters=True,
        )
        return _with_transactions(engine, "BEGIN", ("query_only = ON",))

    def _connect(self) -> sqlite3.Connection:
        # `rw`, not `rwc`: a file that is gone must not come back empty.
        return sqlite3.connect(
            f"file:{quote(str(self._path))}?mode=rw",
            uri=True,
            timeout=_BUSY_TIMEOUT_S,
            check_same_thread=False,
        )

    def mark(self) -> object:
        """Which file it is: writing to one that was moved away or deleted succeeds, and is lost."""
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def is_current(self, opened: object) -> bool:
        """Whether the same file is still in its place."""
        return self.mark() == opened

    def hold(self, connection: Connection) -> None:
        """A lock on a file, which ends with this process however it ends."""
        del connection
        if self._lock is not None:
            return
        lock = Path(f"{self._path}.lock").open("a+", encoding="utf-8")  # noqa: SIM115 - held, not used
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.seek(0)
            holder = lock.read().strip() or "another process"
            lock.close()
            raise _held(name_of(self.url), holder) from None
        lock.truncate(0)
        lock.write(f"{_own_name()}\n")
        lock.flush()
        self._lock = lock

    def ticket(self, connection: Connection) -> int | None:
        """A commit that failed here did not happen."""
        del connection
        return None

    def came_through(self, connection: Connection, ticket: int) -> bool | None:
        """Never asked."""
        raise NotImplementedError(connection, ticket)

    def let_go(self) -> None:
        """Close the lock's file."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def memory_engine() -> Engine:
    """SQLite in memory on one connection, with real transactions: for simulations, with no threads."""
    engine = create_engine(
        "sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False}, hide_parameters=True
    )
    return _with_transactions(engine, "BEGIN", ())


def _with_transactions(engine: Engine, begin: str, pragmas: tuple[str, ...]) -> Engine:
    """Begin each transaction ourselves: Python's driver begins late, and not at all before a SAVEPOINT."""

    def on_connect(connection: Any, _record: object) -> None:  # noqa: ANN401 - SQLAlchemy's wrapper of a driver's
        connection.isolation_level = None
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}").close()

    def on_begin(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    event.listen(engine, "connect", on_connect)
    event.listen(engine, "begin", on_begin)
    return engine


class Postgres:
    """A server. A host that dies without a word is noticed, by both sides, within a minute."""

    def __init__(self, url: URL) -> None:
        self.url = url.set(drivername="postgresql+psycopg")
        ours = {
            "application_name": _own_name()[:63],
            "connect_timeout": str(_CONNECT_TIMEOUT_S),
            "keepalives_idle": "10",
            "keepalives_interval": "5",
            "keepalives_count": "3",
            "tcp_user_timeout": "20000",
        }
        self._url = self.url.set(query={**ours, **self.url.query})

    def prepare(self) -> None:
        """Nothing: an operator made the database."""

    def writer(self) -> Engine:
        """Its one connection holds the lock."""
        engine = create_engine(self._url, poolclass=NullPool, hide_parameters=True)
        event.listen(engine, "connect", _limit_session)
        return engine

    def reader(self) -> Engine:
        """Each read sees one moment."""
        engine = create_engine(
            self._url,
            pool_size=READERS,
            max_overflow=0,
            hide_parameters=True,
            isolation_level="REPEATABLE READ",
            execution_options={"postgresql_readonly": True},
        )
        event.listen(engine, "connect", _limit_session)
        return engine

    def ticket(self, connection: Connection) -> int | None:
        """The server's own number of the transaction."""
        return connection.exec_driver_sql("SELECT txid_current()").scalar_one()  # type: ignore[no-any-return]  # bigint

    def came_through(self, connection: Connection, ticket: int) -> bool | None:
        """The server remembers for long enough."""
        status = connection.execute(text("SELECT txid_status(:ticket)"), {"ticket": ticket}).scalar_one()
        return None if status == "in progress" else status == "committed"

    def mark(self) -> object:
        """A connection that is not to the server any more says so itself."""
        return None

    def is_current(self, opened: object) -> bool:
        """See `mark`."""
        return opened is None

    def hold(self, connection: Connection) -> None:
        """An advisory lock, which ends with this session however it ends.

        It waits a little: the server may need a moment to see that the process before this one is dead.
        """
        try:
            connection.execute(text(f"SET LOCAL lock_timeout = '{_LOCK_PATIENCE_S}s'"))
            connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": _LOCK_KEY})
            connection.commit()
        except OperationalError as error:
            if is_cut(error):
                raise
            connection.rollback()
            holder = connection.execute(_HOLDER, {"key": _LOCK_KEY}).scalar() or "another service"
            raise _held(name_of(self.url), holder) from None

    def let_go(self) -> None:
        """Closing the connection does it."""


_HOLDER = text("""
    SELECT application_name || ' from ' || coalesce(host(client_addr), 'the local socket')
    FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND granted AND pg_locks.database = (
        SELECT oid FROM pg_database WHERE datname = current_database()
    ) AND classid = (CAST(:key AS bigint) >> 32) AND objid = (CAST(:key AS bigint) & 4294967295)
""")


def _limit_session(connection: Any, _record: object) -> None:  # noqa: ANN401 - SQLAlchemy's wrapper of a driver's
    """So that the server frees the lock of a host that died, and no statement hangs for ever."""
    connection.autocommit = True
    connection.execute(
        "SELECT set_config('tcp_keepalives_idle', '10', false),"
        " set_config('tcp_keepalives_interval', '5', false),"
        " set_config('tcp_keepalives_count', '3', false),"
        " set_config('statement_timeout', '30s', false)"
    )
    connection.autocommit = False


def _held(database: str, holder: str) -> StoreUnavailable:
    return StoreUnavailable(
        f"The database {database} is in use by {holder}.",
        hint="One service works on a database at a time: stop that one, or give this one "
        "a WARMFRONT_DATA_DIR or WARMFRONT_DATABASE_URL of its own.",
    )


def _own_name() -> str:
    return f"warmfront, process {os.getpid()} on {socket.gethostname()}"
