"""How lists are printed: as JSON for programs, in columns for people. Nothing here knows what is listed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


def print_json(value: Any) -> None:  # noqa: ANN401 - JSON is made of anything
    """Print what a program reads."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


def print_columns(rows: Sequence[Sequence[str]]) -> None:
    """Print rows in columns, the heading first. Nothing is ever cut off: ids are there to be copied."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def duration(seconds: float) -> str:
    """A length of time, in its two largest units at most: `42 s`, `3 m 5 s`, `2 h 10 m`, `4 d 1 h`."""
    whole = max(0, round(seconds))
    parts = [(whole // 86400, "d"), (whole // 3600 % 24, "h"), (whole // 60 % 60, "m"), (whole % 60, "s")]
    first = next((index for index, (count, _) in enumerate(parts) if count), 3)
    return " ".join(f"{count} {unit}" for count, unit in parts[first : first + 2] if count) or "0 s"
