"""The clock of a box, with a fake machine whose load is known."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from tests.support.boxes import LIMITS
from warmfront.sandbox import box_clock
from warmfront.sandbox.base import WALL_S_PER_CPU_S
from warmfront.sandbox.box_clock import BoxClock, CallTimer

LIMIT_S = 2.0


@dataclass
class Machine:
    """A machine with one box: per second of wall clock time, the box gets `share` seconds of CPU time."""

    share: float
    is_ready: bool
    sees_tasks: bool = True
    now: float = 1000.0
    cpu: float = 0.5

    def monotonic(self) -> float:
        """Return the wall clock."""
        return self.now

    def cpu_s(self) -> float:
        """Return the CPU time of the box."""
        return self.cpu

    def has_ready_task(self) -> bool:
        """Return whether a task of the box is ready to run."""
        return self.is_ready

    def wait(self, timer: CallTimer) -> float:
        """Wait until the call ends; return how long it took."""
        started = self.now
        while not timer.is_over():
            passed_s = timer.next_sample() - self.now
            assert passed_s > 0
            self.now += passed_s
            self.cpu += passed_s * self.share
        return self.now - started


def start_timer(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> CallTimer:
    """Start a call with a limit on used time."""
    monkeypatch.setattr(box_clock, "time", machine)
    limits = replace(LIMITS, cpu_s=100.0, wall_s=1000.0)
    return CallTimer(BoxClock(limits, machine), cpu_timeout_s=LIMIT_S)


@pytest.mark.parametrize("share", [0.2, 0.5, 1.0])
@pytest.mark.parametrize("sees_tasks", [True, False])
def test_computing_on_a_busy_machine(
    share: float,
    sees_tasks: bool,  # noqa: FBT001 - a parameter of the test
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A box that computes gets its full CPU time, however much of the CPU other processes use."""
    machine = Machine(share=share, is_ready=True, sees_tasks=sees_tasks)
    elapsed_s = machine.wait(start_timer(machine, monkeypatch))
    slice_s = 0.1 if sees_tasks else 1.0
    assert LIMIT_S <= elapsed_s * share <= LIMIT_S + slice_s * share


@pytest.mark.parametrize("share", [0.0, 0.005])
@pytest.mark.parametrize("sees_tasks", [True, False])
def test_blocked(
    share: float,
    sees_tasks: bool,  # noqa: FBT001 - a parameter of the test
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A box that sleeps, even with short breaks, is out of time after its limit."""
    machine = Machine(share=share, is_ready=False, sees_tasks=sees_tasks)
    assert machine.wait(start_timer(machine, monkeypatch)) == pytest.approx(LIMIT_S, rel=0.5)


def test_the_backstop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A box that is ready to run and never gets a CPU is out of time at the backstop."""
    machine = Machine(share=0.0, is_ready=True)
    elapsed_s = machine.wait(start_timer(machine, monkeypatch))
    assert elapsed_s == pytest.approx(LIMIT_S * WALL_S_PER_CPU_S)


def test_a_judge_that_was_not_scheduled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long gap between two checks is not charged to a box that happens to be blocked at the second one."""
    machine = Machine(share=0.0, is_ready=False)
    timer = start_timer(machine, monkeypatch)
    machine.now += LIMIT_S
    assert not timer.is_over()
