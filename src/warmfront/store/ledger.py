"""The ledger: what every VM cost, interval by interval; the only source of a dollar figure.

Entries are added and never changed. Sums are made by the database, in whole billionths of a dollar.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, bindparam, cast, func, insert, select

from warmfront.store import schema
from warmfront.store.records import LedgerEntry, Meter

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Connection, Row, Select

_T = schema.ledger.c
_NAMES = tuple(LedgerEntry.__dataclass_fields__)
_SUM = select(func.sum(_T.amount_usd))
_DAY_S = 86_400
_HOUR_S = 3600


def add(c: Connection, entries: Iterable[LedgerEntry]) -> None:
    """Write intervals down. One that ends before it begins is a `ValueError`, and none is written."""
    rows = [_row(entry) for entry in entries]
    if rows:
        c.execute(_INSERT, rows)


_INSERT = insert(schema.ledger)


def _row(entry: LedgerEntry) -> dict[str, Any]:
    if entry.ended_at < entry.started_at:
        raise ValueError(f"the interval of {entry.vm_id} ends before it begins")
    return {**vars(entry), "day": int(entry.started_at // _DAY_S)}


def total_usd(c: Connection, *, simulated: bool | None = None) -> Decimal:
    """All that was ever spent; or the part of VMs that stood in for a GPU, or of those that did not."""
    if simulated is None:
        return _dollars(c, _SUM)
    stand_ins = select(schema.vms.c.id).where(schema.vms.c.simulated)
    return _dollars(c, _SUM.where(_T.vm_id.in_(stand_ins) if simulated else _T.vm_id.not_in(stand_ins)))


def total_of_vm(c: Connection, vm_id: str) -> Decimal:
    """What this VM came to so far."""
    return _dollars(c, _OF_VM, vm_id)


def of_submission(c: Connection, submission_id: str) -> Decimal:
    """What this submission came to, with its share of provisioning and idle."""
    return _dollars(c, _OF_SUBMISSION, submission_id)


def of_owner_since(c: Connection, owner: str, since: float) -> Decimal:
    """What this user's intervals came to that began at `since` or later."""
    return _dollars(c, _OF_OWNER, owner, since)


def of_team_since(c: Connection, team: str, since: float) -> Decimal:
    """The same of all who have, or had, a key of this team."""
    return _dollars(c, _OF_TEAM, team, since)


def total_since(c: Connection, since: float) -> Decimal:
    """The same of everyone, and of nobody: what VMs cost that nobody used any more."""
    return _dollars(c, _OF_ALL, since=since)


_OF_VM = _SUM.where(_T.vm_id == bindparam("of"))
_OF_SUBMISSION = _SUM.where(_T.submission_id == bindparam("of"))
_OF_OWNER = _SUM.where(_T.owner == bindparam("of"), _T.started_at >= bindparam("since"))
_MEMBERS = select(schema.api_keys.c.user_name).where(schema.api_keys.c.team == bindparam("of"))
_OF_TEAM = _SUM.where(_T.owner.in_(_MEMBERS), _T.started_at >= bindparam("since"))
_OF_ALL = _SUM.where(_T.started_at >= bindparam("since"))


