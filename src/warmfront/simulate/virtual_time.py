"""An event loop in virtual time: when no callback is ready, the clock jumps to the next timer.

It has no I/O and no threads, never sleeps, and runs callbacks in a deterministic order. Callbacks can belong
to a simulated process. After that process is killed, none of them runs again, as after `kill -9`.
"""

from __future__ import annotations

import asyncio
import gc
import heapq
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar, TypeVarTuple, Unpack

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable, Coroutine
    from contextvars import Context

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

#: More callbacks than this at one moment of virtual time count as an endless loop.
_MAX_STEPS_PER_MOMENT = 200_000
#: How often remaining tasks are cancelled before they are abandoned.
_CANCEL_ROUNDS = 100


class Deadlock(RuntimeError):
    """No callback is ready, no timer is set, and the main task is not done."""


class Livelock(RuntimeError):
    """Callbacks run endlessly without virtual time advancing."""


class SimulatedProcess(Protocol):
    """An owner of callbacks that can be killed."""

    alive: bool


#: The process to which the callbacks of a context belong, such as one run of a control plane.
PROCESS: ContextVar[SimulatedProcess | None] = ContextVar("process", default=None)


class VirtualLoop(asyncio.BaseEventLoop):
    """An event loop that runs callbacks in the order in which they became ready, in virtual time."""

    # An attribute of the base class, declared here for the type checker.
    _ready: deque[asyncio.Handle]

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        # Ordered by time, then by creation. The base class's heap compares handles in Python, which is slow.
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._timers_made = 0
        self.timer_delay_s: Callable[[], float] = float  #: how late the next timer fires
        self._steps_at_now = 0
        self._tasks = 0
        self._suspended: list[asyncio.Handle] = []  # callbacks of killed processes
        self._runs_killed = False
        self.unhandled: list[dict[str, Any]] = []  #: contexts passed to the exception handler
        self.set_task_factory(self._make_task)
        self.set_exception_handler(lambda _, context: self.unhandled.append(context))

    def time(self) -> float:
        """Return the virtual seconds since the loop was created."""
        return self._now

    def call_at(
        self,
        when: float,
        callback: Callable[[Unpack[Ts]], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Schedule a callback like the base class, delayed by `timer_delay_s`."""
        when += self.timer_delay_s()
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        self._timers_made += 1
        heapq.heappush(self._timers, (when, self._timers_made, timer))
        return timer

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> NoReturn:  # type: ignore[override]  # noqa: ANN401 - always rejected
        """Raise `RuntimeError`, because threads run in real time and in an unpredictable order."""
        raise RuntimeError(f"no threads in virtual time: {func!r} {args!r} {executor!r}")

    def resume_killed(self) -> None:
        """Run the callbacks of killed processes again, because a task must run to be cancelled."""
        self._runs_killed = True
        self._ready.extend(self._suspended)
        self._suspended.clear()

    def _run_once(self) -> None:
        """Run the callbacks that are ready; if there are none, first advance to the next timer."""
        if not self._ready:
            self._advance()
        ready = self._ready
        for _ in range(len(ready)):
            handle = ready.popleft()
            if handle._cancelled:  # noqa: SLF001 - like every asyncio loop
                continue
            if self._is_killed(handle):
                self._suspended.append(handle)
                continue
            self._steps_at_now += 1
            handle._run()  # noqa: SLF001 - like every asyncio loop
        if self._steps_at_now > _MAX_STEPS_PER_MOMENT:
            raise Livelock(f"{self._steps_at_now} steps at {self._now:.3f} s: {self._task_names()}")

    def _advance(self) -> None:
        """Move the clock to the next timer and make its callbacks ready."""
        timers = self._timers
        # Lazy deletion: cancelled timers stay in the heap until they are first.
        while timers and (timers[0][2].cancelled() or self._is_killed(timers[0][2])):
            heapq.heappop(timers)
        if not timers:
            if self._stopping:
                return
            raise Deadlock(f"no callbacks and no timers are left at {self._now:.3f} s: {self._task_names()}")
        if timers[0][0] > self._now:
            self._now = timers[0][0]
            self._steps_at_now = 0
        while timers and timers[0][0] <= self._now:
            self._ready.append(heapq.heappop(timers)[2])

    def _is_killed(self, handle: asyncio.Handle) -> bool:
        process = handle._context.get(PROCESS)  # type: ignore[attr-defined]  # noqa: SLF001 - asyncio has no public access
        return process is not None and not process.alive and not self._runs_killed

    def _task_names(self) -> str:
        return ", ".join(sorted(task.get_name() for task in asyncio.all_tasks(self))) or "no task"

    _stopping: bool

    def _make_task(self, _: asyncio.AbstractEventLoop, coro: Any, **kwargs: Any) -> asyncio.Task[Any]:  # noqa: ANN401 - the signature of a task factory
        self._tasks += 1
        return _NumberedTask(coro, loop=self, number=self._tasks, **kwargs)

    def _process_events(self, event_list: object) -> None:
        """Do nothing: there is no I/O."""

    def _write_to_self(self) -> None:
        """Do nothing: no selector has to be woken."""


class VirtualClock:
    """A `Clock` that reads a loop's virtual time."""

    def __init__(self, loop: asyncio.AbstractEventLoop, epoch_s: float = 1_700_000_000.0) -> None:
        self._loop = loop
        self._epoch_s = epoch_s

    def now(self) -> float:
        """Return the virtual seconds since 1970."""
        return self._epoch_s + self._loop.time()


def run_virtual(main: Coroutine[Any, Any, T], *, loop: VirtualLoop | None = None) -> T:
    """Run a coroutine in virtual time, then cancel its remaining tasks.

    Raises:
        Deadlock: every task waits, and no timer is set.
        Livelock: callbacks run endlessly while virtual time does not advance.

    Example:
        >>> run_virtual(asyncio.sleep(3600, result="done"))  # returns immediately
        'done'
    """
    loop = loop or VirtualLoop()
    was_enabled = gc.isenabled()
    gc.disable()  # when a collection runs depends on earlier work of this process
    try:
        return loop.run_until_complete(main)
    finally:
        try:
            _cancel_all(loop)
        finally:
            loop.close()
            if was_enabled:
                gc.enable()


def _cancel_all(loop: VirtualLoop) -> None:
    """Cancel the remaining tasks, including those of killed processes, until they end."""
    loop.resume_killed()
    known: set[asyncio.Task[Any]] = set()
    for _ in range(_CANCEL_ROUNDS):
        remaining = asyncio.all_tasks(loop)
        if not remaining:
            break
        for task in sorted(remaining & known, key=hash):
            task.cancel()
        # A task must run once before it is cancelled; otherwise Python warns of a coroutine never awaited.
        known = remaining
        loop.run_until_complete(asyncio.sleep(0))
    for task in asyncio.all_tasks(loop):
        task._log_destroy_pending = False  # type: ignore[attr-defined]  # noqa: SLF001 - it ignores cancellation
    loop.run_until_complete(loop.shutdown_asyncgens())


class _NumberedTask(asyncio.Task[T]):
    """A task whose hash is its number instead of its address, so that sets of tasks have a fixed order."""

    def __init__(self, coro: Coroutine[Any, Any, T], *, number: int, **kwargs: Any) -> None:  # noqa: ANN401 - the signature of Task
        self._number = number  # before super().__init__(), which adds the task to a set
        super().__init__(coro, **kwargs)

    def __hash__(self) -> int:
        return self._number

    __eq__ = object.__eq__
