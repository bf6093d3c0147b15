"""A box whose program is a child process of ours: how it is spawned, watched, killed and reaped.

It knows nothing of isolation: bubblewrap and the trusted process differ in the command that they run.
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
from warmfront.sandbox.box import ChannelBox
from warmfront.sandbox.fifo_channel import wait_readable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

#: Sets the limits that every box has and joins the cgroups, then becomes the command. It takes every
#: value as an argument: nothing is ever put into the text of a shell.
LAUNCHER = """
ulimit -c 0 && ulimit -f "$1" && ulimit -n "$2" || exit 1
shift 2
while [ "$1" != -- ]; do echo 0 > "$1" || exit 1; shift; done
shift
exec "$@"
"""
FILE_BLOCK_BYTES = 512  #: the unit of `ulimit -f`

#: How long the kernel may take to end what was killed. It is instant but for a process in a driver call.
GRACE_S = 10.0


def launcher(command: Iterable[str], limits: SandboxLimits, entrances: Iterable[Path]) -> list[str]:
    """`command`, started with the rlimits of every box and as a member of its cgroups."""
    blocks = _at_most(limits.file_bytes, resource.RLIMIT_FSIZE) // FILE_BLOCK_BYTES
    files = _at_most(limits.open_files, resource.RLIMIT_NOFILE)
    arguments = [str(blocks), str(files), *map(str, entrances), "--", *command]
    return ["/bin/sh", "-c", LAUNCHER, "warmfront-launcher", *arguments]


def exit_of_status(status: int) -> BoxExit:
    """An exit as a shell tells it: 128 and more, or less than 0, is a signal."""
    number = status - 128 if status > 128 else -status
    if number in signal.valid_signals():
        return BoxExit(reason=ExitReason.SIGNALED, signal=number)
    return BoxExit(reason=ExitReason.EXITED, code=status)


class Spawner:
    """Spawns every child from one thread that lives as long as the sandbox.

    A child that asks to die with its parent dies with the *thread* that made it, so a box that was
    started by a thread of a pool, or by one that ends, would not live to be used.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="warmfront-spawn")

    def spawn(
        self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], pass_fds: Sequence[int]
    ) -> subprocess.Popen[bytes]:
        """Start `argv` in a session of its own, its stdout and stderr in one pipe, its stdin empty."""

        def popen() -> subprocess.Popen[bytes]:
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
        """End the thread, and with it every child that dies with its parent."""
        self._thread.shutdown()


class ProcessBox(ChannelBox):
    """A box around one child process."""

    def __init__(self, template: Template, folder: Path, spawner: Spawner) -> None:
        super().__init__(template, folder)
        self._spawner = spawner
        self._process: subprocess.Popen[bytes]
        self._process_fd = -1

    def _spawn(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, pass_fds: Sequence[int] = ()
    ) -> None:
        self._process = self._spawner.spawn(argv, cwd=self.folder, env=env or {}, pass_fds=pass_fds)
        self._process_fd = os.pidfd_open(self._process.pid)
        self._read_output(self._printed())

    def _printed(self) -> Iterator[bytes]:
        assert self._process.stdout is not None  # noqa: S101  for mypy: it is a pipe
        fd = self._process.stdout.fileno()
        while chunk := os.read(fd, 1 << 16):
            yield chunk

    def _ended_fd(self) -> int:
        return self._process_fd

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._process_fd, signal.SIGKILL)

    def _bury(self) -> BoxExit:
        self._kill_rest()
        wait_readable(self._process_fd, deadline=time.monotonic() + GRACE_S)
        returncode = self._process.wait(GRACE_S)
        output = self._output.finish(GRACE_S)
        return self._account(returncode, output)

    def _release(self) -> None:
        if self._is_started:
            os.close(self._process_fd)
            assert self._process.stdout is not None  # noqa: S101  for mypy: it is a pipe
            self._process.stdout.close()

    @abstractmethod
    def _kill_rest(self) -> None:
        """Kill what the program left behind, and wait until it is gone."""

    @abstractmethod
    def _account(self, returncode: int, output: bytes) -> BoxExit:
        """How it ended, now that it has."""


def _at_most(wanted: int, which: int) -> int:
    """An unprivileged user may lower a hard limit, not raise it."""
    hard = resource.getrlimit(which)[1]
    return wanted if hard == resource.RLIM_INFINITY or os.geteuid() == 0 else min(wanted, hard)
