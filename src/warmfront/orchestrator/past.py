"""What the store has at a start, read in one go."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from warmfront.store import attempts, ledger, marks, submissions, vms

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from warmfront.store.records import AttemptRecord
    from warmfront.submission import Submission
    from warmfront.vm import VMInstance

#: Boots from which a new start learns how long one takes.
_BOOTS = 10


@dataclass(frozen=True, kw_only=True)
class Past:
    """What was going on when the last process ended."""

    alive: list[VMInstance]
    unfinished: list[Submission]
    attempts: dict[str, AttemptRecord]
    settled_usd: Decimal
    alerted: bool
    boots_s: list[float]
    arrivals: list[tuple[float, str]]  #: time and owner of what got a VM, the oldest first


def read_past(c: Connection, alert: str, latest: int) -> Past:
    """Everything that is not over, and the `latest` arrivals; `alert` is the mark that the alert has left."""
    alive = vms.alive(c)
    unfinished = submissions.unfinished(c)
    leases = {record.attempt_id for record in unfinished}
    unsettled = sum((ledger.total_of_vm(c, vm.id) for vm in alive), start=Decimal(0))
    return Past(
        alive=alive,
        unfinished=unfinished,
        attempts={a.submission_id: a for a in attempts.unfinished(c) if a.id in leases},
        settled_usd=ledger.total_usd(c) - unsettled,
        alerted=marks.get(c, alert) is not None,
        boots_s=[
            vm.ready_at - vm.created_at for vm in reversed(vms.recent(c, _BOOTS)) if vm.ready_at is not None
        ],
        arrivals=submissions.arrivals(c, latest),
    )
