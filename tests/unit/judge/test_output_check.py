"""The comparison of outputs with expected values."""

from __future__ import annotations

import numpy as np
import pytest

from warmfront.judge.output_check import debug_info, mismatches
from warmfront.problems.spec import Tolerance

CLOSE = Tolerance(rtol=1e-3, atol=1e-6, why="test")


@pytest.mark.parametrize(
    ("got", "want", "wrong"),
    [
        (1.0, 1.0, False),
        (1.0005, 1.0, False),
        (1.002, 1.0, True),
        (0.0, -0.0, False),
        (np.nan, 1.0, True),
        (np.nan, np.nan, False),
        (1.0, np.nan, True),
        (np.inf, np.inf, False),
        (-np.inf, np.inf, True),
        (np.inf, 1e30, True),
        (1e30, np.inf, True),
    ],
)
def test_one_element(got: float, want: float, wrong: bool) -> None:  # noqa: FBT001 - a column of the table
    """Values within the tolerance are correct; NaN and infinities only if they are expected."""
    is_wrong = mismatches(np.array([got], np.float32), np.array([want], np.float64), CLOSE)
    assert bool(is_wrong[0]) is wrong


def test_integers_are_compared_exactly() -> None:
    """A difference of 1 is wrong even for large integers: they are not converted to floats."""
    got = np.array([2**31 - 1, 2**31 - 2], np.int32)
    want = np.array([2**31 - 1, 2**31 - 1], np.int32)
    assert mismatches(got, want, CLOSE).tolist() == [False, True]


def test_debug_info_shows_the_first_differences_with_their_index() -> None:
    """Indices have the tensor's dimensions, and the largest difference is over all elements."""
    want = np.zeros((2, 3))
    got = want.astype(np.float32)
    got[1, 2] = 5.0
    got[1, 0] = 7.0
    info = debug_info(got, want, mismatches(got, want, CLOSE), {})
    assert [sample["index"] for sample in info["sample_differences"]] == [[1, 0], [1, 2]]
    assert info["max_difference"] == 7.0
    assert info["mean_difference"] == 2.0


def test_debug_info_shows_the_inputs() -> None:
    """An input with the output's shape is beside each wrong element; the beginning of each is listed."""
    want = np.zeros((2, 3))
    got = np.ones((2, 3), np.float32)
    inputs = {"x": np.arange(6, dtype=np.float32).reshape(2, 3), "weights": np.arange(20, dtype=np.int32)}
    info = debug_info(got, want, mismatches(got, want, CLOSE), inputs)
    assert [sample["inputs"] for sample in info["sample_differences"]] == [{"x": float(i)} for i in range(6)]
    assert info["inputs"] == [
        {"name": "x", "shape": [2, 3], "values": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]},
        {"name": "weights", "shape": [20], "values": [0, 1, 2, 3, 4, 5, 6, 7]},
    ]
