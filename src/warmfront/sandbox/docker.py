"""Boxes with Docker: one container per box, started ahead of time, used once and removed.

The daemon may run outside our own container, so it and this process share only paths. The CPU time
of a box is read, and the box is frozen, in its control group: the daemon reports CPU time once per second
(20.10) and takes 50 ms to pause a container, which would be part of every measured time. So a worker task
mounts /proc and /sys/fs/cgroup of its VM. The SDK is an optional dependency and slow to import: it is loaded
only when a sandbox is opened.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import io
import json
import os
import signal
import socket
import tarfile
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from warmfront.errors import NoSandbox, SandboxFailed
from warmfront.sandbox import seccomp
from warmfront.sandbox.base import (
    BOX,
    BoxExit,
    ExitReason,
    HostSystem,
    Mount,
    Template,
    device_groups,
    find_host_system,
)
from warmfront.sandbox.box import UNPRIVILEGED_ID, BoxFolders, ChannelBox, Freezer
from warmfront.sandbox.box_pool import PooledSandbox
from warmfront.sandbox.cgroup import (
    SHARED_GROUP,
    SHARED_SLICE,
    ControlGroup,
    cpu_shares,
    find_group,
    shared_memory_bytes,
)
from warmfront.sandbox.docker_output import DockerOutputStream
from warmfront.sandbox.fifo_channel import wait_readable
from warmfront.sandbox.process_box import GRACE_S, exit_of_status
from warmfront.sandbox.process_tree import HOST_PROC, PROC, ProcessTree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    Describe = Callable[[Template, Path], dict[str, Any]]

SDK_HINT = "pip install 'warmfront[docker]'"
DAEMON_HINT = "start the Docker daemon, or set DOCKER_HOST to its address"

#: The API version that the boxes need, from Docker 20.10. With a daemon that no longer supports it, the
#: daemon's oldest version is used instead, because it is the nearest.
API_VERSION = (1, 41)
#: Each running box uses two connections: one to wait for its end and one for its output.
MAX_CONNECTIONS = 128
DEFAULT_URL = "unix:///var/run/docker.sock"

#: Labels of our containers: the owner, and the base directory of the owner's lock.
OWNER_LABEL = "warmfront"
BASE_LABEL = "warmfront.base"

SHARED_MEMORY_BYTES = 16 << 20

#: How much later than a container's exit the daemon may report that its memory was exhausted.
OUT_OF_MEMORY_DELAY_S = 2.0

#: Docker's own list, and the memory of process 1, because other processes of the program have the same user.
MASKED_PATHS = (
    "/proc/acpi",
    "/proc/asound",
    "/proc/interrupts",
    "/proc/kcore",
    "/proc/keys",
    "/proc/latency_stats",
    "/proc/sched_debug",
    "/proc/scsi",
    "/proc/timer_list",
    "/proc/timer_stats",
    "/sys/devices/virtual/powercap",
    "/sys/firmware",
    "/proc/1/mem",
    "/proc/1/task/1/mem",
)


class Docker(PooledSandbox):
    """A sandbox that makes boxes with the Docker daemon.

    Without an image, boxes see the system of this host read-only, as with bubblewrap.
    """

    name = "docker"

    def __init__(
        self,
        *,
        image: str | None = None,
        image_dirs: Sequence[Path] = (),
        base: Path | None = None,
        url: str | None = None,
    ) -> None:
        self._api = connect(url)
        self._image_dirs = tuple(image_dirs) if image else ()
        try:
            self._system = find_host_system() if image is None else None
            self._image = self._ensure_image(image)
            daemon = self._api.info()
            self._cpus = float(daemon["NCPU"])
            # systemd puts groups only into its slices.
            is_systemd = daemon.get("CgroupDriver") == "systemd"
            self._shared_group = SHARED_SLICE if is_systemd else f"/{SHARED_GROUP}"
            self.detail = f"{self.name} {daemon['ServerVersion']}"
            super().__init__(BoxFolders(self.name, base))
            self._remove_leftovers()
        except BaseException:
            self._api.close()
            raise

    def close(self) -> None:
        """Destroy every box that was prepared and not taken."""
        super().close()
        self._api.close()

    def _make(self, template: Template) -> DockerBox:
        return DockerBox(template, self.folders.make(), self._api, self._container)

    def _container(self, template: Template, folder: Path) -> dict[str, Any]:
        """Return the arguments for creating the container."""
        return {
            "image": self._image,
            "entrypoint": list(template.argv),
            "environment": dict(template.env),
            "working_dir": BOX,
            "hostname": "box",
            "user": f"{UNPRIVILEGED_ID}:{UNPRIVILEGED_ID}",
            "labels": {OWNER_LABEL: self.folders.owner, BASE_LABEL: str(self.folders.base)},
            "healthcheck": {"test": ["NONE"]},  # an image's health check would be a second program in the box
            "host_config": self._host_config(template, folder),
        }

    def _host_config(self, template: Template, folder: Path) -> dict[str, Any]:
        limits = template.limits
        profile = seccomp.docker_profile(may_fork=template.may_fork, has_devices=bool(template.devices))
        config: dict[str, Any] = self._api.create_host_config(
            mounts=self._mounts(template, folder),
            tmpfs={"/tmp": f"rw,exec,nosuid,nodev,mode=1777,size={limits.tmp_bytes}"},  # noqa: S108 - inside the box
            devices=[f"{device}:{device}:rw" for device in template.devices],
            group_add=list(device_groups(template.devices)),
            network_mode="none",
            ipc_mode="private",
            read_only=True,
            cap_drop=["ALL"],
            security_opt=["no-new-privileges", f"seccomp={json.dumps(profile)}"],
            mem_limit=limits.memory_bytes,
            memswap_limit=limits.memory_bytes,
            nano_cpus=int(min(limits.cpus, self._cpus) * 1e9),
            cpuset_cpus=",".join(map(str, limits.cpu_set)) or None,
            cpu_shares=cpu_shares(limits.cpu_weight),
            pids_limit=limits.pids,
            ulimits=_ulimits(template),
            shm_size=SHARED_MEMORY_BYTES,
            oom_score_adj=1000,
            cgroup_parent=self._shared_group,
            init=False,
            log_config={"type": "none"},
        )
        config["MaskedPaths"] = list(MASKED_PATHS)
        return config

    def _mounts(self, template: Template, folder: Path) -> list[dict[str, Any]]:
        binds = [(path, path, True) for path in self._system.binds] if self._system else []
        binds += [
            (str(mount.host), mount.inside, not mount.writable)
            for mount in template.mounts
            if not self._is_in_image(mount)
        ]
        binds += [(str(folder), BOX, True)]
        binds += [(str(folder / name), f"{BOX}/{name}", False) for name in template.outputs]
        return [
            {"Type": "bind", "Source": source, "Target": target, "ReadOnly": is_read_only}
            for source, target, is_read_only in binds
        ]

    def _is_in_image(self, mount: Mount) -> bool:
        """Return whether the boxes' image contains the mounted path. If so, it need not exist on the host."""
        is_same = mount.inside == str(mount.host)
        return is_same and any(mount.host.is_relative_to(directory) for directory in self._image_dirs)

    def _ensure_image(self, image: str | None) -> str:
        import docker  # noqa: PLC0415 - optional and slow

        name = image or _bare_image_name(find_host_system())
        try:
            self._api.inspect_image(name)
        except docker.errors.ImageNotFound as error:
            if image:
                raise NoSandbox(f"Docker image not found: {image}.", hint=f"docker pull {image}") from error
            self._api.import_image_from_data(_links_archive(find_host_system()), *name.split(":"))
        return name

    def _remove_leftovers(self) -> None:
        ours = {"label": f"{BASE_LABEL}={self.folders.base}"}
        for container in self._api.containers(all=True, filters=ours):
            owner = container["Labels"].get(OWNER_LABEL, "")
            if owner != self.folders.owner and self.folders.is_dead(owner):
                _remove(self._api, container["Id"])
        for owner in self.folders.dead_owners():
            self.folders.remove_owner(owner)


