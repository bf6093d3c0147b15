"""Make the fields of every event that leaves a VM plain, printable and bounded.

The judge parses everything that comes out of a box (`judge/box_messages.py`). This is the second line of
defense. It removes terminal escapes, which a terminal would interpret, and NUL and lone surrogates, which a
database rejects. It also rejects events that are too large or too deeply nested to be stored.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

#: The largest event, as JSON; a control plane rejects larger ones.
MAX_EVENT_BYTES = 4 << 20
#: The longest text of an event: longer than the part of a program's output that is shown.
MAX_TEXT_CHARS = 128 * 1024
#: Shorter limits for an event that is still too large; the last one is enough for every event of a judge.
_SHORTER_TEXT_CHARS = (8 * 1024, 500)
#: The deepest nesting of an event's fields; the judge's events have four levels.
_MAX_DEPTH = 16
#: The most items in a list or dictionary; a timed case has a few thousand samples at most.
_MAX_ITEMS = 100_000
_CUT = "… (cut)"

#: Control characters except tab and line feed, bidirectional overrides, and surrogates.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class EventTooLarge(ValueError):
    """The event exceeds its limits even with shortened text."""


def clean_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an event with printable, bounded text.

    Raises:
        EventTooLarge: the event has too many or too deeply nested fields.
    """
    for max_chars in (MAX_TEXT_CHARS, *_SHORTER_TEXT_CHARS):
        cleaned: dict[str, Any] = _clean(fields, max_chars, _MAX_DEPTH)
        if len(encode(cleaned)) <= MAX_EVENT_BYTES:
            return cleaned
    raise EventTooLarge(f"An event has more than {MAX_EVENT_BYTES:,} bytes.")


def encode(fields: dict[str, Any]) -> bytes:
    """Return fields as JSON."""
    return json.dumps(fields, separators=(",", ":"), allow_nan=False).encode()


def printable(text: str, max_chars: int = MAX_TEXT_CHARS) -> str:
    """Return text without characters that a terminal interprets, truncated to a number of characters."""
    if len(text) > max_chars:
        text = text[:max_chars] + _CUT
    return _UNSAFE.sub("", text)


def _clean(value: Any, max_chars: int, depth: int) -> Any:  # noqa: ANN401, PLR0911 - JSON has values of any type
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return printable(value, max_chars)
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**64 else "a number out of range"
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth == 0:
        raise EventTooLarge("An event is nested too deeply.")
    if isinstance(value, (dict, list, tuple)) and len(value) > _MAX_ITEMS:
        raise EventTooLarge(f"An event has a list of {len(value):,} items.")
    if isinstance(value, dict):
        return {
            printable(str(key), max_chars): _clean(item, max_chars, depth - 1) for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_clean(item, max_chars, depth - 1) for item in value]
    return printable(repr(value), max_chars)  # not JSON: a bug in the judge must not lose the verdict
