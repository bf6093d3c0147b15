"""Vector addition: the usual first kernel, and memory-bound."""

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


class VectorAddition(Problem):
    """Add two vectors."""

    slug = "vector-addition"
    title = "Vector addition"
    difficulty = Difficulty.EASY
    tags = ("element-wise", "memory-bound")
    aliases = ("vector-add",)
    dtypes = (Dtype.FLOAT32, Dtype.FLOAT16)
    signature = (tensor_in("d_input1"), tensor_in("d_input2"), tensor_out("d_output"), size("n"))
    statement = r"""
Add two vectors of length $n$:

$$c_i = a_i + b_i, \qquad 0 \le i < n$$

**Arguments**

- `d_input1`: the vector $a$, `n` values
- `d_input2`: the vector $b$, `n` values
- `d_output`: the vector $c$, `n` values
- `n`: the number of elements

**Constraints**

- $n \ge 1$ is any number, not only a multiple of the block size or of four.
- Values and their sums are finite. Some are subnormal.
"""

    def cases(self, scale: Scale) -> Sequence[Case]:
        """Return lengths around a block, tiny values, and large lengths."""
        return [
            _case(1, "the smallest launch"),
            _case(7, "not a multiple of four"),
            _case(64, "one wavefront"),
            _case(257, "just over a block"),
            _case(1025, "just over a large block"),
            _case(1009, "tiny values", draw="tiny", note="loses values near zero"),
            _case(65_537, "more blocks than 256"),
            *(_GPU_SIZED if scale is Scale.GPU else _CPU_SIZED),
        ]

    def ranges(self, scale: Scale) -> Mapping[str, Range]:
        """Return lengths up to the longest timed one."""
        return {"n": Sizes(1, 2**26 + 64 if scale is Scale.GPU else 1_100_000)}

    def styles(self, case: Case, dtype: Dtype) -> Sequence[str]:  # noqa: ARG002 - the same for all
        """Return every style, because a result depends on only two elements."""
        return draws.ELEMENTWISE_STYLES

    def timed_styles(self, case: Case, dtype: Dtype) -> Sequence[str]:
        """Return the styles without subnormal numbers, which are slower on a CPU."""
        return [style for style in self.styles(case, dtype) if style != "tiny"]

    def inputs(self, case: Case, dtype: Dtype, rng: np.random.Generator) -> Tensors:
        """Draw two vectors in the same style."""
        shape = (case.size("n"),)
        return {
            "d_input1": draws.draw(case.draw, shape, dtype, rng),
            "d_input2": draws.draw(case.draw, shape, dtype, rng),
        }

    def output_shapes(self, case: Case) -> Mapping[str, tuple[int, ...]]:
        """Return the shape of the inputs."""
        return {"d_output": (case.size("n"),)}

    def reference(self, case: Case, inputs: Tensors) -> Tensors:  # noqa: ARG002 - the inputs are enough
        """Compute the sum in float64."""
        return {"d_output": inputs["d_input1"].astype("float64") + inputs["d_input2"]}

    def tolerance(self, case: Case, dtype: Dtype) -> Tolerance:  # noqa: ARG002 - the same for all sizes
        """Return the tolerance for one rounding."""
        return rounding.elementwise(dtype)

    def flops(self, case: Case) -> int:
        """Count one addition per element."""
        return case.size("n")

    def bytes_moved(self, case: Case, dtype: Dtype) -> int:
        """Count two vectors read and one written."""
        return 3 * case.size("n") * dtype.size


def _case(n: int, what: str, *, draw: str = "normal", benchmark: bool = False, note: str = "") -> Case:
    return Case(name=f"n = {n}, {what}", values={"n": n}, draw=draw, benchmark=benchmark, note=note)


_CPU_SIZED = (
    _case(100_003, "a prime"),
    _case(1_000_003, "a large prime", benchmark=True),
)

_GPU_SIZED = (
    _case(1_000_003, "a large prime"),
    _case(2**24, "64 MiB per vector", benchmark=True),
    _case(2**26 + 1, "one over 256 MiB per vector", benchmark=True),
)
