"""Measure the machine's speed with a fixed computation, and run timed calls on a CPU that is not slowed.

CPU time does not increase while a process waits. But it increases when the CPU itself is slower: at a lower
clock frequency, or while another VM on the same host uses the other hardware thread of a core. On a cloud VM
that is common: a CPU switches between two speeds, up to 1.9 times apart, many times per second. No kernel
counter shows this, but the CPU time of a fixed computation does.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import math
import os
import time
from collections import deque
from typing import TYPE_CHECKING, Self

from warmfront.judge.statistics import SCALED_UP_TO
from warmfront.private_file import replace_private_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

#: The data that is hashed, once to load the caches and then timed: 25 to 40 microseconds. Hashing is
#: arithmetic in registers; the data fit into the smallest cache, so processes that share the CPU hardly
#: disturb it.
_DATA = bytes(16 << 10)
_REPEATS = 2

#: A measurement this much slower than the typical one is disturbed. Undisturbed ones scatter by 1%.
FULL_SPEED = 0.05
#: This many measurements are remembered: those of about 30 windows.
_REMEMBERED = 60
#: How many CPUs are tried before a window to find one at full speed. Each try takes 60 microseconds.
_TRIES = 12

#: Times that differ by less than this are the same speed.
_SAME = 0.01
#: A machine may become permanently slower: moved to another host, or on battery. Measurements older than this
#: are ignored.
_VALID_S = 1800.0


class MachineSpeed:
    """The time of the computation now, and when the machine was fastest recently.

    The latter is stored in a file for later processes.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._known_ms = _read(file) if file else None
        self._measured_ms: deque[float] = deque(maxlen=_REMEMBERED)

    def measure(self) -> float:
        """Return the CPU time of the computation now, in ms, on the CPU of this thread."""
        _compute(1)
        start_ns = time.thread_time_ns()
        _compute(_REPEATS)
        ms = (time.thread_time_ns() - start_ns) / 1e6
        self._measured_ms.append(ms)
        return ms

    @property
    def fastest_ms(self) -> float | None:
        """The time when the machine was fastest, in any process; None before the first measurement."""
        times_ms = [ms for ms in (self._known_ms, typical_ms(self._measured_ms)) if ms is not None]
        return min(times_ms, default=None)

    def is_full(self, measured_ms: float) -> bool:
        """Return whether the CPU was as fast as the machine is now."""
        fastest_ms = self.fastest_ms or measured_ms
        return measured_ms <= slowest_accepted_ms(typical_ms(self._measured_ms) or fastest_ms, fastest_ms)

    def save(self) -> None:
        """Store the fastest time for later processes, unless the machine is slower now.

        So a time that the machine no longer reaches expires.
        """
        now_ms, fastest_ms = typical_ms(self._measured_ms), self.fastest_ms
        if self._file is None or now_ms is None or fastest_ms is None or now_ms > fastest_ms * (1 + _SAME):
            return
        with contextlib.suppress(OSError):  # without the file, only this process uses it
            replace_private_file(self._file, f"{fastest_ms:.6f}\n".encode())


def typical_ms(measured_ms: Iterable[float]) -> float | None:
    """Return the time at the speed that a CPU usually has; None without measurements.

    This is the lower quartile. Disturbed measurements are slower, and on some machines, every CPU is slowed
    down half of the time.
    """
    ordered_ms = sorted(measured_ms)
    return ordered_ms[len(ordered_ms) // 4] if ordered_ms else None


def slowest_accepted_ms(typical_ms: float, fastest_ms: float) -> float:
    """Return the longest time of the computation for which a window beside it counts.

    Times are scaled to the fastest speed, so the machine's typical speed suffices. It does not if the machine
    is slower than a lower clock frequency explains.
    """
    limit_ms = fastest_ms * (1 + SCALED_UP_TO)
    return limit_ms if typical_ms > limit_ms else typical_ms * (1 + FULL_SPEED)


class FastCpu:
    """The CPU to which this thread and the guest are pinned.

    So the speed measured here is that of the guest's CPU.
    """

    def __init__(self, speed: MachineSpeed, pin_guest: Callable[[set[int]], bool]) -> None:
        self._speed = speed
        self._pin_guest = pin_guest
        self._allowed = os.sched_getaffinity(0)
        self._cpus = itertools.cycle(sorted(self._allowed))
        self._is_pinned = False

    def __enter__(self) -> Self:
        self.move()
        return self

    def __exit__(self, *exc: object) -> None:
        if self._is_pinned:
            self._pin(self._allowed)
        self._speed.save()

    @property
    def fastest_ms(self) -> float | None:
        """The time of the computation at full speed; None if the guest's CPU is not known."""
        return self._speed.fastest_ms if self._is_pinned else None

    def move(self) -> None:
        """Move this thread and the guest to the next CPU."""
        self._is_pinned = self._pin({next(self._cpus)})

    def settle(self) -> float | None:
        """Try a few CPUs to find one at full speed, and return the time measured on the last."""
        measured_ms = self.measure()
        for _ in range(_TRIES):
            if measured_ms is None or self._speed.is_full(measured_ms):
                break
            self.move()
            measured_ms = self.measure()
        return measured_ms

    def measure(self) -> float | None:
        """Measure the CPU's speed; None if the guest's CPU is not known."""
        return self._speed.measure() if self._is_pinned else None

    def _pin(self, cpus: set[int]) -> bool:
        """Pin the guest and this thread to these CPUs; return whether that is possible."""
        if not self._pin_guest(cpus):
            return False
        os.sched_setaffinity(0, cpus)
        return True


def _compute(repeats: int) -> None:
    for _ in range(repeats):
        hashlib.blake2b(_DATA).digest()


def _read(file: Path) -> float | None:
    """Return the stored time of another process; None if there is no recent one."""
    try:
        if time.time() - file.stat().st_mtime > _VALID_S:
            return None
        ms = float(file.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return ms if 0 < ms < math.inf else None
