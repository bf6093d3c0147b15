"""The two database backends: how a service connects to each and locks it.

SQLite is locked with a file next to it, PostgreSQL with an advisory lock in the writer's own session: a
writer that loses its connection also loses the lock, and cannot write without it. A writer that no longer
sends anything loses it too, after the lock timeout. This module does not refer to any table.
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
from sqlalchemy.pool import NullPool, QueuePool

from warmfront.errors import BadSetting, StoreLocked, StoreUnavailable
from warmfront.store.database_errors import is_cut, name_of

if TYPE_CHECKING:
    from typing import IO

    from sqlalchemy import Connection, Engine

    from warmfront.settings import Settings

#: Concurrent reads, each on its own connection.
READERS = 4
_BUSY_TIMEOUT_S = 5
_CONNECT_TIMEOUT_S = 5
_LOCK_WAIT_S = 2
_KEEPALIVE_IDLE_S = 5
_KEEPALIVE_INTERVAL_S = 2
_KEEPALIVE_COUNT = 3
#: Keepalives are not sent while data waits to be acknowledged, so unacknowledged data has its own limit.
_UNACKNOWLEDGED_MS = 1000 * (_KEEPALIVE_IDLE_S + _KEEPALIVE_INTERVAL_S * _KEEPALIVE_COUNT)
#: The key of our advisory lock: "warmfron" in ASCII.
_LOCK_KEY = int.from_bytes(b"warmfron", "big", signed=True)


class Backend(Protocol):
    """A kind of database."""

    url: URL

    def prepare(self) -> None:
        """Create the files and directories that must exist before the first connection."""

    def writer(self) -> Engine:
        """Return an engine for the one connection that writes."""

    def reader(self) -> Engine:
        """Return an engine for read-only connections."""

    def is_current(self, identity: object) -> bool:
        """Return whether the database is still the one with this `identity`."""

    def identity(self) -> object:
        """Return a value that changes if this database is replaced by another."""

    def lock(self, connection: Connection) -> None:
        """Lock out other services. Raises `StoreLocked`, which names the holder of the lock."""

    def unlock(self) -> None:
        """Release the lock, if closing the connection does not."""

    def ticket(self, connection: Connection) -> int | None:
        """Return an id with which to check later whether this transaction was committed.

        None if not needed.
        """

    def was_committed(self, connection: Connection, ticket: int) -> bool | None:
        """Return whether the transaction with this ticket was committed; None while it is in progress."""


def backend_of(settings: Settings) -> Backend:
    """Return the configured backend; by default SQLite in the data directory."""
    if settings.database_url is None:
        return Sqlite(settings.data_dir / "warmfront.db")
    try:
        url = make_url(settings.database_url)
    except (ArgumentError, ValueError):
        # The parser's message may repeat the URL with its password.
        raise _bad_url("is not a database URL") from None
    if url.get_backend_name() == "postgresql":
        return Postgres(url, timeout_s=settings.lock_timeout_s)
    if not url.database or url.database == ":memory:":
        raise _bad_url("does not name a file")
    return Sqlite(Path(url.database).absolute())


def _bad_url(problem: str) -> BadSetting:
    return BadSetting(
        f"WARMFRONT_DATABASE_URL {problem}.",
        hint="Use the form postgresql://user:password@host/name or sqlite:////path/to/file.db; "
        "percent-encode special characters of the password, such as %40 for @.",
    )


class Sqlite:
    """An SQLite file in WAL mode: readers never wait for the writer."""

    def __init__(self, path: Path) -> None:
        self.url = URL.create("sqlite", database=str(path))
        self._path = path
        self._lock: IO[str] | None = None

    def prepare(self) -> None:
        """Create the file, readable by its owner only, and its directory."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.touch(mode=0o600)
        except OSError as error:
            raise StoreUnavailable(
                f"Cannot create the database {self._path}: {error.strerror}.",
                hint="Set WARMFRONT_DATA_DIR to a directory that this user can write to.",
            ) from None

    def writer(self) -> Engine:
        """Return an engine whose commits survive a crash of the process. WAL is synced at each checkpoint."""
        engine = create_engine("sqlite://", creator=self._connect, poolclass=NullPool, hide_parameters=True)
        pragmas = ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON")
        return _with_transactions(engine, "BEGIN IMMEDIATE", pragmas)

    def reader(self) -> Engine:
        """Return an engine whose reads each see a consistent snapshot."""
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
        # `rw`, not `rwc`: a deleted file must not be recreated empty.
        return sqlite3.connect(
            f"file:{quote(str(self._path))}?mode=rw",
            uri=True,
            timeout=_BUSY_TIMEOUT_S,
            check_same_thread=False,
        )

    def identity(self) -> object:
        """Return the device and inode, because writes to a moved or deleted file succeed but are lost."""
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def is_current(self, identity: object) -> bool:
        """Return whether the path still names the same file."""
        return self.identity() == identity

    def lock(self, connection: Connection) -> None:
        """Lock a file next to the database. The lock ends with this process, even if it crashes."""
        del connection
        if self._lock is not None:
            return
        lock = Path(f"{self._path}.lock").open("a+", encoding="utf-8")  # noqa: SIM115 - it stays open while the lock is held
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.seek(0)
            holder = lock.read().strip() or "another process"
            lock.close()
            raise _locked_by(name_of(self.url), holder) from None
        lock.truncate(0)
        lock.write(f"{_own_name()}\n")
        lock.flush()
        self._lock = lock

    def ticket(self, connection: Connection) -> int | None:
        """Return None, because a failed commit on SQLite never took effect."""
        del connection
        return None

    def was_committed(self, connection: Connection, ticket: int) -> bool | None:
        """Raise an error, because SQLite has no tickets."""
        raise NotImplementedError(connection, ticket)

    def unlock(self) -> None:
        """Close the lock file."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def _with_transactions(engine: Engine, begin: str, pragmas: tuple[str, ...]) -> Engine:
    """Begin transactions explicitly: Python's driver begins them late, and never before a SAVEPOINT."""

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
    """A PostgreSQL server. TCP keepalives detect a dead peer within 11 s, on both sides.

    Args:
        url: The address of the database.
        timeout_s: After this time without a query, the server ends the writer's session and its lock.
    """

    def __init__(self, url: URL, *, timeout_s: float) -> None:
        self.url = url.set(drivername="postgresql+psycopg")
        ours = {
            "application_name": _own_name()[:63],
            "connect_timeout": str(_CONNECT_TIMEOUT_S),
            "keepalives_idle": str(_KEEPALIVE_IDLE_S),
            "keepalives_interval": str(_KEEPALIVE_INTERVAL_S),
            "keepalives_count": str(_KEEPALIVE_COUNT),
            "tcp_user_timeout": str(_UNACKNOWLEDGED_MS),
        }
        self._url = self.url.set(query={**ours, **self.url.query})
        self._timeout_s = timeout_s

    def prepare(self) -> None:
        """Do nothing: the operator created the database."""

    def writer(self) -> Engine:
        """Return an engine whose one connection holds the lock."""
        engine = create_engine(self._url, poolclass=NullPool, hide_parameters=True)
        event.listen(engine, "connect", _limit_session)
        return engine

    def reader(self) -> Engine:
        """Return an engine whose reads each see a consistent snapshot."""
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
        """Return the server's id of the transaction."""
        return connection.exec_driver_sql("SELECT txid_current()").scalar_one()  # type: ignore[no-any-return]  # bigint

    def was_committed(self, connection: Connection, ticket: int) -> bool | None:
        """Ask the server, which keeps the status of recent transactions."""
        status = connection.execute(text("SELECT txid_status(:ticket)"), {"ticket": ticket}).scalar_one()
        return None if status == "in progress" else status == "committed"

    def identity(self) -> object:
        """Return None, because a connection to a server that has stopped fails anyway."""
        return None

    def is_current(self, identity: object) -> bool:
        """Return True; see `identity`."""
        return identity is None

    def lock(self, connection: Connection) -> None:
        """Take an advisory lock, which ends with this session, even after a crash.

        Wait a few seconds for it: the server may not have noticed yet that the previous process has ended,
        and a standby gets the lock at the moment it is released.
        """
        try:
            connection.execute(text(f"SET LOCAL lock_timeout = '{_LOCK_WAIT_S}s'"))
            connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": _LOCK_KEY})
            connection.execute(_LOCK_TIMEOUT, {"timeout_ms": str(round(self._timeout_s * 1000))})
            connection.commit()
        except OperationalError as error:
            if is_cut(error):
                raise
            connection.rollback()
            holder = connection.execute(_HOLDER, {"key": _LOCK_KEY}).scalar() or "another service"
            raise _locked_by(name_of(self.url), holder) from None

    def unlock(self) -> None:
        """Do nothing: closing the connection releases the lock."""


