"""Styles of random input tensors, each designed to expose a kind of error.

All randomness comes from the caller's generator. This module does not import NumPy, because problem files are
imported before NumPy.

Many styles draw whole numbers that are small enough for sums to be exact in float32 in every order. So a
single lost or doubled term is detected, however long the sum is. A kernel that guesses the structure of its
inputs from a few of them gives wrong results: `sparse` looks like zeros and `outliers` looks like one value,
except in a few random places.
"""

from __future__ import annotations

from math import exp, log, prod
from typing import TYPE_CHECKING, Any

from warmfront.problems.chunks import LARGE, parts_of, run_parallel
from warmfront.problems.spec import Dtype

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    Array = np.ndarray[Any, Any]
    Draw = Callable[[tuple[int, ...], Dtype, np.random.Generator], Array]
    WholeDraw = Callable[[int, int, np.random.Generator], Array]

#: Exponents of two, from the smallest subnormal number to far below one, by dtype.
_TINY_EXPONENTS = {Dtype.FLOAT32: (-149, -60), Dtype.FLOAT16: (-24, -10)}

#: The `wide` style has magnitudes from 2^-e to 2^e, by dtype; their sums and products of two do not overflow.
WIDE_EXPONENT = {Dtype.FLOAT32: 8, Dtype.FLOAT16: 4}

#: Sums of whole numbers up to this magnitude are exact in float32, and finite in float16.
EXACT_SUM = {Dtype.FLOAT32: 2**22, Dtype.FLOAT16: 2**14}

#: Largest whole number that is drawn; float16 represents all integers up to 2048.
_LARGEST_WHOLE = 1000

#: Probability that only 1 to 4 elements of `sparse` and `outliers` are special.
OFTEN = 0.5

#: Probability that the larger of two factors has the structure of a style.
LARGER = 0.75

#: Magnitude of the numbers of the `whole` style.
WHOLE = 4


