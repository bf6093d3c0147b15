"""Isolation and limits of every sandbox, tested with a hostile program."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from pathlib import Path

import pytest

from tests.support.boxes import MIB, SandboxHarness, harness, nothing_left
from warmfront.sandbox import seccomp
from warmfront.sandbox.base import ExitReason, machine_memory_bytes
from warmfront.sandbox.box import UNPRIVILEGED_ID
from warmfront.sandbox.cgroup import ControlGroup, find_hierarchy, is_shared_group
from warmfront.sandbox.syscalls import PROBED

__all__ = ["harness", "nothing_left"]  # fixtures: pytest finds them by name

#: Time limit for a program that never ends.
SHORT_S = 0.5


class TestChannel:
    """The private channel between the judge and the program."""

    def test_echo(self, harness: SandboxHarness) -> None:
        """A program returns the text that it was sent, and exits with code 0."""
        with harness.sandbox.take(harness.probe("echo")) as box:
            box.go()
            box.send(b"hello")
            assert box.receive(5) == b"hello"
            assert box.wait().code == 0

    def test_a_program_that_ends_without_an_answer(self, harness: SandboxHarness) -> None:
        """`receive` returns fewer bytes if the program has ended."""
        with harness.sandbox.take(harness.probe("exit", "3")) as box:
            box.go()
            assert box.receive(1) == b""
            assert box.wait().code == 3

    def test_a_program_that_does_not_read(self, harness: SandboxHarness) -> None:
        """`send` to a program that does not read ends at the time limit."""
        with harness.sandbox.take(harness.probe("spin", cpu_s=SHORT_S)) as box:
            box.go()
            box.send(bytes(8 * MIB))
            assert box.receive(1) == b""
            assert box.wait().reason is ExitReason.TIMED_OUT

    def test_a_program_that_never_stops_answering(self, harness: SandboxHarness) -> None:
        """`receive` reads exactly the requested size from a program that never stops writing."""
        with harness.sandbox.take(harness.probe("answer-endlessly")) as box:
            box.go()
            assert box.receive(3 * MIB) == bytes(3 * MIB)

    def test_a_call_with_a_timeout(self, harness: SandboxHarness) -> None:
        """A timeout of `receive` is distinguished from the end of the program."""
        with harness.sandbox.take(harness.probe("spin")) as box:
            box.go()
            with pytest.raises(TimeoutError):
                box.receive(1, timeout_s=0.01)
            assert box.wait(timeout_s=0.01).reason is ExitReason.TIMED_OUT

    def test_receive_before_go_is_an_error(self, harness: SandboxHarness) -> None:
        """Waiting for a box before `go` raises an error instead of blocking."""
        harness.sandbox.prepare(template := harness.probe("hold"))
        with harness.sandbox.take(template) as box, pytest.raises(RuntimeError, match="go"):
            box.receive(1)


class TestView:
    """The file system, processes and privileges that a program sees."""

    def test_the_root_is_read_only(self, harness: SandboxHarness) -> None:
        """Only /tmp and /dev/shm are writable."""
        places = "/ /usr /etc /dev /box /proc /bin /lib"
        script = (
            f"for place in {places} /tmp /dev/shm; do touch $place/x 2>/dev/null && echo $place; done; true"
        )
        assert harness.lines(harness.shell(script)) == ["/tmp", "/dev/shm"]  # noqa: S108 - inside the box

    def test_only_outputs_are_writable_in_the_folder(self, harness: SandboxHarness) -> None:
        """A program can write to its outputs and to no other file of its folder."""
        script = "echo out > out; echo in > in; rm -f in out; mv out other; echo new > new; cat in"
        template = harness.template(("/bin/sh", "-c", script), may_fork=True, outputs=("out",))
        with harness.sandbox.take(template) as box:
            (box.folder / "in").write_text("job")
            (box.folder / "in").chmod(0o600)
            box.go()
            assert box.wait().output.count(b"job") == 1
            assert (box.folder / "out").read_text() == "out\n"
            assert (box.folder / "in").read_text() == "job"
            assert {path.name for path in box.folder.iterdir()} == {"in", "out", "commands", "answers"}

    def test_no_network(self, harness: SandboxHarness) -> None:
        """A socket that listens on the host's loopback is neither reachable nor visible."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(0)
            port = listener.getsockname()[1]
            script = f"exec 3<>/dev/tcp/127.0.0.1/{port}; cat /proc/net/tcp; ls /sys/class/net 2>/dev/null"
            done = harness.run(harness.template(("/bin/bash", "-c", script), may_fork=True))
            assert b"Operation not permitted" in done.output
            assert f":{port:04X} ".encode() not in done.output
            with pytest.raises(BlockingIOError):
                listener.accept()

    def test_no_other_files(
        self, harness: SandboxHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Files in the temporary directory, in home directories and in /etc are not visible."""
        monkeypatch.setenv("HOME", str(tmp_path))
        secret = tmp_path / "secret"
        secret.write_text("secret")
        hidden = f"{secret} {Path(__file__)} /root /home /etc/passwd /etc/shadow /var /run /opt /srv"
        assert (
            harness.lines(
                harness.shell(f'for path in {hidden}; do test -e "$path" && echo "$path"; done; true')
            )
            == []
        )

    def test_no_foreign_process(self, harness: SandboxHarness) -> None:
        """/proc shows only the processes of the box."""
        lines = harness.lines(
            harness.shell("cat /proc/[0-9]*/cmdline | tr '\\0' ' '; echo; ls -d /proc/[0-9]* | wc -l")
        )
        assert sys.executable not in lines[0]
        assert int(lines[-1]) <= 6

    def test_the_memory_of_process_1_is_not_writable(self, harness: SandboxHarness) -> None:
        """No file of /proc gives access to the memory of process 1, which may be the sandbox's own."""
        script = """
        for file in /proc/1/mem /proc/1/task/1/mem; do
            # A null device may be mounted there.
            ( : <>$file ) 2>/dev/null && [ "$(stat -c %t:%T $file)" != 1:3 ] && echo "$file is writable"
        done
        true
        """
        assert harness.run(harness.shell(script)).output == b""

    def test_the_environment_is_the_templates(
        self, harness: SandboxHarness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A box does not inherit our environment."""
        monkeypatch.setenv("WARMFRONT_TOKEN", "secret")
        template = harness.template(("/usr/bin/env",), env={"COLOR": "blue"})
        environment = dict(line.split("=", 1) for line in harness.lines(template))
        assert environment.pop("COLOR") == "blue"
        # Docker and bubblewrap add these; they are equal in every box.
        assert set(environment) <= {"PATH", "HOSTNAME", "HOME", "PWD"}
        assert environment.get("HOSTNAME", "box") == "box"

    def test_the_program_is_unprivileged(self, harness: SandboxHarness) -> None:
        """The program runs as `nobody`, without capabilities, with no_new_privs and a seccomp filter."""
        lines = harness.lines(harness.shell("cat /proc/self/status"))
        status = {key: value.split() for key, _, value in (line.partition(":") for line in lines)}
        assert set(status["Uid"] + status["Gid"]) == {str(UNPRIVILEGED_ID)}
        for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            assert int(status[name][0], 16) == 0, name
        assert (status["NoNewPrivs"], status["Seccomp"]) == (["1"], ["2"])

    @pytest.mark.root
    def test_the_program_is_unprivileged_on_the_host(self, harness: SandboxHarness) -> None:
        """On the host, no process of the box belongs to root."""
        with harness.sandbox.take(harness.probe("hold")) as box:
            box.go()
            box.send(b"x")
            assert box.receive(1) == b"x"
            (pid,) = harness.running()
            assert Path(f"/proc/{pid}").stat().st_uid == UNPRIVILEGED_ID

    def test_no_inherited_descriptor(self, harness: SandboxHarness) -> None:
        """A program starts with stdin, stdout and stderr, and no other open descriptor."""
        template = harness.template(("/bin/ls", "/proc/self/fd"))
        assert harness.lines(template) == ["0", "1", "2", "3"]  # 3 is the directory that ls reads


class TestLimits:
    """Resource limits."""

    def test_memory(self, harness: SandboxHarness) -> None:
        """A program that exceeds the memory limit is killed with that reason."""
        assert harness.run(harness.probe("hog")).reason is ExitReason.MEMORY

    def test_hidden_memory(self, harness: SandboxHarness) -> None:
        """Shared memory that is mapped nowhere counts too."""
        assert harness.run(harness.probe("hoard")).reason is ExitReason.MEMORY

    @pytest.mark.cgroup
    def test_memory_when_the_time_is_up_first(
        self, harness: SandboxHarness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A box that is out of memory when its time limit kills it ends with that reason."""
        monkeypatch.setattr("warmfront.sandbox.cgroup.ControlGroupV1.is_out_of_memory", lambda _: True)
        monkeypatch.setattr("warmfront.sandbox.cgroup.ControlGroupV2.is_out_of_memory", lambda _: True)
        expected = ExitReason.TIMED_OUT if harness.kind == "bubblewrap-rlimits" else ExitReason.MEMORY
        assert harness.run(harness.probe("spin", cpu_s=0.01)).reason is expected

    def test_a_box_is_the_first_victim(self, harness: SandboxHarness) -> None:
        """If the machine runs out of memory, the kernel ends boxes before anything else."""
        assert harness.lines(harness.shell("cat /proc/self/oom_score_adj")) == ["1000"]

    @pytest.mark.cgroup
    def test_all_boxes_share_a_memory_limit(self, harness: SandboxHarness) -> None:
        """The groups of the boxes are in one group, which has a memory limit below the machine's memory."""
        with harness.sandbox.take(harness.probe("hold")) as box:
            box.go()
            group = getattr(box, "_group", None)
            if harness.kind == "bubblewrap-rlimits":
                assert group is None
                return
            assert isinstance(group, ControlGroup)
            shared = group._directories["memory"].parent
            assert is_shared_group(shared)
            limit = shared / ("memory.limit_in_bytes" if group.version == "v1" else "memory.max")
            assert 0 < int(limit.read_text()) < machine_memory_bytes()

    @pytest.mark.cgroup
    def test_memory_of_a_child(self, harness: SandboxHarness) -> None:
        """The memory of all processes counts, even if the first process exits with code 0."""
        if harness.kind == "bubblewrap-rlimits":
            assert (
                harness.run(harness.probe("hog-in-child", may_fork=True)).enforced_by == "bubblewrap, rlimits"
            )
        else:
            assert harness.run(harness.probe("hog-in-child", may_fork=True)).reason is ExitReason.MEMORY

    def test_fork_bomb(self, harness: SandboxHarness) -> None:
        """A fork bomb cannot exceed the process limit, is killed, and leaves nothing behind."""
        with harness.sandbox.take(harness.probe("fork-endlessly", may_fork=True)) as box:
            box.go()
            box.send(b"x")
            assert box.receive(1) == b"x"
            assert len(harness.running()) <= harness.limits.pids
            assert box.wait(timeout_s=SHORT_S).reason is ExitReason.TIMED_OUT
            assert harness.running() == []

    def test_a_child_left_behind(self, harness: SandboxHarness) -> None:
        """When the program ends, its child processes are killed."""
        with harness.sandbox.take(harness.probe("leave-child", may_fork=True)) as box:
            box.go()
            box.send(b"x")
            assert box.wait().code == 0
            assert harness.running() == []

    def test_endless_loop(self, harness: SandboxHarness) -> None:
        """A program in an endless loop is killed when its CPU time is used up."""
        with harness.sandbox.take(harness.probe("spin", cpu_s=SHORT_S)) as box:
            box.go()
            assert box.wait().reason is ExitReason.TIMED_OUT
            assert box.usage().cpu_s >= SHORT_S

    def test_a_program_without_a_cpu_is_not_charged(self, harness: SandboxHarness) -> None:
        """A program that gets a tenth of a CPU is not killed before it has used its CPU time."""
        with harness.sandbox.take(harness.probe("spin", cpu_s=0.15, cpus=0.1)) as box:
            box.go()
            start_s = box.usage().cpu_s
            assert box.wait().reason is ExitReason.TIMED_OUT
            assert box.usage().cpu_s - start_s > 0.1

    @pytest.mark.parametrize("script", ["read line < commands", "while :; do sleep 0.02; done"])
    def test_a_blocked_program(self, harness: SandboxHarness, script: str) -> None:
        """A program that mostly sleeps is killed after its limit, not at the backstop."""
        done = harness.run(harness.shell(script, cpu_s=SHORT_S))
        assert done.reason is ExitReason.TIMED_OUT

    def test_a_program_that_the_judge_does_not_wait_for(self, harness: SandboxHarness) -> None:
        """A program is not charged for the time in which it waits for the judge."""
        with harness.sandbox.take(harness.probe("echo", cpu_s=0.2)) as box:
            box.go()
            time.sleep(0.5)
            box.send(b"hello")
            assert box.receive(5) == b"hello"

    def test_the_backstop(self, harness: SandboxHarness) -> None:
        """The wall clock limit applies whatever the program does."""
        assert harness.run(harness.probe("spin", wall_s=SHORT_S)).reason is ExitReason.TIMED_OUT

    @pytest.mark.parametrize("program", ["spin", "hold"])
    def test_a_call_with_a_limit_on_used_time(self, harness: SandboxHarness, program: str) -> None:
        """A call ends when the box has used that much time during it; the program continues."""
        with harness.sandbox.take(harness.probe(program)) as box:
            box.go()
            for _ in range(2):
                with pytest.raises(TimeoutError):
                    box.receive(1, cpu_timeout_s=0.1)
            assert box.wait(cpu_timeout_s=0.1).reason is ExitReason.TIMED_OUT

    def test_a_box_stays_on_its_cpus(self, harness: SandboxHarness) -> None:
        """Every process runs on the box's set of CPUs; with a cgroup it cannot leave them."""
        cpus = sorted(os.sched_getaffinity(0))
        every, own = ",".join(map(str, cpus)), cpus[-1]
        script = f"""
        grep Cpus_allowed_list /proc/self/status
        taskset -pc {every} $$ >/dev/null 2>&1
        grep Cpus_allowed_list /proc/self/status
        """
        at_start, later = (line.split()[1] for line in harness.lines(harness.shell(script, cpu_set=(own,))))
        assert at_start == str(own)
        if harness.kind == "docker" or (harness.kind != "bubblewrap-rlimits" and find_hierarchy()):
            assert later == str(own)

    def test_output(self, harness: SandboxHarness) -> None:
        """A program that exceeds the output limit is killed, and its output is truncated at the limit."""
        done = harness.run(harness.probe("flood", output_bytes=100_000))
        assert done.reason is ExitReason.OUTPUT
        assert done.output == b"x" * 100_000

    def test_output_within_its_limit(self, harness: SandboxHarness) -> None:
        """Output to stdout and stderr is complete."""
        done = harness.run(harness.shell("echo one; echo two >&2; exit 4"))
        assert (sorted(done.output.split()), done.code) == ([b"one", b"two"], 4)

    def test_size_of_tmp(self, harness: SandboxHarness) -> None:
        """The box's /tmp is limited in size."""
        (line,) = harness.lines(harness.probe("fill", "/tmp/file", str(4 * MIB)))  # noqa: S108 - inside the box
        assert line == f"{2 * MIB} ENOSPC"

    def test_size_of_a_file(self, harness: SandboxHarness) -> None:
        """A file cannot grow beyond its limit, as seen from the host as well."""
        template = harness.probe("fill", "out", str(4 * MIB), outputs=("out",), file_bytes=MIB)
        with harness.sandbox.take(template) as box:
            box.go()
            assert box.wait().output == f"{MIB} EFBIG\n".encode()
            assert (box.folder / "out").stat().st_size == MIB

    def test_open_files(self, harness: SandboxHarness) -> None:
        """A process cannot open more files than its limit."""
        (line,) = harness.lines(harness.probe("open-many", open_files=20))
        count, error = line.split()
        assert error == "EMFILE"
        assert int(count) <= 20

    def test_a_crash_is_reported_with_its_signal(self, harness: SandboxHarness) -> None:
        """A program that crashes ends with SIGNALED and the number of the signal."""
        done = harness.run(harness.probe("crash"))
        assert (done.reason, done.signal) == (ExitReason.SIGNALED, signal.SIGSEGV)

    def test_the_enforcing_mechanism_is_reported(self, harness: SandboxHarness) -> None:
        """`enforced_by` names the mechanism that enforced the limits."""
        hierarchy = find_hierarchy()
        cgroup = f"bubblewrap, cgroup {hierarchy.version}" if hierarchy else "bubblewrap, rlimits"
        expected = {"docker": "docker", "bubblewrap-rlimits": "bubblewrap, rlimits"}.get(harness.kind, cgroup)
        assert harness.run(harness.probe("nothing")).enforced_by == expected


class TestFilter:
    """The system call filter, as the kernel applies it."""

    def test_denied_calls(self, harness: SandboxHarness) -> None:
        """Every call outside the table fails: most with EPERM, those that libraries probe with ENOSYS."""
        column = seccomp.host_architecture().column
        table = seccomp.allowances(may_fork=False)
        known = {numbers[column] for row in table for numbers in row.calls.values()}
        probed = {numbers[column] for numbers in PROBED.values()}
        # Between 334 and 424 there are only calls that the kernel inserts itself, for its probes.
        numbers = [number for number in (*range(335), *range(424, 451)) if number not in known]
        lines = harness.lines(harness.probe("call", *map(str, numbers)))
        assert lines == [f"{number} {'ENOSYS' if number in probed else 'EPERM'}" for number in numbers]

    def test_threads_but_no_processes(self, harness: SandboxHarness) -> None:
        """A program that may not fork can create threads; one that may fork can create both."""
        assert harness.lines(harness.probe("thread-and-fork")) == ["thread 0", "fork EPERM"]
        assert harness.lines(harness.probe("thread-and-fork", may_fork=True)) == ["thread 0", "fork 0"]

    def test_no_namespaces(self, harness: SandboxHarness) -> None:
        """clone() with the flag for a new user namespace, which needs no privilege, is denied."""
        assert harness.lines(harness.probe("clone", "0x10000000", may_fork=True)) == ["EPERM"]
        assert harness.lines(harness.probe("clone", "0", may_fork=True)) == ["0"]

    @pytest.mark.parametrize("abi", ["i386", "x32"] if os.uname().machine == "x86_64" else [])
    def test_another_architecture(self, harness: SandboxHarness, abi: str) -> None:
        """A system call of another architecture kills the program."""
        assert harness.run(harness.probe(abi)).signal == signal.SIGSYS
