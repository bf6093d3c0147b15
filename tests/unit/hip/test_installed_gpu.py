"""Detection of the installed GPU from the kernel driver's topology."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from warmfront import gpus
from warmfront.hip.installed_gpu import installed_gpu

if TYPE_CHECKING:
    from pathlib import Path

GIB = 1 << 30


def add_node(topology: Path, number: int, *, gfx_target_version: int, memory_bytes: int) -> None:
    """Write a node as the driver presents it."""
    bank = topology / str(number) / "mem_banks" / "0"
    bank.mkdir(parents=True)
    (topology / str(number) / "properties").write_text(
        f"simd_count 1216\ngfx_target_version {gfx_target_version}\nunique_id 17512\n"
    )
    (bank / "properties").write_text(f"heap_type 1\nsize_in_bytes {memory_bytes}\n")


@pytest.mark.parametrize(
    ("version", "memory_bytes", "expected"),
    [
        (90402, 192 * GIB, gpus.MI300X),
        (90402, 256 * GIB, gpus.MI325X),
        (90500, 288 * GIB, gpus.MI355X),
        (90010, 64 * GIB, gpus.MI210),
        (110000, 48 * GIB, None),
    ],
)
def test_gpu_is_identified_by_architecture_and_memory(
    tmp_path: Path, version: int, memory_bytes: int, expected: gpus.Gpu | None
) -> None:
    """Node 0 is the CPU; the GPU follows from the architecture and the memory of node 1."""
    add_node(tmp_path, 0, gfx_target_version=0, memory_bytes=512 * GIB)
    add_node(tmp_path, 1, gfx_target_version=version, memory_bytes=memory_bytes)
    assert installed_gpu(tmp_path) is expected


def test_machine_without_a_gpu(tmp_path: Path) -> None:
    """Without the driver there is no topology."""
    assert installed_gpu(tmp_path / "missing") is None
