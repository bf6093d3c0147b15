"""The catalogue: what a GPU can do at best, and what it costs.

Peaks are the vendor's published figures; a time below the floor that they set is no measurement.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warmfront.problems.spec import Dtype

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """One GPU type."""

    name: str
    arch: str  #: what the compiler calls it
    memory_bytes: int
    bandwidth_bytes_per_s: float
    peak_flops: Mapping[Dtype, float]  #: of the fastest unit that takes the dtype
    compute_units: int

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
)


def by_arch(arch: str) -> Gpu | None:
    """The GPU of the catalogue that has this architecture."""
    return next((gpu for gpu in (MI300X,) if gpu.arch == arch), None)
