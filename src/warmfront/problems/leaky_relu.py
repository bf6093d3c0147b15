"""Leaky ReLU: one comparison and one product per element."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.problems import draws, rounding
from warmfront.problems.chunks import SMALL_CHUNK, parts_of
from warmfront.problems.ranges import Numbers, Sizes
from warmfront.problems.spec import (
    Case,
    Difficulty,
    Dtype,
    Problem,
    Scale,
    scalar,
    size,
    tensor_in,
    tensor_out,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from warmfront.problems.ranges import Range
    from warmfront.problems.spec import Tensors, Tolerance


class LeakyRelu(Problem):
    """Multiply negative values by a factor."""

    slug = "leaky-relu"
    title = "Leaky ReLU"
    difficulty = Difficulty.EASY
    tags = ("element-wise", "activation", "memory-bound")
    dtypes = (Dtype.FLOAT32, Dtype.FLOAT16)
    signature = (
        tensor_in("input"),
        scalar("float", "alpha"),
        tensor_out("output"),
        size("n"),
        size("m"),
    )
    statement = r"""
Apply the leaky rectified linear unit to every element of a matrix of $m$ rows and $n$ columns:

$$y = \begin{cases} x & x > 0 \\ \alpha x & x \le 0 \end{cases}$$

**Arguments**

- `input`: the matrix $x$, `n * m` values
- `alpha`: the slope $\alpha$ for negative values, a `float` for every dtype
- `output`: the matrix $y$, `n * m` values
- `n`, `m`: the extents. The order does not matter: all elements are contiguous.

**Constraints**

- $n, m \ge 1$ are any numbers, and so is their product.
- $0 \le \alpha \le 2$. For $\alpha > 1$, $\max(x, \alpha x)$ is wrong.
- Values are finite. Some are subnormal, and some are positive or negative zeros.
"""

    def cases(self, scale: Scale) -> Sequence[Case]:
        """Return sizes around a block, slopes that distinguish formulas, and values around zero."""
        return [
            _case(1, 1, "the smallest launch"),
            _case(1, 13, "a single row, not a multiple of four"),
            _case(257, 1, "just over a block"),
            _case(31, 37, "both prime"),
            _case(205, 5, "just over a large block", alpha=0.0, note="alpha 0: plain ReLU"),
            _case(64, 33, "a steep slope", alpha=1.5, note="max(x, alpha x) instead of a comparison"),
            _case(101, 103, "zeros of both signs", draw="zeros"),
            _case(97, 89, "tiny values", draw="tiny", note="a threshold above zero loses them"),
            *(_GPU_SIZED if scale is Scale.GPU else _CPU_SIZED),
        ]

    def ranges(self, scale: Scale) -> Mapping[str, Range]:
        """Return extents up to the largest timed ones, and every slope."""
        extents = Sizes(1, 8300 if scale is Scale.GPU else 1100)
        return {"alpha": Numbers(0.0, 2.0), "n": extents, "m": extents}

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

    def reference(self, case: Case, inputs: Tensors) -> Tensors:
        """Compute the result in float64, with alpha rounded to the float that the kernel receives."""
        import numpy as np  # noqa: PLC0415 - NumPy is imported while the compiler runs

        alpha, x = case.c_float("alpha"), inputs["input"].reshape(-1)
        output = np.empty(x.size)
        for part in parts_of(x.size, chunk=SMALL_CHUNK):
            values = x[part].astype("float64")
            output[part] = values.clip(max=0.0)
            output[part] *= alpha
            output[part] += values.clip(min=0.0)
        return {"output": output.reshape(_shape(case))}

    def tolerance(self, case: Case, dtype: Dtype) -> Tolerance:  # noqa: ARG002 - the same for all sizes
        """Return the tolerance for one rounded product."""
        return rounding.elementwise(dtype)

    def flops(self, case: Case) -> int:
        """Count one product per element."""
        return case.size("n") * case.size("m")

    def bytes_moved(self, case: Case, dtype: Dtype) -> int:
        """Count every element read once and written once."""
        return 2 * case.size("n") * case.size("m") * dtype.size


def _shape(case: Case) -> tuple[int, int]:
    return case.size("m"), case.size("n")


def _case(
    n: int,
    m: int,
    what: str,
    *,
    alpha: float = 0.01,
    draw: str = "normal",
    benchmark: bool = False,
    note: str = "",
) -> Case:
    return Case(
        name=f"n = {n}, m = {m}, alpha = {alpha}, {what}",
        values={"alpha": alpha, "n": n, "m": m},
        draw=draw,
        benchmark=benchmark,
        note=note,
    )


_CPU_SIZED = (
    _case(509, 127, "both prime, larger", alpha=0.2),
    _case(1021, 1013, "both prime, large", benchmark=True),
)

_GPU_SIZED = (
    _case(4096, 4096, "64 MiB", benchmark=True),
    _case(8191, 8209, "256 MiB and a tail", alpha=0.2, benchmark=True),
)
