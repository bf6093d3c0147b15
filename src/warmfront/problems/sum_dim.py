"""Sum over any dimension: a reduction over adjacent or strided elements."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from warmfront.problems import draws, rounding
from warmfront.problems.ranges import DimensionIn, DimensionsOf, Shapes
from warmfront.problems.spec import (
    Case,
    Difficulty,
    Dtype,
    Problem,
    Scale,
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
    from warmfront.problems.spec import Tensors, Tolerance


class SumDim(Problem):
    """Sum along one dimension, which keeps extent 1."""

    slug = "sum-dim"
    title = "Sum over a dimension"
    difficulty = Difficulty.MEDIUM
    tags = ("reduction", "memory-bound")
    signature = (
        tensor_in("input"),
        scalar("int", "dim"),
        tensor_out("output"),
        shape("shape"),
        size("ndim"),
    )
    statement = r"""
Sum a tensor along one dimension:

$$y = \sum_{j=0}^{s-1} x_j$$

where $j$ runs along dimension `dim`, of extent $s$, for every position in the other dimensions.

**Arguments**

- `input`: the tensor $x$, contiguous, the last dimension fastest
- `dim`: the dimension, $0 \le$ `dim` $<$ `ndim`
- `output`: the tensor $y$. Its shape is that of $x$ with extent 1 in dimension `dim`.
- `shape`: the `ndim` extents of the input, readable from host and device
- `ndim`: the number of dimensions, 1 to 4

**Constraints**

- Every extent is at least 1. The dimension may be any of them.
"""

    def cases(self, scale: Scale) -> Sequence[Case]:
        """Return every dimension of tensors with one to four dimensions, with short and long sums."""
        return [
            _case((1,), 0, "one element"),
            _case((1025,), 0, "just over a large block, all equal", draw="equal"),
            _case((257, 3), 0, "columns, just over a block"),
            _case((3, 257), 1, "rows, just over a block"),
            _case((5, 17, 31), 0, "the first of three"),
            _case((5, 129, 7), 1, "the middle of three"),
            _case((7, 3, 65), 2, "the last of three, just over a wavefront"),
            *(_case((3, 5, 7, 11), dim, f"number {dim} of four", draw="whole") for dim in range(4)),
            _case((40_009,), 0, "one long sum, whole numbers", draw="whole", note="a lost term"),
            *(_GPU_SIZED if scale is Scale.GPU else _CPU_SIZED),
        ]

    def ranges(self, scale: Scale) -> Mapping[str, Range]:
        """Return shapes of one to four dimensions, with any of them as `dim`."""
        shapes = Shapes(2**26 if scale is Scale.GPU else 600_000)
        return {"shape": shapes, "dim": DimensionIn("shape"), "ndim": DimensionsOf("shape")}

    def styles(self, case: Case, dtype: Dtype) -> Sequence[str]:
        """Return the styles for a sum over the whole dimension."""
        return draws.sum_styles(_terms(case), dtype)

    def inputs(self, case: Case, dtype: Dtype, rng: np.random.Generator) -> Tensors:
        """Draw one tensor."""
        return {"input": draws.draw(case.draw, case.shape("shape"), dtype, rng, terms=_terms(case))}

    def output_shapes(self, case: Case) -> Mapping[str, tuple[int, ...]]:
        """Return the shape of the input with extent 1 in the summed dimension."""
        extents, dim = case.shape("shape"), case.size("dim")
        return {"output": (*extents[:dim], 1, *extents[dim + 1 :])}

    def reference(self, case: Case, inputs: Tensors) -> Tensors:
        """Compute the result in float64."""
        return {"output": inputs["input"].sum(axis=case.size("dim"), keepdims=True, dtype="float64")}

    def tolerance(self, case: Case, dtype: Dtype) -> Tolerance:
        """Return the tolerance for a sum over the whole dimension."""
        return rounding.sum_of(case.draw, _terms(case), dtype)

    def flops(self, case: Case) -> int:
        """Count one addition per element."""
        return prod(case.shape("shape"))

    def bytes_moved(self, case: Case, dtype: Dtype) -> int:
        """Count every input read and every sum written."""
        return (prod(case.shape("shape")) + prod(self.output_shapes(case)["output"])) * dtype.size


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
    _case((16, 127, 61), 1, "strided, prime"),
    _case((509, 1024), 1, "rows", benchmark=True),
)

_GPU_SIZED = (
    _case((2**24 + 1,), 0, "one sum over 64 MiB, whole numbers", draw="whole"),
    _case((64, 1024, 512), 1, "strided, 128 MiB", benchmark=True),
    _case((8192, 8191), 1, "rows, 256 MiB", benchmark=True),
)
