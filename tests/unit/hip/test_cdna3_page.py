"""The page about CDNA3: its drawings and its table are up to date, and its layouts are complete."""

from __future__ import annotations

import pytest

from scripts import generate_cdna3
from warmfront.hip import builtins


def test_generated_files_are_up_to_date() -> None:
    """Drawings and table are equal to the output of `python scripts/generate_cdna3.py`."""
    stale = [path.name for path, text in generate_cdna3.build().items() if path.read_text() != text]
    assert stale == [], "run python scripts/generate_cdna3.py"


def test_the_table_has_every_builtin() -> None:
    """Each builtin is in the table once, with how faithfully the CPU runtime executes it."""
    rows = [line.split(" | ") for line in generate_cdna3.builtins_table().splitlines() if "`" in line]
    levels = {
        f"`{name}`": level for _, level, names, _ in rows[1:] for name in names.replace("`", "").split()
    }
    expected = {
        f"`{name.removeprefix(builtins.PREFIX)}`": builtin.fidelity.value
        for name, builtin in builtins.all_builtins().items()
    }
    assert levels == expected


@pytest.mark.parametrize("tile", generate_cdna3.TILES, ids=lambda tile: tile.file)
def test_every_element_has_its_own_place(tile: generate_cdna3.Tile) -> None:
    """No two elements of an operand or of the result are in the same place, and every lane has as many."""
    rows, depth, blocks = range(tile.m), range(tile.k), range(tile.blocks)
    operand = {tile.operand(row, k, block) for row in rows for k in depth for block in blocks}
    result = {tile.result(row, column, block) for row in rows for column in rows for block in blocks}
    for places, elements in ((operand, tile.m * tile.k), (result, tile.m * tile.m)):
        assert len(places) == elements * tile.blocks
        assert {lane for lane, _ in places} == set(range(64))
        assert {item for _, item in places} == set(range(elements * tile.blocks // 64))
