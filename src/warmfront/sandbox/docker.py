"""Boxes by Docker: one container each, made and started ahead of time, used once and removed.

The daemon may be on the other side of a container's wall, so all that is shared with it are paths. The
SDK is an extra and slow to import: it is loaded when a sandbox is opened, never before.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import io
import json
import os
import socket
import tarfile
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from warmfront.errors import NoSandbox, SandboxFailed
from warmfront.sandbox import seccomp
from warmfront.sandbox.base import BOX, BoxExit, ExitReason, Template
from warmfront.sandbox.box import ChannelBox
from warmfront.sandbox.box_folders import NOBODY, BoxFolders
from warmfront.sandbox.box_pool import PooledSandbox
from warmfront.sandbox.docker_output import DockerOutputStream
from warmfront.sandbox.fifo_channel import wait_readable
from warmfront.sandbox.host_system import HostSystem, find_host_system
from warmfront.sandbox.process_box import GRACE_S, exit_of_status

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Describe = Callable[[Template, Path], dict[str, Any]]

SDK_HINT = "pip install 'warmfront[docker]'"
DAEMON_HINT = "start the Docker daemon, or set DOCKER_HOST to where it listens"

API_VERSION = "1.41"
#: Each box that runs holds two, one to watch it and one for its output.
MAX_CONNECTIONS = 128
DEFAULT_URL = "unix:///var/run/docker.sock"

#: Labels of every container of ours: whose it is, and under which base that owner's lock is.
OWNER_LABEL = "warmfront"
BASE_LABEL = "warmfront.base"

SHARED_MEMORY_BYTES = 16 << 20


class Docker(PooledSandbox):
    """Makes boxes with the Docker daemon.

    With no image given, boxes see the system of this host read-only, as they do in bubblewrap.
    """

    name = "docker"

    def __init__(self, *, image: str | None = None, base: Path | None = None, url: str | None = None) -> None:
        self._api = connect(url)
        try:
            self._system = find_host_system() if image is None else None
            self._image = self._ensure_image(image)
            daemon = self._api.info()
            self._cpus = float(daemon["NCPU"])
            self.detail = f"{self.name} {daemon['ServerVersion']}"
            super().__init__(BoxFolders(self.name, base))
            self._remove_leftovers()
        except BaseException:
            self._api.close()
            raise

    def close(self) -> None:
        """Destroy every box that was made and not taken."""
        super().close()
        self._api.close()

    def _make(self, template: Template) -> DockerBox:
        return DockerBox(template, self.folders.make(), self._api, self._container)

    def _container(self, template: Template, folder: Path) -> dict[str, Any]:
        """What the daemon is asked to create."""
        return {
            "image": self._image,
            "entrypoint": list(template.argv),
            "environment": dict(template.env),
            "working_dir": BOX,
            "hostname": "box",
            "user": f"{NOBODY}:{NOBODY}",
            "labels": {OWNER_LABEL: self.folders.owner, BASE_LABEL: str(self.folders.base)},
            "healthcheck": {"test": ["NONE"]},  # an image's own would be a second program in the box
            "host_config": self._host_config(template, folder),
        }

    def _host_config(self, template: Template, folder: Path) -> dict[str, Any]:
        limits = template.limits
        profile = seccomp.docker_profile(may_fork=template.may_fork)
        config: dict[str, Any] = self._api.create_host_config(
            mounts=self._mounts(template, folder),
            tmpfs={"/tmp": f"rw,exec,nosuid,nodev,mode=1777,size={limits.tmp_bytes}"},  # noqa: S108  the box's own
            devices=[f"{device}:{device}:rwm" for device in template.devices],
            network_mode="none",
            ipc_mode="private",
            read_only=True,
            cap_drop=["ALL"],
            security_opt=["no-new-privileges", f"seccomp={json.dumps(profile)}"],
            mem_limit=limits.memory_bytes,
            memswap_limit=limits.memory_bytes,
            nano_cpus=int(min(limits.cpus, self._cpus) * 1e9),
            pids_limit=limits.pids,
            ulimits=_ulimits(template),
            shm_size=SHARED_MEMORY_BYTES,
            init=False,
            log_config={"type": "none"},
        )
        return config

    def _mounts(self, template: Template, folder: Path) -> list[dict[str, Any]]:
        binds = [(path, path, True) for path in self._system.binds] if self._system else []
        binds += [(str(mount.host), mount.inside, True) for mount in template.mounts]
        binds += [(str(folder), BOX, True)]
        binds += [(str(folder / name), f"{BOX}/{name}", False) for name in template.outputs]
        return [
            {"Type": "bind", "Source": source, "Target": target, "ReadOnly": is_read_only}
            for source, target, is_read_only in binds
        ]

    def _ensure_image(self, image: str | None) -> str:
        import docker  # noqa: PLC0415  an extra, and slow

        name = image or _bare_image_name(find_host_system())
        try:
            self._api.inspect_image(name)
        except docker.errors.ImageNotFound as error:
            if image:
                raise NoSandbox(f"Docker has no image {image}.", hint=f"docker pull {image}") from error
            self._api.import_image_from_data(_links_alone(find_host_system()), *name.split(":"))
        return name

    def _remove_leftovers(self) -> None:
        ours = {"label": f"{BASE_LABEL}={self.folders.base}"}
        for container in self._api.containers(all=True, filters=ours):
            owner = container["Labels"].get(OWNER_LABEL, "")
            if owner != self.folders.owner and self.folders.is_dead(owner):
                _remove(self._api, container["Id"])
        for owner in self.folders.dead_owners():
            self.folders.bury(owner)


class DockerBox(ChannelBox):
    """One container."""

    def __init__(self, template: Template, folder: Path, api: Any, describe: Describe) -> None:  # noqa: ANN401  the SDK has no types
        super().__init__(template, folder)
        self._api = api
        self._describe = describe
        self._id = ""
        self._ended = os.eventfd(0)
        self._attachment: DockerOutputStream | None = None
        self._waiter: threading.Thread

    def _start(self) -> None:
        try:
            self._id = self._api.create_container(**self._describe(self.template, self.folder))["Id"]
            # Attached before it starts, so that not a byte is missed: there is no log to read it from later.
            self._attachment = DockerOutputStream(self._api, self._id)
            self._api.start(self._id)
        except _sdk_errors() as error:
            self._remove_container()
            raise SandboxFailed(f"Docker could not start the program: {error}") from error
        self._waiter = threading.Thread(target=self._watch, name="warmfront-docker", daemon=True)
        self._waiter.start()
        self._read_output(self._attachment.chunks())

    def _watch(self) -> None:
        """Tell everyone who waits that the container is gone, or that its daemon is."""
        with contextlib.suppress(*_sdk_errors()):
            self._api.wait(self._id, timeout=None)
        os.eventfd_write(self._ended, 1)

    def _ended_fd(self) -> int:
        return self._ended

    def _kill(self) -> None:
        with contextlib.suppress(*_sdk_errors()):  # it has ended by itself
            self._api.kill(self._id)

    def _bury(self) -> BoxExit:
        # The container's first process has taken all others with it: the pid namespace is its own.
        wait_readable(self._ended, deadline=time.monotonic() + GRACE_S)
        self._waiter.join(GRACE_S)
        try:
            state = self._api.inspect_container(self._id)["State"]
        except _sdk_errors() as error:
            self._failure = f"The Docker daemon went away: {error}"
            return BoxExit(reason=ExitReason.DESTROYED, enforced_by=Docker.name)
        output = self._output.finish(GRACE_S)
        found = replace(exit_of_status(state["ExitCode"]), output=output, enforced_by=Docker.name)
        return replace(found, reason=ExitReason.MEMORY) if state["OOMKilled"] else found

    def _release(self) -> None:
        if self._is_started:
            self._remove_container()
            self._waiter.join(GRACE_S)
            if self._waiter.is_alive():
                return  # it will write there yet
        os.close(self._ended)

    def _remove_container(self) -> None:
        _remove(self._api, self._id)
        if self._attachment:
            self._attachment.close()


def connect(url: str | None = None) -> Any:  # noqa: ANN401  the SDK has no types
    """The daemon's API; `url` or DOCKER_HOST says where, else where it usually is."""
    if importlib.util.find_spec("docker") is None:
        raise NoSandbox("The Docker SDK for Python is not installed.", hint=SDK_HINT)
    _refuse_if_nobody_listens(url or os.environ.get("DOCKER_HOST", DEFAULT_URL))
    import docker  # noqa: PLC0415  an extra, and slow

    try:
        # Knowing the version, the SDK need not ask for it; every daemon since 2020 speaks this one.
        settings = {"base_url": url} if url else docker.utils.kwargs_from_env()
        client = docker.APIClient(**settings, version=API_VERSION, max_pool_size=MAX_CONNECTIONS)
        client.ping()
    except _sdk_errors() as error:
        raise NoSandbox(f"Docker does not answer: {error}", hint=DAEMON_HINT) from error
    return client


