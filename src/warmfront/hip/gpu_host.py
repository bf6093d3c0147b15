"""Check the machine of a GPU: device files, driver, topology, memory errors, clocks.

All facts come from the kernel's files. No program is executed and no device is opened, so that the checks
also work for a GPU that hangs. Reference: the kernel's documentation of amdgpu, and AMD's matrix of drivers
and ROCm releases.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront import gpus
from warmfront.hip.device_facts import MAX_BYTES, installed_devices
from warmfront.hip.gpu_health import HealthCheck
from warmfront.hip.installed_gpu import gpu_of
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from warmfront.gpus import Gpu
    from warmfront.hip.device_facts import DeviceFacts

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

#: If more than this share of VRAM is in use before anything runs, something else uses the GPU.
MAX_USED_VRAM = 0.1

#: If its power is limited below this share of its maximum, a GPU is slower than others of its type.
MIN_POWER_SHARE = 0.9
#: If more than this share of the host's memory is pinned, the machine may stop working.
MAX_PINNED_SHARE = 0.75
#: Files of the driver: whether it clears LDS and registers between programs, and a command to clear them.
ENFORCE_ISOLATION, RUN_CLEANER = "enforce_isolation", "run_cleaner_shader"
FIRST_PARTITION = b"0"  #: the text that is written to `RUN_CLEANER`
#: Free space for the data of cases, which boxes and judge share.
MIN_SHARED_MEMORY_BYTES = 8 * GIB


@dataclass(frozen=True, kw_only=True)
class GpuHost:
    """The location of the kernel's files, and the selected GPU. Tests use their own directory tree.

    Attributes:
        root: the directory that contains `dev`, `sys` and `proc`.
        render_minor: number of the GPU's render node, such as 128; None for the first GPU.
        rocm: the ROCm installation; None to look for it in the usual place.
        min_shared_memory_bytes: free space that the data of cases needs in /dev/shm.
    """

    root: Path = Path("/")
    render_minor: int | None = None
    rocm: Path | None = None
    min_shared_memory_bytes: int = MIN_SHARED_MEMORY_BYTES

    def path(self, path: str) -> Path:
        """Return an absolute path below `root`."""
        return self.root / path.lstrip("/")

    def text(self, path: str | Path) -> str | None:
        """Return the content of a file without white space around it; None if it cannot be read."""
        try:
            with (self.path(path) if isinstance(path, str) else path).open("rb") as file:
                return file.read(MAX_BYTES).decode(errors="replace").strip()
        except OSError:
            return None

    def number(self, path: str | Path) -> int | None:
        """Return the integer in a file; None if it cannot be read or is not an integer."""
        text = self.text(path)
        return int(text) if text and text.isascii() and text.isdigit() else None

    def device(self) -> DeviceFacts | None:
        """Return the selected GPU, as the driver presents it; None if there is none."""
        devices = installed_devices(self.path("/sys"))
        if self.render_minor is None:
            return next(iter(devices), None)
        return next((device for device in devices if device.render_minor == self.render_minor), None)

    def device_folder(self, device: DeviceFacts) -> Path:
        """Return the folder of a device in sysfs, which may not exist.

        Partitions share the folder of their card.
        """
        pci = self.path(f"/sys/bus/pci/devices/{device.pci_bus_id}")
        if device.pci_bus_id and pci.is_dir():
            return pci
        return self.path(f"/sys/class/drm/renderD{device.render_minor}/device")


def check_host(host: GpuHost, *, expected: Gpu | None = None) -> tuple[HealthCheck, ...]:
    """Check the machine. If it has no usable GPU, skip the checks that need one.

    Args:
        host: the location of the kernel's files.
        expected: the GPU type that the machine should have; None for any of the catalog.
    """
    device = host.device()
    checks = [
        _kernel(host),
        _driver(host),
        *_device_files(host, device),
        _gpu(device, expected),
        _shared_memory(host),
    ]
    if device is not None:
        checks += [check(host, host.device_folder(device)) for check in DEVICE_CHECKS]
    return tuple(checks)


def clear_lds(host: GpuHost) -> bool:
    """Make the driver clear LDS and registers, if it supports that and does not do it automatically.

    Returns:
        Whether the driver was asked to clear them.
    """
    device = host.device()
    if device is None:
        return False
    try:
        # The driver's file can only be written; opening it for reading as well would fail.
        cleaner = os.open(host.device_folder(device) / RUN_CLEANER, os.O_WRONLY | os.O_CLOEXEC)
    except OSError:  # not supported, or sysfs is read-only in a container: `check_host` reports it
        return False
    try:
        os.write(cleaner, FIRST_PARTITION)
    except OSError:
        return False
    finally:
        os.close(cleaner)
    return True


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
        detail = "loaded; it is the kernel's own driver, without an AMD version"
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


def _device_files(host: GpuHost, device: DeviceFacts | None) -> Iterator[HealthCheck]:
    yield _device_file(host, "/dev/kfd")
    nodes = sorted(path.name for path in _entries(host.path("/dev/dri")) if path.name.startswith("renderD"))
    own = device.render_node if device else None
    yield _device_file(host, own or f"/dev/dri/{nodes[0] if nodes else 'renderD128'}")


def _device_file(host: GpuHost, path: str) -> HealthCheck:
    """Check that a box can open a device file with only the file's group, and no other privilege."""
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


