"""Small facts by name: that something was done once, or one value to remember."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import bindparam, select, text

from warmfront.store import schema

if TYPE_CHECKING:
    from sqlalchemy import Connection

_T = schema.marks.c


def once(c: Connection, name: str, now: float) -> bool:
    """True the first time that it is asked with this name, False ever after."""
    return c.execute(_ONCE, {"name": name, "value": "", "time": now}).rowcount == 1


def put(c: Connection, name: str, value: str, now: float) -> None:
    """Remember this value under this name, instead of the one before."""
    c.execute(_PUT, {"name": name, "value": value, "time": now})


_ONCE = text(
    "INSERT INTO marks (name, value, time) VALUES (:name, :value, :time) ON CONFLICT (name) DO NOTHING"
)
_PUT = text("""
    INSERT INTO marks (name, value, time) VALUES (:name, :value, :time)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value, time = excluded.time
""")


def get(c: Connection, name: str) -> str | None:
    """The value under this name, if there is one."""
    return c.execute(_GET, {"name": name}).scalar()


_GET = select(_T.value).where(_T.name == bindparam("name"))
