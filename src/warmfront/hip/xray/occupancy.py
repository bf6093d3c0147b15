"""How many waves of a kernel a compute unit holds at once, and which resource ends it.

Pure arithmetic over the published sizes of the compute unit; nothing here compiles or reads a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, kw_only=True)
class ComputeUnit:
    """What one compute unit of an architecture has."""

    arch: str
    lds_bytes: int
    lds_granule_bytes: int
    simds: int = 4
    wave_lanes: int = 64
    most_waves_per_simd: int = 8
    vgprs_per_lane: int = 512  #: of one SIMD; accumulation registers come out of the same file
    vgpr_granule: int = 8
    most_block_threads: int = 1024
    most_blocks: int = 16  #: of more than one wave: each takes one of the barriers

    @property
    def wave_slots(self) -> int:
        """Waves that a compute unit holds at most."""
        return self.simds * self.most_waves_per_simd


# Sources.
# Register files, LDS and wavefront: "AMD GPU specifications" (rocm.docs.amd.com, reference/gpu-specs). A
# compute unit of MI250X, MI300X and MI355X has 512 KiB of VGPRs, which is 4 SIMDs x 512 registers x 64 lanes
# x 4 bytes, 12.5 KiB of SGPRs, which is 4 x 800 x 4 bytes, and 64, 64 and 160 KiB of LDS.
# Eight waves a SIMD, allocation in steps of 8 registers, one file for VGPRs and AGPRs, and 256 of either at
# most: AMD's ISA references for CDNA2, CDNA3 and CDNA4, chapter 3, and LLVM's "User Guide for AMDGPU
# Backend", which also gives the steps in which LDS is allocated: 512 bytes, and 1280 on gfx950.
COMPUTE_UNITS = {
    unit.arch: unit
    for unit in (
        ComputeUnit(arch="gfx90a", lds_bytes=64 * 1024, lds_granule_bytes=512),
        ComputeUnit(arch="gfx942", lds_bytes=64 * 1024, lds_granule_bytes=512),
        ComputeUnit(arch="gfx950", lds_bytes=160 * 1024, lds_granule_bytes=1280),
    )
}


class OccupancyLimit(StrEnum):
    """What keeps more waves away."""

    NOTHING = "nothing"  #: every slot can be filled
    VGPRS = "vector registers"
    SGPRS = "scalar registers"
    LDS = "LDS"
    BLOCK = "block size"


@dataclass(frozen=True, kw_only=True)
class KernelResources:
    """What a kernel takes."""

    vgprs: int  #: of a lane, accumulation registers included
    sgprs: int  #: of a wave
    lds_bytes: int  #: of a block


@dataclass(frozen=True, kw_only=True)
class Occupancy:
    """How full a compute unit gets with blocks of one size."""

    waves_per_simd: int  #: of the fullest SIMD
    waves_per_cu: int
    blocks_per_cu: int
    limited_by: OccupancyLimit


@dataclass(frozen=True, kw_only=True)
class OccupancyStep:
    """The smallest change of one resource that lets more waves in."""

    resource: OccupancyLimit
    change: int  #: registers, bytes or threads fewer (or more, for a block)
    reach: int  #: what is then used of the resource
    waves_per_simd: int  #: after the change


def waves_by_vgprs(vgprs: int, unit: ComputeUnit) -> int:
    """Waves of a SIMD that its vector registers are enough for."""
    granules = _round_up(max(vgprs, 1), unit.vgpr_granule)
    return min(unit.most_waves_per_simd, unit.vgprs_per_lane // granules)


def waves_by_sgprs(sgprs: int, unit: ComputeUnit) -> int:
    """Waves of a SIMD that its 800 scalar registers are enough for, as LLVM counts them."""
    return unit.most_waves_per_simd if sgprs <= 100 else unit.most_waves_per_simd - 1


def waves_of_block(threads: int, unit: ComputeUnit) -> int:
    """Waves that a block of so many threads takes."""
    return -(-threads // unit.wave_lanes)


def occupancy(resources: KernelResources, block_threads: int, unit: ComputeUnit) -> Occupancy:
    """How full a compute unit gets with blocks of `block_threads`."""
    waves = waves_of_block(block_threads, unit)
    blocks = _blocks(resources, waves, unit)
    fewest = min(blocks.values())
    held = fewest * waves
    fullest = min(-(-held // unit.simds), unit.most_waves_per_simd)
    limit = next(limit for limit in blocks if blocks[limit] == fewest)
    return Occupancy(
        waves_per_simd=fullest,
        waves_per_cu=held,
        blocks_per_cu=fewest,
        limited_by=OccupancyLimit.NOTHING if fullest == unit.most_waves_per_simd else limit,
    )


def best_occupancy(resources: KernelResources, most_threads: int, unit: ComputeUnit) -> Occupancy:
    """The fullest that a compute unit gets with blocks of any size up to `most_threads`.

    This is the figure that the compiler prints: it does not know how a kernel will be launched.
    """
    waves = range(1, waves_of_block(most_threads, unit) + 1)
    found = [occupancy(resources, each * unit.wave_lanes, unit) for each in waves]
    return max(found, key=lambda each: (each.waves_per_simd, each.waves_per_cu))


def next_steps(resources: KernelResources, block_threads: int, unit: ComputeUnit) -> list[OccupancyStep]:
    """For each resource that alone can do it, the smallest change that lets more waves in."""
    now = occupancy(resources, block_threads, unit)
    if now.limited_by is OccupancyLimit.NOTHING:
        return []
    found = [
        _fewer_vgprs(resources, block_threads, unit, now),
        _less_lds(resources, block_threads, unit, now),
        _other_block(resources, block_threads, unit, now),
    ]
    return [step for step in found if step is not None]


def _blocks(resources: KernelResources, waves: int, unit: ComputeUnit) -> dict[OccupancyLimit, int]:
    """Blocks of so many waves that fit, by each resource; the one to name first where several are equal."""
    by_vgprs = waves_by_vgprs(resources.vgprs, unit) * unit.simds // waves
    by_sgprs = waves_by_sgprs(resources.sgprs, unit) * unit.simds // waves
    most = unit.wave_slots // waves
    if waves > 1:
        most = min(most, unit.most_blocks)
    allocated = _round_up(resources.lds_bytes, unit.lds_granule_bytes)
    by_lds = unit.lds_bytes // allocated if allocated else most
    return {
        OccupancyLimit.BLOCK: most,
        OccupancyLimit.VGPRS: by_vgprs,
        OccupancyLimit.LDS: by_lds,
        OccupancyLimit.SGPRS: by_sgprs,
    }


def _fewer_vgprs(
    resources: KernelResources, threads: int, unit: ComputeUnit, now: Occupancy
) -> OccupancyStep | None:
    allocated = _round_up(max(resources.vgprs, 1), unit.vgpr_granule)
    for vgprs in range(allocated - unit.vgpr_granule, 0, -unit.vgpr_granule):
        then = occupancy(_with(resources, vgprs=vgprs), threads, unit)
        if then.waves_per_cu > now.waves_per_cu:
            change = resources.vgprs - vgprs
            return OccupancyStep(
                resource=OccupancyLimit.VGPRS, change=change, reach=vgprs, waves_per_simd=then.waves_per_simd
            )
    return None


def _less_lds(
    resources: KernelResources, threads: int, unit: ComputeUnit, now: Occupancy
) -> OccupancyStep | None:
    for blocks in range(now.blocks_per_cu + 1, unit.wave_slots + 1):
        reach = unit.lds_bytes // blocks // unit.lds_granule_bytes * unit.lds_granule_bytes
        if reach >= resources.lds_bytes:
            continue
        then = occupancy(_with(resources, lds_bytes=reach), threads, unit)
        if then.waves_per_cu > now.waves_per_cu:
            change = resources.lds_bytes - reach
            return OccupancyStep(
                resource=OccupancyLimit.LDS, change=change, reach=reach, waves_per_simd=then.waves_per_simd
            )
    return None


def _other_block(
    resources: KernelResources, threads: int, unit: ComputeUnit, now: Occupancy
) -> OccupancyStep | None:
    """The block size nearest to this one that does better with the same registers and LDS."""
    sizes = range(unit.wave_lanes, unit.most_block_threads + 1, unit.wave_lanes)
    for size in sorted(sizes, key=lambda size: abs(size - threads)):
        then = occupancy(resources, size, unit)
        if then.waves_per_simd > now.waves_per_simd:
            return OccupancyStep(
                resource=OccupancyLimit.BLOCK,
                change=size - threads,
                reach=size,
                waves_per_simd=then.waves_per_simd,
            )
    return None


def _with(
    resources: KernelResources, *, vgprs: int | None = None, lds_bytes: int | None = None
) -> KernelResources:
    return KernelResources(
        vgprs=resources.vgprs if vgprs is None else vgprs,
        sgprs=resources.sgprs,
        lds_bytes=resources.lds_bytes if lds_bytes is None else lds_bytes,
    )


def _round_up(value: int, granule: int) -> int:
    return -(-value // granule) * granule
