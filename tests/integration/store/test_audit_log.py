"""The audit log on real databases: it can only be appended to."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from warmfront.audit_chain import Actor, AuditAction
from warmfront.roles import Role
from warmfront.store import audit_queries, schema
from warmfront.store.database_backends import backend_of
from warmfront.store.memory_database import MemoryDatabase
from warmfront.store.sql_database import open_store

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from warmfront.settings import Settings
    from warmfront.store.store import Store

ADA = Actor(name="ada", via="key1")

#: Ways to change a log that has the entries 1 and 2.
TAMPERING = {
    "update": "UPDATE audit_log SET actor = 'eve' WHERE seq = 1",
    "update of nothing it shows": "UPDATE audit_log SET seq = seq",
    "delete": "DELETE FROM audit_log WHERE seq = 2",
    "delete all": "DELETE FROM audit_log",
    "insert with a gap": "INSERT INTO audit_log SELECT 4, time, actor, via, action, subject, before, after, "
    "outcome, detail, previous_sha256, sha256 FROM audit_log WHERE seq = 2",
}


@pytest.mark.parametrize("statement", TAMPERING.values(), ids=TAMPERING)
def test_the_database_refuses_changes(conn: Connection, statement: str) -> None:
    """Triggers refuse every statement that changes or removes an entry, or leaves a gap."""
    _append_two(conn)
    with pytest.raises(IntegrityError, match="append-only"):
        conn.execute(text(statement))
    conn.rollback()
    assert audit_queries.check(conn).entries == 2


def test_sqlite_cannot_replace_an_entry(sqlite_database: Settings) -> None:
    """INSERT OR REPLACE does not fire the trigger for DELETE, and is refused all the same."""
    _refused(sqlite_database, "INSERT OR REPLACE INTO audit_log SELECT * FROM audit_log WHERE seq = 1")


def test_postgresql_cannot_truncate_the_log(postgresql_database: Settings) -> None:
    """TRUNCATE does not fire triggers for rows, and is refused all the same."""
    _refused(postgresql_database, "TRUNCATE audit_log")


def _refused(settings: Settings, statement: str) -> None:
    engine = backend_of(settings).writer()
    with engine.connect() as conn:
        _append_two(conn)
        with pytest.raises(IntegrityError, match="append-only"):
            conn.execute(text(statement))
    engine.dispose()


def _append_two(conn: Connection) -> None:
    for number in (1, 2):
        audit_queries.append(conn, ADA.record(AuditAction.VM_DRAIN, f"vm_{number}"), 1000.0 + number)
    conn.commit()


def test_a_change_without_triggers_breaks_the_chain(conn: Connection) -> None:
    """The owner of the database can drop the triggers; the check then names the changed entry."""
    _append_two(conn)
    if conn.dialect.name == "postgresql":
        conn.execute(text("ALTER TABLE audit_log DISABLE TRIGGER USER"))
    else:
        conn.execute(text("DROP TRIGGER audit_log_no_update"))
    conn.execute(schema.audit_log.update().where(schema.audit_log.c.seq == 1).values(actor="eve"))
    result = audit_queries.check(conn)
    assert (result.broken_at, result.entries) == (1, 0)


def test_a_memory_database_is_append_only_too() -> None:
    """The tables of replays and tests have the same triggers."""
    database = MemoryDatabase()
    database.run(audit_queries.append, ADA.record(AuditAction.VM_DRAIN, "vm_1"), 1.0)
    with pytest.raises(Exception, match="append-only"):
        database.run(lambda conn: conn.execute(text("DELETE FROM audit_log")))
    assert database.run(audit_queries.check).entries == 1
    database.dispose()


def test_pages_and_filters(database: Settings) -> None:
    """Pages are newest first, and can be filtered by actor, action and subject."""

    async def work() -> None:
        store = await open_store(database)
        eve = Actor(name="eve", via="local")
        for number in range(5):
            await store.append_audit(ADA.record(AuditAction.VM_DRAIN, f"vm_{number}"), float(number))
        await store.append_audit(eve.refused(AuditAction.VM_PIN, "vm_1", "it has ended"), 9.0004)
        newest = await store.audit_page(limit=2)
        assert [(entry.seq, entry.actor) for entry in newest] == [(6, "eve"), (5, "ada")]
        assert (newest[0].outcome, newest[0].detail, newest[0].time) == ("REFUSED", "it has ended", 9.0)
        assert [entry.seq for entry in await store.audit_page(before_seq=5)] == [4, 3, 2, 1]
        assert [entry.seq for entry in await store.audit_page(subject="vm_1")] == [6, 2]
        assert [entry.seq for entry in await store.audit_page(actor="ada", action="vm.pin")] == []
        await store.close()

    asyncio.run(work())


def test_a_service_and_a_command_append_at_the_same_time(database: Settings) -> None:
    """Entries of two processes get consecutive numbers and one chain."""

    async def work() -> None:
        service = await open_store(database)
        command = await open_store(database, exclusive=False)
        await asyncio.gather(
            *(_append(store, number) for store in (service, command) for number in range(20))
        )
        result = await service.check_audit()
        assert (result.entries, result.broken_at) == (40, None)
        await command.close()
        await service.close()

    asyncio.run(work())


async def _append(store: Store, number: int) -> None:
    await store.append_audit(ADA.record(AuditAction.VM_DRAIN, f"vm_{number}"), float(number))


def test_keys_are_in_the_log_without_their_secret(database: Settings) -> None:
    """Creating and revoking a key is one transaction with its entry."""

    async def work() -> None:
        store = await open_store(database)
        key, secret = await store.create_key("grace", Role.OPERATOR, 5.0, team="navy", by=ADA)
        assert await store.revoke_key(key.id, 6.0, by=ADA)
        assert not await store.revoke_key(key.id, 7.0, by=ADA)
        revoked, created = await store.audit_page()
        assert (created.action, created.subject, created.after["team"]) == ("key.create", key.id, "navy")
        assert (revoked.action, revoked.after) == ("key.revoke", {"revoked": True})
        assert secret not in repr([created, revoked])
        await store.close()

    asyncio.run(work())
