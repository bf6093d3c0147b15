"""Queries on quotas: uses per user and fixed window. Checking and counting are one statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from warmfront.quota import Quota


def consume(conn: Connection, user: str, now: float, quotas: Iterable[Quota]) -> None:
    """Count one use of every quota.

    Raises:
        QuotaExceeded: one of them is used up; the transaction is rolled back, so that none is counted.
    """
    for quota in quotas:
        window = {"user_name": user, "kind": quota.kind, "window_start": quota.window_start(now)}
        taken = None
        if quota.limit > 0:
            taken = conn.execute(_CONSUME, {**window, "most": quota.limit}).scalar()
        if taken is None:
            raise quota.exceeded(now)
        if taken == 1:  # the first use in a window: earlier windows of this user are over
            conn.execute(_DELETE_EARLIER, window)


#: As text: both databases accept this UPSERT, and SQLAlchemy has a different builder for each.
_CONSUME = text("""
    INSERT INTO usage (user_name, kind, window_start, taken) VALUES (:user_name, :kind, :window_start, 1)
    ON CONFLICT (user_name, kind, window_start)
    DO UPDATE SET taken = usage.taken + 1 WHERE usage.taken < :most
    RETURNING taken
""")
_DELETE_EARLIER = text("""
    DELETE FROM usage WHERE user_name = :user_name AND kind = :kind AND window_start < :window_start
""")
