"""Checks of the machine that a GPU is in: device files, driver, topology, memory errors, clocks.

Everything is read from the kernel's files. Nothing is executed and no device is opened, so that the checks
also work for a GPU that hangs. Reference: the kernel's documentation of amdgpu, and AMD's matrix of drivers
and ROCm releases.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront import gpus
from warmfront.hip.gpu_health import HealthCheck

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from warmfront.gpus import Gpu

GIB = 1024**3

#: Releases of ROCm in their order, and the version of the amdgpu module that was released with each.
ROCM_DRIVERS = {
    (6, 0): (6, 3),
    (6, 1): (6, 7),
    (6, 2): (6, 8),
    (6, 3): (6, 10),
    (6, 4): (6, 12),
    (7, 0): (6, 14),
    (7, 1): (6, 16, 6),
    (7, 2): (6, 16, 13),
}
#: How many releases the driver may be older or newer than ROCm's libraries. AMD tests two older ones; driver
#: 30.30 (of ROCm 7.2) is documented for ROCm 6.3 to 7.2.
MAX_RELEASES_OLDER, MAX_RELEASES_NEWER = 2, 4

#: More than this share of VRAM in use before anything runs: the GPU is not ours alone.
MAX_USED_VRAM = 0.1

#: With its power limited below this share of its maximum, a GPU is slower than others of its type.
MIN_POWER_SHARE = 0.9
#: Free space for the data of cases, which boxes and judge share.
MIN_SHARED_MEMORY_BYTES = 8 * GIB


@dataclass(frozen=True, kw_only=True)
class GpuHost:
    """Where the kernel's files are. Tests give a tree of their own.

    Attributes:
        root: the directory that contains `dev`, `sys` and `proc`.
        device: index of the GPU among the GPUs of the machine.
        rocm: the ROCm installation; None to look for it in the usual place.
        min_shared_memory_bytes: free space that the data of cases needs in /dev/shm.
    """

    root: Path = Path("/")
    device: int = 0
    rocm: Path | None = None
    min_shared_memory_bytes: int = MIN_SHARED_MEMORY_BYTES

    def path(self, path: str) -> Path:
        """Return the place of an absolute path."""
        return self.root / path.lstrip("/")

    def text(self, path: str | Path) -> str | None:
        """Return the content of a file without white space around it; None if it cannot be read."""
        try:
            return (self.path(path) if isinstance(path, str) else path).read_text(errors="replace").strip()
        except OSError:
            return None

    def number(self, path: str | Path) -> int | None:
        """Return the integer in a file; None if it cannot be read or is no integer."""
        text = self.text(path)
        return int(text) if text and text.isascii() and text.isdigit() else None


@dataclass(frozen=True, kw_only=True)
class GpuNode:
    """One GPU of the driver's topology."""

    arch: str
    compute_units: int
    memory_bytes: int
    render_node: str  #: such as /dev/dri/renderD128
    gpu_id: str  #: the driver's own number
    folder: Path  #: the device's folder in sysfs; it may not exist

    def describe(self) -> str:
        """Describe the GPU in a few words."""
        return f"{self.arch}, {self.compute_units} CUs, {self.memory_bytes / 1e9:.0f} GB"


def gpu_nodes(host: GpuHost) -> list[GpuNode]:
    """Return the GPUs of the topology, in the driver's order."""
    folder = host.path("/sys/class/kfd/kfd/topology/nodes")
    numbered = sorted(
        (int(node.name), node) for node in _entries(folder) if node.name.isascii() and node.name.isdigit()
    )
    nodes = [_gpu_node(host, node) for _, node in numbered]
    return [node for node in nodes if node is not None]


def check_host(host: GpuHost, *, expected: Gpu | None = None) -> tuple[HealthCheck, ...]:
    """Check the machine. If it has no usable GPU, the checks that need one are left out.

    Args:
        host: where the kernel's files are.
        expected: the GPU type that the machine should have; None for any of the catalogue.
    """
    nodes = gpu_nodes(host)
    checks = [
        _kernel(host),
        _driver(host),
        *_device_files(host, nodes),
        _topology(host, nodes, expected),
        _shared_memory(host),
    ]
    if host.device < len(nodes):
        checks += [check(host, nodes[host.device]) for check in DEVICE_CHECKS]
    return tuple(checks)


