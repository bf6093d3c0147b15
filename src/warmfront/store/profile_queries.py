"""Queries for the profile of a user."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import bindparam, func, select

from warmfront.store import schema, submission_queries
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from warmfront.submission import Submission

_S = schema.submissions.c


class SolvedRecord(NamedTuple):
    """A problem that a user has solved, with its leaderboard."""

    problem: str
    solved_at: float | None
    board: list[Submission]  #: the best submission of every user and GPU


class UserProfile(NamedTuple):
    """The figures of a profile, from one snapshot."""

    submissions: int
    accepted: int
    by_day: dict[str, tuple[int, int]]  #: submissions and accepted ones, by day in UTC
    solved: list[SolvedRecord]


def profile(conn: Connection, user: str, since: float) -> UserProfile:
    """Return the profile of a user, with the activity since `since`."""
    counts = {verdict: number for verdict, number in conn.execute(_COUNTS, {"owner": user})}  # noqa: C416 - rows
    sent: Counter[str] = Counter()
    accepted: Counter[str] = Counter()
    for created_at, verdict in conn.execute(_ACTIVITY, {"owner": user, "since": since}):
        day = datetime.fromtimestamp(created_at, UTC).date().isoformat()
        sent[day] += 1
        accepted[day] += verdict == Verdict.ACCEPTED
    return UserProfile(
        submissions=sum(counts.values()),
        accepted=counts.get(Verdict.ACCEPTED, 0),
        by_day={day: (number, accepted[day]) for day, number in sorted(sent.items())},
        solved=[
            SolvedRecord(problem, solved_at, submission_queries.best(conn, problem))
            for problem, solved_at in conn.execute(_SOLVED, {"owner": user})
        ],
    )


_COUNTS = select(_S.verdict, func.count()).where(_S.owner == bindparam("owner")).group_by(_S.verdict)
_ACTIVITY = select(_S.created_at, _S.verdict).where(
    _S.owner == bindparam("owner"), _S.created_at >= bindparam("since")
)
_SOLVED = (
    select(_S.problem, func.min(_S.finished_at))
    .where(_S.owner == bindparam("owner"), _S.verdict == Verdict.ACCEPTED)
    .group_by(_S.problem)
    .order_by(_S.problem)
)
