"""Freezing a box, and the time that it used, in every sandbox."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.support.boxes import LIMITS, MIB, SandboxHarness, harness, nothing_left
from warmfront.sandbox import TRUSTED, open_sandbox
from warmfront.sandbox.base import BoxUsage, ExitReason, Template
from warmfront.sandbox.docker import Docker, DockerBox, PausedContainer
from warmfront.sandbox.fifo_channel import PIPE_BYTES

if TYPE_CHECKING:
    from warmfront.sandbox.base import Box

__all__ = ["harness", "nothing_left"]  # fixtures: pytest finds them by name


def assert_frozen(box: Box) -> None:
    """Check that the box uses no CPU time."""
    before = box.usage()
    time.sleep(0.05)
    assert box.usage().cpu_s - before.cpu_s < 0.001  # the kernel may still count the last microseconds


def wait_for_cpu_time(box: Box, cpu_s: float) -> None:
    """Wait until the box has used this much more CPU time."""
    start = box.usage().cpu_s
    while box.usage().cpu_s < start + cpu_s:
        time.sleep(0.01)


class TestFreezing:
    """Stopping every process of a box."""

    def test_nothing_runs_in_a_frozen_box(self, harness: SandboxHarness) -> None:
        """A frozen program writes nothing; a thawed one continues."""
        with harness.sandbox.take(harness.probe("answer-endlessly")) as box:
            box.go()
            assert box.receive(MIB) == bytes(MIB)
            box.freeze()
            with pytest.raises(TimeoutError):
                box.receive(2 * PIPE_BYTES, timeout_s=0.1)  # at most the content of the pipe is there
            assert_frozen(box)
            box.thaw()
            assert box.receive(3 * MIB) == bytes(3 * MIB)

    def test_every_process_is_stopped(self, harness: SandboxHarness) -> None:
        """All processes of a fork bomb are stopped, and continue after that."""
        with harness.sandbox.take(harness.probe("fork-endlessly", may_fork=True)) as box:
            box.go()
            box.send(b"x")
            assert box.receive(1) == b"x"
            for _ in range(3):
                box.freeze()
                assert_frozen(box)
                box.thaw()
                wait_for_cpu_time(box, 0.01)

    def test_threads_that_wait_for_each_other(self, harness: SandboxHarness) -> None:
        """A program whose threads are in the middle of `execve` is frozen too, and can then be destroyed."""
        with harness.sandbox.take(harness.probe("exec-endlessly", may_fork=True)) as box:
            box.go()
            for _ in range(10):
                wait_for_cpu_time(box, 0.01)
                box.freeze()
                assert_frozen(box)
                box.thaw()
            box.freeze()
        assert box.wait().reason is ExitReason.DESTROYED

    def test_a_frozen_box_can_be_destroyed(self, harness: SandboxHarness) -> None:
        """Destroying a frozen box, or its time limit, ends its processes."""
        with harness.sandbox.take(harness.probe("spin")) as box:
            box.go()
            box.freeze()
        assert box.wait().reason is ExitReason.DESTROYED
        with harness.sandbox.take(harness.probe("spin")) as box:
            box.go()
            box.freeze()
            assert box.wait(timeout_s=0.01).reason is ExitReason.TIMED_OUT
            box.freeze()
            box.thaw()
        assert harness.running() == []

    def test_freezing_a_box_that_has_ended(self, harness: SandboxHarness) -> None:
        """A box that was never started, or whose program has ended, can be frozen and thawed."""
        with harness.sandbox.take(harness.probe("exit", "3")) as box:
            box.freeze()
            box.go()
            assert box.receive(1) == b""
            box.freeze()
            box.thaw()
            assert box.wait().code == 3

    def test_trusted_programs_are_frozen_with_their_children(self) -> None:
        """A trusted program is stopped by signals, and so are the processes that it started."""
        argv = ("/bin/sh", "-c", "(while :; do :; done) & echo > answers; wait")
        sandbox = open_sandbox(TRUSTED)
        with sandbox.take(Template(name="test", argv=argv, mounts=(), limits=LIMITS)) as box:
            box.go()
            assert box.receive(1) == b"\n"
            box.freeze()
            assert_frozen(box)
            box.thaw()
            wait_for_cpu_time(box, 0.01)
        sandbox.close()

    def test_docker_where_control_groups_are_hidden(
        self, harness: SandboxHarness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """If the daemon's control groups are not visible here, the daemon pauses the container."""
        if not isinstance(harness.sandbox, Docker):
            return
        monkeypatch.setattr(DockerBox, "_find_group", lambda _: None)
        with harness.sandbox.take(harness.probe("spin")) as box:
            assert isinstance(box, DockerBox)
            box.go()
            wait_for_cpu_time(box, 0.01)
            assert isinstance(box._freezer(), PausedContainer)
            box.freeze()
            assert_frozen(box)
            box.thaw()
            wait_for_cpu_time(box, 0.01)
            box.freeze()
            assert box.wait(timeout_s=0.01).reason is ExitReason.TIMED_OUT


class TestUsage:
    """The time that a box used, as the kernel counts it."""

    def test_cpu_time_grows_and_outlives_the_program(self, harness: SandboxHarness) -> None:
        """CPU time and waiting time never shrink, and are known after the end of the program."""
        with harness.sandbox.take(harness.probe("spin")) as box:
            assert box.usage() == BoxUsage(cpu_s=0.0, waited_s=0.0)
            box.go()
            wait_for_cpu_time(box, 0.02)
            before = box.usage()
            assert before.waited_s is not None
            assert before.waited_s >= 0
            assert box.wait(timeout_s=0.01).reason is ExitReason.TIMED_OUT
            assert box.usage().cpu_s >= before.cpu_s >= 0.02

    def test_the_time_of_ended_children_counts(self, harness: SandboxHarness) -> None:
        """CPU time of processes that have ended is counted too."""
        script = (
            "sh -c 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done'; times > answers; read line < commands"
        )
        with harness.sandbox.take(harness.template(("/bin/sh", "-c", script), may_fork=True)) as box:
            box.go()
            assert box.receive(1)
            assert box.usage().cpu_s > 0.02
