"""The files in which the amdgpu kernel driver presents GPUs, in a folder instead of /sys."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

GIB = 1 << 30
_NODES = "class/kfd/kfd/topology/nodes"


def add_cpu(sysfs: Path, number: int) -> None:
    """Write the topology node of a CPU."""
    node = sysfs / _NODES / str(number)
    node.mkdir(parents=True)
    (node / "properties").write_text("cpu_cores_count 96\nsimd_count 0\ngfx_target_version 0\n")


def add_gpu(
    sysfs: Path,
    number: int,
    *,
    gfx_target_version: int = 90402,
    compute_units: int = 304,
    memory_bytes: int = 192 * GIB,
    bus: int = 5,
    xcc_number: int = 0,
    render_minor: int | None = None,
    partition: str = "SPX/NPS1",
    name: str = "AMD Instinct MI300X OAM",
) -> None:
    """Write the topology node of a GPU or of one of its partitions, and the folder of its PCI device."""
    minor = 128 + xcc_number if render_minor is None else render_minor
    bank = sysfs / _NODES / str(number) / "mem_banks" / "0"
    bank.mkdir(parents=True)
    (bank / "properties").write_text(f"heap_type 1\nsize_in_bytes {memory_bytes}\nflags 0\n")
    (bank.parent.parent / "properties").write_text(
        f"cpu_cores_count 0\nsimd_count {4 * compute_units}\nsimd_per_cu 4\n"
        f"gfx_target_version {gfx_target_version}\nvendor_id 4098\n"
        f"location_id {xcc_number << 28 | bus << 8}\ndomain 0\ndrm_render_minor {minor}\n"
        f"unique_id {1000 + number}\n"
    )
    device = sysfs / "devices" / "pci0000:00" / f"0000:{bus:02x}:00.0"
    if not device.exists():
        device.mkdir(parents=True)
        compute, _, memory = partition.partition("/")
        (device / "product_name").write_text(f"{name}\n")
        (device / "current_compute_partition").write_text(f"{compute}\n")
        (device / "current_memory_partition").write_text(f"{memory}\n")
        drm = sysfs / "class" / "drm" / f"renderD{minor}"
        drm.mkdir(parents=True)
        (drm / "device").symlink_to(device)
    module = sysfs / "module" / "amdgpu"
    module.mkdir(parents=True, exist_ok=True)
    (module / "version").write_text("6.12.12\n")
