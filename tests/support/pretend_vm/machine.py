"""The machine of a pretend VM: device files, the driver's files and a Docker daemon, in its own namespaces.

The device files are like those of udev (root:render 0660), and behave like /dev/null. Nothing is visible
outside the namespaces, and the kernel ends all of it when the process that started it ends.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.docker_daemon import DaemonCommand, daemon_options, running_daemon
from tests.support.gpu_tree import RENDER_GROUP, make_gpu_tree, write

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Device files that every container needs: name, major and minor number.
_COMMON = {"null": (1, 3), "zero": (1, 5), "full": (1, 7), "random": (1, 8), "urandom": (1, 9), "tty": (5, 0)}
_GPU_FILES = ("kfd", "dri/renderD128", "dri/card0")
_SHM, _SHM_BYTES = "/dev/shm", 2 << 30  # noqa: S108 - of the VM
_FILLER = f"{_SHM}/of-another-program"
#: Prepares the mounts, then becomes the daemon. Everything that it mounts is private.
_START = """\
set -eu
ip link set lo up
mount --bind "$1/dev" /dev
mount -t devpts -o newinstance,ptmxmode=0666 devpts /dev/pts
mount -t tmpfs -o size=$2 tmpfs /dev/shm
mount -t mqueue mqueue /dev/mqueue
mount -t tmpfs tmpfs /opt
mkdir /opt/warmfront
mount --bind "$1/opt" /opt/warmfront
mount --bind "$1/run" /run
shift 2
exec dockerd "$@"
"""


@dataclass(frozen=True, kw_only=True)
class PretendMachine:
    """A running machine. Its files can be changed at any time, to break it."""

    folder: Path
    pid: int  #: of the Docker daemon, which is in its namespaces

    @property
    def docker_url(self) -> str:
        """The address of its Docker daemon, outside its namespaces."""
        return f"unix://{self.folder}/run/docker.sock"

    @property
    def sysfs(self) -> Path:
        """The tree that its containers see as /sys."""
        return self.folder / "gpu" / "sys"

    @property
    def rocm_version(self) -> Path:
        """The file with the version of ROCm that its containers see, instead of that of their image."""
        return self.folder / "gpu" / "opt/rocm/.info/version"

    def has(self, device: str) -> bool:
        """Return whether it has a device file, such as `kfd`."""
        return (self.folder / "dev" / device).exists()

    def reset(self) -> None:
        """Make it a healthy machine with an MI300X."""
        shutil.rmtree(self.folder / "gpu", ignore_errors=True)
        make_gpu_tree(self.folder / "gpu")
        link = self.sysfs / "class/drm/renderD128/device"
        target = link.readlink().relative_to(self.sysfs)
        link.unlink()
        link.symlink_to(Path("../../..") / target)
        (self.sysfs / "fs/cgroup").mkdir(parents=True)
        for name in _GPU_FILES:
            self.remove(name)
            _make_device(self.folder / "dev" / name, (1, 3), 0o660, RENDER_GROUP)
        self.resize_shared_memory(_SHM_BYTES)
        self._run("rm", "-f", _FILLER)

    def remove(self, device: str) -> None:
        """Remove a device file."""
        (self.folder / "dev" / device).unlink(missing_ok=True)

    def protect(self, device: str) -> None:
        """Make a device file accessible to root only."""
        os.chown(self.folder / "dev" / device, 0, 0)
        (self.folder / "dev" / device).chmod(0o600)

    def replace_rocm(self, version: str) -> None:
        """Give the image another version of ROCm."""
        self.rocm_version.write_text(version)

    def report(self, path: str, content: str) -> None:
        """Make the driver present a file of /sys with this content."""
        write(self.sysfs, path, content)

    def resize_shared_memory(self, size_bytes: int) -> None:
        """Change the size of its /dev/shm."""
        self._run("mount", "-o", f"remount,size={size_bytes}", _SHM)

    def fill_shared_memory(self) -> None:
        """Let another program use all of its /dev/shm; `reset` ends that."""
        self._run("sh", "-c", f"cat /dev/zero >{_FILLER} 2>/dev/null || true")

    def _run(self, *command: str) -> None:
        """Run a command among the mounts of the machine."""
        subprocess.run(["nsenter", "--target", str(self.pid), "--mount", *command], check=True)


@contextlib.contextmanager
def pretend_machine() -> Iterator[PretendMachine]:
    """Start a machine, and remove it completely afterwards."""
    # The path of a socket is limited to about 100 characters.
    with tempfile.TemporaryDirectory(prefix="wf-vm-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        for inside in ("dev/dri", "dev/pts", "dev/shm", "dev/mqueue", "run", "opt"):
            (folder / inside).mkdir(parents=True)
        for device, numbers in _COMMON.items():
            _make_device(folder / "dev" / device, numbers, 0o666, 0)
        for link, target in {"fd": "/proc/self/fd", "ptmx": "pts/ptmx"}.items():
            (folder / "dev" / link).symlink_to(target)
        with running_daemon(partial(_command, folder), folder) as (daemon, _):
            machine = PretendMachine(folder=folder, pid=daemon.pid)
            machine.reset()
            yield machine


def _command(folder: Path, driver: str) -> DaemonCommand:
    """Return the command that prepares the namespaces and becomes the daemon."""
    options = daemon_options(
        driver,
        data=folder / f"data-{driver}",
        run="/run/docker",
        url="unix:///run/docker.sock",
        pid_file="/run/docker.pid",
    )
    namespaces = ("unshare", "--mount", "--net", "--propagation", "private")
    return DaemonCommand(
        argv=(*namespaces, "sh", "-c", _START, "sh", str(folder), str(_SHM_BYTES), *options),
        url=f"unix://{folder}/run/docker.sock",
    )


def _make_device(path: Path, numbers: tuple[int, int], mode: int, group: int) -> None:
    os.mknod(path, stat.S_IFCHR, os.makedev(*numbers))
    os.chown(path, 0, group)
    path.chmod(mode)
