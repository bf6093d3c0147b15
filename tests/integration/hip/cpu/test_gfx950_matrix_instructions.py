"""Tests of the matrix instructions of gfx950 on the CPU runtime, against models in NumPy and `ml_dtypes`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from tests.support import matrix_model, scaled_matrix_model
from tests.support.matrix_model import LANES
from warmfront import gpus
from warmfront.hip import cpu

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tests.support.programs import Programs

pytestmark = pytest.mark.compiler

PROGRAM = Path(__file__).parents[3] / "corpus" / "programs" / "matrix_gfx950.hip"

#: Values that every format represents; their sums are exact in any order.
_SMALL = np.array([0, 1, 2, 3, 4, -1, -2, -3, -4], dtype=np.float64)
_ENV = cpu.run_env(gpus.MI355X)


@dataclass
class Case:
    """One launch of the program: its name, its input, and the expected D by lane and item."""

    name: str
    blob: bytes
    expected: NDArray[Any]
    sum_type: np.dtype[Any] = field(default_factory=lambda: np.dtype(np.float32))
    #: The sum of the magnitudes of the products, which bounds the error; None if D must be exact.
    magnitudes: NDArray[np.float64] | None = None

    @property
    def record(self) -> bytes:
        """The case in the program's input."""
        return self.name.encode().ljust(64, b"\0") + self.blob


def ocp_bytes(kind: str, values: NDArray[np.float64]) -> bytes:
    """Return values in the formats of gfx950, on which fp8 is that of OCP."""
    dtype: Any = {"fp8": ml_dtypes.float8_e4m3fn, "bf8": ml_dtypes.float8_e5m2}.get(kind)
    return values.astype(dtype).tobytes() if dtype else matrix_model.encode(kind, values)


def dense_case(name: str, rng: np.random.Generator) -> Case:
    """Return a case of a form without scales."""
    form = matrix_model.parse_form(name)
    a = rng.choice(_SMALL, (LANES, form.items))
    b = rng.choice(_SMALL, (LANES, form.items))
    c = rng.integers(-50, 50, (LANES, form.results)).astype(form.sum_type)
    expected = matrix_model.multiply(form, (a, b, c.astype(np.float64)), (0, 0, 0))
    operands = ocp_bytes(form.a_kind, a.ravel()) + ocp_bytes(form.b_kind, b.ravel())
    return Case(name, c.tobytes() + operands + bytes(8 * LANES), expected, form.sum_type)


def random_codes(format_code: int, rng: np.random.Generator, *, small: bool) -> NDArray[np.uint8]:
    """Return codes of small integers, or of any finite numbers."""
    dtype, bits = scaled_matrix_model.FORMATS[format_code]
    size = (LANES, scaled_matrix_model.ITEMS)
    if small:
        return rng.choice(_SMALL, size).astype(dtype).view(np.uint8)
    codes = np.arange(1 << bits, dtype=np.uint8)
    finite = codes[np.isfinite(scaled_matrix_model.decode(format_code, codes))]
    return rng.choice(finite, size)


