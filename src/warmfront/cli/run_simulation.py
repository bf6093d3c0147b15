"""`warmfront simulate`: what other policies, prices and paces would have cost, as a table and a picture.

It reads what was typed and shows what came out; every dollar is the ledger's of a replay.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
from dataclasses import dataclass
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
from warmfront.simulate import arrivals as logs
from warmfront.simulate import draw
from warmfront.simulate.compare import BEST, Case, Policy, Row, compare
from warmfront.simulate.traces import DAY_S, TRACES
from warmfront.store import submissions
from warmfront.store.engine import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from decimal import Decimal
    from pathlib import Path

    from warmfront.settings import Settings
    from warmfront.simulate.arrivals import Arrivals

T = TypeVar("T")

#: More ways than anyone compares in one table.
_MOST_WAYS = 48
_MOST_PER_DAY = 100_000
_DRAWN = 40  # characters of the longest bar


@dataclass(frozen=True, kw_only=True)
class Order:
    """What was typed. Lists are empty where nothing was."""

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


def simulate(order: Order, *, as_json: bool) -> int:
    """Replay and show."""
    try:
        arrivals, what = _arrivals(order)
        settings = settings_module.load()
        wait_value = _wait_value(order, settings)
        cases, policies = _cases(order, settings), _policies(order, settings)
        if len(cases) * len(policies) > _MOST_WAYS:
            raise BadRequest(
                f"That is {len(cases) * len(policies)} ways, of which {_MOST_WAYS} are compared at the most.",
                hint="Ask for fewer policies, VMs, boots, prices or billings at a time.",
            )
        shown_s = _day(order, arrivals)
        rows = compare(
            arrivals.at_s,
            settings=settings,
            policies=policies,
            cases=cases,
            wait_usd_per_h=wait_value,
            shown_s=shown_s,
        )
        _write(order, rows, arrivals, what=what, wait_value=wait_value, shown_s=shown_s)
    except WarmfrontError as error:
        return report(error, as_json=as_json)
    if as_json:
        print_json(_json(rows, arrivals, what, wait_value))
    else:
        show(rows, arrivals, what, wait_value)
    return 0


# What was typed.


def _arrivals(order: Order) -> tuple[Arrivals, str]:
    """The arrivals, and what they are, in words."""
    sources = [order.csv is not None, order.from_history, order.trace is not None]
    if sum(sources) != 1:
        raise BadRequest(
            "Name one source of arrivals.",
            hint=f"A CSV, --from-history, or --trace {'|'.join(TRACES)} --per-day 50 --days 60 --seed 1.",
        )
    if order.csv is not None:
        return logs.read_csv(order.csv), order.csv.name
    if order.from_history:
        return history(), "this store's own submissions"
    return _trace(order), f"{order.trace}, {order.per_day:g} a day for {order.days:g} days, seed {order.seed}"


def _trace(order: Order) -> Arrivals:
    name = order.trace or ""
    if name not in TRACES:
        raise BadRequest(f"--trace is {name!r}.", hint=f"Use one of: {', '.join(TRACES)}.")
    if not 0 < order.per_day <= _MOST_PER_DAY:
        raise BadRequest(
            f"--per-day is {order.per_day:g}.", hint=f"Use a number above 0, at most {_MOST_PER_DAY:,}."
        )
    if not 0 < order.days <= logs.MOST_DAYS:
        raise BadRequest(f"--days is {order.days:g}.", hint=f"Use 1 to {logs.MOST_DAYS:,}.")
    logs.check_count(order.per_day * order.days)
    return logs.Arrivals(at_s=TRACES[name](order.per_day, order.days, order.seed))


def history() -> Arrivals:
    """Every submission of this store that needed a VM."""

    async def read() -> list[tuple[float, str]]:
        store = await open_store(settings_module.load(), alone=False)
        try:
            return await store.read(submissions.arrivals, logs.MOST_ARRIVALS)
        finally:
            await store.close()

    found = asyncio.run(read())
    if not found:
        raise BadRequest(
            "This store has no submission yet that needed a VM.",
            hint="Replay a made-up trace: warmfront simulate --trace workday --per-day 50",
        )
    return logs.on_a_traces_clock([at for at, _ in found])


def _policies(order: Order, settings: Settings) -> list[Policy]:
    return [_policy(text, settings) for text in order.policies or ["fixed", "adaptive"]]


def _policy(text: str, settings: Settings) -> Policy:
    if text == "adaptive":
        return Policy(name="adaptive", keep_warm="adaptive")
    if text == "fixed":
        return Policy(name=f"fixed {duration(settings.idle_timeout_s)}", keep_warm="fixed")
    if text == "at-once":
        return Policy(name="release at once", keep_warm="fixed", idle_s=0.0)
    if text == "always":
        return Policy(name="always on", keep_warm="fixed", idle_s=logs.MOST_DAYS * DAY_S)
    idle_s = _typed(
        "--policy",
        text.removeprefix("fixed:") if text.startswith("fixed:") else "",
        values.seconds,
        "adaptive, fixed, fixed:10m, at-once or always",
        whole=text,
    )
    return Policy(name=f"fixed {duration(idle_s)}", keep_warm="fixed", idle_s=float(idle_s))


def _cases(order: Order, settings: Settings) -> list[Case]:
    vms = [_typed("--max-vms", text, values.nodes, "1 to 32") for text in order.max_vms or ["1"]]
    boots = [
        _typed("--boot", text, values.seconds, "a time such as 450s or 7m")
        for text in order.boots or ["450s"]
    ]
    prices = [
        _typed("--price", text, _price, "dollars an hour above 0, such as 1.99") for text in order.prices
    ]
    billings = [billing_model(text) for text in order.billings or ["second"]]
    task_s = _typed("--task", order.task or "30s", values.seconds, "a time such as 30s")
    return [
        Case(
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
    """A billing model's name, unit and minimum, from `second`, `minute`, `hour` or `reserved:4h`."""
    units = {"second": 0.0, "minute": 60.0, "hour": 3600.0}
    if text in units:
        return text, units[text], 0.0
    words = "second, minute, hour, or a minimum reservation such as reserved:4h"
    reserved = text.removeprefix("reserved:") if text.startswith("reserved:") else ""
    minimum_s = _typed("--billing", reserved, values.duration(1, 31 * 86400), words, whole=text)
    return f"second after {duration(minimum_s)}", 0.0, float(minimum_s)


