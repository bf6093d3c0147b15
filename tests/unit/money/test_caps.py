"""Daily caps: what a user, a team and the service may spend per day."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from warmfront.roles import Role
from warmfront.settings import Settings
from warmfront.store import account_queries, ledger_queries, team_queries
from warmfront.store.memory_database import MemoryDatabase
from warmfront.store.records import LedgerEntry, Meter
from warmfront.usage_limits import DailyCaps, DailySpending

if TYPE_CHECKING:
    from collections.abc import Iterator

DAY = 1_700_006_400.0
NOON = DAY + 43_200


@pytest.fixture
def database() -> Iterator[MemoryDatabase]:
    """Yield a store: Ada and Bob share a team, Cid has none; each spent $2 today and $9 yesterday."""
    database = MemoryDatabase()
    for user, team in (("ada", "kernels"), ("bob", "kernels"), ("cid", None)):
        database.run(account_queries.create_key, user, Role.AUTHOR, 1.0, team=team)
        database.run(ledger_queries.add, [_entry(user, DAY + 60, "2"), _entry(user, DAY - 60, "9")])
    database.run(ledger_queries.add, [_entry(None, DAY + 60, "1")])
    yield database
    database.dispose()


def _entry(owner: str | None, started_at: float, usd: str) -> LedgerEntry:
    return LedgerEntry(
        vm_id="vm",
        meter=Meter.WORK,
        started_at=started_at,
        ended_at=started_at + 30,
        amount_usd=Decimal(usd),
        owner=owner,
    )


def _caps(
    name: str, team: str | None, user_usd: str | None, team_usd: str | None, total_usd: str | None
) -> DailyCaps | None:
    limits = [None if usd is None else Decimal(usd) for usd in (user_usd, team_usd, total_usd)]
    settings = Settings(
        daily_budget_usd=limits[0], team_daily_budget_usd=limits[1], total_daily_budget_usd=limits[2]
    )
    return DailyCaps.for_user(settings, name, team)


@pytest.mark.parametrize(
    ("user", "team", "limits", "expected", "variable"),
    [
        ("ada", "kernels", ("2", None, None), "ada has spent $2.0000 of $2.00", "WARMFRONT_DAILY_"),
        ("bob", "kernels", (None, "3.5", None), "Team kernels has spent $4.0000 of $3.50", "TEAM_DAILY_"),
        ("cid", None, (None, None, "7"), "The service has spent $7.0000 of $7.00", "TOTAL_DAILY_"),
        ("ada", "kernels", ("9", "4", "1"), "Team kernels", "TEAM_DAILY_"),
    ],
)
def test_the_error_names_the_first_cap_that_is_used_up(  # noqa: PLR0917 - a table of cases
    database: MemoryDatabase,
    user: str,
    team: str | None,
    limits: tuple[str | None, str | None, str | None],
    expected: str,
    variable: str,
) -> None:
    """The error says whose cap it is, when it resets, and which setting raises it."""
    caps = _caps(user, team, *limits)
    assert caps is not None
    spending = database.run(ledger_queries.spent_today, user, team, NOON)
    error = caps.exceeded(spending, Decimal(0), NOON)
    assert error is not None
    assert expected in error.message
    assert "resets at midnight UTC, in 12 h 1 min" in error.message
    assert variable in str(error.hint)


@pytest.mark.parametrize("limits", [("2.01", None, None), ("3", "4.01", "7.01")])
def test_a_user_below_every_cap_passes(
    database: MemoryDatabase, limits: tuple[str | None, str | None, str | None]
) -> None:
    """The check raises nothing, and the remainder is the limit minus the spending."""
    caps = _caps("ada", "kernels", *limits)
    assert caps is not None
    spending = database.run(ledger_queries.spent_today, "ada", "kernels", NOON)
    caps.check(spending, Decimal("0.01"), NOON)
    assert all(cap.left_usd == cap.limit_usd - cap.spent_usd > 0 for cap in caps.used(spending))


@pytest.mark.parametrize(
    ("expected_usd", "cost_usd", "fits"),
    [("0", "1", True), ("0", "1.01", False), ("0.6", "0.4", True), ("0.6", "0.5", False), ("1", "0", False)],
)
def test_unfinished_submissions_and_the_new_one_count(expected_usd: str, cost_usd: str, fits: bool) -> None:  # noqa: FBT001 - a table of cases
    """Spent amount, expected cost of the others and cost of the submission are added."""
    caps = _caps("ada", None, "3", None, None)
    assert caps is not None
    spending = DailySpending(user_usd=Decimal(2), user_expected_usd=Decimal(expected_usd))
    error = caps.exceeded(spending, Decimal(cost_usd), NOON)
    assert (error is None) == fits
    if error is not None:
        assert "ada has spent $2.0000 of $3.00 per day" in error.message
        assert f"expected to cost ${Decimal(expected_usd):.4f}, and this one ${Decimal(cost_usd):.4f}" in (
            error.message
        )


def test_without_limits_there_are_no_caps() -> None:
    """No limit that applies to a user means no caps; a team's limit does not apply without a team."""
    assert _caps("cid", None, None, "1", None) is None
    caps = _caps("ada", "kernels", None, None, None)
    assert caps is not None  # the team may have a budget of its own
    assert caps.used(DailySpending()) == []


@pytest.mark.parametrize(
    ("budget", "setting", "cost", "fits"),
    [
        ("5.00", None, "1.00", True),  # four dollars are spent by two members
        ("5.00", None, "1.01", False),
        ("5.00", "4.50", "1.00", True),  # the team's budget replaces the setting, even if it is higher
        ("4.25", "9", "0.26", False),
        ("4.00", "9", "0", False),
        (None, "5.00", "1.00", True),
        (None, "5.00", "1.01", False),
    ],
)
def test_the_budget_of_a_team_replaces_the_setting(
    database: MemoryDatabase,
    budget: str | None,
    setting: str | None,
    cost: str,
    fits: bool,  # noqa: FBT001 - a column of the table
) -> None:
    """The spending of all members counts, to the cent, and the error says who can raise the budget."""
    database.run(team_queries.set_budget, "kernels", None if budget is None else Decimal(budget))
    caps = _caps("bob", "kernels", None, setting, None)
    assert caps is not None
    spending = database.run(ledger_queries.spent_today, "bob", "kernels", NOON)
    error = caps.exceeded(spending, Decimal(cost), NOON)
    assert (error is None) == fits
    if error is not None:
        assert f"Team kernels has spent $4.0000 of ${budget or setting} per day" in error.message
        own, default = "An admin can raise the budget of the team kernels.", "WARMFRONT_TEAM_DAILY_BUDGET"
        assert (own if budget else default) in str(error.hint)


def test_the_budget_of_a_team_can_be_changed_and_deleted(database: MemoryDatabase) -> None:
    """The last amount counts; without one, the setting applies. Other teams are not affected."""
    for budget in (Decimal("4.50"), Decimal("0.000001"), None):
        database.run(team_queries.set_budget, "kernels", budget)
        assert database.run(team_queries.budget, "kernels") == budget
    database.run(team_queries.set_budget, "new", Decimal(7))
    assert database.run(team_queries.all_teams) == {"kernels": ["ada", "bob"], "new": []}
    assert database.run(ledger_queries.spent_today, "ada", "kernels", NOON).team_budget_usd is None


def test_a_new_day_starts_at_zero(database: MemoryDatabase) -> None:
    """At midnight UTC nothing is spent."""
    tomorrow = DAY + 86_400
    assert database.run(ledger_queries.spent_today, "ada", "kernels", tomorrow) == DailySpending()
