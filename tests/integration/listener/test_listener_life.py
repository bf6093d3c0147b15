"""Start and end of a listener. Nothing is left behind after a signal, silence or a hanging event loop."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.support.listeners import COMMAND, SPINNING, TOKEN, listening, spin_until_it_runs
from warmfront.errors import UsageError
from warmfront.listener.protocol import TOKEN_VARIABLE
from warmfront.listener.server import take_token
from warmfront.listener.watchdog import FORCED_EXIT_CODE

if TYPE_CHECKING:
    from pathlib import Path

#: A listener whose event loop hangs on the first request for its health.
HANGING = """
import sys, time
from warmfront.cli import main
from warmfront.listener import watchdog
from warmfront.listener.app import ListenerService
ListenerService._health = lambda self: time.sleep(3600)
watchdog.GRACE_S = 0.1
sys.argv = ["warmfront", "listener", *sys.argv[1:]]
main()
"""

#: The command of a VM, where only the listener's part of the package is installed.
ON_A_VM = (sys.executable, "-m", "warmfront.listener")
NO_HIPCC = "/usr/bin:/bin"
#: A listener on a machine with this much free space.
LITTLE_SPACE = """
import shutil, sys
from warmfront.listener.__main__ import main
shutil.disk_usage = lambda _: shutil._ntuple_diskusage(1 << 30, 1 << 29, {free})
sys.exit(main())
"""


class TestEnd:
    """What remains when a listener ends while an attempt runs."""

    def test_a_signal(self, tmp_path: Path) -> None:
        """SIGTERM ends a running attempt without a verdict, and leaves no box, cgroup or folder."""
        with listening(tmp_path) as listener, listener.stream("spins", source=SPINNING) as lines:
            spin_until_it_runs(lines)
            assert listener.leftovers() != []
            listener.process.send_signal(signal.SIGTERM)
            assert list(lines) == []
            assert listener.process.wait(60) == 0
            assert listener.leftovers() == []

    def test_silence(self, tmp_path: Path) -> None:
        """The watchdog ends a listener without requests, and cleans up."""
        with listening(tmp_path, "--dead-man", "3") as listener:
            with listener.stream("spins", source=SPINNING) as lines:
                spin_until_it_runs(lines)
                assert list(lines) == []
            assert listener.process.wait(60) == 0
            assert listener.leftovers() == []

    def test_a_hanging_event_loop(self, tmp_path: Path) -> None:
        """The watchdog ends a listener whose event loop hangs, and destroys its boxes."""
        hanging = (sys.executable, "-c", HANGING)
        with (
            listening(tmp_path, "--dead-man", "3", command=hanging) as listener,
            listener.stream("spins", source=SPINNING) as lines,
        ):
            spin_until_it_runs(lines)
            with pytest.raises(httpx.HTTPError):
                listener.http.get("/health")
            assert listener.process.wait(60) == FORCED_EXIT_CODE
            assert listener.leftovers() == []

    def test_a_kill(self, tmp_path: Path) -> None:
        """The next listener removes the boxes that a killed one left behind."""
        with listening(tmp_path) as killed, killed.stream("spins", source=SPINNING) as lines:
            spin_until_it_runs(lines)
            killed.process.kill()
            with pytest.raises(httpx.HTTPError):
                list(lines)
            killed.process.wait(60)
        assert [path.name for path in killed.boxes.iterdir()] == list(killed.owners)
        with listening(tmp_path) as following:
            assert set(following.owners).isdisjoint(killed.owners)
        assert (killed.leftovers(), following.leftovers()) == ([], [])


class TestStart:
    """Requirements for the start."""

    def test_no_token(self) -> None:
        """Without a token the listener does not start, and the error names the variable."""
        env = {name: value for name, value in os.environ.items() if name != TOKEN_VARIABLE}
        done = subprocess.run(COMMAND, env=env, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 2
        assert TOKEN_VARIABLE in done.stderr

    def test_a_port_in_use(self) -> None:
        """A port that is in use is an error."""
        with socket.create_server(("127.0.0.1", 0)) as taken:
            argv = [*COMMAND, "--port", str(taken.getsockname()[1])]
            env = {**os.environ, TOKEN_VARIABLE: TOKEN}
            done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 3
        assert "Cannot listen on 127.0.0.1" in done.stderr

    def test_a_vm_that_cannot_judge_says_why(self, tmp_path: Path) -> None:
        """There is no fallback to another toolchain: the listener reports the failure, and judges nothing."""
        options = ("--toolchain", "rocm", "--stay-to-report")
        with listening(tmp_path, *options, command=ON_A_VM, PATH=NO_HIPCC) as listener:
            health = listener.http.get("/health").json()
            assert (health["toolchain"], health["simulated"]) == ("rocm", False)
            assert "hipcc" in health["failure"]
            (verdict,) = listener.execute("attempt")
            assert (verdict["status"], verdict["code"]) == ("ERROR", "VM_UNHEALTHY")

    def test_a_gpu_that_is_not_there(self, tmp_path: Path) -> None:
        """The checks of the GPU are reported, and name what is missing."""
        options = ("--stay-to-report",)
        with listening(tmp_path, *options, command=ON_A_VM, WARMFRONT_CHECK_GPU="true") as listener:
            health = listener.http.get("/health").json()
            assert "/dev/kfd" in health["failure"]
            assert not health["gpu_health"]["ok"]
            (verdict,) = listener.execute("attempt")
            assert verdict["code"] == "VM_UNHEALTHY"
        env = {**os.environ, TOKEN_VARIABLE: TOKEN, "WARMFRONT_CHECK_GPU": "true"}
        argv = [*ON_A_VM, "--port", "0", "--toolchain", "cpu"]
        done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 3
        assert "VM_UNHEALTHY: " in done.stderr

    @pytest.mark.slow
    def test_a_gpu_that_falls_off_the_bus(self, tmp_path: Path) -> None:
        """The attempt is returned without a verdict, and the VM reports that it can no longer judge."""
        options = ("--toolchain", "stub", "--stay-to-report")
        fault = "fault=off_the_bus"
        with listening(tmp_path, *options, command=ON_A_VM, WARMFRONT_STUB_GPU=fault) as listener:
            health = listener.http.get("/health").json()
            assert (health["failure"], [device["arch"] for device in health["devices"]]) == ("", ["gfx942"])
            verdict = listener.execute("attempt")[-1]
            assert (verdict["status"], verdict["code"]) == ("ERROR", "VM_UNHEALTHY")
            assert verdict["message"] == listener.http.get("/health").json()["failure"]

    def test_too_little_space_for_boxes(self, tmp_path: Path) -> None:
        """The error names the directory, the free space and the required space."""
        program = LITTLE_SPACE.format(free=1 << 20)
        env = {**os.environ, TOKEN_VARIABLE: TOKEN, "WARMFRONT_BOX_DIR": str(tmp_path / "boxes")}
        argv = [sys.executable, "-c", program, "--port", "0", "--toolchain", "cpu"]
        done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 3
        assert f"The directory for boxes, {tmp_path}/boxes, has 1 MiB free; the data" in done.stderr

    def test_the_token_is_removed_from_the_environment(self) -> None:
        """The token is removed from the environment when it is read."""
        environ = {TOKEN_VARIABLE: TOKEN, "PATH": "/bin"}
        assert take_token(environ) == TOKEN
        assert environ == {"PATH": "/bin"}
        with pytest.raises(UsageError, match=TOKEN_VARIABLE):
            take_token(environ)
