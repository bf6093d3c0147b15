"""How long things take, learned from how long they took."""

from __future__ import annotations

from dataclasses import dataclass

#: The share of the newest observation in the estimate: a handful of them decide.
_NEWEST = 0.3
#: How long a submission takes on a VM, until some were seen.
_TASK_GUESS_S = 10.0
#: And how long a provider takes to end a VM.
_STOP_GUESS_S = 15.0


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

    @classmethod
    def at_first(cls, boot_s: float) -> Estimates:
        """Guesses, but for the boot, of which its provider says how long it takes."""
        return cls(
            boot=Estimate(seconds=boot_s),
            task=Estimate(seconds=_TASK_GUESS_S),
            stop=Estimate(seconds=_STOP_GUESS_S),
        )
