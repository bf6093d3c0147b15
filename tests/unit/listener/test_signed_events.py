"""Signed events: a reader finds them among other output and ignores forgeries."""

from __future__ import annotations

import itertools
import json

from hypothesis import given
from hypothesis import strategies as st

from warmfront.listener.signed_events import SignedEventReader, sign_event

KEY, ATTEMPT = "a key", "att_1"
LINES = [
    sign_event(KEY, ATTEMPT, seq=1, fields={"status": "COMPILING"}, is_last=False),
    sign_event(KEY, ATTEMPT, seq=2, fields={"status": "CHECKED"}, is_last=True),
]


def statuses(output: bytes, **options: int) -> list[str]:
    """Return the statuses of the events that a reader finds."""
    return [event.fields["status"] for event in SignedEventReader(KEY, ATTEMPT, **options).feed(output)]


def output_of(*lines: str) -> bytes:
    """Return the lines as a terminal prints them."""
    return "".join(f"{line}\r\n" for line in lines).encode()


def test_events_are_found_among_other_output() -> None:
    """Other text before, after or on the same line does not hide an event."""
    assert statuses(output_of("hello", f"50 %{LINES[0]}", "", LINES[1], "bye")) == ["COMPILING", "CHECKED"]


def test_forged_events_are_ignored() -> None:
    """Events with another key, of another attempt, changed, or without a signature are ignored."""
    forged = [
        sign_event("another key", ATTEMPT, seq=1, fields={"status": "ACCEPTED"}, is_last=True),
        sign_event(KEY, "att_2", seq=1, fields={"status": "ACCEPTED"}, is_last=True),
        LINES[0].replace("COMPILING", "ACCEPTED"),
        "warmfront-event  " + json.dumps({"seq": 1, "last": True, "fields": {"status": "ACCEPTED"}}),
    ]
    assert statuses(output_of(*forged, *LINES)) == ["COMPILING", "CHECKED"]


def test_repeated_events_are_read_once() -> None:
    """Repeated and out-of-order lines are ignored; `after` skips events that were read before."""
    assert statuses(output_of(LINES[1], LINES[0], LINES[0], LINES[1], LINES[1])) == ["COMPILING", "CHECKED"]
    assert statuses(output_of(*LINES), after=1) == ["CHECKED"]


@given(st.lists(st.integers(0, 600)))
def test_output_can_be_split_anywhere(offsets: list[int]) -> None:
    """The events do not depend on how the output is split into chunks."""
    output = output_of("text", *LINES)
    edges = [0, *sorted(min(offset, len(output)) for offset in offsets), len(output)]
    reader = SignedEventReader(KEY, ATTEMPT)
    chunks = [output[start:end] for start, end in itertools.pairwise(edges)]
    read = [event.fields["status"] for chunk in chunks for event in reader.feed(chunk)]
    assert read == ["COMPILING", "CHECKED"]
