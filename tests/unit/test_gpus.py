"""The catalog of GPU types: lookups, display names and roofline floors."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from warmfront import gpus, problems
from warmfront.errors import UsageError
from warmfront.hip.xray.occupancy import COMPUTE_UNITS
from warmfront.problems.spec import Dtype, Scale


def test_the_display_name_has_memory_and_price() -> None:
    """The display name contains the memory and the configured rate."""
    assert gpus.MI300X.display_name(Decimal("1.99")) == "AMD MI300X (192GB, $1.99/hr)"
    assert gpus.MI300X.display_name(Decimal("2.5")) == "AMD MI300X (192GB, $2.50/hr)"


def test_the_display_name_without_a_rate_has_no_price() -> None:
    """Without a rate the display name has the memory only."""
    assert gpus.MI325X.display_name() == "AMD MI325X (256GB)"


def test_the_first_gpu_of_an_architecture_represents_it() -> None:
    """MI300X and MI325X are both gfx942; the X-ray's figures for gfx942 are those of the MI300X."""
    assert gpus.by_arch("gfx942") is gpus.MI300X
    assert gpus.by_arch("gfx950") is gpus.MI355X
    assert gpus.by_arch("gfx90a") is gpus.MI210
    assert gpus.by_arch("sm_90") is None


def test_lookups_by_name() -> None:
    """`by_name` returns None for an unknown name, where `get` raises and lists the known ones."""
    assert gpus.by_name("MI325X") is gpus.get("MI325X") is gpus.MI325X
    assert gpus.by_name("H100") is None
    with pytest.raises(
        UsageError, match=r"Unknown GPU type 'H100'; known: MI300X, MI325X, MI355X, MI210, MI250X\."
    ):
        gpus.get("H100")


@pytest.mark.parametrize("gpu", gpus.CATALOG, ids=lambda gpu: gpu.name)
def test_every_gpu_has_the_figures_that_the_xray_and_the_judge_use(gpu: gpus.Gpu) -> None:
    """Every GPU has a peak for each dtype, and the LDS size that the X-ray uses for its architecture."""
    assert set(gpu.peak_flops) >= {dtype.value for dtype in Dtype}
    assert gpu.lds_bytes_per_cu == COMPUTE_UNITS[gpu.arch].lds_bytes


@pytest.mark.parametrize("gpu", gpus.CATALOG, ids=lambda gpu: gpu.name)
def test_nearer_memories_are_faster(gpu: gpus.Gpu) -> None:
    """The roofs are in order: memory, Infinity Cache if the GPU has one, LDS."""
    cache = gpu.infinity_cache_bandwidth_bytes_per_s or gpu.bandwidth_bytes_per_s
    assert gpu.bandwidth_bytes_per_s <= cache < gpu.lds_bandwidth_bytes_per_s


def test_the_floor_is_set_by_memory_or_by_arithmetic() -> None:
    """The floor is the longer of the time for the arithmetic and the time for the memory traffic."""
    assert gpus.MI300X.floor_ms(0, 5_300_000_000, Dtype.FLOAT32) == pytest.approx(1.0)
    assert gpus.MI325X.floor_ms(0, 6_000_000_000, Dtype.FLOAT32) == pytest.approx(1.0)
    assert gpus.MI300X.floor_ms(163_400_000_000, 0, Dtype.FLOAT32) == pytest.approx(1.0)
    assert gpus.MI210.floor_ms(181_000_000_000, 0, Dtype.FLOAT16) == pytest.approx(1.0)


def test_the_floor_of_fp8_is_that_of_the_matrix_cores() -> None:
    """A kernel on the fp8 matrix cores is not called impossible; a GPU without them has its highest peak."""
    problem = problems.get("fp8-matmul")
    case = problem.cases(Scale.GPU)[-1]
    flops = problem.flops(case)
    assert problem.floor_ms(case, Dtype.FLOAT32, gpus.MI300X) == pytest.approx(flops / 2614.9e9)
    assert problem.floor_ms(case, Dtype.FLOAT32, gpus.MI210) == pytest.approx(flops / 181e9)


