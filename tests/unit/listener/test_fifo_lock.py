"""The FIFO lock and the attempt pipeline."""

from __future__ import annotations

import os
import threading

import pytest

from warmfront.judge.cancellation import CancellationToken, JudgeCancelled
from warmfront.listener.attempt_pipeline import AttemptPipeline
from warmfront.listener.fifo_lock import FifoLock


class Waiter(threading.Thread):
    """Acquires the lock in a thread, records the outcome, and releases the lock."""

    def __init__(self, lock: FifoLock, name: str, log: list[str]) -> None:
        super().__init__(name=name)
        self.cancellation = CancellationToken()
        self._lock = lock
        self._log = log

    def run(self) -> None:
        """Acquire and release the lock."""
        try:
            self._lock.acquire(self.cancellation)
        except JudgeCancelled:
            self._log.append(f"{self.name} cancelled")
        else:
            self._log.append(self.name)
            self._lock.release()

    def start_and_queue(self) -> None:
        """Start, and return when the thread is in the queue of the lock."""
        length = len(self._lock._queue)
        self.start()
        while len(self._lock._queue) == length:
            os.sched_yield()


def test_the_lock_is_granted_in_order() -> None:
    """Waiters get the lock in the order in which they called `acquire`."""
    lock, log = FifoLock(), list[str]()
    lock.acquire(CancellationToken())
    waiters = [Waiter(lock, str(number), log) for number in range(5)]
    for waiter in waiters:
        waiter.start_and_queue()
    lock.release()
    for waiter in waiters:
        waiter.join()
    assert log == ["0", "1", "2", "3", "4"]


def test_a_cancelled_waiter_leaves_the_queue() -> None:
    """A cancelled waiter raises, and the lock passes to the next one."""
    lock, log = FifoLock(), list[str]()
    lock.acquire(CancellationToken())
    first, second = Waiter(lock, "first", log), Waiter(lock, "second", log)
    first.start_and_queue()
    second.start_and_queue()
    first.cancellation.cancel()
    first.join()
    lock.release()
    second.join()
    assert log == ["first cancelled", "second"]


def test_a_cancelled_token_does_not_get_a_free_lock() -> None:
    """`acquire` raises if the token is cancelled, and the lock stays free."""
    lock, cancellation = FifoLock(), CancellationToken()
    cancellation.cancel()
    with pytest.raises(JudgeCancelled):
        lock.acquire(cancellation)
    lock.acquire(CancellationToken())
    lock.release()


def test_one_compiles_while_another_runs() -> None:
    """The compile slot is free once an attempt has the run slot, and not before."""
    pipeline, log, is_compiling = AttemptPipeline(), list[str](), threading.Event()

    def second_attempt() -> None:
        with pipeline.enter(CancellationToken()) as run_slot:
            log.append("second compiles")
            is_compiling.set()
            with run_slot:
                log.append("second runs")

    with pipeline.enter(CancellationToken()) as run_slot:
        second = threading.Thread(target=second_attempt)
        second.start()
        log.append("first compiled")
        with run_slot:
            is_compiling.wait()
            log.append("first done")
    second.join()
    assert log == ["first compiled", "second compiles", "first done", "second runs"]
