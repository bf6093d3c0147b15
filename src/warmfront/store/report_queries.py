"""Read-only queries for reports: counts, latencies, costs, leaderboards."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from sqlalchemy import and_, bindparam, case, func, or_, select

from warmfront.gpus import CPU_NODE
from warmfront.store import (
    account_queries,
    attempt_queries,
    event_queries,
    ledger_queries,
    operator_queries,
    schema,
    submission_queries,
    vm_queries,
)
from warmfront.store.records import (
    AttemptOutcome,
    BestResult,
    CostReport,
    LatencyQuantiles,
    OperationsReport,
    ProblemStatistics,
    RecoveredState,
    ReplayReport,
    Totals,
)
from warmfront.verdicts import KERNELS_FAULT, Verdict

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from warmfront.store.records import LedgerEntry, Meter, RunningAttempt, StoredEvent
    from warmfront.submission import Submission
    from warmfront.vm import VMInstance

_S = schema.submissions.c
_A = schema.attempts.c
_V = schema.vms.c

#: Verdicts about the kernel. A verdict without a VM does not count as a task.
_ABOUT_THE_KERNEL = {Verdict.CHECKED, Verdict.BENCHMARKED, Verdict.ACCEPTED, *KERNELS_FAULT}
#: How many of the latest submissions count for latencies and average costs.
_LATEST_TASKS = 1000
#: How many VMs a list shows.
_SHOWN_VMS = 50
#: After a restart, provisioning times are estimated from this many VMs.
_LATEST_BOOTS = 10


def recovered_state(conn: Connection, arrivals: int) -> RecoveredState:
    """Return all unfinished work and the latest `arrivals`."""
    live_vms = vm_queries.live(conn)
    unfinished = submission_queries.unfinished(conn)
    live_attempts = {submission.attempt_id for submission in unfinished}
    unsettled = sum((ledger_queries.total_of_vm(conn, vm.id) for vm in live_vms), start=Decimal(0))
    boots = reversed(vm_queries.recent(conn, _LATEST_BOOTS))
    return RecoveredState(
        live_vms=live_vms,
        unfinished=unfinished,
        attempts={a.submission_id: a for a in attempt_queries.unfinished(conn) if a.id in live_attempts},
        lost_attempts=attempt_queries.lost_counts(conn),
        preempted=attempt_queries.ended_with(conn, AttemptOutcome.PREEMPTED),
        needs_gpu=attempt_queries.ended_with(conn, AttemptOutcome.NEEDS_GPU),
        spot_history=vm_queries.spot_history(conn),
        settled_usd=ledger_queries.total_usd(conn) - unsettled,
        boot_times=[(vm.gpu, vm.ready_at - vm.created_at) for vm in boots if vm.ready_at is not None],
        arrivals=submission_queries.arrivals(conn, arrivals),
        breakers=account_queries.breakers(conn),
        intake=account_queries.get_mark(conn, operator_queries.INTAKE_MARK),
    )


def totals(conn: Connection) -> Totals:
    """Return the counts of the whole service."""
    by_verdict: dict[str, int] = {}
    tasks = 0
    for verdict, on_a_vm, number in conn.execute(_BY_VERDICT):
        by_verdict[verdict] = by_verdict.get(verdict, 0) + number
        tasks += number if on_a_vm and verdict in _ABOUT_THE_KERNEL else 0
    attempts = {bool(cold): number for cold, number in conn.execute(_BY_COLD)}
    starts = {bool(cold): number for cold, number in conn.execute(_TASKS_BY_COLD)}
    return Totals(
        tasks_completed=tasks,
        cold_starts=starts.get(True, 0),
        warm_reuses=tasks - starts.get(True, 0),
        cold_attempts=attempts.get(True, 0),
        warm_attempts=attempts.get(False, 0),
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
#: A task: a submission with a verdict about its kernel, from a VM. Every figure about tasks counts these.
_IS_TASK = and_(_ON_A_VM, or_(*(_S.verdict == verdict for verdict in sorted(_ABOUT_THE_KERNEL))))
_TASKS_BY_COLD = (
    select(_A.cold, func.count())
    .join_from(schema.submissions, schema.attempts, _A.id == _S.attempt_id)
    .where(_IS_TASK)
    .group_by(_A.cold)
)


def latencies(conn: Connection) -> dict[str, LatencyQuantiles]:
    """Return the latencies of all tasks, of cold starts (`cold`) and of warm reuses (`warm`)."""
    return {
        "all": _latencies(conn, None),
        "cold": _latencies(conn, cold=True),
        "warm": _latencies(conn, cold=False),
    }


def _latencies(conn: Connection, cold: bool | None) -> LatencyQuantiles:  # noqa: FBT001 - None is a third value
    statement = _LATENCIES if cold is None else _LATENCIES_OF[cold]
    seconds = sorted(row[0] for row in conn.execute(statement, {"last": _LATEST_TASKS}))
    return LatencyQuantiles(
        count=len(seconds),
        p50_s=_quantile(seconds, 0.50),
        p90_s=_quantile(seconds, 0.90),
        p99_s=_quantile(seconds, 0.99),
    )


_LATENCIES = (
    select(_S.finished_at - _S.created_at)
    .where(_S.finished_at.is_not(None), _IS_TASK)
    .order_by(_S.finished_at.desc())
    .limit(bindparam("last"))
)
_LATENCIES_OF = {
    cold: _LATENCIES.join(schema.attempts, _A.id == _S.attempt_id).where(_A.cold == cold)
    for cold in (True, False)
}


def _quantile(ordered: list[float], share: float) -> float | None:
    """Return the quantile for this share; with few values, the nearest observed one."""
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else None


def task_costs_usd(conn: Connection) -> dict[bool, Decimal]:
    """Return the average costs of the latest cold starts and warm reuses."""
    costs: dict[bool, list[Decimal]] = {}
    for cold, cost_usd in conn.execute(_TASK_COSTS, {"last": _LATEST_TASKS}):
        costs.setdefault(bool(cold), []).append(cost_usd)
    return {cold: sum(amounts, Decimal(0)) / len(amounts) for cold, amounts in costs.items()}


_TASK_COSTS = (
    select(_A.cold, _S.cost_usd)
    .join(schema.attempts, _A.id == _S.attempt_id)
    .where(_S.finished_at.is_not(None), _IS_TASK, _S.cost_usd.is_not(None))
    .order_by(_S.finished_at.desc())
    .limit(bindparam("last"))
)


def problem_statistics(conn: Connection, user: str) -> dict[str, ProblemStatistics]:
    """Return the statistics of every problem that has an accepted submission."""
    statistics: dict[str, ProblemStatistics] = {}
    for problem, number, own in conn.execute(_STATISTICS, {"user": user}):
        statistics[problem] = ProblemStatistics(solutions=number, solved_by_user=bool(own))
    for problem, gpu, simulated, ms, low_ms, high_ms, noisy in conn.execute(_BEST_RESULTS):
        statistics.setdefault(problem, ProblemStatistics()).best[gpu, bool(simulated)] = BestResult(
            runtime_ms=ms, ci=None if low_ms is None else (low_ms, high_ms), noisy=bool(noisy)
        )
    return statistics


_STATISTICS = (
    select(
        _S.problem,
        func.count(),
        func.max(case((_S.owner == bindparam("user"), 1), else_=0)),
    )
    .where(_S.verdict == Verdict.ACCEPTED)
    .group_by(_S.problem)
)
_PLACES = (
    select(
        _S.problem,
        _S.gpu,
        _S.simulated,
        _S.avg_runtime_ms,
        _S.avg_ci_low_ms,
        _S.avg_ci_high_ms,
        _S.noisy,
        func.row_number()
        .over(
            partition_by=[_S.problem, _S.gpu, _S.simulated],
            order_by=[submission_queries.UPPER_END_MS, _S.avg_runtime_ms, _S.finished_at, _S.id],
        )
        .label("place"),
    )
    .where(_S.verdict == Verdict.ACCEPTED, _S.avg_runtime_ms.is_not(None))
    .subquery()
)
_BEST_RESULTS = (
    select(*[column for column in _PLACES.c if column.name != "place"])
    .where(_PLACES.c.place == 1)
    .order_by(_PLACES.c.problem, _PLACES.c.simulated, _PLACES.c.gpu)
)


def leaderboard(conn: Connection, problem: str) -> list[tuple[Submission, StoredEvent | None]]:
    """Return the best accepted submission per user and GPU, each with its verdict."""
    best = submission_queries.best(conn, problem)
    return [(submission, verdict_of(conn, submission)) for submission in best]


def verdict_of(conn: Connection, submission: Submission) -> StoredEvent | None:
    """Return the terminal event of a submission, or None."""
    if not submission.is_done:
        return None
    last = event_queries.after(conn, submission.id, submission.last_event_id - 1, 1)
    return last[0] if last else None


def submission_and_verdict(
    conn: Connection, submission_id: str
) -> tuple[Submission | None, StoredEvent | None]:
    """Return a submission and its terminal event."""
    submission = submission_queries.get(conn, submission_id)
    return submission, None if submission is None else verdict_of(conn, submission)


def recent_vms(conn: Connection) -> list[tuple[VMInstance, dict[Meter, Decimal]]]:
    """Return all live VMs and the most recent others, newest first, each with its cost per meter."""
    vms = {vm.id: vm for vm in (*vm_queries.live(conn), *vm_queries.recent(conn, _SHOWN_VMS))}
    newest_first = sorted(vms.values(), key=lambda vm: (vm.created_at, vm.id), reverse=True)
    costs = ledger_queries.by_vm(conn, list(vms))
    return [(vm, costs.get(vm.id, {})) for vm in newest_first]


def recent_vms_and_attempts(
    conn: Connection,
) -> tuple[list[tuple[VMInstance, dict[Meter, Decimal]]], list[RunningAttempt]]:
    """Return `recent_vms` and the running attempts, from one snapshot."""
    return recent_vms(conn), attempt_queries.running(conn)


def vm_with_entries(
    conn: Connection, vm_id: str
) -> tuple[VMInstance | None, list[LedgerEntry], list[RunningAttempt]]:
    """Return a VM with its ledger entries, and the running attempts."""
    return vm_queries.get(conn, vm_id), ledger_queries.entries(conn, vm_id), attempt_queries.running(conn)


def ended_vms(conn: Connection, provider: str) -> list[tuple[VMInstance, Decimal]]:
    """Return the VMs of this provider that ended most recently, each with its cost."""
    recent = [
        vm for vm in vm_queries.recent(conn, _SHOWN_VMS) if vm.state.has_ended and vm.provider == provider
    ]
    return [(vm, ledger_queries.total_of_vm(conn, vm.id)) for vm in recent]


def costs(conn: Connection, user: str, *, today: float, since: float, history_since: float) -> CostReport:
    """Return costs by VM, meter and day; `since` and `history_since` bound the two series of days."""
    return CostReport(
        by_vm=recent_vms(conn),
        by_meter=ledger_queries.by_meter(conn),
        by_day=ledger_queries.by_day(conn, since),
        history_by_day=ledger_queries.by_day(conn, history_since),
        user_today=ledger_queries.spent_today(conn, user, None, today),
        pool_usd=ledger_queries.charged_to_pool(conn),
        cpu_nodes=(vm_queries.billed_s(conn, CPU_NODE), ledger_queries.total_of_gpu(conn, CPU_NODE)),
    )


def operations(conn: Connection, *, since: float, days_since: float) -> OperationsReport:
    """Return the figures of the operations page: VMs live since `since`, costs since `days_since`."""
    vms = vm_queries.live_since(conn, since, _SHOWN_VMS)
    return OperationsReport(
        vms=vms,
        running=attempt_queries.running(conn),
        entries=ledger_queries.ended_since(conn, [vm.id for vm in vms], since),
        billed_usd=ledger_queries.total_usd(conn),
        by_hour=ledger_queries.by_hour(conn, days_since),
        by_day=ledger_queries.by_day_and_meter(conn, days_since),
        by_owner=ledger_queries.by_owner(conn, days_since),
        totals=totals(conn),
        task_costs_usd=task_costs_usd(conn),
        latencies=latencies(conn),
    )


def totals_and_latencies(
    conn: Connection, since: float
) -> tuple[Totals, dict[str, LatencyQuantiles], dict[str, Decimal]]:
    """Return the totals, the latencies, and dollars per day from the day of `since`."""
    return totals(conn), latencies(conn), ledger_queries.by_day(conn, since)


def arrivals_and_boots(conn: Connection, latest: int) -> tuple[list[float], list[float]]:
    """Return the arrival times of the latest submissions that got a VM, and recent provisioning times."""
    arrivals = [arrival.created_at for arrival in submission_queries.arrivals(conn, latest)]
    recent = vm_queries.recent(conn, _SHOWN_VMS)
    return arrivals, [vm.ready_at - vm.created_at for vm in recent if vm.ready_at is not None]


def completed_since(conn: Connection, since: float) -> int:
    """Count the submissions that arrived at `since` or later and are completed."""
    return int(conn.execute(_COMPLETED_SINCE, {"since": since}).scalar() or 0)


_COMPLETED_SINCE = (
    select(func.count()).select_from(schema.submissions).where(_IS_TASK, _S.created_at >= bindparam("since"))
)


def replay_report(conn: Connection, *, since: float, begin: float, end: float) -> ReplayReport:
    """Return the results of a replay that began at `since`, with the entries between `begin` and `end`."""
    waits = conn.execute(
        select(_A.started_at - _S.created_at)
        .join_from(schema.submissions, schema.attempts)
        .order_by(_S.created_at, _A.started_at)
    )
    lived_s = conn.execute(select(func.sum(_V.ended_at - _V.started_at))).scalar()
    worked_s = conn.execute(select(func.sum(_A.ended_at - _A.started_at))).scalar()
    return ReplayReport(
        total_usd=ledger_queries.total_usd(conn),
        waits_s=[row[0] for row in waits],
        vms=int(conn.execute(select(func.count()).select_from(schema.vms)).scalar() or 0),
        lived_s=float(lived_s or 0.0),
        worked_s=float(worked_s or 0.0),
        by_day=ledger_queries.by_day(conn, since),
        entries=ledger_queries.within(conn, begin, end),
    )


def ping(conn: Connection) -> None:
    """Run a trivial query to check the connection."""
    conn.execute(select(1))
