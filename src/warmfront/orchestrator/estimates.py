"""Estimates of durations per GPU type: exponentially weighted moving averages (EWMA) of observations."""

from __future__ import annotations

from dataclasses import dataclass

#: The weight of the newest observation: a handful of observations dominate.
_ALPHA = 0.3
#: How long an attempt takes until some were observed.
_INITIAL_TASK_S = 10.0
#: How long a provider takes to end a VM until some ends were observed.
_INITIAL_STOP_S = 15.0


@dataclass(kw_only=True)
class DurationEstimate:
    """An EWMA of seconds."""

    seconds: float  #: the current estimate
    observations: int = 0

    def observe(self, seconds: float) -> None:
        """Add an observation. The first one replaces the initial guess."""
        if self.observations:
            self.seconds += _ALPHA * (seconds - self.seconds)
        else:
            self.seconds = seconds
        self.observations += 1


@dataclass(kw_only=True)
class DurationEstimates:
    """How long provisioning, attempts and ends take on one GPU type."""

    boot: DurationEstimate  #: from the request for a VM to the first answer of its listener
    task: DurationEstimate  #: one attempt
    stop: DurationEstimate  #: from the request for a VM's end to its confirmation

    @classmethod
    def initial(cls, boot_s: float) -> DurationEstimates:
        """Return the initial guesses; the provider knows how long provisioning typically takes."""
        return cls(
            boot=DurationEstimate(seconds=boot_s),
            task=DurationEstimate(seconds=_INITIAL_TASK_S),
            stop=DurationEstimate(seconds=_INITIAL_STOP_S),
        )
