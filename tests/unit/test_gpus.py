"""The catalogue of GPU types: lookups, display names and roofline floors."""

from __future__ import annotations

from decimal import Decimal

import pytest

from warmfront import gpus
from warmfront.errors import UsageError
from warmfront.hip.xray.occupancy import COMPUTE_UNITS
from warmfront.problems.spec import Dtype


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
    with pytest.raises(UsageError, match=r"Unknown GPU type 'H100'; known: MI300X, MI325X, MI355X, MI210\."):
        gpus.get("H100")


@pytest.mark.parametrize("gpu", gpus.CATALOGUE, ids=lambda gpu: gpu.name)
def test_every_gpu_has_the_figures_that_the_xray_and_the_judge_use(gpu: gpus.Gpu) -> None:
    """Every GPU has a peak for each dtype, and the LDS size that the X-ray uses for its architecture."""
    assert set(gpu.peak_flops) == {dtype.value for dtype in Dtype}
    assert gpu.lds_bytes_per_cu == COMPUTE_UNITS[gpu.arch].lds_bytes


def test_the_floor_is_set_by_memory_or_by_arithmetic() -> None:
    """The floor is the longer of the time for the arithmetic and the time for the memory traffic."""
    assert gpus.MI300X.floor_ms(0, 5_300_000_000, Dtype.FLOAT32) == pytest.approx(1.0)
    assert gpus.MI325X.floor_ms(0, 6_000_000_000, Dtype.FLOAT32) == pytest.approx(1.0)
    assert gpus.MI300X.floor_ms(163_400_000_000, 0, Dtype.FLOAT32) == pytest.approx(1.0)
    assert gpus.MI210.floor_ms(181_000_000_000, 0, Dtype.FLOAT16) == pytest.approx(1.0)
