"""One control group (cgroup) per box, version 1 or 2: set limits, read usage, freeze and kill it.

All boxes of a user are below one group, `SHARED_GROUP`, whose memory limit is below the size of the machine's
memory: boxes that are each within their own limits cannot together exhaust the machine. If this process
cannot create control groups, `find_hierarchy` returns None and the caller uses rlimits.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from warmfront.sandbox.base import DEFAULT_CPU_WEIGHT, machine_memory_bytes
from warmfront.sandbox.box import PREFIX
from warmfront.sandbox.process_tree import wait_until
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from warmfront.sandbox.base import SandboxLimits

CPU_PERIOD_US = 100_000

#: The group of all boxes.
SHARED_GROUP = f"{PREFIX}boxes"
#: The same group as a systemd slice; a hyphen in the name of a slice would make it a nested one.
SHARED_SLICE = "warmfrontboxes.slice"

#: A group is out of memory when memory that cannot be reclaimed has reached this share of the limit.
FULL = 0.97

#: The controller that keeps a box on its CPUs, even if its program requests others. Only boxes with a CPU set
#: have a group with this controller.
CPUSET = "cpuset"

#: Controllers that a group must have, and optional ones that have a replacement.
REQUIRED = ("memory", "pids", "cpu")
OPTIONAL = ("freezer", "cpuacct", CPUSET)

#: How long to wait for a version 1 group to freeze before it is thawed and frozen again. At a load of 15 on
#: two cores, this takes 0.1 s.
STUCK_S = 0.25

#: How often to try to remove a group whose last processes are still exiting, at intervals of 1 ms.
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

    @property
    @abstractmethod
    def can_freeze(self) -> bool:
        """Whether the kernel can freeze this group, and we have the permission."""

    @abstractmethod
    def freeze(self) -> None:
        """Begin to stop every process inside."""

    def wait_frozen(self) -> bool:
        """Wait until every process is stopped, or the group was thawed. Raises `TimeoutError`."""
        wait_until(self._is_settled, what="freezing the control group")
        return True

    @abstractmethod
    def thaw(self) -> None:
        """Resume every process inside."""

    @abstractmethod
    def cpu_s(self) -> float | None:
        """Return the CPU time of all processes so far, ended ones included, if the kernel reports it."""

    @abstractmethod
    def tasks(self) -> list[int]:
        """Return the ids of all threads inside."""

    @abstractmethod
    def oom_kills(self) -> int:
        """Return how many processes of the group the kernel killed because memory was exhausted."""

    @abstractmethod
    def is_out_of_memory(self) -> bool:
        """Return whether the group has reached its own limit and the kernel could not reclaim memory."""

    @abstractmethod
    def configure_shared_group(self, memory_bytes: int) -> None:
        """Limit the memory of this group and its siblings together, if its parent is the group of boxes."""

    @abstractmethod
    def set_cpu_weight(self, weight: int) -> None:
        """Set the share of a contended CPU, from 1 to 10,000; other processes have 100."""

    @abstractmethod
    def _is_settled(self) -> bool:
        """Return whether the group is frozen, or no longer freezing."""

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
    """A version 1 control group: a directory in each of three to five hierarchies."""

    version = "v1"
    # `tasks` moves a single thread; `cgroup.procs` takes a machine-wide lock, which costs 8 ms.
    join_file = "tasks"

    def kill(self) -> None:
        """Set the process limit to 0, then kill every process."""
        pids = self._directories["pids"]
        with contextlib.suppress(OSError):  # the group and its processes no longer exist
            _write(pids / "pids.max", 0)
            for pid in (pids / "cgroup.procs").read_text(encoding="ascii").split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
        self.thaw()  # a frozen process does not end

    @property
    def can_freeze(self) -> bool:
        """Whether there is a freezer hierarchy, and we may write to it."""
        return "freezer" in self._directories and os.access(self._freezer_state, os.W_OK)

    def freeze(self) -> None:
        """Begin to stop every process inside."""
        _write_existing(self._freezer_state, "FROZEN")

    def wait_frozen(self) -> bool:
        """Wait until every process is stopped, or the group was thawed.

        Returns False if a process is stuck. A thread that calls `execve` waits for the other threads of its
        process to end, and cannot be frozen meanwhile; if one of them was frozen first, they wait for each
        other until the group is thawed. Version 2 of control groups does not have this defect.
        """
        try:
            wait_until(self._is_settled, what="freezing the control group", timeout_s=STUCK_S)
        except TimeoutError:
            return False
        return True

    def thaw(self) -> None:
        """Resume every process inside."""
        if "freezer" in self._directories:
            _write_existing(self._freezer_state, "THAWED")

    def cpu_s(self) -> float | None:
        """Return the CPU time of all processes so far, if there is a hierarchy that counts it."""
        if "cpuacct" not in self._directories:
            return None
        used_ns = _number(self._directories["cpuacct"] / "cpuacct.usage")
        return None if used_ns is None else used_ns / 1e9

    def tasks(self) -> list[int]:
        """Return the ids of all threads inside."""
        return sorted(map(int, _words(self._directories["pids"] / "tasks")))

    def _is_settled(self) -> bool:
        return "FREEZING" not in _words(self._freezer_state)

    @property
    def _freezer_state(self) -> Path:
        return self._directories["freezer"] / "freezer.state"

    def oom_kills(self) -> int:
        """Return how many processes of the group the kernel killed because memory was exhausted."""
        return _field(self._directories["memory"] / "memory.oom_control", "oom_kill")

    def is_out_of_memory(self) -> bool:
        """Return whether the group has reached its own limit and the kernel could not reclaim memory."""
        memory = self._directories["memory"]
        full_bytes = FULL * (_number(memory / "memory.limit_in_bytes") or math.inf)
        if (self.peak_memory_bytes() or 0) < full_bytes:  # newer kernels do not count in memory.failcnt
            return False
        if self.oom_kills() or _field(memory / "memory.oom_control", "under_oom"):
            return True
        return sum(_field(memory / "memory.stat", name) for name in ("rss", "shmem")) >= full_bytes

    def configure_shared_group(self, memory_bytes: int) -> None:
        """Limit the memory of this group and its siblings together."""
        if is_shared_group(parent := self._directories["memory"].parent):
            _limit_memory_v1(parent, memory_bytes)

    def set_cpu_weight(self, weight: int) -> None:
        """Set the share of a contended CPU."""
        for directory in _with_shared_group(self._directories["cpu"]):
            _write_existing(directory / "cpu.shares", cpu_shares(weight))

    def peak_memory_bytes(self) -> int | None:
        """Return the peak memory usage, if the kernel reports it."""
        return _number(self._directories["memory"] / "memory.max_usage_in_bytes")


class ControlGroupV2(ControlGroup):
    """A version 2 control group: one directory in the unified hierarchy."""

    version = "v2"
    join_file = "cgroup.procs"

    def kill(self) -> None:
        """Kill every process inside: with cgroup.kill if the kernel has it (5.14), otherwise one by one."""
        directory = self._directories["pids"]
        if (directory / "cgroup.kill").exists():
            _write(directory / "cgroup.kill", 1)
        else:
            ControlGroupV1(self._directories).kill()
            self.thaw()

    @property
    def can_freeze(self) -> bool:
        """Whether the kernel can freeze groups (5.2), and we have the permission."""
        return os.access(self._freeze_file, os.W_OK)

    def freeze(self) -> None:
        """Begin to stop every process inside."""
        _write_existing(self._freeze_file, 1)

    def thaw(self) -> None:
        """Resume every process inside."""
        _write_existing(self._freeze_file, 0)

    def cpu_s(self) -> float | None:
        """Return the CPU time of all processes so far, if the kernel reports it."""
        used_us = _field(self._directories["cpu"] / "cpu.stat", "usage_usec")
        return used_us / 1e6 if used_us else None

    def tasks(self) -> list[int]:
        """Return the ids of all threads inside."""
        return sorted(map(int, _words(self._directories["pids"] / "cgroup.threads")))

    def _is_settled(self) -> bool:
        events = self._directories["pids"] / "cgroup.events"
        is_freezing = _words(self._freeze_file) == {"1"}
        return not (is_freezing and _field(events, "populated")) or bool(_field(events, "frozen"))

    @property
    def _freeze_file(self) -> Path:
        return self._directories["pids"] / "cgroup.freeze"

    def oom_kills(self) -> int:
        """Return how many processes of the group the kernel killed because memory was exhausted."""
        return _field(self._directories["memory"] / "memory.events", "oom_kill")

    def is_out_of_memory(self) -> bool:
        """Return whether the group has reached its own limit and the kernel could not reclaim memory."""
        return _field(self._directories["memory"] / "memory.events", "oom") > 0

    def configure_shared_group(self, memory_bytes: int) -> None:
        """Limit the memory of this group and its siblings together."""
        if is_shared_group(parent := self._directories["memory"].parent):
            _limit_memory_v2(parent, memory_bytes)

    def set_cpu_weight(self, weight: int) -> None:
        """Set the share of a contended CPU."""
        for directory in _with_shared_group(self._directories["cpu"]):
            _write_existing(directory / "cpu.weight", weight)

    def peak_memory_bytes(self) -> int | None:
        """Return the peak memory usage, if the kernel reports it (5.19)."""
        return _number(self._directories["memory"] / "memory.peak")


class CgroupHierarchy(Protocol):
    """A hierarchy in which control groups can be created."""

    version: str

    def make(self, name: str, limits: SandboxLimits) -> ControlGroup:
        """Create an empty group with these limits."""

    def names(self, prefix: str) -> list[str]:
        """Return the names of existing groups that begin with `prefix`."""

    def existing(self, name: str) -> ControlGroup:
        """Return a group that already exists."""

    def close(self) -> None:
        """Remove the group of all boxes if it is empty."""


@dataclass(frozen=True)
class CgroupHierarchyV1:
    """A version 1 hierarchy: for each controller, the directory in which we can create groups."""

    parents: Mapping[str, Path]
    version = "v1"

    def make(self, name: str, limits: SandboxLimits) -> ControlGroup:
        """Create an empty group with these limits."""
        directories = self._directories(name)
        if not limits.cpu_set:
            directories.pop(CPUSET, None)
        group = ControlGroupV1(directories)
        with group.removed_on_failure():
            self._make(directories, limits)
        return group

    def _make(self, directories: dict[str, Path], limits: SandboxLimits) -> None:
        memory, pids, cpu = directories["memory"], directories["pids"], directories["cpu"]
        _make_below_shared(memory, self._prepare_shared)
        for directory in {*directories.values()} - {memory}:
            directory.mkdir()
        _limit_memory_v1(memory, limits.memory_bytes)
        _write(pids / "pids.max", limits.pids)
        _write(cpu / "cpu.cfs_period_us", CPU_PERIOD_US)
        _write(cpu / "cpu.cfs_quota_us", round(limits.cpus * CPU_PERIOD_US))
        if limits.cpu_weight != DEFAULT_CPU_WEIGHT:
            _write(cpu / "cpu.shares", cpu_shares(limits.cpu_weight))
        if CPUSET in directories:
            # A new group has no memory nodes, and accepts no processes until it has.
            parent = directories[CPUSET].parent
            _write(directories[CPUSET] / "cpuset.mems", (parent / "cpuset.mems").read_text().strip())
            _write(directories[CPUSET] / "cpuset.cpus", ",".join(map(str, limits.cpu_set)))

    def names(self, prefix: str) -> list[str]:
        """Return the names of existing groups that begin with `prefix`."""
        parents = {*self.parents.values(), self._shared}
        return sorted({path.name for parent in parents for path in parent.glob(f"{prefix}*")})

    def existing(self, name: str) -> ControlGroup:
        """Return a group that already exists."""
        return ControlGroupV1(self._directories(name))

    def close(self) -> None:
        """Remove the group of all boxes if it is empty."""
        with contextlib.suppress(OSError):
            self._shared.rmdir()

    @property
    def _shared(self) -> Path:
        return self.parents["memory"] / SHARED_GROUP

    def _directories(self, name: str) -> dict[str, Path]:
        # A controller in the same hierarchy as memory has the same directory.
        memory = self.parents["memory"]
        return {
            controller: (self._shared if parent == memory else parent) / name
            for controller, parent in self.parents.items()
        }

    def _prepare_shared(self) -> None:
        if (self._shared / "memory.use_hierarchy").exists():  # before Linux 5.11 it is off by default
            _write(self._shared / "memory.use_hierarchy", 1)
        _limit_memory_v1(self._shared, shared_memory_bytes())


@dataclass(frozen=True)
class CgroupHierarchyV2:
    """A version 2 hierarchy: a writable directory that delegates its controllers."""

    parent: Path
    version = "v2"

    def make(self, name: str, limits: SandboxLimits) -> ControlGroup:
        """Create an empty group with these limits."""
        group = self.existing(name)
        with group.removed_on_failure():
            self._make(self._shared / name, limits)
        return group

    def _make(self, directory: Path, limits: SandboxLimits) -> None:
        _make_below_shared(directory, self._prepare_shared)
        _limit_memory_v2(directory, limits.memory_bytes)
        _write(directory / "pids.max", limits.pids)
        if "cpu" in self._delegated():
            _write(directory / "cpu.max", f"{round(limits.cpus * CPU_PERIOD_US)} {CPU_PERIOD_US}")
            if limits.cpu_weight != DEFAULT_CPU_WEIGHT:
                _write(directory / "cpu.weight", limits.cpu_weight)
        if limits.cpu_set and CPUSET in self._delegated():
            _write(directory / "cpuset.cpus", ",".join(map(str, limits.cpu_set)))

    def names(self, prefix: str) -> list[str]:
        """Return the names of existing groups that begin with `prefix`."""
        return sorted(path.name for path in self._shared.glob(f"{prefix}*"))

    def existing(self, name: str) -> ControlGroup:
        """Return a group that already exists."""
        return ControlGroupV2(dict.fromkeys(REQUIRED, self._shared / name))

    def close(self) -> None:
        """Remove the group of all boxes if it is empty."""
        with contextlib.suppress(OSError):
            self._shared.rmdir()

    @property
    def _shared(self) -> Path:
        return self.parent / SHARED_GROUP

    def _delegated(self) -> set[str]:
        return _words(self.parent / "cgroup.subtree_control") & {*REQUIRED, CPUSET}

    def _prepare_shared(self) -> None:
        controllers = " ".join(f"+{controller}" for controller in sorted(self._delegated()))
        _write(self._shared / "cgroup.subtree_control", controllers)
        _limit_memory_v2(self._shared, shared_memory_bytes())


def find_hierarchy(proc: Path = Path("/proc/self")) -> CgroupHierarchy | None:
    """Return the hierarchy in which this process can create control groups with limits, or None."""
    own = _own_groups(proc / "cgroup")
    mounts = list(_cgroup_mounts(proc / "mountinfo"))
    parents: dict[str, Path] = {
        controller: mount.locate(own.get(controller, "/"))
        for controller in (*REQUIRED, *OPTIONAL)
        for mount in mounts
        if controller in mount.controllers
    }
    if parents.keys() >= set(REQUIRED):
        usable = {controller: parent for controller, parent in parents.items() if _can_create_groups(parent)}
        return CgroupHierarchyV1(usable) if usable.keys() >= set(REQUIRED) else None
    for mount in mounts:
        if mount.is_unified and (parent := _nearest_delegated(mount.locate(own.get("", "/")), mount.point)):
            return CgroupHierarchyV2(parent)
    return None


def find_group(pid: int, name: str, proc: Path = Path("/proc")) -> ControlGroup | None:
    """Return the control group of another process if it is visible here and its last part contains `name`."""
    try:
        groups = _own_groups(proc / str(pid) / "cgroup")
    except OSError:
        return None
    directories = {
        controller: directory
        for mount in _cgroup_mounts(proc / "self" / "mountinfo")
        for controller in (mount.controllers | {""} if mount.is_unified else mount.controllers)
        if name in Path(groups.get(controller, "")).name
        and (directory := mount.find(groups[controller])) is not None
    }
    if directories.keys() >= set(REQUIRED):
        return ControlGroupV1(directories)
    if "" in directories:
        return ControlGroupV2(dict.fromkeys(REQUIRED, directories[""]))
    return None


@dataclass(frozen=True)
class _Mount:
    """A mount point of a hierarchy, and the directory of the hierarchy that is mounted there."""

    point: Path
    root: str
    is_unified: bool
    controllers: frozenset[str]

    def locate(self, group: str) -> Path:
        """Return the directory of a group, or the mount point if it is not visible in this container."""
        return self.find(group) or self.point

    def find(self, group: str) -> Path | None:
        """Return the directory of a group if it is visible in this container."""
        with contextlib.suppress(ValueError):
            inside = Path(group).relative_to(self.root)
            # The path of a group outside our cgroup namespace begins with `/..`.
            if ".." not in inside.parts and (self.point / inside).is_dir():
                return self.point / inside
        return None


def _own_groups(path: Path) -> dict[str, str]:
    """Return the path of our group by controller; the unified hierarchy has an empty name."""
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

    This is rarely our own group: a version 2 group with processes cannot delegate controllers.
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


def shared_memory_bytes() -> int:
    """Return the memory limit of all boxes together.

    It leaves an eighth of the machine for everything else.
    """
    return machine_memory_bytes() // 8 * 7


def cpu_shares(weight: int) -> int:
    """Return a CPU weight in the unit of cgroup v1 and Docker, in which the default is 1024."""
    return max(2, weight * 1024 // DEFAULT_CPU_WEIGHT)


def is_shared_group(directory: Path) -> bool:
    """Return whether this is the group of all boxes."""
    return directory.name in {SHARED_GROUP, SHARED_SLICE}


def _with_shared_group(directory: Path) -> list[Path]:
    """Return the group and its parent, the group of all boxes.

    The parent's weight counts against other processes.
    """
    return [directory, *([directory.parent] if is_shared_group(directory.parent) else [])]


def _make_below_shared(directory: Path, prepare_shared: Callable[[], None]) -> None:
    """Make the directory of a box. Another process may remove the shared group while it is empty."""
    for _ in range(REMOVAL_TRIES):
        with contextlib.suppress(FileNotFoundError):
            with contextlib.suppress(FileExistsError):
                directory.parent.mkdir()
                prepare_shared()
            directory.mkdir()
            return
    raise FileNotFoundError(directory)


def _limit_memory_v1(directory: Path, memory_bytes: int) -> None:
    _write(directory / "memory.limit_in_bytes", memory_bytes)
    if (directory / "memory.memsw.limit_in_bytes").exists():
        _write(directory / "memory.memsw.limit_in_bytes", memory_bytes)


def _limit_memory_v2(directory: Path, memory_bytes: int) -> None:
    _write(directory / "memory.max", memory_bytes)
    if (directory / "memory.swap.max").exists():
        _write(directory / "memory.swap.max", 0)


def _words(path: Path) -> set[str]:
    try:
        return set(path.read_text(encoding="ascii").split())
    except OSError:
        return set()


def _write(path: Path, value: int | str) -> None:
    path.write_text(str(value), encoding="ascii")


def _write_existing(path: Path, value: int | str) -> None:
    """Write to a file of a group. Ignore that the group was removed, or that the kernel lacks the file."""
    with contextlib.suppress(OSError), path.open("r+", encoding="ascii") as file:
        file.write(str(value))


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
