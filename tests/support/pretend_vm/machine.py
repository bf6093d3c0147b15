"""The machine of a pretend VM: device files, the driver's files and a Docker daemon, in its own namespaces.

The device files are those that udev makes (root:render 0660), and behave like /dev/null. Nothing of it is
visible outside, and the kernel ends all of it when the process that started it ends.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.gpu_tree import RENDER_GROUP, make_gpu_tree, write
from warmfront.errors import NoSandbox
from warmfront.sandbox.docker import connect

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Device files that every container needs: name, major and minor number.
_COMMON = {"null": (1, 3), "zero": (1, 5), "full": (1, 7), "random": (1, 8), "urandom": (1, 9), "tty": (5, 0)}
_GPU_FILES = ("kfd", "dri/renderD128", "dri/card0")
_SHM_BYTES = 2 << 30
_START_TIMEOUT_S = 120
_STOP_TIMEOUT_S = 30
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
exec dockerd --iptables=false --bridge=none --storage-driver="$3" --data-root "$1/data-$3" \\
  --exec-root /run/docker --host unix:///run/docker.sock --pidfile /run/docker.pid --shutdown-timeout 5
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

    def remove(self, device: str) -> None:
        """Remove a device file."""
        (self.folder / "dev" / device).unlink(missing_ok=True)

    def protect(self, device: str) -> None:
        """Give a device file to root alone."""
        os.chown(self.folder / "dev" / device, 0, 0)
        (self.folder / "dev" / device).chmod(0o600)

    def report(self, path: str, content: str) -> None:
        """Let the driver present a file of /sys with this content."""
        write(self.sysfs, path, content)

    def resize_shared_memory(self, size_bytes: int) -> None:
        """Change the size of its /dev/shm."""
        subprocess.run(
            [
                "nsenter",
                "--target",
                str(self.pid),
                "--mount",
                "mount",
                "-o",
                f"remount,size={size_bytes}",
                "/dev/shm",  # noqa: S108 - of the VM
            ],
            check=True,
        )


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
        daemon = _start_any(folder)
        try:
            machine = PretendMachine(folder=folder, pid=daemon.pid)
            machine.reset()
            yield machine
        finally:
            _stop(daemon)


def _start_any(folder: Path) -> subprocess.Popen[bytes]:
    for driver in ("overlay2", "vfs"):
        with (folder / f"log-{driver}").open("wb") as log:
            daemon = subprocess.Popen(
                [
                    *(
                        "setpriv",
                        "--pdeathsig",
                        "TERM",
                        "unshare",
                        "--mount",
                        "--net",
                        "--propagation",
                        "private",
                    ),
                    *("sh", "-c", _START, "sh", str(folder), str(_SHM_BYTES), driver),
                ],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        if _answers(daemon, folder):
            return daemon
        daemon.kill()
        daemon.wait()
    logs = [path.read_text(errors="replace")[-2000:] for path in folder.glob("log-*")]
    raise RuntimeError("dockerd failed to start:\n" + "\n".join(logs))


def _answers(daemon: subprocess.Popen[bytes], folder: Path) -> bool:
    """Wait until the daemon answers; return False if it ended."""
    for _ in range(_START_TIMEOUT_S * 20):
        try:
            connect(f"unix://{folder}/run/docker.sock").close()
        except NoSandbox:
            with contextlib.suppress(subprocess.TimeoutExpired):
                daemon.wait(0.05)
                return False
        else:
            return True
    return False


def _stop(daemon: subprocess.Popen[bytes]) -> None:
    daemon.terminate()
    try:
        daemon.wait(_STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:  # it is still removing containers
        os.killpg(daemon.pid, signal.SIGKILL)
        daemon.wait()


def _make_device(path: Path, numbers: tuple[int, int], mode: int, group: int) -> None:
    os.mknod(path, stat.S_IFCHR, os.makedev(*numbers))
    os.chown(path, 0, group)
    path.chmod(mode)
