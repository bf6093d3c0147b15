"""Timelines of VMs: ledger entries, the open segment, and condensing."""

from __future__ import annotations

from decimal import Decimal

import pytest

from warmfront.api.timeline import MAX_SEGMENTS, TimelineSegment, condense, vm_timeline
from warmfront.store.records import LedgerEntry, Meter, RunningAttempt
from warmfront.vm import VMInstance, VMState


def _vm(state: VMState, **times: float) -> VMInstance:
    return VMInstance(id="vm_1", provider="local", gpu="MI300X", state=state, created_at=100.0, **times)  # type: ignore[arg-type]  # only times


def _entry(meter: Meter, start: float, end: float) -> LedgerEntry:
    return LedgerEntry(
        vm_id="vm_1",
        meter=meter,
        started_at=start,
        ended_at=end,
        amount_usd=Decimal(0),
        submission_id="sub_1",
        owner="ada",
    )


def _shape(segments: list[TimelineSegment]) -> list[tuple[Meter, float, float, bool]]:
    return [(piece.meter, piece.started_at, piece.ended_at, piece.is_open) for piece in segments]


RUNNING = [RunningAttempt("vm_1", 180.0, "sub_2", "bob", "relu", "submit")]


@pytest.mark.parametrize(
    ("vm", "expected"),
    [
        (_vm(VMState.PROVISIONING), [(Meter.PROVISIONING, 100, 200, True)]),
        (_vm(VMState.PROVISIONING, started_at=110.0), [(Meter.PROVISIONING, 110, 200, True)]),
        (
            _vm(VMState.WARM, started_at=110.0, ready_at=150.0),
            [(Meter.PROVISIONING, 110, 150, False), (Meter.IDLE, 150, 200, True)],
        ),
        (
            _vm(VMState.BUSY, started_at=110.0, ready_at=150.0, metered_until=180.0),
            [(Meter.WORK, 180, 200, True)],
        ),
        (
            _vm(VMState.IDLE, started_at=110.0, ready_at=150.0, metered_until=180.0),
            [(Meter.IDLE, 180, 200, True)],
        ),
        (_vm(VMState.TERMINATED, started_at=110.0, ready_at=150.0, ended_at=190.0), []),
    ],
)
def test_the_open_segment_is_added(vm: VMInstance, expected: list[tuple[Meter, float, float, bool]]) -> None:
    """It lasts from the last ledger entry until now and depends on the VM's state; an ended VM has none."""
    assert _shape(vm_timeline(vm, [], RUNNING, since=0.0, now=200.0)) == expected


def test_only_work_has_an_owner() -> None:
    """Provisioning and idle time are billed to a submission, but none ran then."""
    vm = _vm(VMState.BUSY, started_at=110.0, ready_at=120.0, metered_until=150.0)
    segments = vm_timeline(
        vm, [_entry(Meter.IDLE, 120, 130), _entry(Meter.WORK, 130, 150)], RUNNING, since=0.0, now=200.0
    )
    assert [piece.submission_id for piece in segments] == [None, "sub_1", "sub_2"]
    assert [piece.owner for piece in segments] == [None, "ada", "bob"]


def test_a_timeline_is_clipped() -> None:
    """Earlier segments are dropped, overlapping ones are clipped, and empty ones are dropped."""
    vm = _vm(VMState.TERMINATED, started_at=110.0, ended_at=170.0)
    entries = [_entry(Meter.IDLE, 110, 140), _entry(Meter.WORK, 140, 160), _entry(Meter.IDLE, 160, 160)]
    assert _shape(vm_timeline(vm, entries, [], since=150.0, now=200.0)) == [(Meter.WORK, 150, 160, False)]


def test_many_segments_are_condensed() -> None:
    """The segments of a slot become one with the longest meter; the total time is kept."""
    segments = [
        TimelineSegment(meter=meter, started_at=start, ended_at=start + length)
        for number in range(MAX_SEGMENTS)
        for meter, start, length in (
            (Meter.WORK, 10.0 * number, 7.0),
            (Meter.IDLE, 10.0 * number + 7, 3.0),
        )
    ]
    few = condense(segments, 100.0)
    assert len(few) == MAX_SEGMENTS / 10
    assert {piece.meter for piece in few} == {Meter.WORK}
    assert (few[0].started_at, few[-1].ended_at) == (0.0, 10.0 * MAX_SEGMENTS)
    assert sum(piece.seconds for piece in few) == pytest.approx(10.0 * MAX_SEGMENTS)


def test_few_segments_are_kept() -> None:
    """Below the limit even a second of work in a day is kept."""
    segments = [
        TimelineSegment(meter=Meter.WORK, started_at=5.0, ended_at=6.0, submission_id="sub_1", owner="ada")
    ]
    assert condense(segments, 86_400.0) == segments
