"""Detection of the GPU that is installed in this machine, from the topology of the amdgpu kernel driver."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from warmfront import gpus

if TYPE_CHECKING:
    from warmfront.gpus import Gpu

#: One directory per CPU and GPU; `properties` has one name and one number per line.
TOPOLOGY = Path("/sys/class/kfd/kfd/topology/nodes")


def installed_gpu(topology: Path = TOPOLOGY) -> Gpu | None:
    """Return the GPU of the catalogue that is installed in this machine; None if there is none.

    GPUs of the same architecture are distinguished by the size of their memory.
    """
    for node in sorted(topology.glob("*")):
        version = _properties(node).get("gfx_target_version", 0)
        if version == 0:
            continue  # a CPU
        candidates = [gpu for gpu in gpus.CATALOGUE if gpu.arch == _arch(version)]
        memory_bytes = _properties(node / "mem_banks" / "0").get("size_in_bytes", 0)
        if candidates:
            return min(candidates, key=lambda gpu: abs(gpu.memory_bytes - memory_bytes))
    return None


def _arch(version: int) -> str:
    """Return the architecture for the driver's number: 90402 is gfx942, 90010 is gfx90a."""
    return f"gfx{version // 10_000}{version // 100 % 100:x}{version % 100:x}"


def _properties(folder: Path) -> dict[str, int]:
    try:
        lines = (folder / "properties").read_text().splitlines()
    except OSError:  # the driver hides nodes that this process may not use
        return {}
    return {
        name: int(value) for name, _, value in (line.partition(" ") for line in lines) if value.isdecimal()
    }
