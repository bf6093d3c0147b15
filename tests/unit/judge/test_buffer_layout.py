"""Guard zones and poison in the data file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from warmfront import problems
from warmfront.hip.toolchain import GuardZones
from warmfront.judge.buffer_layout import BufferLayout
from warmfront.judge.kernel_failure import KernelFailure
from warmfront.problems.spec import Dtype, Scale

if TYPE_CHECKING:
    from pathlib import Path

GUARDS = GuardZones(front_bytes=64, back_bytes=0, align=16)


@pytest.fixture(name="data")
def _data(tmp_path: Path) -> Path:
    path = tmp_path / "data"
    path.touch()
    return path


def _layout(dtype: Dtype = Dtype.FLOAT32, slots: int = 1) -> tuple[BufferLayout, dict[str, np.ndarray]]:
    problem = problems.get("leaky-relu")
    case = next(case for case in problem.cases(Scale.CPU) if case.size("n") * case.size("m") == 13)
    inputs = dict(problem.inputs(case, dtype, np.random.default_rng(1)))
    return BufferLayout(problem, case, dtype, GUARDS, inputs, slots=slots), inputs


@pytest.mark.parametrize("dtype", [Dtype.FLOAT32, Dtype.FLOAT16])
def test_inputs_are_written_and_outputs_are_poisoned(data: Path, dtype: Dtype) -> None:
    """An input reads back unchanged, and every element of an output is NaN."""
    layout, inputs = _layout(dtype)
    layout.write(data, [inputs])
    source, target = layout.regions
    assert np.array_equal(source.elements(layout.read(data, source)), inputs["input"])
    assert np.isnan(target.elements(layout.read(data, target))).all()
    assert layout.count_unwritten(target, layout.read(data, target)) == 13


def test_slots_do_not_overlap(data: Path) -> None:
    """Each slot has its own inputs."""
    layout, inputs = _layout(slots=3)
    sets = [{"input": inputs["input"] + slot} for slot in range(3)]
    layout.write(data, sets)
    for slot in range(3):
        raw = layout.read(data, layout.regions[0], slot)
        assert np.array_equal(layout.regions[0].elements(raw), sets[slot]["input"])


@pytest.mark.parametrize(
    ("byte", "where"),
    [(63, "1 bytes before the start"), (0, "64 bytes before the start"), (64 + 52, "0 bytes past the end")],
)
def test_a_changed_guard_byte_is_located(data: Path, byte: int, where: str) -> None:
    """One changed byte in a guard zone is described by its distance from the tensor."""
    layout, inputs = _layout()
    layout.write(data, [inputs])
    region = layout.regions[1]
    raw = layout.read(data, region)
    assert layout.describe_guard_write(region, raw) is None
    raw[byte] ^= 0xFF
    assert layout.describe_guard_write(region, raw) == where


def test_a_truncated_file_is_a_kernel_failure(data: Path) -> None:
    """A truncated data file leads to a verdict, not to a crash of the judge."""
    layout, inputs = _layout()
    layout.write(data, [inputs])
    with data.open("r+b") as file:
        file.truncate(10)
    with pytest.raises(KernelFailure) as caught:
        layout.read(data, layout.regions[1])
    assert caught.value.event.code == "DATA_TAMPERED"
