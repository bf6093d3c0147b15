"""hipCUB's and rocPRIM's operations of blocks and waves against NumPy, for blocks of any size."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from warmfront import sandbox, settings
from warmfront.hip.xray import xray

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tests.support.programs import Programs

    Ints = NDArray[np.int32]

pytestmark = pytest.mark.compiler

SOURCE = (Path(__file__).parents[3] / "corpus" / "programs" / "collectives.hip").read_text()
SIZES = (1, 33, 64, 100, 256, 1000)
ITEMS = 3
WAVE = 64


@pytest.fixture(name="results", scope="module")
def _results(programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("collectives")
    numbers = np.random.default_rng(6).integers(-1000, 1000, 1024 * ITEMS, dtype=np.int32)
    numbers.tofile(folder / "input")
    done = programs.run("collectives", str(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.parametrize("size", SIZES)
def test_reductions(size: int, results: Path) -> None:
    """Sums, maxima, parts of a block, and pairs with their positions."""
    x, out = _read(results, "reduce", size)
    half = (size + 1) // 2
    least = int(np.argmin(x[:size]))
    wanted = [x[: size * ITEMS].sum(), x[:size].max(), x[:half].sum(), least, x[least], x[:size].sum()]
    assert out[:7].tolist() == [*wanted, x[:size].min()]


@pytest.mark.parametrize("size", SIZES)
def test_scans(size: int, results: Path) -> None:
    """Inclusive and exclusive, with an initial value, after a prefix, with an order that matters."""
    x, out = _read(results, "scan", size)
    all_items, stride = x[: size * ITEMS], size * ITEMS
    odd = x[:size] & 1
    _same(out[:size], np.cumsum(odd) - odd)
    assert out[8 * stride] == odd.sum()
    _same(out[stride : 2 * stride], np.cumsum(all_items))
    before = np.maximum.accumulate(np.concatenate([[-2000], all_items]))[:-1]
    _same(out[2 * stride : 3 * stride], before)
    _same(out[3 * stride : 4 * stride], 100 + np.cumsum(all_items) - all_items)
    functions = [((int(x[t]) * 2 + 1) & 0xFFFFFFFF, t) for t in range(size)]
    composed = list(accumulate(functions, _compose))
    _same(out[4 * stride : 4 * stride + 2 * size].view(np.uint32), np.array(composed, np.uint32).ravel())
    _same(out[5 * stride : 5 * stride + size], 7 + np.cumsum(x[:size]) - x[:size])
    assert out[8 * stride + 1] == x[:size].sum()
    _same(out[6 * stride : 6 * stride + size], np.minimum.accumulate(x[:size]))


@pytest.mark.parametrize("size", SIZES)
def test_waves(size: int, results: Path) -> None:
    """Whole waves and groups of 32, 16 and 8 lanes; the last of each may be incomplete."""
    x, out = _read(results, "waves", size)
    given = x[:size]
    _same(out[:size], _at_first(given, WAVE, np.sum))
    _same(out[size : 2 * size], _at_first(given, 16, lambda group: group[:5].max()))
    _same(out[2 * size : 3 * size], _per_group(given, WAVE, np.cumsum))
    _same(out[3 * size : 4 * size], _per_group(given, WAVE, lambda group: np.cumsum(group) - group))
    _same(out[4 * size : 5 * size], _per_group(given, 32, lambda group: np.full(group.size, group.sum())))

    def exclusive_maximum(group: Ints) -> Ints:
        return np.maximum.accumulate(np.concatenate([[5], group]))[:-1].astype(np.int32)

    _same(out[5 * size : 6 * size], _per_group(given, 8, exclusive_maximum))
    _same(out[6 * size : 7 * size], _per_group(given, WAVE, lambda group: np.full(group.size, group[0])))


@pytest.mark.parametrize("size", SIZES)
def test_sorts(size: int, results: Path) -> None:
    """Integers, floats and halves, with values, descending, and by some bits only; every sort is stable."""
    x, out = _read(results, "sort", size)
    keys, stride = x[: size * ITEMS], size * ITEMS
    order = np.argsort(keys, kind="stable")
    _same(out[:stride], keys[order])
    _same(out[stride : 2 * stride], order)
    _same(out[2 * stride : 3 * stride], np.sort(keys)[::-1])
    _same(out[3 * stride : 4 * stride], np.argsort(keys & 7, kind="stable"))
    _same(out[4 * stride : 5 * stride], np.sort(keys)[::-1])
    _same(out[5 * stride : 5 * stride + size], np.sort(x[:size]))


@pytest.mark.parametrize("size", SIZES)
def test_loads_stores_and_exchanges(size: int, results: Path) -> None:
    """Blocked, striped and transposed; only valid items are read and written."""
    x, out = _read(results, "moves", size)
    stride = size * ITEMS
    valid = stride - size // 2
    position = np.arange(stride)
    blocked = np.where(position < valid, x[:stride] * 2 + position // ITEMS, 0)
    _same(out[:stride], blocked)
    _same(out[stride : 2 * stride], blocked)
    _same(out[2 * stride : 3 * stride], np.where(position < valid, x[:stride] * 2 + position % size, 0))
    _same(out[3 * stride : 4 * stride], x[:stride])
    _same(out[4 * stride : 5 * stride], x[:stride][::-1])


def test_compiles_for_the_gpu() -> None:
    """The compiler for gfx942 accepts the same kernels, without spilling registers."""
    device_code = "".join(
        part.partition("\n// end of host\n")[2] if index else part
        for index, part in enumerate(SOURCE.partition("\nconstexpr size_t")[0].split("\n// host\n"))
    )
    kernels = [
        f"template __global__ void {name}<{size}>(const int*, int*);\n"
        for name in ("reduce", "scan", "waves", "sort", "moves")
        for size in (100, 256)
    ]
    maker = sandbox.open_sandbox("bubblewrap")
    report = xray(
        device_code + "\n" + "".join(kernels), sandbox=maker, settings=settings.load({}, env_file=None)
    )
    maker.close()
    assert report.failure is None, report.failure
    assert len(report.kernels) == len(kernels)
    assert all(kernel.spills == 0 for kernel in report.kernels)


def _read(folder: Path, name: str, size: int) -> tuple[Ints, Ints]:
    return np.fromfile(folder / "input", np.int32), np.fromfile(folder / f"{name}.{size}", np.int32)


def _same(actual: NDArray[np.generic], expected: NDArray[np.generic]) -> None:
    np.testing.assert_array_equal(actual, expected)


def _compose(f: tuple[int, int], g: tuple[int, int]) -> tuple[int, int]:
    return f[0] * g[0] & 0xFFFFFFFF, (f[0] * g[1] + f[1]) & 0xFFFFFFFF


def _per_group(x: Ints, width: int, function: Callable[[Ints], Ints]) -> Ints:
    """Apply a function to each group of lanes, which do not cross the end of a wave."""
    return np.concatenate([function(x[first : first + width]) for first in range(0, x.size, width)])


def _at_first(x: Ints, width: int, function: Callable[[Ints], int]) -> Ints:
    """Return the result of each group at its first lane, and 0 at the others."""

    def first_only(group: Ints) -> Ints:
        result = np.zeros(group.size, np.int32)
        result[0] = function(group)
        return result

    return _per_group(x, width, first_only)
