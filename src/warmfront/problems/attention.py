"""Attention: a softmax between two matrix products, without storing its matrix of weights."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

from warmfront.problems import draws
from warmfront.problems.ranges import Sizes
from warmfront.problems.rounding import UNIT
from warmfront.problems.spec import (
    Case,
    Difficulty,
    Dtype,
    Problem,
    Scale,
    Tolerance,
    size,
    tensor_in,
    tensor_out,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from warmfront.problems.ranges import Range
    from warmfront.problems.spec import Tensors

    Array = np.ndarray[Any, Any]

#: Largest extent of a head.
MOST_DIMENSIONS = 128

#: The factor by which queries are larger in the style `sharp`, in which few keys have most of the weight.
_SHARP = 4.0

#: Mean of the values of queries and keys in the style `far`, in which the scores are far from zero.
_FAR = 3.0

#: Rows of scores that the reference keeps in memory at a time.
_ROWS = 512


class Attention(Problem):
    """Compute scaled dot-product attention."""

    slug = "attention"
    title = "Attention"
    difficulty = Difficulty.HARD
    tags = ("linear-algebra", "matrix-cores", "numerical-stability")
    aliases = ("flash-attention",)
    dtypes = (Dtype.FLOAT16,)
    signature = (
        tensor_in("q"),
        tensor_in("k"),
        tensor_in("v"),
        tensor_out("output"),
        size("heads"),
        size("n"),
        size("d"),
    )
    statement = r"""
For each head, compute attention with $n$ queries $Q$, keys $K$ and values $V$, all of $n \times d$:

$$O_i = \frac{\sum_j e^{s_{ij}} V_j}{\sum_j e^{s_{ij}}} \quad \text{with} \quad
s_{ij} = \frac{1}{\sqrt{d}} \sum_{l=0}^{d-1} Q_{il} K_{jl}$$

**Arguments**

- `q`, `k`, `v`: $Q$, $K$ and $V$ of all heads, `heads * n * d` values each, row-major
- `output`: output, $O$, of the same shape
- `heads`, `n`, `d`: the extents

**Constraints**

- $heads, n \ge 1$ are any numbers, and $1 \le d \le 128$.
- Every query attends to every key: nothing is masked.
- Scores reach several hundreds: subtract the largest one before $e^x$.
- Sum in float32. The weights may be rounded to float16 before they are multiplied by $V$.
"""

    def cases(self, scale: Scale) -> Sequence[Case]:
        """Return single keys, partial tiles, and every kind of extent of a head."""
        return [
            _case(1, 1, 1, "one key"),
            _case(1, 65, 64, "just over a wavefront"),
            _case(3, 17, 16, "one over a tile"),
            _case(2, 11, 37, "a head of a prime extent"),
            _case(1, 257, 16, "just over a block"),
            _case(2, 61, 128, "the largest head, far from zero", draw="far", note="exp overflows"),
            _case(5, 1, 7, "one key per head", note="the weight is 1"),
            _case(1, 129, 64, "few keys matter", draw="sharp", note="the maximum grows while keys are read"),
            *(_GPU_SIZED if scale is Scale.GPU else _CPU_SIZED),
        ]

    def ranges(self, scale: Scale) -> Mapping[str, Range]:
        """Return heads of any extent up to 128."""
        on_gpu = scale is Scale.GPU
        return {
            "heads": Sizes(1, 64 if on_gpu else 6),
            "n": Sizes(1, 4200 if on_gpu else 200),
            "d": Sizes(1, MOST_DIMENSIONS),
        }

    def styles(self, case: Case, dtype: Dtype) -> Sequence[str]:  # noqa: ARG002 - the same for all
        """Return the styles."""
        return ("normal", "sharp", "far")

    def inputs(self, case: Case, dtype: Dtype, rng: np.random.Generator) -> Tensors:
        """Draw queries, keys and values."""
        shape = _shape(case)
        tensors = {name: draws.normal(shape, Dtype.FLOAT32, rng) for name in ("q", "k", "v")}
        if case.draw == "sharp":
            tensors["q"] *= _SHARP
        elif case.draw == "far":
            tensors["q"] += _FAR * rng.choice([-1.0, 1.0])
            tensors["k"] += _FAR
        return {name: tensor.astype(dtype.value) for name, tensor in tensors.items()}

    def output_shapes(self, case: Case) -> Mapping[str, tuple[int, ...]]:
        """Return the shape of the queries."""
        return {"output": _shape(case)}

    def reference(self, case: Case, inputs: Tensors) -> Tensors:  # noqa: ARG002 - the shapes say it
        """Compute some rows at a time in float64, subtracting the maximum."""
        import numpy as np  # noqa: PLC0415 - NumPy is imported while the compiler runs

        q, k, v = (inputs[name].astype("float64") for name in ("q", "k", "v"))
        output = np.empty(q.shape)
        for head in range(len(q)):
            for top in range(0, q.shape[1], _ROWS):
                rows = slice(top, top + _ROWS)
                scores = q[head, rows] @ k[head].T / sqrt(q.shape[2])
                weights = np.exp(scores - scores.max(axis=1, keepdims=True))
                output[head, rows] = weights @ v[head] / weights.sum(axis=1, keepdims=True)
        return {"output": output}

    def tolerance(self, case: Case, dtype: Dtype) -> Tolerance:  # noqa: ARG002 - the same for all sizes
        """Return the tolerance for weights and results in half precision."""
        return Tolerance(
            rtol=4 * UNIT[dtype],
            atol=4 * UNIT[dtype],
            why="weights rounded to float16 change a mean of values of at most 3.5 by 3.5 u, and the result "
            "is rounded once more; sums are in float32",
        )

    def flops(self, case: Case) -> int:
        """Count two products per pair of query and key, without the softmax."""
        heads, n, d = _shape(case)
        return 4 * heads * n * n * d

    def bytes_moved(self, case: Case, dtype: Dtype) -> int:
        """Count three tensors read and one written."""
        heads, n, d = _shape(case)
        return 4 * heads * n * d * dtype.size


def _shape(case: Case) -> tuple[int, int, int]:
    return case.size("heads"), case.size("n"), case.size("d")


def _case(
    heads: int, n: int, d: int, what: str, *, draw: str = "normal", benchmark: bool = False, note: str = ""
) -> Case:
    return Case(
        name=f"heads = {heads}, n = {n}, d = {d}, {what}",
        values={"heads": heads, "n": n, "d": d},
        draw=draw,
        benchmark=benchmark,
        note=note,
    )


_CPU_SIZED = (
    _case(2, 101, 53, "larger, prime"),
    _case(4, 64, 64, "whole tiles", benchmark=True),
)

_GPU_SIZED = (
    _case(3, 1021, 71, "large, prime"),
    _case(16, 1024, 128, "16 MiB", benchmark=True),
    _case(32, 2048, 128, "64 MiB", benchmark=True),
)
