"""The store on a real database: migrations, the lock, transactions, and many callers at once."""

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
from tests.support.store_samples import IN_QUEUE, event_ids, new, queued
from warmfront.errors import BadRequest, BadSetting, Conflict, StoreUnavailable
from warmfront.quota import Quota, QuotaExceeded
from warmfront.settings import Settings
from warmfront.store import (
    event_queries,
    key_queries,
    mark_queries,
    migrate,
    schema,
    submission_queries,
)
from warmfront.store.backends import backend_of
from warmfront.store.memory_database import MemoryDatabase
from warmfront.store.records import Role
from warmfront.store.sql_database import open_store
from warmfront.store.writer import MAX_BATCH

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from sqlalchemy import Connection

    from warmfront.store.store import Store


def test_migrations_create_the_tables_of_the_schema(c: Connection) -> None:
    """A migrated database has the same tables, columns and indexes as the metadata."""
    context = MigrationContext.configure(c, opts={"compare_type": True})
    assert compare_metadata(context, schema.metadata) == []


def test_a_memory_database_rolls_back() -> None:
    """A query that fails on the in-memory database of a simulation leaves nothing behind."""
    database = MemoryDatabase()
    with pytest.raises(ZeroDivisionError):
        database.run(_half)
    assert database.run(submission_queries.get, "s1") is None
    database.dispose()


def test_the_newest_migration_is_the_one_that_the_code_expects(c: Connection) -> None:
    """The head of the migrations is the schema's revision, so that opening it does not need Alembic."""
    scripts = ScriptDirectory.from_config(migrate.alembic_config(c))
    assert scripts.get_heads() == [schema.REVISION]
    assert migrate.revision(c) == schema.REVISION


def test_an_unused_database_is_created(bare_database: Settings) -> None:
    """The first open creates directories and tables; the second finds what the first wrote."""

    async def scenario() -> None:
        store = await open_store(bare_database)
        await store.database.write(mark_queries.put, "seen", "yes", 1.0)
        await store.close()
        store = await open_store(bare_database)
        assert await store.database.read(mark_queries.get, "seen") == "yes"
        await store.close()

    asyncio.run(scenario())


def test_a_database_of_a_newer_version_is_left_alone(database: Settings) -> None:
    """A database of a newer version is rejected with a hint."""

    async def scenario() -> None:
        store = await open_store(database)
        await store.database.write(_set_version)
        await store.close()
        with pytest.raises(StoreUnavailable, match="does not know") as refused:
            await open_store(database)
        assert refused.value.hint

    asyncio.run(scenario())


def _set_version(c: Connection) -> None:
    c.execute(text("UPDATE alembic_version SET version_num = '9999'"))


def test_only_one_service_uses_a_database(database: Settings) -> None:
    """A second service gets an error that names the first, until the first has closed."""

    async def scenario() -> None:
        first = await open_store(database)
        with pytest.raises(StoreUnavailable, match=r"in use by warmfront, process \d+ on") as refused:
            await open_store(database)
        assert "stop the other one" in str(refused.value.hint)
        await first.database.write(mark_queries.put, "still", "here", 1.0)
        await first.close()
        await (await open_store(database)).close()

    asyncio.run(scenario())


def test_a_command_can_use_the_database_of_a_running_service(database: Settings) -> None:
    """A key created by another process is visible to the running service at once."""

    async def scenario() -> None:
        service = await open_store(database)
        command = await open_store(database, exclusive=False)
        key, secret = await command.database.write(key_queries.create, "ada", Role.USER, 1.0)
        assert await service.database.read(key_queries.find, secret) == key
        await command.close()
        await service.close()

    asyncio.run(scenario())


def test_a_command_can_create_the_database(bare_database: Settings) -> None:
    """`keys create` before the first start of the service creates the tables and holds no lock."""

    async def scenario() -> None:
        command = await open_store(bare_database, exclusive=False)
        key, secret = await command.database.write(key_queries.create, "ada", Role.USER, 1.0)
        service = await open_store(bare_database)
        assert await service.database.read(key_queries.find, secret) == key
        await service.close()
        await command.close()

    asyncio.run(scenario())