def _wait_value(order: Order, settings: Settings) -> float:
    if order.wait_value is None:
        return settings.wait_value_usd_per_h
    words = f"dollars an hour from 0 to {values.MOST_WAIT_VALUE:,}"
    return _typed("--wait-value", order.wait_value, values.wait_value, words)


def _price(text: str) -> Decimal:
    price = values.dollars(text)
    if not 0 < price <= values.MOST_WAIT_VALUE:
        raise ValueError(text)
    return price


def _typed(option: str, text: str, parse: Callable[[str], T], allowed: str, *, whole: str | None = None) -> T:
    try:
        return parse(text.strip())
    except ValueError:
        shown = text if whole is None else whole
        raise BadRequest(
            f"{option} is {shown[:40]!r}, which is not {allowed}.", hint=f"Use {allowed}."
        ) from None


def _day(order: Order, arrivals: Arrivals) -> tuple[float, float]:
    """The day that `--lanes` draws, counted from that of the first arrival."""
    first = arrivals.at_s[0] // DAY_S if arrivals.at_s.size else 0.0
    begin_s = float(first + order.day - 1) * DAY_S
    return begin_s, begin_s + DAY_S


def _write(
    order: Order,
    rows: list[Row],
    arrivals: Arrivals,
    *,
    what: str,
    wait_value: float,
    shown_s: tuple[float, float],
) -> None:
    if order.plot is not None:
        note = f"{arrivals.at_s.size:,} tasks; waiting at ${wait_value:g} an hour"
        _save(order.plot, draw.bars(rows, f"What tasks cost: {what}", note))
    if order.lanes is not None:
        title = f"What the VMs do on day {order.day}: {what}"
        _save(order.lanes, draw.lanes(rows, arrivals.at_s.tolist(), shown_s, title))


