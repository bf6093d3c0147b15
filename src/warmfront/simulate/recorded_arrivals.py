"""Recorded arrivals, from a CSV file or the store: validate, sort and convert them to trace time.

A value that cannot be replayed is rejected with its line number; nothing is dropped silently.
"""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TextIO

import numpy as np

from warmfront.errors import BadRequest
from warmfront.simulate.arrival_traces import DAY_S
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

#: A replay of more arrivals than this takes longer than a user would wait.
MAX_ARRIVALS = 200_000
MAX_DAYS = 3660
_WEEK_S = 7 * DAY_S
#: The first Monday of 1970, which began on a Thursday.
_FIRST_MONDAY_S = 4 * DAY_S
#: Smaller times are seconds since the trace began, larger ones are Unix times.
_MIN_UNIX_TIME_S = MAX_DAYS * DAY_S
#: Accepted headings of the time column; by default it is the first column.
_HEADINGS = ("created_at", "arrived_at", "time", "timestamp", "at")


@dataclass(frozen=True, kw_only=True)
class Arrivals:
    """Sorted times, in seconds since a Monday at midnight UTC."""

    at_s: NDArray[np.float64]
    notes: tuple[str, ...] = ()  #: remarks on the data, for the user

    @property
    def days(self) -> float:
        """The time from the first arrival to the last."""
        return float(self.at_s[-1] - self.at_s[0]) / DAY_S if self.at_s.size else 0.0


def read_csv(path: Path) -> Arrivals:
    """Read one arrival per line: seconds, Unix time, or a date such as 2031-05-17T09:30:00Z."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            times = _times(path, file)
    except OSError as error:
        raise BadRequest(
            f"{path} cannot be read: {error.strerror}.", hint="Give a CSV file of arrivals."
        ) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadRequest(
            f"{path} is not a CSV file: {error}.", hint="Write one arrival per line, in UTF-8."
        ) from None
    if not times:
        raise BadRequest(
            f"{path} has no arrivals.",
            hint="Write one per line, such as 2031-05-17T09:30:00Z or 1936776600.",
        )
    return to_trace_time(times)


def _times(path: Path, file: TextIO) -> list[float]:
    rows, times = csv.reader(file), list[float]()
    column = 0
    for row in rows:
        if not any(cell.strip() for cell in row):
            continue
        text = row[column].strip() if column < len(row) else ""
        at_s = _parse_time(text)
        if at_s is None and rows.line_num == 1:
            headings = [cell.strip().lower() for cell in row]
            column = next((headings.index(name) for name in _HEADINGS if name in headings), 0)
            continue
        if at_s is None:
            raise BadRequest(
                f"{path}, line {rows.line_num}: {text[:40]!r} is not a time.",
                hint="Use seconds, or a date such as 2031-05-17T09:30:00Z.",
            )
        times.append(at_s)
        check_arrival_count(len(times))
    return times


def _parse_time(text: str) -> float | None:
    """Return seconds since 1970 or since the trace began; None if the text is neither a number nor a date."""
    try:
        at_s = float(text)
    except ValueError:
        try:
            at = datetime.fromisoformat(text)
        except ValueError:
            return None
        at_s = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    # Excludes NaN, infinity and years that `datetime` cannot represent.
    return at_s if 0 <= at_s < 1e11 else None


def to_trace_time(times: Sequence[float]) -> Arrivals:
    """Sort the times and count them from the Monday before the first. Weekday and hour are preserved."""
    at_s = np.array(times, dtype=np.float64)
    notes = []
    backwards = int(np.sum(np.diff(at_s) < 0))
    if backwards:
        notes.append(f"{backwards:,} of {at_s.size:,} arrivals were out of order; all were sorted")
        at_s = np.sort(at_s)
    doubles = int(np.sum(np.diff(at_s) == 0))
    if doubles:
        notes.append(
            f"{doubles:,} of {at_s.size:,} arrivals share a time with another; each is a separate submission"
        )
    days = (at_s[-1] - at_s[0]) / DAY_S if at_s.size else 0.0
    if days > MAX_DAYS:
        raise BadRequest(
            f"The arrivals span {days:,.0f} days; the maximum is {MAX_DAYS:,}.",
            hint="Check the earliest and the latest time, or leave out the oldest arrivals.",
        )
    if at_s.size and at_s[0] >= _MIN_UNIX_TIME_S:
        at_s -= _FIRST_MONDAY_S + (at_s[0] - _FIRST_MONDAY_S) // _WEEK_S * _WEEK_S
    return Arrivals(at_s=at_s, notes=tuple(notes))


def check_arrival_count(count: float) -> None:
    """Raise `BadRequest` if there are more arrivals than a replay accepts."""
    if count > MAX_ARRIVALS:
        raise BadRequest(
            f"There are more than {MAX_ARRIVALS:,} arrivals, the maximum of a replay.",
            hint="Replay fewer days; a few weeks are usually enough.",
        )
