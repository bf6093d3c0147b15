"""Queries on the ledger: the billed intervals of VMs, the only source of dollar figures.

Entries are added and never changed. The database sums them in whole billionths of a dollar.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, bindparam, cast, func, insert, select, union

from warmfront.store import schema, team_queries
from warmfront.store.records import LedgerEntry, Meter
from warmfront.submission import REPORT, UNFINISHED
from warmfront.usage_limits import DailySpending

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from sqlalchemy import Connection, Row, Select

    from warmfront.submission import SubmissionState

_T = schema.ledger.c
_S = schema.submissions.c
_NAMES = tuple(LedgerEntry.__dataclass_fields__)
_SUM = select(func.sum(_T.amount_usd))
_DAY_S = 86_400
_HOUR_S = 3600


def add(conn: Connection, entries: Iterable[LedgerEntry]) -> None:
    """Add entries.

    Raises:
        ValueError: an interval ends before it begins. No entry is added.
    """
    rows = [_row(entry) for entry in entries]
    if rows:
        conn.execute(_INSERT, rows)


_INSERT = insert(schema.ledger)


def _row(entry: LedgerEntry) -> dict[str, Any]:
    if entry.ended_at < entry.started_at:
        raise ValueError(f"a ledger entry of VM {entry.vm_id} ends before it begins")
    return {**vars(entry), "day": int(entry.started_at // _DAY_S)}


def waive(conn: Connection, submission_id: str, now: float) -> None:
    """Charge the VM pool instead of a submission, with zero-length entries that move the amounts."""
    _move_to_pool(conn, submission_id, conn.execute(_CHARGED, {"of": submission_id}).all(), now)


def waive_work(conn: Connection, submission_id: str, vm_id: str, since: float, now: float) -> None:
    """Charge the VM pool instead of a submission for its work on a VM since an attempt began."""
    of = {"of": submission_id, "on": vm_id, "since": since}
    _move_to_pool(conn, submission_id, conn.execute(_CHARGED_WORK, of).all(), now)


def _move_to_pool(
    conn: Connection, submission_id: str, sums: Iterable[Row[Any, Any, Any, Any]], now: float
) -> None:
    for vm_id, meter, owner, amount_usd in sums:
        moved = LedgerEntry(
            vm_id=vm_id, meter=Meter(meter), started_at=now, ended_at=now, amount_usd=amount_usd
        )
        refund = replace(moved, amount_usd=-amount_usd, submission_id=submission_id, owner=owner)
        add(conn, [refund, moved] if amount_usd else [])


_CHARGED = (
    select(_T.vm_id, _T.meter, _T.owner, func.sum(_T.amount_usd))
    .where(_T.submission_id == bindparam("of"))
    .group_by(_T.vm_id, _T.meter, _T.owner)
)
_CHARGED_WORK = _CHARGED.where(
    _T.vm_id == bindparam("on"), _T.meter == Meter.WORK, _T.started_at >= bindparam("since")
)


def total_usd(conn: Connection, *, simulated: bool | None = None) -> Decimal:
    """Return the total of all VMs, or only of simulated VMs, or only of real VMs."""
    if simulated is None:
        return _dollars(conn, _SUM)
    simulated_vms = select(schema.vms.c.id).where(schema.vms.c.simulated)
    return _dollars(
        conn, _SUM.where(_T.vm_id.in_(simulated_vms) if simulated else _T.vm_id.not_in(simulated_vms))
    )


def total_of_vm(conn: Connection, vm_id: str) -> Decimal:
    """Return the cost of a VM so far."""
    return _dollars(conn, _OF_VM, vm_id)


def total_of_gpu(conn: Connection, gpu: str) -> Decimal:
    """Return the cost of all VMs with this GPU type, or of all CPU nodes."""
    return _dollars(conn, _OF_GPU, gpu)


def of_submission(conn: Connection, submission_id: str) -> Decimal:
    """Return the charge of a submission: its attempts, and the boot that its quote included."""
    return _dollars(conn, _OF_SUBMISSION, submission_id)


def of_owner_since(conn: Connection, owner: str, since: float) -> Decimal:
    """Return the cost of a user's intervals that began at `since` or later."""
    return _dollars(conn, _OF_OWNER, owner, since)


