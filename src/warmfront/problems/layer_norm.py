"""Layer normalization: mean and variance of each sample, where a naive formula loses all digits."""

from __future__ import annotations

from math import prod, sqrt
from typing import TYPE_CHECKING

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

_EPSILON = 1e-5

#: Means of the `far` inputs, whose standard deviation is 1. For these, E[x^2] - E[x]^2 in float32 is only
#: noise. They are multiples of a large power of two, so that float32 sums of equal values are exact:
#: otherwise all roundings of a sequential sum can have the same direction.
_CENTERS = (4096, 5120, 6144, 7168, 8192, 9216)

#: Random samples smaller than this can have a very small variance, which makes rounding errors large.
_LEAST_RANDOM = 64

#: The longest sum of equal values for which the tolerance covers roundings that all have the same direction.
_LONGEST_EQUAL_SUM = 4096

#: Styles with few distinct whole numbers, their largest magnitude, and their longest sum.
_FEW_VALUES = ("sorted", "sparse", "outliers", "alternating", "steps")
_LARGEST_WHOLE = 8
_LONGEST_SUM_OF_FEW = 2**16

#: The largest gamma that is drawn.
_GAMMA = 1.5


class LayerNorm(Problem):
    """Normalize each sample to mean 0 and variance 1, then scale and shift it."""

    slug = "layer-norm"
    title = "Layer normalization"
    difficulty = Difficulty.MEDIUM
    tags = ("reduction", "normalization", "numerical-stability")
    signature = (
        tensor_in("X"),
        tensor_in("gamma"),
        tensor_in("beta"),
        tensor_out("Y"),
        size("B"),
        size("F"),
        size("D1"),
        size("D2"),
    )
    statement = r"""
Normalize each sample $b$ of a batch over all its $n = F \cdot D_1 \cdot D_2$ values together:

$$\mu_b = \frac{1}{n} \sum_i X_{bi}, \qquad \sigma_b^2 = \frac{1}{n} \sum_i (X_{bi} - \mu_b)^2, \qquad
Y_{bi} = \frac{X_{bi} - \mu_b}{\sqrt{\sigma_b^2 + \epsilon}} \gamma_i + \beta_i, \qquad \epsilon = 10^{-5}$$

**Arguments**

- `X`: the batch, contiguous, `B * F * D1 * D2` values
- `gamma`, `beta`: scale and shift, `F * D1 * D2` values each, the same for every sample
- `Y`: output, of the shape of `X`
- `B`, `F`, `D1`, `D2`: the extents

**Constraints**

- Every extent is at least 1.
- The variance divides by $n$, not $n - 1$.
- The mean may be $10^4$ times the deviation: subtract it before squaring.
"""

    def cases(self, scale: Scale) -> Sequence[Case]:
        """Return small and large samples, and samples whose mean is much larger than their variance."""
        return [
            _case(1, 1, 1, 1, "one value", note="variance 0: epsilon decides"),
            _case(2, 1, 1, 3, "tiny samples", note="a variance that divides by n - 1"),
            _case(3, 257, 1, 1, "just over a block"),
            _case(2, 1, 1, 1025, "just over a large block"),
            _case(5, 3, 7, 11, "all odd"),
            _case(17, 2, 5, 13, "many samples"),
            _case(3, 3, 5, 7, "all equal", draw="equal", note="variance 0"),
            _case(4, 4, 8, 8, "far from zero", draw="far", note="E[x^2] - E[x]^2"),
            _case(2, 7, 16, 31, "far from zero, larger", draw="far"),
            *(_GPU_SIZED if scale is Scale.GPU else _CPU_SIZED),
        ]

    def ranges(self, scale: Scale) -> Mapping[str, Range]:
        """Return batches and samples of all proportions."""
        if scale is Scale.GPU:
            return {"B": Sizes(1, 1100), "F": Sizes(1, 128), "D1": Sizes(1, 1100), "D2": Sizes(1, 1100)}
        return {"B": Sizes(1, 64), "F": Sizes(1, 32), "D1": Sizes(1, 64), "D2": Sizes(1, 64)}

    def styles(self, case: Case, dtype: Dtype) -> Sequence[str]:  # noqa: ARG002 - the same for all dtypes
        """Return the styles whose variance is guaranteed to be large enough for samples of this size."""
        n = _sample_size(case)
        styles = ["normal", "positive"]
        if n >= _LEAST_RANDOM:
            styles += ["far", "wide"]
        if n <= _LONGEST_EQUAL_SUM:
            styles += ["equal"]
        if n <= _LONGEST_SUM_OF_FEW:
            styles += _FEW_VALUES
        return styles

    def inputs(self, case: Case, dtype: Dtype, rng: np.random.Generator) -> Tensors:
        """Draw samples, scale and shift; each `far` sample has its own center."""
        extents = _extents(case)
        if case.draw == "far":
            x = draws.normal(extents, dtype, rng)
            x += (rng.choice(_CENTERS, (extents[0], 1, 1, 1)) * rng.choice([-1, 1])).astype(dtype.value)
        else:
            terms = draws.EXACT_SUM[Dtype.FLOAT32] // _LARGEST_WHOLE
            x = draws.draw(case.draw, extents, dtype, rng, terms=terms)
        return {
            "X": x,
            "gamma": draws.positive(extents[1:], dtype, rng),
            "beta": draws.normal(extents[1:], dtype, rng),
        }

    def output_shapes(self, case: Case) -> Mapping[str, tuple[int, ...]]:
        """Return the shape of the input."""
        return {"Y": _extents(case)}

    def reference(self, case: Case, inputs: Tensors) -> Tensors:  # noqa: ARG002 - the inputs are enough
        """Compute the result in float64, subtracting the mean first."""
        x = inputs["X"].astype("float64")
        centered = x - x.mean(axis=(1, 2, 3), keepdims=True)
        variance = (centered**2).mean(axis=(1, 2, 3), keepdims=True)
        return {"Y": centered / (variance + _EPSILON) ** 0.5 * inputs["gamma"] + inputs["beta"]}

    def tolerance(self, case: Case, dtype: Dtype) -> Tolerance:
        """Return the tolerance for the errors of a float32 mean and variance, relative to the deviation."""
        u, n = UNIT[dtype], _sample_size(case)
        if case.draw == "far":
            return _tolerance_far(n, u)
        if case.draw == "equal":
            return Tolerance(
                rtol=4 * u,
                atol=_GAMMA**2 * u * (16 + n) / sqrt(_EPSILON),
                why=f"the mean of {n} equal values is within u ({n} + 16), divided by the root of epsilon",
            )
        if case.draw in _FEW_VALUES:
            return Tolerance(
                rtol=u * (4 + n),
                atol=_GAMMA * u * (16 * _LARGEST_WHOLE / sqrt(_EPSILON) + 4 * n),
                why=f"a mean of whole numbers up to {_LARGEST_WHOLE} is within {16 * _LARGEST_WHOLE} u, "
                f"divided by the root of epsilon at worst; a sum of {n} squares, of which few are large, is "
                f"within {n} u",
            )
        if n < _LEAST_RANDOM:
            return Tolerance(
                rtol=4 * u,
                atol=_GAMMA * u * (16 + 2 * n) / sqrt(_EPSILON),
                why=f"a mean of {n} values is within u ({2 * n} + 16), divided by the root of epsilon",
            )
        # Most squares of `wide` values are much smaller than their sum, and are rounded off.
        factor = 32 if case.draw == "wide" else 8
        return Tolerance(
            rtol=4 * u,
            atol=factor * u * (16 + 2 * sqrt(n)),
            why=f"normalized values up to 5 with float32 sums of {n} terms: {factor} u (16 + 2 sqrt({n}))",
        )

    def flops(self, case: Case) -> int:
        """Count 8 per element: mean 1, variance 3, normalize 2, scale and shift 2."""
        return 8 * prod(_extents(case))

    def bytes_moved(self, case: Case, dtype: Dtype) -> int:
        """Count every sample read and written, scale and shift read."""
        extents = _extents(case)
        return (2 * prod(extents) + 2 * prod(extents[1:])) * dtype.size


