"""The clock, which is injected so that a simulation can use virtual time.

Clocks do not wait: all waiting uses asyncio, and a virtual event loop makes it virtual.
"""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """A source of the current time."""

    def now(self) -> float:
        """Return the current time in seconds since 1970, UTC."""


class SystemClock:
    """The clock of this machine."""

    def now(self) -> float:
        """Return the current time in seconds since 1970, UTC."""
        return time.time()
