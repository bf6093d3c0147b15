"""Detection of the installed GPU from the kernel driver's files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.gpu_sysfs import GIB, add_cpu, add_gpu
from warmfront import gpus
from warmfront.hip.installed_gpu import installed_gpu

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("version", "compute_units", "memory_bytes", "expected"),
    [
        (90402, 304, 192 * GIB, gpus.MI300X),
        (90402, 304, 256 * GIB, gpus.MI325X),
        (90500, 256, 288 * GIB, gpus.MI355X),
        (90010, 104, 64 * GIB, gpus.MI210),
        (90010, 110, 64 * GIB, gpus.MI250X),
        (110000, 96, 48 * GIB, None),
    ],
)
def test_gpu_is_identified_by_architecture_compute_units_and_memory(
    tmp_path: Path, version: int, compute_units: int, memory_bytes: int, expected: gpus.Gpu | None
) -> None:
    """Node 0 is the CPU; the GPU follows from the facts of node 1."""
    add_cpu(tmp_path, 0)
    add_gpu(
        tmp_path,
        1,
        name="",
        gfx_target_version=version,
        compute_units=compute_units,
        memory_bytes=memory_bytes,
    )
    assert installed_gpu(tmp_path) is expected


def test_a_partition_is_not_taken_for_a_whole_gpu(tmp_path: Path) -> None:
    """In CPX mode a device has an eighth of the compute units, and another name."""
    add_gpu(tmp_path, 1, compute_units=38, memory_bytes=24 * GIB, partition="CPX/NPS4")
    gpu = installed_gpu(tmp_path)
    assert gpu is not None
    assert gpu.name == "MI300X-CPX-NPS4"


def test_machine_without_a_gpu(tmp_path: Path) -> None:
    """Without the driver there is no topology."""
    assert installed_gpu(tmp_path / "missing") is None
