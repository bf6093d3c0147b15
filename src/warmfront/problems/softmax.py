"""Softmax over any dimension: a maximum, a sum and a division, without intermediate overflow."""

from __future__ import annotations

from math import prod, sqrt
from typing import TYPE_CHECKING

from warmfront.problems import draws
from warmfront.problems.ranges import DimensionIn, DimensionsOf, Shapes
from warmfront.problems.rounding import UNIT
from warmfront.problems.spec import (
    Case,
    Difficulty,
    Dtype,
    Problem,
    Scale,
    Tolerance,
    scalar,
    shape,
    size,
    tensor_in,
    tensor_out,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from warmfront.problems.ranges import Range
    from warmfront.problems.spec import Tensors

#: Magnitude of the `far` and `wide` inputs. exp overflows float32 at 89.
_FAR = 1e4

#: Magnitude of the `spread` inputs.
_SPREAD = 20.0

#: Styles with few distinct whole numbers, and their largest magnitude.
_FEW_VALUES = ("sorted", "sparse", "outliers", "alternating", "steps")
_LARGEST_WHOLE = 8

#: The longest sum of equal weights for which the tolerance covers roundings that all have the same direction.
_LONGEST_EQUAL_SUM = 4096


class Softmax(Problem):
    """Normalize the values along one dimension to probabilities."""

    slug = "softmax"
    title = "Softmax"
    difficulty = Difficulty.MEDIUM
    tags = ("reduction", "activation", "numerical-stability")
    signature = (
        tensor_in("input"),
        scalar("int", "dim"),
        tensor_out("output"),
        shape("shape"),
        size("ndim"),
    )
    statement = r"""
Apply softmax along one dimension of a tensor:

$$y_i = \frac{e^{x_i - \max_j x_j}}{\sum_j e^{x_j - \max_j x_j}}$$

where $i$ and $j$ run along dimension `dim`, for every position in the other dimensions.

**Arguments**

- `input`: the tensor $x$, contiguous, the last dimension fastest
- `dim`: the dimension, $0 \le$ `dim` $<$ `ndim`
- `output`: the tensor $y$, of the same shape
- `shape`: its `ndim` extents, readable from host and device
- `ndim`: the number of dimensions, 1 to 4

**Constraints**

- Every extent is at least 1. The dimension may be any of them.
- Values reach $\pm 10^4$: without subtracting the maximum, $e^x$ overflows.
"""

    def cases(self, scale: Scale) -> Sequence[Case]:
        """Return every dimension of tensors with one to four dimensions, and values that overflow."""
        return [
            _case((1,), 0, "one element"),
            _case((1025,), 0, "just over a large block, all equal", draw="equal"),
            _case((61, 13), 0, "far from zero", draw="far", note="exp overflows, or all vanish"),
            _case((13, 257), 1, "far from zero, just over a block", draw="far"),
            _case((31, 67), 1, "from -10000 to 10000", draw="wide"),
            _case((3, 5, 17), 0, "the first of three"),
            _case((5, 129, 7), 1, "the middle of three"),
            _case((7, 3, 65), 2, "the last of three"),
            *(_case((3, 5, 7, 11), dim, f"number {dim} of four") for dim in range(4)),
            *(_GPU_SIZED if scale is Scale.GPU else _CPU_SIZED),
        ]

    def ranges(self, scale: Scale) -> Mapping[str, Range]:
        """Return shapes of one to four dimensions, with any of them as `dim`."""
        shapes = Shapes(2**25 if scale is Scale.GPU else 128_000)
        return {"shape": shapes, "dim": DimensionIn("shape"), "ndim": DimensionsOf("shape")}

    def styles(self, case: Case, dtype: Dtype) -> Sequence[str]:  # noqa: ARG002 - the same for all dtypes
        """Return the styles; sums of few distinct weights must be short."""
        few_values = _FEW_VALUES if _terms(case) <= _LONGEST_EQUAL_SUM else ()
        return ("normal", "positive", "far", "wide", "spread", "equal", "tiny", *few_values)

    def timed_styles(self, case: Case, dtype: Dtype) -> Sequence[str]:
        """Return the styles whose weights are neither zero nor subnormal.

        So exp takes the same time for all.
        """
        return [style for style in self.styles(case, dtype) if style not in {"wide", "tiny", "sorted"}]

    def inputs(self, case: Case, dtype: Dtype, rng: np.random.Generator) -> Tensors:
        """Draw one tensor.

        Each slice of `far` has its own center. Values of `wide` and `spread` are uniform, and only the
        weights of `wide` can become zero.
        """
        extents, dim = case.shape("shape"), case.size("dim")
        if case.draw in {"wide", "spread"}:
            return {"input": draws.uniform(_FAR if case.draw == "wide" else _SPREAD, extents, dtype, rng)}
        if case.draw == "far":
            shape = [1 if axis == dim else n for axis, n in enumerate(extents)]
            centers = rng.uniform(_FAR / 10, _FAR, shape) * rng.choice([-1.0, 1.0], shape)
            values = draws.normal(extents, Dtype.FLOAT32, rng)
            values += centers.astype("float32")
            return {"input": values.astype(dtype.value, copy=False)}
        terms = draws.EXACT_SUM[Dtype.FLOAT32] // _LARGEST_WHOLE
        return {"input": draws.draw(case.draw, extents, dtype, rng, terms=terms)}

    def output_shapes(self, case: Case) -> Mapping[str, tuple[int, ...]]:
        """Return the shape of the input."""
        return {"output": case.shape("shape")}

    def reference(self, case: Case, inputs: Tensors) -> Tensors:
        """Compute the result in float64, subtracting the maximum."""
        import numpy as np  # noqa: PLC0415 - NumPy is imported while the compiler runs

        x, dim = inputs["input"].astype("float64"), case.size("dim")
        weights = np.exp(x - x.max(axis=dim, keepdims=True))
        return {"output": weights / weights.sum(axis=dim, keepdims=True)}

    def tolerance(self, case: Case, dtype: Dtype) -> Tolerance:
        """Return a relative tolerance, because all results are positive."""
        terms = _terms(case)
        # Equal weights can all be rounded in the same direction.
        sums, of_sums = (
            (terms, f"{terms} u") if case.draw in _FEW_VALUES else (4 * sqrt(terms), f"4 u sqrt({terms})")
        )
        return Tolerance(
            rtol=UNIT[dtype] * (256 + sums),
            atol=2.0**-126,
            why="e^x is nonzero only above x = -88, where a fast exp has an error of 88 log2(e) u; "
            f"256 u allows two of these, {of_sums} the sum; subnormal results may be flushed",
        )

    def flops(self, case: Case) -> int:
        """Count a comparison, subtraction, exponential, addition and division per element."""
        return 5 * prod(case.shape("shape"))

    def bytes_moved(self, case: Case, dtype: Dtype) -> int:
        """Count every element read once and written once."""
        return 2 * prod(case.shape("shape")) * dtype.size


def _terms(case: Case) -> int:
    return case.shape("shape")[case.size("dim")]


def _case(
    extents: tuple[int, ...],
    dim: int,
    what: str,
    *,
    draw: str = "normal",
    benchmark: bool = False,
    note: str = "",
) -> Case:
    return Case(
        name=f"shape = {'x'.join(map(str, extents))}, dim = {dim}, {what}",
        values={"dim": dim, "shape": extents, "ndim": len(extents)},
        draw=draw,
        benchmark=benchmark,
        note=note,
    )


_CPU_SIZED = (
    _case((16, 127, 31), 1, "strided, prime"),
    _case((251, 512), 1, "rows", benchmark=True),
)

_GPU_SIZED = (
    _case((16, 131_071), 1, "very long rows"),
    _case((64, 512, 1024), 1, "strided, 128 MiB", benchmark=True),
    _case((8192, 4096), 1, "rows, 128 MiB", benchmark=True),
)
