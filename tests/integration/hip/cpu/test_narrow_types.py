"""The types of 16 bits and less equal `ml_dtypes`, bit for bit: every code, every conversion, every sum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from tests.support.programs import Programs

pytestmark = pytest.mark.compiler

FP8 = {
    "e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "e4m3fn": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
}
SMALL = {
    "e2m1fn": ml_dtypes.float4_e2m1fn,
    "e2m3fn": ml_dtypes.float6_e2m3fn,
    "e3m2fn": ml_dtypes.float6_e3m2fn,
}
FORMATS = {**FP8, **SMALL}
LARGEST = {
    "e4m3fnuz": 240,
    "e5m2fnuz": 57344,
    "e4m3fn": 448,
    "e5m2": 57344,
    "e2m1fn": 6,
    "e2m3fn": 7.5,
    "e3m2fn": 28,
}
ALL = np.arange(65536, dtype=np.uint16)
#: Floats between those of 16 bits, just above a tie or just below.
BETWEEN = ((ALL.astype(np.uint32) << 16) | np.where(ALL % 2, 0x8001, 0x7FFF).astype(np.uint32)).view(
    np.float32
)


@pytest.fixture(name="tables", scope="module")
def _tables(programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    done = programs.run("narrow_tables", str(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.parametrize("name", FORMATS)
def test_every_code_is_the_same_number(name: str, tables: Path) -> None:
    """Each code as float, half and bfloat16; NaN is NaN."""
    count = _bits(name)
    codes = np.arange(1 << count, dtype=np.uint8).view(FORMATS[name])
    for suffix, dtype in (("float", np.float32), ("half", np.float16), ("bfloat", ml_dtypes.bfloat16)):
        expected = codes.astype(np.float32).astype(dtype)
        _report(f"{name} as {suffix}", _read(tables, f"{name}.{suffix}", dtype), expected)


@pytest.mark.parametrize("name", FORMATS)
def test_every_number_becomes_the_same_code(name: str, tables: Path) -> None:
    """The constructors saturate; numbers of 16 bits, and floats between them."""
    halves, bfloats = ALL.view(np.float16), ALL.view(ml_dtypes.bfloat16)
    for suffix, numbers in (("from_half", halves), ("from_bfloat", bfloats), ("from_float", BETWEEN)):
        expected = _encode(name, numbers.astype(np.float32), saturate=True)
        _report(f"{name} {suffix}", _read(tables, f"{name}.{suffix}", np.uint8), expected, name)


@pytest.mark.parametrize("saturate", [True, False], ids=["saturated", "unsaturated"])
@pytest.mark.parametrize("name", FP8)
def test_saturation_is_a_choice(name: str, tables: Path, *, saturate: bool) -> None:
    """`__hip_cvt_*_to_fp8` of every half and bfloat16, and of all 65,536 sums of two codes."""
    prefix = f"{name}-{'saturated' if saturate else 'unsaturated'}"
    for suffix, numbers in (("cvt_half", ALL.view(np.float16)), ("cvt_bfloat", ALL.view(ml_dtypes.bfloat16))):
        expected = _encode(name, numbers.astype(np.float32), saturate=saturate)
        _report(f"{prefix} {suffix}", _read(tables, f"{prefix}.{suffix}", np.uint8), expected, name)
    expected = _encode(name, _sums(name), saturate=saturate)
    _report(f"{prefix} sums", _read(tables, f"{prefix}.cvt_sums", np.uint8), expected, name)


@pytest.mark.parametrize("name", FORMATS)
def test_every_sum_is_the_same(name: str, tables: Path) -> None:
    """Sums by the type itself, in float and rounded once."""
    expected = _encode(name, _sums(name), saturate=True)
    _report(f"{name} sums", _read(tables, f"{name}.sums", np.uint8), expected, name)


def test_unsaturated_sums_are_those_of_the_library(tables: Path) -> None:
    """The library's own addition of two numbers gives the same codes, where it has one."""
    for name, dtype in FP8.items():
        codes = np.arange(256, dtype=np.uint8).view(dtype)
        with np.errstate(all="ignore"):
            expected = (np.repeat(codes, 256) + np.tile(codes, 256)).view(np.uint8)
        _report(f"{name} + {name}", _read(tables, f"{name}-unsaturated.cvt_sums", np.uint8), expected, name)


def test_scales_of_blocks(tables: Path) -> None:
    """e8m0: every code, and every bfloat16 and floats between them."""
    scale = ml_dtypes.float8_e8m0fnu
    codes = (ALL % 256).astype(np.uint8).view(scale).astype(np.float32)
    _report("e8m0 as float", _read(tables, "e8m0fnu.float", np.float32), codes)
    for suffix, numbers in (("from_bfloat", ALL.view(ml_dtypes.bfloat16)), ("from_float", BETWEEN)):
        with np.errstate(all="ignore"):
            expected = numbers.astype(np.float32).astype(scale)
        _report(f"e8m0 {suffix}", _read(tables, f"e8m0fnu.{suffix}", scale), expected)


