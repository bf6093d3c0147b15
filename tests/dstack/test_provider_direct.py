"""What tells an attempt's events from what its kernel prints, and one lease of a VM from the next."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from warmfront.listener.signed_events import SignedEventReader, sign_event
from warmfront.providers.dstack.assignment_events import InstanceAssignment
from warmfront.providers.dstack.resources import DstackInstance
from warmfront.providers.dstack.tenancy import cut

KEY, ATTEMPT = "a key", "att_1"
LINES = [
    sign_event(KEY, ATTEMPT, seq=1, fields={"status": "COMPILING"}, is_last=False),
    sign_event(KEY, ATTEMPT, seq=2, fields={"status": "CHECKED"}, is_last=True),
]


def statuses(output: bytes, **options: int) -> list[str]:
    """What a reader takes out of this."""
    return [line.fields["status"] for line in SignedEventReader(KEY, ATTEMPT, **options).feed(output)]


def output_of(*lines: str) -> bytes:
    """As a terminal shows them."""
    return "".join(f"{line}\r\n" for line in lines).encode()


def test_events_are_found_among_other_output() -> None:
    """Text around, also on the same line, does not hide an event."""
    assert statuses(output_of("hello", f"50 %{LINES[0]}", "", LINES[1], "bye")) == ["COMPILING", "CHECKED"]


def test_forged_events_are_text() -> None:
    """Without the key nobody writes an event: not by another key, of another attempt, or by changing one."""
    forged = [
        sign_event("another key", ATTEMPT, seq=1, fields={"status": "ACCEPTED"}, is_last=True),
        sign_event(KEY, "att_2", seq=1, fields={"status": "ACCEPTED"}, is_last=True),
        LINES[0].replace("COMPILING", "ACCEPTED"),
        "warmfront-event  " + json.dumps({"seq": 1, "last": True, "fields": {"status": "ACCEPTED"}}),
    ]
    assert statuses(output_of(*forged, *LINES)) == ["COMPILING", "CHECKED"]


def test_events_that_come_again_are_taken_once() -> None:
    """A repeated or overtaken line changes nothing, and who has seen some gets the rest."""
    assert statuses(output_of(LINES[1], LINES[0], LINES[0], LINES[1], LINES[1])) == ["COMPILING", "CHECKED"]
    assert statuses(output_of(*LINES), after=1) == ["CHECKED"]


@given(st.lists(st.integers(0, 600)))
def test_output_may_be_cut_anywhere(places: list[int]) -> None:
    """However the output comes in pieces, it has the same events."""
    output = output_of("text", *LINES)
    edges = [0, *sorted(min(place, len(output)) for place in places), len(output)]
    reader = SignedEventReader(KEY, ATTEMPT)
    pieces = [output[a:b] for a, b in itertools.pairwise(edges)]
    found = [line.fields["status"] for piece in pieces for line in reader.feed(piece)]
    assert found == ["COMPILING", "CHECKED"]


VM = DstackInstance(
    id="i",
    name="fleet-0",
    num=0,
    fleet="fleet",
    status="terminated",
    is_unreachable=False,
    hostname="127.0.0.2",
    backend="amddevcloud",
    region=None,
    price_usd_per_h=Decimal("1.99"),
    created_at=100.0,
    finished_at=500.0,
    termination_reason=None,
    termination_message=None,
)


def test_runs_that_follow_each_other_on_a_vm_share_its_bill() -> None:
    """Each has the VM until the next came, the first from its beginning: together they have all of it."""
    came = [
        InstanceAssignment(at=at, run=run, instance_id="i")
        for at, run in [(101.0, "a"), (180.0, "a"), (200.0, "b"), (290.0, "b"), (300.0, "c")]
    ]
    stays = [cut(VM, run, came) for run in ("a", "b", "c")]
    assert [(stay.since, stay.until) for stay in stays] == [(100.0, 200.0), (200.0, 300.0), (300.0, 500.0)]
    assert [stay.is_last for stay in stays] == [False, False, True]


def test_a_place_without_a_vm_costs_nothing() -> None:
    """Before the cloud has given a VM, there is nothing to bill."""
    waiting = replace(VM, status="pending", price_usd_per_h=None, finished_at=None)
    assert (cut(waiting, "a", []).since, cut(waiting, "a", []).until) == (None, None)
