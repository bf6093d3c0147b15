"""The table and charts of docs/costs.md: the cost of each policy, and how long the credits last.

All figures come from replays through the real orchestrator and its ledger. `--write` updates the table and
the two charts in docs/; without it the table is printed.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from warmfront.money.billing import Billing
from warmfront.settings import Settings
from warmfront.simulate import charts
from warmfront.simulate.account_forecast import PACES, Account, forecasts
from warmfront.simulate.arrival_traces import DAY_S, workday
from warmfront.simulate.comparison import Conditions, Policy, compare

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "costs.md"
POLICIES_CHART = DOCS / "costs-policies.svg"
DAY_CHART = DOCS / "costs-day.svg"
BEGIN, END = "<!-- made by python -m bench.costs --write -->", "<!-- end -->"

#: The trace of the charts: fifty submissions per day for four weeks, and its second day.
_PER_DAY, _DAYS, _SEED = 50.0, 28.0, 1
_SHOWN_S = (DAY_S, 2 * DAY_S)
_WAIT_USD_PER_H = 20.0
_POLICIES = (
    Policy(name="release at once", keep_warm="fixed", idle_s=0.0),
    Policy(name="fixed 10 m", keep_warm="fixed", idle_s=600.0),
    Policy(name="always on", keep_warm="fixed", idle_s=3660 * DAY_S),
    Policy(name="adaptive", keep_warm="adaptive"),
)

#: A new service with all of its credits.
ACCOUNT = Account(
    arrivals_at=[],
    days=0,
    credits_usd=1400.0,
    keep_warm="fixed",
    idle_timeout_s=600.0,
    wait_value_usd_per_h=_WAIT_USD_PER_H,
    max_vms=1,
    boot_s=450.0,
    task_s=30.0,
    rate_usd_per_h="1.99",
)


def row(per_day: float, keep_warm: str) -> str:
    """Return a row of the table."""
    (forecast,) = forecasts(replace(ACCOUNT, keep_warm=keep_warm), [per_day])
    month, lasts = forecast["month_usd"], forecast["lasts_days"]
    return (
        f"| {per_day:g} | {keep_warm} | ${month['mid']:,.0f} | ${month['low']:,.0f} to ${month['high']:,.0f} "
        f"| {lasts['mid']:,.0f} days | {lasts['low']:,.0f} to {lasts['high']:,.0f} "
        f"| {forecast['wait_mean_s']:.0f} s |"
    )


def table() -> str:
    """Return the table: cost per month and how long $1,400 last, at three paces with both policies."""
    lines = [
        "| per day | policy | cost per month | 90% interval | $1,400 last | 90% interval | mean wait |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    return "\n".join([*lines, *(row(pace, policy) for pace in PACES for policy in ("fixed", "adaptive"))])


def draw_charts() -> tuple[str, str]:
    """Return the chart of the costs of each policy, and the timeline of its VM on one day."""
    arrivals_s = workday(_PER_DAY, _DAYS, _SEED)
    billing = Billing(rate_usd_per_h=Decimal(ACCOUNT.rate_usd_per_h))
    rows = compare(
        arrivals_s,
        settings=Settings(),
        policies=_POLICIES,
        all_conditions=[Conditions(max_vms=1, boot_s=ACCOUNT.boot_s, task_s=ACCOUNT.task_s, billing=billing)],
        wait_usd_per_h=_WAIT_USD_PER_H,
        shown_s=_SHOWN_S,
    )
    note = f"{arrivals_s.size:,} submissions in four weeks; waiting valued at ${_WAIT_USD_PER_H:g} per hour"
    return (
        charts.cost_chart(rows, "Cost of fifty submissions per day", note),
        charts.timeline_chart(rows, arrivals_s.tolist(), _SHOWN_S, "Activity of the VM on one of these days"),
    )


def main() -> None:
    """Print the table, or update the page and its charts."""
    rows = table()
    if "--write" not in sys.argv[1:]:
        print(rows)
        return
    text = re.sub(rf"{BEGIN}.*?{END}", f"{BEGIN}\n{rows}\n{END}", PAGE.read_text(), flags=re.DOTALL)
    PAGE.write_text(text)
    for path, chart in zip((POLICIES_CHART, DAY_CHART), draw_charts(), strict=True):
        path.write_text(chart)


if __name__ == "__main__":
    main()
