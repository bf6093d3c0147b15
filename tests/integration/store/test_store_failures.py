"""Stores whose disk is full, whose database is moved or stopped, or whose process is killed."""

from __future__ import annotations

import asyncio
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from sqlalchemy import Connection

from tests.support.databases import KINDS, private_postgres
from tests.support.store_samples import IN_QUEUE, add_queued, event_ids, new_submission
from warmfront.errors import OnStandby, StoreUnavailable, Superseded
from warmfront.settings import Settings
from warmfront.store import account_queries, event_queries, submission_queries
from warmfront.store.sql_database import open_standby_store, open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.databases import PostgresServer

MIB = 1024**2


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """Yield a disk of 24 MiB, with a file of 6 MiB that can be deleted."""
    # Outside of pytest's directory, which the user of PostgreSQL cannot read.
    with tempfile.TemporaryDirectory(prefix="wf-small-disk-") as directory:
        disk = Path(directory)
        disk.chmod(0o755)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m,mode=755", "tmpfs", disk], check=True)
        try:
            (disk / "ballast").write_bytes(bytes(6 * MIB))
            yield disk
        finally:
            subprocess.run(["umount", "--lazy", disk], check=True)


@pytest.fixture(params=KINDS)
def on_small_disk(request: pytest.FixtureRequest, small_disk: Path) -> Iterator[Settings]:
    """Yield settings with a database of each kind whose data is on the small disk."""
    if request.param == "sqlite":
        yield Settings(data_dir=small_disk)
        return
    # A separate server: one that cannot write its dirty pages back stops serving all of its databases.
    with private_postgres() as server:
        location = small_disk / "tablespace"
        location.mkdir()
        server.own(location)
        server.run(f"CREATE TABLESPACE small LOCATION '{location}'")
        yield Settings(database_url=server.new_database(tables=True, tablespace="small"))


