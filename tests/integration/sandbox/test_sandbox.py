"""Every sandbox against a program that tries what a box must stop: bubblewrap in three ways, and Docker."""

from __future__ import annotations

import os
import signal
import socket
import sys
from pathlib import Path

import pytest

from tests.support.boxes import MIB, Lab, lab, nothing_left
from warmfront.sandbox import seccomp
from warmfront.sandbox.base import ExitReason
from warmfront.sandbox.box_folders import NOBODY
from warmfront.sandbox.cgroup import find_hierarchy

__all__ = ["lab", "nothing_left"]  # fixtures: pytest finds them by name

#: For a program that never ends by itself.
SHORT_S = 0.5


class TestChannel:
    """The private channel."""

    def test_hello(self, lab: Lab) -> None:
        """What is sent comes back, and then the program has ended well."""
        with lab.sandbox.take(lab.probe("echo")) as box:
            box.go()
            box.send(b"hello")
            assert box.receive(5) == b"hello"
            assert box.wait().code == 0

    def test_a_program_that_ends_without_an_answer(self, lab: Lab) -> None:
        """Fewer bytes than asked for mean that the program is gone."""
        with lab.sandbox.take(lab.probe("exit", "3")) as box:
            box.go()
            assert box.receive(1) == b""
            assert box.wait().code == 3

    def test_a_program_that_does_not_read(self, lab: Lab) -> None:
        """Sending more than fits to a program that does not read ends with the wall clock."""
        with lab.sandbox.take(lab.probe("spin", wall_s=SHORT_S)) as box:
            box.go()
            box.send(bytes(8 * MIB))
            assert box.receive(1) == b""
            assert box.wait().reason is ExitReason.TIMED_OUT

    def test_a_program_that_answers_for_ever(self, lab: Lab) -> None:
        """Of a program that never stops writing, exactly what was asked for is read."""
        with lab.sandbox.take(lab.probe("answer-for-ever")) as box:
            box.go()
            assert box.receive(3 * MIB) == bytes(3 * MIB)

    def test_a_call_with_a_limit_of_its_own(self, lab: Lab) -> None:
        """A program that is slower than the caller's patience is told from one that has ended."""
        with lab.sandbox.take(lab.probe("spin")) as box:
            box.go()
            with pytest.raises(TimeoutError):
                box.receive(1, timeout_s=0.01)
            assert box.wait(timeout_s=0.01).reason is ExitReason.TIMED_OUT

    def test_the_box_has_no_clock_before_it_goes(self, lab: Lab) -> None:
        """Waiting for a box that was never let go is a mistake, and is told so instead of waiting."""
        lab.sandbox.prepare(template := lab.probe("hold"))
        with lab.sandbox.take(template) as box, pytest.raises(RuntimeError, match="go"):
            box.receive(1)


