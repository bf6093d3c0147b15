"""Tolerances with their reasons: the largest error that a correct kernel can have.

Rounding changes a value by at most a factor of `u`, the unit roundoff. Each function below covers one kind of
computation. Sums are expected to be computed in float32, even for float16 tensors.
"""

from __future__ import annotations

from math import log, sqrt

from warmfront.problems.draws import WHOLE_STYLES, WIDE_EXPONENT
from warmfront.problems.spec import Dtype, Tolerance

#: Unit roundoff, half the distance from 1 to the next number.
UNIT = {Dtype.FLOAT32: 2.0**-24, Dtype.FLOAT16: 2.0**-11}

#: Error allowed near zero: float32 subnormals may be flushed, float16 subnormals may be off by one step.
_NEAR_ZERO = {Dtype.FLOAT32: 2.0**-126, Dtype.FLOAT16: 2.0**-24}


def exact(why: str) -> Tolerance:
    """Return a tolerance of zero."""
    return Tolerance(rtol=0.0, atol=0.0, why=why)


def elementwise(dtype: Dtype) -> Tolerance:
    """Return the tolerance for one or two operations per element."""
    return Tolerance(
        rtol=4 * UNIT[dtype],
        atol=_NEAR_ZERO[dtype],
        why="one or two operations, each rounded once, stay within 4 roundings of the exact value",
    )


def whole_numbers(dtype: Dtype) -> Tolerance:
    """Return the tolerance for sums of small integers, which are exact in float32 in every order."""
    return Tolerance(
        rtol=4 * UNIT[dtype] if dtype is Dtype.FLOAT16 else 0.0,
        atol=0.01,
        why="the inputs are small integers, so sums in float32 are exact in every order",
    )


def random_sum(terms: int, dtype: Dtype) -> Tolerance:
    """Return the tolerance for a sum of `terms` values, or products of two, with mean 0 and deviation 1.

    Partial sums grow like the square root of their length, so sequential addition, the worst order in use,
    has an error with a standard deviation of about 0.4 u terms. The tolerance is twenty times that, because
    there can be millions of sums. The additional 16 terms cover the few large values that a short sum can
    have.
    """
    return Tolerance(
        rtol=4 * UNIT[dtype],
        atol=8 * UNIT[Dtype.FLOAT32] * (terms + 16),
        why=f"a float32 sum of {terms} random terms, in any order, is within 8 u ({terms} + 16)",
    )


def positive_sum(terms: int, dtype: Dtype) -> Tolerance:
    """Return the tolerance for a sum of `terms` random values of one sign. Errors form a random walk."""
    return Tolerance(
        rtol=4 * UNIT[dtype] + UNIT[Dtype.FLOAT32] * (32 + 2 * sqrt(terms)),
        atol=0.0,
        why=f"roundings of {terms} terms of one sign add up like a random walk: 2 u sqrt({terms}), and 32 u",
    )


def equal_sum(terms: int, dtype: Dtype) -> Tolerance:
    """Return the tolerance for a sum of `terms` equal values. All roundings can have the same direction."""
    return Tolerance(
        rtol=4 * UNIT[dtype] + UNIT[Dtype.FLOAT32] * (16 + terms),
        atol=0.0,
        why=f"{terms} equal terms can all be rounded in the same direction: u ({terms} + 16)",
    )


def wide_sum(terms: int, dtype: Dtype) -> Tolerance:
    """Return the tolerance for a sum of `wide` values, or of products of `wide` and `normal` ones.

    The derivation is that of `random_sum`, with the root mean square of a log-uniform magnitude as the
    standard deviation. The largest terms exceed it by less than those of a product of two normal values.
    """
    exponent = WIDE_EXPONENT[dtype]
    deviation = 2.0**exponent / sqrt(4 * exponent * log(2))
    return Tolerance(
        rtol=4 * UNIT[dtype],
        atol=8 * UNIT[Dtype.FLOAT32] * deviation * (terms + 16),
        why=f"a float32 sum of {terms} random terms with a root mean square of {deviation:.3g}, in any "
        f"order, is within 8 u {deviation:.3g} ({terms} + 16)",
    )


def sum_of(style: str, terms: int, dtype: Dtype) -> Tolerance:
    """Return the tolerance for a sum over inputs in this style of `draws`."""
    if style == "whole" or style in WHOLE_STYLES:
        return whole_numbers(dtype)
    rules = {"normal": random_sum, "positive": positive_sum, "equal": equal_sum, "wide": wide_sum}
    return rules[style](terms, dtype)