def _kernel(host: GpuHost) -> HealthCheck:
    release = host.text("/proc/sys/kernel/osrelease") or "unknown"
    return HealthCheck(name="kernel", ok=True, detail=f"Linux {release}")


def _driver(host: GpuHost) -> HealthCheck:
    """Check that the driver is loaded and that AMD supports it with the installed ROCm."""
    name = "amdgpu driver"
    if not host.path("/sys/module/amdgpu").is_dir():
        remedy = "Install the AMD GPU driver (amdgpu), or load it: `sudo modprobe amdgpu`."
        return HealthCheck(name=name, ok=False, detail="the kernel module is not loaded", remedy=remedy)
    driver, rocm = _version(host.text("/sys/module/amdgpu/version")), _rocm_version(host)
    if driver is None:
        detail = "loaded; it is the kernel's own and has no version of AMD's"
        return HealthCheck(name=name, ok=True, detail=detail)
    if rocm is None:
        return HealthCheck(name=name, ok=True, detail=f"{_dotted(driver)}; ROCm's version is unknown")
    distance = _release_of_driver(driver) - _release_of_rocm(rocm)
    detail = f"{_dotted(driver)} with ROCm {_dotted(rocm)}"
    if distance < -MAX_RELEASES_OLDER:
        remedy = "Install a newer amdgpu driver on the host, or use an image with an older ROCm."
        return HealthCheck(name=name, ok=False, detail=f"{detail}: the driver is too old", remedy=remedy)
    if distance > MAX_RELEASES_NEWER:
        remedy = "Use an image with a newer ROCm (WARMFRONT_DOCKER_IMAGE), or an older driver on the host."
        return HealthCheck(name=name, ok=False, detail=f"{detail}: the driver is too new", remedy=remedy)
    return HealthCheck(name=name, ok=True, detail=detail)


def _device_files(host: GpuHost, nodes: list[GpuNode]) -> Iterator[HealthCheck]:
    render_nodes = [node.render_node for node in nodes[host.device : host.device + 1]] or [
        f"/dev/dri/{path.name}" for path in _entries(host.path("/dev/dri")) if path.name.startswith("renderD")
    ]
    yield _device_file(host, "/dev/kfd")
    yield _device_file(host, render_nodes[0] if render_nodes else "/dev/dri/renderD128")


def _device_file(host: GpuHost, path: str) -> HealthCheck:
    """Check that a box can open a device file: it gets the file's group, and no other privilege."""
    try:
        status = host.path(path).stat()
    except OSError as error:
        remedy = "Rent a machine with an AMD GPU, and pass /dev/kfd and /dev/dri to the container."
        return HealthCheck(name=path, ok=False, detail=(error.strerror or "missing").lower(), remedy=remedy)
    mode = stat.S_IMODE(status.st_mode)
    detail = f"uid {status.st_uid}, gid {status.st_gid}, mode {mode:04o}"
    if mode & 0o006 == 0o006 or (mode & 0o060 == 0o060 and status.st_gid != 0):
        return HealthCheck(name=path, ok=True, detail=detail)
    return HealthCheck(
        name=path,
        ok=False,
        detail=f"{detail}: a box may not open it",
        remedy=f"On the host: `sudo chgrp render {path} && sudo chmod 0660 {path}` (or add a udev rule).",
    )


def _topology(host: GpuHost, nodes: list[GpuNode], expected: Gpu | None) -> HealthCheck:
    name = "GPU"
    wanted = expected.name if expected else " or ".join(gpu.name for gpu in gpus.CATALOGUE)
    if host.device >= len(nodes):
        found = f"{len(nodes)} in the driver's topology" if nodes else "none in the driver's topology"
        detail = f"{found}; GPU {host.device} was expected" if nodes else found
        remedy = f"Needed: {wanted}. `dmesg | grep -i amdgpu` shows why the driver found none."
        return HealthCheck(name=name, ok=False, detail=detail, remedy=remedy)
    node = nodes[host.device]
    partition = partition_of(host, node)
    detail = ", ".join(filter(None, [node.describe(), partition]))
    problems = list(_differences(node, partition, expected))
    if problems:
        remedy = f"Needed: {wanted}, not partitioned. Release this machine and rent another."
        return HealthCheck(name=name, ok=False, detail=f"{detail}: {'; '.join(problems)}", remedy=remedy)
    return HealthCheck(name=name, ok=True, detail=detail)


