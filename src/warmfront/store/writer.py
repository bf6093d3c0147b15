"""The one thread that writes: it takes all writes that wait, and commits them together.

Each write has a savepoint of its own, so that one that fails undoes itself alone. Nothing is answered
before it is known to be committed, or known not to be.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warmfront.errors import StoreUnavailable
from warmfront.store.failures import explained, is_cut, is_trouble, name_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from warmfront.store.backends import Backend

#: How often a database that was lost in the middle of a commit is asked what became of it.
_ASK_AGAIN_S = 0.5
#: Writes in one transaction: enough to share a commit among, few enough that the first need not wait long.
MAX_BATCH = 128


@dataclass(frozen=True)
class _Write:
    query: Callable[[Connection], Any]
    answer: asyncio.Future[Any]


@dataclass(frozen=True)
class _Answer:
    write: _Write
    value: Any = None
    error: Exception | None = None


class _InDoubt(Exception):
    """The connection was cut after the commit was asked for and before it was confirmed."""

    def __init__(self, ticket: int) -> None:
        super().__init__(ticket)
        self.ticket = ticket


class Writer:
    """Runs writes in the order given."""

    def __init__(self, backend: Backend, *, alone: bool) -> None:
        self._backend = backend
        self._alone = alone  #: hold the database against other services
        self._engine = backend.writer()
        self._connection: Connection | None = None
        self._opened: object = None  #: the backend's mark of the database that the connection leads to
        self._loop = asyncio.get_running_loop()
        self._waiting: queue.SimpleQueue[_Write | None] = queue.SimpleQueue()
        self._doubt: tuple[int, list[_Answer]] | None = None  #: a commit of which nobody knows yet
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="warmfront-writer", daemon=True)
        self._thread.start()

    async def write(self, query: Callable[[Connection], Any]) -> Any:  # noqa: ANN401 - what the query gives
        """Run it in a transaction; returns when that is committed."""
        if self._closed:
            raise StoreUnavailable("The store is closed.", hint="Start the service again.")
        answer: asyncio.Future[Any] = self._loop.create_future()
        self._waiting.put(_Write(query, answer))
        return await answer

    async def close(self) -> None:
        """Finish what waits, then end the thread and its connection."""
        if not self._closed:
            self._closed = True
            self._waiting.put(None)
        await asyncio.to_thread(self._thread.join)

    def _work(self) -> None:
        is_open = True
        while is_open:
            batch, is_open = self._take()
            answers = self._settle_doubt() if self._doubt else []
            answers += self._run(batch) if batch else []
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(_settle, answers)
        if self._doubt:
            with contextlib.suppress(RuntimeError):  # as above
                self._loop.call_soon_threadsafe(_settle, _refused(self._doubt[1]))
        self._disconnect()
        self._backend.let_go()

    def _settle_doubt(self) -> list[_Answer]:
        """Ask what became of a commit that was cut; nothing to tell yet if there is nobody to ask."""
        assert self._doubt is not None  # noqa: S101 - the caller looked
        ticket, answers = self._doubt
        try:
            self._connect()
            came_through = self._backend.came_through(self._open_connection(), ticket)
            self._open_connection().rollback()
        except Exception as error:  # noqa: BLE001 - it is asked again
            self._undo(error)
            return []
        if came_through is None:
            return []
        self._doubt = None
        return answers if came_through else _refused(answers)

    def _take(self) -> tuple[list[_Write], bool]:
        """All that waits, and whether more may come."""
        batch: list[_Write] = []
        try:
            write = self._waiting.get(timeout=_ASK_AGAIN_S if self._doubt else None)
        except queue.Empty:
            return batch, True
        while write is not None:
            batch.append(write)
            if len(batch) == MAX_BATCH:
                return batch, True
            try:
                write = self._waiting.get_nowait()
            except queue.Empty:
                return batch, True
        return batch, False

    def _run(self, batch: list[_Write]) -> list[_Answer]:
        """Run the batch; again, once, if it turns out that the connection was cut while it lay idle."""
        if self._doubt:
            # In order: what comes after may build on what is in doubt.
            return [_Answer(write, error=_unknown()) for write in batch]
        try:
            was_open = self._connect()
            try:
                answers = self._attempt(batch)
            except Exception as error:
                if not (was_open and is_cut(error)):
                    raise
                self._disconnect()
                self._connect()
                answers = self._attempt(batch)
            self._commit()
        except _InDoubt as doubt:
            self._disconnect()
            self._doubt = doubt.ticket, answers
            return []
        except Exception as error:  # noqa: BLE001 - the edge of the thread: every write gets an answer
            self._undo(error)
            told = explained(error, self._backend.url)
            return [_Answer(write, error=told) for write in batch]
        return answers

    def _attempt(self, batch: list[_Write]) -> list[_Answer]:
        connection = self._open_connection()
        connection.begin()
        return [self._one(connection, write) for write in batch]

    def _one(self, connection: Connection, write: _Write) -> _Answer:
        # By hand: SQLAlchemy's object for it costs more than the query.
        connection.exec_driver_sql("SAVEPOINT one_write")
        try:
            value = write.query(connection)
        except Exception as error:
            if is_trouble(error):
                raise  # the transaction is gone with it, and the other writes too
            connection.exec_driver_sql("ROLLBACK TO SAVEPOINT one_write")
            return _Answer(write, error=explained(error, self._backend.url))
        connection.exec_driver_sql("RELEASE SAVEPOINT one_write")
        return _Answer(write, value=value)

    def _commit(self) -> None:
        """Apart from the attempt: once a commit was asked for, nothing may be run a second time."""
        connection = self._open_connection()
        ticket = self._backend.ticket(connection)
        try:
            connection.commit()
        except Exception as error:
            if ticket is not None and is_cut(error):
                raise _InDoubt(ticket) from None
            raise

    def _connect(self) -> bool:
        """Have a connection to the database that is there now; whether there was one already."""
        if self._connection is not None:
            if self._backend.is_current(self._opened):
                return True
            self._disconnect()
        self._opened = self._backend.mark()
        connection = self._engine.connect()
        try:
            if self._alone:
                self._backend.hold(connection)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return False

    def _open_connection(self) -> Connection:
        if self._connection is None:
            raise StoreUnavailable(f"There is no connection to {name_of(self._backend.url)}.")
        return self._connection

    def _undo(self, error: Exception) -> None:
        """Roll back; a connection that cannot even do that is dropped. The lock goes with it, no sooner."""
        if self._connection is None:
            return
        try:
            self._connection.rollback()
        except Exception:  # noqa: BLE001 - whatever it is, this connection is done with
            self._disconnect()
        else:
            if is_cut(error):
                self._disconnect()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(Exception):  # it may be broken already, which is why it goes
                connection.invalidate()
            with contextlib.suppress(Exception):
                connection.close()


def _refused(answers: list[_Answer]) -> list[_Answer]:
    return [_Answer(answer.write, error=_unknown()) for answer in answers]


def _unknown() -> StoreUnavailable:
    return StoreUnavailable("The database went away in the middle of a commit.", hint="Try again.")


def _settle(answers: list[_Answer]) -> None:
    for answer in answers:
        future = answer.write.answer
        if future.done():  # its caller was cancelled; the write happened all the same
            continue
        if answer.error is not None:
            future.set_exception(answer.error)
        else:
            future.set_result(answer.value)
