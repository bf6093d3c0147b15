"""Print lists and durations: as JSON for programs, in columns for users."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


def print_json(value: Any) -> None:  # noqa: ANN401 - any JSON value
    """Print a value as indented JSON."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


def print_columns(rows: Sequence[Sequence[str]]) -> None:
    """Print rows in aligned columns, heading first. Cells are never truncated, so that ids can be copied."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def duration(seconds: float) -> str:
    """Format a duration in at most its two largest units: `42 s`, `3 m 5 s`, `2 h 10 m`, `4 d 1 h`."""
    whole = max(0, round(seconds))
    parts = [(whole // 86400, "d"), (whole // 3600 % 24, "h"), (whole // 60 % 60, "m"), (whole % 60, "s")]
    first = next((index for index, (count, _) in enumerate(parts) if count), 3)
    return " ".join(f"{count} {unit}" for count, unit in parts[first : first + 2] if count) or "0 s"
