"""Tests of matrix instructions on the CPU runtime, element by element against a model in NumPy."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.support.matrix_model import LANES, Form, decode, encode_small, multiply, parse_form

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tests.support.programs import Programs

pytestmark = pytest.mark.compiler

PROGRAM = Path(__file__).parents[3] / "corpus" / "programs" / "matrix_dense.hip"


def program_cases() -> list[tuple[str, tuple[int, int, int]]]:
    """Return the cases of the program in its order: the name of a form, and cbsz, abid and blgp."""
    text = PROGRAM.read_text()
    plain = re.findall(r"^  X\((\w+), [a-z]\w+, \w+\)", text, re.MULTILINE)
    modified = re.findall(r"X\((\w+), (\d+), (\d+), (\d+)\)", text)
    return [(name, (0, 0, 0)) for name in plain] + [
        (name, (int(cbsz), int(abid), int(blgp))) for name, cbsz, abid, blgp in modified
    ]


def make_operands(form: Form, rng: np.random.Generator) -> tuple[bytes, bytes, bytes]:
    """Return A, B and C of all lanes."""
    a = encode_small(form.a_kind, rng, LANES * form.items)
    b = encode_small(form.b_kind, rng, LANES * form.items)
    c = rng.integers(-50, 50, LANES * form.results).astype(form.sum_type).tobytes()
    return a, b, c


def run_program(programs: Programs, folder: Path, operands: list[tuple[bytes, bytes, bytes]]) -> bytes:
    """Run all cases of the program and return its output: D of every lane, case after case."""
    blob = b"".join(
        " ".join([name, *map(str, modifiers)]).encode().ljust(64, b"\0") + c + a + b
        for (name, modifiers), (a, b, c) in zip(program_cases(), operands, strict=True)
    )
    (folder / "in").write_bytes(blob)
    result = programs.run("matrix_dense", str(folder / "in"), str(folder / "out"))
    assert (result.returncode, result.stderr) == (0, "")
    return (folder / "out").read_bytes()


def split_results(output: bytes) -> list[NDArray[Any]]:
    """Return D of each case, by lane and item."""
    results = []
    for name, _ in program_cases():
        form = parse_form(name)
        size = LANES * form.results * form.sum_type.itemsize
        results.append(np.frombuffer(output[:size], form.sum_type).reshape(LANES, form.results))
        output = output[size:]
    assert not output
    return results


def expected(
    form: Form, operands: tuple[bytes, bytes, bytes], modifiers: tuple[int, int, int]
) -> NDArray[Any]:
    """Return the model's D."""
    a, b, c = operands
    decoded = (
        decode(form.a_kind, np.frombuffer(a, np.uint8)).reshape(LANES, form.items),
        decode(form.b_kind, np.frombuffer(b, np.uint8)).reshape(LANES, form.items),
        np.frombuffer(c, form.sum_type).astype(np.float64).reshape(LANES, form.results),
    )
    return multiply(form, decoded, modifiers)


def test_every_dense_form(programs: Programs, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every element of every form of gfx942, with and without broadcasts, equals the model's."""
    cases = program_cases()
    assert len({name for name, _ in cases}) == 32
    rng = np.random.default_rng(16)
    operands = [make_operands(parse_form(name), rng) for name, _ in cases]
    right = total = 0
    results = split_results(run_program(programs, tmp_path, operands))
    for (name, modifiers), parts, result in zip(cases, operands, results, strict=True):
        wanted = expected(parse_form(name), parts, modifiers)
        assert np.array_equal(result, wanted), (name, modifiers, np.argwhere(result != wanted)[:5])
        right += int((result == wanted).sum())
        total += wanted.size
    with capsys.disabled():
        print(
            f"\nmatrix instructions: {right} of {total} elements in {len(cases)} of {len(cases)} cases, ",
            end="",
        )
        print(f"{len({name for name, _ in cases})} of 32 dense forms")
    assert right == total


def test_rounding(programs: Programs, tmp_path: Path) -> None:
    """f32 and f64 are chains of fused multiply-adds; narrower types are exact products, summed in float."""
    rng = np.random.default_rng(3)
    cases = program_cases()
    operands = []
    for name, _ in cases:
        form = parse_form(name)
        a, b, c = make_operands(form, rng)
        if form.a_kind in {"f32", "xf32", "f64", "f16"}:
            stored = {"f64": np.float64, "f16": np.float16}.get(form.a_kind, np.float32)
            a = rng.standard_normal(LANES * form.items).astype(stored).tobytes()
            b = rng.standard_normal(LANES * form.items).astype(stored).tobytes()
            c = rng.standard_normal(LANES * form.results).astype(form.sum_type).tobytes()
        operands.append((a, b, c))
    results = split_results(run_program(programs, tmp_path, operands))
    for (name, modifiers), parts, result in zip(cases, operands, results, strict=True):
        wanted = expected(parse_form(name), parts, modifiers)
        # The sum of K products, each rounded at most once to the type of the sum.
        bound = 40 * np.finfo(result.dtype).eps if result.dtype.kind == "f" else 0
        assert np.abs(result - wanted).max() <= bound * 10, (name, modifiers)
        if parse_form(name).k == 1:  # one product: rounded once
            assert np.array_equal(result, wanted.astype(result.dtype)), name


FAULTS = {
    "under_a_branch": "only 32 of 64 lanes execute it",
    "in_both_branches": "only 32 of 64 lanes execute it",
    "after_a_return": "only 63 of 64 lanes execute it",
    "in_half_a_wave": "only 32 of 64 lanes execute it",
    "with_broadcast": "cbsz is 1, but gfx942 has no broadcast of A for this form",
    "with_block_that_does_not_exist": "abid is 4, but it selects one of the 2^cbsz = 4 blocks",
    "with_pattern": "blgp is 3, but gfx942 has no pattern of B for this form",
}


@pytest.mark.parametrize("case", FAULTS)
def test_fault(programs: Programs, case: str) -> None:
    """An instruction that not all lanes execute, or with a modifier that it lacks, faults with its line."""
    fault = programs.fault("matrix_dense", case)
    assert fault["fault"] == "matrix-instruction"
    assert FAULTS[case] in fault["detail"]
    line = int(re.match(r"line (\d+): __builtin_amdgcn_mfma_", fault["detail"])[1])  # type: ignore[index]
    assert "__builtin_amdgcn_mfma_" in PROGRAM.read_text().splitlines()[line - 1]