def _refuse_if_nobody_listens(url: str) -> None:
    """Find out without loading the SDK, which also leaks a socket each time that nobody answers."""
    if url.startswith("unix://"):
        with socket.socket(socket.AF_UNIX) as trial:
            try:
                trial.connect(url.removeprefix("unix://"))
            except OSError as error:
                raise NoSandbox(
                    f"Docker does not answer at {url}: {error.strerror}", hint=DAEMON_HINT
                ) from error


def _sdk_errors() -> tuple[type[Exception], ...]:
    import docker  # noqa: PLC0415  an extra, and slow
    import requests  # noqa: PLC0415  what the SDK speaks through

    return (docker.errors.DockerException, requests.RequestException, OSError)


def _ulimits(template: Template) -> list[dict[str, Any]]:
    limits = {"core": 0, "fsize": template.limits.file_bytes, "nofile": template.limits.open_files}
    return [{"Name": name, "Soft": value, "Hard": value} for name, value in limits.items()]


def _remove(api: Any, container: str) -> None:  # noqa: ANN401  the SDK has no types
    if container:
        with contextlib.suppress(*_sdk_errors()):
            api.remove_container(container, force=True, v=True)


def _bare_image_name(system: HostSystem) -> str:
    digest = hashlib.sha256(repr(sorted(system.links.items())).encode()).hexdigest()
    return f"warmfront-bare:{digest[:12]}"


def _links_alone(system: HostSystem) -> bytes:
    """A root file system of nothing but the links that a host has in its own: /bin to usr/bin, say."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for path, target in system.links.items():
            entry = tarfile.TarInfo(path.lstrip("/"))
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            archive.addfile(entry)
    return data.getvalue()