def _gpu(device: DeviceFacts | None, expected: Gpu | None) -> HealthCheck:
    """Check that the GPU is the leased type or, if that is not given, any type in the catalog."""
    name = "GPU"
    wanted = expected.name if expected else " or ".join(gpu.name for gpu in gpus.CATALOG)
    if device is None:
        remedy = f"Needed: {wanted}. `dmesg | grep -i amdgpu` shows why the driver found none."
        return HealthCheck(name=name, ok=False, detail="none in the driver's topology", remedy=remedy)
    facts = (
        device.arch,
        f"{device.compute_units} CUs",
        f"{device.memory_bytes / 1e9:.0f} GB",
        device.partition,
    )
    detail = ", ".join(filter(None, facts))
    gpu = gpu_of(device)
    if gpu is not None and (expected is None or gpu.name == expected.name):
        return HealthCheck(name=name, ok=True, detail=f"{gpu.name}: {detail}")
    found = gpu.name if gpu else "not in the catalog"
    return HealthCheck(
        name=name,
        ok=False,
        detail=f"{found}: {detail}; expected: {wanted}",
        remedy="Release this machine and rent another, or set AMD_GPU_TYPE to its GPU type.",
    )


def _shared_memory(host: GpuHost) -> HealthCheck:
    """Check the space for the data of cases, which boxes and judge share."""
    name = "/dev/shm"  # noqa: S108 - its size is checked
    needed = host.min_shared_memory_bytes
    remedy = f"Mount it with at least {needed >> 20:,} MiB, or set WARMFRONT_BOX_DIR."
    try:
        status = os.statvfs(host.path(name))
    except OSError as error:
        return HealthCheck(name=name, ok=False, detail=(error.strerror or "missing").lower(), remedy=remedy)
    free = status.f_bavail * status.f_frsize
    if free < needed:
        detail = f"{free >> 20:,} MiB free; the data of cases needs {needed >> 20:,} MiB"
        return HealthCheck(name=name, ok=False, detail=detail, remedy=remedy)
    return HealthCheck(name=name, ok=True, detail=f"{free / GIB:.1f} GiB free")


def _vram(host: GpuHost, folder: Path) -> HealthCheck:
    name = "VRAM"
    total, used = (host.number(folder / f"mem_info_vram_{what}") for what in ("total", "used"))
    if not total or used is None:
        return HealthCheck(name=name, ok=True, detail="the driver does not report its use")
    detail = f"{used / 1e9:.1f} of {total / 1e9:.1f} GB in use"
    remedy = "End the other processes that use the GPU, or release this machine and rent another."
    return HealthCheck(name=name, ok=used <= MAX_USED_VRAM * total, detail=detail, remedy=remedy)


def _memory_errors(host: GpuHost, folder: Path) -> HealthCheck:
    """Check the counts of ECC errors of the memory controller."""
    name = "ECC"
    report = host.text(folder / "ras" / "umc_err_count") or ""
    counts = dict(re.findall(r"^(ue|ce):\s*(\d+)", report, re.MULTILINE))
    if "ue" not in counts:
        return HealthCheck(name=name, ok=True, detail="the driver does not report errors")
    detail = f"{counts['ue']} uncorrectable and {counts.get('ce', '0')} corrected memory errors"
    remedy = "Release this machine and inform the provider: its memory is defective."
    return HealthCheck(name=name, ok=int(counts["ue"]) == 0, detail=detail, remedy=remedy)