def draw(
    style: str, shape: tuple[int, ...], dtype: Dtype, rng: np.random.Generator, *, terms: int = 1
) -> Array:
    """Draw a tensor in one of the styles below.

    Args:
        style: a name in `STYLES` or `WHOLE_STYLES`.
        shape: the shape of the tensor.
        dtype: the dtype of the tensor.
        rng: the source of all randomness.
        terms: the number of elements in a sum. Whole numbers are small enough for exact sums.

    Raises:
        ValueError: There is no such style.
    """
    if style in WHOLE_STYLES:
        largest = min(_LARGEST_WHOLE, max(1, EXACT_SUM[dtype] // terms))
        values = WHOLE_STYLES[style](prod(shape), largest, rng)
        return values.astype(dtype.value, copy=False).reshape(shape)
    if style not in STYLES:
        raise ValueError(f"unknown input style {style!r}; known: {', '.join((*STYLES, *WHOLE_STYLES))}")
    return STYLES[style](shape, dtype, rng)


def draw_factors(
    style: str,
    shapes: tuple[tuple[int, ...], tuple[int, ...]],
    dtype: Dtype,
    rng: np.random.Generator,
    *,
    terms: int,
) -> tuple[Array, Array]:
    """Draw two tensors whose products are summed, `terms` at a time.

    In styles with a structure, only one tensor has it, usually the larger one, because nearly all products of
    two sparse tensors are zero.
    """
    if style not in WHOLE_STYLES and style != "wide":
        first, second = (draw(style, shape, dtype, rng) for shape in shapes)
        return first, second
    plain = "normal" if style == "wide" else "whole"
    is_first = (prod(shapes[0]) >= prod(shapes[1])) == (rng.random() < LARGER)
    styles = [style, plain] if is_first else [plain, style]
    first, second = (
        draw(each, shape, dtype, rng, terms=WHOLE * terms) for each, shape in zip(styles, shapes, strict=True)
    )
    return first, second


def normal(shape: tuple[int, ...], dtype: Dtype, rng: np.random.Generator) -> Array:
    """Draw values with mean 0 and standard deviation 1, normally distributed up to 3.4 deviations.

    Each value is the sum of four uniform 16-bit numbers, which takes a third of the time of exact normal
    values. The random factor makes every bit of the values significant.
    """
    factor = rng.uniform(0.98, 1.02) * 3**0.5 / 65536.0

    def draw_part(count: int, rng: np.random.Generator) -> Array:
        uniform: Array = rng.integers(0, 2**64, count, dtype="uint64").view("uint16").reshape(4, -1)
        values: Array = uniform[0].astype("float32")
        for part in uniform[1:]:
            values += part
        values -= 2 * 65535.0
        values *= factor
        return values

    return _draw_in_parts(draw_part, shape, dtype, rng)


def whole(shape: tuple[int, ...], dtype: Dtype, rng: np.random.Generator) -> Array:
    """Draw integers from -4 to 4. Sums are exact in every order, so a lost term is always detected."""
    return _draw_in_parts(lambda count, rng: _integers(-WHOLE, WHOLE, count, rng), shape, dtype, rng)


def positive(shape: tuple[int, ...], dtype: Dtype, rng: np.random.Generator) -> Array:
    """Draw uniform values in [0.5, 1.5), so that sums grow and nothing cancels."""

    def draw_part(count: int, rng: np.random.Generator) -> Array:
        values = rng.random(count, dtype="float32")
        values += 0.5
        return values

    return _draw_in_parts(draw_part, shape, dtype, rng)


def uniform(largest: float, shape: tuple[int, ...], dtype: Dtype, rng: np.random.Generator) -> Array:
    """Draw uniform values from `-largest` to `largest`."""

    def draw_part(count: int, rng: np.random.Generator) -> Array:
        values = rng.random(count, dtype="float32")
        values -= 0.5
        values *= 2 * largest
        return values

    return _draw_in_parts(draw_part, shape, dtype, rng)


def equal(shape: tuple[int, ...], dtype: Dtype, rng: np.random.Generator) -> Array:
    """Draw one value in [0.5, 1.5) and use it for all elements."""
    return positive((1,), dtype, rng).repeat(prod(shape)).reshape(shape)


def wide(shape: tuple[int, ...], dtype: Dtype, rng: np.random.Generator) -> Array:
    """Draw values of both signs whose magnitudes are spread over many orders."""
    import numpy as np  # noqa: PLC0415 - NumPy is imported while the compiler runs

    exponent = WIDE_EXPONENT[dtype]

    def draw_part(count: int, rng: np.random.Generator) -> Array:
        random = rng.integers(0, 2**32, count, dtype="uint32")
        values = random.astype("float32")
        values *= 2 * exponent / 2**32
        values -= exponent
        np.exp2(values, out=values)
        random <<= 31  # the lowest bit becomes the sign
        values.view("uint32")[...] |= random
        return values

    return _draw_in_parts(draw_part, shape, dtype, rng)


def tiny(shape: tuple[int, ...], dtype: Dtype, rng: np.random.Generator) -> Array:
    """Draw values of both signs near zero, some subnormal, to expose kernels with a threshold."""
    low, high = _TINY_EXPONENTS[dtype]

    def draw_part(count: int, rng: np.random.Generator) -> Array:
        magnitudes: Array = 2.0 ** rng.uniform(low, high, count)
        signed: Array = magnitudes * rng.choice([-1.0, 1.0], count)
        return signed

    return _draw_in_parts(draw_part, shape, dtype, rng)


def zeros(shape: tuple[int, ...], dtype: Dtype, rng: np.random.Generator) -> Array:
    """Draw zeros of both signs, and some ones of both signs."""
    import numpy as np  # noqa: PLC0415 - as above

    table = np.array([-0.0, 0.0, -0.0, 0.0, -0.0, 0.0, -1.0, 1.0], dtype.value)
    return _draw_in_parts(
        lambda count, rng: np.asarray(table[_integers(0, table.size - 1, count, rng)]), shape, dtype, rng
    )


def far(count: int, largest: int, rng: np.random.Generator) -> Array:
    """Draw whole numbers around a center that is far from zero."""
    spread = min(WHOLE, largest // 2)
    center = rng.integers(max(1, (largest - spread) // 2), max(1, largest - spread), endpoint=True)
    values = _integers(-spread, spread, count, rng).astype("float32")
    values += center * rng.choice([-1, 1])
    return values


def ordered(count: int, largest: int, rng: np.random.Generator) -> Array:
    """Draw whole numbers in ascending or descending order."""
    import numpy as np  # noqa: PLC0415 - as above

    largest = min(largest, 100)
    values = np.arange(-largest, largest + 1, dtype="float32")
    counts = rng.multinomial(count, np.full(values.size, 1 / values.size))
    return values[:: rng.choice([-1, 1])].repeat(counts)


def sparse(count: int, largest: int, rng: np.random.Generator) -> Array:
    """Draw zeros, with whole numbers in a few random places, sometimes only in one."""
    import numpy as np  # noqa: PLC0415 - as above

    values = np.zeros(count, "float32")
    places = rng.integers(0, count, _few(count // 8, rng))
    values[places] = rng.integers(1, largest, places.size, endpoint=True) * rng.choice([-1, 1], places.size)
    return values


def outliers(count: int, largest: int, rng: np.random.Generator) -> Array:
    """Draw one whole number for all elements except a few, sometimes except one."""
    import numpy as np  # noqa: PLC0415 - as above

    common = rng.integers(1, largest, endpoint=True) * rng.choice([-1, 1])
    values = np.full(count, common, "float32")
    places = rng.integers(0, count, _few(count // 64, rng))
    others = rng.integers(-largest, largest, places.size, endpoint=True)
    values[places] = np.where(others == common, -common, others)
    return values


def alternating(count: int, largest: int, rng: np.random.Generator) -> Array:
    """Draw whole numbers whose signs alternate, so that neighbors cancel."""
    values = _integers(1, min(largest, 100), count, rng)
    values[rng.integers(2) :: 2] *= -1
    return values.astype("float32")


def steps(count: int, largest: int, rng: np.random.Generator) -> Array:
    """Draw runs of equal whole numbers of random lengths."""
    import numpy as np  # noqa: PLC0415 - as above

    cuts = np.sort(rng.integers(0, count, _log_uniform(min(count, 4096), rng), endpoint=True))
    lengths = np.diff(cuts, prepend=0, append=count)
    return rng.integers(-largest, largest, lengths.size, endpoint=True).astype("float32").repeat(lengths)


def _draw_in_parts(
    draw_part: Callable[[int, np.random.Generator], Array],
    shape: tuple[int, ...],
    dtype: Dtype,
    rng: np.random.Generator,
) -> Array:
    """Draw a tensor with independent elements; draw a large one in parts, each with its own generator."""
    import numpy as np  # noqa: PLC0415 - as above

    count = prod(shape)
    if count < LARGE:
        return draw_part(count, rng).astype(dtype.value, copy=False).reshape(shape)
    values = np.empty(count, dtype.value)
    parts = list(parts_of(count))

    def fill(part: tuple[slice, np.random.Generator]) -> None:
        place, own_rng = part
        values[place] = draw_part(place.stop - place.start, own_rng)

    run_parallel(fill, zip(parts, rng.spawn(len(parts)), strict=True))
    return values.reshape(shape)


def _integers(low: int, high: int, count: int, rng: np.random.Generator) -> Array:
    """Draw integers from `low` to `high`, at most 256 distinct ones, from one random byte each."""
    words = rng.integers(0, 2**64, -(-count // 8), dtype="uint64")
    values: Array = words.view("uint8")[:count].astype("uint16")
    values *= high - low + 1
    values >>= 8
    signed: Array = values.view("int16")
    signed += low
    return signed


def _few(high: int, rng: np.random.Generator) -> int:
    """Draw the number of special places, often so few that only reading every element finds them."""
    return _log_uniform(min(high, 4) if rng.random() < OFTEN else high, rng)


def _log_uniform(high: int, rng: np.random.Generator) -> int:
    """Draw a number from 1 to `high`; each power of two is equally likely."""
    return int(exp(rng.uniform(0.0, log(max(1, high) + 1))))


STYLES: dict[str, Draw] = {
    "normal": normal,
    "whole": whole,
    "positive": positive,
    "equal": equal,
    "wide": wide,
    "tiny": tiny,
    "zeros": zeros,
}

#: Styles of whole numbers whose largest magnitude depends on the length of the sums.
WHOLE_STYLES: dict[str, WholeDraw] = {
    "far": far,
    "sorted": ordered,
    "sparse": sparse,
    "outliers": outliers,
    "alternating": alternating,
    "steps": steps,
}

#: Styles whose structure, and tolerance, a mixture of two sets does not preserve: the sets have different
#: centers or values, or the structure is in the other factor.
STRUCTURED_STYLES = frozenset({"equal", "wide", *WHOLE_STYLES})

#: The longest sum of equal values for which the tolerance covers roundings that all have the same direction.
_LONGEST_EQUAL_SUM = 4096

#: The longest sum of values of one sign: beyond it, sequential float32 sums lose whole terms.
_LONGEST_POSITIVE_SUM = 2**21


def sum_styles(terms: int, dtype: Dtype, *, factors: int = 1) -> tuple[str, ...]:
    """Return the styles for sums of `terms` values, or of products of two `factors`.

    `rounding.sum_of` returns the tolerance of each.
    """
    styles = ["normal", "whole", "wide"]
    if terms <= _LONGEST_EQUAL_SUM:
        styles.append("equal")
    if terms <= _LONGEST_POSITIVE_SUM:
        styles.append("positive")
    if terms * WHOLE ** (factors - 1) <= EXACT_SUM[dtype]:
        styles.extend(WHOLE_STYLES)
    return tuple(styles)


#: The styles for one or two operations per element.
ELEMENTWISE_STYLES = (*STYLES, *WHOLE_STYLES)

#: The styles in which every element has a random sign, and none is subnormal. A branch that depends on the
#: sign costs the same in each of them, so that times are comparable.
RANDOM_SIGN_STYLES = ("normal", "whole", "wide")
