"""Ways to draw the values of an input tensor, each made to catch something.

All randomness comes from the generator that is handed in, and nothing here imports NumPy: a problem's
file is read before NumPy is loaded. What values a problem needs is decided there, not here.
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

#: Powers of two from the least subnormal number to far below one, by dtype.
_TINY_EXPONENTS = {Dtype.FLOAT32: (-149, -60), Dtype.FLOAT16: (-24, -10)}


def draw(style: str, shape: tuple[int, ...], dtype: Dtype, rng: np.random.Generator) -> Array:
    """A tensor of this shape and dtype, drawn in one of the styles below."""
    if style not in STYLES:
        raise ValueError(f"no way to draw inputs is called {style!r}; there are {', '.join(STYLES)}")
    return STYLES[style](shape, dtype, rng)


def normal(shape: tuple[int, ...], dtype: Dtype, rng: np.random.Generator) -> Array:
    """Standard normal values: mean 0, deviation 1, both signs."""
    return rng.standard_normal(shape, dtype="float32").astype(dtype.value, copy=False)


def whole(shape: tuple[int, ...], dtype: Dtype, rng: np.random.Generator) -> Array:
    """Whole numbers from -4 to 4: every order of summation is exact, so a lost term always shows."""
    return rng.integers(-4, 5, shape, dtype="int8").astype(dtype.value)


def positive(shape: tuple[int, ...], dtype: Dtype, rng: np.random.Generator) -> Array:
    """Uniform values in [0.5, 1.5): sums grow and nothing cancels."""
    return (rng.random(shape, dtype="float32") + 0.5).astype(dtype.value, copy=False)


def equal(shape: tuple[int, ...], dtype: Dtype, rng: np.random.Generator) -> Array:
    """One value in [0.5, 1.5), everywhere."""
    return positive((1,), dtype, rng).repeat(prod(shape)).reshape(shape)


def tiny(shape: tuple[int, ...], dtype: Dtype, rng: np.random.Generator) -> Array:
    """Values of both signs near zero, subnormal ones among them: a kernel with a threshold loses them."""
    low, high = _TINY_EXPONENTS[dtype]
    magnitudes: Array = 2.0 ** rng.uniform(low, high, shape)
    signed: Array = magnitudes * rng.choice([-1.0, 1.0], shape)
    return signed.astype(dtype.value)


def zeros(shape: tuple[int, ...], dtype: Dtype, rng: np.random.Generator) -> Array:
    """Zeros of both signs, with a one here and there."""
    return rng.choice([-0.0, 0.0, -0.0, 0.0, -1.0, 1.0], shape).astype(dtype.value)


STYLES: dict[str, Draw] = {
    "normal": normal,
    "whole": whole,
    "positive": positive,
    "equal": equal,
    "tiny": tiny,
    "zeros": zeros,
}