#: PostgreSQL 13 and older have no such setting; there a process that hangs keeps its lock.
_LOCK_TIMEOUT = text("""
    SELECT set_config(name, :timeout_ms, false) FROM pg_settings
    WHERE name IN ('idle_session_timeout', 'idle_in_transaction_session_timeout')
""")

_HOLDER = text("""
    SELECT application_name || ' from ' || coalesce(host(client_addr), 'the local socket')
    FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND granted AND pg_locks.database = (
        SELECT oid FROM pg_database WHERE datname = current_database()
    ) AND classid = (CAST(:key AS bigint) >> 32) AND objid = (CAST(:key AS bigint) & 4294967295)
""")


def _limit_session(connection: Any, _record: object) -> None:  # noqa: ANN401 - SQLAlchemy's wrapper of a driver's
    """Make the server release the lock of an unreachable host, and set a time limit for every statement."""
    connection.autocommit = True
    connection.execute(
        f"SELECT set_config('tcp_keepalives_idle', '{_KEEPALIVE_IDLE_S}', false),"
        f" set_config('tcp_keepalives_interval', '{_KEEPALIVE_INTERVAL_S}', false),"
        f" set_config('tcp_keepalives_count', '{_KEEPALIVE_COUNT}', false),"
        f" set_config('tcp_user_timeout', '{_UNACKNOWLEDGED_MS}', false),"
        " set_config('statement_timeout', '30s', false)"
    )
    connection.autocommit = False


def _locked_by(database: str, holder: str) -> StoreLocked:
    return StoreLocked(
        f"The database {database} is in use by {holder}.",
        hint="A database has one active service at a time: stop the other one, or set another "
        "WARMFRONT_DATA_DIR or WARMFRONT_DATABASE_URL. With PostgreSQL, WARMFRONT_STANDBY=true waits until "
        "the other one ends.",
    )


def _own_name() -> str:
    return f"warmfront, process {os.getpid()} on {socket.gethostname()}"
