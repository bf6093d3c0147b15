"""Layer normalisation: mean and variance of each sample, where a naive formula loses all digits."""

from __future__ import annotations

from math import prod, sqrt
from typing import TYPE_CHECKING

from warmfront.problems import draws
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

    from warmfront.problems.spec import Tensors

_EPSILON = 1e-5

#: The mean of the `far` inputs, whose deviation is 1. There, E[x^2] - E[x]^2 in float32 is only noise.
_FAR = 1e4

#: The largest gamma that is drawn.
_GAMMA = 1.5


class LayerNorm(Problem):
    """Normalise each sample to mean 0 and variance 1, then scale and shift it."""

    slug = "layer-norm"
    title = "Layer normalisation"
    difficulty = Difficulty.MEDIUM
    tags = ("reduction", "normalisation", "numerical-stability")
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
Normalise each sample $b$ of a batch over all its $n = F \cdot D_1 \cdot D_2$ values together:

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

    def inputs(self, case: Case, dtype: Dtype, rng: np.random.Generator) -> Tensors:
        """Draw samples, scale and shift; `far` samples have a mean of 10000."""
        extents = _extents(case)
        style = "normal" if case.draw == "far" else case.draw
        x = draws.draw(style, extents, dtype, rng)
        return {
            "X": (x + _FAR).astype(dtype.value) if case.draw == "far" else x,
            "gamma": draws.positive(extents[1:], dtype, rng),
            "beta": draws.normal(extents[1:], dtype, rng),
        }

    def output_shapes(self, case: Case) -> Mapping[str, tuple[int, ...]]:
        """Return the shape of the input."""
        return {"Y": _extents(case)}

    def reference(self, case: Case, inputs: Tensors) -> Tensors:  # noqa: ARG002 - the inputs are enough
        """Compute the result in float64, subtracting the mean first."""
        x = inputs["X"].astype("float64")
        centred = x - x.mean(axis=(1, 2, 3), keepdims=True)
        variance = (centred**2).mean(axis=(1, 2, 3), keepdims=True)
        return {"Y": centred / (variance + _EPSILON) ** 0.5 * inputs["gamma"] + inputs["beta"]}

    def tolerance(self, case: Case, dtype: Dtype) -> Tolerance:
        """Return the error of a float32 mean, divided by the deviation."""
        u, n = UNIT[dtype], prod(_extents(case)[1:])
        if case.draw == "far":
            return Tolerance(
                rtol=4 * u,
                atol=_GAMMA * _FAR * u * (8 + 2 * sqrt(n)),
                why=f"a float32 mean near 10000 is within 10000 u (8 + 2 sqrt({n})), and the deviation is 1",
            )
        if case.draw == "equal":
            return Tolerance(
                rtol=4 * u,
                atol=_GAMMA**2 * u * (16 + n) / sqrt(_EPSILON),
                why=f"the mean of {n} equal values is within u ({n} + 16), divided by the root of epsilon",
            )
        return Tolerance(
            rtol=4 * u,
            atol=8 * u * (16 + sqrt(n)),
            why=f"normalised values up to 8 with float32 sums of {n} terms: 8 u (16 + sqrt({n}))",
        )

    def flops(self, case: Case) -> int:
        """Count 8 per element: mean 1, variance 3, normalise 2, scale and shift 2."""
        return 8 * prod(_extents(case))

    def bytes_moved(self, case: Case, dtype: Dtype) -> int:
        """Count every sample read and written, scale and shift read."""
        extents = _extents(case)
        return (2 * prod(extents) + 2 * prod(extents[1:])) * dtype.size


def _extents(case: Case) -> tuple[int, int, int, int]:
    return case.size("B"), case.size("F"), case.size("D1"), case.size("D2")


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