def of_team_since(conn: Connection, team: str, since: float) -> Decimal:
    """Return the total cost since `since` of the team's members, by sign-in or by key, even a revoked key."""
    return _dollars(conn, _OF_TEAM, team, since)


def total_since(conn: Connection, since: float) -> Decimal:
    """Return the cost since `since` of the whole service, including charges to the VM pool."""
    return _dollars(conn, _OF_ALL, since=since)


_OF_VM = _SUM.where(_T.vm_id == bindparam("of"))
_OF_GPU = _SUM.where(_T.vm_id.in_(select(schema.vms.c.id).where(schema.vms.c.gpu == bindparam("of"))))
_OF_SUBMISSION = _SUM.where(_T.submission_id == bindparam("of"))
_OF_OWNER = _SUM.where(_T.owner == bindparam("of"), _T.started_at >= bindparam("since"))
_MEMBERS = union(
    select(schema.api_keys.c.user_name).where(schema.api_keys.c.team == bindparam("of")),
    select(schema.users.c.name).where(schema.users.c.team == bindparam("of")),
)
_OF_TEAM = _SUM.where(_T.owner.in_(_MEMBERS), _T.started_at >= bindparam("since"))
_OF_ALL = _SUM.where(_T.started_at >= bindparam("since"))


def spent_today(
    conn: Connection, user: str, team: str | None, now: float, *, begun_only: bool = False
) -> DailySpending:
    """Return the actual and expected spending of a user, their team and the service since midnight UTC.

    Expected spending is the remaining cost of unfinished submissions; with `begun_only`, of those on a VM.
    """
    since = now - now % _DAY_S
    expected = _EXPECTED[begun_only]
    return DailySpending(
        user_usd=of_owner_since(conn, user, since),
        team_usd=of_team_since(conn, team, since) if team is not None else Decimal(0),
        total_usd=total_since(conn, since),
        user_expected_usd=_dollars(conn, expected["user"], user),
        team_expected_usd=_dollars(conn, expected["team"], team) if team is not None else Decimal(0),
        total_expected_usd=_dollars(conn, expected["total"]),
        team_budget_usd=team_queries.budget(conn, team) if team is not None else None,
    )


def _expected_sums(states: Collection[SubmissionState]) -> dict[str, Select[Any]]:
    """Return the sums of expected costs in these states, for a user, a team and the service."""
    total = select(func.sum(_S.expected_usd)).where(schema.state_in(states))
    return {
        "user": total.where(_S.owner == bindparam("of")),
        "team": total.where(_S.owner.in_(_MEMBERS)),
        "total": total,
    }


_EXPECTED = {False: _expected_sums(UNFINISHED), True: _expected_sums(REPORT.sources)}


def charged_to_pool(conn: Connection) -> Decimal:
    """Return the charges to the VM pool instead of a submission: idle time and prewarming."""
    return _dollars(conn, _OF_POOL)


_OF_POOL = _SUM.where(_T.submission_id.is_(None))