class DockerBox(ChannelBox):
    """One container."""

    def __init__(self, template: Template, folder: Path, api: Any, describe: Describe) -> None:  # noqa: ANN401 - the SDK has no types
        super().__init__(template, folder)
        self._api = api
        self._describe = describe
        self._id = ""
        self._ended = os.eventfd(0)
        self._output_stream: DockerOutputStream | None = None
        self._waiter: threading.Thread
        self._group: ControlGroup | None = None  # if it is visible here: much faster than the daemon
        self._pid = 0  # of its first process, on the daemon's host
        self._last_cpu_s = 0.0

    def _start(self) -> None:
        try:
            self._id = self._api.create_container(**self._describe(self.template, self.folder))["Id"]
            # Attach before the start, so that no output is lost: there is no log to read it from later.
            self._output_stream = DockerOutputStream(self._api, self._id)
            self._api.start(self._id)
            self._group = self._find_group()
            self._configure_shared_group()
        except _sdk_errors() as error:
            self._remove_container()
            raise SandboxFailed(f"Docker could not start the program: {error}") from error
        self._waiter = threading.Thread(target=self._watch, name="warmfront-docker", daemon=True)
        self._waiter.start()
        self._read_output(self._output_stream.chunks())

    def _set_cpu_weight(self, weight: int) -> None:
        if self._group:
            self._group.set_cpu_weight(weight)

    def _find_group(self) -> ControlGroup | None:
        """Return the control group, if we share the daemon's host or a worker task mounts its files."""
        self._pid = self._api.inspect_container(self._id)["State"]["Pid"]
        for proc in (PROC, HOST_PROC) if self._pid else ():
            if group := find_group(self._pid, self._id, proc):
                self._proc = proc
                return group
        return None

    def _configure_shared_group(self) -> None:
        """Limit the memory of all containers together, if permitted.

        Each container also has its own limit.
        """
        if self._group:
            with contextlib.suppress(OSError):
                self._group.configure_shared_group(shared_memory_bytes())

    def _is_out_of_memory(self) -> bool:
        return self._group is not None and self._group.is_out_of_memory()

    def _watch(self) -> None:
        """Signal `_ended` when the container has ended, or the connection to its daemon is lost."""
        with contextlib.suppress(*_sdk_errors()):
            self._api.wait(self._id, timeout=None)
        os.eventfd_write(self._ended, 1)

    def _ended_fd(self) -> int:
        return self._ended

    def _freezer(self) -> Freezer:
        if self._group and self._group.can_freeze:
            return self._group
        return PausedContainer(self._api, self._id)

    def _read_cpu_s(self) -> float:
        # If it has ended, its group no longer exists or the daemon reports 0.
        self._last_cpu_s = max(self._last_cpu_s, self._reported_cpu_s() or 0.0)
        return self._last_cpu_s

    def _reported_cpu_s(self) -> float | None:
        if self._group:
            return self._group.cpu_s()
        with contextlib.suppress(*_sdk_errors()):  # it has ended, or the connection is lost: see `_reap`
            stats = self._api.stats(self._id, stream=False, one_shot=True)
            return float(stats["cpu_stats"]["cpu_usage"]["total_usage"]) / 1e9
        return None

    @property
    def sees_tasks(self) -> bool:
        """Whether the states of the tasks are visible here, by the container's control group."""
        return self._group is not None

    def _tasks(self) -> list[int]:
        if self._group is None:
            return []
        # The group's own list leaves out the tasks of other pid namespaces.
        return self._group.tasks() if self._proc == PROC else ProcessTree(self._pid, self._proc).tasks()

    def _kill(self) -> None:
        self._freezer().thaw()  # a frozen process does not end
        with contextlib.suppress(*_sdk_errors()):  # it has already ended
            self._api.kill(self._id)

    def _reap(self) -> BoxExit:
        # When the container's first process ends, the kernel kills all others in its pid namespace.
        wait_readable(self._ended, deadline=time.monotonic() + GRACE_S)
        self._waiter.join(GRACE_S)
        try:
            state = self._state_at_end()
        except _sdk_errors() as error:
            self._failure = f"The connection to the Docker daemon was lost: {error}"
            return BoxExit(reason=ExitReason.DESTROYED, enforced_by=Docker.name)
        output = self._output.finish(GRACE_S)
        end = replace(exit_of_status(state["ExitCode"]), output=output, enforced_by=Docker.name)
        return replace(end, reason=ExitReason.MEMORY) if state["OOMKilled"] else end

    def _state_at_end(self) -> dict[str, Any]:
        """Return how the container ended.

        The daemon handles the kernel's message that memory is exhausted separately from the exit, and on a
        busy machine later. So ask again for a moment if the program was killed, and not by us.
        """
        deadline = time.monotonic() + OUT_OF_MEMORY_DELAY_S
        while True:
            state: dict[str, Any] = self._api.inspect_container(self._id)["State"]
            is_ours = self._cause is not None or self._output.is_flood
            if state["OOMKilled"] or is_ours or state["ExitCode"] != 128 + signal.SIGKILL:
                return state
            if time.monotonic() > deadline:
                return state
            time.sleep(0.02)

    def _release(self) -> None:
        if self._is_started:
            self._remove_container()
            self._waiter.join(GRACE_S)
            if self._waiter.is_alive():
                return  # it will still write to `_ended`
        os.close(self._ended)

    def _remove_container(self) -> None:
        _remove(self._api, self._id)
        if self._output_stream:
            self._output_stream.close()


