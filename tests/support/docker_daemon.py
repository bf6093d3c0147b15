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
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from warmfront.errors import NoSandbox
from warmfront.sandbox.docker import connect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STORAGE_DRIVERS = ("overlay2", "vfs")
START_TIMEOUT_S = 120
STOP_TIMEOUT_S = 30


@pytest.fixture(scope="session")
def docker_url() -> Iterator[str]:
    """Return the address of the private daemon."""
    with private_docker() as url:
        yield url


@contextlib.contextmanager
def private_docker() -> Iterator[str]:
    """Start a daemon, wait until it answers, yield its address, and end it afterwards."""
    # The path of a socket is limited to about 100 characters, so pytest's directory is too long.
    with (
        tempfile.TemporaryDirectory(prefix="wf-docker-", ignore_cleanup_errors=True) as directory,
        running_daemon(partial(_command, Path(directory)), Path(directory)) as (_, url),
    ):
        yield url


@dataclass(frozen=True, kw_only=True)
class DaemonCommand:
    """The command that starts a daemon with one storage driver, and the address at which it listens."""

    argv: tuple[str, ...]
    url: str


@contextlib.contextmanager
def running_daemon(
    command_for: Callable[[str], DaemonCommand], logs: Path
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Start a daemon with the first storage driver that works here; yield its process and its address.

    Args:
        command_for: returns the command for a storage driver. It must become the daemon with `exec`.
        logs: a directory for the daemon's output.
    """
    if os.geteuid() != 0 or shutil.which("dockerd") is None:
        raise RuntimeError(
            "these tests start a Docker daemon: run as root, after `apt-get install docker.io`"
        )
    daemon, url = _start_any(command_for, logs)
    try:
        yield daemon, url
    finally:
        daemon.terminate()
        try:
            daemon.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:  # it is still removing containers
            os.killpg(daemon.pid, signal.SIGKILL)
            daemon.wait()


def daemon_options(driver: str, *, data: Path, run: str, url: str, pid_file: str) -> tuple[str, ...]:
    """Return the options of a daemon without network, with its own directories."""
    return (
        *("--iptables=false", "--bridge=none", f"--storage-driver={driver}"),
        *("--data-root", str(data), "--exec-root", run),
        *("--host", url, "--pidfile", pid_file, "--shutdown-timeout", "5"),
    )


def _command(directory: Path, driver: str) -> DaemonCommand:
    home = directory / driver
    home.mkdir()
    url = f"unix://{home}/socket"
    options = daemon_options(
        driver, data=home / "data", run=str(home / "run"), url=url, pid_file=str(home / "pid")
    )
    return DaemonCommand(argv=("dockerd", *options), url=url)


def _start_any(
    command_for: Callable[[str], DaemonCommand], logs: Path
) -> tuple[subprocess.Popen[bytes], str]:
    outputs = []
    for driver in STORAGE_DRIVERS:
        command, log = command_for(driver), logs / f"log-{driver}"
        with log.open("wb") as output:
            # The kernel ends the daemon with this process, even if this process is killed.
            daemon = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", *command.argv],
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        if _answers(daemon, command.url):
            return daemon, command.url
        daemon.kill()
        daemon.wait()
        outputs.append(log.read_text(encoding="utf-8", errors="replace")[-2000:])
    raise RuntimeError("dockerd failed to start:\n" + "\n".join(outputs))


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
