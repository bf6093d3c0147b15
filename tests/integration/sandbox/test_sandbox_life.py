"""How boxes and sandboxes begin and end: made ahead, destroyed early, left behind, chosen."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.support.boxes import LIMITS, Lab, containers_of, lab, nothing_left
from warmfront.errors import NoSandbox, SandboxFailed
from warmfront.sandbox import (
    BUBBLEWRAP,
    DOCKER,
    TRUSTED,
    SandboxAvailability,
    available,
    bwrap_command,
    open_sandbox,
)
from warmfront.sandbox.base import SCRATCH, BoxExit, ExitReason, Mount, Template
from warmfront.sandbox.bubblewrap import Bubblewrap
from warmfront.sandbox.cgroup import find_hierarchy
from warmfront.sandbox.docker import Docker, connect
from warmfront.sandbox.fifo_channel import wait_readable

__all__ = ["lab", "nothing_left"]  # fixtures: pytest finds them by name


class TestLife:
    """Boxes made ahead, destroyed early, and left behind."""

    def test_destroyed_while_it_runs(self, lab: Lab) -> None:
        """A box destroyed by another thread ends whoever waits for it, and says so."""
        with lab.sandbox.take(lab.probe("hold")) as box:
            box.go()
            box.send(b"x")
            assert box.receive(1) == b"x"
            exits: list[BoxExit] = []
            answers: list[bytes] = []
            waiters = [
                threading.Thread(target=lambda: exits.append(box.wait())),
                threading.Thread(target=lambda: answers.append(box.receive(1))),
            ]
            for waiter in waiters:
                waiter.start()
            box.destroy()
            for waiter in waiters:
                waiter.join()
            assert [done.reason for done in exits] == [ExitReason.DESTROYED]
            assert answers == [b""]
            box.destroy()
            box.send(b"x")
            assert not box.folder.exists()

    def test_prepared_boxes_are_started_and_used_once(self, lab: Lab) -> None:
        """A prepared box is running before it is let go, and is given to one taker only."""
        template = lab.probe("echo")
        lab.sandbox.prepare(template)
        with lab.sandbox.take(template) as first, lab.sandbox.take(template) as second:
            assert (first.is_alive(), second.is_alive()) == (True, False)
            assert first.folder != second.folder
            for box in (first, second):
                box.go()
                box.send(b"hello")
                assert box.receive(5) == b"hello"

    def test_a_prepared_box_that_died_is_not_used(self, lab: Lab) -> None:
        """A prepared box whose program is gone is replaced by a new one."""
        template = lab.probe("echo")
        lab.sandbox.prepare(template)
        prepared = lab.sandbox._ready[-1][1].result()
        prepared.end(ExitReason.DESTROYED)
        prepared._finish()
        with lab.sandbox.take(template) as box:
            box.go()
            box.send(b"hello")
            assert box.receive(5) == b"hello"

    def test_a_box_that_was_never_started(self, lab: Lab) -> None:
        """A box that is taken and not let go leaves nothing either."""
        with lab.sandbox.take(lab.probe("echo")) as box:
            assert box.folder.exists()
        assert box.wait().reason is ExitReason.DESTROYED

    def test_a_program_that_does_not_exist(self, lab: Lab) -> None:
        """A program that cannot be started is the sandbox's failure, or has the shell's exit code for it."""
        # Where a program of ours starts it inside (rlimits, or root made the mounts), there is no more.
        try:
            end = lab.run(lab.template(("/no/such/program",)))
        except SandboxFailed as error:
            assert "no/such/program" in error.message  # noqa: PT017 - both ways are right
        else:
            assert lab.kind.startswith("bubblewrap")
            assert end.code == 127

    def test_a_closed_sandbox_makes_no_box(self, lab: Lab, docker_url: str) -> None:
        """Closing destroys what was prepared and not taken, and nothing more is made."""
        sandbox = Docker(url=docker_url) if lab.kind == "docker" else Bubblewrap()
        closing = Lab(lab.kind, sandbox, lab.programs)
        sandbox.prepare(closing.probe("hold"))
        sandbox.prepare(closing.probe("spin"))
        sandbox.close()
        with pytest.raises(SandboxFailed, match="closed"):
            sandbox.take(closing.probe("hold"))
        assert not (sandbox.folders.base / sandbox.folders.owner).exists()
        assert [one for one in lab.leftovers() if sandbox.folders.owner in one] == []


#: Opens a sandbox, starts a box that does not end by itself, says who it is, and waits to be killed.
ABANDON = """
import sys
from pathlib import Path
from warmfront.sandbox import open_sandbox
from warmfront.sandbox.base import SandboxLimits, Template
limits = SandboxLimits(memory_bytes=1 << 27, cpus=1, pids=8, file_bytes=1 << 20, open_files=64,
                output_bytes=1 << 16, tmp_bytes=1 << 20, wall_s=600)
