"""The error grid: small, and every wrong element is in the right cell."""

from __future__ import annotations

import json

import numpy as np
import pytest

from warmfront.judge.error_grid import MAX_CELLS, error_grid


def test_a_small_matrix_is_shown_element_by_element() -> None:
    """Each cell is one element; the last dimension runs to the right."""
    difference = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 5.0]])
    grid = error_grid(difference > 0, difference)
    assert (grid["rows"], grid["columns"]) == (2, 3)
    assert grid["wrong"] == [0, 1, 0, 0, 0, 1]
    assert grid["largest"] == [0, 2, 0, 0, 0, 5]


@pytest.mark.parametrize(
    "shape", [(1,), (7,), (33,), (1025,), (1, 70), (70, 1), (1000, 3), (4, 5, 6, 7), (513, 511)]
)
def test_every_wrong_element_is_in_one_cell(shape: tuple[int, ...]) -> None:
    """The grid does not exceed its size, and one wrong element marks exactly one cell."""
    size = int(np.prod(shape))
    for place in {0, size // 2, size - 1}:
        wrong = np.zeros(shape, bool)
        wrong.reshape(-1)[place] = True
        grid = error_grid(wrong, wrong.astype(np.float64))
        assert max(grid["rows"], grid["columns"]) <= MAX_CELLS
        assert sum(share is not None and share > 0 for share in grid["wrong"]) == 1
        assert len(grid["wrong"]) == len(grid["largest"]) == grid["rows"] * grid["columns"]


def test_a_cell_counts_only_its_own_elements() -> None:
    """A cell with only wrong elements is 1, even if it is not full; cells past the last element are None."""
    grid = error_grid(np.ones(1025, bool), np.ones(1025))
    assert set(grid["wrong"]) == {1.0, None}
    assert grid["wrong"].index(None) == grid["wrong"].count(1.0)


def test_a_grid_is_small_and_has_no_nan() -> None:
    """NaN and infinities count as wrong, and do not appear among the largest differences."""
    difference = np.full((4096, 4096), np.nan)
    difference[0, 0] = 1 / 3
    grid = error_grid(np.ones((4096, 4096), bool), difference)
    assert len(json.dumps(grid, allow_nan=False)) < 16_000
    assert grid["largest"][:2] == [0.333, 0]
