"""The part of the store for teams and their assignments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.store import operator_queries, team_queries

if TYPE_CHECKING:
    from decimal import Decimal

    from warmfront.audit_chain import Actor
    from warmfront.store.account_records import AssignmentResult, TeamAssignment
    from warmfront.store.database import Database


class TeamStore:
    """Named transactions and queries on teams."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def members(self, team: str) -> list[str]:
        """Return the members of a team, by name."""
        return await self._database.read(team_queries.members, team)

    async def all_teams(self) -> dict[str, list[str]]:
        """Return the members of every team that has members or a budget, by its name."""
        return await self._database.read(team_queries.all_teams)

    async def set_budget(self, team: str, budget_usd: Decimal | None, now: float, *, by: Actor) -> None:
        """Set the daily budget of a team; None restores the configured budget."""
        await self._database.write(operator_queries.set_team_budget, team, budget_usd, now, by=by)

    async def create_assignment(self, assignment: TeamAssignment) -> TeamAssignment:
        """Store an assignment, or return the one with the same problem, title and deadline."""
        return await self._database.write(team_queries.create_assignment, assignment)

    async def assignments(self, team: str) -> list[TeamAssignment]:
        """Return the assignments of a team, by deadline."""
        return await self._database.read(team_queries.assignments, team)

    async def set_deadline(self, team: str, assignment_id: str, deadline_at: float) -> bool:
        """Change the deadline of an assignment; return False if the team has none with this id."""
        return await self._database.write(team_queries.set_deadline, team, assignment_id, deadline_at)

    async def delete_assignment(self, team: str, assignment_id: str) -> bool:
        """Delete an assignment; return False if the team has none with this id."""
        return await self._database.write(team_queries.delete_assignment, team, assignment_id)

    async def results(self, team: str) -> list[AssignmentResult]:
        """Return the result of every member for every assignment."""
        return await self._database.read(team_queries.results, team)
