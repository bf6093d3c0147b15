"""ReLU: the simplest activation, and memory-bound."""

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


class Relu(Problem):
    """Replace negative values with zero."""

    slug = "relu"
    title = "ReLU"
    difficulty = Difficulty.EASY
    tags = ("element-wise", "activation", "memory-bound")
    dtypes = (Dtype.FLOAT32, Dtype.FLOAT16)
    signature = (tensor_in("input"), tensor_out("output"), size("n"), size("m"))
    statement = r"""
Apply the rectified linear unit to every element of a matrix of $m$ rows and $n$ columns:

$$y = \max(x, 0)$$

**Arguments**

- `input`: the matrix $x$, `n * m` values
- `output`: the matrix $y$, `n * m` values
- `n`, `m`: the extents. The order does not matter: all elements are contiguous.

**Constraints**

- $n, m \ge 1$ are any numbers, and so is their product.
- Values are finite. Some are subnormal, and some are positive or negative zeros. A zero in $y$ may have
  either sign.
"""

    def cases(self, scale: Scale) -> Sequence[Case]:
        """Return sizes around a block, and values around zero."""
        return [
            _case(1, 1, "the smallest launch"),
            _case(1, 7, "a single row, not a multiple of four"),
            _case(257, 1, "just over a block"),
            _case(1, 1025, "just over a large block"),
            _case(29, 43, "both prime"),
            _case(101, 103, "zeros of both signs", draw="zeros"),
            _case(97, 89, "tiny values", draw="tiny", note="a threshold above zero loses them"),
            _case(17, 64, "all equal", draw="equal"),
            *(_GPU_SIZED if scale is Scale.GPU else _CPU_SIZED),
        ]

    def ranges(self, scale: Scale) -> Mapping[str, Range]:
        """Return extents up to the largest timed ones."""
        extents = Sizes(1, 8300 if scale is Scale.GPU else 1100)
        return {"n": extents, "m": extents}

    def styles(self, case: Case, dtype: Dtype) -> Sequence[str]:  # noqa: ARG002 - the same for all
        """Return every style, because a result depends on only one element."""
        return draws.ELEMENTWISE_STYLES

    def timed_styles(self, case: Case, dtype: Dtype) -> Sequence[str]:  # noqa: ARG002 - the same for all
        """Return the styles with random signs, so that a branch on the sign costs the same in each."""
        return draws.RANDOM_SIGN_STYLES

    def inputs(self, case: Case, dtype: Dtype, rng: np.random.Generator) -> Tensors:
        """Draw one matrix."""
        return {"input": draws.draw(case.draw, _shape(case), dtype, rng)}

    def output_shapes(self, case: Case) -> Mapping[str, tuple[int, ...]]:
        """Return the shape of the input."""
        return {"output": _shape(case)}

    def reference(self, case: Case, inputs: Tensors) -> Tensors:  # noqa: ARG002 - the input is enough
        """Compute the exact result. The bits of a negative float, as an integer, are negative too."""
        x = inputs["input"]
        return {"output": x.view(f"int{8 * x.itemsize}").clip(min=0).view(x.dtype)}

    def tolerance(self, case: Case, dtype: Dtype) -> Tolerance:  # noqa: ARG002 - the same for all sizes
        """Return the tolerance of an element-wise operation."""
        return rounding.elementwise(dtype)

    def flops(self, case: Case) -> int:
        """Count one comparison per element."""
        return case.size("n") * case.size("m")

    def bytes_moved(self, case: Case, dtype: Dtype) -> int:
        """Count every element read once and written once."""
        return 2 * case.size("n") * case.size("m") * dtype.size


def _shape(case: Case) -> tuple[int, int]:
    return case.size("m"), case.size("n")


def _case(
    n: int, m: int, what: str, *, draw: str = "normal", benchmark: bool = False, note: str = ""
) -> Case:
    return Case(
        name=f"n = {n}, m = {m}, {what}", values={"n": n, "m": m}, draw=draw, benchmark=benchmark, note=note
    )


_CPU_SIZED = (
    _case(509, 127, "both prime, larger"),
    _case(1021, 1013, "both prime, large", benchmark=True),
)

_GPU_SIZED = (
    _case(4096, 4096, "64 MiB", benchmark=True),
    _case(8191, 8209, "256 MiB and a tail", benchmark=True),
)
