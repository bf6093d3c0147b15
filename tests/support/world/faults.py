"""Seeded faults: which call fails and how, and a trace of every step to explain a failure.

The same seed and the same calls give the same faults. This module does not depend on what the calls do.
"""

from __future__ import annotations

import asyncio
import contextvars
import random
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from warmfront.simulate.virtual_time import PROCESS

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from warmfront.clock import Clock
    from warmfront.errors import WarmfrontError

T = TypeVar("T")


class When(Enum):
    """Whether a call fails before or after its effect."""

    NEVER = 0
    BEFORE = 1
    AFTER = 2


@dataclass(frozen=True, kw_only=True)
class Rates:
    """The probabilities of faults for one kind of call, each from 0 to 1."""

    delay: float = 0.0  #: a short delay
    delay_s: float = 1.0  #: at most this long
    hang: float = 0.0  #: a long delay
    hang_s: float = 40.0  #: at most this long
    error_before: float = 0.0  #: it fails without effect
    error_after: float = 0.0  #: it fails after its effect
    crash: float = 0.0  #: the control plane crashes before or after the effect
    break_stream: float = 0.0  #: a stream breaks at an event
    duplicate: float = 0.0  #: an event is delivered twice


@dataclass(frozen=True, kw_only=True)
class Fault:
    """The fault of one call."""

    delay_before_s: float = 0.0
    delay_after_s: float = 0.0
    error: When = When.NEVER
    crash: When = When.NEVER


_NO_FAULT = Fault()
_ZERO_RATES = Rates()


class Faults:
    """Decides by its seed which calls fail. There are none after `until_s`, so that every world can end."""

    def __init__(
        self,
        seed: int,
        rates: Mapping[str, Rates],
        *,
        clock: Clock,
        until_s: float = 0.0,
        crashes: int = 0,
    ) -> None:
        """Use `rates` per kind of call (its name up to the dot), with at most `crashes` crashes."""
        self._random = random.Random(f"faults {seed}")  # noqa: S311 - must be reproducible
        self._rates = rates
        self._clock = clock
        self._quiet_at = clock.now() + until_s
        self._crashes_left = crashes
        self._start = clock.now()
        self.trace: list[str] = []

    @property
    def is_quiet(self) -> bool:
        """Whether faults have stopped."""
        return self._clock.now() >= self._quiet_at

    def stop(self) -> None:
        """Inject no faults from now on."""
        self._quiet_at = min(self._quiet_at, self._clock.now())

    def note(self, what: str) -> None:
        """Add a step to the trace."""
        self.trace.append(f"{self._clock.now() - self._start:10.3f} {what}")

    def draw(self, call: str) -> Fault:
        """Decide the fault of this call."""
        rates = self._rates_for(call)
        if rates is _ZERO_RATES:
            return _NO_FAULT
        draw = self._random.random
        delays = [0.0, 0.0]
        if draw() < rates.delay:
            delays[draw() < 0.5] = draw() * rates.delay_s
        if draw() < rates.hang:
            delays[draw() < 0.5] = draw() * rates.hang_s
        error_draw = draw()
        error = When.NEVER
        if error_draw < rates.error_before:
            error = When.BEFORE
        elif error_draw < rates.error_before + rates.error_after:
            error = When.AFTER
        crash = When.NEVER
        if self._crashes_left and draw() < rates.crash:
            self._crashes_left -= 1
            crash = When.BEFORE if draw() < 0.5 else When.AFTER
        return Fault(delay_before_s=delays[0], delay_after_s=delays[1], error=error, crash=crash)

    def breaks_stream(self, call: str) -> bool:
        """Decide whether a stream breaks here."""
        rates = self._rates_for(call)
        return bool(rates.break_stream) and self._random.random() < rates.break_stream

    def duplicates_event(self, call: str) -> bool:
        """Decide whether an event is delivered twice."""
        rates = self._rates_for(call)
        return bool(rates.duplicate) and self._random.random() < rates.duplicate

    def timer_delay_s(self) -> float:
        """Decide how late a timer fires."""
        rates = self._rates_for("timer")
        if rates.delay and self._random.random() < rates.delay:
            return self._random.random() * rates.delay_s
        return 0.0

    def _rates_for(self, call: str) -> Rates:
        if self.is_quiet:
            return _ZERO_RATES
        return self._rates.get(call.partition(".")[0], _ZERO_RATES)


class ControlPlaneProcess:
    """One process lifetime of the control plane. After its crash none of its tasks takes another step."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.alive = True
        self.died: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._context = contextvars.copy_context()
        self._context.run(PROCESS.set, self)

    def crash(self) -> None:
        """Crash, as with `kill -9`."""
        if self.alive:
            self.alive = False
            self.died.set_result(None)

    def spawn(self, coro: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Start a task that ends with this process."""
        return asyncio.get_running_loop().create_task(coro, context=self._context.copy())

    async def call(self, coro: Coroutine[Any, Any, T]) -> T:
        """Call the control plane from outside; raises `ConnectionError` if it crashes meanwhile."""
        if not self.alive:
            coro.close()
            raise ConnectionError("the control plane is down")
        task = self.spawn(coro)
        try:
            either: list[asyncio.Future[Any]] = [task, self.died]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not task.done():
            raise ConnectionError("the control plane crashed")
        return task.result()


class FaultInjector:
    """Injects faults and crashes into every port of one process, and traces every step."""

    def __init__(self, process: ControlPlaneProcess, faults: Faults, after_step: Callable[[], None]) -> None:
        self.process = process
        self.faults = faults
        self._after_step = after_step

    async def before(self, call: str, detail: str, error: Callable[[str], WarmfrontError]) -> Fault:
        """Inject faults before the effect: raise, delay, or crash and never return."""
        if not self.process.alive:
            await _forever()
        fault = self.faults.draw(call)
        self.faults.note(f"#{self.process.number} {call} {detail}")
        if fault.delay_before_s:
            await asyncio.sleep(fault.delay_before_s)
        if fault.crash is When.BEFORE:
            await self.crash(f"before {call} {detail}")
        if fault.error is When.BEFORE:
            self.faults.note(f"#{self.process.number} {call} {detail} fails before its effect")
            raise error(f"{call} failed")
        return fault

    async def after(
        self, fault: Fault, call: str, detail: str, error: Callable[[str], WarmfrontError]
    ) -> None:
        """Inject faults after the effect."""
        self._after_step()
        if fault.crash is When.AFTER:
            await self.crash(f"after {call} {detail}")
        if fault.delay_after_s:
            await asyncio.sleep(fault.delay_after_s)
        if fault.error is When.AFTER:
            self.faults.note(f"#{self.process.number} {call} {detail} fails after its effect")
            raise error(f"{call} failed")

    async def crash(self, why: str) -> NoReturn:
        """Crash this process at this point."""
        self.faults.note(f"#{self.process.number} CRASH {why}")
        self.process.crash()
        await _forever()


async def _forever() -> NoReturn:
    await asyncio.get_running_loop().create_future()
    raise AssertionError("a future that is never set was set")
