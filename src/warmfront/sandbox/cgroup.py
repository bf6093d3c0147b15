"""One control group (cgroup) per box, version 1 or 2: set limits, read usage, and kill everything in it.

If this process cannot create control groups, `find_hierarchy` returns None and the caller uses rlimits.
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

from warmfront.sandbox.box import PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from warmfront.sandbox.base import SandboxLimits

CPU_PERIOD_US = 100_000

#: How often to try to remove a group whose last processes are still ending; the tries are 1 ms apart.
REMOVAL_TRIES = 2000


class ControlGroup(ABC):
    """The control group of one box."""

    version: str  #: `v1` or `v2`
    join_file: str  #: the file to which a process writes `0` to join

    def __init__(self, directories: Mapping[str, Path]) -> None:
        self._directories = directories

    @property
    def join_files(self) -> tuple[Path, ...]:
        """Files to which a process writes `0` to join the group."""
        return tuple(directory / self.join_file for directory in self._unique())

    def remove(self) -> None:
        """Kill everything inside and remove the group."""
        for _ in range(REMOVAL_TRIES):
            if self._try_to_remove():
                return
            self.kill()
            time.sleep(0.001)

    @contextlib.contextmanager
    def removed_on_failure(self) -> Iterator[None]:
        """Remove the group if the kernel rejects one of its limits."""
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
        """Return how many processes the kernel killed because the group was out of memory."""

    @abstractmethod
    def peak_memory_bytes(self) -> int | None:
        """Return the peak memory usage, if the kernel reports it."""

    def refused_pids(self) -> int:
        """Return how many forks and threads the limit prevented."""
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
    # `tasks` moves a single thread; `cgroup.procs` takes a machine-wide lock, which costs 8 ms.
    join_file = "tasks"

    def kill(self) -> None:
        """Set the process limit to 0, then kill every process."""
        pids = self._directories["pids"]
        with contextlib.suppress(OSError):  # the group is gone, and so are its processes
            _write(pids / "pids.max", 0)
            for pid in (pids / "cgroup.procs").read_text(encoding="ascii").split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)

    def oom_kills(self) -> int:
        """Return how many processes the kernel killed because the group was out of memory."""
        return _field(self._directories["memory"] / "memory.oom_control", "oom_kill")

    def peak_memory_bytes(self) -> int | None:
        """Return the peak memory usage, if the kernel reports it."""
        return _number(self._directories["memory"] / "memory.max_usage_in_bytes")


class ControlGroupV2(ControlGroup):
    """One directory in the unified hierarchy."""

    version = "v2"
    join_file = "cgroup.procs"

    def kill(self) -> None:
        """Kill every process inside: with cgroup.kill if the kernel has it (5.14), else one by one."""
        directory = self._directories["pids"]
        if (directory / "cgroup.kill").exists():
            _write(directory / "cgroup.kill", 1)
        else:
            ControlGroupV1(self._directories).kill()

    def oom_kills(self) -> int:
        """Return how many processes the kernel killed because the group was out of memory."""
        return _field(self._directories["memory"] / "memory.events", "oom_kill")

    def peak_memory_bytes(self) -> int | None:
        """Return the peak memory usage, if the kernel reports it (5.19)."""
        return _number(self._directories["memory"] / "memory.peak")


class CgroupHierarchy(Protocol):
    """A place where control groups can be created."""

    version: str

    def make(self, name: str, limits: SandboxLimits) -> ControlGroup:
        """Create an empty group with these limits."""

    def names(self, prefix: str) -> list[str]:
        """Return the names of existing groups that begin with `prefix`."""

    def existing(self, name: str) -> ControlGroup:
        """Return a group that already exists."""


@dataclass(frozen=True)
class CgroupHierarchyV1:
    """Version 1: for each controller, the directory in which we can create groups."""

    parents: Mapping[str, Path]
    version = "v1"

    def make(self, name: str, limits: SandboxLimits) -> ControlGroup:
        """Create an empty group with these limits."""
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
        """Return the names of existing groups that begin with `prefix`."""
        return sorted({path.name for parent in self.parents.values() for path in parent.glob(f"{prefix}*")})

    def existing(self, name: str) -> ControlGroup:
        """Return a group that already exists."""
        return ControlGroupV1({controller: parent / name for controller, parent in self.parents.items()})


@dataclass(frozen=True)
class CgroupHierarchyV2:
    """Version 2: a writable directory that delegates its controllers."""

    parent: Path
    version = "v2"

    def make(self, name: str, limits: SandboxLimits) -> ControlGroup:
        """Create an empty group with these limits."""
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
        """Return the names of existing groups that begin with `prefix`."""
        return sorted(path.name for path in self.parent.glob(f"{prefix}*"))

    def existing(self, name: str) -> ControlGroup:
        """Return a group that already exists."""
        return ControlGroupV2(dict.fromkeys(("memory", "pids", "cpu"), self.parent / name))


def find_hierarchy(proc: Path = Path("/proc/self")) -> CgroupHierarchy | None:
    """Return where this process can create control groups with limits, or None."""
    own = _own_groups(proc / "cgroup")
    mounts = list(_cgroup_mounts(proc / "mountinfo"))
    parents: dict[str, Path] = {
        controller: mount.locate(own.get(controller, "/"))
        for controller in ("memory", "pids", "cpu")
        for mount in mounts
        if controller in mount.controllers
    }
    if len(parents) == 3:
        return CgroupHierarchyV1(parents) if all(map(_can_create_groups, parents.values())) else None
    for mount in mounts:
        if mount.is_unified and (parent := _nearest_delegated(mount.locate(own.get("", "/")), mount.point)):
            return CgroupHierarchyV2(parent)
    return None


@dataclass(frozen=True)
class _Mount:
    """A mount point of a hierarchy, and which of its directories is mounted there."""

    point: Path
    root: str
    is_unified: bool
    controllers: frozenset[str]

    def locate(self, group: str) -> Path:
        """Return the directory of a group, or the mount point if it is not visible in this container."""
        with contextlib.suppress(ValueError):
            directory = self.point / Path(group).relative_to(self.root)
            if directory.is_dir():
                return directory
        return self.point


def _own_groups(path: Path) -> dict[str, str]:
    """Return controller → path of our group; the unified hierarchy has an empty name."""
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
    """Return the nearest group, from ours upward, that delegates memory and pids and lets us create groups.

    Rarely our own group: a version 2 group with processes cannot delegate controllers.
    """
    for candidate in (own, *own.parents):
        delegated = _words(candidate / "cgroup.subtree_control")
        if {"memory", "pids"} <= delegated and _can_create_groups(candidate):
            return candidate
        if candidate == top:
            break
    return None


def _can_create_groups(parent: Path) -> bool:
    probe = parent / f"{PREFIX}probe-{os.getpid()}-{time.monotonic_ns()}"
    try:
        probe.mkdir()
        probe.rmdir()
    except OSError:
        return False
    # A process can join a group only if it can also write to the group that it leaves.
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
    """Return a number from a file of `name value` lines; 0 if it is missing."""
    with contextlib.suppress(OSError):
        for line in path.read_text(encoding="ascii").splitlines():
            key, _, value = line.partition(" ")
            if key == name:
                return int(value)
    return 0