def _save(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadRequest(f"{path} cannot be written: {error.strerror}.", hint="Name another file.") from None


# What came out.


def show(rows: list[Row], arrivals: Arrivals, what: str, wait_value: float) -> None:
    """A table and bars for people."""
    console = Console()
    for note in arrivals.notes:
        print(f"note: {note}", file=sys.stderr)
    count = arrivals.at_s.size
    console.print(f"{what}: {count:,} {'task' if count == 1 else 'tasks'}\n")
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("policy", no_wrap=True)
    for heading in ("dollars", "a task", "wait p50", "p95", "mean", "cold", "used", "total", "of best"):
        table.add_column(heading, justify="right")
    names = draw.labels(rows)
    for row, name in zip(rows, names, strict=True):
        table.add_row(*_cells(row, name), style="dim" if row.policy == BEST else None)
    console.print(table)
    console.print()
    for line in _bars(rows, names):
        console.print(line)
    words = f"\n█ dollars for VMs  ▒ waiting, at ${wait_value:g} an hour; total: both"
    if any(row.policy == BEST for row in rows):
        words += f"\n{BEST}: one VM that knows every arrival, and is never booted before one"
    console.print(Text(words, style="dim"))


def _cells(row: Row, name: str) -> tuple[str, ...]:
    return (
        name,
        f"${row.usd:,.2f}",
        f"${row.usd_per_task:,.3f}",
        f"{row.waited_s(50):.0f} s",
        f"{row.waited_s(95):.0f} s",
        f"{row.mean_s:.0f} s",
        f"{row.cold_starts:,}",
        f"{row.utilisation:.0%}",
        f"${row.cost_usd:,.0f}",
        "" if row.over_best is None else f"{row.over_best:.2f}",
    )


def _bars(rows: list[Row], names: list[str]) -> Iterator[Text]:
    top = max((row.cost_usd for row in rows), default=0.0) or 1.0
    width = max(map(len, names), default=0)
    for row, name in zip(rows, names, strict=True):
        usd = round(float(row.usd) / top * _DRAWN)
        wait = round(row.cost_usd / top * _DRAWN) - usd
        yield Text.assemble(
            f"{name.ljust(width)}  ",
            ("█" * usd, "dark_orange3"),
            ("▒" * max(0, wait), "steel_blue"),
            f" ${row.cost_usd:,.2f}",
        )


def _json(rows: list[Row], arrivals: Arrivals, what: str, wait_value: float) -> dict[str, Any]:
    return {
        "arrivals": {
            "source": what,
            "tasks": arrivals.at_s.size,
            "days": arrivals.days,
            "notes": arrivals.notes,
        },
        "wait_value_usd_per_h": wait_value,
        "rows": [_fields(row) for row in rows],
    }


def _fields(row: Row) -> dict[str, Any]:
    return {
        "policy": row.policy,
        "computed": row.outcome is None,
        "max_vms": row.case.max_vms,
        "boot_s": row.case.boot_s,
        "task_s": row.case.task_s,
        "rate_usd_per_h": float(row.case.billing.rate_usd_per_h),
        "billing": row.case.billing_name,
        "tasks": row.tasks,
        "usd": float(row.usd),
        "usd_per_task": row.usd_per_task,
        "wait_p50_s": row.waited_s(50),
        "wait_p95_s": row.waited_s(95),
        "wait_mean_s": row.mean_s,
        "cold_starts": row.cold_starts,
        "utilisation": row.utilisation,
        "cost_usd": row.cost_usd,
        "of_the_best": row.over_best,
    }
