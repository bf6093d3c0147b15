"""The recent hours of a VM, as consecutive segments: provisioning, work and idle time.

Closed segments come from the ledger; the open one is derived from the VM. This module makes no queries.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from warmfront.store.records import Meter
from warmfront.value_class import dataclass
from warmfront.vm import VMState

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from warmfront.store.records import LedgerEntry, RunningAttempt
    from warmfront.vm import VMInstance

#: The most segments of one timeline: a screen has only slightly more columns.
MAX_SEGMENTS = 500


@dataclass(frozen=True, kw_only=True)
class TimelineSegment:
    """The activity of a VM during an interval."""

    meter: Meter
    started_at: float
    ended_at: float
    submission_id: str | None = None
    owner: str | None = None
    is_open: bool = False  #: the interval has not ended

    @property
    def seconds(self) -> float:
        """The length of the interval."""
        return self.ended_at - self.started_at


def vm_timeline(
    vm: VMInstance,
    entries: Iterable[LedgerEntry],
    running: Sequence[RunningAttempt],
    *,
    since: float,
    now: float,
) -> list[TimelineSegment]:
    """Return the segments of one VM between `since` and `now`, in order.

    A VM with several slots counts as working while at least one slot works.
    """
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
    clipped = [
        replace(segment, started_at=max(segment.started_at, since))
        for segment in (*billed, *_open_segments(vm, running, now))
        if segment.ended_at > since
    ]
    segments = [segment for segment in clipped if segment.seconds > 0]
    return condense(flatten(segments) if vm.slots > 1 else segments, (now - since) / MAX_SEGMENTS)


def flatten(segments: list[TimelineSegment]) -> list[TimelineSegment]:
    """Merge the segments of several slots. Work takes precedence over other activities.

    A merged segment has a submission only if it is the only one.
    """
    merged: list[TimelineSegment] = []
    for segment in sorted(
        segments, key=lambda segment: (segment.meter is not Meter.WORK, segment.started_at)
    ):
        if segment.meter is not Meter.WORK:
            merged += _uncovered(segment, [work for work in merged if work.meter is Meter.WORK])
        elif merged and segment.started_at < merged[-1].ended_at:
            last = merged[-1]
            ended_at, is_open = max(last.ended_at, segment.ended_at), last.is_open or segment.is_open
            merged[-1] = TimelineSegment(
                meter=Meter.WORK, started_at=last.started_at, ended_at=ended_at, is_open=is_open
            )
        else:
            merged.append(segment)
    return sorted(merged, key=lambda segment: segment.started_at)


def _uncovered(segment: TimelineSegment, works: list[TimelineSegment]) -> list[TimelineSegment]:
    """Return the parts of a segment during which no slot works."""
    parts, begin = [], segment.started_at
    for work in works:
        if work.started_at > begin and work.started_at < segment.ended_at:
            parts.append(replace(segment, started_at=begin, ended_at=work.started_at, is_open=False))
        begin = max(begin, work.ended_at)
    return [*parts, replace(segment, started_at=begin)] if begin < segment.ended_at else parts


def condense(segments: list[TimelineSegment], slot_s: float) -> list[TimelineSegment]:
    """Merge the segments that begin in the same time slot, if there are more than `MAX_SEGMENTS`.

    A merged segment gets the meter with the largest share of it.
    """
    if len(segments) <= MAX_SEGMENTS:
        return segments
    slots = groupby(segments, key=lambda segment: segment.started_at // slot_s)
    return [_merge(list(together)) for _, together in slots]


def _merge(segments: list[TimelineSegment]) -> TimelineSegment:
    if len(segments) == 1:
        return segments[0]
    seconds = dict.fromkeys((segment.meter for segment in segments), 0.0)
    for segment in segments:
        seconds[segment.meter] += segment.seconds
    return TimelineSegment(
        meter=max(seconds, key=seconds.__getitem__),
        started_at=segments[0].started_at,
        ended_at=segments[-1].ended_at,
        is_open=segments[-1].is_open,
    )


def _open_segments(
    vm: VMInstance, running: Sequence[RunningAttempt], now: float
) -> Iterator[TimelineSegment]:
    """Yield the segments from the VM's last ledger entry until now."""
    if vm.state.has_ended:
        return
    begin = vm.metered_until or vm.started_at or vm.created_at
    if vm.ready_at is None:
        yield TimelineSegment(meter=Meter.PROVISIONING, started_at=begin, ended_at=now, is_open=True)
        return
    if begin < vm.ready_at:
        yield TimelineSegment(meter=Meter.PROVISIONING, started_at=begin, ended_at=vm.ready_at)
        begin = vm.ready_at
    if vm.state is VMState.BUSY and running:
        for attempt in running:
            yield TimelineSegment(
                meter=Meter.WORK,
                started_at=begin if vm.slots == 1 else attempt.started_at,
                ended_at=now,
                submission_id=attempt.submission_id,
                owner=attempt.owner,
                is_open=True,
            )
        return
    meter = Meter.WORK if vm.state is VMState.BUSY else Meter.IDLE
    yield TimelineSegment(meter=meter, started_at=begin, ended_at=now, is_open=True)
