"""The single writer thread, with group commit: it runs all pending writes in one transaction.

Each write has its own savepoint, so that only a failed write is rolled back. A write returns only when
it is known to be committed, or known not to be.

Writes are fenced. The lock belongs to the session that writes, so there is no write without the lock. A
writer that reconnects continues only if no other service has locked the database in the meantime: every
service that does so claims the next epoch.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from typing import TYPE_CHECKING, Any

from warmfront.errors import StoreLocked, StoreUnavailable, Superseded
from warmfront.store import account_queries
from warmfront.store.database_errors import explained, is_cut, is_unavailable, name_of
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from warmfront.store.database_backends import Backend

#: How often to ask the database whether a commit took effect, if the connection was lost during it.
_CHECK_COMMIT_S = 0.5
#: Writes per transaction: enough to share a commit, few enough that the first does not wait long.
MAX_BATCH = 128


@dataclass(frozen=True)
class _Write:
    query: Callable[[Connection], Any]
    future: asyncio.Future[Any]


@dataclass(frozen=True)
class _WriteResult:
    write: _Write
    value: Any = None
    error: Exception | None = None


class _InDoubt(Exception):
    """The connection was lost after the commit was sent and before it was confirmed."""

    def __init__(self, ticket: int) -> None:
        super().__init__(ticket)
        self.ticket = ticket


class Writer:
    """A thread that runs writes in the order in which they were submitted."""

    def __init__(self, backend: Backend, *, exclusive: bool) -> None:
        self._backend = backend
        self._exclusive = exclusive  #: lock the database against other services
        self._engine = backend.writer()
        self._connection: Connection | None = None
        self._opened: object = None  #: identifies the database that the connection was opened to
        self._loop = asyncio.get_running_loop()
        self._pending: queue.SimpleQueue[_Write | None] = queue.SimpleQueue()
        self._doubt: tuple[int, list[_WriteResult]] | None = None  #: a commit whose result is unknown
        self._epoch: int | None = None  #: the epoch that this service has claimed
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="warmfront-writer", daemon=True)
        self._thread.start()

    async def write(self, query: Callable[[Connection], Any]) -> Any:  # noqa: ANN401 - the type of the query's result
        """Run a query in a transaction; return when it is committed."""
        if self._closed:
            raise StoreUnavailable("The store is closed.")
        future: asyncio.Future[Any] = self._loop.create_future()
        self._pending.put(_Write(query, future))
        return await future

    async def claim_epoch(self, now: float) -> None:
        """Begin the next epoch of the database. A writer of an earlier epoch never writes again."""
        self._epoch = await self.write(lambda conn: account_queries.claim_epoch(conn, now))

    async def close(self) -> None:
        """Finish pending writes, then end the thread and its connection."""
        if not self._closed:
            self._closed = True
            self._pending.put(None)
        await asyncio.to_thread(self._thread.join)

    def _work(self) -> None:
        is_open = True
        while is_open:
            batch, is_open = self._next_batch()
            results = self._resolve_doubt() if self._doubt else []
            results += self._run(batch) if batch else []
            with contextlib.suppress(RuntimeError):  # the event loop is closed
                self._loop.call_soon_threadsafe(_deliver, results)
        if self._doubt:
            with contextlib.suppress(RuntimeError):  # see above
                self._loop.call_soon_threadsafe(_deliver, _failed(self._doubt[1]))
        self._disconnect()
        self._backend.unlock()

    def _resolve_doubt(self) -> list[_WriteResult]:
        """Find out whether an interrupted commit took effect, and resolve its writes.

        Do nothing while that is unknown.
        """
        assert self._doubt is not None  # noqa: S101 - checked by the caller
        ticket, results = self._doubt
        try:
            self._connect()
            committed = self._backend.was_committed(self._open_connection(), ticket)
            self._open_connection().rollback()
        except Superseded as error:
            self._doubt = None
            return [_WriteResult(result.write, error=error) for result in results]
        except Exception as error:  # noqa: BLE001 - tried again later
            self._undo(error)
            return []
        if committed is None:
            return []
        self._doubt = None
        return results if committed else _failed(results)

    def _next_batch(self) -> tuple[list[_Write], bool]:
        """Return the pending writes, and whether more may follow."""
        batch: list[_Write] = []
        try:
            write = self._pending.get(timeout=_CHECK_COMMIT_S if self._doubt else None)
        except queue.Empty:
            return batch, True
        while write is not None:
            batch.append(write)
            if len(batch) == MAX_BATCH:
                return batch, True
            try:
                write = self._pending.get_nowait()
            except queue.Empty:
                return batch, True
        return batch, False

    def _run(self, batch: list[_Write]) -> list[_WriteResult]:
        """Run the batch; retry once if the connection was dropped while it was idle."""
        if self._doubt:
            # Keep the order: later writes may depend on the one in doubt.
            return [_WriteResult(write, error=_commit_unknown()) for write in batch]
        try:
            was_open = self._connect()
            try:
                results = self._execute(batch)
            except Exception as error:
                if not (was_open and is_cut(error)):
                    raise
                self._disconnect()
                self._connect()
                results = self._execute(batch)
            self._commit()
        except _InDoubt as doubt:
            self._disconnect()
            self._doubt = doubt.ticket, results
            return []
        except Exception as error:  # noqa: BLE001 - the edge of the thread: every write gets a result
            self._undo(error)
            translated = explained(error, self._backend.url)
            return [_WriteResult(write, error=translated) for write in batch]
        return results

    def _execute(self, batch: list[_Write]) -> list[_WriteResult]:
        connection = self._open_connection()
        connection.begin()
        return [self._execute_one(connection, write) for write in batch]

    def _execute_one(self, connection: Connection, write: _Write) -> _WriteResult:
        # SAVEPOINT as text, because SQLAlchemy's object for it costs more than the query.
        connection.exec_driver_sql("SAVEPOINT one_write")
        try:
            value = write.query(connection)
        except Exception as error:
            if is_unavailable(error):
                raise  # the whole transaction has failed
            connection.exec_driver_sql("ROLLBACK TO SAVEPOINT one_write")
            return _WriteResult(write, error=explained(error, self._backend.url))
        connection.exec_driver_sql("RELEASE SAVEPOINT one_write")
        return _WriteResult(write, value=value)

    def _commit(self) -> None:
        """Commit the transaction.

        Separate from `_execute`, because nothing may run again once a commit was sent.
        """
        connection = self._open_connection()
        ticket = self._backend.ticket(connection)
        try:
            connection.commit()
        except Exception as error:
            if ticket is not None and is_cut(error):
                raise _InDoubt(ticket) from None
            raise

    def _connect(self) -> bool:
        """Connect if necessary; return whether a usable connection already existed."""
        if self._connection is not None:
            if self._backend.is_current(self._opened):
                return True
            self._disconnect()
        self._opened = self._backend.identity()
        connection = self._engine.connect()
        try:
            if self._exclusive:
                self._lock(connection)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return False

    def _lock(self, connection: Connection) -> None:
        try:
            self._backend.lock(connection)
        except StoreLocked:
            self._check_epoch(connection)
            raise
        self._check_epoch(connection)

    def _check_epoch(self, connection: Connection) -> None:
        """Raise `Superseded` if another service has locked the database since this one did."""
        if self._epoch is None:
            return
        epoch = account_queries.current_epoch(connection)
        connection.rollback()
        if epoch != self._epoch:
            raise Superseded(
                f"Another service has taken over the database {name_of(self._backend.url)}: "
                f"it began epoch {epoch}, and this service has epoch {self._epoch}."
            )

    def _open_connection(self) -> Connection:
        if self._connection is None:
            raise StoreUnavailable(f"Not connected to the database {name_of(self._backend.url)}.")
        return self._connection

    def _undo(self, error: Exception) -> None:
        """Roll back. If that fails, close the connection, which also releases the lock."""
        if self._connection is None:
            return
        try:
            self._connection.rollback()
        except Exception:  # noqa: BLE001 - the connection is unusable, whatever the cause
            self._disconnect()
        else:
            if is_cut(error):
                self._disconnect()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(Exception):  # the connection may already be broken
                connection.invalidate()
            with contextlib.suppress(Exception):
                connection.close()


def _failed(results: list[_WriteResult]) -> list[_WriteResult]:
    return [_WriteResult(result.write, error=_commit_unknown()) for result in results]


def _commit_unknown() -> StoreUnavailable:
    return StoreUnavailable("The connection to the database was lost during a commit.", hint="Retry.")


def _deliver(results: list[_WriteResult]) -> None:
    for result in results:
        future = result.write.future
        if future.done():  # the caller was cancelled; the write still took effect
            continue
        if result.error is not None:
            future.set_exception(result.error)
        else:
            future.set_result(result.value)
