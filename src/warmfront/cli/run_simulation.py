"""`warmfront simulate`: compare the cost of policies, prices and VM counts by replaying arrivals.

This module parses the options and prints the results. All costs come from the ledger of a replay.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
from typing import TYPE_CHECKING, Any, TypeVar

from rich.console import Console
from rich.table import Table
from rich.text import Text

from warmfront import settings as settings_module
from warmfront import values
from warmfront.cli.error_report import report
from warmfront.cli.formatting import duration, print_json
from warmfront.errors import BadRequest, WarmfrontError
from warmfront.money.billing import Billing
from warmfront.simulate import charts, recorded_arrivals
from warmfront.simulate.arrival_traces import DAY_S, TRACES
from warmfront.simulate.comparison import BEST, ComparisonRow, Conditions, Policy, compare
from warmfront.store.sql_database import open_store
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from decimal import Decimal
    from pathlib import Path

    from warmfront.settings import Settings
    from warmfront.simulate.recorded_arrivals import Arrivals
    from warmfront.store.records import Arrival

T = TypeVar("T")

#: The maximum number of rows in the table.
_MAX_ROWS = 48
_MAX_PER_DAY = 100_000
_BAR_WIDTH = 40  #: characters of the longest bar


@dataclass(frozen=True, kw_only=True)
class SimulationOptions:
    """The arguments of `warmfront simulate`, as typed; a list is empty if its option was not given."""

    csv: Path | None = None
    from_history: bool = False
    trace: str | None = None
    per_day: float = 50.0
    days: float = 60.0
    seed: int = 1
    policies: list[str]
    max_vms: list[str]
    boots: list[str]
    prices: list[str]
    billings: list[str]
    task: str | None = None
    wait_value: str | None = None
    plot: Path | None = None
    lanes: Path | None = None
    day: int = 1


def simulate(options: SimulationOptions, *, as_json: bool) -> int:
    """Replay the arrivals, print the comparison and return the exit code."""
    try:
        arrivals, description = _load_arrivals(options)
        settings = settings_module.load()
        wait_value = _wait_value(options, settings)
        conditions, policies = _conditions(options, settings), _policies(options, settings)
        if len(conditions) * len(policies) > _MAX_ROWS:
            raise BadRequest(
                f"These options give {len(conditions) * len(policies)} combinations; "
                f"the maximum is {_MAX_ROWS}.",
                hint="Give fewer values of --policy, --max-vms, --boot, --price or --billing.",
            )
        shown_s = _shown_interval(options, arrivals)
        rows = compare(
            arrivals.at_s,
            settings=settings,
            policies=policies,
            all_conditions=conditions,
            wait_usd_per_h=wait_value,
            shown_s=shown_s,
        )
        _write(options, rows, arrivals, description=description, wait_value=wait_value, shown_s=shown_s)
    except WarmfrontError as error:
        return report(error, as_json=as_json)
    if as_json:
        print_json(_json(rows, arrivals, description, wait_value))
    else:
        show(rows, arrivals, description, wait_value)
    return 0


# Options.


def _load_arrivals(options: SimulationOptions) -> tuple[Arrivals, str]:
    """Return the arrivals and a description of their source."""
    sources = [options.csv is not None, options.from_history, options.trace is not None]
    if sum(sources) != 1:
        raise BadRequest(
            "Exactly one source of arrivals is required.",
            hint=f"Give a CSV file, --from-history, or --trace {'|'.join(TRACES)} --per-day 50 --days 60.",
        )
    if options.csv is not None:
        return recorded_arrivals.read_csv(options.csv), options.csv.name
    if options.from_history:
        return history(), "submissions in the database"
    return _trace(options), (
        f"{options.trace}, {options.per_day:g} per day for {options.days:g} days, seed {options.seed}"
    )


def _trace(options: SimulationOptions) -> Arrivals:
    name = options.trace or ""
    if name not in TRACES:
        raise BadRequest(f"There is no trace {name!r}.", hint=f"Use one of: {', '.join(TRACES)}.")
    if not 0 < options.per_day <= _MAX_PER_DAY:
        raise BadRequest(f"--per-day is {options.per_day:g}; allowed: above 0, at most {_MAX_PER_DAY:,}.")
    if not 0 < options.days <= recorded_arrivals.MAX_DAYS:
        raise BadRequest(
            f"--days is {options.days:g}; allowed: above 0, at most {recorded_arrivals.MAX_DAYS:,}."
        )
    recorded_arrivals.check_arrival_count(options.per_day * options.days)
    return recorded_arrivals.Arrivals(at_s=TRACES[name](options.per_day, options.days, options.seed))


def history() -> Arrivals:
    """Return the arrivals of all stored submissions that needed a VM."""

    async def read() -> list[Arrival]:
        store = await open_store(settings_module.load(), exclusive=False)
        try:
            return await store.arrivals(recorded_arrivals.MAX_ARRIVALS)
        finally:
            await store.close()

    stored = asyncio.run(read())
    if not stored:
        raise BadRequest(
            "The database has no submission that needed a VM.",
            hint="Replay generated arrivals: warmfront simulate --trace workday --per-day 50",
        )
    return recorded_arrivals.to_trace_time([arrival.created_at for arrival in stored])


def _policies(options: SimulationOptions, settings: Settings) -> list[Policy]:
    return [_policy(text, settings) for text in options.policies or ["fixed", "adaptive"]]


def _policy(text: str, settings: Settings) -> Policy:
    if text == "adaptive":
        return Policy(name="adaptive", keep_warm="adaptive")
    if text == "fixed":
        return Policy(name=f"fixed {duration(settings.idle_timeout_s)}", keep_warm="fixed")
    if text == "at-once":
        return Policy(name="release at once", keep_warm="fixed", idle_s=0.0)
    if text == "always":
        return Policy(name="always on", keep_warm="fixed", idle_s=recorded_arrivals.MAX_DAYS * DAY_S)
    idle_s = _parse_option(
        "--policy",
        text.removeprefix("fixed:") if text.startswith("fixed:") else "",
        values.seconds,
        "adaptive, fixed, fixed:10m, at-once or always",
        whole=text,
    )
    return Policy(name=f"fixed {duration(idle_s)}", keep_warm="fixed", idle_s=float(idle_s))


def _conditions(options: SimulationOptions, settings: Settings) -> list[Conditions]:
    vms = [
        _parse_option("--max-vms", text, values.nodes, f"1 to {values.MAX_NODES}")
        for text in options.max_vms or ["1"]
    ]
    boots = [
        _parse_option("--boot", text, values.seconds, "a time such as 450s or 7m")
        for text in options.boots or ["450s"]
    ]
    prices = [
        _parse_option("--price", text, _price, "dollars per hour above 0, such as 1.99")
        for text in options.prices
    ]
    billings = [billing_model(text) for text in options.billings or ["second"]]
    task_s = _parse_option("--task", options.task or "30s", values.seconds, "a time such as 30s")
    return [
        Conditions(
            max_vms=count,
            boot_s=float(boot_s),
            task_s=float(task_s),
            billing=Billing(rate_usd_per_h=price, granularity_s=granularity_s, minimum_s=minimum_s),
            billing_name=name,
        )
        for count, boot_s, price, (name, granularity_s, minimum_s) in itertools.product(
            vms, boots, prices or [settings.rate_usd_per_h], billings
        )
    ]


def billing_model(text: str) -> tuple[str, float, float]:
    """Parse `second`, `minute`, `hour` or `reserved:4h` into a name, granularity and minimum in seconds."""
    units = {"second": 0.0, "minute": 60.0, "hour": 3600.0}
    if text in units:
        return text, units[text], 0.0
    allowed = "second, minute, hour, or a minimum reservation such as reserved:4h"
    reserved = text.removeprefix("reserved:") if text.startswith("reserved:") else ""
    minimum_s = _parse_option("--billing", reserved, values.duration(1, 31 * 86400), allowed, whole=text)
    return f"second after {duration(minimum_s)}", 0.0, float(minimum_s)


def _wait_value(options: SimulationOptions, settings: Settings) -> float:
    if options.wait_value is None:
        return settings.wait_value_usd_per_h
    allowed = f"dollars per hour from 0 to {values.MAX_WAIT_VALUE:,}"
    return _parse_option("--wait-value", options.wait_value, values.wait_value, allowed)


def _price(text: str) -> Decimal:
    price = values.dollars(text)
    if not 0 < price <= values.MAX_WAIT_VALUE:
        raise ValueError(text)
    return price


def _parse_option(
    option: str, text: str, parse: Callable[[str], T], allowed: str, *, whole: str | None = None
) -> T:
    try:
        return parse(text.strip())
    except ValueError:
        shown = text if whole is None else whole
        raise BadRequest(f"{option} is {shown[:40]!r}; allowed: {allowed}.") from None


def _shown_interval(options: SimulationOptions, arrivals: Arrivals) -> tuple[float, float]:
    """Return the start and end of the day that `--lanes` shows; day 1 is the day of the first arrival."""
    first = arrivals.at_s[0] // DAY_S if arrivals.at_s.size else 0.0
    begin_s = float(first + options.day - 1) * DAY_S
    return begin_s, begin_s + DAY_S


def _write(
    options: SimulationOptions,
    rows: list[ComparisonRow],
    arrivals: Arrivals,
    *,
    description: str,
    wait_value: float,
    shown_s: tuple[float, float],
) -> None:
    if options.plot is not None:
        note = f"{arrivals.at_s.size:,} submissions; waiting valued at ${wait_value:g} per hour"
        _save(options.plot, charts.cost_chart(rows, f"Cost of VMs and waiting: {description}", note))
    if options.lanes is not None:
        title = f"VM activity on day {options.day}: {description}"
        _save(options.lanes, charts.timeline_chart(rows, arrivals.at_s.tolist(), shown_s, title))


def _save(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadRequest(
            f"{path} cannot be written: {error.strerror}.", hint="Choose another file."
        ) from None


# Results.


def show(rows: list[ComparisonRow], arrivals: Arrivals, description: str, wait_value: float) -> None:
    """Print the comparison as a table and a bar chart."""
    console = Console()
    for note in arrivals.notes:
        print(f"note: {note}", file=sys.stderr)
    count = arrivals.at_s.size
    console.print(f"{description}: {count:,} {'submission' if count == 1 else 'submissions'}\n")
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("policy", no_wrap=True)
    for heading in ("dollars", "each", "wait p50", "p95", "mean", "cold", "used", "total", "of best"):
        table.add_column(heading, justify="right")
    names = charts.labels(rows)
    for row, name in zip(rows, names, strict=True):
        table.add_row(*_cells(row, name), style="dim" if row.policy == BEST else None)
    console.print(table)
    console.print()
    for line in _bars(rows, names):
        console.print(line)
    legend = f"\n█ VM cost  ▒ waiting, valued at ${wait_value:g} per hour; total: both"
    if any(row.policy == BEST for row in rows):
        legend += f"\n{BEST}: the optimum for one VM that knows every arrival, without prewarming"
    console.print(Text(legend, style="dim"))


def _cells(row: ComparisonRow, name: str) -> tuple[str, ...]:
    return (
        name,
        f"${row.usd:,.2f}",
        f"${row.usd_per_task:,.3f}",
        f"{row.waited_s(50):.0f} s",
        f"{row.waited_s(95):.0f} s",
        f"{row.mean_s:.0f} s",
        f"{row.cold_starts:,}",
        f"{row.utilization:.0%}",
        f"${row.cost_usd:,.0f}",
        "" if row.over_best is None else f"{row.over_best:.2f}",
    )


def _bars(rows: list[ComparisonRow], names: list[str]) -> Iterator[Text]:
    top = max((row.cost_usd for row in rows), default=0.0) or 1.0
    width = max(map(len, names), default=0)
    for row, name in zip(rows, names, strict=True):
        usd = round(float(row.usd) / top * _BAR_WIDTH)
        wait = round(row.cost_usd / top * _BAR_WIDTH) - usd
        yield Text.assemble(
            f"{name.ljust(width)}  ",
            ("█" * usd, "dark_orange3"),
            ("▒" * max(0, wait), "steel_blue"),
            f" ${row.cost_usd:,.2f}",
        )


def _json(
    rows: list[ComparisonRow], arrivals: Arrivals, description: str, wait_value: float
) -> dict[str, Any]:
    return {
        "arrivals": {
            "source": description,
            "tasks": arrivals.at_s.size,
            "days": arrivals.days,
            "notes": arrivals.notes,
        },
        "wait_value_usd_per_h": wait_value,
        "rows": [_fields(row) for row in rows],
    }


def _fields(row: ComparisonRow) -> dict[str, Any]:
    return {
        "policy": row.policy,
        "computed": row.result is None,
        "max_vms": row.conditions.max_vms,
        "boot_s": row.conditions.boot_s,
        "task_s": row.conditions.task_s,
        "rate_usd_per_h": float(row.conditions.billing.rate_usd_per_h),
        "billing": row.conditions.billing_name,
        "tasks": row.tasks,
        "usd": float(row.usd),
        "usd_per_task": row.usd_per_task,
        "wait_p50_s": row.waited_s(50),
        "wait_p95_s": row.waited_s(95),
        "wait_mean_s": row.mean_s,
        "cold_starts": row.cold_starts,
        "utilisation": row.utilization,
        "cost_usd": row.cost_usd,
        "of_the_best": row.over_best,
    }