def test_a_full_disk_loses_nothing(on_small_disk: Settings, small_disk: Path) -> None:
    """On a full disk a write fails as a whole; with free space nothing is missing and writes succeed."""

    async def scenario() -> None:
        store = await open_store(on_small_disk)
        stored: list[str] = []
        refused, hint = "", ""
        for number in range(200):
            submission_id = f"s{number}"
            try:
                await store.database.write(
                    submission_queries.create,
                    new_submission(submission_id, code=secrets.token_hex(MIB // 8)),
                    IN_QUEUE,
                )
            except StoreUnavailable as error:
                refused, hint = submission_id, str(error.hint)
                break
            stored.append(submission_id)
        assert "Free some space" in hint
        if on_small_disk.database_url is None:  # PostgreSQL may have to write pages back before it can read
            assert await store.database.read(event_ids, refused) == []

        (small_disk / "ballast").unlink()
        assert await store.database.read(submission_queries.get, refused) is None
        assert await store.database.read(event_ids, refused) == []
        assert [await store.database.read(event_ids, submission_id) for submission_id in stored] == [
            [1]
        ] * len(stored)
        await store.database.write(
            submission_queries.create, new_submission(refused, code=secrets.token_hex(MIB // 8)), IN_QUEUE
        )
        assert await store.database.read(event_ids, refused) == [1]
        await store.close()

    asyncio.run(scenario())


def test_a_store_reconnects_to_a_restarted_server(postgres: PostgresServer) -> None:
    """While PostgreSQL is down every call fails; after its restart the store works and holds the lock."""
    here = Settings(database_url=postgres.new_database(tables=True))

    async def scenario() -> None:
        store = await open_store(here)
        await store.database.write(add_queued)
        postgres.stop()
        try:
            for _ in range(2):
                with pytest.raises(StoreUnavailable, match="is unavailable"):
                    await store.database.write(event_queries.append, "s1", {"status": "LOST"}, 1.0)
                with pytest.raises(StoreUnavailable, match="is unavailable"):
                    await store.database.read(submission_queries.get, "s1")
        finally:
            postgres.start()
        event = await store.database.write(event_queries.append, "s1", {"status": "KEPT"}, 1.0)
        assert event is not None
        assert [stored.status for stored in await store.database.read(event_queries.after, "s1", 0, 10)] == [
            "IN_QUEUE",
            "XRAY",
            "KEPT",
        ]
        with pytest.raises(StoreUnavailable, match="in use"):
            await open_store(here)
        await store.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("is_stored", [True, False])
def test_an_interrupted_commit_is_resolved(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch, *, is_stored: bool
) -> None:
    """If the connection breaks during a commit, the write succeeds exactly if its data is stored."""
    here = Settings(database_url=postgres.new_database(tables=True))
    commit, interruptions = Connection.commit, iter([True])

    def interrupted_commit(connection: Connection) -> None:
        raw = connection.connection.driver_connection
        if threading.current_thread().name == "warmfront-writer" and next(interruptions, False):
            pid = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
            if is_stored:
                raw.commit()  # type: ignore[union-attr]  # psycopg's connection
                raw.execute("SELECT 1")  # type: ignore[union-attr]  # so that there is something to commit
            postgres.run(f"SELECT pg_terminate_backend({pid})")
        commit(connection)

    async def scenario() -> None:
        store = await open_store(here)
        await store.database.write(add_queued)
        monkeypatch.setattr(Connection, "commit", interrupted_commit)
        writing = store.database.write(event_queries.append, "s1", {"status": "ONCE"}, 1.0)
        if is_stored:
            event = await writing
            assert event is not None
        else:
            with pytest.raises(StoreUnavailable, match="lost during a commit"):
                await writing
        assert await store.database.read(event_ids) == ([1, 2, 3] if is_stored else [1, 2])
        await store.close()

    asyncio.run(scenario())


def test_idle_connections_are_reestablished(postgres: PostgresServer) -> None:
    """After a restart of the server between two calls, the next write and the next read succeed."""
    here = Settings(database_url=postgres.new_database(tables=True))

    async def scenario() -> None:
        store = await open_store(here)
        await store.database.write(add_queued)
        await store.database.read(event_ids)
        postgres.stop()
        postgres.start()
        assert await store.database.read(event_ids) == [1, 2]
        assert await store.database.write(event_queries.append, "s1", {"status": "X"}, 1.0) is not None
        await store.close()

    asyncio.run(scenario())


def test_a_service_that_lost_the_lock_cannot_write(postgres: PostgresServer) -> None:
    """A broken connection loses the lock; once another service had it, the first one never writes again."""
    here = Settings(database_url=postgres.new_database(tables=True))

    async def scenario() -> None:
        first = await open_store(here)
        await first.database.write(account_queries.put_mark, "by", "first", 1.0)
        await asyncio.to_thread(_terminate_connections, str(here.database_url))
        second = await open_store(here)
        with pytest.raises(Superseded, match="began epoch 2, and this service has epoch 1"):
            await first.database.write(account_queries.put_mark, "by", "stale", 2.0)
        retrying = asyncio.create_task(first.retrying().mark_once("stale", 3.0))
        await second.close()
        with pytest.raises(Superseded):
            await first.check_lock()
        assert await first.database.read(account_queries.get_mark, "by") == "first"
        assert not retrying.done()  # its caller must not decide anything any more
        retrying.cancel()
        await first.close()

    asyncio.run(scenario())


def test_a_service_that_sends_nothing_loses_the_lock(postgres: PostgresServer) -> None:
    """The server ends a session that hangs after the lock timeout, and a standby takes over.

    Only that session has a short timeout: the standby may be slow on a busy machine.
    """
    here = Settings(database_url=postgres.new_database(tables=True))

    async def scenario() -> None:
        hanging = await open_store(replace(here, lock_timeout_s=2.0))
        standby = await open_standby_store(here)
        with pytest.raises(OnStandby):
            await standby.store.mark_once("too soon", 1.0)
        await standby.take_over()
        assert await standby.store.mark_once("mark", 1.0)
        with pytest.raises(Superseded):
            await hanging.check_lock()
        await standby.store.close()
        await hanging.close()

    asyncio.run(scenario())


def _terminate_connections(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_a_moved_file_is_not_written_to(tmp_path: Path) -> None:
    """SQLite would continue to write to a file that was moved; the store fails until the file is back."""

    async def scenario() -> None:
        store = await open_store(Settings(data_dir=tmp_path / "data"))
        await store.database.write(add_queued)
        (tmp_path / "data").rename(tmp_path / "away")
        with pytest.raises(StoreUnavailable, match=r"warmfront\.db"):
            await store.database.write(event_queries.append, "s1", {"status": "LOST"}, 1.0)
        (tmp_path / "away").rename(tmp_path / "data")
        event = await store.database.write(event_queries.append, "s1", {"status": "KEPT"}, 1.0)
        assert event is not None
        assert event.id == 3
        await store.close()

    asyncio.run(scenario())


def test_a_file_that_is_not_a_database_is_not_changed(tmp_path: Path) -> None:
    """Another file with the name of the database is rejected and not changed."""
    file = tmp_path / "warmfront.db"
    file.write_bytes(b"a page of notes, longer than any header\n" * 50)
    before = file.read_bytes()
    with pytest.raises(StoreUnavailable, match="not a database"):
        asyncio.run(_open(Settings(data_dir=tmp_path)))
    assert file.read_bytes() == before


async def _open(settings: Settings) -> None:
    await (await open_store(settings)).close()


@pytest.mark.parametrize("acknowledged", [1, 150])
def test_acknowledged_writes_survive_a_kill(database: Settings, acknowledged: int) -> None:
    """After `kill -9` during writes, every acknowledged write is stored completely."""
    arguments = [str(database.data_dir), *([database.database_url] if database.database_url else [])]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.store_writer", *arguments],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(acknowledged)]
    process.send_signal(signal.SIGKILL)
    rest, _ = process.communicate(timeout=600)
    acknowledged_ids: dict[str, int] = defaultdict(int)
    for line in [*lines, *rest.splitlines()]:
        submission_id, _, number = line.strip().partition(" ")
        if number.isdecimal():  # the last line may be incomplete
            acknowledged_ids[submission_id] = max(acknowledged_ids[submission_id], int(number))
    assert sum(acknowledged_ids.values()) >= acknowledged

    async def scenario() -> None:
        store = await open_store(database)
        for submission_id, last in acknowledged_ids.items():
            ids = await store.database.read(event_ids, submission_id)
            assert len(ids) >= last
        for record in await store.database.read(submission_queries.unfinished):
            ids = await store.database.read(event_ids, record.id)
            assert ids == list(range(1, record.last_event_id + 1))
            source = await store.database.read(submission_queries.source, record.id)
            assert source.code == new_submission().code
        await store.close()

    asyncio.run(scenario())


def test_a_copy_of_the_directory_is_a_backup(tmp_path: Path) -> None:
    """A copy of the directory of a running service can be opened as a database."""

    async def scenario() -> None:
        store = await open_store(Settings(data_dir=tmp_path / "data"))
        await store.database.write(add_queued)
        shutil.copytree(tmp_path / "data", tmp_path / "copy")
        copy = await open_store(Settings(data_dir=tmp_path / "copy"))
        assert await copy.database.read(event_ids) == [1, 2]
        await copy.close()
        await store.close()

    asyncio.run(scenario())
