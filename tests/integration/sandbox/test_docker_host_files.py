"""A listener in a container whose boxes are sibling containers: it sees them in the files of its host."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.root, pytest.mark.docker]

#: Creates pid and cgroup namespaces like those of a container, with the files of the host elsewhere.
IN_NAMESPACES = """\
set -eu
mount --rbind /proc "$1/proc"
mount --rbind /sys/fs/cgroup "$1/cgroup"
mount -t proc proc /proc
mount -t tmpfs tmpfs /sys/fs/cgroup
shift
exec "$@"
"""
#: One box computes, waits for a command and computes again.
USE_A_BOX = """\
import os, sys, time
from pathlib import Path
from tests.support.boxes import LIMITS
from warmfront.sandbox import docker
from warmfront.sandbox.base import Template

url, host, base = sys.argv[1:]
docker.HOST_PROC = Path(host) / "proc"
script = "(while :; do :; done) & read line < commands; kill $!; echo > answers; read line < commands"
template = Template(name="test", argv=("/bin/sh", "-c", script), mounts=(), limits=LIMITS, may_fork=True)
sandbox = docker.Docker(url=url, base=Path(base))
with sandbox.take(template) as box:
    box.go()
    assert box.sees_tasks
    assert box._freezer() is box._group, "the daemon would have to pause it"
    start = box.usage()
    assert start.waited_s is not None
    while box.usage().cpu_s < start.cpu_s + 0.02:
        assert box.has_ready_task()
    box.freeze()
    frozen = box.usage()
    time.sleep(0.05)
    assert box.usage() == frozen
    box.thaw()
    assert not box.set_cpus(os.sched_getaffinity(0)), "their ids are those of another pid namespace"
    box.send(b"\\n")
    assert box.receive(1) == b"\\n"
    while box.has_ready_task():
        time.sleep(0.01)
sandbox.close()
print("it saw its box")
"""


def test_a_box_of_another_pid_namespace_is_measured_and_frozen_in_its_control_group(
    docker_url: str, tmp_path: Path
) -> None:
    """CPU time, states of tasks and the freezer do not need the daemon, which would take up to a second."""
    host = tmp_path / "host"
    for folder in (host / "proc", host / "cgroup", tmp_path / "boxes"):
        folder.mkdir(parents=True)
    namespaces = ("unshare", "--mount", "--pid", "--fork", "--cgroup", "--propagation", "private")
    inside = (sys.executable, "-c", USE_A_BOX, docker_url, str(host), str(tmp_path / "boxes"))
    done = subprocess.run(
        [*namespaces, "sh", "-c", IN_NAMESPACES, "sh", str(host), *inside],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "it saw its box\n"), done.stderr
