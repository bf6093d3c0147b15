"""Faults by seed: what goes wrong at which call, and a trace of every step so that a failure can be read.

The same seed and the same calls give the same faults. Nothing here knows what the calls do.
"""

from __future__ import annotations

import asyncio
import contextvars
import random
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from warmfront.simulate.virtual_time import LIFE

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from warmfront.clock import Clock
    from warmfront.errors import WarmfrontError

T = TypeVar("T")


class When(Enum):
    """On which side of a call's effect something goes wrong."""

    NEVER = 0
    BEFORE = 1
    AFTER = 2


@dataclass(frozen=True, kw_only=True)
class Rates:
    """How often a kind of call goes wrong; each from 0 to 1."""

    delay: float = 0.0  #: it takes a moment
    delay_s: float = 1.0  #: at most this long
    hang: float = 0.0  #: it takes long
    hang_s: float = 40.0  #: at most this long
    error_before: float = 0.0  #: it fails, and nothing happened
    error_after: float = 0.0  #: it fails, and it did happen
    crash: float = 0.0  #: the control plane dies, before or after the effect
    cut: float = 0.0  #: a stream breaks off at a line
    double: float = 0.0  #: a line comes twice


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What is to go wrong with one call."""

    delay_before_s: float = 0.0
    delay_after_s: float = 0.0
    error: When = When.NEVER
    crash: When = When.NEVER


_NONE = Fault()
_CALM = Rates()


class Faults:
    """Decides, by its seed, what goes wrong. Quiet from `until_s` on, so that all can come to an end."""

    def __init__(
        self,
        seed: int,
        rates: Mapping[str, Rates],
        *,
        clock: Clock,
        until_s: float = 0.0,
        crashes: int = 0,
    ) -> None:
        """`rates` by kind of call, the part of its name before the dot; at most `crashes` crashes."""
        self._random = random.Random(f"faults {seed}")  # noqa: S311 - chance that can be had again
        self._rates = rates
        self._clock = clock
        self._quiet_at = clock.now() + until_s
        self._crashes_left = crashes
        self._start = clock.now()
        self.trace: list[str] = []

    @property
    def is_quiet(self) -> bool:
        """Whether nothing goes wrong any more."""
        return self._clock.now() >= self._quiet_at

    def stop(self) -> None:
        """From now on nothing goes wrong."""
        self._quiet_at = min(self._quiet_at, self._clock.now())

    def note(self, what: str) -> None:
        """Write a step into the trace."""
        self.trace.append(f"{self._clock.now() - self._start:10.3f} {what}")

    def ask(self, call: str) -> Fault:
        """What is to go wrong with this call."""
        rates = self._of(call)
        if rates is _CALM:
            return _NONE
        chance = self._random.random
        delays = [0.0, 0.0]
        if chance() < rates.delay:
            delays[chance() < 0.5] = chance() * rates.delay_s
        if chance() < rates.hang:
            delays[chance() < 0.5] = chance() * rates.hang_s
        draw = chance()
        error = When.NEVER
        if draw < rates.error_before:
            error = When.BEFORE
        elif draw < rates.error_before + rates.error_after:
            error = When.AFTER
        crash = When.NEVER
        if self._crashes_left and chance() < rates.crash:
            self._crashes_left -= 1
            crash = When.BEFORE if chance() < 0.5 else When.AFTER
        return Fault(delay_before_s=delays[0], delay_after_s=delays[1], error=error, crash=crash)

    def cuts(self, call: str) -> bool:
        """Whether a stream breaks off here."""
        rates = self._of(call)
        return bool(rates.cut) and self._random.random() < rates.cut

    def doubles(self, call: str) -> bool:
        """Whether a line comes twice."""
        rates = self._of(call)
        return bool(rates.double) and self._random.random() < rates.double

    def late_s(self) -> float:
        """By how much a timer fires late."""
        rates = self._of("timer")
        if rates.delay and self._random.random() < rates.delay:
            return self._random.random() * rates.delay_s
        return 0.0

    def _of(self, call: str) -> Rates:
        if self.is_quiet:
            return _CALM
        return self._rates.get(call.partition(".")[0], _CALM)


class Incarnation:
    """One life of the control plane. When it is over, nothing of it takes another step."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.alive = True
        self.died: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._context = contextvars.copy_context()
        self._context.run(LIFE.set, self)

    def crash(self) -> None:
        """As `kill -9`."""
        if self.alive:
            self.alive = False
            self.died.set_result(None)

    def spawn(self, coro: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """A task that dies with it."""
        return asyncio.get_running_loop().create_task(coro, context=self._context.copy())

    async def call(self, coro: Coroutine[Any, Any, T]) -> T:
        """What an outsider gets who asks it for something: an answer, or `ConnectionError` when it dies."""
        if not self.alive:
            coro.close()
            raise ConnectionError("nobody answers")
        task = self.spawn(coro)
        try:
            either: list[asyncio.Future[Any]] = [task, self.died]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not task.done():
            raise ConnectionError("it died")
        return task.result()


class FaultInjector:
    """Stands before every port of one incarnation: asks for faults, kills, and tells of every step."""

    def __init__(self, life: Incarnation, faults: Faults, after_step: Callable[[], None]) -> None:
        self.life = life
        self.faults = faults
        self._after_step = after_step

    async def before(self, call: str, detail: str, error: Callable[[str], WarmfrontError]) -> Fault:
        """The way in; the effect comes next, unless this raises or never returns."""
        if not self.life.alive:
            await _for_ever()
        fault = self.faults.ask(call)
        self.faults.note(f"#{self.life.number} {call} {detail}")
        if fault.delay_before_s:
            await asyncio.sleep(fault.delay_before_s)
        if fault.crash is When.BEFORE:
            await self.crash(f"before {call} {detail}")
        if fault.error is When.BEFORE:
            self.faults.note(f"#{self.life.number} {call} {detail} fails, and nothing happened")
            raise error(f"{call} failed")
        return fault

    async def after(
        self, fault: Fault, call: str, detail: str, error: Callable[[str], WarmfrontError]
    ) -> None:
        """The way out."""
        self._after_step()
        if fault.crash is When.AFTER:
            await self.crash(f"after {call} {detail}")
        if fault.delay_after_s:
            await asyncio.sleep(fault.delay_after_s)
        if fault.error is When.AFTER:
            self.faults.note(f"#{self.life.number} {call} {detail} fails, but it happened")
            raise error(f"{call} failed")

    async def crash(self, why: str) -> NoReturn:
        """The end of this incarnation, at this very point."""
        self.faults.note(f"#{self.life.number} CRASH {why}")
        self.life.crash()
        await _for_ever()


async def _for_ever() -> NoReturn:
    await asyncio.get_running_loop().create_future()
    raise AssertionError("a future that nobody completes was completed")
