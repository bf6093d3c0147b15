"""The configurations that we send to dstack: the fleet, a VM's worker task, and one attempt's run.

They are plain dictionaries with the structure of dstack's YAML, built only from the settings. This module
does not call a server.
"""

from __future__ import annotations

import itertools
import logging
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warmfront import gpus
from warmfront.errors import BadSetting, UsageError
from warmfront.gpus import CPU_NODE
from warmfront.listener.signed_events import KEY_VARIABLE
from warmfront.providers.dstack import listener_bundle
from warmfront.providers.dstack.backends import server_configuration
from warmfront.providers.dstack.ssh_fleet import ssh_fleet_configuration
from warmfront.providers.ownership import OWNER_ID_DIGITS
from warmfront.sandbox.process_tree import HOST_PROC
from warmfront.settings import NO_IMAGE
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from decimal import Decimal

    from warmfront.settings import Settings

log = logging.getLogger(__name__)

#: The listener's port on its VM; it is reachable only through dstack's tunnel.
LISTENER_PORT = 8000
#: Boxes and caches of a VM. The path is the same on the host and in the worker's container, because the
#: host's Docker daemon, which creates the boxes, uses host paths.
VM_FOLDER = "/opt/warmfront"
#: The host's Docker daemon, which creates the sandboxes. Access to it makes the listener root on the VM.
DOCKER_SOCKET = "/var/run/docker.sock"
#: Where a task mounts the processes and control groups of its VM, to read the CPU time of boxes and to freeze
#: them. Using the Docker daemon instead takes up to a second.
HOST_FILES = {"/proc": str(HOST_PROC), "/sys/fs/cgroup": "/host/cgroup"}
#: The boxes of a VM are in a tmpfs of the host. dstack shares /dev/shm only with tasks that have a GPU.
_BOXES = "/dev/shm/warmfront"  # noqa: S108 - on the VM
#: The prefix that distinguishes our runs from others in the same project.
PREFIX = "wf-"

_RUN_NAME = re.compile(rf"{PREFIX}(?:(?P<owner>[0-9a-f]{{{OWNER_ID_DIGITS}}})-)?(?P<kind>vm|att)-(?P<id>.+)")

#: The uploaded file with the attempt, in direct mode.
ATTEMPT_FILE = "attempt.json"

#: The first command of every task.
PREPARE = Path(__file__).with_name("prepare.sh")

#: More than any VM with one GPU costs per hour, so a higher rate must be a typing error.
_MAX_USD_PER_H = 100
#: Backends that bill some VMs for a minimum time, which dstack does not report.
_BACKENDS_WITH_MINIMUM = frozenset({"hotaisle"})
#: Judge settings that are not sent to a VM: it has its own directories, sandbox and image.
_LOCAL_ONLY = frozenset(
    {"WARMFRONT_CACHE_DIR", "WARMFRONT_BOX_DIR", "WARMFRONT_SANDBOX", "WARMFRONT_DOCKER_IMAGE"}
)
IMAGE_HINT = (
    "Build it with `warmfront image build` and set the variable to the name that `warmfront image push` "
    "prints; WARMFRONT_REQUIRE_DIGESTS=false allows an image without a digest."
)


def check_images(settings: Settings) -> None:
    """Check that the image of VMs is named by digest, because a tag can be moved to other content.

    Raises:
        BadSetting: It is not named by digest, and WARMFRONT_REQUIRE_DIGESTS is not false.
    """
    problem = unpinned_image(settings)
    if problem is None:
        return
    if settings.require_digests:
        raise BadSetting(problem, hint=IMAGE_HINT)
    log.warning("%s It runs as root on every VM. %s", problem, IMAGE_HINT)


def unpinned_image(settings: Settings) -> str | None:
    """Return why the image of VMs is not pinned; None if it is pinned."""
    if settings.worker_image == NO_IMAGE:
        return "WARMFRONT_WORKER_IMAGE is not set: VMs have no image."
    images = {"WARMFRONT_WORKER_IMAGE": settings.worker_image, "AMD_CPU_IMAGE": settings.cpu_image or ""}
    for variable, image in images.items():
        if image and "@sha256:" not in image:
            return f"{variable} is {image!r}, which has no digest: its tag can be moved to another."
    return None


