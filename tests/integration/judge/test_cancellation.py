"""Cancelling a judge run from another thread, at every stage and in every kind of sandbox."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from tests.support.listeners import SOURCE, SPINNING
from warmfront import problems
from warmfront.judge.cancellation import CancellationToken
from warmfront.judge_request import JudgeRequest
from warmfront.problems.spec import Dtype
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from warmfront.judge import Judge
    from warmfront.sandbox.box_pool import PooledSandbox


def submission(source: str = SOURCE, endpoint: Endpoint = Endpoint.SUBMIT) -> JudgeRequest:
    """Return a request for leaky-relu."""
    return JudgeRequest(
        source=source, problem=problems.get("leaky-relu"), dtype=Dtype.FLOAT32, endpoint=endpoint
    )


def boxes_in_use(sandbox: PooledSandbox) -> list[str]:
    """Return the files of boxes with a source or a library; prepared boxes have neither."""
    root = sandbox.folders.base / sandbox.folders.owner
    return [str(file) for file in root.glob("*/solution.*") if file.stat().st_size]


@pytest.mark.parametrize("moment", ["COMPILING", "CHECKING", "TEST_RESULT", "CHECKED", "BENCHMARKING"])
def test_cancelled_after_an_event(judge: Judge, box_maker: PooledSandbox, moment: str) -> None:
    """A run that is cancelled between two events yields no further result, and CANCELLED last."""
    cancellation = CancellationToken()
    statuses: list[str] = []
    count_at_cancel = 0
    for event in judge.judge(submission(), cancellation=cancellation):
        statuses.append(event.fields()["status"])
        if statuses[-1] == moment and not cancellation.is_cancelled:
            cancellation.cancel()
            count_at_cancel = len(statuses)
            assert boxes_in_use(box_maker) == []
    # BENCHMARKING may follow: it needs no box.
    assert [status for status in statuses[count_at_cancel:] if status != "BENCHMARKING"] == ["CANCELLED"]


def test_cancelled_before_the_start(judge: Judge) -> None:
    """A run that is cancelled before its first box takes no box."""
    cancellation = CancellationToken()
    cancellation.cancel()
    assert [event.fields()["code"] for event in judge.judge(submission(), cancellation=cancellation)] == [
        "CANCELLED"
    ]


def test_cancelled_after_the_verdict(judge: Judge) -> None:
    """A cancellation after the verdict has no effect."""
    cancellation = CancellationToken()
    statuses = []
    for event in judge.judge(submission(endpoint=Endpoint.CHECKER), cancellation=cancellation):
        statuses.append(event.fields()["status"])
        if statuses[-1] == "CHECKED":
            cancellation.cancel()
    assert (statuses[-1], statuses.count("CANCELLED")) == ("CHECKED", 0)


def test_cancelled_while_a_kernel_spins(judge: Judge, box_maker: PooledSandbox) -> None:
    """A cancellation ends the wait for a kernel that never returns."""
    cancellation = CancellationToken()
    statuses = []
    canceller = threading.Thread(target=cancellation.cancel)
    for event in judge.judge(submission(SPINNING), cancellation=cancellation):
        statuses.append(event.fields()["status"])
        if statuses[-1] == "TEST_RESULT":
            canceller.start()
    canceller.join()
    assert statuses == ["COMPILING", "CHECKING", "TEST_RESULT", "CANCELLED"]
    assert boxes_in_use(box_maker) == []


def test_the_run_slot_is_entered_after_compiling(judge: Judge) -> None:
    """The run slot is entered between the compiler and the first case, and left at the end."""
    log: list[str] = []

    class RunSlot:
        def __enter__(self) -> None:
            log.append("enter")

        def __exit__(self, *exc: object) -> None:
            log.append("leave")

    for event in judge.judge(submission(endpoint=Endpoint.CHECKER), run_slot=RunSlot()):
        log.append(event.fields()["status"])  # noqa: PERF401 - the run slot appends in between
    assert log[:3] == ["COMPILING", "enter", "CHECKING"]
    assert log[-2:] == ["CHECKED", "leave"]
