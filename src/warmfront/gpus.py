"""The catalogue: what a GPU can do at best, and whether we lease it.

Peaks are the vendor's published figures; a time below the floor that they set is no measurement. What an
hour costs is the operator's setting, so it is handed in and not written here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warmfront.problems.spec import Dtype

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """One GPU type."""

    name: str
    arch: str  #: what the compiler calls it
    memory_bytes: int
    bandwidth_bytes_per_s: float
    peak_flops: Mapping[Dtype, float]  #: of the fastest unit that takes the dtype
    compute_units: int
    enabled: bool = False  #: whether submissions may name it

    def display_name(self, rate_usd_per_h: Decimal | None = None) -> str:
        """What people read: `AMD MI300X (192GB, $1.99/hr)`."""
        facts = [f"{self.memory_bytes // 10**9}GB"]
        if rate_usd_per_h is not None:
            facts.append(f"${rate_usd_per_h:.2f}/hr")
        return f"AMD {self.name} ({', '.join(facts)})"

    def floor_ms(self, flops: int, bytes_moved: int, dtype: Dtype) -> float:
        """The roofline floor: nothing that reads its inputs and does its sums is faster."""
        compute_s = flops / self.peak_flops.get(dtype, self.peak_flops[Dtype.FLOAT32])
        return max(compute_s, bytes_moved / self.bandwidth_bytes_per_s) * 1e3


#: Source: AMD Instinct MI300X data sheet (peak engine clock 2,100 MHz; dense, no sparsity).
MI300X = Gpu(
    name="MI300X",
    arch="gfx942",
    memory_bytes=192 * 10**9,
    bandwidth_bytes_per_s=5.3e12,
    peak_flops={Dtype.FLOAT32: 163.4e12, Dtype.FLOAT16: 1307.4e12, Dtype.INT32: 163.4e12},
    compute_units=304,
    enabled=True,
)

#: Source: AMD Instinct MI325X data sheet (the same engine and clock as MI300X, more and faster memory).
MI325X = Gpu(
    name="MI325X",
    arch="gfx942",
    memory_bytes=256 * 10**9,
    bandwidth_bytes_per_s=6.0e12,
    peak_flops=MI300X.peak_flops,
    compute_units=304,
)

#: Every GPU that we know by name; the first of an architecture stands for it.
CATALOGUE = (MI300X, MI325X)


def by_arch(arch: str) -> Gpu | None:
    """The GPU of the catalogue that stands for this architecture."""
    return next((gpu for gpu in CATALOGUE if gpu.arch == arch), None)


def by_name(name: str) -> Gpu | None:
    """The GPU of that name, enabled or not."""
    return next((gpu for gpu in CATALOGUE if gpu.name == name), None)