class PausedContainer:
    """A freezer that uses the daemon, for containers whose control group is not visible here."""

    def __init__(self, api: Any, container: str) -> None:  # noqa: ANN401 - the SDK has no types
        self._api = api
        self._container = container

    def freeze(self) -> None:
        """Stop every process. The daemon responds when all of them are stopped."""
        with contextlib.suppress(*_sdk_errors()):  # it has already ended, or is already paused
            self._api.pause(self._container)

    def wait_frozen(self) -> bool:
        """Return immediately: `freeze` has already waited."""
        return True

    def thaw(self) -> None:
        """Resume every process."""
        with contextlib.suppress(*_sdk_errors()):  # it has already ended, or is not paused
            self._api.unpause(self._container)


def connect(url: str | None = None) -> Any:  # noqa: ANN401 - the SDK has no types
    """Return a client of the daemon at `url`, at DOCKER_HOST, or at the default address."""
    if importlib.util.find_spec("docker") is None:
        raise NoSandbox("The Docker SDK for Python is not installed.", hint=SDK_HINT)
    _require_daemon(url or os.environ.get("DOCKER_HOST", DEFAULT_URL))
    import docker  # noqa: PLC0415 - optional and slow

    settings = {"base_url": url} if url else docker.utils.kwargs_from_env()
    settings |= {"max_pool_size": MAX_CONNECTIONS}
    client = docker.APIClient(**settings, version=_dotted(API_VERSION))
    try:
        version = _negotiate(client.version(api_version=False))
    except _sdk_errors() as error:
        client.close()
        raise NoSandbox(f"The Docker daemon is not reachable: {error}", hint=DAEMON_HINT) from error
    except NoSandbox:
        client.close()
        raise
    if version == API_VERSION:
        return client
    client.close()
    return docker.APIClient(**settings, version=_dotted(version))


