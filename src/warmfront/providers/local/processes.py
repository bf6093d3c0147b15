"""Processes that outlive us: started in a session of their own, found again, waited for and ended.

A pid is given anew when its process is gone, so nothing here trusts one without the time of birth beside it.
What the processes are for is their owner's business.
"""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront.errors import ProviderError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_PROC = Path("/proc")
#: Killing takes no time but where the kernel itself hangs.
_KILL_S = 30.0


@dataclass(frozen=True, kw_only=True)
class Process:
    """One process for ever: no later one is taken for it."""

    pid: int
    born: str  #: which boot of the machine, and how many clock ticks after it


def spawn(argv: Sequence[str], *, environ: Mapping[str, str], log: Path) -> Process:
    """Start it in a session of its own; what it prints is added to `log`."""
    appending = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    try:
        pid = os.posix_spawn(
            argv[0],
            list(argv),
            environ,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, str(log), appending, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            setsid=True,
        )
    except OSError as error:
        raise ProviderError(f"{argv[0]} cannot be started: {error.strerror}.") from error
    born = _born(pid)
    if born is None:  # nobody but us can reap it
        raise ProviderError(f"{argv[0]} was started and is not to be found in {_PROC}.")
    return Process(pid=pid, born=born)


def find(argument: str) -> Process | None:
    """The process that has this word among its arguments."""
    wanted = argument.encode()
    for folder in _PROC.iterdir():
        if not folder.name.isdecimal():
            continue
        with suppress(OSError):  # it ended while we looked
            born = _born(int(folder.name))
            if born and wanted in (folder / "cmdline").read_bytes().split(b"\0"):
                return Process(pid=int(folder.name), born=born)
    return None


def is_alive(process: Process) -> bool:
    """Whether it still runs; one that ended and was not reaped does not."""
    return _born(process.pid) == process.born and _state(process.pid) not in {"Z", "X"}


async def wait(process: Process) -> None:
    """Return when it has ended, at once if it has already. It need not be our child."""
    with _handle(process) as handle:
        if handle is not None:
            await _exit(handle)


async def end(process: Process, *, grace_s: float) -> None:
    """Ask it to end, and make it after a while; returns when it is gone. `reap` it afterwards."""
    with _handle(process) as handle:
        if handle is None:
            return
        signal.pidfd_send_signal(handle, signal.SIGTERM)
        if await _exits_within(handle, grace_s):
            return
        _kill_group(process)
        if not await _exits_within(handle, _KILL_S):
            raise ProviderError(f"Process {process.pid} was killed and did not end in {_KILL_S:g} s.")


def reap(process: Process) -> str:
    """Clear away one that has ended: what is left of its group, and its entry if it was our child.

    Says how it ended, as far as that can be known.
    """
    if _born(process.pid) != process.born:
        return "cleared away by another"
    _kill_group(process)
    try:
        _, status = os.waitpid(process.pid, os.WNOHANG)
    except ChildProcessError:
        return "not our child"
    code = os.waitstatus_to_exitcode(status)
    return f"exit code {code}" if code >= 0 else signal.Signals(-code).name


def _kill_group(process: Process) -> None:
    """It leads its group, which keeps its number for as long as anyone is in it."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def _handle(process: Process) -> Iterator[int | None]:
    """A descriptor that means this process whatever becomes of its pid; None if it is gone."""
    try:
        handle = os.pidfd_open(process.pid)
    except ProcessLookupError:
        yield None
        return
    try:
        # Looked at after it was opened: what has the pid now is what the descriptor means.
        yield handle if is_alive(process) else None
    finally:
        os.close(handle)


async def _exits_within(handle: int, limit_s: float) -> bool:
    try:
        async with asyncio.timeout(limit_s):
            await _exit(handle)
    except TimeoutError:
        return False
    return True


async def _exit(handle: int) -> None:
    """A pidfd becomes readable when its process ends."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(handle, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(handle)


def _state(pid: int) -> str:
    fields = _stat(pid)
    return fields[0] if fields else "X"


def _born(pid: int) -> str | None:
    fields = _stat(pid)
    if fields is None:
        return None
    boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    return f"{boot}/{fields[19]}"


def _stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat from the third on: the second, the name, may have spaces in it."""
    try:
        text = (_PROC / str(pid) / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return text.rpartition(")")[2].split()