def test_a_write_is_all_or_nothing(database: Settings) -> None:
    """A transaction that fails half-way is rolled back, and the caller gets its error."""

    async def scenario(store: Store) -> None:
        with pytest.raises(ZeroDivisionError):
            await store.database.write(_half)
        assert await store.database.read(submission_queries.get, "s1") is None
        await store.database.write(queued)
        assert await store.database.read(event_ids) == [1, 2]

    _with_store(database, scenario)


def _half(c: Connection) -> None:
    queued(c)
    raise ZeroDivisionError


def test_a_failing_write_does_not_affect_its_group(database: Settings) -> None:
    """Of many writes in one group commit, only those that fail are rolled back."""

    async def scenario(store: Store) -> None:
        await store.database.write(submission_queries.create, new("s0", idempotency_key="k"), IN_QUEUE)
        requests = [
            new(f"s{n}", code=f"{n}", idempotency_key="k" if n % 3 == 0 else None)
            for n in range(1, 2 * MAX_BATCH)
        ]
        answers = await asyncio.gather(
            *(store.database.write(submission_queries.create, request, IN_QUEUE) for request in requests),
            return_exceptions=True,
        )
        for request, answer in zip(requests, answers, strict=True):
            stored = await store.database.read(submission_queries.get, request.id)
            if request.idempotency_key:
                assert isinstance(answer, Conflict)
                assert stored is None
            else:
                assert isinstance(answer, tuple)
                assert stored == answer[0]

    _with_store(database, scenario)


def test_concurrent_events_have_no_gap(database: Settings) -> None:
    """Concurrent writers to the same submissions get event ids without gaps or duplicates."""

    async def scenario(store: Store) -> None:
        await store.database.write(queued, "s1")
        await store.database.write(queued, "s2")

        async def append(this: str, times: int) -> list[int]:
            events = [
                await store.database.write(event_queries.append, this, {"status": "X"}, 1.0)
                for _ in range(times)
            ]
            return [event.id for event in events if event]

        given = await asyncio.gather(*(append(f"s{1 + task % 2}", 10) for task in range(20)))
        for this, offset in (("s1", 0), ("s2", 1)):
            ids = sorted(number for task in given[offset::2] for number in task)
            assert ids == list(range(3, 103))
            assert await store.database.read(event_ids, this) == list(range(1, 103))

    _with_store(database, scenario)


def test_a_limit_holds_under_concurrency(database: Settings) -> None:
    """A hundred callers in two stores use exactly the quota."""

    async def scenario(store: Store) -> None:
        beside = await open_store(database, exclusive=False)
        quota = Quota(kind="submit", window_s=60, limit=30, noun="submissions per minute", variable="X")
        outcomes = await asyncio.gather(
            *(one.consume_quota("ada", 0.0, [quota]) for one in [store, beside] * 50), return_exceptions=True
        )
        await beside.close()
        assert outcomes.count(None) == 30
        assert all(outcome is None or isinstance(outcome, QuotaExceeded) for outcome in outcomes)

    _with_store(database, scenario)


def test_a_read_cannot_write(database: Settings) -> None:
    """A read transaction that writes fails, and nothing is written."""

    async def scenario(store: Store) -> None:
        with pytest.raises(StoreUnavailable):
            await store.database.read(mark_queries.put, "a", "b", 1.0)
        assert await store.database.read(mark_queries.get, "a") is None

    _with_store(database, scenario)


def test_a_cancelled_caller_does_not_disturb_the_rest(database: Settings) -> None:
    """A caller that is cancelled while its write waits does not affect the next."""

    async def scenario(store: Store) -> None:
        waiting = asyncio.create_task(store.database.write(mark_queries.put, "a", "b", 1.0))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await store.database.write(mark_queries.put, "c", "d", 1.0)
        assert await store.database.read(mark_queries.get, "c") == "d"

    _with_store(database, scenario)


