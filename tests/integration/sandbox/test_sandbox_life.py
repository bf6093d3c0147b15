"""The life cycle of boxes, the cleanup of leftovers, and which sandbox is chosen."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.support.boxes import LIMITS, SandboxHarness, containers_of, harness, nothing_left
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

__all__ = ["harness", "nothing_left"]  # fixtures: pytest finds them by name


class TestLife:
    """Prepared boxes, boxes destroyed early, and boxes left behind."""

    def test_destroyed_while_it_runs(self, harness: SandboxHarness) -> None:
        """Destroying a box from another thread wakes up every waiting call, with reason DESTROYED."""
        with harness.sandbox.take(harness.probe("hold")) as box:
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

    def test_prepared_boxes_are_started_and_used_once(self, harness: SandboxHarness) -> None:
        """A prepared box is running before `go`, and is taken only once."""
        template = harness.probe("echo")
        harness.sandbox.prepare(template)
        with harness.sandbox.take(template) as first, harness.sandbox.take(template) as second:
            assert (first.is_alive(), second.is_alive()) == (True, False)
            assert first.folder != second.folder
            for box in (first, second):
                box.go()
                box.send(b"hello")
                assert box.receive(5) == b"hello"

    def test_a_prepared_box_that_ended_is_not_used(self, harness: SandboxHarness) -> None:
        """A prepared box whose program has ended is replaced by a new one."""
        template = harness.probe("echo")
        harness.sandbox.prepare(template)
        prepared = harness.sandbox._ready[-1][1].result()
        prepared.end(ExitReason.DESTROYED)
        prepared._finish()
        with harness.sandbox.take(template) as box:
            box.go()
            box.send(b"hello")
            assert box.receive(5) == b"hello"

    def test_a_box_that_was_never_started(self, harness: SandboxHarness) -> None:
        """A box that was taken but not started leaves nothing behind."""
        with harness.sandbox.take(harness.probe("echo")) as box:
            assert box.folder.exists()
        assert box.wait().reason is ExitReason.DESTROYED

    def test_a_program_that_does_not_exist(self, harness: SandboxHarness) -> None:
        """A program that cannot be started raises `SandboxFailed`, or has the exit code of a shell for it."""
        # If another program starts it inside the box (prlimit or setpriv), only the exit code is available.
        try:
            end = harness.run(harness.template(("/no/such/program",)))
        except SandboxFailed as error:
            assert "no/such/program" in error.message  # noqa: PT017 - both outcomes are correct
        else:
            assert harness.kind.startswith("bubblewrap")
            assert end.code == 127

    def test_a_closed_sandbox_makes_no_box(self, harness: SandboxHarness, docker_url: str) -> None:
        """Closing destroys the prepared boxes, and no more boxes are made."""
        sandbox = Docker(url=docker_url) if harness.kind == "docker" else Bubblewrap()
        closing = SandboxHarness(harness.kind, sandbox, harness.programs)
        sandbox.prepare(closing.probe("hold"))
        sandbox.prepare(closing.probe("spin"))
        sandbox.close()
        with pytest.raises(SandboxFailed, match="closed"):
            sandbox.take(closing.probe("hold"))
        assert not (sandbox.folders.base / sandbox.folders.owner).exists()
        assert [name for name in harness.leftovers() if sandbox.folders.owner in name] == []


#: Opens a sandbox, starts a box that never ends, prints the owner, and waits to be killed.
ABANDON = """
import sys
from pathlib import Path
from warmfront.sandbox import open_sandbox
from warmfront.sandbox.base import SandboxLimits, Template
limits = SandboxLimits(memory_bytes=1 << 27, cpus=1, pids=8, file_bytes=1 << 20, open_files=64,
                output_bytes=1 << 16, tmp_bytes=1 << 20, cpu_s=600, wall_s=600)
