"""A judgement that is stopped from another thread, at every moment of its life, in every kind of sandbox."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from tests.support.listeners import SOURCE, SPINNING
from warmfront import problems
from warmfront.judge.cancellation import CancellationToken, JudgeCancelled
from warmfront.judge_request import JudgeRequest
from warmfront.listener.fifo_lock import FifoLock
from warmfront.problems.spec import Dtype
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from warmfront.judge import Judge
    from warmfront.sandbox.box_pool import PooledSandbox


def submission(source: str = SOURCE, endpoint: Endpoint = Endpoint.SUBMIT) -> JudgeRequest:
    """One for leaky-relu."""
    return JudgeRequest(
        source=source, problem=problems.get("leaky-relu"), dtype=Dtype.FLOAT32, endpoint=endpoint
    )


def boxes_in_use(sandbox: PooledSandbox) -> list[str]:
    """Folders that hold a source or a library; boxes made ahead have neither."""
    root = sandbox.folders.base / sandbox.folders.owner
    return [str(file) for file in root.glob("*/solution.*") if file.stat().st_size]


@pytest.mark.parametrize("moment", ["COMPILING", "CHECKING", "TEST_RESULT", "CHECKED", "BENCHMARKING"])
def test_stopped_after_an_event(judge: Judge, box_maker: PooledSandbox, moment: str) -> None:
    """A judgement that is stopped between two events has no result more, and CANCELLED as its last event."""
    stop = CancellationToken()
    statuses: list[str] = []
    seen_by_then = 0
    for event in judge.judge(submission(), cancellation=stop):
        statuses.append(event.fields()["status"])
        if statuses[-1] == moment and not stop.is_cancelled:
            stop.cancel()
            seen_by_then = len(statuses)
            assert boxes_in_use(box_maker) == []
    # That the timing begins needs no box.
    assert [status for status in statuses[seen_by_then:] if status != "BENCHMARKING"] == ["CANCELLED"]


def test_stopped_before_it_began(judge: Judge) -> None:
    """A judgement that was stopped before its first box is cancelled and takes none."""
    stop = CancellationToken()
    stop.cancel()
    assert [event.fields()["code"] for event in judge.judge(submission(), cancellation=stop)] == ["CANCELLED"]


def test_stopped_after_its_verdict(judge: Judge) -> None:
    """A stop that comes after the verdict changes nothing."""
    stop = CancellationToken()
    statuses = []
    for event in judge.judge(submission(endpoint=Endpoint.CHECKER), cancellation=stop):
        statuses.append(event.fields()["status"])
        if statuses[-1] == "CHECKED":
            stop.cancel()
    assert (statuses[-1], statuses.count("CANCELLED")) == ("CHECKED", 0)


def test_stopped_while_a_kernel_spins(judge: Judge, box_maker: PooledSandbox) -> None:
    """A stop ends the judge's own waiting for a kernel that never answers."""
    stop = CancellationToken()
    statuses = []
    stopper = threading.Thread(target=stop.cancel)
    for event in judge.judge(submission(SPINNING), cancellation=stop):
        statuses.append(event.fields()["status"])
        if statuses[-1] == "TEST_RESULT":
            stopper.start()
    stopper.join()
    assert statuses == ["COMPILING", "CHECKING", "TEST_RESULT", "CANCELLED"]
    assert boxes_in_use(box_maker) == []


def test_the_turn_is_entered_once_it_is_compiled(judge: Judge) -> None:
    """The turn is waited for between the compiler and the first case, and left at the end."""
    seen: list[str] = []

    class Turn:
        def __enter__(self) -> None:
            seen.append("enter")

        def __exit__(self, *exc: object) -> None:
            seen.append("leave")

    for event in judge.judge(submission(endpoint=Endpoint.CHECKER), run_slot=Turn()):
        seen.append(event.fields()["status"])  # noqa: PERF401 - the turn writes between two of them
    assert seen[:3] == ["COMPILING", "enter", "CHECKING"]
    assert seen[-2:] == ["CHECKED", "leave"]


def test_a_stopped_waiter_leaves_the_line() -> None:
    """One who is stopped while waiting for a turn goes, and the turn passes to the next in line."""
    turns, stopped, order = FifoLock(), CancellationToken(), []
    turns.acquire(CancellationToken())

    def wait(name: str, stop: CancellationToken) -> None:
        try:
            turns.acquire(stop)
        except JudgeCancelled:
            order.append(f"{name} stopped")
        else:
            order.append(name)
            turns.release()

    first = threading.Thread(target=wait, args=("first", stopped))
    second = threading.Thread(target=wait, args=("second", CancellationToken()))
    first.start()
    stopped.cancel()
    first.join()
    second.start()
    turns.release()
    second.join()
    assert order == ["first stopped", "second"]
