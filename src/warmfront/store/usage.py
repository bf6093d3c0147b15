"""How much each user took of what is limited, counted by window; counting and asking are one statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

if TYPE_CHECKING:
    from sqlalchemy import Connection


def take(c: Connection, user: str, kind: str, window_start: float, limit: int) -> int | None:
    """Take one of `limit` in this window: the count with it, or None, and nothing taken, if all are gone."""
    if limit < 1:
        return None
    window = {"user_name": user, "kind": kind, "window_start": window_start}
    taken = c.execute(_TAKE, {**window, "most": limit}).scalar()
    if taken == 1:
        # Windows follow each other, so the first of a new one ends those before it.
        c.execute(_FORGET, window)
    return taken


#: As text, since both databases speak this dialect of UPSERT and SQLAlchemy has one builder for each.
_TAKE = text("""
    INSERT INTO usage (user_name, kind, window_start, taken) VALUES (:user_name, :kind, :window_start, 1)
    ON CONFLICT (user_name, kind, window_start)
    DO UPDATE SET taken = usage.taken + 1 WHERE usage.taken < :most
    RETURNING taken
""")
_FORGET = text("""
    DELETE FROM usage WHERE user_name = :user_name AND kind = :kind AND window_start < :window_start
""")
