"""The attempts of this listener: each is judged in its own thread, and its lines are stored here.

All state belongs to the event loop's thread; judging threads only post callbacks to the loop. Finished
attempts are kept for a while, so that a control plane that lost its connection can still read the whole
stream.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from warmfront.errors import Conflict, InfrastructureError, UnknownAttempt
from warmfront.judge.cancellation import CancellationToken
from warmfront.listener.attempt_events import send_until_verdict
from warmfront.listener.attempt_pipeline import AttemptPipeline
from warmfront.listener.event_fields import encode
from warmfront.listener.protocol import KEEP_ALIVE_S

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from contextlib import AbstractContextManager

    from warmfront.events import Event
    from warmfront.listener.protocol import ExecuteRequest

log = logging.getLogger(__name__)

#: How many finished attempts are kept.
MAX_FINISHED = 256
#: How many attempts may be unfinished per slot. A control plane sends one, and sometimes also the next.
MAX_UNFINISHED = 32


class AttemptJudge(Protocol):
    """The interface of anything that judges attempts."""

    def events(
        self,
        attempt: ExecuteRequest,
        *,
        run_slot: AbstractContextManager[None],
        cancellation: CancellationToken,
    ) -> Iterator[Event]:
        """Judge the attempt and yield its events; the last one is the verdict."""


class AttemptExecution:
    """One attempt, the lines that it has produced so far, and its state."""

    def __init__(self, attempt: ExecuteRequest) -> None:
        self.attempt = attempt
        self.cancellation = CancellationToken()
        self.lines: list[bytes] = []
        self.has_verdict = False  #: whether the last line is the verdict
        self.ended = asyncio.Event()  #: set when the thread has ended and the boxes are destroyed
        self._changed = asyncio.Event()

    def add(self, line: bytes, *, is_last: bool) -> None:
        """Append a line and wake the followers."""
        self.lines.append(line)
        self.has_verdict = is_last
        self.wake()

    def wake(self) -> None:
        """Wake every follower."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def wait(self) -> bool:
        """Wait for a change. Return False if a keep-alive line is due."""
        try:
            await asyncio.wait_for(self._changed.wait(), KEEP_ALIVE_S)
        except TimeoutError:
            return False
        return True


class AttemptRegistry:
    """The attempts of this listener: starts, follows and cancels them."""

    def __init__(self, attempt_judge: AttemptJudge, *, slots: int = 1) -> None:
        self._attempt_judge = attempt_judge
        self._slots = slots
        # With several slots, each slot's process has its own pipeline.
        self._pipeline = AttemptPipeline() if slots == 1 else None
        self._executions: dict[str, AttemptExecution] = {}
        self._is_closed = False

    def start(self, attempt: ExecuteRequest) -> AttemptExecution:
        """Start the attempt, or return its execution if it was started before.

        Raises:
            Conflict: a different attempt has the same id.
            InfrastructureError: the listener is closing or has too many unfinished attempts.
        """
        execution = self._executions.get(attempt.id)
        if execution is not None:
            if execution.attempt != attempt:
                raise Conflict(f"A different attempt has the id {attempt.id}.")
            return execution
        if self._is_closed or len(self.running()) >= MAX_UNFINISHED * self._slots:
            raise InfrastructureError("The listener does not accept attempts now: it is closing or full.")
        execution = self._executions[attempt.id] = AttemptExecution(attempt)
        self._forget_oldest()
        loop = asyncio.get_running_loop()
        name = f"attempt {attempt.id}"
        threading.Thread(target=self._judge, args=(execution, loop), name=name, daemon=True).start()
        log.info("attempt %s started: %s of %s", attempt.id, attempt.endpoint, attempt.problem)
        return execution

    def get(self, attempt_id: str) -> AttemptExecution:
        """Return the execution of an attempt. Raises `UnknownAttempt`."""
        try:
            return self._executions[attempt_id]
        except KeyError:
            raise UnknownAttempt(f"Unknown attempt: {attempt_id[:128]}.") from None

    def running(self) -> tuple[str, ...]:
        """Return the ids of the attempts without a verdict, oldest first."""
        return tuple(name for name, execution in self._executions.items() if not execution.has_verdict)

    async def follow(self, execution: AttemptExecution, after: int = 0) -> AsyncIterator[bytes]:
        """Yield the lines after number `after`; end after the verdict or when the listener closes."""
        while not self._is_closed:
            new_lines = execution.lines[after:]
            if new_lines:
                after += len(new_lines)
                yield b"".join(new_lines)
            elif execution.has_verdict:
                return
            elif not await execution.wait():
                yield b"\n"

    async def cancel(self, execution: AttemptExecution) -> None:
        """Cancel the attempt; return when its thread has ended and its boxes are destroyed."""
        await asyncio.to_thread(execution.cancellation.cancel)
        await execution.ended.wait()

    async def close(self) -> None:
        """Stop every attempt. The streams end without a verdict, so that the control plane retries them."""
        self._is_closed = True
        for execution in self._executions.values():
            execution.wake()
        await asyncio.gather(
            *(
                self.cancel(execution)
                for execution in self._executions.values()
                if not execution.ended.is_set()
            )
        )

    def stop_all(self) -> None:
        """Destroy every box. Callable from any thread, in case the event loop hangs."""
        for execution in list(self._executions.values()):
            execution.cancellation.cancel()

    def _forget_oldest(self) -> None:
        ended = [name for name, execution in self._executions.items() if execution.ended.is_set()]
        for name in ended[: max(0, len(ended) - MAX_FINISHED)]:
            del self._executions[name]

    def _judge(self, execution: AttemptExecution, loop: asyncio.AbstractEventLoop) -> None:
        """Judge in this thread, and post every line and the end to the event loop."""

        def send(seq: int, fields: dict[str, Any], is_last: bool) -> None:  # noqa: FBT001 - as `SendEvent`
            line = encode({"seq": seq, **fields}) + b"\n"
            _post(loop, partial(execution.add, line, is_last=is_last))

        try:
            send_until_verdict(
                self._events(execution),
                send,
                attempt=execution.attempt,
                cancellation=execution.cancellation,
            )
        finally:
            _post(loop, execution.ended.set)

    def _events(self, execution: AttemptExecution) -> Iterator[Event]:
        enter = self._pipeline.enter(execution.cancellation) if self._pipeline else nullcontext(nullcontext())
        with enter as run_slot:
            yield from self._attempt_judge.events(
                execution.attempt, run_slot=run_slot, cancellation=execution.cancellation
            )


def _post(loop: asyncio.AbstractEventLoop, callback: Callable[[], object]) -> None:
    with contextlib.suppress(RuntimeError):  # the event loop is closed, and with it all streams
        loop.call_soon_threadsafe(callback)