def _differences(node: GpuNode, partition: str, expected: Gpu | None) -> Iterator[str]:
    """Yield how the GPU differs from what was leased."""
    if expected is None:
        if gpus.by_arch(node.arch) is None:
            yield f"{node.arch} is not in the catalogue"
        return
    if node.arch != expected.arch:
        yield f"an {expected.name} is {expected.arch}"
        return
    if node.compute_units and node.compute_units != expected.compute_units:
        yield f"an {expected.name} has {expected.compute_units} CUs"
    # The driver keeps a part of the memory for itself, so the sizes are not equal.
    if node.memory_bytes and not 0.9 < node.memory_bytes / expected.memory_bytes < 1.1:
        yield f"an {expected.name} has {expected.memory_bytes / 1e9:.0f} GB"
    if partition not in {"", "SPX/NPS1", "SPX", "NPS1"}:
        yield "its partition is not SPX/NPS1"


def partition_of(host: GpuHost, node: GpuNode) -> str:
    """Return the compute and memory partition, such as `SPX/NPS1`; empty if the driver has none."""
    names = ("current_compute_partition", "current_memory_partition")
    return "/".join(filter(None, (host.text(node.folder / name) for name in names)))


def _shared_memory(host: GpuHost) -> HealthCheck:
    """Check the space for the data of cases, which boxes and judge share."""
    name = "/dev/shm"  # noqa: S108 - its size is checked
    remedy = f"Mount it with at least {host.min_shared_memory_bytes // GIB} GiB, or set WARMFRONT_BOX_DIR."
    try:
        status = os.statvfs(host.path(name))
    except OSError as error:
        return HealthCheck(name=name, ok=False, detail=(error.strerror or "missing").lower(), remedy=remedy)
    free = status.f_bavail * status.f_frsize
    detail = f"{free / GIB:.1f} GiB free"
    return HealthCheck(name=name, ok=free >= host.min_shared_memory_bytes, detail=detail, remedy=remedy)


def _vram(host: GpuHost, node: GpuNode) -> HealthCheck:
    name = "VRAM"
    total, used = (host.number(node.folder / f"mem_info_vram_{what}") for what in ("total", "used"))
    if not total or used is None:
        return HealthCheck(name=name, ok=True, detail="the driver does not report its use")
    detail = f"{used / 1e9:.1f} of {total / 1e9:.1f} GB in use"
    remedy = "End the other processes that use the GPU, or release this machine and rent another."
    return HealthCheck(name=name, ok=used <= MAX_USED_VRAM * total, detail=detail, remedy=remedy)


def _memory_errors(host: GpuHost, node: GpuNode) -> HealthCheck:
    """Check the counts of ECC errors of the memory controller."""
    name = "ECC"
    report = host.text(node.folder / "ras" / "umc_err_count") or ""
    counts = dict(re.findall(r"^(ue|ce):\s*(\d+)", report, re.MULTILINE))
    if "ue" not in counts:
        return HealthCheck(name=name, ok=True, detail="the driver does not report errors")
    detail = f"{counts['ue']} uncorrectable and {counts.get('ce', '0')} corrected memory errors"
    remedy = "Release this machine and tell the provider: its memory is defective."
    return HealthCheck(name=name, ok=int(counts["ue"]) == 0, detail=detail, remedy=remedy)


