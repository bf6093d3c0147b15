"""The GPU type of a device, and of the GPU that is installed in this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront import gpus
from warmfront.hip.device_facts import SYSFS, installed_devices

if TYPE_CHECKING:
    from pathlib import Path

    from warmfront.gpus import Gpu
    from warmfront.hip.device_facts import DeviceFacts


def gpu_of(device: DeviceFacts) -> Gpu | None:
    """Return the GPU type of a device; None if its architecture is not in the catalog."""
    return gpus.identify(
        device.arch,
        product=device.name,
        compute_units=device.compute_units,
        memory_bytes=device.memory_bytes,
        partition=device.partition,
    )


def installed_gpu(sysfs: Path = SYSFS) -> Gpu | None:
    """Return the type of the first GPU in this machine; None if there is no known GPU."""
    return next((gpu for device in installed_devices(sysfs) if (gpu := gpu_of(device))), None)
