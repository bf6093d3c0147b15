"""Control groups on a fake directory tree, so that both versions are tested on any machine."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from warmfront.sandbox import cgroup
from warmfront.sandbox.base import SandboxLimits, machine_memory_bytes
from warmfront.sandbox.cgroup import (
    SHARED_GROUP,
    CgroupHierarchyV1,
    CgroupHierarchyV2,
    find_group,
    find_hierarchy,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LIMITS = SandboxLimits(
    memory_bytes=1 << 30,
    cpus=1.5,
    pids=64,
    file_bytes=1,
    open_files=1,
    output_bytes=1,
    tmp_bytes=1,
    cpu_s=1,
    wall_s=1,
)


@pytest.fixture
def v2(tmp_path: Path) -> CgroupHierarchyV2:
    """Return a hierarchy that delegates three controllers."""
    (tmp_path / "cgroup.subtree_control").write_text("cpu memory pids\n")
    return CgroupHierarchyV2(tmp_path)


class TestLimits:
    """The limits that are written when a group is created."""

    def test_v2_writes_every_limit(self, v2: CgroupHierarchyV2) -> None:
        """A version 2 group is limited in memory, processes and CPU time."""
        v2.make("box", LIMITS)
        box = v2.parent / SHARED_GROUP / "box"
        assert (box / "memory.max").read_text() == str(1 << 30)
        assert (box / "pids.max").read_text() == "64"
        assert (box / "cpu.max").read_text() == "150000 100000"

    def test_v2_without_the_cpu_controller(self, v2: CgroupHierarchyV2) -> None:
        """If the CPU controller is not delegated, the other limits are still set."""
        (v2.parent / "cgroup.subtree_control").write_text("memory pids\n")
        v2.make("box", LIMITS)
        assert not (v2.parent / SHARED_GROUP / "box" / "cpu.max").exists()
        assert (v2.parent / SHARED_GROUP / "box" / "pids.max").exists()

    def test_a_box_with_a_set_of_cpus(self, v2: CgroupHierarchyV2, tmp_path: Path) -> None:
        """Both versions keep the box on its CPUs; a box without a set has no group of that controller."""
        limits = replace(LIMITS, cpu_set=(2, 3, 7))
        (v2.parent / "cgroup.subtree_control").write_text("cpu cpuset memory pids\n")
        v2.make("box", limits)
        assert (v2.parent / SHARED_GROUP / "box" / "cpuset.cpus").read_text() == "2,3,7"
        parents = {name: tmp_path / "v1" / name for name in ("memory", "pids", "cpu", "cpuset")}
        for parent in parents.values():
            parent.mkdir(parents=True)
        (parents["cpuset"] / "cpuset.mems").write_text("0-1\n")
        group = CgroupHierarchyV1(parents).make("box", limits)
        assert (parents["cpuset"] / "box/cpuset.cpus").read_text() == "2,3,7"
        assert (parents["cpuset"] / "box/cpuset.mems").read_text() == "0-1"
        assert parents["cpuset"] / "box/tasks" in group.join_files
        free = CgroupHierarchyV1(parents).make("free", LIMITS)
        assert parents["cpuset"] / "free/tasks" not in free.join_files

    def test_v2_without_the_cpuset_controller(self, v2: CgroupHierarchyV2) -> None:
        """The other limits are set; the launcher still starts the box on its CPUs."""
        v2.make("box", replace(LIMITS, cpu_set=(1,)))
        assert not (v2.parent / SHARED_GROUP / "box" / "cpuset.cpus").exists()

    def test_v1_writes_every_limit(self, tmp_path: Path) -> None:
        """A version 1 group is limited in each of its three hierarchies."""
        parents = {name: tmp_path / name for name in ("memory", "pids", "cpu")}
        for parent in parents.values():
            parent.mkdir()
        group = CgroupHierarchyV1(parents).make("box", LIMITS)
        assert (parents["memory"] / SHARED_GROUP / "box/memory.limit_in_bytes").read_text() == str(1 << 30)
        assert (parents["pids"] / "box/pids.max").read_text() == "64"
        assert (parents["cpu"] / "box/cpu.cfs_quota_us").read_text() == "150000"
        parents["memory"] /= SHARED_GROUP
        assert group.join_files == tuple(parent / "box/tasks" for parent in parents.values())

    def test_a_box_with_a_low_weight(self, v2: CgroupHierarchyV2, tmp_path: Path) -> None:
        """Both versions give the box a smaller share of a contended CPU, each in its own unit."""
        limits = replace(LIMITS, cpu_weight=25)
        v2.make("box", limits)
        assert (v2.parent / SHARED_GROUP / "box" / "cpu.weight").read_text() == "25"
        parents = {name: tmp_path / "v1" / name for name in ("memory", "pids", "cpu")}
        for parent in parents.values():
            parent.mkdir(parents=True)
        CgroupHierarchyV1(parents).make("box", limits)
        assert (parents["cpu"] / "box/cpu.shares").read_text() == "256"

    def test_all_boxes_together_have_a_memory_limit(self, v2: CgroupHierarchyV2, tmp_path: Path) -> None:
        """The groups of all boxes are in one group, which cannot use all of the machine's memory."""
        v2.make("box", LIMITS)
        shared = v2.parent / SHARED_GROUP
        limit_bytes = int((shared / "memory.max").read_text())
        assert machine_memory_bytes() * 3 / 4 < limit_bytes < machine_memory_bytes()
        assert (shared / "cgroup.subtree_control").read_text() == "+cpu +memory +pids"
        parents = {name: tmp_path / "v1" / name for name in ("memory", "pids", "cpu")}
        for parent in parents.values():
            parent.mkdir(parents=True)
        CgroupHierarchyV1(parents).make("box", LIMITS)
        assert (parents["memory"] / SHARED_GROUP / "memory.limit_in_bytes").read_text() == str(limit_bytes)
        assert not (parents["pids"] / SHARED_GROUP).exists()

    def test_a_rejected_limit_leaves_no_group(
        self, v2: CgroupHierarchyV2, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """If the kernel rejects a limit, the new group is removed."""

        def reject(path: Path, _: object) -> None:
            raise OSError(f"{path.name} is rejected")

        monkeypatch.setattr(cgroup, "_write", reject)
        with pytest.raises(OSError, match="rejected"):
            v2.make("box", LIMITS)
        assert v2.names("box") == []


class TestAccounting:
    """Reading usage, and killing everything in a group."""

    def test_v2_usage(self, v2: CgroupHierarchyV2) -> None:
        """Out-of-memory kills, peak memory and prevented forks are read from the group."""
        group = v2.make("box", LIMITS)
        box = v2.parent / SHARED_GROUP / "box"
        (box / "memory.events").write_text("low 0\nhigh 0\nmax 7\noom 1\noom_kill 2\n")
        (box / "memory.peak").write_text("12345\n")
        (box / "pids.events").write_text("max 3\n")
        assert (group.oom_kills(), group.peak_memory_bytes(), group.refused_pids()) == (2, 12345, 3)

    @pytest.mark.parametrize(
        ("events", "expected"),
        [("oom 0\noom_kill 0\n", False), ("oom 1\noom_kill 0\n", True), ("oom 0\noom_kill 1\n", False)],
    )
    def test_v2_out_of_memory(self, v2: CgroupHierarchyV2, events: str, *, expected: bool) -> None:
        """A group is out of memory by its own limit, not because all boxes together reached theirs."""
        group = v2.make("box", LIMITS)
        (v2.parent / SHARED_GROUP / "box" / "memory.events").write_text(events)
        assert group.is_out_of_memory() is expected

    @pytest.mark.parametrize(
        ("peak_bytes", "oom", "rss_bytes", "expected"),
        [
            (1 << 29, "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n", 0, False),
            (1 << 30, "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n", 0, True),
            (1 << 30, "oom_kill_disable 0\nunder_oom 1\noom_kill 0\n", 0, True),
            (1 << 30, "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n", (1 << 30) - 4096, True),
            (1 << 30, "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n", 1 << 29, False),
        ],
    )
    def test_v1_out_of_memory(
        self, tmp_path: Path, peak_bytes: int, oom: str, rss_bytes: int, *, expected: bool
    ) -> None:
        """A group is out of memory if it reached its limit and the kernel cannot reclaim enough."""
        parents = {name: tmp_path / name for name in ("memory", "pids", "cpu")}
        for parent in parents.values():
            parent.mkdir()
        group = CgroupHierarchyV1(parents).make("box", LIMITS)
        box = parents["memory"] / SHARED_GROUP / "box"
        (box / "memory.max_usage_in_bytes").write_text(str(peak_bytes))
        (box / "memory.oom_control").write_text(oom)
        (box / "memory.stat").write_text(f"cache 0\nrss {rss_bytes}\nshmem 0\n")
        assert group.is_out_of_memory() is expected

    def test_usage_on_an_old_kernel(self, v2: CgroupHierarchyV2) -> None:
        """Without the files of newer kernels, the peak is None and the counts are 0."""
        group = v2.make("box", LIMITS)
        assert (group.oom_kills(), group.peak_memory_bytes(), group.refused_pids()) == (0, None, 0)

    def test_v2_kills_with_cgroup_kill(self, v2: CgroupHierarchyV2) -> None:
        """cgroup.kill is used if the kernel has it."""
        group = v2.make("box", LIMITS)
        (v2.parent / SHARED_GROUP / "box" / "cgroup.kill").touch()
        group.kill()
        assert (v2.parent / SHARED_GROUP / "box" / "cgroup.kill").read_text() == "1"

    def test_without_cgroup_kill_forks_are_prevented_first(self, v2: CgroupHierarchyV2) -> None:
        """Without cgroup.kill, forks are prevented first, so that a fork bomb cannot escape."""
        group = v2.make("box", LIMITS)
        (v2.parent / SHARED_GROUP / "box" / "cgroup.procs").touch()
        group.kill()
        assert (v2.parent / SHARED_GROUP / "box" / "pids.max").read_text() == "0"

    def test_v2_freezes(self, v2: CgroupHierarchyV2) -> None:
        """A version 2 group is frozen when the kernel reports it, or when it is empty or was thawed."""
        group = v2.make("box", LIMITS)
        assert not group.can_freeze
        freeze_file, events = (
            v2.parent / SHARED_GROUP / "box" / "cgroup.freeze",
            v2.parent / SHARED_GROUP / "box" / "cgroup.events",
        )
        freeze_file.write_text("0")
        group.freeze()
        assert (group.can_freeze, freeze_file.read_text()) == (True, "1")
        events.write_text("populated 1\nfrozen 0\n")
        assert not group._is_settled()
        for settled in ("populated 1\nfrozen 1\n", "populated 0\nfrozen 0\n"):
            events.write_text(settled)
            group.wait_frozen()
        group.thaw()
        events.write_text("populated 1\nfrozen 0\n")
        group.wait_frozen()

    def test_v2_cpu_time(self, v2: CgroupHierarchyV2) -> None:
        """The CPU time of a version 2 group is read from cpu.stat, and its threads from cgroup.threads."""
        group = v2.make("box", LIMITS)
        assert group.cpu_s() is None
        (v2.parent / SHARED_GROUP / "box" / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 7\n")
        (v2.parent / SHARED_GROUP / "box" / "cgroup.threads").write_text("12\n11\n")
        assert (group.cpu_s(), group.tasks()) == (1.5, [11, 12])

    def test_v1_without_a_freezer(self, tmp_path: Path) -> None:
        """Without the hierarchies of the freezer and of CPU accounting, other means are used."""
        parents = {name: tmp_path / name for name in ("memory", "pids", "cpu")}
        for parent in parents.values():
            parent.mkdir()
        group = CgroupHierarchyV1(parents).make("box", LIMITS)
        assert (group.can_freeze, group.cpu_s()) == (False, None)

    def test_join_files(self, v2: CgroupHierarchyV2) -> None:
        """A process joins a version 2 group through one file."""
        assert v2.make("box", LIMITS).join_files == (v2.parent / SHARED_GROUP / "box" / "cgroup.procs",)


class TestDetection:
    """Finding out where groups can be created."""

    def write_proc(self, proc: Path, groups: str, mounts: str) -> Path:
        """Write fake /proc files of a process."""
        proc.mkdir()
        (proc / "cgroup").write_text(groups)
        (proc / "mountinfo").write_text(mounts)
        return proc

    def make_v2(self, tree: Path, path: str, delegated: str) -> Path:
        """Create a group in a fake unified hierarchy."""
        group = tree / path
        group.mkdir(parents=True, exist_ok=True)
        (group / "cgroup.subtree_control").write_text(delegated)
        (group / "cgroup.procs").touch()
        return group

    def test_v2_uses_the_nearest_delegating_group(self, tmp_path: Path) -> None:
        """Our own group has processes and cannot delegate, so boxes are created beside it."""
        tree = tmp_path / "tree"
        self.make_v2(tree, "", "cpu memory pids")
        beside = self.make_v2(tree, "user/app", "memory pids")
        self.make_v2(tree, "user/app/terminal", "")
        mounts = f"30 23 0:26 / {tree} rw shared:4 - cgroup2 cgroup2 rw\n"
        proc = self.write_proc(tmp_path / "proc", "0::/user/app/terminal\n", mounts)
        assert find_hierarchy(proc) == CgroupHierarchyV2(beside)

    def test_v2_without_the_required_controllers(self, tmp_path: Path) -> None:
        """A hierarchy that does not delegate memory and pids is not used."""
        tree = tmp_path / "tree"
        self.make_v2(tree, "", "cpu")
        mounts = f"30 23 0:26 / {tree} rw - cgroup2 cgroup2 rw\n"
        assert find_hierarchy(self.write_proc(tmp_path / "proc", "0::/\n", mounts)) is None

    def test_v1_is_used_beside_an_empty_v2(self, tmp_path: Path) -> None:
        """On a hybrid system the version 1 controllers are used, below our own groups."""
        tree = tmp_path / "tree"
        for path in ("memory/ours", "pids", "cpu,cpuacct", "unified"):
            (tree / path).mkdir(parents=True)
            (tree / path / "cgroup.procs").touch()
        mounts = (
            f"31 30 0:27 / {tree}/memory rw - cgroup cgroup rw,memory\n"
            f"32 30 0:28 / {tree}/pids rw - cgroup cgroup rw,pids\n"
            f"33 30 0:29 / {tree}/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
            f"34 30 0:30 / {tree}/unified rw - cgroup2 cgroup2 rw\n"
        )
        groups = "4:memory:/ours\n3:pids:/\n2:cpu,cpuacct:/elsewhere\n0::/\n"
        hierarchy = find_hierarchy(self.write_proc(tmp_path / "proc", groups, mounts))
        parents = {"memory": tree / "memory/ours", "pids": tree / "pids", "cpu": tree / "cpu,cpuacct"}
        parents["cpuacct"] = parents["cpu"]
        assert hierarchy == CgroupHierarchyV1(parents)

    def test_a_partially_mounted_hierarchy(self, tmp_path: Path) -> None:
        """In a container, our group is found relative to the mounted part of the hierarchy."""
        tree = tmp_path / "tree"
        own = self.make_v2(tree, "inner", "memory pids")
        mounts = f"30 23 0:26 /docker/abc {tree} rw - cgroup2 cgroup2 rw\n"
        proc = self.write_proc(tmp_path / "proc", "0::/docker/abc/inner\n", mounts)
        assert find_hierarchy(proc) == CgroupHierarchyV2(own)

    def test_no_hierarchy(self, tmp_path: Path) -> None:
        """A machine without control groups has no hierarchy."""
        assert find_hierarchy(self.write_proc(tmp_path / "proc", "", "")) is None


def test_groups_are_found_by_owner(v2: CgroupHierarchyV2) -> None:
    """The groups of an owner are found by their prefix."""
    for name in ("warmfront-a-1", "warmfront-a-2", "warmfront-b-1"):
        v2.make(name, LIMITS)
    assert v2.names("warmfront-a-") == ["warmfront-a-1", "warmfront-a-2"]


def test_a_removed_group_can_be_removed_again(v2: CgroupHierarchyV2) -> None:
    """Removing a group twice is not an error."""
    group = v2.make("box", LIMITS)
    shutil.rmtree(v2.parent / SHARED_GROUP / "box")
    group.remove()
    assert v2.names("box") == []


def test_a_weight_counts_for_the_group_and_for_the_group_of_boxes(v2: CgroupHierarchyV2) -> None:
    """Among its siblings the box's own weight counts, and among other processes that of their group."""
    group = v2.make("box", LIMITS)
    shared = v2.parent / SHARED_GROUP
    for directory in (shared, shared / "box"):
        (directory / "cpu.weight").write_text("100")
    group.set_cpu_weight(9000)
    assert (shared / "box" / "cpu.weight").read_text() == "9000"
    assert (shared / "cpu.weight").read_text() == "9000"


def test_a_weight_in_version_1_is_a_number_of_shares(tmp_path: Path) -> None:
    """A weight of 100 is the default of 1024 shares."""
    parents = {name: tmp_path / name for name in ("memory", "pids", "cpu")}
    for parent in parents.values():
        parent.mkdir()
    group = CgroupHierarchyV1(parents).make("box", LIMITS)
    (tmp_path / "cpu" / "box" / "cpu.shares").write_text("1024")
    group.set_cpu_weight(10_000)
    assert (tmp_path / "cpu" / "box" / "cpu.shares").read_text() == "102400"


class TestFindingTheGroupOfAContainer:
    """Finding the group of a container of the host's Docker daemon, in another container."""

    def find(self, tmp_path: Path, group: str, mount_roots: Mapping[str, str]) -> Path | None:
        """Return the group of process 7 if these parts of the unified hierarchy are mounted in `tmp_path`."""
        mounts = "".join(
            f"30 23 0:26 {root} {tmp_path}/{point} rw - cgroup2 cgroup2 rw\n"
            for point, root in mount_roots.items()
        )
        for process, name, content in (("7", "cgroup", f"0::{group}\n"), ("self", "mountinfo", mounts)):
            (tmp_path / "proc" / process).mkdir(parents=True)
            (tmp_path / "proc" / process / name).write_text(content)
        found = find_group(7, "abc", tmp_path / "proc")
        return found.join_files[0].parent if found else None

    @pytest.mark.parametrize("name", ["warmfront-boxes/abc", "warmfrontboxes.slice/docker-abc.scope"])
    @pytest.mark.parametrize("outside", ["", "/../.."])
    def test_a_group_below_the_hosts_mount(self, tmp_path: Path, name: str, outside: str) -> None:
        """A path outside our cgroup namespace is relative to it, and so is the root of the host's mount."""
        (tmp_path / "host" / name).mkdir(parents=True)
        (tmp_path / "own").mkdir()
        found = self.find(tmp_path, f"{outside}/{name}", {"own": "/", "host": outside or "/"})
        assert found == tmp_path / "host" / name

    def test_a_group_that_is_not_mounted(self, tmp_path: Path) -> None:
        """A path that leads out of the mounted part of the hierarchy is not followed."""
        (tmp_path / "boxes/abc").mkdir(parents=True)
        (tmp_path / "own/inner").mkdir(parents=True)
        assert self.find(tmp_path, "/../../boxes/abc", {"own/inner": "/"}) is None

    def test_a_process_of_another_container(self, tmp_path: Path) -> None:
        """A pid refers to another process in another pid namespace, so the name of the cgroup decides."""
        (tmp_path / "host/warmfront-boxes/def").mkdir(parents=True)
        assert self.find(tmp_path, "/warmfront-boxes/def", {"host": "/"}) is None