def _clocks(host: GpuHost, folder: Path) -> HealthCheck:
    name = "clocks"
    level = host.text(folder / "power_dpm_force_performance_level")
    speeds = [int(mhz) for mhz in re.findall(r"(\d+)Mhz", host.text(folder / "pp_dpm_sclk") or "")]
    if not speeds:
        return HealthCheck(name=name, ok=True, detail="the driver does not report them", required=False)
    detail = f"up to {max(speeds)} MHz, level {level or 'unknown'}"
    remedy = "`sudo rocm-smi --setperflevel auto`: a fixed or low level changes times."
    is_usual = level in {None, "auto", "high"}
    return HealthCheck(name=name, ok=is_usual, detail=detail, remedy=remedy, required=False)


def _power_cap(host: GpuHost, folder: Path) -> HealthCheck:
    name = "power cap"
    for sensors in _entries(folder / "hwmon"):
        cap, top = (host.number(sensors / name) for name in ("power1_cap", "power1_cap_max"))
        if cap and top:
            detail = f"{cap / 1e6:.0f} of {top / 1e6:.0f} W"
            remedy = "`sudo rocm-smi --resetpoweroverdrive`: kernels are slower under a lower cap."
            return HealthCheck(
                name=name, ok=cap >= MIN_POWER_SHARE * top, detail=detail, remedy=remedy, required=False
            )
    return HealthCheck(name=name, ok=True, detail="the driver does not report it", required=False)


def _other_processes(host: GpuHost, _folder: Path) -> HealthCheck:
    """Count the processes that use GPUs. The driver uses the host's process ids, so ours are included."""
    count = len(_entries(host.path("/sys/class/kfd/kfd/proc")))
    detail = f"{count} have a GPU open" if count else "none has a GPU open"
    remedy = "Other processes change times: end them, unless they are the boxes of this service."
    return HealthCheck(name="GPU processes", ok=not count, detail=detail, remedy=remedy, required=False)


def _cleaner(host: GpuHost, folder: Path) -> HealthCheck:
    """Check whether the driver clears LDS and registers between programs."""
    name = "LDS between tenants"
    if any(word != "0" for word in (host.text(folder / ENFORCE_ISOLATION) or "0").split()):
        return HealthCheck(name=name, ok=True, detail="cleared by the driver", required=False)
    if os.access(folder / RUN_CLEANER, os.W_OK):
        return HealthCheck(name=name, ok=True, detail="cleared after each run", required=False)
    offered = (folder / ENFORCE_ISOLATION).exists()
    return HealthCheck(
        name=name,
        ok=False,
        detail="not cleared: a kernel can read data of the previous one in LDS and registers",
        remedy=f"On the host: `echo 1 | sudo tee {folder / ENFORCE_ISOLATION}`."
        if offered
        else "The driver has no cleaner shader: use a newer driver.",
        required=False,
    )


def _pinned_memory(host: GpuHost, folder: Path) -> HealthCheck:
    """Check how much host memory programs can pin.

    Only the driver limits it, because cgroups do not count it.
    """
    name = "pinned memory"
    limit = host.number(folder / "mem_info_gtt_total")
    match = re.search(r"^MemTotal:\s+(\d+) kB", host.text("/proc/meminfo") or "", re.MULTILINE)
    if not limit or not match:
        return HealthCheck(name=name, ok=True, detail="the driver reports no limit", required=False)
    total = int(match[1]) * 1024
    detail = f"at most {limit / GIB:.0f} of {total / GIB:.0f} GiB"
    remedy = (
        "Boot with `amdgpu.gttsize` and `ttm.pages_limit` of half the memory, so that the rest stays usable."
    )
    return HealthCheck(
        name=name, ok=limit <= MAX_PINNED_SHARE * total, detail=detail, remedy=remedy, required=False
    )


#: Checks of one GPU.
DEVICE_CHECKS: tuple[Callable[[GpuHost, Path], HealthCheck], ...] = (
    _vram,
    _memory_errors,
    _clocks,
    _power_cap,
    _other_processes,
    _cleaner,
    _pinned_memory,
)


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
    """Return the index of the driver's ROCm release, oldest first."""
    known = sum(driver >= version for version in ROCM_DRIVERS.values()) - 1
    return known + (driver[:2] > max(ROCM_DRIVERS.values())[:2])


def _release_of_rocm(rocm: tuple[int, ...]) -> int:
    """Return the index of a ROCm release. A release newer than all known ones counts as the next one."""
    known = sum(rocm[:2] >= release for release in ROCM_DRIVERS) - 1
    return known + (rocm[:2] > max(ROCM_DRIVERS))


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
