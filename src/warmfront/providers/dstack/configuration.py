"""The configurations that we hand to dstack: the fleet, a VM's worker task, one submission's run.

Plain dictionaries, as their YAML would be, made from the settings alone: nothing here asks a server.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warmfront.errors import BadSetting, UsageError
from warmfront.listener.signed_events import KEY_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from warmfront.settings import Settings

#: Where a listener listens on its VM; reached through dstack's tunnel only.
LISTENER_PORT = 8000
#: Boxes and caches of a VM. Equal on the host and in the worker's container, because the host's Docker
#: daemon, which makes the boxes, knows host paths only.
VM_FOLDER = "/opt/warmfront"
#: The host's Docker daemon, for the sandboxes. It makes the listener root of the VM, and nobody else.
DOCKER_SOCKET = "/var/run/docker.sock"
#: How a run of ours is told from others in the same project.
PREFIX = "wf-"

#: What every task does first.
PREPARE = Path(__file__).with_name("prepare.sh")

#: More dollars an hour than any single MI300X costs: a slip of the keyboard.
_MOST_USD_PER_H = 100
#: What is told to a judge on a VM. Folders and the sandbox are the VM's own affair.
_OURS_ALONE = frozenset({"WARMFRONT_CACHE_DIR", "WARMFRONT_BOX_DIR", "WARMFRONT_SANDBOX"})


def fleet_configuration(settings: Settings) -> dict[str, Any]:
    """A fleet of VMs that dstack starts and ends, from none to as many as allowed."""
    return {
        "type": "fleet",
        "name": settings.fleet_name,
        "nodes": f"0..{settings.fleet_max_nodes}",
        "backends": [settings.backend],
        "resources": _resources(settings, cpu="2.."),
        "idle_duration": duration(settings.fleet_idle_s),
        "spot_policy": settings.spot_policy,
        "max_price": max_price(settings),
    }


def worker_task(
    settings: Settings,
    *,
    vm_id: str,
    token: str,
    listener: Sequence[str] = ("warmfront", "listener"),
    environ: Mapping[str, str] | None = None,
    files: Sequence[str] = (),
) -> dict[str, Any]:
    """The long-running task that makes a VM ours: the listener, until we or its dead-man end it.

    `environ` goes on top of the judge's settings; `files` are `local:remote` pairs that dstack uploads.
    """
    options = ("--port", str(LISTENER_PORT), "--dead-man", f"{settings.dead_man_s:g}")
    return {
        **_task(settings, name=run_name(vm_id), files=files),
        "commands": [_prepare(), f"exec {shlex.join((*listener, *options))}"],
        "ports": [f"*:{LISTENER_PORT}"],
        "env": {**judge_environ(settings), **(environ or {}), "WARMFRONT_LISTENER_TOKEN": token},
        # The worker ends when the VM is no longer wanted, so that nobody pays for what comes after it.
        "idle_duration": "0s",
        "max_duration": duration(settings.vm_max_s),
    }


def submission_task(
    settings: Settings,
    *,
    name: str,
    commands: Sequence[str],
    environ: Mapping[str, str] | None = None,
    files: Sequence[str] = (),
    ports: Sequence[int] = (),
) -> dict[str, Any]:
    """A run for one submission, on a VM that an earlier one left warm, or on a new one."""
    task = {
        **_task(settings, name=name, files=files),
        "commands": [_prepare(), *commands],
        "env": {**judge_environ(settings), **(environ or {})},
        "idle_duration": duration(settings.fleet_idle_s),
        # dstack counts from the start of the command: the VM's boot and the image are not in it.
        "max_duration": duration(int(settings.task_timeout_s)),
    }
    return {**task, "ports": [f"*:{port}" for port in ports]} if ports else task


def server_configuration(settings: Settings) -> dict[str, Any]:
    """The `config.yml` of a dstack server of one's own, with the backend that the fleet needs."""
    if settings.backend != "amddevcloud" or not settings.devcloud_api_key:
        raise BadSetting(
            f"AMD_BACKEND is {settings.backend!r} and DSTACK_AMDDEVCLOUD_API_KEY is "
            f"{'set' if settings.devcloud_api_key else 'not set'}: there is no backend to configure.",
            hint="Set DSTACK_AMDDEVCLOUD_API_KEY to the key of your AMD Developer Cloud account, and "
            "AMD_BACKEND to amddevcloud.",
        )
    creds = {"type": "api_key", "api_key": settings.devcloud_api_key}
    backend = {"type": settings.backend, "creds": creds}
    return {"projects": [{"name": settings.dstack_project or "main", "backends": [backend]}]}


