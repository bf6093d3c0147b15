"""A box whose program is our child process: spawn, watch, kill and reap it.

This module does not isolate anything: bubblewrap and the trusted process differ in the command that they run.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import time
from abc import abstractmethod
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from warmfront.sandbox.base import BoxExit, ExitReason, SandboxLimits, Template
from warmfront.sandbox.box import ChannelBox, Freezer
from warmfront.sandbox.fifo_channel import wait_readable
from warmfront.sandbox.process_tree import ProcessTree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

#: A shell script that makes the box the first process to be killed if the machine runs out of memory, sets
#: the rlimits, joins the cgroups and executes the command. All values are arguments, so that nothing is
#: interpolated into shell text.
LAUNCHER = """
echo 1000 > /proc/self/oom_score_adj
ulimit -c 0 && ulimit -f "$1" && ulimit -n "$2" || exit 1
shift 2
while [ "$1" != -- ]; do echo 0 > "$1" || exit 1; shift; done
shift
exec "$@"
"""
FILE_BLOCK_BYTES = 512  #: the unit of `ulimit -f`

#: How long killed processes may take to end. They end immediately unless they are in a driver call.
GRACE_S = 10.0


def launcher(command: Iterable[str], limits: SandboxLimits, join_files: Iterable[Path]) -> list[str]:
    """Return a command that sets the rlimits, joins the cgroups and executes `command`."""
    blocks = _cap_at_hard_limit(limits.file_bytes, resource.RLIMIT_FSIZE) // FILE_BLOCK_BYTES
    files = _cap_at_hard_limit(limits.open_files, resource.RLIMIT_NOFILE)
    arguments = [str(blocks), str(files), *map(str, join_files), "--", *command]
    return ["/bin/sh", "-c", LAUNCHER, "warmfront-launcher", *arguments]


def exit_of_status(status: int) -> BoxExit:
    """Interpret an exit status as a shell does: above 128, or negative, means a signal."""
    number = status - 128 if status > 128 else -status
    if number in signal.valid_signals():
        return BoxExit(reason=ExitReason.SIGNALED, signal=number)
    return BoxExit(reason=ExitReason.EXITED, code=status)


class Spawner:
    """A thread that spawns every child and lives as long as the sandbox.

    A child with PR_SET_PDEATHSIG is killed when the *thread* that created it ends, so a box that was started
    by a short-lived thread would be killed before it is used.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="warmfront-spawn")

    def spawn(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        pass_fds: Sequence[int],
        cpu_set: Sequence[int] = (),
    ) -> subprocess.Popen[bytes]:
        """Start `argv` in a new session, with stdout and stderr in one pipe and an empty stdin."""

        def popen() -> subprocess.Popen[bytes]:
            with _on_cpus(cpu_set):
                return subprocess.Popen(
                    argv,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    pass_fds=pass_fds,
                    cwd=cwd,
                    env=env,
                    start_new_session=True,
                )

        return self._thread.submit(popen).result()

    def close(self) -> None:
        """End the thread; children with PR_SET_PDEATHSIG are killed."""
        self._thread.shutdown()


class ProcessBox(ChannelBox):
    """A box around one child process."""

    def __init__(self, template: Template, folder: Path, spawner: Spawner) -> None:
        super().__init__(template, folder)
        self._spawner = spawner
        self._process: subprocess.Popen[bytes]
        self._process_fd = -1
        self._last_cpu_s = 0.0

    def _spawn(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, pass_fds: Sequence[int] = ()
    ) -> None:
        self._process = self._spawner.spawn(
            argv, cwd=self.folder, env=env or {}, pass_fds=pass_fds, cpu_set=self.template.limits.cpu_set
        )
        self._process_fd = os.pidfd_open(self._process.pid)
        self._read_output(self._output_chunks())

    def _output_chunks(self) -> Iterator[bytes]:
        assert self._process.stdout is not None  # noqa: S101 - for mypy: it is a pipe
        fd = self._process.stdout.fileno()
        while chunk := os.read(fd, 1 << 16):
            yield chunk

    def _ended_fd(self) -> int:
        return self._process_fd

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._process_fd, signal.SIGKILL)

    def _freezer(self) -> Freezer:
        return ProcessTree(self._process.pid)

    def _read_cpu_s(self) -> float:
        self._last_cpu_s = max(ProcessTree(self._process.pid).cpu_s(), self._last_cpu_s)
        return self._last_cpu_s

    def _tasks(self) -> list[int]:
        return ProcessTree(self._process.pid).tasks()

    def _reap(self) -> BoxExit:
        self._kill_rest()
        wait_readable(self._process_fd, deadline=time.monotonic() + GRACE_S)
        returncode = self._process.wait(GRACE_S)
        output = self._output.finish(GRACE_S)
        return self._account(returncode, output)

    def _release(self) -> None:
        if self._is_started:
            os.close(self._process_fd)
            assert self._process.stdout is not None  # noqa: S101 - for mypy: it is a pipe
            self._process.stdout.close()

    @abstractmethod
    def _kill_rest(self) -> None:
        """Kill the processes that the program left behind, and wait until they have ended."""

    @abstractmethod
    def _account(self, returncode: int, output: bytes) -> BoxExit:
        """Return how the program ended."""


@contextlib.contextmanager
def _on_cpus(cpu_set: Sequence[int]) -> Iterator[None]:
    """Restrict this thread, and the processes that it starts, to these CPUs, if there are any."""
    before = os.sched_getaffinity(0)
    if cpu_set:
        with contextlib.suppress(OSError):  # this process may not use any of these CPUs
            os.sched_setaffinity(0, cpu_set)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _cap_at_hard_limit(wanted: int, which: int) -> int:
    """Cap a limit at the hard limit, which an unprivileged user cannot raise."""
    hard = resource.getrlimit(which)[1]
    return wanted if hard == resource.RLIM_INFINITY or os.geteuid() == 0 else min(wanted, hard)
