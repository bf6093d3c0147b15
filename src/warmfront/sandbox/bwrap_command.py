"""The command line of bubblewrap: what is visible in a box, and how its program becomes user `nobody`.

Only the probe, which determines the mode that works on this machine, runs a program.
"""

from __future__ import annotations

import functools
import itertools
import os
import re
import shutil
import subprocess
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from warmfront.sandbox.base import BOX, SandboxLimits, Template, device_groups, find_host_system
from warmfront.sandbox.box import UNPRIVILEGED_ID
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

#: Size of /dev/shm, for programs that use named shared memory, such as ROCm's runtime.
SHARED_MEMORY_BYTES = 16 << 20

#: Files that a GPU runtime reads: the driver's topology, and the mapping from device numbers to devices.
DEVICE_TOPOLOGY = ("/sys/devices", "/sys/class/kfd", "/sys/class/drm", "/sys/dev/char")

#: The option that is replaced for boxes with devices.
CLEAR_GROUPS = "--clear-groups"

PROBE_TIMEOUT_S = 10

COUNTS_PROCESSES_BY_NAMESPACE = (5, 14)  #: the first Linux version that does so


@dataclass(frozen=True, kw_only=True)
class BwrapMode:
    """One way to run a program as user `nobody` inside the box."""

    before: tuple[str, ...] = ()  #: command before bwrap
    options: tuple[str, ...]
    inside: tuple[str, ...] = ()  #: command before the program


@dataclass(frozen=True, kw_only=True)
class BwrapProbe:
    """The preferred mode that works on this machine, if any, and why the other modes do not."""

    mode: BwrapMode | None
    detail: str


@functools.cache
def start_probe() -> tuple[BwrapMode, subprocess.Popen[bytes] | OSError] | None:
    """Start testing the preferred mode, once per process. `probe` waits for the result."""
    if shutil.which("bwrap") is None:
        return None
    mode = _unprivileged()
    return mode, _try(mode)


@functools.cache
def probe() -> BwrapProbe:
    """Return a mode that works. The privileged mode is tried only if the preferred mode does not work."""
    started = start_probe()
    if started is None:
        return BwrapProbe(mode=None, detail="bubblewrap is not installed.")
    mode, attempt = started
    failure = _failure(attempt)
    if failure is None:
        return BwrapProbe(mode=mode, detail="")
    return BwrapProbe(mode=privileged_mode(), detail=failure)


@functools.cache
def privileged_mode() -> BwrapMode | None:
    """Return the mode for root, which can open folders that other users cannot; None if it does not work."""
    if os.geteuid() != 0:
        return None
    mode = _privileged()
    return mode if _failure(_try(mode)) is None else None


def prlimit_argv(argv: Iterable[str], limits: SandboxLimits, *, has_devices: bool = False) -> list[str]:
    """Return `argv` with the rlimits that replace a cgroup.

    They are set inside the box, where newer kernels count only the processes of its user namespace. An older
    kernel counts all processes of the user, so there the limit on processes is left out. A GPU runtime
    reserves addresses for all device memory of the machine, so with a GPU the address space is not limited.
    """
    options = [] if has_devices else [f"--as={limits.memory_bytes}"]
    if _kernel() >= COUNTS_PROCESSES_BY_NAMESPACE:
        options.append(f"--nproc={limits.pids}")
    return [_tool("prlimit"), *options, "--", *argv] if options else list(argv)


def bwrap_argv(
    argv: Iterable[str],
    template: Template,
    folder: Path,
    mode: BwrapMode,
    *,
    status_fd: int,
    seccomp_fd: int,
) -> list[str]:
    """Return the bubblewrap command that runs `argv`."""
    options = ["--json-status-fd", str(status_fd), "--seccomp", str(seccomp_fd)]
    options += [*_isolation(mode), *_system(), *_scratch(template.limits)]
    for mount in template.mounts:
        options += [*_parents(mount.inside), "--bind" if mount.writable else "--ro-bind"]
        options += [str(mount.host), mount.inside]
    options += _devices(template.devices)
    options += ["--ro-bind", str(folder), BOX]
    for name in template.outputs:
        options += ["--bind", str(folder / name), f"{BOX}/{name}"]
    # bubblewrap's root and /dev are writable inside the box until they are remounted.
    options += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", BOX, "--clearenv"]
    for name, value in template.env.items():
        options += ["--setenv", name, value]
    groups = device_groups(template.devices)
    before, inside = (_with_groups(command, groups) for command in (mode.before, mode.inside))
    return [*before, _tool("bwrap"), *options, "--", *inside, *argv]