def by_day(c: Connection, since: float) -> dict[str, Decimal]:
    """Dollars by the UTC day on which an interval began, such as 2031-05-17, from the day of `since` on."""
    rows = c.execute(_BY_DAY, {"since": int(since // _DAY_S)})
    return {datetime.fromtimestamp(day * _DAY_S, UTC).date().isoformat(): amount for day, amount in rows}


_BY_DAY = (
    select(_T.day, func.sum(_T.amount_usd))
    .where(_T.day >= bindparam("since"))
    .group_by(_T.day)
    .order_by(_T.day)
)


def by_day_and_meter(c: Connection, since: float) -> dict[str, dict[Meter, Decimal]]:
    """As `by_day`, and each day by what the VMs did."""
    found: dict[str, dict[Meter, Decimal]] = {}
    for day, meter, amount in c.execute(_BY_DAY_AND_METER, {"since": int(since // _DAY_S)}):
        name = datetime.fromtimestamp(day * _DAY_S, UTC).date().isoformat()
        found.setdefault(name, {})[Meter(meter)] = amount
    return found


_BY_DAY_AND_METER = (
    select(_T.day, _T.meter, func.sum(_T.amount_usd))
    .where(_T.day >= bindparam("since"))
    .group_by(_T.day, _T.meter)
    .order_by(_T.day, _T.meter)
)


def by_hour(c: Connection, since: float) -> dict[float, Decimal]:
    """Dollars by the hour in which an interval ended, known by its end, from the day of `since` on."""
    rows = c.execute(_BY_HOUR, {"since": int(since // _DAY_S)})
    return {float((hour + 1) * _HOUR_S): amount for hour, amount in rows}


_HOUR = cast(_T.ended_at, BigInteger) // _HOUR_S
_BY_HOUR = (
    select(_HOUR, func.sum(_T.amount_usd)).where(_T.day >= bindparam("since")).group_by(_HOUR).order_by(_HOUR)
)


def by_owner(c: Connection, since: float) -> dict[str | None, Decimal]:
    """Dollars by user, from the day of `since` on, the most first; None: nobody came any more."""
    rows = c.execute(_BY_OWNER, {"since": int(since // _DAY_S)})
    return {row.owner: row.amount for row in rows}


_BY_OWNER = (
    select(_T.owner, func.sum(_T.amount_usd).label("amount"))
    .where(_T.day >= bindparam("since"))
    .group_by(_T.owner)
    .order_by(func.sum(_T.amount_usd).desc(), _T.owner)
)


def by_meter(c: Connection) -> dict[Meter, Decimal]:
    """Dollars by what the VMs did for them."""
    return {Meter(meter): amount for meter, amount in c.execute(_BY_METER)}


_BY_METER = select(_T.meter, func.sum(_T.amount_usd)).group_by(_T.meter).order_by(_T.meter)


def by_vm(c: Connection, vm_ids: Sequence[str]) -> dict[str, dict[Meter, Decimal]]:
    """Dollars of each of these VMs, by what it did for them; none for a VM that cost nothing."""
    found: dict[str, dict[Meter, Decimal]] = {}
    for vm_id, meter, amount in c.execute(_BY_VM, {"these": list(vm_ids)}):
        found.setdefault(vm_id, {})[Meter(meter)] = amount
    return found


_BY_VM = (
    select(_T.vm_id, _T.meter, func.sum(_T.amount_usd))
    .where(_T.vm_id.in_(bindparam("these", expanding=True)))
    .group_by(_T.vm_id, _T.meter)
    .order_by(_T.vm_id, _T.meter)
)


def entries(c: Connection, vm_id: str) -> list[LedgerEntry]:
    """The intervals of one VM, in order."""
    rows = c.execute(_ENTRIES, {"of": vm_id})
    return [_entry(row) for row in rows]


_ENTRIES = (
    select(*[_T[name] for name in _NAMES])
    .where(_T.vm_id == bindparam("of"))
    .order_by(_T.started_at, _T.ended_at, _T.id)
)


def ended_since(c: Connection, vm_ids: Sequence[str], since: float) -> list[LedgerEntry]:
    """The intervals of these VMs that ended after this moment, in order."""
    rows = c.execute(_ENDED_SINCE, {"these": list(vm_ids), "since": since})
    return [_entry(row) for row in rows]


_ENDED_SINCE = (
    select(*[_T[name] for name in _NAMES])
    .where(_T.vm_id.in_(bindparam("these", expanding=True)), _T.ended_at > bindparam("since"))
    .order_by(_T.started_at, _T.ended_at, _T.id)
)


def _entry(row: Row[Any]) -> LedgerEntry:
    return LedgerEntry(**{**row._mapping, "meter": Meter(row.meter)})  # noqa: SLF001 - public


def _dollars(c: Connection, statement: Select[Any], of: str = "", since: float = 0.0) -> Decimal:
    total = c.execute(statement, {"of": of, "since": since}).scalar()
    return Decimal(0) if total is None else total
