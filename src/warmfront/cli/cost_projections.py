"""`warmfront cost --forecast` and `--what-if`: print future costs, and past costs under other policies.

Every figure comes from the server; nothing is computed here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warmfront.cli.formatting import print_columns, print_json
from warmfront.cli.server_access import with_client

if TYPE_CHECKING:
    from warmfront.client import AsyncClient

#: Longer forecasts are printed as "more than ten years".
_MAX_FORECAST_DAYS = 3650


def forecast(*, tasks_per_day: float | None, as_json: bool) -> int:
    """Print how long the credits last, at the current rate of submissions and at others."""

    async def work(client: AsyncClient) -> int:
        answer = (await client.forecast(tasks_per_day)).to_json()
        if as_json:
            print_json(answer)
            return 0
        print(f"Remaining credits: ${answer['credits_usd']:,.2f}. In parentheses: 90% intervals.\n")
        heading = ("PER DAY", "COST PER MONTH", "", "CREDITS LAST", "", "MEAN WAIT", "SOURCE")
        print_columns([heading, *(_forecast_row(row) for row in answer["items"])])
        return 0

    return with_client(work, as_json=as_json)


def _forecast_row(row: dict[str, Any]) -> tuple[str, ...]:
    month, lasts = row["month_usd"], row["lasts_days"]
    return (
        f"{row['tasks_per_day']:g}",
        "" if month is None else f"${month['mid']:,.2f}",
        "" if month is None else f"(${month['low']:,.2f} to ${month['high']:,.2f})",
        "not enough data" if lasts is None else _days(lasts["mid"]),
        "" if lasts is None else f"({_days(lasts['low'])} to {_days(lasts['high'])})",
        f"{row['wait_mean_s']:.0f} s",
        row["source"],
    )


def _days(days: float) -> str:
    return "more than ten years" if days >= _MAX_FORECAST_DAYS else f"{days:,.0f} days"


def what_if(*, as_json: bool) -> int:
    """Print this month's cost, and what it would have been under other policies."""

    async def work(client: AsyncClient) -> int:
        answer = (await client.what_if()).to_json()
        if as_json:
            print_json(answer)
        else:
            print("\n".join(what_if_lines(answer)))
        return 0

    return with_client(work, as_json=as_json)


def what_if_lines(answer: dict[str, Any]) -> list[str]:
    """Return a one-line summary and one line per policy."""
    if not answer["items"]:
        return [f"this month ${answer['spent_usd']:,.2f}; no submission has needed a VM yet"]
    parts = [f"this month ${answer['spent_usd']:,.2f}{' (simulated)' if answer['simulated'] else ''}"]
    parts += [
        f"with {row['policy']} it would have been ${row['usd']:,.2f}"
        for row in answer["items"]
        if not row["best"]
    ]
    parts += [f"the best possible was ${row['usd']:,.2f}" for row in answer["items"] if row["best"]]
    lines = ["; ".join(parts), ""]
    lines += [
        f"  {row['policy']}: {row['cold_starts']:,} cold starts, mean wait {row['wait_mean_s']:.0f} s"
        for row in answer["items"]
    ]
    return lines
