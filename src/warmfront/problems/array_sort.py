"""Sorting integers: no floating point, many steps, cooperation of all blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warmfront.problems import rounding
from warmfront.problems.ranges import Sizes
from warmfront.problems.spec import Case, Difficulty, Dtype, Problem, Scale, size, tensor_in, tensor_out

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from warmfront.problems.ranges import Range
    from warmfront.problems.spec import Tensors, Tolerance

    Array = np.ndarray[Any, Any]

_INT_MIN, _INT_MAX = -(2**31), 2**31 - 1

#: Styles whose values are uniform, the mean of two uniform values, or close to one of `_CLUSTERS` centers.
_TIMED_STYLES = ("any", "bell", "clustered")
_CLUSTERS = 64


class ArraySort(Problem):
    """Sort an array of integers in ascending order."""

    slug = "array-sort"
    title = "Sort an array"
    difficulty = Difficulty.HARD
    tags = ("sorting", "integers", "shared-memory")
    aliases = ("sort",)
    dtypes = (Dtype.INT32,)
    signature = (tensor_in("a"), tensor_out("b"), size("n"))
    statement = r"""
Sort $n$ integers in ascending order: $b$ is the permutation of $a$ with

$$b_0 \le b_1 \le \dots \le b_{n-1}$$

**Arguments**

- `a`: `n` ints
- `b`: output, the same ints in ascending order
- `n`: the number of elements

**Constraints**

- $n \ge 1$ is any number, not only a power of two.
- Values are any ints: `INT_MIN` and `INT_MAX` occur, and so do duplicates.
- `a` must not be changed. Use `hipMalloc` for temporary memory.
"""

    def cases(self, scale: Scale) -> Sequence[Case]:
        """Return lengths around powers of two, with orders and values that break incorrect sorts."""
        return [
            _case(1, "one element"),
            _case(2, "two, reversed", draw="reversed"),
            _case(7, "a few"),
            _case(257, "just over a block, many duplicates", draw="duplicates"),
            _case(511, "all equal", draw="equal"),
            _case(1000, "INT_MIN and INT_MAX", draw="extremes", note="padding that sorts among the values"),
            _case(1025, "just over a large block, sorted already", draw="sorted"),
            _case(2048, "reversed", draw="reversed"),
            _case(4099, "a prime"),
            _case(20_011, "duplicates", draw="duplicates"),
            *(_GPU_SIZED if scale is Scale.GPU else _CPU_SIZED),
        ]

    def ranges(self, scale: Scale) -> Mapping[str, Range]:
        """Return lengths up to the longest timed one."""
        return {"n": Sizes(1, 2**24 + 64 if scale is Scale.GPU else 101_000)}

    def styles(self, case: Case, dtype: Dtype) -> Sequence[str]:  # noqa: ARG002 - the same for all
        """Return every style."""
        return (*_TIMED_STYLES, "duplicates", "equal", "extremes", "sorted", "nearly-sorted", "reversed")

    def timed_styles(self, case: Case, dtype: Dtype) -> Sequence[str]:  # noqa: ARG002 - the same for all
        """Return random orders of values that use all bits. Each takes the same amount of work to sort."""
        return _TIMED_STYLES

    def inputs(self, case: Case, dtype: Dtype, rng: np.random.Generator) -> Tensors:
        """Draw one array in the style of the case."""
        n = case.size("n")
        return {"a": _draw(case.draw, n, rng).astype(dtype.value, copy=False)}

    def output_shapes(self, case: Case) -> Mapping[str, tuple[int, ...]]:
        """Return the shape of the input."""
        return {"b": (case.size("n"),)}

    def reference(self, case: Case, inputs: Tensors) -> Tensors:  # noqa: ARG002 - the input is enough
        """Sort the input; equal integers are indistinguishable, so the result is unique."""
        ordered = inputs["a"].copy()
        ordered.sort()
        return {"b": ordered}

    def tolerance(self, case: Case, dtype: Dtype) -> Tolerance:  # noqa: ARG002 - the same for all sizes
        """Return an exact comparison."""
        return rounding.exact("integers are moved, not computed")

    def flops(self, case: Case) -> int:  # noqa: ARG002 - 0 for all sizes
        """Return 0, because sorting needs no floating-point operations."""
        return 0

    def bytes_moved(self, case: Case, dtype: Dtype) -> int:
        """Count every element read once and written once."""
        return 2 * case.size("n") * dtype.size


def _draw(style: str, n: int, rng: np.random.Generator) -> Array:
    if style == "duplicates":
        return rng.integers(-3, 4, n, dtype="int32")
    if style == "equal":
        return rng.integers(_INT_MIN, _INT_MAX, 1, dtype="int32", endpoint=True).repeat(n)
    if style == "extremes":
        return rng.choice([_INT_MIN, _INT_MIN + 1, -1, 0, 1, _INT_MAX - 1, _INT_MAX], n)
    values = rng.integers(_INT_MIN, _INT_MAX, n, dtype="int32", endpoint=True)
    if style == "bell":
        values >>= 1
        values += rng.integers(_INT_MIN // 2, _INT_MAX // 2, n, dtype="int32", endpoint=True)
        return values
    if style == "clustered":
        import numpy as np  # noqa: PLC0415 - NumPy is imported while the compiler runs

        centers = rng.integers(_INT_MIN, _INT_MAX, _CLUSTERS, dtype="int32", endpoint=True)
        return np.asarray(centers[values & (_CLUSTERS - 1)] ^ (values >> 20))
    if style in {"sorted", "reversed", "nearly-sorted"}:
        values.sort()
    if style == "nearly-sorted":
        places = rng.integers(0, n, 2)
        values[places] = values[places[::-1]]
    return values[::-1].copy() if style == "reversed" else values


def _case(n: int, what: str, *, draw: str = "any", benchmark: bool = False, note: str = "") -> Case:
    return Case(name=f"n = {n}, {what}", values={"n": n}, draw=draw, benchmark=benchmark, note=note)


_CPU_SIZED = (_case(100_003, "a large prime", benchmark=True),)

_GPU_SIZED = (
    _case(1_000_003, "a large prime"),
    _case(2**22, "16 MiB", benchmark=True),
    _case(2**24 + 1, "one over 64 MiB", benchmark=True),
)
