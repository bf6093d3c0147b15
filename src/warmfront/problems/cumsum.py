"""Cumulative sum: every output depends on all inputs before it, so blocks must cooperate."""

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


class Cumsum(Problem):
    """Compute the inclusive prefix sum."""

    slug = "cumsum"
    title = "Cumulative sum"
    difficulty = Difficulty.MEDIUM
    tags = ("scan", "memory-bound")
    aliases = ("prefix-sum",)
    signature = (tensor_in("input"), tensor_out("output"), size("N"))
    statement = r"""
Compute the inclusive prefix sum of a vector of length $N$:

$$y_i = \sum_{j=0}^{i} x_j, \qquad 0 \le i < N$$

**Arguments**

- `input`: the vector $x$, `N` values
- `output`: the vector $y$, `N` values
- `N`: the number of elements

**Constraints**

- $N \ge 1$ is any number, and may exceed the threads of 1024 blocks of 1024 threads.
- Use `hipMalloc` for temporary memory.
"""

    def cases(self, scale: Scale) -> Sequence[Case]:
        """Return lengths near multiples of a wave and a block, and one above 1024 blocks of 1024."""
        return [
            _case(1, "one element"),
            _case(7, "a few"),
            _case(65, "just over a wavefront"),
            _case(257, "just over a block"),
            _case(1025, "just over a large block"),
            _case(1021, "all equal", draw="equal"),
            _case(10_007, "a prime"),
            _case(65_537, "just over 256 blocks of 256", draw="positive", note="one sign: errors add up"),
            *(_GPU_SIZED if scale is Scale.GPU else _CPU_SIZED),
        ]

    def ranges(self, scale: Scale) -> Mapping[str, Range]:
        """Return lengths up to the longest timed one."""
        return {"N": Sizes(1, 2**26 + 64 if scale is Scale.GPU else 1_100_000)}

    def styles(self, case: Case, dtype: Dtype) -> Sequence[str]:
        """Return the styles for a sum of N values."""
        return draws.sum_styles(case.size("N"), dtype)

    def inputs(self, case: Case, dtype: Dtype, rng: np.random.Generator) -> Tensors:
        """Draw one vector."""
        length = case.size("N")
        return {"input": draws.draw(case.draw, (length,), dtype, rng, terms=length)}

    def output_shapes(self, case: Case) -> Mapping[str, tuple[int, ...]]:
        """Return the shape of the input."""
        return {"output": (case.size("N"),)}

    def reference(self, case: Case, inputs: Tensors) -> Tensors:  # noqa: ARG002 - the input is enough
        """Compute the result in float64."""
        return {"output": inputs["input"].cumsum(dtype="float64")}

    def tolerance(self, case: Case, dtype: Dtype) -> Tolerance:
        """Return the tolerance of the last sum, which is the longest."""
        return rounding.sum_of(case.draw, case.size("N"), dtype)

    def flops(self, case: Case) -> int:
        """Count one addition per element."""
        return case.size("N")

    def bytes_moved(self, case: Case, dtype: Dtype) -> int:
        """Count every element read once and written once."""
        return 2 * case.size("N") * dtype.size


def _case(n: int, what: str, *, draw: str = "normal", benchmark: bool = False, note: str = "") -> Case:
    return Case(name=f"N = {n}, {what}", values={"N": n}, draw=draw, benchmark=benchmark, note=note)


_CPU_SIZED = (
    _case(
        1_048_583,
        "just over 1024 blocks of 1024, whole numbers",
        draw="whole",
        benchmark=True,
        note="a block that starts from the wrong sum",
    ),
)

_GPU_SIZED = (
    _case(1_048_583, "just over 1024 blocks of 1024, whole numbers", draw="whole"),
    _case(2**24, "64 MiB, whole numbers", draw="whole", benchmark=True),
    _case(2**26 + 1, "one over 256 MiB, whole numbers", draw="whole", benchmark=True),
)
