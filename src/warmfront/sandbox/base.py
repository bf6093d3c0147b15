"""The interface of sandboxes. A box is created ahead of time, used once and destroyed.

A box is described by a `Template`. Its `folder` on the host is mounted inside as `/box`, read-only except for
the files that the template lists in `outputs`, and is the working directory of the program. Two FIFOs in it,
`commands` and `answers`, are the private channel: the program reads `commands` first and blocks, so that a
box can be started long before its job is known. This module does not depend on the implementations.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: The path of the box's folder inside the box.
BOX = "/box"
#: A writable directory inside the box. Programs use TMPDIR, because it is elsewhere without isolation.
SCRATCH = "/tmp"  # noqa: S108 - inside the box


#: The wall clock limit in seconds per second of the CPU time limit. It is a backstop: even if ten programs
#: compete for each CPU, a box can still use all its CPU time.
WALL_S_PER_CPU_S = 10


#: The initial weight of a box for a contended CPU, which is the same as that of other processes.
DEFAULT_CPU_WEIGHT = 100


class ExitReason(StrEnum):
    """The reason why a box ended."""

    EXITED = "exited"  #: the program exited with a code
    SIGNALED = "signaled"  #: the program was killed by a signal, and not because of a limit
    TIMED_OUT = "timed_out"  #: a time limit was reached
    MEMORY = "memory"  #: the memory limit was exceeded
    OUTPUT = "output"  #: the output limit was exceeded
    DESTROYED = "destroyed"  #: `destroy` was called


@dataclass(frozen=True, kw_only=True)
class SandboxLimits:
    """Resource limits. Every box has all of them."""

    memory_bytes: int  #: resident memory of all its processes
    cpus: float  #: CPU seconds per second
    pids: int  #: processes and threads
    file_bytes: int  #: size of each file that it writes
    open_files: int  #: open file descriptors per process
    output_bytes: int  #: stdout and stderr together
    tmp_bytes: int  #: size of its /tmp
    cpu_s: float  #: CPU time from `go` on, of all its processes; blocked time counts too, see `box_clock.py`
    wall_s: float  #: seconds from `go` to its end: a backstop, several times `cpu_s`
    cpu_set: tuple[int, ...] = ()  #: the CPUs on which its processes may run; empty: all
    cpu_weight: int = DEFAULT_CPU_WEIGHT  #: share of a contended CPU, from 1 to 10,000


@dataclass(frozen=True, kw_only=True)
class Mount:
    """A host path that is mounted in the box, read-only by default."""

    host: Path
    inside: str
    writable: bool = False  #: only for files that the program owns anyway, such as the memory of a stub GPU


@dataclass(frozen=True, kw_only=True)
class Template:
    """The description of a kind of box: everything that is known before the job."""

    name: str  #: such as `compile` or `run`
    argv: tuple[str, ...]
    mounts: tuple[Mount, ...]
    limits: SandboxLimits
    env: Mapping[str, str] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()  #: files in the folder that the program may write
    devices: tuple[str, ...] = ()  #: such as /dev/kfd
    may_fork: bool = False  #: compilers must fork; kernels need not


@dataclass(frozen=True, kw_only=True)
class BoxExit:
    """The end of a box, with its output and usage."""

    reason: ExitReason
    code: int | None = None  #: with EXITED
    signal: int | None = None  #: with SIGNALED
    output: bytes = b""  #: stdout and stderr together, at most `output_bytes`
    peak_memory_bytes: int | None = None  #: None if the kernel does not report it
    refused_pids: int | None = None  #: refused forks and threads; None if the kernel does not report it
    enforced_by: str = ""  #: such as `bubblewrap, cgroup v1`


@dataclass(frozen=True, kw_only=True)
class BoxUsage:
    """The time that the processes of a box have used so far, as the kernel counts it."""

    cpu_s: float  #: CPU time of all processes, ended ones included
    waited_s: float | None  #: time that tasks were ready to run and had no CPU; None if unknown


class Box(Protocol):
    """One sandboxed program, for one job. Leaving the `with` block destroys it.

    Example:
        >>> with sandbox.take(template) as box:
        ...     (box.folder / "input").write_bytes(data)
        ...     box.go()
        ...     box.send(b"command")
        ...     answer = box.receive(16, timeout_s=1.0)
        ...     end = box.wait()
    """

    #: The folder on the host that is `/box` inside. Put the files of the job here before `go`.
    folder: Path

    def start(self) -> None:
        """Start the program ahead of `go`. It waits until the first command is sent.

        Raises:
            SandboxFailed: the program could not be started.
        """

    def go(self) -> None:
        """Start the clock of the time limits, and the program if it was not started ahead of time.

        Raises:
            SandboxFailed: the program could not be started.
        """

    def send(self, data: bytes) -> None:
        """Write to the program's `commands`. If the program has ended, the next `receive` shows it."""

    def receive(
        self, size: int, timeout_s: float | None = None, *, cpu_timeout_s: float | None = None
    ) -> bytes:
        """Read `size` bytes from `answers`.

        Args:
            size: number of bytes to read.
            timeout_s: wall clock limit of this call; None for only the limits of the box.
            cpu_timeout_s: time that the box may use during this call: CPU time and blocked time, but not the
                time that it waits for a CPU. The wall clock limit is WALL_S_PER_CPU_S times as large.

        Returns:
            `size` bytes; fewer if the program ended, closed its end or reached a time limit of the box.

        Raises:
            TimeoutError: a limit of this call was reached and the program is still running.
        """

    def wait(self, timeout_s: float | None = None, *, cpu_timeout_s: float | None = None) -> BoxExit:
        """Wait until the program ends, and kill it at the time limit.

        Args:
            timeout_s: wall clock limit of this call; the limits of the box apply as well.
            cpu_timeout_s: time that the box may use during this call, as for `receive`.

        Returns:
            How the program ended.

        Raises:
            SandboxFailed: the sandbox failed, not the program.
        """

    def freeze(self) -> None:
        """Stop every process of the box; return when all of them are stopped.

        Nothing in the box runs, and no memory changes, until `thaw`. A box that has ended counts as frozen.

        Raises:
            TimeoutError: a process could not be stopped, such as one in a driver call.
        """

    def thaw(self) -> None:
        """Let the processes of a frozen box continue."""

    def usage(self) -> BoxUsage:
        """Return the time that the box has used since it was started. This also works after its end.

        The CPU time includes the start of the box, so compare two calls.
        """

    def set_cpu_weight(self, weight: int) -> None:
        """Set the box's share of a contended CPU, if the sandbox supports it.

        Args:
            weight: from 1 to 10,000; the initial weight of a box is that of its limits.
        """

    def set_cpus(self, cpus: set[int]) -> bool:
        """Restrict the processes of the box to these CPUs. The processes themselves could undo this.

        Returns:
            Whether that was possible: the processes of a box in a container are not always visible here.
        """

    def destroy(self) -> None:
        """Kill every process inside and remove the folder. Idempotent; callable from any thread."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc: object) -> None: ...


class Sandbox(Protocol):
    """A factory of boxes. `warmfront.sandbox.open_sandbox` returns one.

    Example:
        >>> sandbox = open_sandbox()
        >>> sandbox.prepare(template)  # optional: starts a box in the background
        >>> box = sandbox.take(template)
        >>> sandbox.close()
    """

    name: str  #: `bubblewrap`, `docker` or `none (trusted)`
    detail: str  #: how it isolates on this machine, for display

    def prepare(self, template: Template) -> None:
        """Start a box of this template in the background, so that `take` does not have to wait.

        Raises:
            SandboxFailed: the sandbox is closed.
        """

    def settle(self) -> None:
        """Wait until every box that is being prepared has started or failed."""

    def take(self, template: Template) -> Box:
        """Return an unused box of this template: a prepared one, or a new one.

        The caller owns the box and must `destroy` it.

        Raises:
            SandboxFailed: the sandbox is closed, or the box could not be created.
        """

    def close(self) -> None:
        """Destroy every box that was prepared and not taken."""


class OutputTooLarge(Exception):
    """A file that a program wrote is larger than allowed."""


def read_output(box: Box, name: str, *, limit_bytes: int) -> bytes:
    """Return the content of a file that the program in the box wrote, without reading beyond the limit.

    Raises:
        OutputTooLarge: the file is larger than `limit_bytes`.
    """
    with (box.folder / name).open("rb") as file:
        if os.fstat(file.fileno()).st_size <= limit_bytes:
            data = file.read(limit_bytes + 1)
            if len(data) <= limit_bytes:
                return data
    raise OutputTooLarge(name)


def device_groups(devices: Iterable[str]) -> tuple[int, ...]:
    """Return the group ids of device files; a box's user needs these groups to open the files.

    They are numeric because the container or image of a box does not contain the host's group names. The root
    group is left out, because it would also give access to other files.
    """
    groups = set()
    for device in devices:
        with contextlib.suppress(OSError):  # reported when the box is started
            groups.add(Path(device).stat().st_gid)
    return tuple(sorted(groups - {0}))


def machine_memory_bytes() -> int:
    """Return the size of this machine's memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


DIRECTORIES = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "etc/alternatives", "etc/ld.so.cache")


@dataclass(frozen=True, kw_only=True)
class HostSystem:
    """The directories and symbolic links of the host that a box sees."""

    binds: tuple[str, ...]
    links: dict[str, str]  #: path → target, such as /bin → usr/bin


def find_host_system(root: Path = Path("/")) -> HostSystem:
    """Return the system directories and links that exist on this host."""
    paths = [root / name for name in DIRECTORIES]
    return HostSystem(
        binds=tuple(str(path) for path in paths if path.exists() and not path.is_symlink()),
        links={str(path): str(path.readlink()) for path in paths if path.is_symlink()},
    )