def test_instructions_of_gfx942(tables: Path) -> None:
    """Packed conversions keep the other half and do not saturate; converting back gives the same values."""
    x, y = (numbers.astype(np.float32) for numbers in (ALL.view(ml_dtypes.bfloat16), ALL.view(np.float16)))
    written = {}
    for name, code in (("fp8", "e4m3fnuz"), ("bf8", "e5m2fnuz")):
        expected = np.stack([_encode(code, numbers, saturate=False) for numbers in (x, y, y, x)], axis=1)
        written[name] = expected
        _report(f"cvt_pk_{name}_f32", _read(tables, f"packed_{name}", np.uint8), expected.ravel())
    third = np.ascontiguousarray(written["fp8"][:, 2]).view(FP8["e4m3fnuz"]).astype(np.float32)
    _report("cvt_f32_fp8", _read(tables, "one_fp8", np.float32), third)
    upper = np.ascontiguousarray(written["bf8"][np.arange(65536), 2 + ALL % 2])
    expected_pair = upper.view(FP8["e5m2fnuz"]).astype(np.float32)
    _report("cvt_pk_f32_bf8", _read(tables, "two_bf8", np.float32), expected_pair)


@pytest.mark.parametrize(("name", "code", "byte"), [("fp8", "e4m3fnuz", 1), ("bf8", "e5m2fnuz", 3)])
def test_stochastic_rounding(name: str, code: str, byte: int, tables: Path) -> None:
    """The result is one of the two neighbors, and on average it is the number; other bytes are kept."""
    numbers = ALL.view(np.float16).astype(np.float64)
    words = _read(tables, f"stochastic_{name}", np.uint8).reshape(-1, 4)
    before = _read(tables, "packed_fp8", np.uint8).reshape(-1, 4) if name == "fp8" else np.zeros_like(words)
    others = [index for index in range(4) if index != byte]
    assert np.array_equal(words[:, others], before[:, others])
    finite = np.sort(np.arange(256, dtype=np.uint8).view(FP8[code]).astype(np.float64))
    finite = finite[np.isfinite(finite)]
    inside = np.abs(numbers) <= finite[-1]
    got = np.ascontiguousarray(words[:, byte]).view(FP8[code]).astype(np.float64)[inside]
    wanted = numbers[inside]
    above = np.clip(np.searchsorted(finite, wanted), 0, len(finite) - 1)
    below = np.where(finite[above] == wanted, above, np.maximum(above - 1, 0))
    assert np.all((got == finite[above]) | (got == finite[below]))
    steps = (finite[above] - finite[below])[finite[above] != finite[below]]
    errors = (got - wanted)[finite[above] != finite[below]] / steps
    assert abs(errors.mean()) < 4 / np.sqrt(12 * errors.size)
    print(f"cvt_sr_{name}_f32: {got.size} of {got.size} are neighbors; mean error {errors.mean():.4f} steps")


def test_bfloat16(tables: Path) -> None:
    """Every half as bfloat16 and back, and 65,536 sums of each of the three types."""
    bfloats = ALL.view(ml_dtypes.bfloat16)
    others = (np.arange(65536) * 40503 % 65536).astype(np.uint16).view(ml_dtypes.bfloat16)
    with np.errstate(all="ignore"):
        expected = {
            "bfloat.from_half": ALL.view(np.float16).astype(ml_dtypes.bfloat16),
            "bfloat.sums": bfloats + others,
            "hip_bfloat16.sums": bfloats + others,
            "bfloat162.sums": bfloats + others,
        }
        to_half = bfloats.astype(np.float16)
    _report("bfloat16 as half", _read(tables, "bfloat.to_half", np.float16), to_half)
    for name, values in expected.items():
        _report(name, _read(tables, name, ml_dtypes.bfloat16), values)


def _bits(name: str) -> int:
    return {"e2m1fn": 4, "e2m3fn": 6, "e3m2fn": 6}.get(name, 8)


def _read(folder: Path, name: str, dtype: object) -> NDArray[np.generic]:
    return np.fromfile(folder / name, dtype=np.uint8).view(dtype)  # type: ignore[call-overload, no-any-return]


def _encode(name: str, numbers: NDArray[np.float32], *, saturate: bool) -> NDArray[np.uint8]:
    """Return the codes that ml_dtypes gives, with finite numbers clipped first if they saturate."""
    dtype = FORMATS[name]
    if saturate:
        largest = LARGEST[name]
        numbers = np.where(np.isfinite(numbers), np.clip(numbers, -largest, largest), numbers)
    with np.errstate(all="ignore"):
        codes = numbers.astype(dtype).view(np.uint8)
    if name in SMALL:  # ml_dtypes makes zero of NaN; ROCm makes it the largest number
        sign = np.signbit(numbers) * np.uint8(1 << (_bits(name) - 1))
        codes = np.where(np.isnan(numbers), sign | ((1 << (_bits(name) - 1)) - 1), codes)
    return codes.astype(np.uint8)


def _sums(name: str) -> NDArray[np.float32]:
    count = 1 << _bits(name)
    numbers = np.arange(count, dtype=np.uint8).view(FORMATS[name]).astype(np.float32)
    with np.errstate(all="ignore"):
        sums: NDArray[np.float32] = np.repeat(numbers, count) + np.tile(numbers, count)
    return sums


def _report(what: str, actual: NDArray[np.generic], expected: NDArray[np.generic], name: str = "") -> None:
    """Print how many are equal in their bits, and fail if one is not. A NaN may have any of the NaN codes."""
    width = {1: np.uint8, 2: np.uint16, 4: np.uint32}[actual.dtype.itemsize]
    same = actual.view(width) == expected.view(width)
    if name:
        actual, expected = (codes.view(np.uint8).view(FORMATS[name]) for codes in (actual, expected))
    if name not in SMALL:
        same |= np.isnan(actual.astype(np.float32)) & np.isnan(expected.astype(np.float32))
    print(f"{what}: {int(same.sum())} of {same.size}")
    wrong = np.flatnonzero(~same)[:5]
    assert same.all(), [(int(i), actual[i], expected[i]) for i in wrong]
