"""`warmfront teams`: list and set a team's assignments, change their deadlines, and export the results."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from warmfront.cli.database_access import isoformat, valid_name
from warmfront.cli.formatting import print_columns, print_json
from warmfront.cli.server_access import with_client
from warmfront.errors import BadRequest, NotAllowed, NotFound, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from warmfront.client import Assignment, AsyncClient, Team


def show_all(name: str, *, as_json: bool) -> int:
    """List the assignments of a team, by deadline."""

    async def work(client: AsyncClient) -> int:
        team = await _get_team(client, name)
        if as_json:
            print_json([assignment.to_json() for assignment in team.assignments])
        else:
            _print_assignments(team, team.assignments)
        return 0

    return with_client(work, as_json=as_json)


def create(name: str, problem: str, *, deadline: str, title: str, as_json: bool) -> int:
    """Set an assignment and print its id."""

    async def work(client: AsyncClient) -> int:
        team = await _get_team(client, name)
        deadline_at = _future("--deadline", deadline, team.now)
        created = await client.create_assignment(
            team.name, problem=problem, deadline_at=deadline_at, title=title
        )
        assignment = _find(created, created.assignment_id)
        if as_json:
            print_json(assignment.to_json())
            return 0
        print(assignment.id)
        print(
            f"Set the assignment {assignment.title!r} for the team {team.name}, until "
            f"{isoformat(assignment.deadline_at)}.",
            file=sys.stderr,
        )
        return 0

    return with_client(work, as_json=as_json)


def change_deadline(name: str, prefix: str, deadline: str, *, as_json: bool) -> int:
    """Change the deadline of an assignment, even a closed one."""

    async def work(client: AsyncClient) -> int:
        team = await _get_team(client, name)
        deadline_at = _future("DEADLINE", deadline, team.now)
        assignment = _find(team, prefix)
        changed = await client.change_deadline(team.name, assignment.id, deadline_at)
        assignment = _find(changed, assignment.id)
        if as_json:
            print_json(assignment.to_json())
        else:
            _print_assignments(changed, [assignment])
        return 0

    return with_client(work, as_json=as_json)


def export_results(name: str, *, output: Path | None, as_json: bool) -> int:
    """Export the results of every member, as CSV or JSON, to a file or stdout."""

    async def work(client: AsyncClient) -> int:
        team = await _get_team(client, name)
        if not team.can_manage:  # the team has only the caller's own results
            raise NotAllowed(
                f"Exporting the results of the team {team.name} requires the role operator, or being a "
                "manager of the team.",
                hint="Ask an admin to make you a manager of the team.",
            )
        content = _results_json(team) if as_json else await client.team_results(team.name)
        if output is None:
            sys.stdout.write(content.decode())
        else:
            _save(output, content)
        return 0

    return with_client(work, as_json=as_json)


async def _get_team(client: AsyncClient, name: str) -> Team:
    try:
        return await client.team(valid_name("TEAM", name))
    except NotFound as error:
        raise NotFound(error.message, hint="`warmfront teams list` lists the teams, for operators.") from None


def _find(team: Team, prefix: str) -> Assignment:
    """Return the assignment with this id, or the only one whose id starts with the prefix."""
    hint = f"`warmfront teams assignments {team.name}` lists their ids."
    matches = [item for item in team.assignments if _has_prefix(item.id, prefix)]
    exact = [item for item in matches if item.id == prefix]
    if len(exact or matches) == 1:
        return (exact or matches)[0]
    if not matches:
        raise NotFound(f"Team {team.name} has no assignment {prefix[:80]!r}.", hint=hint)
    raise UsageError(
        f"ASSIGNMENT is {prefix!r}, a prefix of {len(matches)} ids.", hint=f"Give a longer prefix. {hint}"
    )


def _has_prefix(assignment_id: str, prefix: str) -> bool:
    return assignment_id.startswith(prefix) or assignment_id.partition("_")[2].startswith(prefix)


def _future(name: str, text: str, now: float) -> datetime:
    """Return a time with a time zone that is after the service's own time, or raise `BadRequest`."""
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError:
        time = None
    allowed = f"{name} is {text[:80]!r}; allowed: an ISO 8601 time with a time zone"
    next_year = datetime.fromtimestamp(now, UTC).year + 1
    hint = f"Use, for example, {next_year}-01-31T23:59Z, or {next_year}-01-31T23:59+01:00."
    if time is None or time.tzinfo is None:
        raise BadRequest(f"{allowed}.", hint=hint)
    if time.timestamp() <= now:
        raise BadRequest(f"{allowed}, after {isoformat(now)}.", hint=hint)
    return time


def _print_assignments(team: Team, assignments: Sequence[Assignment]) -> None:
    solved_by = "SOLVED BY" if team.can_manage else "SOLVED"
    rows = [
        (
            assignment.id,
            assignment.problem,
            isoformat(assignment.deadline_at) or "",
            "open" if assignment.is_open else "closed",
            _solved(team, assignment),
            assignment.title,
        )
        for assignment in assignments
    ]
    print_columns([("ID", "PROBLEM", "DEADLINE", "STATE", solved_by, "TITLE"), *rows])


def _solved(team: Team, assignment: Assignment) -> str:
    """Return how many members have solved it or, for a member, whether they have."""
    count = sum(result.solved for result in assignment.results)
    if team.can_manage:
        return f"{count} of {len(assignment.results)}"
    return "yes" if count else "no"


def _results_json(team: Team) -> bytes:
    """Return a JSON list with one object per assignment and member."""
    results = [
        {
            "assignment_id": assignment.id,
            "title": assignment.title,
            "problem": assignment.problem,
            "deadline_at": isoformat(assignment.deadline_at),
            **result.to_json(),
        }
        for assignment in team.assignments
        for result in assignment.results
    ]
    return (json.dumps(results, indent=2, ensure_ascii=False) + "\n").encode()


def _save(file: Path, content: bytes) -> None:
    try:
        file.write_bytes(content)
    except OSError as error:
        raise UsageError(
            f"The results cannot be written to {file}: {error.strerror}.",
            hint="Pass a file that you may write with --output, or omit it to print the results.",
        ) from None
    print(f"Saved the results to {file}.", file=sys.stderr)
