"""Keep-warm policies: until when an idle VM is kept, and when to provision one in advance.

A policy learns from arrivals and returns times, with a reason for users. It does not provision or release VMs
and does not read a clock. The VM pool keeps its decisions within the budget and the paid interval.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from warmfront.vm import VMInstance


@dataclass(frozen=True, kw_only=True)
class KeepDecision:
    """The decision about how long an idle VM is kept."""

    until: float  #: when it is released unless it gets a submission
    reason: str  #: one line, shown to users


class KeepWarmPolicy(Protocol):
    """A keep-warm policy. Its decisions depend only on the arrivals."""

    memory: int  #: how many of the latest arrivals it needs after a restart

    def arrived(self, at: float, owner: str) -> None:
        """Record the arrival of a submission that got a VM. Times may be out of order and repeated."""

    def decide(self, now: float, vm: VMInstance, *, spare: bool = False) -> KeepDecision:
        """Decide how long to keep a VM that becomes idle now; `spare` means that another VM is idle too."""

    def prewarm_at(self, now: float) -> float | None:
        """Return when to prewarm a VM; None if no arrival is expected."""


class FixedPolicy:
    """A policy that keeps every VM for the same time."""

    memory = 0

    def __init__(self, idle_s: float) -> None:
        self._idle_s = idle_s

    def arrived(self, at: float, owner: str) -> None:
        """Do nothing: the decision does not depend on arrivals."""

    def decide(self, now: float, vm: VMInstance, *, spare: bool = False) -> KeepDecision:
        """Keep the VM for the idle timeout."""
        del vm, spare
        until = now + self._idle_s
        return KeepDecision(
            until=until, reason=f"kept until {clock_time(until)}: idle timeout of {self._idle_s:.0f} s"
        )

    def prewarm_at(self, now: float) -> float | None:
        """Return None: this policy does not prewarm."""
        del now
        return None


def clock_time(at: float) -> str:
    """Format a time as hours and minutes in UTC."""
    return time.strftime("%H:%M UTC", time.gmtime(at))
