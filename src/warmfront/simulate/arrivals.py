"""Arrivals that really happened, from a CSV or the store: checked, sorted, and put on a trace's clock.

What cannot be replayed is refused with the line that is to blame; nothing is left out without a word.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TextIO

import numpy as np

from warmfront.errors import BadRequest
from warmfront.simulate.traces import DAY_S

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

#: More than a replay gets through while somebody waits for it.
MOST_ARRIVALS = 200_000
MOST_DAYS = 3660
_WEEK_S = 7 * DAY_S
#: 1970 began on a Thursday.
_FIRST_MONDAY_S = 4 * DAY_S
#: A smaller number of seconds is no date of this century, but a time in a trace.
_A_DATE_S = MOST_DAYS * DAY_S
#: How the column of times may be called; else it is the first one.
_NAMES = ("created_at", "arrived_at", "time", "timestamp", "at")


@dataclass(frozen=True, kw_only=True)
class Arrivals:
    """Times in order, in seconds since a Monday's midnight, UTC."""

    at_s: NDArray[np.float64]
    notes: tuple[str, ...] = ()  #: what was done to them, in words

    @property
    def days(self) -> float:
        """From the first to the last."""
        return float(self.at_s[-1] - self.at_s[0]) / DAY_S if self.at_s.size else 0.0


def read_csv(path: Path) -> Arrivals:
    """One arrival a line: seconds, seconds since 1970, or a date such as 2031-05-17T09:30:00Z."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            times = _times(path, file)
    except OSError as error:
        raise BadRequest(
            f"{path} cannot be read: {error.strerror}.", hint="Name a CSV of arrivals."
        ) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadRequest(f"{path} is no CSV: {error}.", hint="One arrival a line, in UTF-8.") from None
    if not times:
        raise BadRequest(
            f"{path} has no arrivals.", hint="One a line, such as 2031-05-17T09:30:00Z or 1936776600."
        )
    return on_a_traces_clock(times)


def _times(path: Path, file: TextIO) -> list[float]:
    rows, times = csv.reader(file), list[float]()
    column = 0
    for row in rows:
        if not any(cell.strip() for cell in row):
            continue
        text = row[column].strip() if column < len(row) else ""
        at_s = _read(text)
        if at_s is None and rows.line_num == 1:
            names = [cell.strip().lower() for cell in row]
            column = next((names.index(name) for name in _NAMES if name in names), 0)
            continue
        if at_s is None:
            raise BadRequest(
                f"{path}, line {rows.line_num}: {text[:40]!r} is no time.",
                hint="Use seconds, or a date such as 2031-05-17T09:30:00Z.",
            )
        times.append(at_s)
        check_count(len(times))
    return times


def _read(text: str) -> float | None:
    """Seconds since 1970 or since the trace began; None for what is neither a number nor a date."""
    try:
        at_s = float(text)
    except ValueError:
        try:
            at = datetime.fromisoformat(text)
        except ValueError:
            return None
        at_s = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    # Neither NaN nor infinity is a time, nor is what no calendar has.
    return at_s if 0 <= at_s < 1e11 else None


def on_a_traces_clock(times: Sequence[float]) -> Arrivals:
    """Sorted, and counted from the Monday before the first; weekday and hour stay what they were."""
    at_s = np.array(times, dtype=np.float64)
    notes = []
    backwards = int(np.sum(np.diff(at_s) < 0))
    if backwards:
        notes.append(f"{backwards:,} of {at_s.size:,} arrivals came before the one above: all were sorted")
        at_s = np.sort(at_s)
    doubles = int(np.sum(np.diff(at_s) == 0))
    if doubles:
        notes.append(f"{doubles:,} of {at_s.size:,} arrivals came with another: each is a task of its own")
    days = (at_s[-1] - at_s[0]) / DAY_S if at_s.size else 0.0
    if days > MOST_DAYS:
        raise BadRequest(
            f"The arrivals span {days:,.0f} days; at most {MOST_DAYS:,} are replayed.",
            hint="Is one of the times a mistake? Leave out what is too long ago.",
        )
    if at_s.size and at_s[0] >= _A_DATE_S:
        at_s -= _FIRST_MONDAY_S + (at_s[0] - _FIRST_MONDAY_S) // _WEEK_S * _WEEK_S
    return Arrivals(at_s=at_s, notes=tuple(notes))


def check_count(count: float) -> None:
    """Refuse more than can be replayed while one waits."""
    if count > MOST_ARRIVALS:
        raise BadRequest(
            f"That is more than the {MOST_ARRIVALS:,} arrivals that are replayed at a time.",
            hint="Replay fewer days: a few weeks say as much.",
        )
