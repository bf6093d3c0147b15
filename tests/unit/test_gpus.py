"""The catalogue of GPUs: what is leased, and how it is called."""

from __future__ import annotations

from decimal import Decimal

from warmfront import gpus


def test_the_display_name_has_memory_and_price() -> None:
    """The name that people read is made from the memory and the configured rate."""
    assert gpus.MI300X.display_name(Decimal("1.99")) == "AMD MI300X (192GB, $1.99/hr)"
    assert gpus.MI300X.display_name(Decimal("2.5")) == "AMD MI300X (192GB, $2.50/hr)"


def test_a_gpu_without_a_price_shows_none() -> None:
    """Where no rate is known, the name does not make one up."""
    assert gpus.MI325X.display_name() == "AMD MI325X (256GB)"


def test_only_the_mi300x_is_enabled() -> None:
    """A submission may name the MI300X and nothing else until an operator's provider has more."""
    assert [gpu.name for gpu in gpus.CATALOGUE if gpu.enabled] == ["MI300X"]


def test_an_architecture_is_stood_for_by_one_gpu() -> None:
    """Two GPUs share gfx942; the X-ray's figures for it are the MI300X's."""
    assert gpus.by_arch("gfx942") is gpus.MI300X
    assert gpus.by_name("MI325X") is gpus.MI325X
    assert gpus.by_name("H100") is None