def fleet_gpus(settings: Settings) -> tuple[str, ...]:
    """Return the GPU types that the fleet may have."""
    return settings.gpu_types


def fleet_configuration(settings: Settings) -> dict[str, Any]:
    """Return a fleet whose VMs dstack starts on demand, from none up to the maximum; or the SSH fleet."""
    if settings.fleet_hosts:
        return ssh_fleet_configuration(settings)
    names = fleet_gpus(settings)
    if settings.is_of_cpu_fleet:
        return _fleet(settings, _cpu_resources(settings, f"{settings.cpu_cores}.."))
    gpu: dict[str, Any] = gpu_requirement(settings, names[0])
    if len(names) > 1:
        memory_gb = sorted(gpus.get(name).memory_bytes // 10**9 for name in names)
        gpu = {**gpu, "name": list(names), "memory": f"{memory_gb[0]}GB..{memory_gb[-1]}GB"}
    counts = settings.gpu_counts
    if counts[-1] > 1:
        gpu["memory"] = f"{gpu['memory'].partition('..')[0]}.."
    gpu["count"] = counts[0] if len(counts) == 1 else f"{counts[0]}..{counts[-1]}"
    return _fleet(settings, _resources(gpu, cpu="2.."))


def _fleet(settings: Settings, resources: dict[str, Any]) -> dict[str, Any]:
    sizes = itertools.product(fleet_gpus(settings), settings.gpu_counts)
    return {
        "type": "fleet",
        "name": settings.fleet_name,
        "nodes": f"0..{settings.max_fleet_vms}",
        "backends": list(settings.backends),
        **_regions(settings),
        "resources": resources,
        "idle_duration": duration(settings.fleet_idle_s),
        "spot_policy": settings.spot_policy,
        "max_price": max(max_price(settings, name, count) for name, count in sizes),
    }


def worker_task(
    settings: Settings,
    *,
    vm_id: str,
    gpu: str,
    token: str,
    gpu_count: int = 1,
    owner: str | None = None,
    listener: Sequence[str] = ("python3", "-m", "warmfront.listener"),
    environ: Mapping[str, str] | None = None,
    files: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the long-running task of a VM: the listener, which runs until we or its watchdog end it.

    Args:
        settings: Our settings.
        vm_id: Our id of the VM; the run is named after it.
        gpu: The GPU type of the VM.
        token: The bearer token that the listener requires.
        gpu_count: How many GPUs the VM has; each is a slot of its listener.
        owner: The owner id of this service, which becomes part of the run's name.
        listener: The command that starts the listener.
        environ: Variables in addition to the judge's settings.
        files: `local:remote` pairs that dstack uploads.
    """
    options = (
        *("--port", str(LISTENER_PORT), "--dead-man", f"{settings.watchdog_s:g}"),
        *("--toolchain", settings.worker_toolchain, "--stay-to-report"),
    )
    return {
        **_task(settings, name=run_name(vm_id, owner), gpu=gpu, gpu_count=gpu_count, files=files),
        "commands": [_prepare(), f"exec {shlex.join((*listener, *options))}"],
        "ports": [f"*:{LISTENER_PORT}"],
        "env": {
            **judge_environ(settings, gpu),
            **_slots_environ(settings, gpu, gpu_count),
            **(environ or {}),
            "WARMFRONT_LISTENER_TOKEN": token,
        },
        # The worker ends when the VM is no longer needed; idle time after that would be wasted.
        "idle_duration": "0s",
        "max_duration": duration(settings.vm_max_s),
    }


def attempt_task(
    settings: Settings,
    *,
    name: str,
    gpu: str,
    commands: Sequence[str],
    environ: Mapping[str, str] | None = None,
    files: Sequence[str] = (),
    ports: Sequence[int] = (),
) -> dict[str, Any]:
    """Return the run of one attempt, on an idle or a new VM."""
    task = {
        **_task(settings, name=name, gpu=gpu, files=files),
        "commands": [_prepare(), *commands],
        "env": {**judge_environ(settings, gpu), **(environ or {})},
        "idle_duration": duration(settings.fleet_idle_s),
        # dstack counts from the start of the command: the VM's boot and the image pull are not included.
        "max_duration": duration(int(settings.task_timeout_s)),
    }
    return {**task, "ports": [f"*:{port}" for port in ports]} if ports else task


def minimum_reservation_s(settings: Settings, backend: str | None = None) -> int:
    """Return the minimum time for which a VM is billed, on this backend or, with None, on any.

    If some of the configured backends are known to have a minimum, the setting applies only to those.

    Raises:
        BadSetting: The backend has a minimum, which dstack does not report, and no setting states it.
    """
    with_minimum = _BACKENDS_WITH_MINIMUM.intersection(settings.backends)
    if settings.minimum_reservation_s is not None:
        applies = backend is None or not with_minimum or backend in with_minimum
        return settings.minimum_reservation_s if applies else 0
    if with_minimum:
        raise BadSetting(
            f"AMD_MINIMUM_RESERVATION is not set, and {settings.backend} bills some VMs for a minimum number "
            "of hours, so the recorded costs would be far too low.",
            hint="Set it to the `MinimumReservationMinutes` of your VM type, such as 4h, or to 0s if it has "
            "none.",
        )
    return 0


def example_configuration(kind: str, settings: Settings, *, bundle: Path | None = None) -> dict[str, Any]:
    """Return a configuration that the service submits, as a file for `dstack apply`.

    Args:
        kind: fleet, cpu-fleet, worker, direct or server.
        settings: Our settings.
        bundle: The folder with the listener, which a task uploads; None for one in the current directory.

    Raises:
        UsageError: There is no such kind.
    """
    gpu = fleet_gpus(settings)[0]
    files = [bundle_files(bundle or Path(listener_bundle.FOLDER))]
    kinds: dict[str, Callable[[], dict[str, Any]]] = {
        "fleet": lambda: fleet_configuration(settings),
        "cpu-fleet": lambda: fleet_configuration(require_cpu_fleet(settings)),
        "worker": lambda: _as_file(
            worker_task(
                settings,
                vm_id="vm_example",
                gpu=gpu,
                token="",
                listener=listener_bundle.LISTENER,
                files=files,
            )
        ),
        "direct": lambda: _as_file(
            attempt_task(
                settings,
                name="wf-att-example",
                gpu=gpu,
                commands=[attempt_command(settings)],
                environ={KEY_VARIABLE: ""},
                files=[*files, f"{ATTEMPT_FILE}:{ATTEMPT_FILE}"],
            )
        ),
        "server": lambda: server_configuration(settings),
    }
    if kind not in kinds:
        raise UsageError(f"Unknown configuration {kind!r}; known: {', '.join(kinds)}.")
    return kinds[kind]()


def require_cpu_fleet(settings: Settings) -> Settings:
    """Return the settings of the fleet of CPU nodes.

    Raises:
        BadSetting: There is no such fleet.
    """
    if settings.cpu_fleet_name is None:
        raise BadSetting(
            "AMD_CPU_FLEET_NAME is not set, so there is no fleet of CPU nodes.",
            hint="Set it to a name for the fleet, such as amd-cpu-fleet.",
        )
    return settings.of_cpu_fleet()


def bundle_files(bundle: Path) -> str:
    """Return the entry of a task's `files` that uploads the listener."""
    return f"{bundle}:{listener_bundle.FOLDER}"


def attempt_command(settings: Settings) -> str:
    """Return the command that judges the uploaded attempt."""
    options = ("--once", ATTEMPT_FILE, "--toolchain", settings.worker_toolchain)
    return f"exec {shlex.join((*listener_bundle.LISTENER, *options))}"


def _as_file(task: dict[str, Any]) -> dict[str, Any]:
    """Return the task without secrets. dstack reads a variable without a value from its own environment."""
    env = [f"{name}={value}" if value else name for name, value in task["env"].items()]
    if "registry_auth" not in task:
        return {**task, "env": env}
    password = "${{ secrets.registry_password }}"  # noqa: S105 - a reference, for `dstack secret set`
    return {**task, "env": env, "registry_auth": {**task["registry_auth"], "password": password}}


def judge_environ(settings: Settings, gpu: str) -> dict[str, str]:
    """Return the judge's settings for a VM with this GPU type, without paths of this machine."""
    limits = {name: value for name, value in settings.judge_environ().items() if name not in _LOCAL_ONLY}
    # The CPU runtime of a CPU node executes kernels for the default GPU type.
    judged_for = settings.default_gpu if gpu == CPU_NODE else gpu
    return {**limits, "WARMFRONT_GPU": judged_for, "WARMFRONT_WORKER_IMAGE": settings.worker_image}


def run_name(our_id: str, owner: str | None = None) -> str:
    """Return the run name for one of our ids, such as `vm_1a2b`; the same id always gives the same name.

    Args:
        our_id: The id of a VM or an attempt.
        owner: The owner id of the service; None for run names from before owner ids were introduced.
    """
    label = f"{owner}-" if owner else ""
    return f"{PREFIX}{label}{our_id.lower().replace('_', '-')}"


@dataclass(frozen=True, kw_only=True)
class RunLabel:
    """The parts of a run's name, of this service or another one."""

    owner: str | None  #: the owner id; None if the run is older than owner ids
    our_id: str  #: the id of the VM or of the attempt

    @property
    def is_vm(self) -> bool:
        """Whether the run is a VM."""
        return self.our_id.startswith("vm_")

    @property
    def is_attempt(self) -> bool:
        """Whether the run is an attempt of direct mode, on a VM of the same service."""
        return self.our_id.startswith("att_")


def parse_run_name(name: str) -> RunLabel | None:
    """Return the owner and id in a run's name; None if it is not a Warmfront run."""
    label = _RUN_NAME.fullmatch(name)
    return RunLabel(owner=label["owner"], our_id=f"{label['kind']}_{label['id']}") if label else None


def _slots_environ(settings: Settings, gpu: str, gpu_count: int) -> dict[str, str]:
    """Return the number of slots for a listener that has no GPUs to count."""
    if gpu == CPU_NODE:
        return {"WARMFRONT_SLOTS": str(settings.cpu_slots)}
    return {"WARMFRONT_SLOTS": str(gpu_count)} if settings.worker_toolchain == "cpu" else {}


def max_price(settings: Settings, gpu: str, gpu_count: int = 1) -> float:
    """Return the highest allowed price of a VM per hour, which is the rate that the escrow uses.

    Raises:
        BadSetting: The rate cannot be the price of a cloud VM.
    """
    rate, most = settings.vm_rate_usd_per_h(gpu, gpu_count), _MAX_USD_PER_H * gpu_count
    if not 0 < rate <= most:
        variable = rate_variable(gpu, gpu_count)
        raise BadSetting(
            f"{variable} is '{rate}', which cannot be the hourly price of a cloud VM.",
            hint=f"Set {variable} to dollars per hour, above 0 and at most {most}.",
        )
    return float(rate)


def spot_rate_usd_per_h(settings: Settings, gpu: str, gpu_count: int = 1) -> Decimal | None:
    """Return the price of a spot VM with this many GPUs; None if the settings exclude spot VMs."""
    if settings.spot_policy == "on-demand":
        return None
    rate = settings.vm_rate_usd_per_h(gpu, gpu_count)
    if settings.spot_price_ratio is None:
        return rate if settings.spot_policy == "spot" else None
    return rate * settings.spot_price_ratio


def on_market(
    settings: Settings, task: dict[str, Any], gpu: str, gpu_count: int = 1, *, spot: bool
) -> dict[str, Any]:
    """Return a task that requests a spot VM or an on-demand VM, at its price.

    Without a price ratio dstack chooses by AMD_SPOT_POLICY alone.
    """
    if settings.spot_price_ratio is None:
        return task
    rate = spot_rate_usd_per_h(settings, gpu, gpu_count) if spot else None
    price = max_price(settings, gpu, gpu_count) if rate is None else float(rate)
    return {**task, "spot_policy": "spot" if spot else "on-demand", "max_price": price}


def rate_variable(gpu: str, gpu_count: int = 1) -> str:
    """Return the name of the variable that sets the hourly rate of a VM with this many GPUs."""
    return f"AMD_{gpu}_HOURLY_RATE" if gpu_count == 1 else "AMD_VM_GPU_RATES"


def duration(seconds: int) -> str:
    """Format a duration for dstack, in the largest unit that is exact: `10m`, `90s`, `1d`."""
    units = ((86400, "d"), (3600, "h"), (60, "m"))
    for unit_s, letter in units:
        if seconds and seconds % unit_s == 0:
            return f"{seconds // unit_s}{letter}"
    return f"{seconds}s"


def gpu_requirement(settings: Settings, gpu: str, gpu_count: int = 1) -> dict[str, Any]:
    """Return dstack's `gpu` requirement for GPUs of this type.

    The memory is the catalog's, but for a fleet with a single GPU type AMD_GPU_MEMORY takes precedence.
    """
    known = gpus.by_name(gpu)
    memory = settings.gpu_memory
    if known is not None and fleet_gpus(settings) != (gpu,):
        memory = f"{known.memory_bytes // 10**9}GB"
    # A cloud may report the total memory of a VM's GPUs, which dstack interprets as that of one GPU.
    return {"name": gpu, "memory": memory if gpu_count == 1 else f"{memory}..", "count": gpu_count}


def _task(
    settings: Settings, *, name: str, gpu: str, gpu_count: int = 1, files: Sequence[str]
) -> dict[str, Any]:
    """Return the part that is common to both kinds of task."""
    task: dict[str, Any] = {
        "type": "task",
        "name": name,
        "image": settings.worker_image,
        # With user, commands and architecture given, dstack does not query the image's registry.
        "user": "root",
        "volumes": [
            f"{DOCKER_SOCKET}:{DOCKER_SOCKET}",
            f"{VM_FOLDER}:{VM_FOLDER}",
            *(f"{path}:{inside}" for path, inside in HOST_FILES.items()),
            *([f"{_BOXES}:{_BOXES}"] if gpu == CPU_NODE else []),
        ],
        "resources": _task_resources(settings, gpu, gpu_count),
        "fleets": [settings.fleet_name],
        **_market(settings, gpu, gpu_count),
    }
    if settings.registry_username and settings.registry_password:
        task["registry_auth"] = {
            "username": settings.registry_username,
            "password": settings.registry_password,
        }
    return {**task, "files": list(files)} if files else task


def _market(settings: Settings, gpu: str, gpu_count: int) -> dict[str, Any]:
    """Return which machines dstack may use: those of the clouds up to our price, or only existing hosts."""
    if settings.fleet_hosts:
        return {"creation_policy": "reuse"}
    return {
        "backends": list(settings.backends),
        **_regions(settings),
        "spot_policy": settings.spot_policy,
        "max_price": max_price(settings, gpu, gpu_count),
        "creation_policy": "reuse-or-create",
    }


def _regions(settings: Settings) -> dict[str, Any]:
    return {"regions": list(settings.regions)} if settings.regions else {}


def _task_resources(settings: Settings, gpu: str, gpu_count: int) -> dict[str, Any]:
    if gpu == CPU_NODE:
        return _cpu_resources(settings, f"x86:{settings.cpu_cores}..")
    return _resources(gpu_requirement(settings, gpu, gpu_count), cpu="x86:2..")


def _cpu_resources(settings: Settings, cpu: str) -> dict[str, Any]:
    """Return the resources of a CPU node. `gpu: 0` excludes VMs with a GPU, even if one is cheap."""
    return {"gpu": 0, "cpu": cpu, "memory": f"{settings.cpu_memory}..", "disk": f"{settings.cpu_disk}.."}


def _resources(gpu: dict[str, Any], *, cpu: str) -> dict[str, Any]:
    return {"gpu": gpu, "cpu": cpu, "memory": "8GB..", "disk": "100GB.."}


def _prepare() -> str:
    """Return the script without its comments, because dstack displays a task's commands."""
    lines = PREPARE.read_text().splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("#"))
