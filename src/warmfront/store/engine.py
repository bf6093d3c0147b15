"""The store on a real database: opens it, brings its tables up to date, and runs queries off the event loop.

What the queries say is theirs; which database it is, is the backend's.
"""

from __future__ import annotations

import asyncio
import functools
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Concatenate

from warmfront.errors import StoreUnavailable
from warmfront.store import migrate
from warmfront.store.backends import READERS, backend_of
from warmfront.store.failures import explained, is_cut
from warmfront.store.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from warmfront.settings import Settings
    from warmfront.store.backends import Backend
    from warmfront.store.base import P, T


async def open_store(settings: Settings, *, alone: bool = True) -> SqlStore:
    """The store of these settings, with its tables up to date.

    A service opens it `alone`: a second one gets `StoreUnavailable`. A command that does one thing beside
    a running service, such as making a key, does not; it may only make or change tables if no service runs.
    """
    backend = backend_of(settings)
    await asyncio.to_thread(backend.prepare)
    store = SqlStore(backend, alone=alone)
    try:
        if alone:
            await store.write(migrate.upgrade)
        elif not await store.read(migrate.is_current):
            await (await open_store(settings)).close()
    except BaseException:
        await store.close()
        raise
    return store


class SqlStore:
    """A `Store` on SQLite or PostgreSQL. It heals by itself when a database that was away is back."""

    def __init__(self, backend: Backend, *, alone: bool) -> None:
        self._backend = backend
        self._engine = backend.reader()
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="warmfront-reader")
        self._writer = Writer(backend, alone=alone)
        self._closed = False

    async def read(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """What the query says of one moment. It cannot write."""
        if self._closed:
            raise StoreUnavailable("The store is closed.", hint="Start the service again.")
        bound = _bound(query, args, kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._read, bound)

    async def write(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run the query in one transaction: all of it or nothing, and committed when this returns."""
        value: T = await self._writer.write(_bound(query, args, kwargs))
        return value

    async def close(self) -> None:
        """Finish the writes that wait, and let go of the database and of its lock."""
        self._closed = True
        await self._writer.close()
        await asyncio.to_thread(self._readers.shutdown)
        self._engine.dispose()

    def _read(self, query: Callable[[Connection], T]) -> T:
        """Read; again, once, if it turns out that the pooled connection was cut while it lay idle."""
        try:
            try:
                return self._read_once(query)
            except Exception as error:
                if not is_cut(error):
                    raise
                return self._read_once(query)
        except Exception as error:
            told = explained(error, self._backend.url)
            if told is error:
                raise
            raise told from None  # a driver's own traceback may show the address that it was given

    def _read_once(self, query: Callable[[Connection], T]) -> T:
        with self._engine.connect() as connection:
            return query(connection)


def _bound(
    query: Callable[Concatenate[Connection, P], T],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Callable[[Connection], T]:
    @functools.wraps(query)
    def bound(connection: Connection) -> T:
        return query(connection, *args, **kwargs)

    return bound
