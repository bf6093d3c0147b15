"""The processes of a box, as listed in /proc: stop them with signals and add up their times.

This is the fallback if there is no control group with a freezer. The processes of a box are the descendants
of its first process. In a pid namespace this covers all processes, because process 1 becomes the parent of
every orphan. Orphans of a trusted program are missed.

In a container, the /proc of its host may be mounted elsewhere. Its process ids are the host's: they can be
used to read that /proc, but not to send signals.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PROC = Path("/proc")
#: Where a worker task mounts the /proc of its VM, which lists the boxes of the VM's Docker daemon.
HOST_PROC = Path("/host/proc")

#: Whether the kernel lists the children of a task (CONFIG_PROC_CHILDREN).
HAS_CHILDREN_FILES = Path("/proc/thread-self/children").exists()

#: How long the processes of a box may take to stop. At a load of 15 on two cores, this takes 0.1 s.
FREEZE_TIMEOUT_S = 30.0
FIRST_PAUSE_S = 50e-6
LONGEST_PAUSE_S = 1e-3

#: States of a task that does not run until it gets a signal: stopped, traced, zombie and dead.
STOPPED = frozenset("TtZX")

#: States of a task that is running, ready to run, or waiting for a disk, possibly because of other processes.
READY = frozenset("RD")

#: The kind of CPU-time clock that counts the time granted by the scheduler, in nanoseconds (CPUCLOCK_SCHED).
SCHEDULED_TIME = 2


def wait_until(condition: Callable[[], bool], *, what: str, timeout_s: float = FREEZE_TIMEOUT_S) -> None:
    """Poll until a condition is met. Raises `TimeoutError`."""
    deadline = time.monotonic() + timeout_s
    pause_s = FIRST_PAUSE_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} took longer than {timeout_s:g} s")
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, LONGEST_PAUSE_S)


@dataclass(frozen=True, kw_only=True)
class ProcessStatus:
    """One line of /proc/<pid>/stat."""

    pid: int
    state: str
    parent: int
    children_cpu_s: float  #: CPU time of children that ended and were waited for


class ProcessTree:
    """All processes of a box, from its first process on."""

    def __init__(self, root: int, proc: Path = PROC) -> None:
        self._root = root
        self._proc = proc

    def freeze(self) -> None:
        """Begin to stop every process."""
        self._signal(signal.SIGSTOP)

    def wait_frozen(self) -> bool:
        """Stop every process that is still running, including new ones, until all are stopped."""
        last_cpu_s = -1.0

        def is_frozen() -> bool:
            # A running process can continue another one, so no process may have run between two checks.
            nonlocal last_cpu_s
            previous, last_cpu_s = last_cpu_s, self.cpu_s()
            if self._are_all_stopped():
                return previous == last_cpu_s
            self._signal(signal.SIGSTOP)
            return False

        wait_until(is_frozen, what="stopping the processes of the box")
        return True

    def thaw(self) -> None:
        """Resume every process."""
        self._signal(signal.SIGCONT)

    def cpu_s(self) -> float:
        """Return the CPU time of the processes, and of their children that have ended."""
        return sum(cpu_s_of_process(process.pid) + process.children_cpu_s for process in self.processes())

    def tasks(self) -> list[int]:
        """Return the ids of all threads."""
        return [task for process in self.processes() for task in tasks_of_process(process.pid, self._proc)]

    def processes(self) -> list[ProcessStatus]:
        """Return the processes, each after its parent."""
        children_of: Callable[[int], list[int]] = partial(_reported_children, self._proc)
        if not HAS_CHILDREN_FILES:
            children_of = _searched_children(self._proc)
        pids = [self._root]
        for pid in pids:  # the list grows during the iteration
            pids += children_of(pid)
        return [status for pid in pids if (status := status_of_process(pid, self._proc))]

    def _are_all_stopped(self) -> bool:
        return all(state in STOPPED for state in map(state_of_task, self.tasks()))

    def _signal(self, number: int) -> None:
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, number)


class WaitingTimes:
    """The time that the tasks of one box waited for a CPU. It keeps the times of tasks that have ended."""

    def __init__(self) -> None:
        self._waited_ns: dict[int, int] = {}

    def total_s(self, tasks: Iterable[int], proc: Path = PROC) -> float | None:
        """Return the sum over these tasks and all earlier ones; None if the kernel does not report it."""
        for task in tasks:
            if (waited_ns := _waited_ns_of_task(task, proc)) is not None:
                self._waited_ns[task] = max(waited_ns, self._waited_ns.get(task, 0))
        return sum(self._waited_ns.values()) / 1e9 if self._waited_ns else None


def status_of_process(pid: int, proc: Path = PROC) -> ProcessStatus | None:
    """Return the status of a process, or None if it has ended."""
    if not (fields := _stat_fields(proc / str(pid) / "stat")):
        return None
    ticks = int(fields[13]) + int(fields[14])
    return ProcessStatus(
        pid=pid,
        state=fields[0],
        parent=int(fields[1]),
        children_cpu_s=ticks / os.sysconf("SC_CLK_TCK"),
    )


def cpu_s_of_process(pid: int) -> float:
    """Return the CPU time of all threads of a process, ended ones included; 0 if it has ended."""
    try:
        return time.clock_gettime_ns(~pid << 3 | SCHEDULED_TIME) / 1e9
    except OSError:
        return 0.0


def tasks_of_process(pid: int, proc: Path = PROC) -> list[int]:
    """Return the ids of the threads of a process."""
    try:
        return [int(name) for name in os.listdir(proc / str(pid) / "task")]  # noqa: PTH208 - half the time of iterdir
    except OSError:
        return []  # it has ended


def state_of_task(task: int, proc: Path = PROC) -> str:
    """Return the state of a thread as one letter; `X` if it has ended."""
    fields = _stat_fields(proc / str(task) / "stat")  # /proc finds threads by their ids too
    return fields[0] if fields else "X"


def _reported_children(proc: Path, pid: int) -> list[int]:
    """Return the children of all threads of a process."""
    children = []
    for task in tasks_of_process(pid, proc):
        with contextlib.suppress(OSError):  # it has ended
            listed = (proc / str(pid) / "task" / str(task) / "children").read_text(encoding="ascii")
            children += [int(child) for child in listed.split()]
    return children


def _searched_children(proc: Path) -> Callable[[int], list[int]]:
    """Return a function that finds children among all processes, for kernels that do not list them."""
    children: dict[int, list[int]] = {}
    for name in os.listdir(proc):  # noqa: PTH208 - half the time of iterdir
        if name.isdecimal() and (status := status_of_process(int(name), proc)):
            children.setdefault(status.parent, []).append(status.pid)
    return lambda pid: children.get(pid, [])


def _waited_ns_of_task(task: int, proc: Path) -> int | None:
    try:
        return int((proc / str(task) / "schedstat").read_text(encoding="ascii").split()[1])
    except (OSError, IndexError):
        return None


def _stat_fields(path: Path) -> list[str]:
    """Return the fields after the name, which may contain anything; empty if the task has ended."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
