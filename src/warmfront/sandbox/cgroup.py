"""One control group for each box, version 1 or 2: limits, what was used, and an end for everything in it.

Where this process may not make control groups there are none, and the caller must do with rlimits.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from warmfront.sandbox.box_folders import PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from warmfront.sandbox.base import SandboxLimits

CPU_PERIOD_US = 100_000

#: Tries to remove a group whose last processes are still on their way out, a millisecond apart.
REMOVAL_TRIES = 2000


class ControlGroup(ABC):
    """The control group of one box."""

    version: str  #: `v1` or `v2`
    entrance: str  #: the file that a process writes `0` into to join

    def __init__(self, directories: Mapping[str, Path]) -> None:
        self._directories = directories

    @property
    def entrances(self) -> tuple[Path, ...]:
        """Files that a process writes `0` into to join the group."""
        return tuple(directory / self.entrance for directory in self._unique())

    def remove(self) -> None:
        """Kill everything that is left inside, then remove the group."""
        for _ in range(REMOVAL_TRIES):
            if self._try_to_remove():
                return
            self.kill()
            time.sleep(0.001)

    @contextlib.contextmanager
    def removed_on_failure(self) -> Iterator[None]:
        """A limit that is refused must not leave half a group behind."""
        try:
            yield
        except OSError:
            self.remove()
            raise

    @abstractmethod
    def kill(self) -> None:
        """Kill every process inside."""

    @abstractmethod
    def oom_kills(self) -> int:
        """How many processes the kernel killed because the group was out of memory."""

    @abstractmethod
    def peak_memory_bytes(self) -> int | None:
        """The most memory that the group held at once, where the kernel tells."""

    def refused_pids(self) -> int:
        """How many forks and threads were refused."""
        return _field(self._directories["pids"] / "pids.events", "max")

    def _unique(self) -> list[Path]:
        return list(dict.fromkeys(self._directories.values()))

    def _try_to_remove(self) -> bool:
        for directory in self._unique():
            try:
                directory.rmdir()
            except FileNotFoundError:
                continue
            except OSError:
                return False
        return True


class ControlGroupV1(ControlGroup):
    """A directory in each of three hierarchies."""

    version = "v1"
    # A thread that moves itself alone takes no lock of the whole machine, which cgroup.procs waits for: 8 ms.
    entrance = "tasks"

    def kill(self) -> None:
        """Forbid new processes, then kill those that there are."""
        pids = self._directories["pids"]
        with contextlib.suppress(OSError):  # the group is gone, and with it every process
            _write(pids / "pids.max", 0)
            for pid in (pids / "cgroup.procs").read_text(encoding="ascii").split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)

    def oom_kills(self) -> int:
        """How many processes the kernel killed because the group was out of memory."""
        return _field(self._directories["memory"] / "memory.oom_control", "oom_kill")

    def peak_memory_bytes(self) -> int | None:
        """The most memory that the group held at once, where the kernel tells."""
        return _number(self._directories["memory"] / "memory.max_usage_in_bytes")


class ControlGroupV2(ControlGroup):
    """One directory in the unified hierarchy."""

    version = "v2"
    entrance = "cgroup.procs"

    def kill(self) -> None:
        """Kill every process inside: at once where the kernel can (5.14), else one by one."""
        directory = self._directories["pids"]
        if (directory / "cgroup.kill").exists():
            _write(directory / "cgroup.kill", 1)
        else:
            ControlGroupV1(self._directories).kill()

    def oom_kills(self) -> int:
        """How many processes the kernel killed because the group was out of memory."""
        return _field(self._directories["memory"] / "memory.events", "oom_kill")

    def peak_memory_bytes(self) -> int | None:
        """The most memory that the group held at once, where the kernel tells (5.19)."""
        return _number(self._directories["memory"] / "memory.peak")


class CgroupHierarchy(Protocol):
    """Where groups can be made."""

    version: str

    def make(self, name: str, limits: SandboxLimits) -> ControlGroup:
        """A new, empty group under these limits."""

    def names(self, prefix: str) -> list[str]:
        """Groups that exist and begin with `prefix`."""

    def existing(self, name: str) -> ControlGroup:
        """A group that another process made."""


@dataclass(frozen=True)
class CgroupHierarchyV1:
    """Version 1: the directory of each controller under which we may make our own."""

    parents: Mapping[str, Path]
    version = "v1"

    def make(self, name: str, limits: SandboxLimits) -> ControlGroup:
        """A new, empty group under these limits."""
        group = self.existing(name)
        with group.removed_on_failure():
            self._make(name, limits)
        return group

    def _make(self, name: str, limits: SandboxLimits) -> None:
        directories = {controller: parent / name for controller, parent in self.parents.items()}
        for directory in dict.fromkeys(directories.values()):
            directory.mkdir()
        memory, pids, cpu = directories["memory"], directories["pids"], directories["cpu"]
        _write(memory / "memory.limit_in_bytes", limits.memory_bytes)
        if (memory / "memory.memsw.limit_in_bytes").exists():
            _write(memory / "memory.memsw.limit_in_bytes", limits.memory_bytes)
        _write(pids / "pids.max", limits.pids)
        _write(cpu / "cpu.cfs_period_us", CPU_PERIOD_US)
        _write(cpu / "cpu.cfs_quota_us", round(limits.cpus * CPU_PERIOD_US))

    def names(self, prefix: str) -> list[str]:
        """Groups that exist and begin with `prefix`."""
        return sorted({path.name for parent in self.parents.values() for path in parent.glob(f"{prefix}*")})

    def existing(self, name: str) -> ControlGroup:
        """A group that another process made."""
        return ControlGroupV1({controller: parent / name for controller, parent in self.parents.items()})


@dataclass(frozen=True)
class CgroupHierarchyV2:
    """Version 2: a directory that hands its controllers down and that we may write in."""

    parent: Path
    version = "v2"

    def make(self, name: str, limits: SandboxLimits) -> ControlGroup:
        """A new, empty group under these limits."""
        group = self.existing(name)
        with group.removed_on_failure():
            self._make(self.parent / name, limits)
        return group

    def _make(self, directory: Path, limits: SandboxLimits) -> None:
        directory.mkdir()
        _write(directory / "memory.max", limits.memory_bytes)
        if (directory / "memory.swap.max").exists():
            _write(directory / "memory.swap.max", 0)
        _write(directory / "pids.max", limits.pids)
        if "cpu" in _words(self.parent / "cgroup.subtree_control"):
            _write(directory / "cpu.max", f"{round(limits.cpus * CPU_PERIOD_US)} {CPU_PERIOD_US}")

    def names(self, prefix: str) -> list[str]:
        """Groups that exist and begin with `prefix`."""
        return sorted(path.name for path in self.parent.glob(f"{prefix}*"))

    def existing(self, name: str) -> ControlGroup:
        """A group that another process made."""
        return ControlGroupV2(dict.fromkeys(("memory", "pids", "cpu"), self.parent / name))


def find_hierarchy(proc: Path = Path("/proc/self")) -> CgroupHierarchy | None:
    """Where this process may make control groups with limits, if anywhere."""
    own = _own_groups(proc / "cgroup")
    mounts = list(_cgroup_mounts(proc / "mountinfo"))
    parents: dict[str, Path] = {
        controller: mount.locate(own.get(controller, "/"))
        for controller in ("memory", "pids", "cpu")
        for mount in mounts
        if controller in mount.controllers
    }
    if len(parents) == 3:
        return CgroupHierarchyV1(parents) if all(map(_can_make_groups, parents.values())) else None
    for mount in mounts:
        if mount.is_unified and (parent := _nearest_delegated(mount.locate(own.get("", "/")), mount.point)):
            return CgroupHierarchyV2(parent)
    return None


@dataclass(frozen=True)
class _Mount:
    """Where a hierarchy is mounted, and which of its directories is seen there."""

    point: Path
    root: str
    is_unified: bool
    controllers: frozenset[str]

    def locate(self, group: str) -> Path:
        """The directory of a group; in a container, whose view begins lower, the mount point itself."""
        with contextlib.suppress(ValueError):
            found = self.point / Path(group).relative_to(self.root)
            if found.is_dir():
                return found
        return self.point


def _own_groups(path: Path) -> dict[str, str]:
    """Controller to our group's path; the unified hierarchy has the empty name."""
    groups = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        _, controllers, group = line.split(":", 2)
        groups.update(dict.fromkeys(controllers.split(","), group))
    return groups


