"""Catalog of GPU types: architecture, memory, peak rates and list price.

A GPU type is something that HIP presents as one device: a card, one of the two dies of an MI250X, or a
partition of a card (`MI300X-CPX-NPS4`). The peaks are the vendor's published figures; they set the roofline
floor, below which a measured time cannot be right. The comment of each GPU names the sources of its figures,
and those that are not verified. The operator's price setting overrides the list price.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from warmfront.errors import UsageError
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

_KIB = 1024

#: The GPU type of a CPU node, which is a VM without a GPU that judges checks on the CPU runtime.
CPU_NODE = "CPU"
#: Compute partition modes: how many devices a card of eight compute dies (XCDs) becomes. Source: "GPU
#: partitioning" in AMD SMI's documentation and `amdsmi_accelerator_partition_profile_t`.
_DEVICES_PER_CARD = {"SPX": 1, "DPX": 2, "QPX": 4, "CPX": 8}
#: Memory partition modes, and the number of regions into which each divides the card's memory.
_MEMORY_REGIONS = {"NPS1": 1, "NPS2": 2, "NPS4": 4, "NPS8": 8}
_PARTITION_NAME = re.compile(r"(?P<card>[A-Z0-9]+)-(?P<compute>[A-Z]{3})-(?P<memory>NPS\d)")


def vm_with(gpu: str) -> str:
    """Describe a VM with this GPU type for messages, such as `VM with an MI300X` or `CPU node`."""
    return "CPU node" if gpu == CPU_NODE else f"VM with an {gpu}"


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """A GPU type: one device as HIP counts them."""

    name: str
    arch: str  #: LLVM target name
    memory_bytes: int
    bandwidth_bytes_per_s: float
    #: Dense operations per second of the fastest unit that supports the dtype. The keys are values of
    #: `Dtype`, as strings, so that importing the catalog does not import the problems; and dtypes that no
    #: problem has yet.
    peak_flops: Mapping[str, float]
    compute_units: int
    lds_bytes_per_cu: int
    lds_bandwidth_bytes_per_s: float  #: all compute units together
    #: Dense operations per second of the matrix cores alone, by element type.
    matrix_peak_flops: Mapping[str, float]
    #: Peak of the last-level cache in front of the memory; None without one, or if no figure is verified.
    infinity_cache_bandwidth_bytes_per_s: float | None = None
    list_price_usd_per_h: Decimal | None = None  #: published on-demand price; None if unknown
    devices_per_card: int = 1  #: a device costs its card's price divided by this
    card: str = ""  #: for a partition, the name of its card; otherwise empty
    can_be_partitioned: bool = False

    def display_name(self, rate_usd_per_h: Decimal | None = None) -> str:
        """Return the display name: `AMD MI300X (192GB, $1.99/hr)`, or without a price if no rate is given."""
        facts = [f"{self.memory_bytes // 10**9}GB"]
        if rate_usd_per_h is not None:
            facts.append(f"${rate_usd_per_h:.2f}/hr")
        return f"AMD {self.name} ({', '.join(facts)})"

    def peak_flops_for(self, dtype: str) -> float:
        """Return the peak for a dtype; the highest peak for a dtype without a published figure."""
        return self.peak_flops.get(dtype) or max(self.peak_flops.values())

    def floor_ms(self, flops: int, bytes_moved: int, dtype: str) -> float:
        """Return the roofline floor: the least time for this much arithmetic and memory traffic."""
        return max(flops / self.peak_flops_for(dtype), bytes_moved / self.bandwidth_bytes_per_s) * 1e3

    def partition(self, compute: str, memory: str) -> Gpu:
        """Return the device that this card becomes in a compute and a memory partition mode.

        Its compute units and memory are the card's, divided by the number of devices. Its bandwidth and that
        of its Infinity Cache are those of its memory region: with NPS1 every device can use all of the card's
        memory, so only the whole bandwidth is a bound.

        Args:
            compute: SPX (the whole card), DPX, QPX or CPX.
            memory: NPS1 (one region), NPS2, NPS4 or NPS8.

        Raises:
            UsageError: the card cannot be partitioned, or has no such mode.
        """
        devices, regions = _DEVICES_PER_CARD.get(compute), _MEMORY_REGIONS.get(memory)
        if (devices, regions) == (1, 1):
            return self
        if not self.can_be_partitioned or devices is None or regions is None or regions > devices:
            raise UsageError(f"{self.name} has no partition mode {compute}/{memory}.")
        return replace(
            self.with_compute_units(self.compute_units // devices),
            name=f"{self.name}-{compute}-{memory}",
            memory_bytes=self.memory_bytes // devices,
            bandwidth_bytes_per_s=self.bandwidth_bytes_per_s / regions,
            infinity_cache_bandwidth_bytes_per_s=self.infinity_cache_bandwidth_bytes_per_s
            and self.infinity_cache_bandwidth_bytes_per_s / regions,
            list_price_usd_per_h=self.list_price_usd_per_h and self.list_price_usd_per_h / devices,
            devices_per_card=devices,
            card=self.name,
            can_be_partitioned=False,
        )

    def with_compute_units(self, compute_units: int) -> Gpu:
        """Return a GPU like this one with another number of compute units, and peaks in proportion."""
        share = compute_units / self.compute_units
        return replace(
            self,
            compute_units=compute_units,
            peak_flops={dtype: flops * share for dtype, flops in self.peak_flops.items()},
            matrix_peak_flops={dtype: flops * share for dtype, flops in self.matrix_peak_flops.items()},
            lds_bandwidth_bytes_per_s=self.lds_bandwidth_bytes_per_s * share,
        )


#: Data sheet: peak engine clock 2,100 MHz, no sparsity. Per clock and compute unit: 256 FLOP of float32,
#: 2,048 of float16 and bfloat16, 4,096 of float8 and int8; the matrix cores also 256 of float64 and 1,024 of
#: xf32 (TF32 in the data sheet). No int32 peak is published; the vector units issue
#: int32 no faster than float32, so the floor is still a lower bound. LDS: 128 bytes per clock and compute
#: unit (CDNA3 ISA). Infinity Cache: 17.2 TB/s (AMD's CDNA3 white paper). List price: AMD Developer Cloud.
MI300X = Gpu(
    name="MI300X",
    arch="gfx942",
    memory_bytes=192 * 10**9,
    bandwidth_bytes_per_s=5.3e12,
    peak_flops={
        "float32": 163.4e12,
        "float16": 1307.4e12,
        "int32": 163.4e12,
        "bfloat16": 1307.4e12,
        "float8": 2614.9e12,
        "int8": 2614.9e12,
    },
    matrix_peak_flops={
        "fp64": 163.4e12,
        "fp32": 163.4e12,
        "xf32": 653.7e12,
        "fp16": 1307.4e12,
        "bf16": 1307.4e12,
        "fp8": 2614.9e12,
        "int8": 2614.9e12,
    },
    compute_units=304,
    lds_bytes_per_cu=64 * _KIB,
    lds_bandwidth_bytes_per_s=304 * 128 * 2.1e9,
    infinity_cache_bandwidth_bytes_per_s=17.2e12,
    list_price_usd_per_h=Decimal("1.99"),
    can_be_partitioned=True,
)

#: Data sheet: the compute units, clock and caches of the MI300X, so the same peaks, with more and faster
#: memory. List price: the upper end of the $2.00 to $2.25 of one comparison page in 2026, not verified with a
#: provider: set AMD_MI325X_HOURLY_RATE.
MI325X = Gpu(
    name="MI325X",
    arch="gfx942",
    memory_bytes=256 * 10**9,
    bandwidth_bytes_per_s=6.0e12,
    peak_flops=MI300X.peak_flops,
    matrix_peak_flops=MI300X.matrix_peak_flops,
    compute_units=304,
    lds_bytes_per_cu=64 * _KIB,
    lds_bandwidth_bytes_per_s=MI300X.lds_bandwidth_bytes_per_s,
    infinity_cache_bandwidth_bytes_per_s=17.2e12,
    list_price_usd_per_h=Decimal("2.25"),
    can_be_partitioned=True,
)

#: Memory, compute units (8 dies of 32) and LDS: "AMD GPU specifications", rocm.docs.amd.com. Float8 per clock
#: and compute unit, 8,192 FLOP: AMD at ISSCC 2026; at 2,400 MHz that is the published 5.0 PFLOPS. Float16 and
#: bfloat16 are half of it, int8 is the same, and float32 is 256 FLOP, as on the MI300X. No sparsity. Int32 as
#: for the MI300X. Matrix cores, from AMD's data sheet: float64 78.6 TFLOPS, float6 and float4 twice float8;
#: there is no xf32. LDS: 256 bytes per clock and compute unit, twice the MI300X's (AMD's CDNA4 white paper).
#: No figure of its Infinity Cache is verified.
MI355X = Gpu(
    name="MI355X",
    arch="gfx950",
    memory_bytes=288 * 10**9,
    bandwidth_bytes_per_s=8.0e12,
    peak_flops={
        "float32": 157.3e12,
        "float16": 2516.6e12,
        "int32": 157.3e12,
        "bfloat16": 2516.6e12,
        "float8": 5033.2e12,
        "int8": 5033.2e12,
    },
    matrix_peak_flops={
        "fp64": 78.6e12,
        "fp32": 157.3e12,
        "fp16": 2516.6e12,
        "bf16": 2516.6e12,
        "fp8": 5033.2e12,
        "fp6": 10066.3e12,
        "fp4": 10066.3e12,
        "int8": 5033.2e12,
    },
    compute_units=256,
    lds_bytes_per_cu=160 * _KIB,
    lds_bandwidth_bytes_per_s=256 * 256 * 2.4e9,
    can_be_partitioned=True,
)

#: AnandTech, March 2022: peak engine clock 1,700 MHz; float32 is the rate of the matrix cores, int32 as for
#: the MI300X. LDS: 128 bytes per clock and compute unit. The matrix cores have one rate for float16, bfloat16
#: and int8, and one for float64 and float32.
MI210 = Gpu(
    name="MI210",
    arch="gfx90a",
    memory_bytes=64 * 10**9,
    bandwidth_bytes_per_s=1.6384e12,
    peak_flops={
        "float32": 45.3e12,
        "float16": 181.0e12,
        "int32": 45.3e12,
        "bfloat16": 181.0e12,
        "int8": 181.0e12,
    },
    matrix_peak_flops={
        "fp64": 45.3e12,
        "fp32": 45.3e12,
        "fp16": 181.0e12,
        "bf16": 181.0e12,
        "int8": 181.0e12,
    },
    compute_units=104,
    lds_bytes_per_cu=64 * _KIB,
    lds_bandwidth_bytes_per_s=104 * 128 * 1.7e9,
)

#: One of the two dies (GCDs) of a card: HIP presents them as two devices, each with its own memory, and a
#: kernel runs on one. So these are half of the published figures of the card: 220 compute units, 128 GB,
#: 3.2768 TB/s, and 95.7 TFLOPS of float64 and of float32 (matrix cores), 383.0 of float16 and bfloat16, 383.0
#: TOPS of int8. Source: AMD's announcement of November 2021. Int32 as for the MI300X.
MI250X = Gpu(
    name="MI250X",
    arch="gfx90a",
    memory_bytes=64 * 10**9,
    bandwidth_bytes_per_s=1.6384e12,
    peak_flops={
        "float32": 47.85e12,
        "float16": 191.5e12,
        "int32": 47.85e12,
        "bfloat16": 191.5e12,
        "int8": 191.5e12,
    },
    matrix_peak_flops={
        "fp64": 47.85e12,
        "fp32": 47.85e12,
        "fp16": 191.5e12,
        "bf16": 191.5e12,
        "int8": 191.5e12,
    },
    compute_units=110,
    lds_bytes_per_cu=64 * _KIB,
    lds_bandwidth_bytes_per_s=110 * 128 * 1.7e9,
    devices_per_card=2,
)

#: Every known GPU. The first GPU of an architecture represents it where only the architecture is named.
CATALOG = (MI300X, MI325X, MI355X, MI210, MI250X)


def by_arch(arch: str) -> Gpu | None:
    """Return the GPU that represents an architecture, or None."""
    return next((gpu for gpu in CATALOG if gpu.arch == arch), None)


def by_name(name: str) -> Gpu | None:
    """Return the GPU or the partition with this name, or None."""
    gpu = next((gpu for gpu in CATALOG if gpu.name == name), None)
    if gpu is None and (match := _PARTITION_NAME.fullmatch(name)):
        card = by_name(match["card"])
        try:
            gpu = card and card.partition(match["compute"], match["memory"])
        except UsageError:
            return None
    return gpu


def identify(
    arch: str, *, product: str = "", compute_units: int = 0, memory_bytes: int = 0, partition: str = ""
) -> Gpu | None:
    """Return the GPU type of a device from its own description; None for an unknown architecture.

    A device that is not in the catalog gets its own name and the figures of the GPU that represents its
    architecture, with peaks in proportion to its compute units.

    Args:
        arch: such as `gfx942`.
        product: the product's name, such as `AMD Instinct MI300X VF`; empty if unknown.
        compute_units: the compute units of the device, which may be a partition; 0 if unknown.
        memory_bytes: the memory of the device; 0 if unknown.
        partition: such as `CPX/NPS4`; empty if the card cannot be partitioned, or the driver does not report
            it.
    """
    compute, _, memory = partition.partition("/")
    devices = _DEVICES_PER_CARD.get(compute, 1)
    models = re.findall(r"MI\d{3}[A-Z]*", product)
    candidates = [
        gpu
        for gpu in CATALOG
        if gpu.arch == arch
        and (not models or gpu.name in models)
        and (not compute_units or gpu.compute_units == compute_units * devices)
    ]
    if candidates:
        card = min(candidates, key=lambda gpu: abs(gpu.memory_bytes - memory_bytes * devices))
        return card.partition(compute, memory) if devices > 1 and card.can_be_partitioned else card
    return _uncataloged(arch, models, compute_units, memory_bytes)


def _uncataloged(arch: str, models: list[str], compute_units: int, memory_bytes: int) -> Gpu | None:
    representative = by_arch(arch)
    if representative is None:
        return None
    name = next((model for model in models if by_name(model) is None), arch)
    gpu = representative.with_compute_units(compute_units or representative.compute_units)
    return replace(
        gpu,
        name=f"{name}-{gpu.compute_units}CU",
        memory_bytes=memory_bytes or gpu.memory_bytes,
        list_price_usd_per_h=None,
        can_be_partitioned=False,
    )


def get(name: str) -> Gpu:
    """Return the GPU with this name.

    Raises:
        UsageError: The catalog has no such GPU.
    """
    gpu = by_name(name)
    if gpu is None:
        raise UsageError(f"Unknown GPU type {name!r}; known: {', '.join(known.name for known in CATALOG)}.")
    return gpu
