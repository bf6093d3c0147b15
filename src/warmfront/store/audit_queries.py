"""Queries on the audit log. Entries are only appended: triggers of the database refuse any other change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, insert, select

from warmfront.audit_chain import NO_HASH, AuditEntry, AuditRecord, ChainCheck, chained, check_chain
from warmfront.store import account_queries, schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

_L = schema.audit_log.c
_NAMES = tuple(AuditEntry.__dataclass_fields__)
_ENTRIES = select(*[_L[name] for name in _NAMES])
#: Updating this mark locks it until the end of the transaction, so that two processes do not append the same
#: number.
_LOCK_MARK = "audit-log"
#: Entries that a check of the chain reads at a time.
_CHUNK = 500


def append(conn: Connection, record: AuditRecord, now: float) -> AuditEntry:
    """Append an entry to the audit log, and return it."""
    account_queries.put_mark(conn, _LOCK_MARK, "", now)
    last = conn.execute(_LAST).first()
    seq, previous_sha256 = (1, NO_HASH) if last is None else (last.seq + 1, last.sha256)
    entry = chained(record, seq=seq, time=now, previous_sha256=previous_sha256)
    conn.execute(_APPEND, {name: getattr(entry, name) for name in _NAMES})
    return entry


_LAST = select(_L.seq, _L.sha256).order_by(_L.seq.desc()).limit(1)
_APPEND = insert(schema.audit_log)


def page(
    conn: Connection,
    *,
    before_seq: int | None = None,
    limit: int = 50,
    actor: str | None = None,
    action: str | None = None,
    subject: str | None = None,
) -> list[AuditEntry]:
    """Return at most `limit` entries older than `before_seq`, newest first."""
    statement = _ENTRIES.order_by(_L.seq.desc()).limit(bindparam("most"))
    parameters: dict[str, Any] = {"most": limit}
    filters = {"actor": actor, "action": action, "subject": subject}
    for name, value in filters.items():
        if value is not None:
            statement = statement.where(_L[name] == bindparam(f"this_{name}"))
            parameters[f"this_{name}"] = value
    if before_seq is not None:
        statement = statement.where(_L.seq < bindparam("before_seq"))
        parameters["before_seq"] = before_seq
    return [_entry(row) for row in conn.execute(statement, parameters)]


def check(conn: Connection) -> ChainCheck:
    """Check the whole hash chain."""
    return check_chain(_oldest_first(conn))


def _oldest_first(conn: Connection) -> Iterator[AuditEntry]:
    last = 0
    while rows := list(conn.execute(_AFTER, {"after": last, "most": _CHUNK})):
        for row in rows:
            entry = _entry(row)
            yield entry
            last = entry.seq


_AFTER = _ENTRIES.where(_L.seq > bindparam("after")).order_by(_L.seq).limit(bindparam("most"))


def _entry(values: Any) -> AuditEntry:  # noqa: ANN401 - a row of either kind of connection
    return AuditEntry(**dict(zip(_NAMES, values, strict=True)))
