"""Styles of random input tensors, each designed to expose a kind of error.

All randomness is from the generator that the caller passes. This module does not import NumPy, because
problem files are imported before NumPy is.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from warmfront.problems.spec import Dtype

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    Array = np.ndarray[Any, Any]
    Draw = Callable[[tuple[int, ...], Dtype, np.random.Generator], Array]

#: Exponents of two, from the smallest subnormal number to far below one, by dtype.
_TINY_EXPONENTS = {Dtype.FLOAT32: (-149, -60), Dtype.FLOAT16: (-24, -10)}


def draw(style: str, shape: tuple[int, ...], dtype: Dtype, rng: np.random.Generator) -> Array:
    """Draw a tensor in one of the styles below.

    Raises:
        ValueError: There is no such style.
    """
    if style not in STYLES:
        raise ValueError(f"unknown input style {style!r}; known: {', '.join(STYLES)}")
    return STYLES[style](shape, dtype, rng)


def normal(shape: tuple[int, ...], dtype: Dtype, rng: np.random.Generator) -> Array:
    """Draw standard normal values: mean 0, deviation 1, both signs."""
    return rng.standard_normal(shape, dtype="float32").astype(dtype.value, copy=False)


def whole(shape: tuple[int, ...], dtype: Dtype, rng: np.random.Generator) -> Array:
    """Draw integers from -4 to 4: sums are exact in every order, so a lost term always shows."""
    return rng.integers(-4, 5, shape, dtype="int8").astype(dtype.value)


def positive(shape: tuple[int, ...], dtype: Dtype, rng: np.random.Generator) -> Array:
    """Draw uniform values in [0.5, 1.5): sums grow and nothing cancels."""
    return (rng.random(shape, dtype="float32") + 0.5).astype(dtype.value, copy=False)


def equal(shape: tuple[int, ...], dtype: Dtype, rng: np.random.Generator) -> Array:
    """Draw one value in [0.5, 1.5) and use it for all elements."""
    return positive((1,), dtype, rng).repeat(prod(shape)).reshape(shape)


def tiny(shape: tuple[int, ...], dtype: Dtype, rng: np.random.Generator) -> Array:
    """Draw values of both signs near zero, some subnormal: a kernel with a threshold loses them."""
    low, high = _TINY_EXPONENTS[dtype]
    magnitudes: Array = 2.0 ** rng.uniform(low, high, shape)
    signed: Array = magnitudes * rng.choice([-1.0, 1.0], shape)
    return signed.astype(dtype.value)


def zeros(shape: tuple[int, ...], dtype: Dtype, rng: np.random.Generator) -> Array:
    """Draw zeros of both signs, and some ones of both signs."""
    return rng.choice([-0.0, 0.0, -0.0, 0.0, -1.0, 1.0], shape).astype(dtype.value)


STYLES: dict[str, Draw] = {
    "normal": normal,
    "whole": whole,
    "positive": positive,
    "equal": equal,
    "tiny": tiny,
    "zeros": zeros,
}
