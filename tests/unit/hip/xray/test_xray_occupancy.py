"""Occupancy, tested against published sizes of compute units and LLVM's figures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmfront.hip.xray.occupancy import (
    COMPUTE_UNITS,
    KernelResources,
    OccupancyLimit,
    best_occupancy,
    next_steps,
    occupancy,
    waves_by_sgprs,
    waves_by_vgprs,
)

MI300X = COMPUTE_UNITS["gfx942"]
RESOURCES = st.builds(
    KernelResources,
    vgprs=st.integers(0, 512),
    sgprs=st.integers(0, 108),
    lds_bytes=st.integers(0, 64 * 1024),
)


@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx950"])
def test_register_files(arch: str) -> None:
    """The vector registers of a compute unit add up to the published 512 KiB."""
    # "AMD GPU specifications", rocm.docs.amd.com: VGPR file 512 KiB for MI210, MI300X and MI355X.
    unit = COMPUTE_UNITS[arch]
    assert unit.simds * unit.vgprs_per_lane * unit.wave_lanes * 4 == 512 * 1024


@pytest.mark.parametrize(("arch", "kib"), [("gfx90a", 64), ("gfx942", 64), ("gfx950", 160)])
def test_lds_of_a_compute_unit(arch: str, kib: int) -> None:
    """LDS has 64 KiB, and 160 KiB on CDNA4."""
    # "AMD GPU specifications", rocm.docs.amd.com, column LDS.
    assert COMPUTE_UNITS[arch].lds_bytes == kib * 1024


@pytest.mark.parametrize(
    ("vgprs", "waves"),
    [
        # LLVM's AMDGPU backend, IsaInfo::getNumWavesPerEUWithNumVGPRs: 512 registers, in steps of 8.
        (0, 8), (1, 8), (64, 8), (65, 7), (72, 7), (73, 6), (80, 6), (81, 5), (96, 5), (97, 4), (128, 4),
        (129, 3), (168, 3), (169, 2), (256, 2), (257, 1), (512, 1),
    ],
)  # fmt: skip
def test_waves_by_vector_registers(vgprs: int, waves: int) -> None:
    """A SIMD holds as many waves as its 512 registers per lane allow, allocated in steps of 8; at most 8."""
    assert waves_by_vgprs(vgprs, MI300X) == waves


@pytest.mark.parametrize(("sgprs", "waves"), [(16, 8), (100, 8), (102, 7), (108, 7)])
def test_waves_by_scalar_registers(sgprs: int, waves: int) -> None:
    """Scalar registers reduce the occupancy by at most one wave."""
    # LLVM's AMDGPU backend, IsaInfo::getNumWavesPerEUWithNumSGPRs for GFX9: 8 waves up to 100 registers.
    assert waves_by_sgprs(sgprs, MI300X) == waves


@pytest.mark.parametrize(
    ("resources", "threads", "waves", "limit"),
    [
        (KernelResources(vgprs=32, sgprs=16, lds_bytes=0), 256, 8, OccupancyLimit.NOTHING),
        (KernelResources(vgprs=74, sgprs=36, lds_bytes=8256), 256, 6, OccupancyLimit.VGPRS),
        (KernelResources(vgprs=32, sgprs=16, lds_bytes=32 * 1024), 256, 2, OccupancyLimit.LDS),
        (KernelResources(vgprs=32, sgprs=16, lds_bytes=64 * 1024), 64, 1, OccupancyLimit.LDS),
        # 12 waves per block: two blocks fill 24 of 32 slots, a third does not fit.
        (KernelResources(vgprs=32, sgprs=16, lds_bytes=0), 768, 6, OccupancyLimit.BLOCK),
        (KernelResources(vgprs=32, sgprs=106, lds_bytes=0), 256, 7, OccupancyLimit.SGPRS),
        # 24 waves fit by registers; blocks of 16 waves fit once.
        (KernelResources(vgprs=80, sgprs=16, lds_bytes=0), 1024, 4, OccupancyLimit.VGPRS),
    ],
)
def test_occupancy(resources: KernelResources, threads: int, waves: int, limit: OccupancyLimit) -> None:
    """The scarcest resource determines the occupancy, in whole blocks."""
    held = occupancy(resources, threads, MI300X)
    assert (held.waves_per_simd, held.limited_by) == (waves, limit)


def test_more_lds_on_cdna4() -> None:
    """Blocks of 32 KiB of LDS fit twice on an MI300X and four times on an MI355X."""
    resources = KernelResources(vgprs=32, sgprs=16, lds_bytes=32 * 1024)
    blocks = [occupancy(resources, 256, COMPUTE_UNITS[arch]).blocks_per_cu for arch in ("gfx942", "gfx950")]
    # On gfx950, 32 KiB are allocated as 26 steps of 1280 bytes: 33,280 bytes fit four times into 160 KiB.
    assert blocks == [2, 4]


def test_next_step_of_registers() -> None:
    """A step has the registers to save and the occupancy after that."""
    steps = next_steps(KernelResources(vgprs=74, sgprs=36, lds_bytes=8256), 256, MI300X)
    assert [(step.resource, step.change, step.reach, step.waves_per_simd) for step in steps] == [
        (OccupancyLimit.VGPRS, 2, 72, 7)
    ]


def test_next_step_of_lds() -> None:
    """Where LDS is the limit, the step is in bytes."""
    (step, *_) = next_steps(KernelResources(vgprs=32, sgprs=16, lds_bytes=33 * 1024), 256, MI300X)
    assert (step.resource, step.change, step.waves_per_simd) == (OccupancyLimit.LDS, 1024, 2)


@given(RESOURCES, st.integers(1, 16))
def test_steps_give_the_stated_occupancy(resources: KernelResources, waves: int) -> None:
    """Every step gives the occupancy that it states, which is better than before."""
    threads = waves * 64
    now = occupancy(resources, threads, MI300X)
    for step in next_steps(resources, threads, MI300X):
        changed = {
            OccupancyLimit.VGPRS: (
                KernelResources(vgprs=step.reach, sgprs=resources.sgprs, lds_bytes=resources.lds_bytes),
                threads,
            ),
            OccupancyLimit.LDS: (
                KernelResources(vgprs=resources.vgprs, sgprs=resources.sgprs, lds_bytes=step.reach),
                threads,
            ),
            OccupancyLimit.BLOCK: (resources, step.reach),
        }[step.resource]
        then = occupancy(*changed, MI300X)
        assert then.waves_per_simd == step.waves_per_simd
        assert (then.waves_per_simd, then.waves_per_cu) > (now.waves_per_simd, now.waves_per_cu)


@given(RESOURCES, st.integers(1, 16))
def test_occupancy_never_exceeds_the_resources(resources: KernelResources, waves: int) -> None:
    """The waves on a compute unit never use more registers, LDS or slots than it has."""
    held = occupancy(resources, waves * 64, MI300X)
    assert held.waves_per_cu <= MI300X.wave_slots
    assert held.blocks_per_cu * resources.lds_bytes <= MI300X.lds_bytes
    assert held.waves_per_cu * resources.vgprs <= MI300X.simds * MI300X.vgprs_per_lane
    assert held.waves_per_simd <= best_occupancy(resources, 1024, MI300X).waves_per_simd
