"""Until when a VM that has nothing to do is kept, and when one is to be ready before anybody asks.

A policy hears of arrivals and answers with times and a reason for people. It leases, releases and spends
nothing, and knows no clock: the fleet keeps its answers within the budget and the paid block.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from warmfront.vm import VMInstance


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What becomes of an idle VM."""

    until: float  #: when it is let go, if nothing comes
    reason: str  #: in one line, for people


class KeepWarm(Protocol):
    """A policy. What it knows, it has from arrivals alone: told the same ones again, it decides the same."""

    memory: int  #: how many of the latest arrivals it wants to hear of again after a restart

    def arrived(self, at: float, owner: str) -> None:
        """A submission that got a VM came at this time. Times may come out of order, and twice."""

    def decide(self, now: float, vm: VMInstance, *, spare: bool = False) -> Decision:
        """For a VM that has nothing to do from now on; `spare`: another one has nothing to do either."""

    def prewarm_at(self, now: float) -> float | None:
        """When to begin to boot a VM though nobody waits; None: not foreseen."""


class Fixed:
    """Every VM is kept for the same time."""

    memory = 0

    def __init__(self, idle_s: float) -> None:
        self._idle_s = idle_s

    def arrived(self, at: float, owner: str) -> None:
        """It learns nothing."""

    def decide(self, now: float, vm: VMInstance, *, spare: bool = False) -> Decision:
        """The same for all."""
        del vm, spare
        until = now + self._idle_s
        return Decision(
            until=until, reason=f"kept until {clock_time(until)}: {self._idle_s:.0f} s after its last task"
        )

    def prewarm_at(self, now: float) -> float | None:
        """It foresees nothing."""
        del now
        return None


def clock_time(at: float) -> str:
    """Hours and minutes, for a reason."""
    return time.strftime("%H:%M UTC", time.gmtime(at))
