"""The last hours of each VM as pieces of a lane: booting, at work, idle, up to this moment.

What the ledger has is taken as it is; what is under way is added from the VM. Nothing here asks the store.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from warmfront.store.records import Meter
from warmfront.vm import VMState

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from warmfront.store.records import LedgerEntry, Running
    from warmfront.vm import VMInstance

#: Pieces of one lane at the most: a screen has not many more columns.
MAX_SEGMENTS = 500


@dataclass(frozen=True, kw_only=True)
class TimelineSegment:
    """What a VM did for a while."""

    meter: Meter
    started_at: float
    ended_at: float
    submission_id: str | None = None
    owner: str | None = None
    is_open: bool = False  #: it goes on

    @property
    def seconds(self) -> float:
        """How long."""
        return self.ended_at - self.started_at


def vm_timeline(
    vm: VMInstance, entries: Iterable[LedgerEntry], running: Running | None, *, since: float, now: float
) -> list[TimelineSegment]:
    """The pieces of one VM's lane within `since` and `now`, in order."""
    billed = [
        TimelineSegment(
            meter=entry.meter,
            started_at=entry.started_at,
            ended_at=entry.ended_at,
            submission_id=entry.submission_id if entry.meter is Meter.WORK else None,
            owner=entry.owner if entry.meter is Meter.WORK else None,
        )
        for entry in entries
    ]
    pieces = [*billed, *_open_segments(vm, running, now)]
    cut = [replace(p, started_at=max(p.started_at, since)) for p in pieces if p.ended_at > since]
    return condense([piece for piece in cut if piece.seconds > 0], (now - since) / MAX_SEGMENTS)


def condense(pieces: list[TimelineSegment], slot_s: float) -> list[TimelineSegment]:
    """No more pieces than a picture can show: those that begin in the same slot become one.

    It is called after what took the most of it. Few pieces stay as they are.
    """
    if len(pieces) <= MAX_SEGMENTS:
        return pieces
    slots = groupby(pieces, key=lambda piece: piece.started_at // slot_s)
    return [_merge(list(together)) for _, together in slots]


def _merge(pieces: list[TimelineSegment]) -> TimelineSegment:
    if len(pieces) == 1:
        return pieces[0]
    seconds = dict.fromkeys((piece.meter for piece in pieces), 0.0)
    for piece in pieces:
        seconds[piece.meter] += piece.seconds
    return TimelineSegment(
        meter=max(seconds, key=seconds.__getitem__),
        started_at=pieces[0].started_at,
        ended_at=pieces[-1].ended_at,
        is_open=pieces[-1].is_open,
    )


def _open_segments(vm: VMInstance, running: Running | None, now: float) -> Iterator[TimelineSegment]:
    """From what the ledger has to this moment."""
    if vm.state.is_over:
        return
    begin = vm.metered_until or vm.started_at or vm.created_at
    if vm.ready_at is None:
        yield TimelineSegment(meter=Meter.PROVISIONING, started_at=begin, ended_at=now, is_open=True)
        return
    if begin < vm.ready_at:
        yield TimelineSegment(meter=Meter.PROVISIONING, started_at=begin, ended_at=vm.ready_at)
        begin = vm.ready_at
    if vm.state is VMState.BUSY and running is not None:
        yield TimelineSegment(
            meter=Meter.WORK,
            started_at=begin,
            ended_at=now,
            submission_id=running.submission_id,
            owner=running.owner,
            is_open=True,
        )
        return
    meter = Meter.WORK if vm.state is VMState.BUSY else Meter.IDLE
    yield TimelineSegment(meter=meter, started_at=begin, ended_at=now, is_open=True)
