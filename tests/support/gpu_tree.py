"""A fake tree of the kernel's files on a machine with one MI300X: /dev, /sys and /proc."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tests.support.gpu_sysfs import add_cpu, add_gpu
from warmfront.hip.gpu_host import GpuHost

if TYPE_CHECKING:
    from pathlib import Path

#: The group of the device files; any group except root.
RENDER_GROUP = 109
#: The folder of the GPU.
DEVICE = "sys/devices/pci0000:00/0000:05:00.0"


def make_gpu_tree(root: Path) -> GpuHost:
    """Create the files of a healthy machine. Tests then break some of them."""
    add_cpu(root / "sys", 0)
    add_gpu(root / "sys", 1)
    for path, content in FILES.items():
        write(root, path, content)
    for node in ("dev/kfd", "dev/dri/renderD128", "dev/dri/card0"):
        write(root, node, "")
        set_mode(root / node, 0o660)
    (root / "dev/shm").mkdir()
    (root / "sys/class/kfd/kfd/proc").mkdir()
    return GpuHost(root=root, rocm=root / "opt/rocm", min_shared_memory_bytes=1)


def write(root: Path, path: str, content: str) -> None:
    """Write one file of the tree."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(content)


def set_mode(node: Path, mode: int) -> None:
    """Set the mode of a device file, and its group if we have the permission."""
    if os.geteuid() == 0:
        os.chown(node, 0, RENDER_GROUP)
    node.chmod(mode)


FILES = {
    "proc/sys/kernel/osrelease": "6.8.0-60-generic\n",
    "proc/meminfo": "MemTotal:       247463936 kB\n",
    "sys/module/amdgpu/version": "6.16.13\n",
    "opt/rocm/.info/version": "7.2.1-81\n",
    f"{DEVICE}/mem_info_vram_total": "206141652992\n",
    f"{DEVICE}/mem_info_vram_used": "297365504\n",
    f"{DEVICE}/mem_info_gtt_total": "126701535232\n",
    f"{DEVICE}/ras/umc_err_count": "ue: 0\nce: 0\nde: 0\n",
    f"{DEVICE}/pp_dpm_sclk": "0: 132Mhz *\n1: 2100Mhz\n",
    f"{DEVICE}/power_dpm_force_performance_level": "auto\n",
    f"{DEVICE}/enforce_isolation": "1\n",
    f"{DEVICE}/hwmon/hwmon4/power1_cap": "750000000\n",
    f"{DEVICE}/hwmon/hwmon4/power1_cap_max": "750000000\n",
}
