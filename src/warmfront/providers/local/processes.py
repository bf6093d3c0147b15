"""Start processes that outlive this one, each in its own session; find them again, wait for them, end them.

The kernel reuses pids, so a process is always identified by its pid and its start time.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront.errors import ProviderError
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_PROC = Path("/proc")
#: A killed process ends immediately unless it hangs in the kernel.
_KILL_TIMEOUT_S = 30.0


@dataclass(frozen=True, kw_only=True)
class Process:
    """The identity of one process; a later process with the same pid does not match it."""

    pid: int
    born: str  #: id of the machine's boot, and the clock ticks from then to the process's start


def spawn(argv: Sequence[str], *, environ: Mapping[str, str], log: Path) -> Process:
    """Start a process in its own session, with its output appended to `log`.

    Raises:
        ProviderError: The process cannot be started.
    """
    append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    try:
        pid = os.posix_spawn(
            argv[0],
            list(argv),
            environ,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, str(log), append, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            setsid=True,
        )
    except OSError as error:
        raise ProviderError(f"Cannot start {argv[0]}: {error.strerror}.") from error
    born = _birth(pid)
    if born is None:  # cannot happen: only this process can reap its child
        raise ProviderError(f"{argv[0]} was started, but is not in {_PROC}.")
    return Process(pid=pid, born=born)


def find(argument: str) -> Process | None:
    """Return a process that has this argument, or None."""
    wanted = argument.encode()
    for folder in _PROC.iterdir():
        if not folder.name.isdecimal():
            continue
        with suppress(OSError):  # the process ended meanwhile
            born = _birth(int(folder.name))
            if born and wanted in (folder / "cmdline").read_bytes().split(b"\0"):
                return Process(pid=int(folder.name), born=born)
    return None


def is_alive(process: Process) -> bool:
    """Return whether the process is running. A zombie is not."""
    return _birth(process.pid) == process.born and _state(process.pid) not in {"Z", "X"}


async def wait(process: Process) -> None:
    """Wait until the process has ended. It need not be a child of this process."""
    with _open_pidfd(process) as pidfd:
        if pidfd is not None:
            await _wait_for_exit(pidfd)


async def end(process: Process, *, grace_s: float) -> None:
    """Terminate the process, kill its group after `grace_s`, and return when the whole group has ended.

    `reap` the process afterwards.

    Raises:
        ProviderError: The process did not end although it was killed.
    """
    with _open_pidfd(process) as pidfd:
        if pidfd is None:
            return
        signal.pidfd_send_signal(pidfd, signal.SIGTERM)
        await _exits_within(pidfd, grace_s)
        _kill_group(process)
        if not (await _exits_within(pidfd, _KILL_TIMEOUT_S) and await _group_ends(process)):
            raise ProviderError(
                f"Process {process.pid} was killed but did not end within {_KILL_TIMEOUT_S:g} s."
            )


def reap(process: Process) -> str:
    """Kill the rest of an ended process's group, reap it if it was our child, and return how it ended."""
    if _birth(process.pid) != process.born:
        return "reaped by another process"
    _kill_group(process)
    try:
        _, status = os.waitpid(process.pid, os.WNOHANG)
    except ChildProcessError:
        return "not our child"
    code = os.waitstatus_to_exitcode(status)
    return f"exit code {code}" if code >= 0 else signal.Signals(-code).name


def _kill_group(process: Process) -> None:
    """Kill the group that the process leads. The group's id is not reused while it has a member."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


async def _group_ends(process: Process) -> bool:
    """Wait until every process of the killed group has ended; return False if that takes too long."""
    deadline = time.monotonic() + _KILL_TIMEOUT_S
    while _has_running_member(process.pid):
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.01)
    return True


def _has_running_member(group: int) -> bool:
    for folder in _PROC.iterdir():
        fields = _stat_fields(int(folder.name)) if folder.name.isdecimal() else None
        if fields and int(fields[2]) == group and fields[0] not in {"Z", "X"}:
            return True
    return False


@contextmanager
def _open_pidfd(process: Process) -> Iterator[int | None]:
    """Open a pidfd, which refers to this process even if its pid is reused; None if it has ended."""
    try:
        pidfd = os.pidfd_open(process.pid)
    except ProcessLookupError:
        yield None
        return
    try:
        # Checked after opening: the pidfd refers to the process that has the pid at this moment.
        yield pidfd if is_alive(process) else None
    finally:
        os.close(pidfd)


async def _exits_within(pidfd: int, limit_s: float) -> bool:
    try:
        async with asyncio.timeout(limit_s):
            await _wait_for_exit(pidfd)
    except TimeoutError:
        return False
    return True


async def _wait_for_exit(pidfd: int) -> None:
    """Wait until the pidfd is readable, which it is when its process has ended."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(pidfd, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(pidfd)


def _state(pid: int) -> str:
    fields = _stat_fields(pid)
    return fields[0] if fields else "X"


def _birth(pid: int) -> str | None:
    fields = _stat_fields(pid)
    if fields is None:
        return None
    boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    return f"{boot}/{fields[19]}"


def _stat_fields(pid: int) -> list[str] | None:
    """Return the fields of /proc/PID/stat after the second one, the name, which may contain spaces."""
    try:
        text = (_PROC / str(pid) / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return text.rpartition(")")[2].split()
