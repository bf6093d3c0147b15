"""What a sandbox is: a box that is made ahead of time, used once and destroyed.

A box is described by a `Template`. Its `folder` on the host appears inside as `/box`, read-only but for
the files that the template names in `outputs`, and the program starts there. Two FIFOs in it, `commands`
and `answers`, are the private channel: the program inside opens `commands` first and blocks there, so
that a box can be started long before its job is known. This module knows no particular sandbox.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

#: Where the box's folder is seen by the program inside.
BOX = "/box"
#: A writable place of the box's own. Programs find it by TMPDIR, for without isolation it is elsewhere.
SCRATCH = "/tmp"  # noqa: S108 - the box's


class ExitReason(StrEnum):
    """Why a box ended."""

    EXITED = "exited"  #: by itself, with an exit code
    SIGNALED = "signaled"  #: by a signal that no limit of ours explains
    TIMED_OUT = "timed_out"  #: the wall clock ran out
    MEMORY = "memory"  #: it asked for more memory than allowed
    OUTPUT = "output"  #: it printed more than allowed
    DESTROYED = "destroyed"  #: we ended it


@dataclass(frozen=True, kw_only=True)
class SandboxLimits:
    """What a box may use. Every box has all of them."""

    memory_bytes: int  #: resident memory of all its processes
    cpus: float  #: CPU seconds a second
    pids: int  #: processes and threads
    file_bytes: int  #: size of any one file that it writes
    open_files: int  #: open file descriptors of one process
    output_bytes: int  #: what it may print, stdout and stderr together
    tmp_bytes: int  #: size of its /tmp
    wall_s: float  #: seconds from `go` to its end


@dataclass(frozen=True, kw_only=True)
class Mount:
    """A path of the host that the box sees read-only."""

    host: Path
    inside: str


@dataclass(frozen=True, kw_only=True)
class Template:
    """What all boxes of one kind share: everything that is known before the job is."""

    name: str  #: `compile` or `run`
    argv: tuple[str, ...]
    mounts: tuple[Mount, ...]
    limits: SandboxLimits
    env: Mapping[str, str] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()  #: files in the folder that the program may write
    devices: tuple[str, ...] = ()  #: such as /dev/kfd
    may_fork: bool = False  #: a compiler needs it, a kernel does not


@dataclass(frozen=True, kw_only=True)
class BoxExit:
    """How a box ended."""

    reason: ExitReason
    code: int | None = None  #: with EXITED
    signal: int | None = None  #: with SIGNALED
    output: bytes = b""  #: stdout and stderr together, at most `output_bytes`
    peak_memory_bytes: int | None = None  #: where the kernel tells
    refused_pids: int | None = None  #: forks and threads beyond `pids`, where the kernel tells
    enforced_by: str = ""  #: such as `bubblewrap, cgroup v1`


class Box(Protocol):
    """One sandbox, good for one job. Leaving its `with` block destroys it, whatever happened."""

    #: The folder on the host that is `/box` inside. Put the job's files here before `go`.
    folder: Path

    def go(self) -> None:
        """Start the program if it was not started ahead of time; the wall clock starts now."""

    def send(self, data: bytes) -> None:
        """Write to the program's `commands`. A program that is gone is noticed by `receive`."""

    def receive(self, size: int, timeout_s: float | None = None) -> bytes:
        """Read exactly `size` bytes of `answers`; fewer mean that the program ended or ran out of time.

        `TimeoutError` after `timeout_s`, if that comes before the wall clock runs out.
        """

    def wait(self, timeout_s: float | None = None) -> BoxExit:
        """Wait for the end, at most `timeout_s` or until the wall clock runs out, and say how it ended."""

    def destroy(self) -> None:
        """End every process inside and remove the folder. Safe to call twice, from any thread."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc: object) -> None: ...


class Sandbox(Protocol):
    """Makes boxes."""

    name: str  #: `bubblewrap`, `docker` or `none (trusted)`
    detail: str  #: how it isolates on this machine, for people

    def prepare(self, template: Template) -> None:
        """Make one box of this template ready in the background, so that `take` need not wait."""

    def take(self, template: Template) -> Box:
        """A box of this template, never used before."""

    def close(self) -> None:
        """Destroy every box that was made and not taken."""