class TestView:
    """What a program sees, and who it is."""

    def test_the_root_is_read_only(self, lab: Lab) -> None:
        """Nothing can be written but in /tmp and /dev/shm."""
        places = "/ /usr /etc /dev /box /proc /bin /lib"
        script = (
            f"for place in {places} /tmp /dev/shm; do touch $place/x 2>/dev/null && echo $place; done; true"
        )
        assert lab.says(lab.shell(script)) == ["/tmp", "/dev/shm"]  # noqa: S108  those of the box

    def test_the_folder_is_read_only_but_for_outputs(self, lab: Lab) -> None:
        """A program writes into its output and into no other file of its folder."""
        script = "echo out > out; echo in > in; rm -f in out; mv out other; echo new > new; cat in"
        template = lab.template(("/bin/sh", "-c", script), may_fork=True, outputs=("out",))
        with lab.sandbox.take(template) as box:
            (box.folder / "in").write_text("job")
            (box.folder / "in").chmod(0o600)
            box.go()
            assert box.wait().output.count(b"job") == 1
            assert (box.folder / "out").read_text() == "out\n"
            assert (box.folder / "in").read_text() == "job"
            assert {path.name for path in box.folder.iterdir()} == {"in", "out", "commands", "answers"}

    def test_no_network(self, lab: Lab) -> None:
        """A listener on the host's loopback is neither reached nor seen."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(0)
            port = listener.getsockname()[1]
            script = f"exec 3<>/dev/tcp/127.0.0.1/{port}; cat /proc/net/tcp; ls /sys/class/net 2>/dev/null"
            done = lab.run(lab.template(("/bin/bash", "-c", script), may_fork=True))
            assert b"Operation not permitted" in done.output
            assert f":{port:04X} ".encode() not in done.output
            with pytest.raises(BlockingIOError):
                listener.accept()

    def test_no_other_files(self, lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A secret in the temp directory, in a home, or in /etc is not there."""
        monkeypatch.setenv("HOME", str(tmp_path))
        secret = tmp_path / "secret"
        secret.write_text("secret")
        hidden = f"{secret} {Path(__file__)} /root /home /etc/passwd /etc/shadow /var /run /opt /srv"
        assert (
            lab.says(lab.shell(f'for path in {hidden}; do test -e "$path" && echo "$path"; done; true')) == []
        )

    def test_no_foreign_process(self, lab: Lab) -> None:
        """/proc shows the box's own processes and no other."""
        lines = lab.says(
            lab.shell("cat /proc/[0-9]*/cmdline | tr '\\0' ' '; echo; ls -d /proc/[0-9]* | wc -l")
        )
        assert sys.executable not in lines[0]
        assert int(lines[-1]) <= 6

    def test_the_environment_is_the_templates(self, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
        """Nothing of our own environment enters a box."""
        monkeypatch.setenv("WARMFRONT_TOKEN", "secret")
        template = lab.template(("/usr/bin/env",), env={"COLOUR": "blue"})
        environment = dict(line.split("=", 1) for line in lab.says(template))
        assert environment.pop("COLOUR") == "blue"
        # What Docker and bubblewrap add by themselves; all the same in every box.
        assert set(environment) <= {"PATH", "HOSTNAME", "HOME", "PWD"}
        assert environment.get("HOSTNAME", "box") == "box"

    def test_nobody_without_privilege(self, lab: Lab) -> None:
        """The program is nobody, has no capability and can get none, and is under a filter."""
        lines = lab.says(lab.shell("cat /proc/self/status"))
        status = {key: value.split() for key, _, value in (line.partition(":") for line in lines)}
        assert set(status["Uid"] + status["Gid"]) == {str(NOBODY)}
        for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            assert int(status[name][0], 16) == 0, name
        assert (status["NoNewPrivs"], status["Seccomp"]) == (["1"], ["2"])

    def test_nobody_on_the_host_too(self, lab: Lab) -> None:
        """Seen from the host, no process of the box is root's."""
        with lab.sandbox.take(lab.probe("hold")) as box:
            box.go()
            box.send(b"x")
            assert box.receive(1) == b"x"
            (pid,) = lab.running()
            assert Path(f"/proc/{pid}").stat().st_uid == NOBODY

    def test_no_inherited_descriptor(self, lab: Lab) -> None:
        """A program is born with stdin, stdout and stderr, and nothing else open."""
        template = lab.template(("/bin/ls", "/proc/self/fd"))
        assert lab.says(template) == ["0", "1", "2", "3"]  # the last is the directory being listed


class TestLimits:
    """What ends a program, or stops it."""

    def test_memory(self, lab: Lab) -> None:
        """A program that takes ever more memory is ended for that reason."""
        assert lab.run(lab.probe("hog")).reason is ExitReason.MEMORY

    def test_memory_of_a_child(self, lab: Lab) -> None:
        """It is the memory of all processes that counts, even if the first one ends well."""
        if lab.kind == "bubblewrap-rlimits":
            assert lab.run(lab.probe("hog-in-child", may_fork=True)).enforced_by == "bubblewrap, rlimits"
        else:
            assert lab.run(lab.probe("hog-in-child", may_fork=True)).reason is ExitReason.MEMORY

    def test_fork_bomb(self, lab: Lab) -> None:
        """A fork bomb is held to its processes, ended, and leaves nothing."""
        with lab.sandbox.take(lab.probe("fork-for-ever", may_fork=True)) as box:
            box.go()
            box.send(b"x")
            assert box.receive(1) == b"x"
            assert len(lab.running()) <= lab.limits.pids
            assert box.wait(timeout_s=SHORT_S).reason is ExitReason.TIMED_OUT
            assert lab.running() == []

    def test_a_child_left_behind(self, lab: Lab) -> None:
        """When the program ends, so does all that it started."""
        with lab.sandbox.take(lab.probe("leave-child", may_fork=True)) as box:
            box.go()
            box.send(b"x")
            assert box.wait().code == 0
            assert lab.running() == []

    def test_endless_loop(self, lab: Lab) -> None:
        """The wall clock ends a program that does not."""
        assert lab.run(lab.probe("spin", wall_s=SHORT_S)).reason is ExitReason.TIMED_OUT

    def test_output(self, lab: Lab) -> None:
        """A program that prints without end is ended; what it may print is kept, and no more."""
        done = lab.run(lab.probe("flood", output_bytes=100_000))
        assert done.reason is ExitReason.OUTPUT
        assert done.output == b"x" * 100_000

    def test_output_within_its_limit(self, lab: Lab) -> None:
        """What a program prints is kept whole, to stdout and stderr alike."""
        done = lab.run(lab.shell("echo one; echo two >&2; exit 4"))
        assert (sorted(done.output.split()), done.code) == ([b"one", b"two"], 4)

    def test_size_of_tmp(self, lab: Lab) -> None:
        """The box's own temp directory is full at its size."""
        (line,) = lab.says(lab.probe("fill", "/tmp/file", str(4 * MIB)))  # noqa: S108  that of the box
        assert line == f"{2 * MIB} ENOSPC"

    def test_size_of_a_file(self, lab: Lab) -> None:
        """A file grows to its limit and not further, as the host sees too."""
        template = lab.probe("fill", "out", str(4 * MIB), outputs=("out",), file_bytes=MIB)
        with lab.sandbox.take(template) as box:
            box.go()
            assert box.wait().output == f"{MIB} EFBIG\n".encode()
            assert (box.folder / "out").stat().st_size == MIB

    def test_open_files(self, lab: Lab) -> None:
        """A process can hold as many files open as allowed."""
        (line,) = lab.says(lab.probe("open-many", open_files=20))
        count, error = line.split()
        assert error == "EMFILE"
        assert int(count) <= 20

    def test_a_crash_is_told_as_its_signal(self, lab: Lab) -> None:
        """A program that crashes ends by the signal of its crash, with no limit to blame."""
        done = lab.run(lab.probe("crash"))
        assert (done.reason, done.signal) == (ExitReason.SIGNALED, signal.SIGSEGV)

    def test_what_enforces_the_limits_is_told(self, lab: Lab) -> None:
        """A result says what held the program."""
        hierarchy = find_hierarchy()
        cgroup = f"bubblewrap, cgroup {hierarchy.version}" if hierarchy else "bubblewrap, rlimits"
        expected = {"docker": "docker", "bubblewrap-rlimits": "bubblewrap, rlimits"}.get(lab.kind, cgroup)
        assert lab.run(lab.probe("nothing")).enforced_by == expected


class TestFilter:
    """The filter of system calls, in the kernel."""

    def test_denied_calls(self, lab: Lab) -> None:
        """Every call of the table fails with the error of its row."""
        column = seccomp.host_architecture().column
        rows = [
            (numbers[column], denial.errno)
            for denial in seccomp.denials(may_fork=False)
            if not denial.when
            for numbers in denial.calls.values()
            if numbers[column] is not None
        ]
        said = lab.says(lab.probe("call", *(str(number) for number, _ in rows)))
        names = {1: "EPERM", 38: "ENOSYS"}
        assert said == [f"{number} {names[error]}" for number, error in rows]

    def test_threads_but_no_processes(self, lab: Lab) -> None:
        """A program that may not fork makes threads, and one that may makes both."""
        assert lab.says(lab.probe("thread-and-fork")) == ["thread 0", "fork EPERM"]
        assert lab.says(lab.probe("thread-and-fork", may_fork=True)) == ["thread 0", "fork 0"]

    def test_no_namespaces(self, lab: Lab) -> None:
        """Clone with the flag of a new user namespace, which needs no privilege, is denied."""
        assert lab.says(lab.probe("clone", "0x10000000", may_fork=True)) == ["EPERM"]
        assert lab.says(lab.probe("clone", "0", may_fork=True)) == ["0"]

    @pytest.mark.parametrize("abi", ["i386", "x32"] if os.uname().machine == "x86_64" else [])
    def test_another_architecture(self, lab: Lab, abi: str) -> None:
        """A call by the numbers of another architecture ends the program."""
        assert lab.run(lab.probe(abi)).signal == signal.SIGSYS
