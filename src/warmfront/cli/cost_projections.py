"""`warmfront cost --forecast` and `--what-if`: what is to come, and what might have been.

Only shows: every figure is the server's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warmfront.cli.formatting import print_columns, print_json
from warmfront.cli.server_access import ask

if TYPE_CHECKING:
    from warmfront.client import AsyncClient

_FOR_EVER_DAYS = 3650


def forecast(*, tasks_per_day: float | None, as_json: bool) -> int:
    """How long the credits last, at the present pace and at others."""

    async def work(client: AsyncClient) -> int:
        told = (await client.forecast(tasks_per_day)).to_json()
        if as_json:
            print_json(told)
            return 0
        print(f"${told['credits_usd']:,.2f} are left. In brackets: where it lies nine times of ten.\n")
        heading = ("TASKS A DAY", "A MONTH", "", "LASTS", "", "WAITS", "FROM")
        print_columns([heading, *(_pace(row) for row in told["items"])])
        return 0

    return ask(work, as_json=as_json)


def _pace(row: dict[str, Any]) -> tuple[str, ...]:
    month, lasts = row["month_usd"], row["lasts_days"]
    return (
        f"{row['tasks_per_day']:g}",
        "" if month is None else f"${month['mid']:,.2f}",
        "" if month is None else f"(${month['low']:,.2f} to ${month['high']:,.2f})",
        "too few days" if lasts is None else _days(lasts["mid"]),
        "" if lasts is None else f"({_days(lasts['low'])} to {_days(lasts['high'])})",
        f"{row['wait_mean_s']:.0f} s",
        row["source"],
    )


def _days(days: float) -> str:
    return "ten years and more" if days >= _FOR_EVER_DAYS else f"{days:,.0f} days"


def what_if(*, as_json: bool) -> int:
    """This month, as it was and as it might have been."""

    async def work(client: AsyncClient) -> int:
        told = (await client.what_if()).to_json()
        if as_json:
            print_json(told)
        else:
            print("\n".join(what_if_lines(told)))
        return 0

    return ask(work, as_json=as_json)


def what_if_lines(told: dict[str, Any]) -> list[str]:
    """One line to quote, and what stands behind it."""
    if not told["items"]:
        return [f"this month ${told['spent_usd']:,.2f}; nothing needed a VM yet"]
    words = [f"this month ${told['spent_usd']:,.2f}{' (simulated)' if told['simulated'] else ''}"]
    words += [
        f"with {row['policy']} it would have been ${row['usd']:,.2f}"
        for row in told["items"]
        if not row["best"]
    ]
    words += [f"the best possible was ${row['usd']:,.2f}" for row in told["items"] if row["best"]]
    lines = ["; ".join(words), ""]
    lines += [
        f"  {row['policy']}: {row['cold_starts']:,} cold starts, {row['wait_mean_s']:.0f} s of waiting a task"
        for row in told["items"]
    ]
    return lines