def scaled_case(name: str, rng: np.random.Generator, *, small: bool) -> Case:
    """Return a case with scales, whose name has the rows, the formats and the bytes of the scales."""
    rows, format_a, format_b, select_a, select_b = map(int, name.split())
    model = scaled_matrix_model
    a, b = random_codes(format_a, rng, small=small), random_codes(format_b, rng, small=small)
    c = rng.integers(-50, 50, (LANES, rows * rows // LANES)).astype(np.float32)
    words = rng.integers(123, 132, (2, LANES, 4)).astype(np.uint8).view(np.uint32).reshape(2, LANES)
    whole_a = model.gather(rows, format_a, a) * model.scales_of(rows, words[0], select_a)
    whole_b = model.gather(rows, format_b, b) * model.scales_of(rows, words[1], select_b)
    expected = model.scatter(rows, whole_a @ whole_b.T) + c
    magnitudes = None if small else model.scatter(rows, np.abs(whole_a) @ np.abs(whole_b).T)
    blob = c.tobytes() + operand_bytes(format_a, a) + operand_bytes(format_b, b) + words.tobytes()
    return Case(name, blob, expected, magnitudes=magnitudes)


def operand_bytes(format_code: int, codes: NDArray[np.uint8]) -> bytes:
    """Return an operand of all lanes."""
    return b"".join(scaled_matrix_model.encode_lane(format_code, lane) for lane in codes)


def unscaled_case(rng: np.random.Generator) -> Case:
    """Return the case whose scales are the constant 0: e4m3 by e5m2."""
    model = scaled_matrix_model
    a, b = random_codes(0, rng, small=True), random_codes(1, rng, small=True)
    c = rng.integers(-50, 50, (LANES, 4)).astype(np.float32)
    expected = model.scatter(16, model.gather(16, 0, a) @ model.gather(16, 1, b).T) + c
    return Case(
        "unscaled", c.tobytes() + operand_bytes(0, a) + operand_bytes(1, b) + bytes(8 * LANES), expected
    )


def make_cases(rng: np.random.Generator, *, small: bool) -> list[Case]:
    """Return the cases of the program in its order."""
    text = PROGRAM.read_text()
    forms = re.findall(r"^  X\((\w+), \w+, \w+\)", text, re.MULTILINE)
    pairs = re.findall(r"X\((\d), (\d), (\d), (\d)\)", text)
    names = [f"{rows} {' '.join(pair)}" for pair in pairs for rows in (16, 32)]
    assert (len(forms), len(names)) == (10, 50)
    return [
        *(dense_case(form, rng) for form in forms),
        *(scaled_case(name, rng, small=small) for name in names),
        unscaled_case(rng),
    ]


def run_cases(programs: Programs, folder: Path, cases: list[Case]) -> list[NDArray[Any]]:
    """Run the program and return D of each case, by lane and item."""
    (folder / "in").write_bytes(b"".join(case.record for case in cases))
    result = programs.run("matrix_gfx950", str(folder / "in"), str(folder / "out"), arch="gfx950", env=_ENV)
    assert (result.returncode, result.stderr) == (0, "")
    output, results = (folder / "out").read_bytes(), []
    for case in cases:
        size = case.expected.size * 4
        results.append(np.frombuffer(output[:size], case.sum_type).reshape(case.expected.shape))
        output = output[size:]
    assert not output
    return results


def test_every_form(programs: Programs, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every element of every form, for all pairs of formats and every byte of scales, equals the model's."""
    cases = make_cases(np.random.default_rng(950), small=True)
    right = total = 0
    for case, result in zip(cases, run_cases(programs, tmp_path, cases), strict=True):
        assert np.array_equal(result, case.expected), (case.name, np.argwhere(result != case.expected)[:5])
        right += int((result == case.expected).sum())
        total += case.expected.size
    with capsys.disabled():
        print(f"\nmatrix instructions of gfx950: {right} of {total} elements in {len(cases)} cases")
    assert right == total


def test_all_codes(programs: Programs, tmp_path: Path) -> None:
    """Products of any finite codes are exact, and their sum is rounded once."""
    cases = make_cases(np.random.default_rng(8), small=False)
    for case, result in zip(cases, run_cases(programs, tmp_path, cases), strict=True):
        if case.magnitudes is not None:
            bound = np.finfo(np.float32).eps * np.abs(case.expected) + 1e-13 * case.magnitudes
            assert (np.abs(result - case.expected) <= bound).all(), case.name


def test_conversions_are_those_of_ocp(programs: Programs) -> None:
    """On gfx950, the instructions that convert to fp8 and bf8 have the formats of OCP."""
    codes = [
        np.array([1, largest], np.float32).astype(dtype).view(np.uint16)[0]
        for dtype, largest in ((ml_dtypes.float8_e4m3fn, 448), (ml_dtypes.float8_e5m2, 57344))
    ]
    result = programs.run("matrix_gfx950", "convert", arch="gfx950", env=_ENV)
    assert result.stdout.split() == [f"{code:04x}" for code in codes]


FAULTS = {
    "under_a_branch": "only 48 of 64 lanes execute it",
    "with_format_that_does_not_exist": "the formats are 5 and 0",
    "with_byte_that_does_not_exist": "the scales are bytes 0 and 4 of a register",
}


@pytest.mark.parametrize("case", FAULTS)
def test_fault(programs: Programs, case: str) -> None:
    """An instruction that not all lanes execute, or with a wrong immediate operand, faults with its line."""
    fault = programs.fault("matrix_gfx950", case, arch="gfx950")
    assert fault["fault"] == "matrix-instruction"
    assert FAULTS[case] in fault["detail"]
    line = int(re.match(r"line (\d+): __builtin_amdgcn_mfma_scale_", fault["detail"])[1])  # type: ignore[index]
    assert "__builtin_amdgcn_mfma_scale_" in PROGRAM.read_text().splitlines()[line - 1]


@pytest.mark.parametrize(
    ("gpu", "bytes_used", "expected"),
    [
        (gpus.MI300X, 65536, "gfx942:sramecc+:xnack- 65536 hipSuccess"),
        (gpus.MI300X, 65540, "gfx942:sramecc+:xnack- 65536 hipErrorInvalidConfiguration"),
        (gpus.MI355X, 163840, "gfx950:sramecc+:xnack- 163840 hipSuccess"),
        (gpus.MI355X, 163844, "gfx950:sramecc+:xnack- 163840 hipErrorInvalidConfiguration"),
    ],
)
def test_shared_memory(programs: Programs, gpu: gpus.Gpu, bytes_used: int, expected: str) -> None:
    """A block has 160 KiB of shared memory on gfx950, and 64 KiB on gfx942."""
    result = programs.run("matrix_gfx950", "shared", str(bytes_used), arch="gfx950", env=cpu.run_env(gpu))
    assert result.stdout.strip() == expected


@pytest.mark.parametrize("case", ["rows_are_exchanged", "wide_loads_to_lds", "assembly_with_known_values"])
def test_other_builtins(programs: Programs, case: str) -> None:
    """Exchanges of rows and wide loads to LDS work, and the macros are those of gfx950."""
    result = programs.run("builtins_gfx950", case, arch="gfx950", env=_ENV)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
