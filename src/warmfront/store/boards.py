"""What was solved, how often and how fast, by problem. It only reads; who is first is found elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, case, func, select

from warmfront.store import schema
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from sqlalchemy import Connection

_S = schema.submissions.c


@dataclass(kw_only=True)
class Solved:
    """What is known of the solutions of one problem."""

    solutions: int = 0  #: accepted submissions, of everyone
    by_user: bool = False  #: the user who was asked for has one
    best_ms: dict[tuple[str, bool], float] = field(default_factory=dict)  #: by GPU, and whether simulated


def solved(c: Connection, user: str) -> dict[str, Solved]:
    """By problem; none for one that nobody has solved."""
    found: dict[str, Solved] = {}
    for problem, gpu, simulated, number, best_ms, own in c.execute(_SOLVED, {"user": user}):
        each = found.setdefault(problem, Solved())
        each.solutions += number
        each.by_user |= bool(own)
        if best_ms is not None:
            each.best_ms[gpu, bool(simulated)] = best_ms
    return found


_SOLVED = (
    select(
        _S.problem,
        _S.gpu,
        _S.simulated,
        func.count(),
        func.min(_S.avg_runtime_ms),
        func.max(case((_S.owner == bindparam("user"), 1), else_=0)),
    )
    .where(_S.verdict == Verdict.ACCEPTED)
    .group_by(_S.problem, _S.gpu, _S.simulated)
    .order_by(_S.problem, _S.simulated, _S.gpu)
)
