"""The options of the commands for users and teams."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer reads the annotations
from typing import Annotated

import typer

JsonOption = Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")]

users_app = typer.Typer(
    help="Invite people, such as the first admin, and list users; on the machine of the service.",
    no_args_is_help=True,
)
teams_app = typer.Typer(
    help="Show the spending of teams, and set their budgets and assignments.", no_args_is_help=True
)

TeamArgument = Annotated[str, typer.Argument(help="The name of the team.", show_default=False)]


@users_app.command("invite")
def invite_user(
    *,
    role: Annotated[str, typer.Option(help="reader, author, operator or admin.")] = "author",
    team: Annotated[str | None, typer.Option(help="The team that the person joins.")] = None,
    budget: Annotated[
        str | None, typer.Option(help="Dollars per day, in place of WARMFRONT_DAILY_BUDGET.")
    ] = None,
    note: Annotated[str, typer.Option(help="A note for the list of invitations, such as a name.")] = "",
    valid_for: Annotated[str, typer.Option(help="How long the link works, such as 2h or 7d.")] = "7d",
    as_json: JsonOption = False,
) -> None:
    """Print a link with which one person can sign in, for example the first admin."""
    from warmfront.cli import manage_users

    raise typer.Exit(
        manage_users.invite(role, team=team, budget=budget, note=note, valid_for=valid_for, as_json=as_json)
    )


@users_app.command("list")
def list_users(*, as_json: JsonOption = False) -> None:
    """List the users who have signed in."""
    from warmfront.cli import manage_users

    raise typer.Exit(manage_users.show_all(as_json=as_json))


@teams_app.command("list")
def list_teams(*, as_json: JsonOption = False) -> None:
    """List the teams with their spending today (UTC); operators only."""
    from warmfront.cli import manage_teams

    raise typer.Exit(manage_teams.show_all(as_json=as_json))


@teams_app.command("budget")
def set_team_budget(
    team: TeamArgument,
    amount: Annotated[
        str,
        typer.Argument(
            help="Dollars per day for all members together, or none for WARMFRONT_TEAM_DAILY_BUDGET.",
            show_default=False,
        ),
    ],
    *,
    as_json: JsonOption = False,
) -> None:
    """Set how much a team may spend per day (UTC); admins only."""
    from warmfront.cli import manage_teams

    raise typer.Exit(manage_teams.set_budget(team, amount, as_json=as_json))


@teams_app.command("assignments")
def list_assignments(team: TeamArgument, *, as_json: JsonOption = False) -> None:
    """List the assignments of a team; for its members, and operators."""
    from warmfront.cli import manage_assignments

    raise typer.Exit(manage_assignments.show_all(team, as_json=as_json))


@teams_app.command("assign")
def create_assignment(
    team: TeamArgument,
    problem: Annotated[str, typer.Argument(help="The slug of the problem.", show_default=False)],
    *,
    deadline: Annotated[
        str,
        typer.Option(help="When it closes, with a time zone, such as 2030-01-31T23:59Z.", show_default=False),
    ],
    title: Annotated[str, typer.Option(help="The title; by default that of the problem.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Set an assignment and print its id; for managers of the team, and operators."""
    from warmfront.cli import manage_assignments

    raise typer.Exit(
        manage_assignments.create(team, problem, deadline=deadline, title=title, as_json=as_json)
    )


@teams_app.command("deadline")
def change_deadline(
    team: TeamArgument,
    assignment: Annotated[
        str, typer.Argument(help="The id of the assignment, or a prefix of it.", show_default=False)
    ],
    deadline: Annotated[
        str,
        typer.Argument(
            help="When it closes, with a time zone, such as 2030-01-31T23:59Z.", show_default=False
        ),
    ],
    *,
    as_json: JsonOption = False,
) -> None:
    """Change the deadline of an assignment, even a closed one; for managers of the team, and operators."""
    from warmfront.cli import manage_assignments

    raise typer.Exit(manage_assignments.change_deadline(team, assignment, deadline, as_json=as_json))


@teams_app.command("results")
def export_results(
    team: TeamArgument,
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write; stdout by default.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Export JSON instead of CSV.")] = False,
) -> None:
    """Export the results of every member as CSV; for managers of the team, and operators."""
    from warmfront.cli import manage_assignments

    raise typer.Exit(manage_assignments.export_results(team, output=output, as_json=as_json))