def test_a_die_of_an_mi250x_is_one_device() -> None:
    """A kernel runs on one of the two dies, so the floor is for half a card."""
    assert gpus.MI250X.devices_per_card == 2
    assert gpus.MI250X.floor_ms(0, 1_638_400_000, Dtype.FLOAT32) == pytest.approx(1.0)


def test_a_partition_is_a_separate_gpu_type() -> None:
    """It has its share of the compute units, memory and price, and the bandwidth of its memory region."""
    partition = gpus.get("MI300X-CPX-NPS4")
    assert (partition.name, partition.card, partition.compute_units) == ("MI300X-CPX-NPS4", "MI300X", 38)
    assert partition.memory_bytes == 24 * 10**9
    assert partition.infinity_cache_bandwidth_bytes_per_s == 17.2e12 / 4
    assert partition.lds_bandwidth_bytes_per_s == pytest.approx(gpus.MI300X.lds_bandwidth_bytes_per_s / 8)
    assert partition.list_price_usd_per_h == Decimal("1.99") / 8
    assert partition.floor_ms(163_400_000_000 // 8, 0, Dtype.FLOAT32) == pytest.approx(1.0)
    assert partition.floor_ms(0, 5_300_000_000 // 4, Dtype.FLOAT32) == pytest.approx(1.0)
    # With NPS1 one device can use the whole memory, so only the whole bandwidth is a bound.
    assert gpus.get("MI300X-CPX-NPS1").bandwidth_bytes_per_s == gpus.MI300X.bandwidth_bytes_per_s


@pytest.mark.parametrize(
    "name", ["MI300X-CPX-NPS9", "MI300X-XYZ-NPS1", "MI210-CPX-NPS1", "H100-CPX-NPS1", "MI300X-DPX-NPS4"]
)
def test_partitions_that_do_not_exist(name: str) -> None:
    """A card without partitions, and modes that no card has, are unknown GPU types."""
    assert gpus.by_name(name) is None


@pytest.mark.parametrize(
    ("arch", "facts", "expected"),
    [
        (
            "gfx942",
            {"product": "AMD Instinct MI300X VF", "compute_units": 304, "memory_bytes": 192 << 30},
            "MI300X",
        ),
        ("gfx942", {"compute_units": 304, "memory_bytes": 256 << 30, "partition": "SPX/NPS1"}, "MI325X"),
        (
            "gfx942",
            {"compute_units": 38, "memory_bytes": 24 << 30, "partition": "CPX/NPS4"},
            "MI300X-CPX-NPS4",
        ),
        (
            "gfx950",
            {"product": "AMD Instinct MI355X", "compute_units": 128, "partition": "DPX/NPS2"},
            "MI355X-DPX-NPS2",
        ),
        (
            "gfx90a",
            {"product": "AMD Instinct MI250X / MI250", "compute_units": 110, "memory_bytes": 64 << 30},
            "MI250X",
        ),
        (
            "gfx90a",
            {"product": "AMD Instinct MI250X / MI250", "compute_units": 104, "memory_bytes": 64 << 30},
            "MI250-104CU",
        ),
        ("gfx90a", {"compute_units": 104, "memory_bytes": 64 << 30}, "MI210"),
        (
            "gfx942",
            {"product": "AMD Instinct MI308X", "compute_units": 80, "memory_bytes": 192 << 30},
            "MI308X-80CU",
        ),
        ("gfx942", {"compute_units": 228}, "gfx942-228CU"),
        ("gfx942", {"memory_bytes": 192 << 30}, "MI300X"),
    ],
)
def test_a_device_is_identified_by_what_it_says(arch: str, facts: dict[str, Any], expected: str) -> None:
    """Its product name, compute units, memory and partition are used, as far as the driver reports them."""
    gpu = gpus.identify(arch, **facts)
    assert gpu is not None
    assert gpu.name == expected


def test_a_device_with_fewer_compute_units_has_a_higher_floor() -> None:
    """The peaks of a device that is not in the catalog are in proportion to its compute units."""
    gpu = gpus.identify("gfx942", compute_units=76)
    assert gpu is not None
    assert gpu.floor_ms(163_400_000_000, 0, Dtype.FLOAT32) == pytest.approx(4.0)
    assert gpu.list_price_usd_per_h is None
    assert gpus.identify("gfx1100", compute_units=96) is None
