"""VMs as they are kept: one row each, for ever, so that every bill has its machine.

What a VM may become is decided elsewhere; this only writes it down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, insert, or_, select, update

from warmfront.store import schema
from warmfront.vm import VMInstance, VMState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

_T = schema.vms.c
_NAMES = tuple(VMInstance.__dataclass_fields__)
_RECORDS = select(*[_T[name] for name in _NAMES])


def save(c: Connection, vm: VMInstance) -> None:
    """Write it as it is now, whether it was known or not."""
    row = vars(vm)
    if c.execute(_UPDATE, {"this": vm.id, **{name: row[name] for name in _CHANGING}}).rowcount == 0:
        c.execute(_INSERT, row)


#: All but what a VM is from the first: naming that too would have its indexes written anew each time.
_CHANGING = [name for name in _NAMES if name not in {"id", "provider", "gpu", "created_at"}]
_UPDATE = update(schema.vms).where(_T.id == bindparam("this"))
_INSERT = insert(schema.vms)


def get(c: Connection, vm_id: str) -> VMInstance | None:
    """The VM of this id."""
    row = c.execute(_GET, {"id": vm_id}).first()
    return None if row is None else _record(row)


_GET = _RECORDS.where(_T.id == bindparam("id"))


def alive(c: Connection) -> list[VMInstance]:
    """All whose end is not confirmed, the oldest first."""
    return [_record(row) for row in c.execute(_ALIVE)]


_ALIVE = _RECORDS.where(_T.state.in_([state for state in VMState if not state.is_over])).order_by(
    _T.created_at, _T.id
)


def recent(c: Connection, limit: int) -> list[VMInstance]:
    """The last ones asked for, the newest first."""
    return [_record(row) for row in c.execute(_RECENT, {"most": limit})]


_RECENT = _RECORDS.order_by(_T.created_at.desc(), _T.id.desc()).limit(bindparam("most"))


def since(c: Connection, moment: float, limit: int) -> list[VMInstance]:
    """Those that lived at this moment or later, the last ones asked for, the oldest first."""
    return [_record(row) for row in c.execute(_SINCE, {"moment": moment, "most": limit})][::-1]


_SINCE = (
    _RECORDS.where(or_(_T.ended_at.is_(None), _T.ended_at > bindparam("moment")))
    .order_by(_T.created_at.desc(), _T.id.desc())
    .limit(bindparam("most"))
)


def _record(values: Sequence[Any]) -> VMInstance:
    row = dict(zip(_NAMES, values, strict=True))
    row["state"] = VMState(row["state"])
    return VMInstance(**row)
