"""A made-up tree of the kernel's files, as a machine with one MI300X has them: /dev, /sys and /proc."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from warmfront.hip.gpu_host import GpuHost

if TYPE_CHECKING:
    from pathlib import Path

#: The group of the device files; any group but root's.
RENDER_GROUP = 109
GPU_ID = "51140"


def make_gpu_tree(root: Path) -> GpuHost:
    """Create the files of a healthy machine. Tests then break some of them."""
    for path, content in _files().items():
        write(root, path, content)
    for node in ("dev/kfd", "dev/dri/renderD128", "dev/dri/card0"):
        write(root, node, "")
        set_mode(root / node, 0o660)
    (root / "dev/shm").mkdir()
    device = root / "sys/devices/pci0000:00/0000:00:08.0"
    (root / "sys/class/drm/renderD128").mkdir(parents=True)
    (root / "sys/class/drm/renderD128/device").symlink_to(device)
    (root / "sys/class/kfd/kfd/proc").mkdir()
    return GpuHost(root=root, rocm=root / "opt/rocm", min_shared_memory_bytes=1)


def write(root: Path, path: str, content: str) -> None:
    """Write one file of the tree."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(content)


def set_mode(node: Path, mode: int) -> None:
    """Set the mode of a device file, and its group where we may."""
    if os.geteuid() == 0:
        os.chown(node, 0, RENDER_GROUP)
    node.chmod(mode)


def _files() -> dict[str, str]:
    nodes = "sys/class/kfd/kfd/topology/nodes"
    device = "sys/devices/pci0000:00/0000:00:08.0"
    gpu = "simd_count 1216\nsimd_per_cu 4\nnum_xcc 8\ngfx_target_version 90402\ndrm_render_minor 128\n"
    return {
        "proc/sys/kernel/osrelease": "6.8.0-60-generic\n",
        "sys/module/amdgpu/version": "6.16.13\n",
        "opt/rocm/.info/version": "7.2.1-81\n",
        f"{nodes}/0/properties": "cpu_cores_count 20\nsimd_count 0\ngfx_target_version 0\n",
        f"{nodes}/0/gpu_id": "0\n",
        f"{nodes}/1/properties": gpu,
        f"{nodes}/1/gpu_id": f"{GPU_ID}\n",
        f"{nodes}/1/mem_banks/0/properties": "heap_type 1\nsize_in_bytes 206141652992\n",
        f"{device}/current_compute_partition": "SPX\n",
        f"{device}/current_memory_partition": "NPS1\n",
        f"{device}/mem_info_vram_total": "206141652992\n",
        f"{device}/mem_info_vram_used": "297365504\n",
        f"{device}/ras/umc_err_count": "ue: 0\nce: 0\nde: 0\n",
        f"{device}/pp_dpm_sclk": "0: 132Mhz *\n1: 2100Mhz\n",
        f"{device}/power_dpm_force_performance_level": "auto\n",
        f"{device}/hwmon/hwmon4/power1_cap": "750000000\n",
        f"{device}/hwmon/hwmon4/power1_cap_max": "750000000\n",
    }
