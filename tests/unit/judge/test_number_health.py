"""The health checks that measure: they run in the same boxes as submissions."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock, patch

import pytest

from warmfront.judge.case_memory import DeviceMemory
from warmfront.judge.number_health import TimedVectorAddition
from warmfront.problems.vector_addition import VectorAddition


class OperatorsProblem(VectorAddition):
    """A problem of an operator with the slug of a built-in one."""


@pytest.mark.parametrize(
    ("problem", "has_reference"), [(TimedVectorAddition(), True), (OperatorsProblem(), False)]
)
def test_the_benchmark_of_a_health_check_is_verified_on_the_device(
    problem: VectorAddition, *, has_reference: bool
) -> None:
    """Otherwise NumPy checks two calls per window, which are too few for a time within 1%."""
    memory = DeviceMemory(Mock(folder=Path("box")))
    with patch.object(DeviceMemory, "_verify", return_value=[]):
        assert memory.has_reference(problem) is has_reference