def _extents(case: Case) -> tuple[int, int, int, int]:
    return case.size("B"), case.size("F"), case.size("D1"), case.size("D2")


def _sample_size(case: Case) -> int:
    return prod(_extents(case)[1:])


def _tolerance_far(n: int, u: float) -> Tolerance:
    center = max(_CENTERS)
    # Either roundings form a random walk, or a sequential sum rounds off every deviation from the center.
    mean_error = min(center * u * (8 + 2 * sqrt(n)), 16 * center * u + 6 / sqrt(n))
    return Tolerance(
        rtol=4 * u,
        atol=_GAMMA * mean_error * (1 + 2 * mean_error) + 8 * u * (16 + 2 * sqrt(n)),
        why=f"a float32 mean near {center} is within {mean_error:.3g}, and the deviation is 1",
    )


def _case(
    b: int,
    f: int,
    d1: int,
    d2: int,
    what: str,
    *,
    draw: str = "normal",
    benchmark: bool = False,
    note: str = "",
) -> Case:
    return Case(
        name=f"B = {b}, F = {f}, D1 = {d1}, D2 = {d2}, {what}",
        values={"B": b, "F": f, "D1": d1, "D2": d2},
        draw=draw,
        benchmark=benchmark,
        note=note,
    )


_CPU_SIZED = (
    _case(61, 3, 17, 19, "many larger samples, odd"),
    _case(16, 16, 32, 32, "1 MiB", benchmark=True),
)

_GPU_SIZED = (
    _case(3, 1, 1023, 1025, "a few very large samples"),
    _case(64, 64, 64, 64, "64 MiB", benchmark=True),
    _case(1021, 32, 32, 32, "128 MiB, many samples", benchmark=True),
)
