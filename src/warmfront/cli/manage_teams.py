"""`warmfront teams`: show each team's spending today, and set its daily budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.cli.database_access import valid_name
from warmfront.cli.formatting import print_columns, print_json
from warmfront.cli.manage_users import parse_budget
from warmfront.cli.server_access import with_client

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warmfront.client import AsyncClient, TeamSpending


def show_all(*, as_json: bool) -> int:
    """List the teams with their spending today."""

    async def work(client: AsyncClient) -> int:
        teams = await client.teams()
        if as_json:
            print_json([team.to_json() for team in teams])
        else:
            _print_teams(teams)
        return 0

    return with_client(work, as_json=as_json)


def set_budget(name: str, amount: str, *, as_json: bool) -> int:
    """Set the daily budget of a team; `none` restores the default of the service."""

    async def work(client: AsyncClient) -> int:
        budget_usd = None if amount == "none" else parse_budget("AMOUNT", amount)
        team = await client.set_team_budget(valid_name("TEAM", name), budget_usd)
        if as_json:
            print_json(team.to_json())
        else:
            _print_teams([team])
        return 0

    return with_client(work, as_json=as_json)


def _print_teams(teams: Sequence[TeamSpending]) -> None:
    rows = [
        (
            team.team,
            f"${team.spent_usd:.2f}",
            f"${team.expected_usd:.2f}",
            "" if team.limit_usd is None else f"${team.limit_usd:.2f}",
            "own" if team.budget_usd is not None else "",
            ", ".join(team.members),
        )
        for team in teams
    ]
    print_columns([("TEAM", "SPENT TODAY", "EXPECTED", "BUDGET PER DAY", "", "MEMBERS"), *rows])
