"""How long things take, learned from how long they took."""

from __future__ import annotations

from dataclasses import dataclass

#: The share of the newest observation in the estimate: a handful of them decide.
_NEWEST = 0.3


@dataclass(kw_only=True)
class Estimate:
    """A running mean that forgets."""

    seconds: float  #: the best guess now
    seen: int = 0

    def observe(self, seconds: float) -> None:
        """It took this long. The first observation replaces the guess."""
        self.seconds = seconds if not self.seen else self.seconds + _NEWEST * (seconds - self.seconds)
        self.seen += 1


@dataclass(kw_only=True)
class Estimates:
    """What the orchestrator needs to know beforehand."""

    boot: Estimate
    task: Estimate
    stop: Estimate  #: from asking for a VM's end to its confirmation