def by_day(conn: Connection, since: float) -> dict[str, Decimal]:
    """Return dollars per UTC day on which an interval began, such as 2031-05-17, from the day of `since`."""
    rows = conn.execute(_BY_DAY, {"since": int(since // _DAY_S)})
    return {datetime.fromtimestamp(day * _DAY_S, UTC).date().isoformat(): amount for day, amount in rows}


_BY_DAY = (
    select(_T.day, func.sum(_T.amount_usd))
    .where(_T.day >= bindparam("since"))
    .group_by(_T.day)
    .order_by(_T.day)
)


def by_day_and_meter(conn: Connection, since: float) -> dict[str, dict[Meter, Decimal]]:
    """Return dollars per UTC day, as `by_day` does, split by meter."""
    amounts: dict[str, dict[Meter, Decimal]] = {}
    for day, meter, amount in conn.execute(_BY_DAY_AND_METER, {"since": int(since // _DAY_S)}):
        name = datetime.fromtimestamp(day * _DAY_S, UTC).date().isoformat()
        amounts.setdefault(name, {})[Meter(meter)] = amount
    return amounts


_BY_DAY_AND_METER = (
    select(_T.day, _T.meter, func.sum(_T.amount_usd))
    .where(_T.day >= bindparam("since"))
    .group_by(_T.day, _T.meter)
    .order_by(_T.day, _T.meter)
)


def by_hour(conn: Connection, since: float) -> dict[float, Decimal]:
    """Return dollars per hour in which an interval ended; the key is the end of the hour."""
    rows = conn.execute(_BY_HOUR, {"since": int(since // _DAY_S)})
    return {float((hour + 1) * _HOUR_S): amount for hour, amount in rows}


_HOUR = cast(_T.ended_at, BigInteger) // _HOUR_S
_BY_HOUR = (
    select(_HOUR, func.sum(_T.amount_usd)).where(_T.day >= bindparam("since")).group_by(_HOUR).order_by(_HOUR)
)


def by_owner(conn: Connection, since: float) -> dict[str | None, Decimal]:
    """Return dollars per user from the day of `since`, highest first; the key None is the VM pool."""
    rows = conn.execute(_BY_OWNER, {"since": int(since // _DAY_S)})
    return {row.owner: row.amount for row in rows}


_BY_OWNER = (
    select(_T.owner, func.sum(_T.amount_usd).label("amount"))
    .where(_T.day >= bindparam("since"))
    .group_by(_T.owner)
    .order_by(func.sum(_T.amount_usd).desc(), _T.owner)
)


def by_meter(conn: Connection) -> dict[Meter, Decimal]:
    """Return dollars per meter."""
    return {Meter(meter): amount for meter, amount in conn.execute(_BY_METER)}


_BY_METER = select(_T.meter, func.sum(_T.amount_usd)).group_by(_T.meter).order_by(_T.meter)


def by_vm(conn: Connection, vm_ids: Sequence[str]) -> dict[str, dict[Meter, Decimal]]:
    """Return dollars per VM and meter; a VM without entries is absent."""
    amounts: dict[str, dict[Meter, Decimal]] = {}
    for vm_id, meter, amount in conn.execute(_BY_VM, {"these": list(vm_ids)}):
        amounts.setdefault(vm_id, {})[Meter(meter)] = amount
    return amounts


_BY_VM = (
    select(_T.vm_id, _T.meter, func.sum(_T.amount_usd))
    .where(_T.vm_id.in_(bindparam("these", expanding=True)))
    .group_by(_T.vm_id, _T.meter)
    .order_by(_T.vm_id, _T.meter)
)


def entries(conn: Connection, vm_id: str) -> list[LedgerEntry]:
    """Return the entries of one VM, in order."""
    rows = conn.execute(_ENTRIES, {"of": vm_id})
    return [_entry(row) for row in rows]


_ENTRIES = (
    select(*[_T[name] for name in _NAMES])
    .where(_T.vm_id == bindparam("of"))
    .order_by(_T.started_at, _T.ended_at, _T.id)
)


def ended_since(conn: Connection, vm_ids: Sequence[str], since: float) -> list[LedgerEntry]:
    """Return the entries of these VMs that ended after `since`, in order."""
    rows = conn.execute(_ENDED_SINCE, {"these": list(vm_ids), "since": since})
    return [_entry(row) for row in rows]


_ENDED_SINCE = (
    select(*[_T[name] for name in _NAMES])
    .where(_T.vm_id.in_(bindparam("these", expanding=True)), _T.ended_at > bindparam("since"))
    .order_by(_T.started_at, _T.ended_at, _T.id)
)


def _entry(row: Row[Any]) -> LedgerEntry:
    return LedgerEntry(**{**row._mapping, "meter": Meter(row.meter)})  # noqa: SLF001 - public


def _dollars(conn: Connection, statement: Select[Any], of: str = "", since: float = 0.0) -> Decimal:
    total = conn.execute(statement, {"of": of, "since": since}).scalar()
    return Decimal(0) if total is None else total


def within(conn: Connection, begin: float, end: float) -> list[LedgerEntry]:
    """Return the entries that overlap an interval of time, in order."""
    return [_entry(row) for row in conn.execute(_WITHIN, {"begin": begin, "end": end})]


_WITHIN = (
    select(*[_T[name] for name in _NAMES])
    .where(_T.started_at < bindparam("end"), _T.ended_at > bindparam("begin"))
    .order_by(_T.started_at)
)
