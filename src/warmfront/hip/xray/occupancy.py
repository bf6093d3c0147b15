"""Occupancy: how many waves of a kernel fit on a compute unit, and which resource is the limit.

It is computed from the published sizes of the compute units.
"""

from __future__ import annotations

from enum import StrEnum

from warmfront.value_class import dataclass


@dataclass(frozen=True, kw_only=True)
class ComputeUnit:
    """The resources of one compute unit of an architecture."""

    arch: str
    lds_bytes: int
    lds_granule_bytes: int
    lds_banks: int = 32  #: of 4 bytes
    simds: int = 4
    wave_lanes: int = 64
    most_waves_per_simd: int = 8
    vgprs_per_lane: int = 512  #: of one SIMD; accumulation registers are in the same file
    vgpr_granule: int = 8
    most_block_threads: int = 1024
    most_blocks: int = 16  #: for blocks of more than one wave, each of which uses a barrier

    @property
    def wave_slots(self) -> int:
        """The most waves that a compute unit can hold."""
        return self.simds * self.most_waves_per_simd


# Sources.
# Register files, LDS and wavefront: "AMD GPU specifications" (rocm.docs.amd.com, reference/gpu-specs). A
# compute unit of MI210, MI300X and MI355X has 512 KiB of VGPRs, which is 4 SIMDs x 512 registers x 64 lanes
# x 4 bytes, 12.5 KiB of SGPRs, which is 4 x 800 x 4 bytes, and 64, 64 and 160 KiB of LDS.
# Eight waves per SIMD, allocation in steps of 8 registers, one file for VGPRs and AGPRs, and at most 256 of
# each: AMD's ISA references for CDNA2, CDNA3 and CDNA4, chapter 3, and LLVM's "User Guide for AMDGPU
# Backend", which also has the granularity of LDS allocation: 512 bytes, and 1280 bytes on gfx950.
# LDS banks: "Understanding AMD GPU LDS and Bank Conflicts" in Composable Kernel's documentation, which also
# lists how many lanes are served together for each width of an access.
COMPUTE_UNITS = {
    unit.arch: unit
    for unit in (
        ComputeUnit(arch="gfx90a", lds_bytes=64 * 1024, lds_granule_bytes=512),
        ComputeUnit(arch="gfx942", lds_bytes=64 * 1024, lds_granule_bytes=512),
        ComputeUnit(arch="gfx950", lds_bytes=160 * 1024, lds_granule_bytes=1280, lds_banks=64),
    )
}


class OccupancyLimit(StrEnum):
    """The resource that limits the occupancy."""

    NOTHING = "nothing"  #: every wave slot can be filled
    VGPRS = "vector registers"
    SGPRS = "scalar registers"
    LDS = "LDS"
    BLOCK = "block size"


@dataclass(frozen=True, kw_only=True)
class KernelResources:
    """The resources that a kernel uses."""

    vgprs: int  #: per lane, accumulation registers included
    sgprs: int  #: per wave
    lds_bytes: int  #: per block


@dataclass(frozen=True, kw_only=True)
class Occupancy:
    """The waves and blocks on a compute unit for one block size."""

    waves_per_simd: int  #: on the fullest SIMD
    waves_per_cu: int
    blocks_per_cu: int
    limited_by: OccupancyLimit


@dataclass(frozen=True, kw_only=True)
class OccupancyStep:
    """The smallest change of one resource that increases the occupancy."""

    resource: OccupancyLimit
    change: int  #: registers or bytes to save, or threads to add to a block (negative: to remove)
    reach: int  #: use of the resource after the change
    waves_per_simd: int  #: after the change


def waves_by_vgprs(vgprs: int, unit: ComputeUnit) -> int:
    """Return how many waves per SIMD the vector registers allow."""
    granules = _round_up(max(vgprs, 1), unit.vgpr_granule)
    return min(unit.most_waves_per_simd, unit.vgprs_per_lane // granules)


def waves_by_sgprs(sgprs: int, unit: ComputeUnit) -> int:
    """Return how many waves per SIMD the 800 scalar registers allow, as LLVM counts them."""
    return unit.most_waves_per_simd if sgprs <= 100 else unit.most_waves_per_simd - 1


def waves_of_block(threads: int, unit: ComputeUnit) -> int:
    """Return the number of waves of a block."""
    return -(-threads // unit.wave_lanes)


def occupancy(resources: KernelResources, block_threads: int, unit: ComputeUnit) -> Occupancy:
    """Return the occupancy with blocks of `block_threads`."""
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
    """Return the best occupancy with any block size up to `most_threads`.

    This is the figure that the compiler prints, because it does not know the launch configuration.
    """
    waves = range(1, waves_of_block(most_threads, unit) + 1)
    candidates = [occupancy(resources, count * unit.wave_lanes, unit) for count in waves]
    return max(candidates, key=lambda candidate: (candidate.waves_per_simd, candidate.waves_per_cu))


def next_steps(resources: KernelResources, block_threads: int, unit: ComputeUnit) -> list[OccupancyStep]:
    """Return the smallest change of each single resource that increases the occupancy."""
    now = occupancy(resources, block_threads, unit)
    if now.limited_by is OccupancyLimit.NOTHING:
        return []
    steps = [
        _fewer_vgprs(resources, block_threads, unit, now),
        _less_lds(resources, block_threads, unit, now),
        _other_block(resources, block_threads, unit, now),
    ]
    return [step for step in steps if step is not None]


def _blocks(resources: KernelResources, waves: int, unit: ComputeUnit) -> dict[OccupancyLimit, int]:
    """Return the blocks of `waves` waves that each resource allows; where equal, the first is reported."""
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
    """Return the nearest block size with a better occupancy for the same registers and LDS."""
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
