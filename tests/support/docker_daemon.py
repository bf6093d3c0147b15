"""A private Docker daemon for the tests, with its own directories and socket and without network.

It is independent of any other daemon on the machine, and is ended by its process id.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from warmfront.errors import NoSandbox
from warmfront.sandbox.docker import connect

if TYPE_CHECKING:
    from collections.abc import Iterator

STORAGE_DRIVERS = ("overlay2", "vfs")
START_TIMEOUT_S = 60
STOP_TIMEOUT_S = 20


@pytest.fixture(scope="session")
def docker_url() -> Iterator[str]:
    """Return the address of the private daemon."""
    with private_docker() as url:
        yield url


@contextlib.contextmanager
def private_docker() -> Iterator[str]:
    """Start a daemon, wait until it answers, yield its address, and end it afterwards."""
    if os.geteuid() != 0 or shutil.which("dockerd") is None:
        raise RuntimeError(
            "these tests start a Docker daemon: run as root, after `apt-get install docker.io`"
        )
    # The path of a socket is limited to about 100 characters, so pytest's directory is too long.
    with tempfile.TemporaryDirectory(prefix="wf-docker-", ignore_cleanup_errors=True) as directory:
        daemon, url = _start_any(Path(directory))
        try:
            yield url
        finally:
            daemon.terminate()
            try:
                daemon.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:  # it is still removing containers
                os.killpg(daemon.pid, signal.SIGKILL)
                daemon.wait()


def _start_any(directory: Path) -> tuple[subprocess.Popen[bytes], str]:
    logs = []
    for driver in STORAGE_DRIVERS:
        home = directory / driver
        home.mkdir()
        daemon, url = _start(home, driver)
        if _answers(daemon, url):
            return daemon, url
        daemon.kill()
        daemon.wait()
        logs.append((home / "log").read_text(encoding="utf-8", errors="replace")[-2000:])
    raise RuntimeError("dockerd failed to start:\n" + "\n".join(logs))


def _start(home: Path, driver: str) -> tuple[subprocess.Popen[bytes], str]:
    url = f"unix://{home}/socket"
    # The kernel ends the daemon when we end, even if we are killed.
    command = ["setpriv", "--pdeathsig", "TERM", "dockerd"]
    command += ["--iptables=false", "--bridge=none", f"--storage-driver={driver}"]
    command += ["--data-root", str(home / "data"), "--exec-root", str(home / "run")]
    command += ["--host", url, "--pidfile", str(home / "pid"), "--shutdown-timeout", "5"]
    with (home / "log").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True), url


def _answers(daemon: subprocess.Popen[bytes], url: str) -> bool:
    """Wait until the daemon answers; return False if it ended."""
    for _ in range(START_TIMEOUT_S * 20):
        try:
            connect(url).close()
        except NoSandbox:
            with contextlib.suppress(subprocess.TimeoutExpired):
                daemon.wait(0.05)
                return False
        else:
            return True
    return False
