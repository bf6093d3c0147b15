"""Stores on real databases: migrations, the lock, transactions and concurrent callers."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import TYPE_CHECKING

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from tests.support.databases import PASSWORD
from tests.support.store_samples import IN_QUEUE, add_queued, event_ids, new_submission
from warmfront.errors import BadRequest, BadSetting, Conflict, StoreUnavailable
from warmfront.roles import Role
from warmfront.settings import Settings
from warmfront.store import account_queries, event_queries, migrate, schema, submission_queries
from warmfront.store.database_backends import backend_of
from warmfront.store.memory_database import MemoryDatabase
from warmfront.store.sql_database import open_store
from warmfront.store.writer import MAX_BATCH
from warmfront.usage_limits import Quota, QuotaExceeded

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from sqlalchemy import Connection

    from warmfront.store.store import Store


def test_migrations_create_the_tables_of_the_metadata(conn: Connection) -> None:
    """A migrated database and the metadata have the same tables, columns and indexes."""
    context = MigrationContext.configure(conn, opts={"compare_type": True})
    assert compare_metadata(context, schema.metadata) == []


def test_a_memory_database_rolls_back() -> None:
    """A failing query on the in-memory database changes nothing."""
    database = MemoryDatabase()
    with pytest.raises(ZeroDivisionError):
        database.run(_fail_half_way)
    assert database.run(submission_queries.get, "s1") is None
    database.dispose()


def test_the_newest_migration_is_the_expected_revision(conn: Connection) -> None:
    """The head of the migrations is `schema.REVISION`, which an open without Alembic compares."""
    scripts = ScriptDirectory.from_config(migrate.alembic_config(conn))
    assert scripts.get_heads() == [schema.REVISION]
    assert migrate.revision(conn) == schema.REVISION


def test_the_first_open_creates_the_tables(bare_database: Settings) -> None:
    """The first open creates directories and tables; the second finds the data of the first."""

    async def scenario() -> None:
        store = await open_store(bare_database)
        await store.database.write(account_queries.put_mark, "opened", "yes", 1.0)
        await store.close()
        store = await open_store(bare_database)
        assert await store.database.read(account_queries.get_mark, "opened") == "yes"
        await store.close()

    asyncio.run(scenario())


def test_a_database_of_a_newer_version_is_rejected(database: Settings) -> None:
    """An older Warmfront does not open a newer database, and the error has a hint."""

    async def scenario() -> None:
        store = await open_store(database)
        await store.database.write(_set_version)
        await store.close()
        with pytest.raises(StoreUnavailable, match="does not support") as refused:
            await open_store(database)
        assert refused.value.hint

    asyncio.run(scenario())


def _set_version(conn: Connection) -> None:
    conn.execute(text("UPDATE alembic_version SET version_num = '9999'"))


def test_only_one_service_opens_a_database(database: Settings) -> None:
    """A second service is rejected with the holder of the lock, until the first has closed its store."""

    async def scenario() -> None:
        first = await open_store(database)
        with pytest.raises(StoreUnavailable, match=r"in use by warmfront, process \d+ on") as refused:
            await open_store(database)
        assert "stop the other one" in str(refused.value.hint)
        await first.database.write(account_queries.put_mark, "still", "here", 1.0)
        await first.close()
        await (await open_store(database)).close()

    asyncio.run(scenario())


def test_a_command_works_beside_the_service(database: Settings) -> None:
    """The running service sees a key that a command creates."""

    async def scenario() -> None:
        service = await open_store(database)
        command = await open_store(database, exclusive=False)
        key, secret = await command.database.write(account_queries.create_key, "ada", Role.AUTHOR, 1.0)
        assert await service.database.read(account_queries.find_key, secret) == key
        await command.close()
        await service.close()

    asyncio.run(scenario())


def test_a_command_can_create_the_tables(bare_database: Settings) -> None:
    """A command before the first start of the service creates the tables and does not lock the database."""

    async def scenario() -> None:
        command = await open_store(bare_database, exclusive=False)
        key, secret = await command.database.write(account_queries.create_key, "ada", Role.AUTHOR, 1.0)
        service = await open_store(bare_database)
        assert await service.database.read(account_queries.find_key, secret) == key
        await service.close()
        await command.close()

    asyncio.run(scenario())


def test_a_write_is_atomic(database: Settings) -> None:
    """A query that fails half-way changes nothing, and the caller gets its error."""

    async def scenario(store: Store) -> None:
        with pytest.raises(ZeroDivisionError):
            await store.database.write(_fail_half_way)
        assert await store.database.read(submission_queries.get, "s1") is None
        await store.database.write(add_queued)
        assert await store.database.read(event_ids) == [1, 2]

    _with_store(database, scenario)


def _fail_half_way(conn: Connection) -> None:
    add_queued(conn)
    raise ZeroDivisionError


def test_a_failing_write_does_not_affect_its_group(database: Settings) -> None:
    """Of the writes in one group commit, only the failing ones are rolled back, each to its savepoint."""

    async def scenario(store: Store) -> None:
        await store.database.write(
            submission_queries.create, new_submission("s0", idempotency_key="k"), IN_QUEUE
        )
        requests = [
            new_submission(f"s{n}", code=f"{n}", idempotency_key="k" if n % 3 == 0 else None)
            for n in range(1, 2 * MAX_BATCH)
        ]
        results = await asyncio.gather(
            *(store.database.write(submission_queries.create, request, IN_QUEUE) for request in requests),
            return_exceptions=True,
        )
        for request, result in zip(requests, results, strict=True):
            stored = await store.database.read(submission_queries.get, request.id)
            if request.idempotency_key:
                assert isinstance(result, Conflict)
                assert stored is None
            else:
                assert isinstance(result, tuple)
                assert stored == result[0]

    _with_store(database, scenario)


def test_concurrent_events_have_consecutive_ids(database: Settings) -> None:
    """Tasks that append to the same submissions at the same time get consecutive ids."""

    async def scenario(store: Store) -> None:
        await store.database.write(add_queued, "s1")
        await store.database.write(add_queued, "s2")

        async def append(submission_id: str, times: int) -> list[int]:
            events = [
                await store.database.write(event_queries.append, submission_id, {"status": "X"}, 1.0)
                for _ in range(times)
            ]
            return [event.id for event in events if event]

        ids_by_task = await asyncio.gather(*(append(f"s{1 + task % 2}", 10) for task in range(20)))
        for submission_id, offset in (("s1", 0), ("s2", 1)):
            ids = sorted(number for task in ids_by_task[offset::2] for number in task)
            assert ids == list(range(3, 103))
            assert await store.database.read(event_ids, submission_id) == list(range(1, 103))

    _with_store(database, scenario)


def test_a_quota_holds_under_concurrency(database: Settings) -> None:
    """A hundred concurrent calls through two stores consume the quota exactly."""

    async def scenario(store: Store) -> None:
        beside = await open_store(database, exclusive=False)
        quota = Quota(kind="submit", window_s=60, limit=30, noun="submissions per minute", variable="X")
        results = await asyncio.gather(
            *(each_store.consume_quota("ada", 0.0, [quota]) for each_store in [store, beside] * 50),
            return_exceptions=True,
        )
        await beside.close()
        assert results.count(None) == 30
        assert all(result is None or isinstance(result, QuotaExceeded) for result in results)

    _with_store(database, scenario)


def test_a_read_cannot_write(database: Settings) -> None:
    """A query that writes fails in a read transaction and changes nothing."""

    async def scenario(store: Store) -> None:
        with pytest.raises(StoreUnavailable):
            await store.database.read(account_queries.put_mark, "a", "b", 1.0)
        assert await store.database.read(account_queries.get_mark, "a") is None

    _with_store(database, scenario)


def test_a_cancelled_write_does_not_affect_others(database: Settings) -> None:
    """A caller that is cancelled while its write is pending does not affect the next write."""

    async def scenario(store: Store) -> None:
        waiting = asyncio.create_task(store.database.write(account_queries.put_mark, "a", "b", 1.0))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await store.database.write(account_queries.put_mark, "c", "d", 1.0)
        assert await store.database.read(account_queries.get_mark, "c") == "d"

    _with_store(database, scenario)


def test_closing_commits_pending_writes(database: Settings) -> None:
    """Writes before the close are committed, later calls are rejected, and a second close does nothing."""

    async def scenario() -> None:
        store = await open_store(database)
        waiting = [
            asyncio.create_task(store.database.write(account_queries.put_mark, f"{n}", "x", 1.0))
            for n in range(300)
        ]
        await asyncio.sleep(0)
        await store.close()
        await asyncio.gather(*waiting)
        for late in (
            store.database.write(account_queries.put_mark, "late", "x", 1.0),
            store.database.read(account_queries.get_mark, "0"),
        ):
            with pytest.raises(StoreUnavailable, match="closed"):
                await late
        await store.close()
        store = await open_store(database)
        assert await store.database.read(account_queries.get_mark, "299") == "x"
        assert await store.database.read(account_queries.get_mark, "late") is None
        await store.close()

    asyncio.run(scenario())


def test_text_that_cannot_be_encoded_is_a_bad_request(database: Settings) -> None:
    """A lone surrogate in a source is a bad request, not an unavailable store."""

    async def scenario(store: Store) -> None:
        with pytest.raises(BadRequest):
            await store.database.write(submission_queries.create, new_submission(code="\ud800"), IN_QUEUE)
        with pytest.raises(BadRequest):
            await store.database.read(submission_queries.get, "\ud800")
        await store.database.write(account_queries.put_mark, "still", "here", 1.0)

    _with_store(database, scenario)


def test_an_id_with_nul_is_not_found(database: Settings) -> None:
    """SQLite finds no submission whose id contains NUL; PostgreSQL rejects it as a bad request."""

    async def scenario(store: Store) -> None:
        if database.database_url is None:
            assert await store.database.read(submission_queries.get, "s\0") is None
        else:
            with pytest.raises(BadRequest):
                await store.database.read(submission_queries.get, "s\0")
        assert await store.database.read(submission_queries.get, "s") is None

    _with_store(database, scenario)


def test_secrets_are_not_stored(tmp_path: Path) -> None:
    """No file of the store contains the secret of a key."""

    async def scenario() -> str:
        store = await open_store(Settings(data_dir=tmp_path))
        _, secret = await store.database.write(account_queries.create_key, "ada", Role.AUTHOR, 1.0)
        await store.close()
        return secret

    secret = asyncio.run(scenario()).rpartition("_")[2]
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert files
    assert not [file for file in files if secret.encode() in file.read_bytes()]


def test_the_database_file_is_private(tmp_path: Path) -> None:
    """Other users of the machine cannot read the file, which contains users' sources."""
    asyncio.run(_open_and_close(Settings(data_dir=tmp_path)))
    assert (tmp_path / "warmfront.db").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://u:{PASSWORD}@127.0.0.1:1/db",
        f"postgresql://u@127.0.0.1:1/db?password={PASSWORD}",
        f"postgresql://u:{PASSWORD}@host.invalid/db",
        f"postgresql://u:{PASSWORD}@127.0.0.1:1/db?no_such_option=1",
    ],
)
def test_errors_do_not_show_the_password(url: str) -> None:
    """The error of an unreachable database contains the host but not the password."""
    with pytest.raises(StoreUnavailable) as caught:
        asyncio.run(_open_and_close(Settings(database_url=url)))
    error: BaseException | None = caught.value
    while error is not None:
        assert PASSWORD not in f"{error!r} {error}"
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def test_a_wrong_password_is_not_shown(database: Settings) -> None:
    """The error of a rejected password does not contain it."""
    if database.database_url is None:
        asyncio.run(_open_and_close(database))  # a file has no password
        return
    url = database.database_url.replace(PASSWORD, "wrong-7d1e")
    with pytest.raises(StoreUnavailable, match="authentication") as caught:
        asyncio.run(_open_and_close(dataclasses.replace(database, database_url=url)))
    assert "wrong-7d1e" not in caught.value.message