def test_closing_completes_waiting_writes(database: Settings) -> None:
    """Writes before the close are committed, later writes are rejected, and closing twice is allowed."""

    async def scenario() -> None:
        store = await open_store(database)
        waiting = [
            asyncio.create_task(store.database.write(mark_queries.put, f"{n}", "x", 1.0)) for n in range(300)
        ]
        await asyncio.sleep(0)
        await store.close()
        await asyncio.gather(*waiting)
        for late in (
            store.database.write(mark_queries.put, "late", "x", 1.0),
            store.database.read(mark_queries.get, "0"),
        ):
            with pytest.raises(StoreUnavailable, match="closed"):
                await late
        await store.close()
        store = await open_store(database)
        assert await store.database.read(mark_queries.get, "299") == "x"
        assert await store.database.read(mark_queries.get, "late") is None
        await store.close()

    asyncio.run(scenario())


def test_text_that_no_database_can_store_is_a_bad_request(database: Settings) -> None:
    """Half a surrogate pair in a source is a bad request, not an internal error."""

    async def scenario(store: Store) -> None:
        with pytest.raises(BadRequest):
            await store.database.write(submission_queries.create, new(code="\ud800"), IN_QUEUE)
        with pytest.raises(BadRequest):
            await store.database.read(submission_queries.get, "\ud800")
        await store.database.write(mark_queries.put, "still", "here", 1.0)

    _with_store(database, scenario)


def test_an_id_with_a_nul_is_not_found(database: Settings) -> None:
    """An id that contains NUL is not found in SQLite and rejected by PostgreSQL; neither fails otherwise."""

    async def scenario(store: Store) -> None:
        if database.database_url is None:
            assert await store.database.read(submission_queries.get, "s\0") is None
        else:
            with pytest.raises(BadRequest):
                await store.database.read(submission_queries.get, "s\0")
        assert await store.database.read(submission_queries.get, "s") is None

    _with_store(database, scenario)


def test_no_secret_is_stored(tmp_path: Path) -> None:
    """No file of the store contains the secret of a key or a usable part of it."""

    async def scenario() -> str:
        store = await open_store(Settings(data_dir=tmp_path))
        _, secret = await store.database.write(key_queries.create, "ada", Role.USER, 1.0)
        await store.close()
        return secret

    secret = asyncio.run(scenario()).rpartition("_")[2]
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert files
    assert not [file for file in files if secret.encode() in file.read_bytes()]


def test_only_the_owner_can_read_the_database(tmp_path: Path) -> None:
    """Other users of the machine cannot read the file, which contains users' code."""
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
    """The error for an unavailable database has its host, without the password."""
    with pytest.raises(StoreUnavailable) as caught:
        asyncio.run(_open_and_close(Settings(database_url=url)))
    seen: BaseException | None = caught.value
    while seen is not None:
        assert PASSWORD not in f"{seen!r} {seen}"
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)


def test_a_wrong_password_is_not_shown(database: Settings) -> None:
    """The error of a server that rejects the password does not contain the password."""
    if database.database_url is None:
        asyncio.run(_open_and_close(database))  # a file has no password
        return
    url = database.database_url.replace(PASSWORD, "wrong-7d1e")
    with pytest.raises(StoreUnavailable, match="authentication") as caught:
        asyncio.run(_open_and_close(dataclasses.replace(database, database_url=url)))
    assert "wrong-7d1e" not in caught.value.message


@pytest.mark.parametrize("url", [f"postgresql://u:{PASSWORD}@h:port/db", "sqlite://", "sqlite:///:memory:"])
def test_an_unusable_url_is_a_bad_setting(url: str) -> None:
    """The error names the variable but not the URL."""
    with pytest.raises(BadSetting, match="WARMFRONT_DATABASE_URL") as caught:
        backend_of(Settings(database_url=url))
    assert PASSWORD not in caught.value.message


def test_a_directory_that_cannot_be_created_is_named(tmp_path: Path) -> None:
    """The error for a data directory below a file has its path and the variable to change."""
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


def test_keys_of_the_first_version_belong_to_no_team(bare_database: Settings) -> None:
    """A database from before teams is migrated, and its keys remain valid."""
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
        (key,) = await store.database.read(key_queries.all_keys)
        assert (key.user, key.team) == ("ada", None)
        await store.database.write(key_queries.create, "bob", Role.USER, 2.0, team="kernels")
        assert [key.team for key in await store.database.read(key_queries.all_keys)] == [None, "kernels"]
        await store.close()

    asyncio.run(scenario())
