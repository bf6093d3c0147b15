"""What time it is. Whoever needs to know is handed a clock, so that a simulation can hand out its own.

Waiting is no business of a clock: all waiting is by asyncio, and a virtual event loop makes it virtual.
"""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> float:
        """Seconds since 1970, UTC."""


class SystemClock:
    """The time of this machine."""

    def now(self) -> float:
        """Seconds since 1970, UTC."""
        return time.time()
