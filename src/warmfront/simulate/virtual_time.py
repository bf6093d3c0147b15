"""An event loop on virtual time: when nothing is ready, it jumps to the next timer.

No I/O, no threads, no real waiting, and the same order of steps every time. It knows nothing of what runs
on it, but for one thing: a context that is marked dead gets no further step, as after `kill -9`.
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

#: A loop that takes this many steps at one moment of virtual time goes round in circles.
_STEPS_AT_ONE_MOMENT = 200_000
#: How often tasks that are left over are told to end before they are let go.
_LAST_ORDERS = 100


class Deadlock(RuntimeError):
    """Nothing is ready, no timer is set, and the main task is not done."""


class Livelock(RuntimeError):
    """Virtual time stands still while steps are taken."""


class Life(Protocol):
    """What a context may belong to."""

    alive: bool


#: Set in the context of everything that ends with something else, such as one run of a control plane.
LIFE: ContextVar[Life | None] = ContextVar("life", default=None)


class VirtualLoop(asyncio.BaseEventLoop):
    """Runs callbacks in the order in which they became ready, at a time that only timers move."""

    # The base class keeps it; naming it is how we get at it.
    _ready: deque[asyncio.Handle]

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        # Not the base class's heap of handles, which compares them in Python: by time, then first come first.
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._timers_made = 0
        self.late_s: Callable[[], float] = float  #: by how much the next timer fires late
        self._steps_here = 0
        self._tasks = 0
        self._unrun: list[asyncio.Handle] = []  # steps that the dead did not take
        self._last_orders = False
        self.unheard: list[dict[str, Any]] = []  #: what went to the exception handler
        self.set_task_factory(self._make_task)
        self.set_exception_handler(lambda _, context: self.unheard.append(context))

    def time(self) -> float:
        """Virtual seconds since the loop was made."""
        return self._now

    def call_at(
        self,
        when: float,
        callback: Callable[[Unpack[Ts]], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """As the base class, and late if so wished."""
        when += self.late_s()
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        self._timers_made += 1
        heapq.heappush(self._timers, (when, self._timers_made, timer))
        return timer

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> NoReturn:  # type: ignore[override]  # noqa: ANN401 - it is refused, whatever it is
        """Refused: a thread would bring back real time and chance."""
        raise RuntimeError(f"no threads on virtual time: {func!r} {args!r} {executor!r}")

    def wake_the_dead(self) -> None:
        """Let them take steps again: a task must run to be cancelled."""
        self._last_orders = True
        self._ready.extend(self._unrun)
        self._unrun.clear()

    def _run_once(self) -> None:
        """One round: what is ready now; or, with nothing ready, the jump to the next timer."""
        if not self._ready:
            self._jump()
        ready = self._ready
        for _ in range(len(ready)):
            handle = ready.popleft()
            if handle._cancelled:  # noqa: SLF001 - as every asyncio loop does
                continue
            if self._is_dead(handle):
                self._unrun.append(handle)
                continue
            self._steps_here += 1
            handle._run()  # noqa: SLF001 - as above
        if self._steps_here > _STEPS_AT_ONE_MOMENT:
            raise Livelock(f"{self._steps_here} steps at {self._now:.3f} s: {self._waiting()}")

    def _jump(self) -> None:
        timers = self._timers
        while timers and (timers[0][2].cancelled() or self._is_dead(timers[0][2])):
            heapq.heappop(timers)
        if not timers:
            if self._stopping:
                return
            raise Deadlock(f"nothing can happen any more at {self._now:.3f} s: {self._waiting()}")
        if timers[0][0] > self._now:
            self._now = timers[0][0]
            self._steps_here = 0
        while timers and timers[0][0] <= self._now:
            self._ready.append(heapq.heappop(timers)[2])

    def _is_dead(self, handle: asyncio.Handle) -> bool:
        life = handle._context.get(LIFE)  # type: ignore[attr-defined]  # noqa: SLF001 - asyncio keeps it there
        return life is not None and not life.alive and not self._last_orders

    def _waiting(self) -> str:
        return ", ".join(sorted(task.get_name() for task in asyncio.all_tasks(self))) or "no task"

    _stopping: bool

    def _make_task(self, _: asyncio.AbstractEventLoop, coro: Any, **kwargs: Any) -> asyncio.Task[Any]:  # noqa: ANN401 - a task factory's form
        self._tasks += 1
        return _NumberedTask(coro, loop=self, number=self._tasks, **kwargs)

    def _process_events(self, event_list: object) -> None:
        """There is no I/O."""

    def _write_to_self(self) -> None:
        """There is nobody to wake."""


class VirtualClock:
    """A `Clock` that shows a loop's virtual time."""

    def __init__(self, loop: asyncio.AbstractEventLoop, epoch_s: float = 1_700_000_000.0) -> None:
        self._loop = loop
        self._epoch_s = epoch_s

    def now(self) -> float:
        """Virtual seconds since 1970."""
        return self._epoch_s + self._loop.time()


def run_virtual(main: Coroutine[Any, Any, T], *, loop: VirtualLoop | None = None) -> T:
    """Run a coroutine to its end on virtual time, and end whatever it leaves behind."""
    loop = loop or VirtualLoop()
    collects = gc.isenabled()
    gc.disable()  # when it would run depends on what this process did before
    try:
        return loop.run_until_complete(main)
    finally:
        try:
            _end_all(loop)
        finally:
            loop.close()
            if collects:
                gc.enable()


def _end_all(loop: VirtualLoop) -> None:
    """Cancel what is left, also what was dead, until it is gone."""
    loop.wake_the_dead()
    known: set[asyncio.Task[Any]] = set()
    for _ in range(_LAST_ORDERS):
        left = asyncio.all_tasks(loop)
        if not left:
            break
        for task in sorted(left & known, key=hash):
            task.cancel()
        known = (
            left  # a task takes its first step before it is cancelled, or Python complains of its coroutine
        )
        loop.run_until_complete(asyncio.sleep(0))
    for task in asyncio.all_tasks(loop):
        task._log_destroy_pending = False  # type: ignore[attr-defined]  # noqa: SLF001 - it was told often enough
    loop.run_until_complete(loop.shutdown_asyncgens())


class _NumberedTask(asyncio.Task[T]):
    """A task whose place in a set depends on its number, and not on where in memory it lies."""

    def __init__(self, coro: Coroutine[Any, Any, T], *, number: int, **kwargs: Any) -> None:  # noqa: ANN401 - as a Task has it
        self._number = number  # first: a task enters a set while it is made
        super().__init__(coro, **kwargs)

    def __hash__(self) -> int:
        return self._number

    __eq__ = object.__eq__
