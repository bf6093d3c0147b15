"""The attempts of this listener: each runs in a thread of its own and leaves its lines here.

All of it belongs to the event loop's thread: a judging thread only posts what it has. What is finished
is kept for a while, so that a control plane that was away gets the whole stream.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from warmfront.errors import Conflict, InfrastructureError, UnknownAttempt
from warmfront.events import Event, Failed
from warmfront.judge.cancellation import CancellationToken, JudgeCancelled, cancelled_event
from warmfront.listener.attempt_pipeline import AttemptPipeline
from warmfront.listener.protocol import KEEP_ALIVE_S
from warmfront.verdicts import Endpoint, Verdict, is_terminal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from contextlib import AbstractContextManager

    from warmfront.listener.protocol import ExecuteRequest

log = logging.getLogger(__name__)

#: Finished attempts that are kept.
KEPT = 256
#: AttemptRegistry that may be unfinished at once. A control plane sends one, and perhaps the next.
MOST_UNFINISHED = 32


class AttemptJudge(Protocol):
    """What judges an attempt."""

    def events(
        self,
        attempt: ExecuteRequest,
        *,
        run_slot: AbstractContextManager[None],
        cancellation: CancellationToken,
    ) -> Iterator[Event]:
        """The events of the attempt, ending with its verdict."""


class AttemptExecution:
    """One attempt and what became of it so far."""

    def __init__(self, attempt: ExecuteRequest) -> None:
        self.attempt = attempt
        self.cancellation = CancellationToken()
        self.lines: list[bytes] = []
        self.is_over = False  #: it has its verdict
        self.ended = asyncio.Event()  #: and nothing of it is left
        self._changed = asyncio.Event()

    def add(self, line: bytes, *, is_last: bool) -> None:
        """One more line."""
        self.lines.append(line)
        self.is_over = is_last
        self.wake()

    def wake(self) -> None:
        """Have every follower look."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def wait(self) -> bool:
        """Wait for a change; False if it is time for a sign of life."""
        try:
            await asyncio.wait_for(self._changed.wait(), KEEP_ALIVE_S)
        except TimeoutError:
            return False
        return True


class AttemptRegistry:
    """Starts, follows and cancels attempts."""

    def __init__(self, work: AttemptJudge) -> None:
        self._work = work
        self._pipeline = AttemptPipeline()
        self._runs: dict[str, AttemptExecution] = {}
        self._is_closed = False

    def start(self, attempt: ExecuteRequest) -> AttemptExecution:
        """Start the attempt, or return its execution if it was started before."""
        execution = self._runs.get(attempt.id)
        if execution is not None:
            if execution.attempt != attempt:
                raise Conflict(f"Another attempt has the id {attempt.id}.")
            return execution
        if self._is_closed or len(self.running()) >= MOST_UNFINISHED:
            raise InfrastructureError("This listener takes no more attempts now.")
        execution = self._runs[attempt.id] = AttemptExecution(attempt)
        self._forget_oldest()
        loop = asyncio.get_running_loop()
        name = f"attempt {attempt.id}"
        threading.Thread(target=self._judge, args=(execution, loop), name=name, daemon=True).start()
        log.info("attempt %s started: %s of %s", attempt.id, attempt.endpoint, attempt.problem)
        return execution

    def get(self, attempt_id: str) -> AttemptExecution:
        """The execution of that attempt."""
        try:
            return self._runs[attempt_id]
        except KeyError:
            raise UnknownAttempt(f"This listener has no attempt {attempt_id[:128]}.") from None

    def running(self) -> tuple[str, ...]:
        """The attempts that have no verdict yet, oldest first."""
        return tuple(name for name, execution in self._runs.items() if not execution.is_over)

    async def follow(self, execution: AttemptExecution, after: int = 0) -> AsyncIterator[bytes]:
        """The lines after `after` as they come; it ends after the last, or when the listener ends."""
        while not self._is_closed:
            fresh = execution.lines[after:]
            if fresh:
                after += len(fresh)
                yield b"".join(fresh)
            elif execution.is_over:
                return
            elif not await execution.wait():
                yield b"\n"

    async def cancel(self, execution: AttemptExecution) -> None:
        """End it; returns when nothing of it is left."""
        await asyncio.to_thread(execution.cancellation.cancel)
        await execution.ended.wait()

    async def close(self) -> None:
        """Stop every attempt. Streams end without a verdict: the VM ends, nobody cancelled the attempts."""
        self._is_closed = True
        for execution in self._runs.values():
            execution.wake()
        await asyncio.gather(
            *(self.cancel(execution) for execution in self._runs.values() if not execution.ended.is_set())
        )

    def stop_all(self) -> None:
        """Destroy every box, from whatever thread: for when the event loop no longer answers."""
        for execution in list(self._runs.values()):
            execution.cancellation.cancel()

    def _forget_oldest(self) -> None:
        ended = [name for name, execution in self._runs.items() if execution.ended.is_set()]
        for name in ended[: max(0, len(ended) - KEPT)]:
            del self._runs[name]

    def _judge(self, execution: AttemptExecution, loop: asyncio.AbstractEventLoop) -> None:
        """In a thread of its own: post every line, and then that it has ended."""
        endpoint = Endpoint(execution.attempt.endpoint)
        for seq, event in enumerate(self._events(execution), 1):
            fields = event.fields()
            is_last = is_terminal(fields["status"], endpoint)
            _post(loop, partial(execution.add, _line(seq, fields), is_last=is_last))
            if is_last:
                log.info("attempt %s: %s", execution.attempt.id, fields["status"])
        _post(loop, execution.ended.set)

    def _events(self, execution: AttemptExecution) -> Iterator[Event]:
        try:
            with self._pipeline.enter(execution.cancellation) as run_slot:
                yield from self._work.events(
                    execution.attempt, run_slot=run_slot, cancellation=execution.cancellation
                )
        except JudgeCancelled:
            yield cancelled_event()
        except Exception as error:  # the thread's edge: every attempt gets a verdict
            log.exception("attempt %s failed", execution.attempt.id)
            yield Failed(
                verdict=Verdict.ERROR,
                code="INTERNAL",
                message=f"The listener failed: {type(error).__name__}.",
            )


def _post(loop: asyncio.AbstractEventLoop, callback: Callable[[], object]) -> None:
    with contextlib.suppress(RuntimeError):  # the event loop is gone, and with it all who listened
        loop.call_soon_threadsafe(callback)


def _line(seq: int, fields: dict[str, Any]) -> bytes:
    return json.dumps({"seq": seq, **fields}, separators=(",", ":"), allow_nan=False).encode() + b"\n"