def _devices(devices: tuple[str, ...]) -> list[str]:
    """Return the options for device files, and for the files that a GPU runtime reads about them."""
    options = []
    for device in devices:
        options += [*_parents(device), "--dev-bind", device, device]
    for path in DEVICE_TOPOLOGY if devices else ():
        options += [*_parents(path), "--ro-bind-try", path, path]
    return options


def _with_groups(command: tuple[str, ...], groups: tuple[int, ...]) -> tuple[str, ...]:
    """Return a command of `setpriv` that keeps the groups of device files."""
    if not groups:
        return command
    kept = ("--groups", ",".join(map(str, groups)))
    return tuple(itertools.chain.from_iterable(kept if part == CLEAR_GROUPS else (part,) for part in command))


def _isolation(mode: BwrapMode) -> list[str]:
    namespaces = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    return [*namespaces, "--hostname", "box", "--die-with-parent", "--new-session", *mode.options]


def _system() -> list[str]:
    system = find_host_system()
    options = []
    for path in system.binds:
        options += [*_parents(path), "--ro-bind", path, path]
    for path, target in system.links.items():
        options += ["--symlink", target, path]
    return options


def _parents(path: str) -> list[str]:
    """Return options that create the parent directories of a mount with access for `nobody`."""
    options = []
    for parent in reversed(PurePosixPath(path).parents[:-1]):
        options += ["--perms", "0755", "--dir", str(parent)]
    return options


def _scratch(limits: SandboxLimits) -> list[str]:
    """Return the options for /proc, /dev and the writable file systems."""
    tmp = ["--size", str(limits.tmp_bytes), "--perms", "1777", "--tmpfs", "/tmp"]  # noqa: S108 - inside the box
    shared = ["--size", str(SHARED_MEMORY_BYTES), "--perms", "1777", "--tmpfs", "/dev/shm"]  # noqa: S108 - inside the box
    # Process 1 is bubblewrap itself. It has the same user as the program, which could write to its memory.
    hidden = ["--perms", "0555", "--tmpfs", "/proc/1", "--remount-ro", "/proc/1"]
    return ["--proc", "/proc", *hidden, "--dev", "/dev", *shared, *tmp]


def _unprivileged() -> BwrapMode:
    """Return the preferred mode: a user namespace, without privileges."""
    ids = ("--uid", str(UNPRIVILEGED_ID), "--gid", str(UNPRIVILEGED_ID))
    before = _drop_privileges() if os.geteuid() == 0 else ()
    return BwrapMode(before=before, options=("--unshare-user", *ids, "--cap-drop", "ALL"))


def _privileged() -> BwrapMode:
    """Return the mode for root: root creates the namespaces, and the program drops to `nobody` inside."""
    kept = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")
    options = ["--cap-drop", "ALL"]
    for capability in kept:
        options += ["--cap-add", capability]
    return BwrapMode(options=tuple(options), inside=(*_drop_privileges(), "--bounding-set=-all"))


def _drop_privileges() -> tuple[str, ...]:
    ids = ("--reuid", str(UNPRIVILEGED_ID), "--regid", str(UNPRIVILEGED_ID))
    return (_tool("setpriv"), *ids, CLEAR_GROUPS, "--inh-caps=-all")


def _try(mode: BwrapMode) -> subprocess.Popen[bytes] | OSError:
    """Start `true` in this mode; return the process, or the reason why it could not be started."""
    command = [
        *mode.before,
        _tool("bwrap"),
        *_isolation(mode),
        *_system(),
        "--proc",
        "/proc",
        "--dev",
        "/dev",
    ]
    command += ["--", *mode.inside, _tool("true")]
    quiet = subprocess.DEVNULL
    try:
        return subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=subprocess.PIPE)
    except OSError as error:
        return error


def _failure(attempt: subprocess.Popen[bytes] | OSError) -> str | None:
    """Return why a mode does not work, or None if it does."""
    if isinstance(attempt, OSError):
        return str(attempt)
    try:
        stderr = attempt.communicate(timeout=PROBE_TIMEOUT_S)[1]
    except subprocess.TimeoutExpired as error:
        attempt.kill()
        attempt.communicate()
        return str(error)
    return None if attempt.returncode == 0 else stderr.decode(errors="replace").strip()


def _kernel() -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", os.uname().release)[:2])


def _tool(name: str) -> str:
    return shutil.which(name) or f"/usr/bin/{name}"
