"""Queries on marks: named facts, such as that an alert was sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import bindparam, select, text

from warmfront.store import schema

if TYPE_CHECKING:
    from sqlalchemy import Connection

_T = schema.marks.c


def once(conn: Connection, name: str, now: float) -> bool:
    """Set a mark; return whether it was new."""
    return conn.execute(_ONCE, {"name": name, "value": "", "time": now}).rowcount == 1


def put(conn: Connection, name: str, value: str, now: float) -> None:
    """Set or replace the value of a mark."""
    conn.execute(_PUT, {"name": name, "value": value, "time": now})


_ONCE = text(
    "INSERT INTO marks (name, value, time) VALUES (:name, :value, :time) ON CONFLICT (name) DO NOTHING"
)
_PUT = text("""
    INSERT INTO marks (name, value, time) VALUES (:name, :value, :time)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value, time = excluded.time
""")


def get(conn: Connection, name: str) -> str | None:
    """Return the value of a mark, or None."""
    return conn.execute(_GET, {"name": name}).scalar()


_GET = select(_T.value).where(_T.name == bindparam("name"))
