"""Queries on teams: members, assignments, and the results of members before a deadline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, insert, select, union, update

from warmfront.store import schema
from warmfront.store.account_records import AssignmentResult, TeamAssignment
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from sqlalchemy import Connection

_A = schema.assignments.c
_S = schema.submissions.c
_U = schema.users.c
_K = schema.api_keys.c
_B = schema.team_budgets.c
_NAMES = tuple(TeamAssignment.__dataclass_fields__)
_ASSIGNMENTS = select(*[_A[name] for name in _NAMES])


def members(conn: Connection, team: str) -> list[str]:
    """Return the members of a team, by name: users who sign in, and users of active keys."""
    return sorted(row[0] for row in conn.execute(_MEMBERS, {"team": team}))


_MEMBERS = union(
    select(_U.name).where(_U.team == bindparam("team"), _U.disabled_at.is_(None)),
    select(_K.user_name).where(_K.team == bindparam("team"), _K.revoked_at.is_(None)),
)


def all_teams(conn: Connection) -> dict[str, list[str]]:
    """Return the members of every team that has members or a budget, by its name."""
    teams: dict[str, list[str]] = {}
    for team, member in sorted(conn.execute(_ALL_MEMBERS).all()):
        teams.setdefault(team, []).append(member)
    for (team,) in conn.execute(_WITH_BUDGET):
        teams.setdefault(team, [])
    return dict(sorted(teams.items()))


_ALL_MEMBERS = union(
    select(_U.team, _U.name).where(_U.team.is_not(None), _U.disabled_at.is_(None)),
    select(_K.team, _K.user_name).where(_K.team.is_not(None), _K.revoked_at.is_(None)),
)
_WITH_BUDGET = select(_B.team)


def budget(conn: Connection, team: str) -> Decimal | None:
    """Return the team's own daily budget; None if the configured budget applies."""
    row = conn.execute(_BUDGET, {"team": team}).first()
    return None if row is None else row.daily_budget_usd


_BUDGET = select(_B.daily_budget_usd).where(_B.team == bindparam("team"))


def set_budget(conn: Connection, team: str, budget_usd: Decimal | None) -> None:
    """Set the team's own daily budget; None deletes it."""
    conn.execute(_DELETE_BUDGET, {"this": team})
    if budget_usd is not None:
        conn.execute(_SET_BUDGET, {"team": team, "daily_budget_usd": budget_usd})


_DELETE_BUDGET = delete(schema.team_budgets).where(_B.team == bindparam("this"))
_SET_BUDGET = insert(schema.team_budgets)


def create_assignment(conn: Connection, assignment: TeamAssignment) -> TeamAssignment:
    """Store an assignment, unless the team has one with the same problem, title and deadline; return it.

    A request that is repeated, such as after a dropped connection, creates only one.
    """
    fields = {name: getattr(assignment, name) for name in _NAMES}
    row = conn.execute(_SAME, fields).first()
    if row is not None:
        return TeamAssignment(**row._asdict())
    conn.execute(_CREATE, fields)
    return assignment


_SAME = _ASSIGNMENTS.where(
    *(_A[name] == bindparam(name) for name in ("team", "problem", "title", "deadline_at"))
)
_CREATE = insert(schema.assignments)


def assignments(conn: Connection, team: str) -> list[TeamAssignment]:
    """Return the assignments of a team, by deadline."""
    rows = conn.execute(_OF_TEAM, {"team": team})
    return [TeamAssignment(**dict(zip(_NAMES, row, strict=True))) for row in rows]


_OF_TEAM = _ASSIGNMENTS.where(_A.team == bindparam("team")).order_by(_A.deadline_at, _A.id)


def set_deadline(conn: Connection, team: str, assignment_id: str, deadline_at: float) -> bool:
    """Change the deadline of an assignment; return False if the team has none with this id."""
    changed = conn.execute(_SET_DEADLINE, {"of_team": team, "of_id": assignment_id, "deadline": deadline_at})
    return changed.rowcount == 1


_SET_DEADLINE = (
    update(schema.assignments)
    .where(_A.team == bindparam("of_team"), _A.id == bindparam("of_id"))
    .values(deadline_at=bindparam("deadline"))
)


def delete_assignment(conn: Connection, team: str, assignment_id: str) -> bool:
    """Delete an assignment; return False if the team has none with this id. Submissions are kept."""
    return conn.execute(_DELETE, {"team": team, "id": assignment_id}).rowcount == 1


_DELETE = delete(schema.assignments).where(_A.team == bindparam("team"), _A.id == bindparam("id"))


def results(conn: Connection, team: str) -> list[AssignmentResult]:
    """Return the result of every member for every assignment. A submission counts by the time it was sent."""
    people = members(conn, team)
    found = []
    for assignment in assignments(conn, team):
        until = {"problem": assignment.problem, "deadline": assignment.deadline_at}
        by_owner: dict[str, list[Any]] = {}
        for row in conn.execute(_UNTIL, until):
            by_owner.setdefault(row.owner, []).append(row)
        found += [_result(assignment.id, person, by_owner.get(person, [])) for person in people]
    return found


_UNTIL = (
    select(
        _S.owner, _S.id, _S.verdict, _S.avg_runtime_ms, _S.gpu, _S.simulated, _S.created_at, _S.finished_at
    )
    .where(_S.problem == bindparam("problem"), _S.created_at <= bindparam("deadline"))
    .order_by(_S.created_at, _S.id)
)


def _result(assignment_id: str, user: str, rows: Sequence[Any]) -> AssignmentResult:
    accepted = [row for row in rows if row.verdict == Verdict.ACCEPTED]
    # Times on a GPU before simulated ones, then the fastest.
    timed = sorted(
        (row for row in accepted if row.avg_runtime_ms is not None),
        key=lambda row: (row.simulated, row.avg_runtime_ms),
    )
    best = timed[0] if timed else (accepted[0] if accepted else None)
    return AssignmentResult(
        assignment_id=assignment_id,
        user=user,
        submissions=len(rows),
        accepted=len(accepted),
        best_submission_id=best.id if best else None,
        best_runtime_ms=best.avg_runtime_ms if best else None,
        gpu=best.gpu if best else None,
        simulated=bool(best.simulated) if best else None,
        accepted_at=accepted[0].finished_at if accepted else None,
    )
