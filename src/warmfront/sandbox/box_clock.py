"""Count the time that a box uses, so that its limits do not depend on how busy the machine is.

A box uses time in two ways. It computes: the kernel counts this as CPU time. Or it is blocked while the judge
waits for it, such as in `sleep`: none of its tasks is running or ready to run. The time in which a task is
ready to run and has no CPU does not count, because other processes cause it. Used time is CPU time plus
blocked time. The wall clock limit is a backstop for time that neither of them covers.

The clock is sampled only while the judge waits for the box, at least every `LONGEST_SLICE_S`. The box was
blocked between two samples if it computed for less than half of the time and has no ready task at the end.
"""

from __future__ import annotations

import math
import threading
import time
from typing import TYPE_CHECKING, Protocol

from warmfront.sandbox.base import WALL_S_PER_CPU_S

if TYPE_CHECKING:
    from warmfront.sandbox.base import SandboxLimits

SHORTEST_SLICE_S = 0.01
LONGEST_SLICE_S = 0.1

#: The same if the states of the tasks are not visible: even on a busy machine, a task that is ready to run
#: gets some CPU time within this interval.
SLICE_WITHOUT_TASKS_S = 1.0


class UsageMeter(Protocol):
    """The kernel's accounting of the tasks of a box."""

    @property
    def sees_tasks(self) -> bool:
        """Whether the states of the tasks are visible here."""

    def cpu_s(self) -> float:
        """Return the CPU time so far."""

    def has_ready_task(self) -> bool:
        """Return whether a task is running or ready to run, if the tasks are visible."""


class BoxClock:
    """The time that one box has used since its start. All methods are callable from any thread."""

    def __init__(self, limits: SandboxLimits, meter: UsageMeter) -> None:
        self.limits = limits
        self.meter = meter
        self.wall_deadline = time.monotonic() + limits.wall_s
        self._lock = threading.Lock()
        self._start_cpu_s = self._cpu_s = meter.cpu_s()
        self._blocked_s = 0.0
        self._sampled_at = time.monotonic()

    @property
    def used_s(self) -> float:
        """CPU time plus blocked time, up to the last sample."""
        return self._cpu_s - self._start_cpu_s + self._blocked_s

    @property
    def is_out_of_time(self) -> bool:
        """Whether a limit of the box was reached at the last sample."""
        return self.used_s >= self.limits.cpu_s or time.monotonic() >= self.wall_deadline

    def sample(self, waited_since: float | None = None) -> None:
        """Sample the CPU time, and count the time since the last sample if the box was blocked.

        Args:
            waited_since: when the judge began to wait for the box; None if it is not waiting.
        """
        with self._lock:
            now, cpu_s = time.monotonic(), self.meter.cpu_s()
            since = now if waited_since is None else max(waited_since, self._sampled_at)
            if self._is_blocked(now - since, cpu_s - self._cpu_s):
                # If the judge itself was not scheduled for a while, it does not know whether the box was
                # blocked.
                self._blocked_s += min(now - since, 2 * self.slice_s(math.inf))
            self._sampled_at, self._cpu_s = now, cpu_s

    def slice_s(self, left_s: float) -> float:
        """Return the time until the next sample, short enough for a box whose limit is `left_s` away."""
        if not self.meter.sees_tasks:
            return SLICE_WITHOUT_TASKS_S
        return min(max(left_s / max(self.limits.cpus, 1), SHORTEST_SLICE_S), LONGEST_SLICE_S)

    def _is_blocked(self, passed_s: float, computed_s: float) -> bool:
        if self.meter.sees_tasks:
            return computed_s < passed_s / 2 and not self.meter.has_ready_task()
        return passed_s >= SLICE_WITHOUT_TASKS_S and computed_s < passed_s / 100


class CallTimer:
    """The time limits of a call that waits for a box: those of the call, and those of the box."""

    def __init__(
        self, clock: BoxClock, *, timeout_s: float | None = None, cpu_timeout_s: float | None = None
    ) -> None:
        self._clock = clock
        self._started = self._waiting_since = time.monotonic()
        self._cpu_timeout_s = cpu_timeout_s
        if cpu_timeout_s is not None:
            timeout_s = min(timeout_s or cpu_timeout_s * WALL_S_PER_CPU_S, cpu_timeout_s * WALL_S_PER_CPU_S)
            clock.sample()
        self._deadline = None if timeout_s is None else self._started + timeout_s
        self._used_before_s = clock.used_s

    def next_sample(self) -> float:
        """Return when to sample the clock again."""
        left_s = self._clock.limits.cpu_s - self._clock.used_s
        if self._cpu_timeout_s is not None:
            left_s = min(left_s, self._cpu_timeout_s - self._used_s)
        deadlines = [time.monotonic() + self._clock.slice_s(left_s), self._clock.wall_deadline]
        return min(deadlines if self._deadline is None else [*deadlines, self._deadline])

    def is_over(self) -> bool:
        """Sample the clock and return whether the call or the box is out of time."""
        self._clock.sample(self._waiting_since)
        return self.is_call_over or self._clock.is_out_of_time

    @property
    def is_call_over(self) -> bool:
        """Whether the limits of the call itself were reached."""
        is_late = self._deadline is not None and time.monotonic() >= self._deadline
        return is_late or (self._cpu_timeout_s is not None and self._used_s >= self._cpu_timeout_s)

    @property
    def _used_s(self) -> float:
        return self._clock.used_s - self._used_before_s