def _cgroup_mounts(path: Path) -> Iterator[_Mount]:
    for line in path.read_text(encoding="utf-8").splitlines():
        fields, _, rest = line.partition(" - ")
        kind, _, options = rest.split(" ", 2)
        if kind in {"cgroup", "cgroup2"}:
            root, point = fields.split(" ")[3:5]
            yield _Mount(Path(point), root, kind == "cgroup2", frozenset(options.split(",")))


def _nearest_delegated(own: Path, top: Path) -> Path | None:
    """Our group or the nearest above it that hands memory and pids down to groups that we may make.

    Our own rarely does: in version 2 a group that has processes hands nothing down.
    """
    for candidate in (own, *own.parents):
        handed_down = _words(candidate / "cgroup.subtree_control")
        if {"memory", "pids"} <= handed_down and _can_make_groups(candidate):
            return candidate
        if candidate == top:
            break
    return None


def _can_make_groups(parent: Path) -> bool:
    probe = parent / f"{PREFIX}probe-{os.getpid()}-{time.monotonic_ns()}"
    try:
        probe.mkdir()
        probe.rmdir()
    except OSError:
        return False
    # A process enters from outside only if it may also write where it comes from.
    return os.access(parent / "cgroup.procs", os.W_OK)


def _words(path: Path) -> set[str]:
    try:
        return set(path.read_text(encoding="ascii").split())
    except OSError:
        return set()


def _write(path: Path, value: int | str) -> None:
    path.write_text(str(value), encoding="ascii")


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _field(path: Path, name: str) -> int:
    """A number in a file of `name value` lines, 0 where it is not told."""
    with contextlib.suppress(OSError):
        for line in path.read_text(encoding="ascii").splitlines():
            key, _, value = line.partition(" ")
            if key == name:
                return int(value)
    return 0