def _negotiate(daemon: dict[str, Any]) -> tuple[int, ...]:
    """Return the version of the API to use with a daemon, from its answer to GET /version."""
    name = f"The Docker daemon {daemon.get('Version', '')}".rstrip()
    try:
        newest, oldest = (
            tuple(map(int, str(daemon.get(key, default)).split(".")))
            for key, default in (("ApiVersion", ""), ("MinAPIVersion", _dotted(API_VERSION)))
        )
    except ValueError:
        raise NoSandbox(f"{name} does not report its API version.", hint=DAEMON_HINT) from None
    if newest < API_VERSION:
        raise NoSandbox(
            f"{name} is too old: its API is {_dotted(newest)}, and boxes need {_dotted(API_VERSION)}.",
            hint="install Docker 20.10 or later",
        )
    return max(API_VERSION, oldest)


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _require_daemon(url: str) -> None:
    """Raise `NoSandbox` if no daemon listens.

    The SDK is not used: it is slow to load, and leaks a socket per failed connection.
    """
    if url.startswith("unix://"):
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(url.removeprefix("unix://"))
            except OSError as error:
                raise NoSandbox(
                    f"The Docker daemon is not reachable at {url}: {error.strerror}", hint=DAEMON_HINT
                ) from error


def _sdk_errors() -> tuple[type[Exception], ...]:
    import docker  # noqa: PLC0415 - optional and slow
    import requests  # noqa: PLC0415 - the SDK's HTTP library

    return (docker.errors.DockerException, requests.RequestException, OSError)


def _ulimits(template: Template) -> list[dict[str, Any]]:
    limits = {"core": 0, "fsize": template.limits.file_bytes, "nofile": template.limits.open_files}
    return [{"Name": name, "Soft": value, "Hard": value} for name, value in limits.items()]


def _remove(api: Any, container: str) -> None:  # noqa: ANN401 - the SDK has no types
    if container:
        with contextlib.suppress(*_sdk_errors()):
            api.remove_container(container, force=True, v=True)


def _bare_image_name(system: HostSystem) -> str:
    digest = hashlib.sha256(repr(sorted(system.links.items())).encode()).hexdigest()
    return f"warmfront-bare:{digest[:12]}"


def _links_archive(system: HostSystem) -> bytes:
    """Return a root file system that has only the host's symbolic links, such as /bin → usr/bin."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for path, target in system.links.items():
            entry = tarfile.TarInfo(path.lstrip("/"))
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            archive.addfile(entry)
    return data.getvalue()
