"""Ranges draw valid values, anywhere and next to a timed one, and invalid ranges are rejected."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any, cast

import pytest

from warmfront.errors import BadProblemFile
from warmfront.problems.ranges import (
    DimensionIn,
    DimensionsOf,
    Numbers,
    Shapes,
    Sizes,
    check_ranges,
    draw_anywhere,
    draw_near,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from warmfront.problems.ranges import Range

MATRIX: dict[str, Range] = {"n": Sizes(1, 5000), "k": Sizes(1, 31, step=2), "alpha": Numbers(0.0, 2.0)}
TENSOR: dict[str, Range] = {
    "ndim": DimensionsOf("shape"),
    "dim": DimensionIn("shape"),
    "shape": Shapes(10_000),
}


def anywhere(ranges: dict[str, Range], seed: int) -> dict[str, Any]:
    """Draw values anywhere."""
    return dict(draw_anywhere(ranges, Random(seed)))  # noqa: S311 - a fixed seed, for a test


def near(ranges: dict[str, Range], timed: dict[str, Any], seed: int) -> dict[str, Any]:
    """Draw values next to those of a timed case."""
    return dict(draw_near(ranges, timed, Random(seed)))  # noqa: S311 - as above


def test_values_anywhere_are_in_the_range_and_of_all_magnitudes() -> None:
    """Small and large sizes occur, odd ones and even ones, and steps are kept."""
    drawn = [anywhere(MATRIX, seed) for seed in range(500)]
    assert all(1 <= values["n"] <= 5000 for values in drawn)
    assert {values["k"] for values in drawn} == set(range(1, 32, 2))
    assert all(0 <= values["alpha"] <= 2 for values in drawn)
    assert any(values["n"] < 5 for values in drawn)
    assert any(values["n"] > 3000 for values in drawn)
    assert {values["n"] % 2 for values in drawn} == {0, 1}


def test_values_next_to_a_timed_case_differ_in_at_least_one_size() -> None:
    """They are at most 63 steps away, within the range, and not all sizes stay the same."""
    timed = {"n": 1024, "k": 31, "alpha": 0.01}
    for seed in range(500):
        values = near(MATRIX, timed, seed)
        assert (values["n"], values["k"]) != (1024, 31)
        assert abs(values["n"] - 1024) <= 63
        assert values["k"] in {29, 31}


def test_a_timed_size_above_the_range_is_allowed() -> None:
    """A problem may limit sizes anywhere more than those of its timed cases."""
    assert all(near({"n": Sizes(1, 64)}, {"n": 1000}, seed)["n"] <= 1000 for seed in range(50))


def test_shapes_are_consistent_with_their_dimensions() -> None:
    """The number of dimensions is that of the shape, and the index is one of them."""
    drawn = [anywhere(TENSOR, seed) for seed in range(300)]
    assert {values["ndim"] for values in drawn} == {1, 2, 3, 4}
    for values in drawn:
        assert values["ndim"] == len(values["shape"])
        assert 0 <= values["dim"] < values["ndim"]
    values = near(TENSOR, {"shape": (16, 127, 31), "ndim": 3, "dim": 1}, 1)
    assert values["shape"] != (16, 127, 31)
    assert (values["ndim"], values["dim"]) == (3, 1)


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (lambda: Sizes(5, 4), "Sizes(low=5, high=4"),
        (lambda: Sizes(-1, 4), "0 <= low"),
        (lambda: Sizes(1, 4, step=0), "step >= 1"),
        (lambda: Numbers(0.0, float("inf")), "finite"),
        (lambda: Shapes(0), "max_elements >= 1"),
        (
            lambda: check_ranges({"n": Sizes(1, 2)}, {"n": (Sizes,), "m": (Sizes,)}),
            "['n']; the signature needs ['m', 'n']",
        ),
        (
            lambda: check_ranges({"n": cast("Any", 7)}, {"n": (Sizes,)}),
            "the range of 'n' is 7; allowed: Sizes",
        ),
        (
            lambda: check_ranges({"d": DimensionIn("shape")}, {"d": (DimensionIn,)}),
            "'shape', which has no range of shapes",
        ),
    ],
)
def test_an_invalid_range_is_rejected(declare: Callable[[], object], message: str) -> None:
    """The error has the field, the value and what is allowed."""
    with pytest.raises(BadProblemFile) as error:
        declare()
    assert message in error.value.message
