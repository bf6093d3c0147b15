"""Tolerances with their reasons: how far off an honest kernel can be, and no further.

Rounding moves a value by at most `u` of its size, the unit roundoff. Each function below knows one
kind of computation; a problem picks the one that its case needs. Sums are expected in float32, for
float16 tensors too.
"""

from __future__ import annotations

from math import sqrt

from warmfront.problems.spec import Dtype, Tolerance

#: Unit roundoff, half the distance from 1 to the next number.
UNIT = {Dtype.FLOAT32: 2.0**-24, Dtype.FLOAT16: 2.0**-11}

#: What may vanish next to zero: float32 subnormals may be flushed, float16 ones may be off by a step.
_NEAR_ZERO = {Dtype.FLOAT32: 2.0**-126, Dtype.FLOAT16: 2.0**-24}


def exact(why: str) -> Tolerance:
    """Nothing may be off."""
    return Tolerance(rtol=0.0, atol=0.0, why=why)


def elementwise(dtype: Dtype) -> Tolerance:
    """For one or two operations on each element."""
    return Tolerance(
        rtol=4 * UNIT[dtype],
        atol=_NEAR_ZERO[dtype],
        why="one or two operations, each rounded once, stay within 4 roundings of the exact value",
    )


def whole_numbers(dtype: Dtype) -> Tolerance:
    """For sums of small whole numbers, which float32 holds exactly whatever the order."""
    return Tolerance(
        rtol=4 * UNIT[dtype] if dtype is Dtype.FLOAT16 else 0.0,
        atol=0.01,
        why="the inputs are small whole numbers, so every order of summation in float32 is exact",
    )


def random_sum(terms: int, dtype: Dtype) -> Tolerance:
    """For a sum of `terms` values, or products of two, drawn with mean 0 and deviation 1.

    Partial sums wander like the square root of their length, so adding one after the other, the
    worst order in use, is off by a deviation of about 0.4 u terms; this allows twenty of those, as
    there can be millions of sums. The 16 more are for the few large terms that a short sum can have.
    """
    return Tolerance(
        rtol=4 * UNIT[dtype],
        atol=8 * UNIT[Dtype.FLOAT32] * (terms + 16),
        why=f"a float32 sum of {terms} random terms, in any order, is within 8 u ({terms} + 16)",
    )


def positive_sum(terms: int, dtype: Dtype) -> Tolerance:
    """For a sum of `terms` random values of one sign: roundings add up like a random walk."""
    return Tolerance(
        rtol=4 * UNIT[dtype] + UNIT[Dtype.FLOAT32] * (32 + 2 * sqrt(terms)),
        atol=0.0,
        why=f"roundings of {terms} terms of one sign add up like a random walk: 2 u sqrt({terms}), and 32 u",
    )


def equal_sum(terms: int, dtype: Dtype) -> Tolerance:
    """For a sum of `terms` equal values: every rounding can go the same way."""
    return Tolerance(
        rtol=4 * UNIT[dtype] + UNIT[Dtype.FLOAT32] * (16 + terms),
        atol=0.0,
        why=f"{terms} equal terms can all be rounded the same way: u ({terms} + 16)",
    )


def sum_of(style: str, terms: int, dtype: Dtype) -> Tolerance:
    """The tolerance of a sum over inputs drawn in this style of `draws`."""
    if style == "whole":
        return whole_numbers(dtype)
    rule = {"normal": random_sum, "positive": positive_sum, "equal": equal_sum}[style]
    return rule(terms, dtype)
