"""SQLite or PostgreSQL as a `Database`: migrations, and queries in threads off the event loop."""

from __future__ import annotations

import asyncio
import functools
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Concatenate

from warmfront.clock import SystemClock
from warmfront.errors import OnStandby, StoreLocked, StoreUnavailable
from warmfront.store import migrate
from warmfront.store.database_backends import READERS, backend_of
from warmfront.store.database_errors import explained, is_cut
from warmfront.store.store import Store
from warmfront.store.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from warmfront.settings import Settings
    from warmfront.store.database import P, T
    from warmfront.store.database_backends import Backend
    from warmfront.store.store import EventPublisher


log = logging.getLogger(__name__)

#: How long a standby waits before it tries an unavailable database again.
_UNAVAILABLE_S = 1.0


async def open_store(
    settings: Settings, *, exclusive: bool = True, bus: EventPublisher | None = None
) -> Store:
    """Open the configured store, and migrate its tables.

    Args:
        settings: the settings with the database URL; by default SQLite in the data directory.
        exclusive: lock the database against other services. A command that runs next to a service, such as
            one that creates a key, does not lock it, and migrates only if no service is running.
        bus: receives committed events.

    Raises:
        StoreUnavailable: the database cannot be used, or another service has locked it.
    """
    if exclusive:
        standby = await open_standby_store(settings, bus=bus)
        try:
            await standby.take_over_now()
        except BaseException:
            await standby.store.close()
            raise
        return standby.store
    backend = backend_of(settings)
    await asyncio.to_thread(backend.prepare)
    database = SqlDatabase(backend, exclusive=False)
    try:
        if not await database.read(migrate.is_current):
            await (await open_store(settings)).close()
    except BaseException:
        await database.close()
        raise
    return Store(database, bus)


async def open_standby_store(settings: Settings, *, bus: EventPublisher | None = None) -> StandbyStore:
    """Open the configured store for reading, before this service has locked it."""
    backend = backend_of(settings)
    await asyncio.to_thread(backend.prepare)
    return StandbyStore(SqlDatabase(backend, exclusive=True, read_only=True), bus)


class StandbyStore:
    """A store that is read-only until this service has taken over its database.

    Example:
        >>> standby = await open_standby_store(settings)
        >>> await standby.take_over()
        >>> await standby.store.save_vm(vm)
    """

    def __init__(self, database: SqlDatabase, bus: EventPublisher | None) -> None:
        self._database = database
        self.store = Store(database, bus)

    async def is_readable(self) -> bool:
        """Return whether the tables exist and have the version of this release."""
        return await self._database.read(migrate.is_current)

    async def take_over_now(self) -> None:
        """Lock the database, migrate its tables and accept writes.

        Raises:
            StoreLocked: another service has locked the database.
            StoreUnavailable: the database cannot be used.
        """
        await self._database.take_over()

    async def take_over(self) -> None:
        """Wait until no other service has locked the database, then take over."""
        while True:
            try:
                await self.take_over_now()
            except StoreLocked:
                continue  # `take_over_now` has waited for the lock
            except StoreUnavailable as error:
                log.warning("database unavailable: %s; retrying in %.0f s", error.message, _UNAVAILABLE_S)
                await asyncio.sleep(_UNAVAILABLE_S)
            else:
                return


class SqlDatabase:
    """A `Database` on SQLite or PostgreSQL. It reconnects automatically."""

    def __init__(self, backend: Backend, *, exclusive: bool, read_only: bool = False) -> None:
        self._backend = backend
        self._read_only = read_only
        self._engine = backend.reader()
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="warmfront-reader")
        self._writer = Writer(backend, exclusive=exclusive)
        self._closed = False

    async def read(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a query in a reader thread, on a read-only connection."""
        if self._closed:
            raise StoreUnavailable("The store is closed.")
        bound = _bound(query, args, kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._read, bound)

    async def write(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a query in one transaction, committed when this returns."""
        if self._read_only:
            raise OnStandby
        value: T = await self._writer.write(_bound(query, args, kwargs))
        return value

    async def take_over(self) -> None:
        """Lock the database, migrate its tables, claim the next epoch and accept writes from now on."""
        await self._writer.write(migrate.upgrade)
        await self._writer.claim_epoch(SystemClock().now())
        self._read_only = False

    async def close(self) -> None:
        """Finish pending writes, close the connections and release the lock."""
        self._closed = True
        await self._writer.close()
        await asyncio.to_thread(self._readers.shutdown)
        self._engine.dispose()

    def _read(self, query: Callable[[Connection], T]) -> T:
        """Run a read; retry once if the pooled connection was dropped while it was idle."""
        try:
            try:
                return self._read_once(query)
            except Exception as error:
                if not is_cut(error):
                    raise
                return self._read_once(query)
        except Exception as error:
            translated = explained(error, self._backend.url)
            if translated is error:
                raise
            raise translated from None  # the driver's own traceback may show the URL with its password

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
