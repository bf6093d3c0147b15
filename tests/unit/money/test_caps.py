"""Caps by user, team and day: which is hit, what is left, and when it begins anew."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from warmfront.money import caps
from warmfront.money.caps import Limits
from warmfront.store import keys, ledger
from warmfront.store.records import LedgerEntry, Meter, Role
from warmfront.testing.store import MemoryDatabase

if TYPE_CHECKING:
    from collections.abc import Iterator

DAY = 20_000 * 86_400.0
NOON = DAY + 43_200


@pytest.fixture
def database() -> Iterator[MemoryDatabase]:
    """Ada and Bob of one team, Cid of none; each has spent two dollars today and nine yesterday."""
    made = MemoryDatabase()
    for user, team in (("ada", "kernels"), ("bob", "kernels"), ("cid", None)):
        made.run(keys.create, user, Role.USER, 1.0, team=team)
        made.run(ledger.add, [_entry(user, DAY + 60, "2"), _entry(user, DAY - 60, "9")])
    made.run(ledger.add, [_entry(None, DAY + 60, "1")])
    yield made
    made.close()


def _entry(owner: str | None, started_at: float, usd: str) -> LedgerEntry:
    return LedgerEntry(
        vm_id="vm",
        meter=Meter.WORK,
        started_at=started_at,
        ended_at=started_at + 30,
        amount_usd=Decimal(usd),
        owner=owner,
    )


def _limits(user: str | None = None, team: str | None = None, total: str | None = None) -> Limits:
    user_usd, team_usd, total_usd = (None if usd is None else Decimal(usd) for usd in (user, team, total))
    return Limits(user_usd=user_usd, team_usd=team_usd, total_usd=total_usd)


@pytest.mark.parametrize(
    ("limits", "user", "team", "said", "variable"),
    [
        (_limits(user="2"), "ada", "kernels", "ada has spent $2.0000 today of $2.00", "WARMFRONT_DAILY_"),
        (
            _limits(team="3.5"),
            "bob",
            "kernels",
            "Team kernels has spent $4.0000 today of $3.50",
            "TEAM_DAILY_",
        ),
        (_limits(total="7"), "cid", None, "The service has spent $7.0000 today of $7.00", "TOTAL_DAILY_"),
        (_limits("9", "4", "1"), "ada", "kernels", "Team kernels", "TEAM_DAILY_"),
    ],
)
def test_the_error_names_the_cap(  # noqa: PLR0917 - a table of cases
    database: MemoryDatabase, limits: Limits, user: str, team: str | None, said: str, variable: str
) -> None:
    """The refusal says whose cap it is, what is left, when it begins anew, and where it is set."""
    refusal = caps.refusal(database.run(caps.today, limits, user, team, NOON), NOON)
    assert refusal is not None
    assert refusal.message.startswith(said)
    assert "$0.00 are left until midnight UTC, in 12 h 1 min" in refusal.message
    assert variable in str(refusal.hint)


@pytest.mark.parametrize("limits", [_limits(), _limits(user="2.01"), _limits("3", "4.01", "7.01")])
def test_who_has_something_left_may_go_on(database: MemoryDatabase, limits: Limits) -> None:
    """Below every cap nobody is refused, and what is left is the difference."""
    found = database.run(caps.today, limits, "ada", "kernels", NOON)
    assert caps.refusal(found, NOON) is None
    assert all(cap.left_usd == cap.limit_usd - cap.spent_usd > 0 for cap in found)


def test_a_team_is_no_cap_for_others(database: MemoryDatabase) -> None:
    """Whoever has no team is not counted with one."""
    assert database.run(caps.today, _limits(team="1"), "cid", None, NOON) == []


def test_a_new_day_begins_anew(database: MemoryDatabase) -> None:
    """At midnight UTC nothing is spent."""
    tomorrow = DAY + 86_400
    found = database.run(caps.today, _limits("1", "1", "1"), "ada", "kernels", tomorrow)
    assert [cap.spent_usd for cap in found] == [0, 0, 0]
