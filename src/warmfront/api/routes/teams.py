"""Teams and classes: assignments with a deadline, and results. Only members and operators see a team."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path
from fastapi.responses import Response

from warmfront.api.deps import CallerDep, ProblemsDep, ServiceDep
from warmfront.api.error_responses import InvalidField, quote_value
from warmfront.api.openapi import error_responses_for
from warmfront.api.routes.managed_keys import team_spending
from warmfront.errors import NotAllowed, NotFound
from warmfront.store.account_records import TeamAssignment
from warmfront.wire.base import isoformat
from warmfront.wire.teams import (
    AssignmentCreatedResponse,
    AssignmentRequest,
    AssignmentResponse,
    AssignmentResultResponse,
    DeadlineRequest,
    TeamDetailResponse,
)

if TYPE_CHECKING:
    from warmfront.api.auth import Caller
    from warmfront.api.context import ServiceContext
    from warmfront.store.account_records import AssignmentResult

router = APIRouter(prefix="/teams", tags=["teams"])

_TeamName = Annotated[str, Path(max_length=64)]
_AssignmentId = Annotated[str, Path(max_length=100)]
#: Times beyond the year 9999, which a time zone can reach, cannot be written in ISO 8601.
_TOO_LATE = datetime(9999, 1, 1, tzinfo=UTC).timestamp()
_CSV_HEAD = (
    "assignment",
    "problem",
    "deadline",
    "user",
    "submissions",
    "solved",
    "first_accepted",
    "best_ms",
    "gpu",
    "simulated",
)


@router.get("/{team}", responses=error_responses_for(404, 422))
async def get_team(team: _TeamName, service: ServiceDep, caller: CallerDep) -> TeamDetailResponse:
    """Return a team with its assignments. Only its managers get the results of other members."""
    await require_member(service, caller, team)
    can_manage = _can_manage(caller, team)
    results = await service.store.teams.results(team)
    now = service.clock.now()
    members = await service.store.teams.members(team)
    spending = await team_spending(service, team, members)
    return TeamDetailResponse(
        name=team,
        now=now,
        members=members,
        spent_usd=spending.spent_usd,
        expected_usd=spending.expected_usd,
        limit_usd=spending.limit_usd,
        can_manage=can_manage,
        assignments=[
            _assignment_response(
                assignment,
                [
                    result
                    for result in results
                    if result.assignment_id == assignment.id and (can_manage or result.user == caller.user)
                ],
                now,
            )
            for assignment in await service.store.teams.assignments(team)
        ],
    )


@router.post("/{team}/assignments", status_code=201, responses=error_responses_for(404, 413, 415, 422))
async def create_assignment(
    body: AssignmentRequest,
    team: _TeamName,
    service: ServiceDep,
    problems: ProblemsDep,
    caller: CallerDep,
) -> AssignmentCreatedResponse:
    """Set an assignment for a team. For its managers, and operators.

    A second request with the same problem, title and deadline returns the first assignment.
    """
    await _require_manager(service, caller, team)
    problem = problems.require(body.problem)
    now = service.clock.now()
    deadline_at = _future(body.deadline_at, now)
    assignment = await service.store.teams.create_assignment(
        TeamAssignment(
            id=service.new_id("asg"),
            team=team,
            problem=problem.slug,
            title=body.title.strip() or problem.title,
            deadline_at=deadline_at,
            created_by=caller.user,
            created_at=now,
        )
    )
    detail = await get_team(team, service, caller)
    return AssignmentCreatedResponse(assignment_id=assignment.id, **dict(detail))


@router.post(
    "/{team}/assignments/{assignment_id}/deadline", responses=error_responses_for(404, 413, 415, 422)
)
async def change_deadline(
    body: DeadlineRequest,
    team: _TeamName,
    assignment_id: _AssignmentId,
    service: ServiceDep,
    caller: CallerDep,
) -> TeamDetailResponse:
    """Change the deadline of an assignment, even a closed one. For managers of the team, and operators.

    Submissions between the old and the new deadline then count, or no longer count.
    """
    await _require_manager(service, caller, team)
    deadline_at = _future(body.deadline_at, service.clock.now())
    if not await service.store.teams.set_deadline(team, assignment_id, deadline_at):
        raise _no_assignment(team, assignment_id)
    return await get_team(team, service, caller)


@router.post("/{team}/assignments/{assignment_id}/delete", responses=error_responses_for(404, 413, 422))
async def delete_assignment(
    team: _TeamName,
    assignment_id: _AssignmentId,
    service: ServiceDep,
    caller: CallerDep,
) -> TeamDetailResponse:
    """Delete an assignment. Submissions are kept. For managers of the team, and operators."""
    await _require_manager(service, caller, team)
    if not await service.store.teams.delete_assignment(team, assignment_id):
        raise _no_assignment(team, assignment_id)
    return await get_team(team, service, caller)


@router.get(
    "/{team}/results.csv",
    response_class=Response,
    responses={200: {"content": {"text/csv": {}}}, **error_responses_for(404, 422)},
)
async def export_results(team: _TeamName, service: ServiceDep, caller: CallerDep) -> Response:
    """Export the results of every member as CSV. For managers of the team, and operators."""
    await _require_manager(service, caller, team)
    assignments = {item.id: item for item in await service.store.teams.assignments(team)}
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_CSV_HEAD)
    for result in await service.store.teams.results(team):
        writer.writerow(_csv_row(assignments[result.assignment_id], result))
    headers = {"Content-Disposition": f'attachment; filename="{team}-results.csv"'}
    return Response(text.getvalue(), media_type="text/csv", headers=headers)


async def require_member(service: ServiceContext, caller: Caller, team: str) -> None:
    """Raise `NotFound` unless the caller is a member of the team, or an operator and the team exists."""
    if caller.team == team:
        return
    if not caller.is_operator or not await service.store.teams.members(team):
        raise NotFound(f"There is no team {quote_value(team)}, or you are not a member of it.")


async def _require_manager(service: ServiceContext, caller: Caller, team: str) -> None:
    await require_member(service, caller, team)
    if not _can_manage(caller, team):
        raise NotAllowed(
            f"Managing the team {team} requires the role operator, or being a manager of the team.",
            hint="Ask an admin to make you a manager of the team.",
        )


def _can_manage(caller: Caller, team: str) -> bool:
    return caller.is_operator or (caller.manages_team and caller.team == team)


def _future(deadline_at: datetime, now: float) -> float:
    """Return the deadline in seconds since 1970; raise `InvalidField` if it has passed or is too late."""
    if not now < deadline_at.timestamp() < _TOO_LATE:
        raise InvalidField(
            "deadline_at", deadline_at.isoformat(), f"a time after {isoformat(now)} and before the year 9999"
        )
    return deadline_at.timestamp()


def _no_assignment(team: str, assignment_id: str) -> NotFound:
    return NotFound(
        f"Team {team} has no assignment {quote_value(assignment_id)}.",
        hint=f"GET /api/amd/teams/{team} lists the assignments.",
    )


def _assignment_response(
    assignment: TeamAssignment, results: list[AssignmentResult], now: float
) -> AssignmentResponse:
    return AssignmentResponse(
        id=assignment.id,
        problem=assignment.problem,
        title=assignment.title,
        deadline_at=assignment.deadline_at,
        is_open=assignment.deadline_at > now,
        created_by=assignment.created_by,
        results=[
            AssignmentResultResponse(
                user=result.user,
                submissions=result.submissions,
                accepted=result.accepted,
                solved=result.accepted > 0,
                best_submission_id=result.best_submission_id,
                best_runtime_ms=result.best_runtime_ms,
                gpu_type=result.gpu,
                simulated=result.simulated,
                accepted_at=result.accepted_at,
            )
            for result in results
        ],
    )


def _csv_row(assignment: TeamAssignment, result: AssignmentResult) -> list[object]:
    return [
        _plain_cell(assignment.title),
        assignment.problem,
        isoformat(assignment.deadline_at),
        _plain_cell(result.user),
        result.submissions,
        "yes" if result.accepted else "no",
        "" if result.accepted_at is None else isoformat(result.accepted_at),
        "" if result.best_runtime_ms is None else result.best_runtime_ms,
        result.gpu or "",
        "" if result.simulated is None else ("yes" if result.simulated else "no"),
    ]


def _plain_cell(text: str) -> str:
    """Return the text in a form that a spreadsheet does not evaluate as a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