def _clocks(host: GpuHost, node: GpuNode) -> HealthCheck:
    name = "clocks"
    level = host.text(node.folder / "power_dpm_force_performance_level")
    speeds = [int(mhz) for mhz in re.findall(r"(\d+)Mhz", host.text(node.folder / "pp_dpm_sclk") or "")]
    if not speeds:
        return HealthCheck(name=name, ok=True, detail="the driver does not report them", required=False)
    detail = f"up to {max(speeds)} MHz, level {level or 'unknown'}"
    remedy = "`sudo rocm-smi --setperflevel auto`: a fixed or low level changes times."
    is_usual = level in {None, "auto", "high"}
    return HealthCheck(name=name, ok=is_usual, detail=detail, remedy=remedy, required=False)


def _power_cap(host: GpuHost, node: GpuNode) -> HealthCheck:
    name = "power cap"
    for sensors in _entries(node.folder / "hwmon"):
        cap, top = (host.number(sensors / name) for name in ("power1_cap", "power1_cap_max"))
        if cap and top:
            detail = f"{cap / 1e6:.0f} of {top / 1e6:.0f} W"
            remedy = "`sudo rocm-smi --resetpoweroverdrive`: kernels are slower under a lower cap."
            return HealthCheck(
                name=name, ok=cap >= MIN_POWER_SHARE * top, detail=detail, remedy=remedy, required=False
            )
    return HealthCheck(name=name, ok=True, detail="the driver does not report it", required=False)


def _other_processes(host: GpuHost, node: GpuNode) -> HealthCheck:
    name = "GPU processes"
    users = [
        process.name
        for process in _entries(host.path("/sys/class/kfd/kfd/proc"))
        if (host.number(process / f"vram_{node.gpu_id}") or 0) > 0
    ]
    detail = f"{len(users)} hold memory of the GPU" if users else "none holds memory of the GPU"
    remedy = "Other processes change times: end them, unless they are the boxes of this service."
    return HealthCheck(name=name, ok=not users, detail=detail, remedy=remedy, required=False)


#: Checks of one GPU.
DEVICE_CHECKS: tuple[Callable[[GpuHost, GpuNode], HealthCheck], ...] = (
    _vram,
    _memory_errors,
    _clocks,
    _power_cap,
    _other_processes,
)


def _gpu_node(host: GpuHost, node: Path) -> GpuNode | None:
    properties = _properties(host, node)
    version = properties.get("gfx_target_version", 0)
    if version == 0:
        return None  # a CPU, or a GPU that this process may not use
    minor = properties.get("drm_render_minor", 0)
    banks = (_properties(host, bank) for bank in _entries(node / "mem_banks"))
    return GpuNode(
        arch=f"gfx{version // 10_000}{version // 100 % 100:x}{version % 100:x}",
        compute_units=properties.get("simd_count", 0) // max(properties.get("simd_per_cu", 0), 1),
        memory_bytes=sum(bank.get("size_in_bytes", 0) for bank in banks),
        render_node=f"/dev/dri/renderD{minor}",
        gpu_id=host.text(node / "gpu_id") or "",
        folder=host.path(f"/sys/class/drm/renderD{minor}/device"),
    )


def _properties(host: GpuHost, folder: Path) -> dict[str, int]:
    pairs = (line.split() for line in (host.text(folder / "properties") or "").splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdecimal()}


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _rocm_version(host: GpuHost) -> tuple[int, ...] | None:
    return _version(host.text((host.rocm or host.path("/opt/rocm")) / ".info" / "version"))


def _version(text: str | None) -> tuple[int, ...] | None:
    match = re.match(r"\d+(\.\d+)+", text or "")
    return tuple(map(int, match[0].split("."))) if match else None


def _release_of_driver(driver: tuple[int, ...]) -> int:
    """Return the number of the ROCm release that the driver belongs to, oldest first."""
    known = sum(driver >= version for version in ROCM_DRIVERS.values()) - 1
    return known + (driver[:2] > max(ROCM_DRIVERS.values())[:2])


def _release_of_rocm(rocm: tuple[int, ...]) -> int:
    """Return the number of a ROCm release; what is newer than all that we know counts as the next one."""
    known = sum(rocm[:2] >= release for release in ROCM_DRIVERS) - 1
    return known + (rocm[:2] > max(ROCM_DRIVERS))


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