@pytest.mark.parametrize("url", [f"postgresql://u:{PASSWORD}@h:port/db", "sqlite://", "sqlite:///:memory:"])
def test_an_unusable_url_is_a_bad_setting(url: str) -> None:
    """The error contains the variable but not the URL."""
    with pytest.raises(BadSetting, match="WARMFRONT_DATABASE_URL") as caught:
        backend_of(Settings(database_url=url))
    assert PASSWORD not in caught.value.message


def test_the_error_names_a_directory_that_cannot_be_created(tmp_path: Path) -> None:
    """The error for a data directory below a file contains the path and the variable."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match="file") as caught:
        asyncio.run(_open_and_close(Settings(data_dir=tmp_path / "file" / "below")))
    assert "WARMFRONT_DATA_DIR" in str(caught.value.hint)


async def _open_and_close(settings: Settings) -> None:
    await (await open_store(settings)).close()


def _with_store(settings: Settings, scenario: Callable[[Store], Awaitable[None]]) -> None:
    async def run() -> None:
        store = await open_store(settings)
        try:
            await scenario(store)
        finally:
            await store.close()

    asyncio.run(run())


def test_keys_from_before_teams_have_no_team(bare_database: Settings) -> None:
    """A database from before teams is migrated, and its keys stay valid; the role `user` becomes `author`."""
    backend = backend_of(bare_database)
    backend.prepare()
    engine = backend.writer()
    with engine.begin() as connection:
        command.upgrade(migrate.alembic_config(connection), "0001")
        columns = {"id": "k1", "user_name": "ada", "role": "user", "secret_sha256": "x", "created_at": 1.0}
        names = ", ".join(columns)
        values = ", ".join(f":{name}" for name in columns)
        connection.execute(text(f"INSERT INTO api_keys ({names}) VALUES ({values})"), columns)  # noqa: S608 - a constant
    engine.dispose()

    async def scenario() -> None:
        store = await open_store(bare_database)
        (key,) = await store.database.read(account_queries.all_keys)
        assert (key.user, key.role, key.team) == ("ada", Role.AUTHOR, None)
        await store.database.write(account_queries.create_key, "bob", Role.AUTHOR, 2.0, team="kernels")
        assert [key.team for key in await store.database.read(account_queries.all_keys)] == [None, "kernels"]
        await store.close()

    asyncio.run(scenario())
