"""The names that the page's editor completes and explains."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from scripts import generate_hip_reference
from tests.support.matrix_model import parse_form

if TYPE_CHECKING:
    from collections.abc import Callable

FUNCTIONS = generate_hip_reference.FILE.with_name("hipFunctions.json")
HIP = generate_hip_reference.ROOT / "src" / "warmfront" / "hip"
FORMS = generate_hip_reference.read_forms()
#: Types that the compiler itself knows.
_COMPILER = {"_Float16"}


def test_the_file_is_up_to_date() -> None:
    """The builtins are those of the CPU runtime's list."""
    assert generate_hip_reference.FILE.read_text() == generate_hip_reference.build(), (
        "run python scripts/generate_hip_reference.py"
    )


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_the_boxes_are_where_the_instruction_has_its_elements(form: generate_hip_reference.Form) -> None:
    """Each element is in the box of the lane that AMD's documentation gives it; no box has another's."""
    model = parse_form(form.name)
    drawn = generate_hip_reference.tile(form)
    places: dict[str, Callable[[int, int], int]] = {
        "a": lambda row, column: model.operand_place(row, column, 0)[0],
        "b": lambda row, column: model.operand_place(column, row, 0)[0],
        "d": lambda row, column: model.result_place(row, column, 0)[0],
    }
    for operand, lane_of in places.items():
        cells = [
            (row + i, column + j, lane)
            for lane, row, column, rows, columns in drawn[operand]
            for i in range(rows)
            for j in range(columns)
        ]
        assert all(lane == lane_of(row, column) for row, column, lane in cells)
        assert len({(row, column) for row, column, _ in cells}) == len(cells)


def test_every_function_of_the_table_exists() -> None:
    """The headers, or the CPU runtime's rewriter, know each name that the editor offers."""
    sources = [path.read_text() for path in HIP.rglob("*") if path.suffix in {".h", ".py", ".inc"}]
    words = set(re.findall(r"\w+", "\n".join(sources)))
    listed = {entry["name"] for entry in json.loads(FUNCTIONS.read_text())}
    assert len(listed) > 100
    assert listed - words - _COMPILER == set()
