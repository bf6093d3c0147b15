"""How many, and how long: the figures that operators and Prometheus ask for. It only reads."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, func, select

from warmfront.store import schema
from warmfront.verdicts import KERNELS_FAULT, Verdict

if TYPE_CHECKING:
    from sqlalchemy import Connection

_S = schema.submissions.c
_A = schema.attempts.c

#: Verdicts that say something of the kernel. One at admission, before any VM, is no task.
_OF_THE_KERNEL = {Verdict.CHECKED, Verdict.BENCHMARKED, Verdict.ACCEPTED, *KERNELS_FAULT}


@dataclass(frozen=True, kw_only=True)
class Totals:
    """What was done since the store was made."""

    tasks_completed: int  #: submissions that a VM gave a verdict
    cold_starts: int  #: attempts that a VM was booted for
    warm_reuses: int  #: attempts that found one
    by_verdict: dict[str, int]


def totals(c: Connection) -> Totals:
    """All of it, in two short queries."""
    by_verdict: dict[str, int] = {}
    tasks = 0
    for verdict, on_a_vm, number in c.execute(_BY_VERDICT):
        by_verdict[verdict] = by_verdict.get(verdict, 0) + number
        tasks += number if on_a_vm and verdict in _OF_THE_KERNEL else 0
    starts = {bool(cold): number for cold, number in c.execute(_BY_COLD)}
    return Totals(
        tasks_completed=tasks,
        cold_starts=starts.get(True, 0),
        warm_reuses=starts.get(False, 0),
        by_verdict=by_verdict,
    )


_ON_A_VM = _S.attempts > 0
_BY_VERDICT = (
    select(_S.verdict, _ON_A_VM, func.count())
    .where(_S.verdict.is_not(None))
    .group_by(_S.verdict, _ON_A_VM)
    .order_by(_S.verdict)
)
_BY_COLD = select(_A.cold, func.count()).group_by(_A.cold)


@dataclass(frozen=True, kw_only=True)
class Latencies:
    """Seconds from submit to verdict, of the last submissions that a VM judged; None if there are none."""

    count: int
    p50_s: float | None
    p90_s: float | None
    p99_s: float | None


def latencies(c: Connection, *, cold: bool | None = None, last: int = 1000) -> Latencies:
    """Of all, or of those alone whose last attempt had its VM booted for it, or found one."""
    statement = _LATENCIES if cold is None else _LATENCIES_OF[cold]
    seconds = sorted(row[0] for row in c.execute(statement, {"last": last}))
    return Latencies(
        count=len(seconds),
        p50_s=_quantile(seconds, 0.50),
        p90_s=_quantile(seconds, 0.90),
        p99_s=_quantile(seconds, 0.99),
    )


_LATENCIES = (
    select(_S.finished_at - _S.created_at)
    .where(_S.finished_at.is_not(None), _ON_A_VM)
    .order_by(_S.finished_at.desc())
    .limit(bindparam("last"))
)
_LATENCIES_OF = {
    cold: _LATENCIES.join(schema.attempts, _A.id == _S.attempt_id).where(_A.cold == cold)
    for cold in (True, False)
}


def task_costs_usd(c: Connection, *, last: int = 1000) -> dict[bool, Decimal]:
    """What the last submissions on a VM came to on average, by whether it was booted for them."""
    costs: dict[bool, list[Decimal]] = {}
    for cold, cost_usd in c.execute(_COSTS, {"last": last}):
        costs.setdefault(bool(cold), []).append(cost_usd)
    return {cold: sum(each, Decimal(0)) / len(each) for cold, each in costs.items()}


_COSTS = (
    select(_A.cold, _S.cost_usd)
    .join(schema.attempts, _A.id == _S.attempt_id)
    .where(_S.finished_at.is_not(None), _ON_A_VM, _S.cost_usd.is_not(None))
    .order_by(_S.finished_at.desc())
    .limit(bindparam("last"))
)


def _quantile(ordered: list[float], share: float) -> float | None:
    """The value that this share of them does not pass; with few, the nearest one that was seen."""
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else None
