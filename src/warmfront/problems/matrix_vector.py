"""Matrix-vector product: every element of the matrix is read once, so it is memory-bound."""

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


class MatrixVector(Problem):
    """Multiply a matrix by a vector."""

    slug = "matrix-vector"
    title = "Matrix-vector multiplication"
    difficulty = Difficulty.EASY
    tags = ("linear-algebra", "reduction", "memory-bound")
    aliases = ("matvec",)
    signature = (
        tensor_in("input_a"),
        tensor_in("input_b"),
        tensor_out("output_c"),
        size("m"),
        size("k"),
    )
    statement = r"""
Multiply an $m \times k$ matrix $A$ by a vector $b$ of length $k$:

$$c_i = \sum_{l=0}^{k-1} A_{il} b_l$$

**Arguments**

- `input_a`: $A$, row-major, `m * k` values
- `input_b`: $b$, `k` values
- `output_c`: output, $c$, `m` values
- `m`, `k`: the extents

**Constraints**

- $m, k \ge 1$ are any numbers, so rows are aligned to one `float` only.
"""

    def cases(self, scale: Scale) -> Sequence[Case]:
        """Return short and long rows, and few and many of them."""
        return [
            _case(1, 1, "one product"),
            _case(1, 257, "a dot product, just over a block"),
            _case(257, 1, "a scaled column"),
            _case(5, 63, "a row shorter than a wavefront"),
            _case(7, 65, "a row just over a wavefront"),
            _case(3, 1025, "a row just over a large block"),
            _case(101, 103, "both prime"),
            _case(67, 127, "whole numbers", draw="whole", note="a lost or doubled term"),
            _case(2, 40_009, "long rows, whole numbers", draw="whole"),
            *(_GPU_SIZED if scale is Scale.GPU else _CPU_SIZED),
        ]

    def ranges(self, scale: Scale) -> Mapping[str, Range]:
        """Return short and long rows.

        The judge redraws sizes that need more work than the published cases.
        """
        is_large = scale is Scale.GPU
        return {"m": Sizes(1, 70_000 if is_large else 2000), "k": Sizes(1, 50_000 if is_large else 40_100)}

    def styles(self, case: Case, dtype: Dtype) -> Sequence[str]:
        """Return the styles for sums of k products."""
        return draws.sum_styles(case.size("k"), dtype, factors=2)

    def inputs(self, case: Case, dtype: Dtype, rng: np.random.Generator) -> Tensors:
        """Draw the matrix and the vector."""
        m, k = case.size("m"), case.size("k")
        a, b = draws.draw_factors(case.draw, ((m, k), (k,)), dtype, rng, terms=k)
        return {"input_a": a, "input_b": b}

    def output_shapes(self, case: Case) -> Mapping[str, tuple[int, ...]]:
        """Return one value per row."""
        return {"output_c": (case.size("m"),)}

    def reference(self, case: Case, inputs: Tensors) -> Tensors:  # noqa: ARG002 - the inputs are enough
        """Compute the result in float64, without copies and without BLAS threads."""
        import numpy as np  # noqa: PLC0415 - NumPy is imported while the compiler runs

        a, b = inputs["input_a"], inputs["input_b"]
        return {"output_c": np.einsum("ml,l->m", a, b, dtype="float64", casting="safe")}

    def tolerance(self, case: Case, dtype: Dtype) -> Tolerance:
        """Return the tolerance for sums of k products."""
        return rounding.sum_of(case.draw, case.size("k"), dtype)

    def flops(self, case: Case) -> int:
        """Count a product and an addition per element of the matrix."""
        return 2 * case.size("m") * case.size("k")

    def bytes_moved(self, case: Case, dtype: Dtype) -> int:
        """Count the matrix and the vector read and the result written."""
        m, k = case.size("m"), case.size("k")
        return (m * k + k + m) * dtype.size


def _case(
    m: int, k: int, what: str, *, draw: str = "normal", benchmark: bool = False, note: str = ""
) -> Case:
    return Case(
        name=f"m = {m}, k = {k}, {what}", values={"m": m, "k": k}, draw=draw, benchmark=benchmark, note=note
    )


_CPU_SIZED = (
    _case(1021, 61, "many short rows"),
    _case(768, 1024, "3 MiB", benchmark=True),
)

_GPU_SIZED = (
    _case(65_537, 61, "many short rows"),
    _case(8192, 4096, "128 MiB", benchmark=True),
    _case(4096, 16_381, "256 MiB, rows of a prime length", benchmark=True),
)
