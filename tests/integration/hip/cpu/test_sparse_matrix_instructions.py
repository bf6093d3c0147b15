"""Tests of matrix instructions with a sparse A on the CPU runtime, against a model in NumPy."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.support.matrix_model import LANES, Form, decode, encode_small
from tests.support.sparse_matrix_model import index_sets, multiply, parse_sparse_form, stored_items

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tests.support.programs import Programs

pytestmark = pytest.mark.compiler

PROGRAM = Path(__file__).parents[3] / "corpus" / "programs" / "matrix_sparse.hip"

#: The parts of a case as bytes: A, B, C and the indices of all lanes.
_Parts = tuple[bytes, bytes, bytes, bytes]


def program_cases() -> list[tuple[str, tuple[int, int]]]:
    """Return the cases of the program in its order: the name of a form, cbsz and abid."""
    text = PROGRAM.read_text()
    plain = re.findall(r"^  X\((\w+), [a-z]\w+, \w+, \w+\)", text, re.MULTILINE)
    modified = re.findall(r"X\((\w+), (\d+), (\d+)\)", text)
    return [(name, (0, 0)) for name in plain] + [(name, (int(c), int(a))) for name, c, a in modified]


def make_parts(form: Form, rng: np.random.Generator) -> _Parts:
    """Return operands of small integers, and indices in increasing order in every set."""
    a = encode_small(form.a_kind, rng, LANES * stored_items(form))
    b = encode_small(form.b_kind, rng, LANES * form.items)
    c = rng.integers(-50, 50, LANES * form.results).astype(form.sum_type).tobytes()
    pairs = np.array([low | high << 2 for low in range(4) for high in range(low + 1, 4)], np.uint32)
    index = np.zeros(LANES, np.uint32)
    for nibble in range(8):
        index |= rng.choice(pairs, LANES).astype(np.uint32) << np.uint32(4 * nibble)
    return a, b, c, index.tobytes()


def run_program(programs: Programs, folder: Path, parts: list[_Parts]) -> list[NDArray[Any]]:
    """Run all cases of the program and return D of each, by lane and item."""
    blob = b"".join(
        " ".join([name, *map(str, modifiers)]).encode().ljust(64, b"\0") + c + b + a + index
        for (name, modifiers), (a, b, c, index) in zip(program_cases(), parts, strict=True)
    )
    (folder / "in").write_bytes(blob)
    result = programs.run("matrix_sparse", str(folder / "in"), str(folder / "out"))
    assert (result.returncode, result.stderr) == (0, "")
    output, results = (folder / "out").read_bytes(), []
    for name, _ in program_cases():
        form = parse_sparse_form(name)
        size = LANES * form.results * form.sum_type.itemsize
        results.append(np.frombuffer(output[:size], form.sum_type).reshape(LANES, form.results))
        output = output[size:]
    assert not output
    return results


def expected(form: Form, parts: _Parts, modifiers: tuple[int, int]) -> NDArray[Any]:
    """Return the model's D."""
    a, b, c, index = parts
    operands = (
        decode(form.a_kind, np.frombuffer(a, np.uint8)).reshape(LANES, stored_items(form)),
        decode(form.b_kind, np.frombuffer(b, np.uint8)).reshape(LANES, form.items),
        np.frombuffer(c, form.sum_type).astype(np.float64).reshape(LANES, form.results),
    )
    return multiply(form, operands, np.frombuffer(index, np.uint32), modifiers)


def test_every_sparse_form(programs: Programs, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every element of every form of gfx942, with every set of indices, equals the model's."""
    cases = program_cases()
    forms = {name for name, _ in cases}
    assert len(forms) == 14
    rng = np.random.default_rng(42)
    parts = [make_parts(parse_sparse_form(name), rng) for name, _ in cases]
    right = total = 0
    for (name, modifiers), part, result in zip(
        cases, parts, run_program(programs, tmp_path, parts), strict=True
    ):
        wanted = expected(parse_sparse_form(name), part, modifiers)
        assert np.array_equal(result, wanted), (name, modifiers, np.argwhere(result != wanted)[:5])
        right += int((result == wanted).sum())
        total += wanted.size
    with capsys.disabled():
        print(f"\nsparse matrix instructions: {right} of {total} elements in {len(cases)} cases, ", end="")
        print(f"{len(forms)} of 14 forms")
    assert right == total


def test_elements_that_are_not_stored_do_not_count(programs: Programs, tmp_path: Path) -> None:
    """An infinity in B at a position where A has no stored element does not change the result."""
    rng = np.random.default_rng(7)
    parts = [make_parts(parse_sparse_form(name), rng) for name, _ in program_cases()]
    form = parse_sparse_form("f32_16x16x32_f16")
    a, b, c, _ = parts[0]
    b_values = np.frombuffer(b, np.float16).reshape(LANES, form.items).copy()
    first_two = np.full(LANES, 0x44444444, np.uint32).tobytes()  # elements 0 and 1 of each group
    wanted = expected(form, (a, b, c, first_two), (0, 0))
    b_values[:, 2::4] = np.inf
    b_values[:, 3::4] = np.nan
    parts[0] = (a, b_values.tobytes(), c, first_two)
    assert np.array_equal(run_program(programs, tmp_path, parts)[0], wanted)


def test_register_has_whole_sets() -> None:
    """Elements of 16 bits have four sets of indices, those of 8 bits two."""
    assert index_sets(parse_sparse_form("f32_16x16x32_f16")) == 4
    assert index_sets(parse_sparse_form("i32_32x32x32_i8")) == 2


FAULTS = {
    "under_a_branch": "only 32 of 64 lanes execute it",
    "with_set_that_does_not_exist": "abid is 2, but it selects one of the 2 sets of indices",
    "with_modifier_that_does_not_exist": "cbsz is 4, but it is between 0 and 3",
}


@pytest.mark.parametrize("case", FAULTS)
def test_fault(programs: Programs, case: str) -> None:
    """An instruction that not all lanes execute, or with a modifier that it lacks, faults with its line."""
    fault = programs.fault("matrix_sparse", case)
    assert fault["fault"] == "matrix-instruction"
    assert FAULTS[case] in fault["detail"]
    line = int(re.match(r"line (\d+): __builtin_amdgcn_smfmac_", fault["detail"])[1])  # type: ignore[index]
    assert "__builtin_amdgcn_smfmac_" in PROGRAM.read_text().splitlines()[line - 1]
