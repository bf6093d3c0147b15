"""Control groups on a directory tree that looks like the kernel's: also versions that this machine lacks."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from warmfront.sandbox import cgroup
from warmfront.sandbox.base import SandboxLimits
from warmfront.sandbox.cgroup import CgroupHierarchyV1, CgroupHierarchyV2, find_hierarchy

if TYPE_CHECKING:
    from pathlib import Path

LIMITS = SandboxLimits(
    memory_bytes=1 << 30,
    cpus=1.5,
    pids=64,
    file_bytes=1,
    open_files=1,
    output_bytes=1,
    tmp_bytes=1,
    wall_s=1,
)


@pytest.fixture
def v2(tmp_path: Path) -> CgroupHierarchyV2:
    """A directory that hands three controllers down."""
    (tmp_path / "cgroup.subtree_control").write_text("cpu memory pids\n")
    return CgroupHierarchyV2(tmp_path)


class TestLimits:
    """What is written when a group is made."""

    def test_v2_writes_every_limit(self, v2: CgroupHierarchyV2) -> None:
        """A version 2 group is limited in memory, processes and CPU time."""
        v2.make("box", LIMITS)
        box = v2.parent / "box"
        assert (box / "memory.max").read_text() == str(1 << 30)
        assert (box / "pids.max").read_text() == "64"
        assert (box / "cpu.max").read_text() == "150000 100000"

    def test_v2_without_the_cpu_controller(self, v2: CgroupHierarchyV2) -> None:
        """Where CPU time is not handed down, the other limits are set all the same."""
        (v2.parent / "cgroup.subtree_control").write_text("memory pids\n")
        v2.make("box", LIMITS)
        assert not (v2.parent / "box" / "cpu.max").exists()
        assert (v2.parent / "box" / "pids.max").exists()

    def test_v1_writes_every_limit(self, tmp_path: Path) -> None:
        """A version 1 group is limited in each of its three hierarchies."""
        parents = {name: tmp_path / name for name in ("memory", "pids", "cpu")}
        for parent in parents.values():
            parent.mkdir()
        group = CgroupHierarchyV1(parents).make("box", LIMITS)
        assert (parents["memory"] / "box/memory.limit_in_bytes").read_text() == str(1 << 30)
        assert (parents["pids"] / "box/pids.max").read_text() == "64"
        assert (parents["cpu"] / "box/cpu.cfs_quota_us").read_text() == "150000"
        assert group.join_files == tuple(parent / "box/tasks" for parent in parents.values())

    def test_a_refused_limit_leaves_no_group(
        self, v2: CgroupHierarchyV2, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """When the kernel refuses a limit, the group that was made for it is removed again."""

        def refuse(path: Path, _: object) -> None:
            raise OSError(f"{path.name} is refused")

        monkeypatch.setattr(cgroup, "_write", refuse)
        with pytest.raises(OSError, match="refused"):
            v2.make("box", LIMITS)
        assert v2.names("box") == []


class TestAccounting:
    """What is read from a group, and how it ends."""

    def test_v2_tells_what_was_used(self, v2: CgroupHierarchyV2) -> None:
        """Kills for lack of memory, the peak, and refused forks are read from the group."""
        group = v2.make("box", LIMITS)
        box = v2.parent / "box"
        (box / "memory.events").write_text("low 0\nhigh 0\nmax 7\noom 1\noom_kill 2\n")
        (box / "memory.peak").write_text("12345\n")
        (box / "pids.events").write_text("max 3\n")
        assert (group.oom_kills(), group.peak_memory_bytes(), group.refused_pids()) == (2, 12345, 3)

    def test_an_old_kernel_tells_less(self, v2: CgroupHierarchyV2) -> None:
        """Where the kernel has no file for it, the peak is unknown and nothing was refused."""
        group = v2.make("box", LIMITS)
        assert (group.oom_kills(), group.peak_memory_bytes(), group.refused_pids()) == (0, None, 0)

    def test_v2_kills_all_at_once(self, v2: CgroupHierarchyV2) -> None:
        """Where the kernel can kill a whole group, that is what is asked for."""
        group = v2.make("box", LIMITS)
        (v2.parent / "box" / "cgroup.kill").touch()
        group.kill()
        assert (v2.parent / "box" / "cgroup.kill").read_text() == "1"

    def test_without_cgroup_kill_nothing_new_may_start(self, v2: CgroupHierarchyV2) -> None:
        """Where it cannot, forks are forbidden first, so that a fork bomb cannot outrun the killing."""
        group = v2.make("box", LIMITS)
        (v2.parent / "box" / "cgroup.procs").touch()
        group.kill()
        assert (v2.parent / "box" / "pids.max").read_text() == "0"

    def test_join_files(self, v2: CgroupHierarchyV2) -> None:
        """A process joins a version 2 group by one file."""
        assert v2.make("box", LIMITS).join_files == (v2.parent / "box" / "cgroup.procs",)


class TestDetection:
    """Where groups can be made."""

    def write_proc(self, proc: Path, groups: str, mounts: str) -> Path:
        """What the kernel says of a process."""
        proc.mkdir()
        (proc / "cgroup").write_text(groups)
        (proc / "mountinfo").write_text(mounts)
        return proc

    def make_v2(self, tree: Path, path: str, handed_down: str) -> Path:
        """A group in a fake unified hierarchy."""
        group = tree / path
        group.mkdir(parents=True, exist_ok=True)
        (group / "cgroup.subtree_control").write_text(handed_down)
        (group / "cgroup.procs").touch()
        return group

    def test_v2_takes_the_nearest_that_hands_down(self, tmp_path: Path) -> None:
        """Our own group has processes and hands nothing down, so boxes are made beside it."""
        tree = tmp_path / "tree"
        self.make_v2(tree, "", "cpu memory pids")
        beside = self.make_v2(tree, "user/app", "memory pids")
        self.make_v2(tree, "user/app/terminal", "")
        mounts = f"30 23 0:26 / {tree} rw shared:4 - cgroup2 cgroup2 rw\n"
        proc = self.write_proc(tmp_path / "proc", "0::/user/app/terminal\n", mounts)
        assert find_hierarchy(proc) == CgroupHierarchyV2(beside)

    def test_v2_that_hands_down_too_little(self, tmp_path: Path) -> None:
        """A hierarchy that does not limit memory and processes is not used."""
        tree = tmp_path / "tree"
        self.make_v2(tree, "", "cpu")
        mounts = f"30 23 0:26 / {tree} rw - cgroup2 cgroup2 rw\n"
        assert find_hierarchy(self.write_proc(tmp_path / "proc", "0::/\n", mounts)) is None

    def test_v1_is_used_beside_an_empty_v2(self, tmp_path: Path) -> None:
        """On a hybrid system the controllers are in version 1, and boxes are made under our own groups."""
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
        found = find_hierarchy(self.write_proc(tmp_path / "proc", groups, mounts))
        parents = {"memory": tree / "memory/ours", "pids": tree / "pids", "cpu": tree / "cpu,cpuacct"}
        assert found == CgroupHierarchyV1(parents)

    def test_a_container_sees_its_own_part(self, tmp_path: Path) -> None:
        """Where only a part of the hierarchy is mounted, our group is found relative to that part."""
        tree = tmp_path / "tree"
        own = self.make_v2(tree, "inner", "memory pids")
        mounts = f"30 23 0:26 /docker/abc {tree} rw - cgroup2 cgroup2 rw\n"
        proc = self.write_proc(tmp_path / "proc", "0::/docker/abc/inner\n", mounts)
        assert find_hierarchy(proc) == CgroupHierarchyV2(own)

    def test_no_hierarchy(self, tmp_path: Path) -> None:
        """A machine without control groups has none to use."""
        assert find_hierarchy(self.write_proc(tmp_path / "proc", "", "")) is None


def test_groups_are_found_by_owner(v2: CgroupHierarchyV2) -> None:
    """What a dead owner left is found by the beginning of its name."""
    for name in ("warmfront-a-1", "warmfront-a-2", "warmfront-b-1"):
        v2.make(name, LIMITS)
    assert v2.names("warmfront-a-") == ["warmfront-a-1", "warmfront-a-2"]


def test_a_removed_group_can_be_removed_again(v2: CgroupHierarchyV2) -> None:
    """Removing a group that is gone already is no error."""
    group = v2.make("box", LIMITS)
    shutil.rmtree(v2.parent / "box")
    group.remove()
    assert v2.names("box") == []
