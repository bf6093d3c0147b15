"""Write the builtins that the editor completes and explains, with the tiles of the matrix instructions.

Usage: python scripts/generate_hip_reference.py [--check]

The builtins are those of `warmfront.hip.builtins`, the forms of MFMA those of the CPU runtime's
`matrix_forms.h`. `--check` writes nothing, and exits with 1 if the file is not up to date.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warmfront.hip import builtins
from warmfront.hip.xray.matrix_instructions import MatrixForm

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "frontend" / "src" / "views" / "problem" / "builtins.json"
FORMS = ROOT / "src" / "warmfront" / "hip" / "cpu" / "include" / "hipcpu" / "matrix_forms.h"

LANES = 64
_FORM = re.compile(r"X\((\w+), (\w+), (\w+), (\d+), (\d+), (\d+), (\d+), (\w+), (\w+)\)")

#: The box of a lane: its number, its first row and column, and how many rows and columns it covers.
Box = tuple[int, int, int, int, int]


@dataclass(frozen=True, kw_only=True)
class Form:
    """A dense matrix instruction, as `matrix_forms.h` lists it."""

    name: str
    operand: str
    result: str
    m: int
    n: int
    k: int
    blocks: int
    a: str
    b: str

    @property
    def is_double(self) -> bool:
        """Whether the result is float64, whose layout differs."""
        return self.name.startswith("f64")

    @property
    def per_lane(self) -> int:
        """The number of elements of A, and of B, that a lane has."""
        return self.m * self.k * self.blocks // LANES

    @property
    def registers(self) -> int:
        """The number of elements of D that a lane has."""
        return self.m * self.n * self.blocks // LANES

    def operand_lane(self, row: int, k: int) -> int:
        """Return the lane of A[row][k], or of B[k][row], of the first block."""
        return row + self.m * self.blocks * (k // self.per_lane)

    def result_place(self, row: int, column: int) -> tuple[int, int]:
        """Return the lane and the register of D[row][column] of the first block."""
        if self.m == 32:
            return 32 * (row // 4 % 2) + column, 4 * (row // 8) + row % 4
        if self.m == 16:
            return (
                (16 * (row % 4) + column, row // 4) if self.is_double else (16 * (row // 4) + column, row % 4)
            )
        return (16 * row + column, 0) if self.is_double else (column, row)


def read_forms() -> list[Form]:
    """Return every dense form of the header."""
    return [
        Form(
            name=name,
            operand=operand,
            result=result,
            m=int(m),
            n=int(n),
            k=int(k),
            blocks=int(blocks),
            a=a.lower(),
            b=b.lower(),
        )
        for name, operand, result, m, n, k, blocks, a, b in _FORM.findall(FORMS.read_text())
    ]


def boxes(rows: int, columns: int, key: Callable[[int, int], tuple[int, int]]) -> list[Box]:
    """Return a box per rectangle of elements with the same key, which begins with the lane."""
    cells: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for row in range(rows):
        for column in range(columns):
            cells[key(row, column)].append((row, column))
    return [
        (lane, *min(members), max(members)[0] - min(members)[0] + 1, max(members)[1] - min(members)[1] + 1)
        for (lane, _), members in sorted(cells.items())
    ]


def tile(form: Form) -> dict[str, Any]:
    """Return which lane has which elements of A, B and D, for the first block."""
    return {
        "a": boxes(form.m, form.k, lambda row, k: (form.operand_lane(row, k), 0)),
        "b": boxes(form.k, form.n, lambda k, column: (form.operand_lane(column, k), 0)),
        "d": boxes(form.m, form.n, lambda row, column: _result_key(form, row, column)),
    }


def _result_key(form: Form, row: int, column: int) -> tuple[int, int]:
    lane, register = form.result_place(row, column)
    return lane, register if form.is_double else register // 4


def describe(form: Form) -> dict[str, Any]:
    """Return the page's description of a form."""
    known = MatrixForm(
        name=form.name, m=form.m, n=form.n, k=form.k, blocks=form.blocks, elements=form.a, sparse=False
    )
    full_name = f"{builtins.PREFIX}mfma_{form.name}"
    arguments = f"{form.operand} a, {form.operand} b, {form.result} c, int cbsz, int abid, int blgp"
    return {
        "signature": f"{form.result} {full_name}({arguments})",
        "m": form.m,
        "n": form.n,
        "k": form.k,
        "blocks": form.blocks,
        "a": form.a,
        "b": form.b,
        "perLane": form.per_lane,
        "registers": form.registers,
        "flops": known.flops,
        "cycles": known.cycles("gfx942"),
        "tile": _tile_name(form),
    }


def _tile_name(form: Form) -> str:
    return f"{form.m}x{form.n}x{form.k}x{form.blocks}{'d' if form.is_double else ''}"


def build() -> str:
    """Return the text of the generated file: one entry per line."""
    forms = {f"{builtins.PREFIX}mfma_{form.name}": form for form in read_forms()}
    entries = [
        {
            "name": name,
            "group": builtin.group,
            "fidelity": builtin.fidelity.value,
            "note": builtin.note,
            **({"matrix": describe(forms[name])} if name in forms else {}),
        }
        for name, builtin in sorted(builtins.all_builtins().items())
    ]
    tiles = {_tile_name(form): tile(form) for form in forms.values()}
    lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries)
    drawn = ",\n".join(
        f"{json.dumps(name)}:{json.dumps(shape, separators=(',', ':'))}" for name, shape in tiles.items()
    )
    return f'{{"builtins":[\n{lines}\n],\n"tiles":{{\n{drawn}\n}}}}\n'


def main() -> int:
    """Write the file, or compare it with what would be written."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    text = build()
    if not check:
        FILE.write_text(text)
    elif not FILE.exists() or FILE.read_text() != text:
        sys.stderr.write(f"{FILE.name} is not up to date: run python scripts/generate_hip_reference.py\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
