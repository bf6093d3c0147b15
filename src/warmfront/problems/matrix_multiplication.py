"""Matrix multiplication: compute-bound, if tiles are reused well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.problems import draws, rounding
from warmfront.problems.ranges import Sizes
from warmfront.problems.spec import Case, Difficulty, Dtype, Problem, Scale, size, tensor_in, tensor_out

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from warmfront.problems.ranges import Range
    from warmfront.problems.spec import Tensors, Tolerance

#: Above this many multiplications, float64 on the host is too slow.
_FLOAT64_LIMIT = 2**33

#: Up to this many multiplications, BLAS threads cost more than they save, especially on a busy machine.
_SMALL_LIMIT = 2**24

#: OpenBLAS starts no threads for this many multiplications.
_SINGLE_THREADED = 2**18

#: Length of the float32 partial sums that are added in float64.
_SLICE = 256


class MatrixMultiplication(Problem):
    """Multiply two matrices."""

    slug = "matrix-multiplication"
    title = "Matrix multiplication"
    difficulty = Difficulty.MEDIUM
    tags = ("linear-algebra", "shared-memory", "compute-bound")
    aliases = ("matmul",)
    dtypes = (Dtype.FLOAT32, Dtype.FLOAT16)
    signature = (
        tensor_in("input_a"),
        tensor_in("input_b"),
        tensor_out("output_c"),
        size("m"),
        size("n"),
        size("k"),
    )
    statement = r"""
Multiply an $m \times k$ matrix $A$ by a $k \times n$ matrix $B$:

$$C_{ij} = \sum_{l=0}^{k-1} A_{il} B_{lj}$$

**Arguments**

- `input_a`: $A$, `m * k` values
- `input_b`: $B$, `k * n` values
- `output_c`: output, $C$, `m * n` values
- `m`, `n`, `k`: the extents. Note the order.

**Constraints**

- All matrices are row-major and contiguous.
- $m, n, k \ge 1$ are any numbers, so tiles at the edges can be partial.
- For float16, sum in float32 and round once at the end.
"""

    def cases(self, scale: Scale) -> Sequence[Case]:
        """Return vectors, partial tiles, and extents that all differ."""
        return [
            _case(1, 1, 1, "one product"),
            _case(1, 257, 31, "a row times a matrix", note="m smaller than a tile"),
            _case(67, 1, 129, "a matrix times a column", note="n smaller than a tile"),
            _case(33, 65, 1, "an outer product", note="k smaller than a tile"),
            _case(16, 16, 16, "one tile"),
            _case(17, 33, 65, "one over a tile each way"),
            _case(23, 41, 59, "all prime, whole numbers", draw="whole", note="a lost or doubled term"),
            _case(7, 5, 1025, "a long sum", note="more tiles in k than in the output"),
            *(_GPU_SIZED if scale is Scale.GPU else _CPU_SIZED),
        ]

    def ranges(self, scale: Scale) -> Mapping[str, Range]:
        """Return extents up to the largest timed ones."""
        extents = Sizes(1, 8200 if scale is Scale.GPU else 256)
        return {"m": extents, "n": extents, "k": extents}

    def styles(self, case: Case, dtype: Dtype) -> Sequence[str]:
        """Return the styles for sums of k products."""
        return draws.sum_styles(case.size("k"), dtype, factors=2)

    def inputs(self, case: Case, dtype: Dtype, rng: np.random.Generator) -> Tensors:
        """Draw two matrices."""
        m, n, k = _extents(case)
        a, b = draws.draw_factors(case.draw, ((m, k), (k, n)), dtype, rng, terms=k)
        return {"input_a": a, "input_b": b}

    def output_shapes(self, case: Case) -> Mapping[str, tuple[int, ...]]:
        """Return the rows of A and the columns of B."""
        m, n, _ = _extents(case)
        return {"output_c": (m, n)}

    def reference(self, case: Case, inputs: Tensors) -> Tensors:
        """Compute in float64, or for large products add up float32 slices in float64."""
        import numpy as np  # noqa: PLC0415 - NumPy is imported while the compiler runs

        a, b = inputs["input_a"], inputs["input_b"]
        m, n, k = _extents(case)
        if m * n * k <= _SMALL_LIMIT:
            b, rows = b.astype("float64"), max(1, _SINGLE_THREADED // (n * k))
            product = np.empty((m, n))
            for top in range(0, m, rows):
                product[top : top + rows] = a[top : top + rows].astype("float64") @ b
            return {"output_c": product}
        if m * n * k <= _FLOAT64_LIMIT:
            return {"output_c": a.astype("float64") @ b.astype("float64")}
        a, b = a.astype("float32", copy=False), b.astype("float32", copy=False)
        total = (a[:, :_SLICE] @ b[:_SLICE]).astype("float64")
        for start in range(_SLICE, k, _SLICE):
            total += a[:, start : start + _SLICE] @ b[start : start + _SLICE]
        return {"output_c": total}

    def tolerance(self, case: Case, dtype: Dtype) -> Tolerance:
        """Return the tolerance for sums of k products."""
        return rounding.sum_of(case.draw, case.size("k"), dtype)

    def flops(self, case: Case) -> int:
        """Count a product and an addition per term."""
        m, n, k = _extents(case)
        return 2 * m * n * k

    def bytes_moved(self, case: Case, dtype: Dtype) -> int:
        """Count both inputs read and the output written."""
        m, n, k = _extents(case)
        return (m * k + k * n + m * n) * dtype.size


def _extents(case: Case) -> tuple[int, int, int]:
    return case.size("m"), case.size("n"), case.size("k")


def _case(
    m: int, n: int, k: int, what: str, *, draw: str = "normal", benchmark: bool = False, note: str = ""
) -> Case:
    return Case(
        name=f"m = {m}, n = {n}, k = {k}, {what}",
        values={"m": m, "n": n, "k": k},
        draw=draw,
        benchmark=benchmark,
        note=note,
    )


_CPU_SIZED = (
    _case(97, 131, 73, "larger, all prime"),
    _case(192, 160, 224, "whole tiles", benchmark=True),
)

_GPU_SIZED = (
    _case(1021, 1031, 1033, "large, all prime", draw="whole"),
    _case(1024, 1024, 1024, "4 MiB per matrix", benchmark=True),
    _case(8192, 8192, 1024, "a wide output", benchmark=True),
    _case(4096, 4096, 4096, "64 MiB per matrix", benchmark=True),
)