def of_kind(kind: str, settings: Settings) -> dict[str, Any]:
    """The configuration of that name, as a file for `dstack apply`."""
    kinds: dict[str, Callable[[], dict[str, Any]]] = {
        "fleet": lambda: fleet_configuration(settings),
        "worker": lambda: _as_file(worker_task(settings, vm_id="vm_example", token="")),
        "direct": lambda: _as_file(
            submission_task(
                settings,
                name="wf-att-example",
                commands=["exec python3 -m warmfront.listener --once attempt.json"],
                environ={KEY_VARIABLE: ""},
                files=["attempt.json:attempt.json"],
            )
        ),
        "server": lambda: server_configuration(settings),
    }
    if kind not in kinds:
        raise UsageError(f"There is no configuration {kind!r}.", hint=f"Use one of: {', '.join(kinds)}.")
    return kinds[kind]()


def _as_file(task: dict[str, Any]) -> dict[str, Any]:
    """With no secret in it: a variable that is only named comes from the environment of `dstack apply`."""
    return {**task, "env": [f"{name}={value}" if value else name for name, value in task["env"].items()]}


def judge_environ(settings: Settings) -> dict[str, str]:
    """The judge's limits as they are set here, no path of this machine, and the image that it runs in."""
    limits = {name: value for name, value in settings.judge_environ().items() if name not in _OURS_ALONE}
    return {**limits, "WARMFRONT_WORKER_IMAGE": settings.worker_image}


def run_name(our_id: str) -> str:
    """The name in dstack of what we call `vm_1a2b…`: the same id, the same name, whenever it is asked."""
    return f"{PREFIX}{our_id.lower().replace('_', '-')}"


def id_of(name: str) -> str | None:
    """The id that a run's name was made from; None if it is no run of ours."""
    kind, separator, rest = name.removeprefix(PREFIX).partition("-")
    return f"{kind}_{rest}" if name.startswith(PREFIX) and separator and rest else None


def max_price(settings: Settings) -> float:
    """The most that a VM may cost an hour: what the ledger and the escrow count with, and no cent more."""
    rate = settings.rate_usd_per_h
    if not 0 < rate <= _MOST_USD_PER_H:
        raise BadSetting(
            f"AMD_MI300X_HOURLY_RATE is '{rate}', which is not a price of a VM in the cloud.",
            hint=f"Set AMD_MI300X_HOURLY_RATE to dollars an hour, above 0 and at most {_MOST_USD_PER_H}.",
        )
    return float(rate)


def duration(seconds: int) -> str:
    """Seconds as dstack writes them, in the largest unit that is exact: `10m`, `90s`, `1d`."""
    units = ((86400, "d"), (3600, "h"), (60, "m"))
    for unit_s, letter in units:
        if seconds and seconds % unit_s == 0:
            return f"{seconds // unit_s}{letter}"
    return f"{seconds}s"


def _task(settings: Settings, *, name: str, files: Sequence[str]) -> dict[str, Any]:
    """What both kinds of task have in common."""
    task: dict[str, Any] = {
        "type": "task",
        "name": name,
        "image": settings.worker_image,
        # With the user, the commands and the architecture given, dstack need not ask the image's registry.
        "user": "root",
        "volumes": [f"{DOCKER_SOCKET}:{DOCKER_SOCKET}", f"{VM_FOLDER}:{VM_FOLDER}"],
        "resources": _resources(settings, cpu="x86:2.."),
        "fleets": [settings.fleet_name],
        "backends": [settings.backend],
        "spot_policy": settings.spot_policy,
        "max_price": max_price(settings),
        "creation_policy": "reuse-or-create",
    }
    return {**task, "files": list(files)} if files else task


def _resources(settings: Settings, *, cpu: str) -> dict[str, Any]:
    return {
        "gpu": {"name": settings.gpu_type, "memory": settings.gpu_memory, "count": 1},
        "cpu": cpu,
        "memory": "8GB..",
        "disk": "100GB..",
    }


def _prepare() -> str:
    """The script without its comments: dstack shows a task's commands to people."""
    lines = PREPARE.read_text().splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("#"))
