"""The command line of bubblewrap: what is seen inside a box, and how its program becomes nobody.

Nothing is run here but the probe that finds out which way works on this machine.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from warmfront.sandbox.base import BOX, SandboxLimits, Template
from warmfront.sandbox.box_folders import NOBODY
from warmfront.sandbox.host_system import find_host_system

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

#: For programs that share memory by name, as ROCm's runtime does. A little is enough.
SHARED_MEMORY_BYTES = 16 << 20

PROBE_TIMEOUT_S = 10

COUNTS_PROCESSES_BY_NAMESPACE = (5, 14)  #: the first kernel that does


@dataclass(frozen=True, kw_only=True)
class BwrapMode:
    """One way for a program to be nobody inside."""

    before: tuple[str, ...] = ()  #: in front of bwrap
    options: tuple[str, ...]
    inside: tuple[str, ...] = ()  #: in front of the program


@dataclass(frozen=True, kw_only=True)
class BwrapProbe:
    """Which ways work on this machine, the best first, and if none does, why."""

    wrappers: tuple[BwrapMode, ...]
    detail: str


@functools.cache
def begin_probe() -> tuple[tuple[BwrapMode, subprocess.Popen[bytes] | OSError], ...]:
    """Start to try each way, once in the life of this process; whoever has something else to do may."""
    if shutil.which("bwrap") is None:
        return ()
    candidates = [_unprivileged(), _privileged()] if os.geteuid() == 0 else [_unprivileged()]
    return tuple((wrapper, _try(wrapper)) for wrapper in candidates)


@functools.cache
def probe() -> BwrapProbe:
    """What became of it."""
    if not begin_probe():
        return BwrapProbe(wrappers=(), detail="bubblewrap is not installed.")
    failures = {wrapper: _failure(trial) for wrapper, trial in begin_probe()}
    working = tuple(wrapper for wrapper, failure in failures.items() if failure is None)
    return BwrapProbe(wrappers=working, detail="; ".join(failure for failure in failures.values() if failure))


def rlimited(argv: Iterable[str], limits: SandboxLimits) -> list[str]:
    """`argv` under the limits that stand in for a cgroup.

    They are set inside the box: there the kernel counts the processes of its user namespace alone. An
    old one would count all that the user runs, and stop the box before it begins.
    """
    options = [f"--as={limits.memory_bytes}"]
    if _kernel() >= COUNTS_PROCESSES_BY_NAMESPACE:
        options.append(f"--nproc={limits.pids}")
    return [_tool("prlimit"), *options, "--", *argv]


def wrapped(
    argv: Iterable[str],
    template: Template,
    folder: Path,
    wrapper: BwrapMode,
    *,
    status_fd: int,
    seccomp_fd: int,
) -> list[str]:
    """Run bubblewrap around `argv`."""
    options = ["--json-status-fd", str(status_fd), "--seccomp", str(seccomp_fd)]
    options += [*_isolation(wrapper), *_system(), *_scratch(template.limits)]
    for mount in template.mounts:
        options += [*_parents(mount.inside), "--ro-bind", str(mount.host), mount.inside]
    for device in template.devices:
        options += ["--dev-bind", device, device]
    options += ["--ro-bind", str(folder), BOX]
    for name in template.outputs:
        options += ["--bind", str(folder / name), f"{BOX}/{name}"]
    # bubblewrap's own root and /dev are writable to whoever is inside until they are closed.
    options += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", BOX, "--clearenv"]
    for name, value in template.env.items():
        options += ["--setenv", name, value]
    return [*wrapper.before, _tool("bwrap"), *options, "--", *wrapper.inside, *argv]


def _isolation(wrapper: BwrapMode) -> list[str]:
    namespaces = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    return [*namespaces, "--hostname", "box", "--die-with-parent", "--new-session", *wrapper.options]


def _system() -> list[str]:
    system = find_host_system()
    options = []
    for path in system.binds:
        options += [*_parents(path), "--ro-bind", path, path]
    for path, target in system.links.items():
        options += ["--symlink", target, path]
    return options


def _parents(path: str) -> list[str]:
    """Directories on the way to a mount, open to nobody too: bubblewrap's own are its user's alone."""
    options = []
    for parent in reversed(PurePosixPath(path).parents[:-1]):
        options += ["--perms", "0755", "--dir", str(parent)]
    return options


def _scratch(limits: SandboxLimits) -> list[str]:
    """The kernel's own file systems, and where the program may write."""
    tmp = ["--size", str(limits.tmp_bytes), "--perms", "1777", "--tmpfs", "/tmp"]  # noqa: S108  that of the box
    shared = ["--size", str(SHARED_MEMORY_BYTES), "--perms", "1777", "--tmpfs", "/dev/shm"]  # noqa: S108  as above
    return ["--proc", "/proc", "--dev", "/dev", *shared, *tmp]


def _unprivileged() -> BwrapMode:
    """Run it in a user namespace, with no privilege of its own: the better way, where it is allowed."""
    ids = ("--uid", str(NOBODY), "--gid", str(NOBODY))
    before = _become_nobody() if os.geteuid() == 0 else ()
    return BwrapMode(before=before, options=("--unshare-user", *ids, "--cap-drop", "ALL"))


def _privileged() -> BwrapMode:
    """Root makes the namespaces, and the program drops to nobody inside them."""
    kept = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")
    options = ["--cap-drop", "ALL"]
    for capability in kept:
        options += ["--cap-add", capability]
    return BwrapMode(options=tuple(options), inside=(*_become_nobody(), "--bounding-set=-all"))


def _become_nobody() -> tuple[str, ...]:
    ids = ("--reuid", str(NOBODY), "--regid", str(NOBODY))
    return (_tool("setpriv"), *ids, "--clear-groups", "--inh-caps=-all")


def _try(wrapper: BwrapMode) -> subprocess.Popen[bytes] | OSError:
    """A program that does nothing, wrapped so; or why it could not be started."""
    command = [
        *wrapper.before,
        _tool("bwrap"),
        *_isolation(wrapper),
        *_system(),
        "--proc",
        "/proc",
        "--dev",
        "/dev",
    ]
    command += ["--", *wrapper.inside, _tool("true")]
    quiet = subprocess.DEVNULL
    try:
        return subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=subprocess.PIPE)
    except OSError as error:
        return error


def _failure(trial: subprocess.Popen[bytes] | OSError) -> str | None:
    """Why a program cannot be wrapped so, or None if it can."""
    if isinstance(trial, OSError):
        return str(trial)
    try:
        said = trial.communicate(timeout=PROBE_TIMEOUT_S)[1]
    except subprocess.TimeoutExpired as error:
        trial.kill()
        trial.communicate()
        return str(error)
    return None if trial.returncode == 0 else said.decode(errors="replace").strip()


def _kernel() -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", os.uname().release)[:2])


def _tool(name: str) -> str:
    return shutil.which(name) or f"/usr/bin/{name}"
