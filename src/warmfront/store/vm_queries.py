"""Queries on VMs. Rows are never deleted, so that every ledger entry has its VM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, case, func, insert, or_, select, update

from warmfront.store import schema
from warmfront.vm import VMInstance, VMState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

_T = schema.vms.c
_NAMES = tuple(VMInstance.__dataclass_fields__)
_RECORDS = select(*[_T[name] for name in _NAMES])


def save(conn: Connection, vm: VMInstance) -> None:
    """Insert or update a VM."""
    row = vars(vm)
    if conn.execute(_UPDATE, {"this": vm.id, **{name: row[name] for name in _CHANGING}}).rowcount == 0:
        conn.execute(_INSERT, row)


#: The columns that change in a transition. Setting the others would update their indexes each time.
_CONSTANT = {"id", "provider", "gpu", "gpu_count", "created_at", "spot", "report"}
_CHANGING = [name for name in _NAMES if name not in _CONSTANT]
_UPDATE = update(schema.vms).where(_T.id == bindparam("this"))
_INSERT = insert(schema.vms)


def save_report(conn: Connection, vm: VMInstance) -> None:
    """Store the report of a VM's listener.

    `save` does not write it, because it is large and rarely changes.
    """
    conn.execute(_SAVE_REPORT, {"this": vm.id, "to_report": vm.report})


_SAVE_REPORT = (
    update(schema.vms)
    .where(_T.id == bindparam("this"))
    .values(report=bindparam("to_report", type_=schema.Json))
)


def get(conn: Connection, vm_id: str) -> VMInstance | None:
    """Return the VM with this id."""
    row = conn.execute(_GET, {"id": vm_id}).first()
    return None if row is None else _record(row)


_GET = _RECORDS.where(_T.id == bindparam("id"))


def live(conn: Connection) -> list[VMInstance]:
    """Return the VMs whose end is not confirmed, oldest first."""
    return [_record(row) for row in conn.execute(_LIVE)]


_LIVE = _RECORDS.where(_T.state.in_([state for state in VMState if not state.has_ended])).order_by(
    _T.created_at, _T.id
)


def recent(conn: Connection, limit: int) -> list[VMInstance]:
    """Return the most recently requested VMs, newest first."""
    return [_record(row) for row in conn.execute(_RECENT, {"most": limit})]


_RECENT = _RECORDS.order_by(_T.created_at.desc(), _T.id.desc()).limit(bindparam("most"))


def live_since(conn: Connection, moment: float, limit: int) -> list[VMInstance]:
    """Return the newest `limit` VMs that were live at this time or later, oldest first."""
    return [_record(row) for row in conn.execute(_SINCE, {"moment": moment, "most": limit})][::-1]


_SINCE = (
    _RECORDS.where(or_(_T.ended_at.is_(None), _T.ended_at > bindparam("moment")))
    .order_by(_T.created_at.desc(), _T.id.desc())
    .limit(bindparam("most"))
)


def billed_s(conn: Connection, gpu: str) -> float:
    """Return the total seconds in the ledger of all VMs with this GPU type, or of CPU nodes."""
    return float(conn.execute(_BILLED_S, {"of": gpu}).scalar() or 0.0)


_BILLED_S = select(func.sum(func.coalesce(_T.ended_at, _T.metered_until) - _T.started_at)).where(
    _T.gpu == bindparam("of")
)


def spot_history(conn: Connection) -> tuple[float, int]:
    """Return the total lifetime of all ended spot VMs in seconds, and how many were preempted."""
    lived_s, preempted = conn.execute(_SPOT_HISTORY).one()
    return float(lived_s or 0.0), int(preempted or 0)


_SPOT_HISTORY = select(
    func.sum(_T.ended_at - _T.started_at), func.sum(case((_T.preempted, 1), else_=0))
).where(_T.spot, _T.ended_at.is_not(None), _T.started_at.is_not(None))


def _record(values: Sequence[Any]) -> VMInstance:
    row = dict(zip(_NAMES, values, strict=True))
    row["state"] = VMState(row["state"])
    return VMInstance(**row)