argv = ("/bin/sh", "-c", "while :; do :; done", "abandoned")
sandbox = open_sandbox(sys.argv[1], base=Path(sys.argv[2]), url=sys.argv[3])
box = sandbox.take(Template(name="test", argv=argv, mounts=(), limits=limits))
box.go()
print(sandbox.folders.owner, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("name", [BUBBLEWRAP, DOCKER])
def test_leftovers_of_a_killed_owner_are_removed(name: str, docker_url: str, tmp_path: Path) -> None:
    """The next sandbox removes the folders, cgroups and containers of a killed process."""
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


def test_a_running_owner_is_not_touched(tmp_path: Path) -> None:
    """A second sandbox under the same base does not touch the boxes of the first."""
    template = Template(name="test", argv=("/bin/cat", "commands"), mounts=(), limits=LIMITS)
    with Bubblewrap(base=tmp_path) as first, first.take(template) as box:
        box.go()
        Bubblewrap(base=tmp_path).close()
        assert box.is_alive()
        assert box.folder.exists()


def test_boxes_outlive_the_thread_that_made_them() -> None:
    """A box keeps running after the thread that made it has ended."""
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
        """By default bubblewrap is opened if it works."""
        sandbox = open_sandbox()
        sandbox.close()
        assert sandbox.name == BUBBLEWRAP

    @pytest.mark.usefixtures("no_bubblewrap")
    def test_docker_where_bubblewrap_is_missing(self, docker_url: str) -> None:
        """Without bubblewrap, Docker is opened."""
        sandbox = open_sandbox(url=docker_url)
        sandbox.close()
        assert sandbox.name == DOCKER

    @pytest.mark.usefixtures("no_bubblewrap")
    def test_nothing_works(self, tmp_path: Path) -> None:
        """If neither works, opening fails and the hint says what to install."""
        with pytest.raises(NoSandbox, match="bubblewrap is not installed") as caught:
            open_sandbox(url=f"unix://{tmp_path}/no-socket")
        assert caught.value.hint == "apt-get install bubblewrap"

    def test_a_missing_image(self, docker_url: str) -> None:
        """The error names the missing image, and the hint is the command that pulls it."""
        with pytest.raises(NoSandbox, match="no-such-image") as caught:
            open_sandbox(DOCKER, image="no-such-image:1", url=docker_url)
        assert caught.value.hint == "docker pull no-such-image:1"

    def test_an_unknown_name(self) -> None:
        """An unknown name is an error; there is no fallback."""
        with pytest.raises(NoSandbox, match="chroot"):
            open_sandbox("chroot")

    def test_available_sandboxes(self, docker_url: str) -> None:
        """`available` reports for each sandbox whether it works, and how it isolates."""
        bubblewrap, docker = available(url=docker_url)
        assert (bubblewrap.works, docker.works) == (True, True)
        assert bubblewrap.detail.startswith("bubblewrap, ")

    @pytest.mark.usefixtures("no_bubblewrap")
    def test_unavailable_sandboxes(self, tmp_path: Path) -> None:
        """`available` reports why a sandbox does not work, and what to install."""
        sandboxes = available(url=f"unix://{tmp_path}/no-socket")
        assert [sandbox.works for sandbox in sandboxes] == [False, False]
        assert sandboxes[0] == SandboxAvailability(
            name=BUBBLEWRAP,
            works=False,
            detail="bubblewrap does not work on this machine: bubblewrap is not installed.",
            fix="apt-get install bubblewrap",
        )


@pytest.fixture
def no_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that bubblewrap is not installed."""
    nothing = bwrap_command.BwrapProbe(mode=None, detail="bubblewrap is not installed.")
    monkeypatch.setattr(bwrap_command, "probe", lambda: nothing)


class TestTrusted:
    """A process without isolation, behind the same interface."""

    def test_paths_are_translated_to_the_host(self, tmp_path: Path) -> None:
        """A program finds its folder and mounts by the paths that they have inside a box."""
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
        """Each has its own TMPDIR, which is removed with its box."""
        script = 'cat "$TMPDIR/note" 2>/dev/null; echo mine > "$TMPDIR/note"; echo "$TMPDIR"'
        template = Template(
            name="test", argv=("/bin/sh", "-c", script), mounts=(), limits=LIMITS, env={"TMPDIR": SCRATCH}
        )
        sandbox = open_sandbox(TRUSTED)
        with sandbox.take(template) as first, sandbox.take(template) as second:
            directories = []
            for box in (first, second):
                box.go()
                directories.append(Path(box.wait().output.decode().strip()))
            assert directories == [first.folder / "scratch", second.folder / "scratch"]
            assert all((directory / "note").read_text() == "mine\n" for directory in directories)
        assert not any(directory.exists() for directory in directories)
        sandbox.close()

    def test_a_trusted_process_ends_with_its_children(self) -> None:
        """A trusted program and its children are killed at the time limit."""
        argv = ("/bin/sh", "-c", "(while :; do :; done) & echo $! > answers; wait")
        template = Template(name="test", argv=argv, mounts=(), limits=LIMITS)
        sandbox = open_sandbox(TRUSTED)
        with sandbox.take(template) as box:
            box.go()
            child = os.pidfd_open(int(box.receive(64, timeout_s=600)))
            assert box.wait(timeout_s=0.1).reason is ExitReason.TIMED_OUT
            assert wait_readable(child, deadline=time.monotonic() + 60)
            os.close(child)
        sandbox.close()