argv = ("/bin/sh", "-c", "while :; do :; done", "abandoned")
sandbox = open_sandbox(sys.argv[1], base=Path(sys.argv[2]), url=sys.argv[3])
box = sandbox.take(Template(name="test", argv=argv, mounts=(), limits=limits))
box.go()
print(sandbox.folders.owner, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("name", [BUBBLEWRAP, DOCKER])
def test_what_a_killed_owner_left_is_removed(name: str, docker_url: str, tmp_path: Path) -> None:
    """The next sandbox removes the folders, cgroups and containers of an owner that was killed."""
    argv = [sys.executable, "-c", ABANDON, name, str(tmp_path), docker_url]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as abandoner:
        assert abandoner.stdout is not None
        owner = abandoner.stdout.readline().strip()
        abandoner.kill()
    assert (tmp_path / owner).exists()
    open_sandbox(name, base=tmp_path, url=docker_url).close()
    hierarchy, api = find_hierarchy(), connect(docker_url)
    assert list(tmp_path.iterdir()) == []
    assert (hierarchy.names(owner) if hierarchy else []) == []
    assert containers_of(api, owner) == []
    api.close()


def test_a_living_owner_is_left_alone(tmp_path: Path) -> None:
    """A second sandbox under the same base does not touch the boxes of the first."""
    template = Template(name="test", argv=("/bin/cat", "commands"), mounts=(), limits=LIMITS)
    with Bubblewrap(base=tmp_path) as first, first.take(template) as box:
        box.go()
        Bubblewrap(base=tmp_path).close()
        assert box.is_alive()
        assert box.folder.exists()


def test_boxes_outlive_the_thread_that_made_them() -> None:
    """A box made by a thread that has ended since is as alive as any."""
    template = Template(name="test", argv=("/bin/cat", "commands"), mounts=(), limits=LIMITS)
    with Bubblewrap() as sandbox, sandbox.take(template) as box:
        maker = threading.Thread(target=box.go)
        maker.start()
        maker.join()
        with pytest.raises(TimeoutError):
            box.receive(1, timeout_s=0.2)


class TestChoice:
    """Which sandbox is opened."""

    def test_bubblewrap_first(self) -> None:
        """Where bubblewrap works it is the one that is opened."""
        with_none = open_sandbox()
        with_none.close()
        assert with_none.name == BUBBLEWRAP

    @pytest.mark.usefixtures("no_bubblewrap")
    def test_docker_where_bubblewrap_is_missing(self, docker_url: str) -> None:
        """Without bubblewrap, Docker is the one."""
        sandbox = open_sandbox(url=docker_url)
        sandbox.close()
        assert sandbox.name == DOCKER

    @pytest.mark.usefixtures("no_bubblewrap")
    def test_nothing_works(self, tmp_path: Path) -> None:
        """With neither, nothing is opened, and the error says what to install."""
        with pytest.raises(NoSandbox, match="bubblewrap is not installed") as caught:
            open_sandbox(url=f"unix://{tmp_path}/no-socket")
        assert caught.value.hint == "apt-get install bubblewrap"

    def test_an_image_that_is_not_there(self, docker_url: str) -> None:
        """An image that the daemon does not have is named, with the line that gets it."""
        with pytest.raises(NoSandbox, match="no-such-image") as caught:
            open_sandbox(DOCKER, image="no-such-image:1", url=docker_url)
        assert caught.value.hint == "docker pull no-such-image:1"

    def test_an_unknown_name(self) -> None:
        """A name that is no sandbox's is refused, never replaced by another."""
        with pytest.raises(NoSandbox, match="chroot"):
            open_sandbox("chroot")

    def test_what_works_here(self, docker_url: str) -> None:
        """Each sandbox says whether it works and how."""
        bubblewrap, docker = available(url=docker_url)
        assert (bubblewrap.works, docker.works) == (True, True)
        assert bubblewrap.detail.startswith("bubblewrap, ")

    @pytest.mark.usefixtures("no_bubblewrap")
    def test_what_does_not_work_here(self, tmp_path: Path) -> None:
        """A sandbox that does not work says why, and what to do about it."""
        found = available(url=f"unix://{tmp_path}/no-socket")
        assert [one.works for one in found] == [False, False]
        assert found[0] == SandboxAvailability(
            name=BUBBLEWRAP,
            works=False,
            detail="bubblewrap does not work here: bubblewrap is not installed.",
            fix="apt-get install bubblewrap",
        )


@pytest.fixture
def no_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without bubblewrap."""
    nothing = bwrap_command.BwrapProbe(modes=(), detail="bubblewrap is not installed.")
    monkeypatch.setattr(bwrap_command, "probe", lambda: nothing)


class TestTrusted:
    """A process with no isolation, behind the same interface."""

    def test_paths_are_those_of_the_host(self, tmp_path: Path) -> None:
        """A program finds its folder and its mounts by the paths that it has inside a box."""
        (tmp_path / "greeting").write_text("hello")
        script = "cat /tools/greeting > /box/out; cat /box/out; pwd"
        template = Template(
            name="test",
            argv=("/bin/sh", "-c", script),
            mounts=(Mount(host=tmp_path, inside="/tools"),),
            limits=LIMITS,
            outputs=("out",),
        )
        sandbox = open_sandbox(TRUSTED)
        with sandbox.take(template) as box:
            box.go()
            done = box.wait()
            assert (done.output.decode(), done.enforced_by) == (f"hello{box.folder}\n", TRUSTED)
        sandbox.close()

    def test_two_trusted_programs_do_not_share_their_scratch(self) -> None:
        """Each finds in TMPDIR a place of its own, which is gone with its box."""
        script = 'cat "$TMPDIR/note" 2>/dev/null; echo mine > "$TMPDIR/note"; echo "$TMPDIR"'
        template = Template(
            name="test", argv=("/bin/sh", "-c", script), mounts=(), limits=LIMITS, env={"TMPDIR": SCRATCH}
        )
        sandbox = open_sandbox(TRUSTED)
        with sandbox.take(template) as one, sandbox.take(template) as other:
            places = []
            for box in (one, other):
                box.go()
                places.append(Path(box.wait().output.decode().strip()))
            assert places == [one.folder / "scratch", other.folder / "scratch"]
            assert all((place / "note").read_text() == "mine\n" for place in places)
        assert not any(place.exists() for place in places)
        sandbox.close()

    def test_a_trusted_process_ends_with_its_children(self) -> None:
        """The wall clock ends a trusted program and what it started."""
        argv = ("/bin/sh", "-c", "(while :; do :; done) & echo $! > answers; wait")
        template = Template(name="test", argv=argv, mounts=(), limits=LIMITS)
        sandbox = open_sandbox(TRUSTED)
        with sandbox.take(template) as box:
            box.go()
            child = os.pidfd_open(int(box.receive(64, timeout_s=60)))
            assert box.wait(timeout_s=0.1).reason is ExitReason.TIMED_OUT
            assert wait_readable(child, deadline=time.monotonic() + 60)
            os.close(child)
        sandbox.close()
