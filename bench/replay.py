"""Time a replay with prepared statements, relative to the same replay with SQLAlchemy's own execution.

`warmfront.store.memory_database` sends compiled statements directly to the SQLite driver. The same replay
also runs with SQLAlchemy's connection on the same kind of database, in alternating rounds.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING
from unittest import mock

from bench.timing import medians_s, print_bars
from warmfront.money.billing import Billing
from warmfront.settings import Settings
from warmfront.simulate.arrival_traces import workday
from warmfront.simulate.replay import ReplayConfig, replay
from warmfront.store import memory_database
from warmfront.store.event_queries import INSERT_EVENT

if TYPE_CHECKING:
    import sqlite3
    from typing import Any

    from sqlalchemy import Connection
    from sqlalchemy.sql import Executable

PER_DAY, DAYS, SEED = 50, 60, 1
ROUNDS = 3

_CONFIG = ReplayConfig(settings=Settings(max_vms=1), billing=Billing(rate_usd_per_h=Decimal("1.99")))


class SqlalchemyConnection:
    """Runs statements with SQLAlchemy; discards the same ones as the prepared connection."""

    def __init__(
        self, raw: sqlite3.Connection, sqlalchemy: Connection, discarded: frozenset[Executable]
    ) -> None:
        del raw
        self._sqlalchemy = sqlalchemy
        self._discards_events = INSERT_EVENT in discarded

    def execute(self, statement: Executable, parameters: Any = None) -> Any:  # noqa: ANN401 - SQLAlchemy's signature
        """Execute one statement."""
        if self._discards_events and statement is INSERT_EVENT:
            return None
        return self._sqlalchemy.execute(statement, parameters)


def main() -> None:
    """Measure both and print the ratio."""
    arrivals_s = workday(PER_DAY, DAYS, SEED)
    prepared_usd, sqlalchemy_usd = [], []

    def prepared() -> None:
        prepared_usd.append(replay(arrivals_s, _CONFIG).usd)

    def by_sqlalchemy() -> None:
        with mock.patch.object(memory_database, "_PreparedConnection", SqlalchemyConnection):
            sqlalchemy_usd.append(replay(arrivals_s, _CONFIG).usd)

    seconds = medians_s({"prepared statements": prepared, "SQLAlchemy's execution": by_sqlalchemy}, ROUNDS)
    assert set(prepared_usd) == set(sqlalchemy_usd), "the two replays have different costs"
    print(f"  replay of {DAYS} days, {arrivals_s.size:,} submissions")
    print_bars(seconds)
    ratio = seconds["prepared statements"] / seconds["SQLAlchemy's execution"]
    print(f"  prepared statements relative to SQLAlchemy's execution: {ratio:.2f} (goal: 0.95 or less)")


if __name__ == "__main__":
    main()
