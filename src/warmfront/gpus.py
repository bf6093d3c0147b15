"""Catalogue of GPU types: architecture, memory, peak rates and list price.

The peaks are the vendor's published figures; they set the roofline floor, below which a measured time cannot
be right. The comment of each GPU says where its figures are from, and which of them are not verified. The
operator's price setting overrides the list price.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from warmfront.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

_KIB = 1024


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """A GPU type."""

    name: str
    arch: str  #: LLVM target name
    memory_bytes: int
    bandwidth_bytes_per_s: float
    #: Dense operations per second of the fastest unit that supports the dtype. The keys are values of
    #: `Dtype`, as strings, so that importing the catalogue does not import the problems.
    peak_flops: Mapping[str, float]
    compute_units: int
    lds_bytes_per_cu: int
    list_price_usd_per_h: Decimal | None = None  #: published on-demand price; None where we know of none

    def display_name(self, rate_usd_per_h: Decimal | None = None) -> str:
        """Return the display name: `AMD MI300X (192GB, $1.99/hr)`, or without a price if no rate is given."""
        facts = [f"{self.memory_bytes // 10**9}GB"]
        if rate_usd_per_h is not None:
            facts.append(f"${rate_usd_per_h:.2f}/hr")
        return f"AMD {self.name} ({', '.join(facts)})"

    def peak_flops_for(self, dtype: str) -> float:
        """Return the peak for a dtype; the float32 peak for a dtype without a published figure."""
        return self.peak_flops.get(dtype, self.peak_flops["float32"])

    def floor_ms(self, flops: int, bytes_moved: int, dtype: str) -> float:
        """Return the roofline floor: the least time for this much arithmetic and memory traffic."""
        return max(flops / self.peak_flops_for(dtype), bytes_moved / self.bandwidth_bytes_per_s) * 1e3


#: Data sheet: peak engine clock 2,100 MHz, no sparsity. No int32 peak is published; the vector units issue
#: int32 no faster than float32, so the floor is still a lower bound. List price: AMD Developer Cloud.
MI300X = Gpu(
    name="MI300X",
    arch="gfx942",
    memory_bytes=192 * 10**9,
    bandwidth_bytes_per_s=5.3e12,
    peak_flops={"float32": 163.4e12, "float16": 1307.4e12, "int32": 163.4e12},
    compute_units=304,
    lds_bytes_per_cu=64 * _KIB,
    list_price_usd_per_h=Decimal("1.99"),
)

#: The compute units and clock of the MI300X with more and faster memory. List price: the upper end of the
#: $2.00 to $2.25 of one comparison page in 2026, not verified with a provider: set AMD_MI325X_HOURLY_RATE.
MI325X = Gpu(
    name="MI325X",
    arch="gfx942",
    memory_bytes=256 * 10**9,
    bandwidth_bytes_per_s=6.0e12,
    peak_flops=MI300X.peak_flops,
    compute_units=304,
    lds_bytes_per_cu=64 * _KIB,
    list_price_usd_per_h=Decimal("2.25"),
)

#: Memory, bandwidth and compute units: press reports of 2025. The peaks, at 2,400 MHz without sparsity, are
#: not verified with the data sheet. Int32 as for the MI300X.
MI355X = Gpu(
    name="MI355X",
    arch="gfx950",
    memory_bytes=288 * 10**9,
    bandwidth_bytes_per_s=8.0e12,
    peak_flops={"float32": 157.3e12, "float16": 2516.6e12, "int32": 157.3e12},
    compute_units=256,
    lds_bytes_per_cu=160 * _KIB,
)

#: AnandTech, March 2022: peak engine clock 1,700 MHz; float32 is the rate of the matrix cores, int32 as for
#: the MI300X.
#: There is no MI250X: HIP presents its two dies as two devices, and the published figures cover both.
MI210 = Gpu(
    name="MI210",
    arch="gfx90a",
    memory_bytes=64 * 10**9,
    bandwidth_bytes_per_s=1.6384e12,
    peak_flops={"float32": 45.3e12, "float16": 181.0e12, "int32": 45.3e12},
    compute_units=104,
    lds_bytes_per_cu=64 * _KIB,
)

#: Every known GPU. The first GPU of an architecture represents it where only the architecture is named.
CATALOGUE = (MI300X, MI325X, MI355X, MI210)


def by_arch(arch: str) -> Gpu | None:
    """Return the GPU that represents an architecture, or None."""
    return next((gpu for gpu in CATALOGUE if gpu.arch == arch), None)


def by_name(name: str) -> Gpu | None:
    """Return the GPU with this name, or None."""
    return next((gpu for gpu in CATALOGUE if gpu.name == name), None)


def get(name: str) -> Gpu:
    """Return the GPU with this name.

    Raises:
        UsageError: The catalogue has no such GPU.
    """
    gpu = by_name(name)
    if gpu is None:
        raise UsageError(f"Unknown GPU type {name!r}; known: {', '.join(known.name for known in CATALOGUE)}.")
    return gpu
