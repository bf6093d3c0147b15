"""Fragments of rocWMMA: every type and shape of gfx942 against NumPy, and the same kernels in the X-ray."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from warmfront import sandbox, settings
from warmfront.hip.xray import xray

if TYPE_CHECKING:
    from tests.support.programs import Programs
    from warmfront.hip.xray import XrayReport

pytestmark = pytest.mark.compiler

PROGRAMS = Path(__file__).parents[3] / "corpus" / "programs"
SOURCE = (PROGRAMS / "wmma.hip").read_text()
COOPERATIVE = (PROGRAMS / "wmma_coop.hip").read_text()
CASES = [
    (name, int(size))
    for name, size in re.findall(r"^  X\((\w+), [\w:]+, [\w:]+, (\d+),", SOURCE, re.MULTILINE)
]
DEPTH = 64


@pytest.fixture(name="results", scope="module")
def _results(programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wmma")
    # Small integers, so that every type represents every sum.
    numbers = np.random.default_rng(16).integers(-4, 5, 2 * 32 * DEPTH + 32 * 32, dtype=np.int32)
    numbers.tofile(folder / "input")
    done = programs.run("wmma", str(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.parametrize(("name", "size"), CASES)
def test_products(name: str, size: int, results: Path) -> None:
    """A fragment is loaded, multiplied in steps, changed by elements and stored, in both layouts."""
    x = np.fromfile(results / "input", np.int32)
    a, rest = x[: size * DEPTH].reshape(size, DEPTH), x[size * DEPTH :]
    b, c = rest[: size * DEPTH].reshape(DEPTH, size), rest[size * DEPTH :][: size * size].reshape(size, size)
    got = np.fromfile(results / name).reshape(size, size).T
    np.testing.assert_array_equal(got, a @ b + 1 + c)


def test_compiles_for_the_gpu() -> None:
    """The compiler for gfx942 accepts the same kernels, and each has matrix instructions."""
    report = _xray(SOURCE.partition("\n// host\n")[0])
    assert report.failure is None, report.failure
    assert len(report.kernels) == len(CASES)
    for kernel in report.to_dict(isa=True)["kernels"]:
        assert "v_mfma_" in str(kernel["isa"]), kernel["name"]


@pytest.mark.parametrize(
    ("fragment", "words"),
    [
        ("matrix_a, 16, 16, 8, rocwmma::float16_t", "K must be a multiple"),
        ("matrix_a, 32, 32, 8, double", "no matrix instruction of gfx942"),
        ("matrix_b, 16, 16, 32, rocwmma::float8_t", "no matrix instruction of gfx942"),
        ("accumulator, 16, 32, 16, float", "16x16 and of 32x32"),
    ],
)
def test_a_shape_that_the_gpu_lacks_is_an_error(fragment: str, words: str, programs: Programs) -> None:
    """On the CPU runtime and in the X-ray, the message lists the available shapes."""
    element = fragment.rsplit(", ", maxsplit=1)[-1]
    source = f"""#include <rocwmma/rocwmma.hpp>
__global__ void k(const {element}* x) {{
  rocwmma::fragment<rocwmma::{fragment}, rocwmma::row_major> f;
  rocwmma::load_matrix_sync(f, x, 16);
}}
"""
    compiled = programs.compile(source)
    assert compiled.returncode != 0
    assert words in compiled.stderr
    failure = _xray(source).failure
    assert failure is not None
    assert any(words in diagnostic.message for diagnostic in failure.diagnostics), failure.diagnostics


def test_waves_move_tiles_together(programs: Programs, tmp_path: Path) -> None:
    """Four waves load tiles, store them with another layout and transposed, and multiply them."""
    side = 64
    numbers = np.random.default_rng(17).integers(-4, 5, (3, side, side), dtype=np.int32)
    numbers.tofile(tmp_path / "input")
    done = programs.run("wmma_coop", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    output = np.fromfile(tmp_path / "output", np.float32)
    by_columns, b, c = numbers
    np.testing.assert_array_equal(output[: side * side].reshape(side, side), by_columns.T @ b + c)
    np.testing.assert_array_equal(output[side * side :], np.tile(by_columns[:16, :32].sum(axis=0), 2))


def test_tiles_compile_for_the_gpu() -> None:
    """The compiler for gfx942 accepts the kernels of the previous test."""
    report = _xray(COOPERATIVE.partition("\n// host\n")[0])
    assert report.failure is None, report.failure
    assert len(report.kernels) == 2


def _xray(source: str) -> XrayReport:
    maker = sandbox.open_sandbox("bubblewrap")
    try:
        return xray(source, sandbox=maker, settings=settings.load({}, env_file=None))
    finally:
        maker.close()


def test_vectors(programs: Programs) -> None:
    """`make_vector` makes a vector of its arguments, which is aligned as a whole."""
    compiled = programs.compile("""
        #include <rocwmma/rocwmma.hpp>
        using Halves = decltype(rocwmma::make_vector(rocwmma::float16_t(1), rocwmma::float16_t(2)));
        static_assert(std::is_same_v<Halves, rocwmma::VecT<rocwmma::float16_t, 2>>);
        static_assert(sizeof(Halves) == 4 && alignof(Halves) == 4 && Halves::size() == 2);
        static_assert(alignof(rocwmma::VecT<float, 8>) == 16);
    """)
    assert compiled.returncode == 0, compiled.stderr
