"""Check the health of a GPU in boxes like those of submissions: same user, groups, mounts and limits.

Our own programs use the device; no submitted code runs. `gpu_host` checks the machine first.
"""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING

from warmfront.errors import GpuFailed, InfrastructureError
from warmfront.hip.gpu_health import HealthCheck
from warmfront.hip.installed_gpu import gpu_of
from warmfront.judge.box_messages import InvalidMessage
from warmfront.judge.case_memory import DeviceMemory
from warmfront.judge.guest import GuestProcess
from warmfront.judge.kernel_failure import KernelFailure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warmfront.gpus import Gpu
    from warmfront.hip.toolchain import Toolchain
    from warmfront.judge.box_messages import DeviceCheck
    from warmfront.sandbox.base import Sandbox, SandboxLimits
    from warmfront.settings import Settings

#: How many bytes one program fills and the next one searches: on a GPU, and on a simulated GPU.
RESIDUE_BYTES, SIMULATED_RESIDUE_BYTES = 1 << 30, 64 << 20
#: An idle program may use this share of each limit of its box; the rest is for the submission.
MAX_IDLE_SHARE = 0.5
#: The kernel's number for "system calls are filtered".
SECCOMP_FILTER = 2


def check_boxes(
    toolchain: Toolchain, sandbox: Sandbox, settings: Settings, *, expected: Gpu | None = None
) -> Iterator[HealthCheck]:
    """Check the device in boxes of this sandbox. Stop at the first failure of the device itself.

    Args:
        toolchain: a toolchain whose device memory is separate from the judge's memory.
        sandbox: the sandbox of the judge.
        settings: the limits of boxes.
        expected: the GPU type that the runtime should report; None for any.
    """
    name = f"device in a {sandbox.name} box"
    start = time.monotonic()
    try:
        with sandbox.take(toolchain.harness_template(settings)) as box:
            box.go()
            memory = DeviceMemory(box)
            check = memory.check_device()
            started_s = time.monotonic() - start
            yield _describe(name, memory, check, started_s, expected)
            yield _idle_use(check, toolchain.harness_template(settings).limits)
            yield _shared_memory(toolchain, sandbox, settings, memory)
            pattern = 1 + secrets.randbelow(255)
            memory.poison(_residue_bytes(toolchain), pattern)
        yield _residue(toolchain, sandbox, settings, pattern)
    except (InfrastructureError, KernelFailure, InvalidMessage) as error:
        yield HealthCheck(
            name=name,
            ok=False,
            detail=str(error),
            remedy="`dmesg | grep -i amdgpu` shows the driver's reason. Release this machine.",
        )


def _describe(
    name: str, memory: DeviceMemory, check: DeviceCheck, started_s: float, expected: Gpu | None
) -> HealthCheck:
    device = memory.describe_device()
    gpu = gpu_of(device)
    detail = (
        f"{check.devices} visible; {device.name or device.arch}, {device.compute_units} CUs, "
        f"{check.free_bytes / 1e9:.0f} of {check.total_bytes / 1e9:.0f} GB free, "
        f"HIP {device.hip_runtime_version}; ready after {started_s:.1f} s"
    )
    if check.devices != 1:
        remedy = "A box must see one device: check ROCR_VISIBLE_DEVICES and the device files in the box."
        return HealthCheck(name=name, ok=False, detail=detail, remedy=remedy)
    if expected is not None and (gpu is None or gpu.name != expected.name):
        found = gpu.name if gpu else device.arch
        remedy = "Release this machine and rent another."
        return HealthCheck(
            name=name, ok=False, detail=f"{detail}: {found}, not {expected.name}", remedy=remedy
        )
    return HealthCheck(name=name, ok=True, detail=detail)


def _idle_use(check: DeviceCheck, limits: SandboxLimits) -> HealthCheck:
    """Check that the idle runtime leaves enough of every limit for the submission."""
    uses = (
        ("threads", check.threads, limits.pids),
        ("descriptors", check.descriptors, limits.open_files),
        ("MiB of memory", check.resident_bytes >> 20, limits.memory_bytes >> 20),
    )
    scarce = [what for what, used, limit in uses if used > MAX_IDLE_SHARE * limit]
    detail = ", ".join(f"{used} of {limit} {what}" for what, used, limit in uses)
    if check.seccomp != SECCOMP_FILTER:
        detail += "; system calls are not filtered"
    return HealthCheck(
        name="limits of an idle box",
        ok=not scarce,
        detail=detail,
        remedy=f"The runtime alone uses most of the {' and '.join(scarce)}: raise the limit."
        if scarce
        else "",
        required=False,
    )


def _shared_memory(
    toolchain: Toolchain, sandbox: Sandbox, settings: Settings, memory: DeviceMemory
) -> HealthCheck:
    """Check that a guest can open the harness's memory. Some guarantees about times depend on it."""
    with sandbox.take(toolchain.run_template(settings)) as box:
        box.go()
        guest = GuestProcess(box, case_timeout_s=settings.case_timeout_s, elapsed_s=toolchain.elapsed_s)
        guest.check_device()
        is_open = memory.is_open_in(guest)
    return HealthCheck(
        name="shared device memory",
        ok=is_open,
        detail="harness and guest share it" if is_open else "the guest cannot open the harness's memory",
        remedy="Times are reported with a missing guarantee. AMD's own driver (DKMS) supports sharing.",
        required=False,
    )


def _residue_bytes(toolchain: Toolchain) -> int:
    return SIMULATED_RESIDUE_BYTES if toolchain.simulated else RESIDUE_BYTES


def _residue(toolchain: Toolchain, sandbox: Sandbox, settings: Settings, pattern: int) -> HealthCheck:
    """Check that a new program cannot read data that an earlier program left in device memory."""
    with sandbox.take(toolchain.harness_template(settings)) as box:
        box.go()
        result = DeviceMemory(box).find_residue(_residue_bytes(toolchain), pattern)
    if not result.samples:
        raise GpuFailed("No device memory could be allocated after the last program ended.")
    return HealthCheck(
        name="VRAM between tenants",
        ok=result.residues == 0,
        detail=f"{result.residues} of {result.samples} sampled pages in {result.bytes >> 20} MiB "
        "still hold data of the previous program",
        remedy="The driver does not clear memory when a program ends: update it, or release this machine.",
    )
