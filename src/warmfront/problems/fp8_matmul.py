"""Matrix multiplication of fp8 codes with block scales: the highest rate of the matrix cores."""

from __future__ import annotations

import functools
from math import erf, sqrt
from typing import TYPE_CHECKING, Any

from warmfront.problems import rounding
from warmfront.problems.ranges import Sizes
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

#: Codes in a 32-bit word, and words and columns that share a scale.
_PER_WORD, _SCALE_WORDS, _SCALE_COLUMNS = 4, 32, 128

#: Number of codes, of 256, that are not zero in the style `sparse`.
_KEPT_OF_256 = 32

#: The only code of NaN.
_NAN = 0x80

#: Above this many multiplications, float64 on the host is too slow.
_FLOAT64_LIMIT = 2**33


class Fp8Matmul(Problem):
    """Multiply two matrices of 8-bit floating-point numbers with a scale per block."""

    slug = "fp8-matmul"
    title = "fp8 matrix multiplication"
    difficulty = Difficulty.HARD
    tags = ("linear-algebra", "matrix-cores", "quantization", "compute-bound")
    aliases = ("fp8-mm",)
    arithmetic = "float8"
    signature = (
        tensor_in("a", Dtype.INT32),
        tensor_in("b", Dtype.INT32),
        tensor_in("a_scale"),
        tensor_in("b_scale"),
        tensor_out("c"),
        size("m"),
        size("n"),
        size("words"),
    )
    statement = r"""
Multiply an $m \times k$ matrix $A$ by the transpose of an $n \times k$ matrix $B$, both of 8-bit
floating-point numbers, with $k = 4 \cdot$ `words`. Blocks of 128 along $k$ have scales $s$ (of $A$) and $t$
(of $B$):

$$C_{ij} = \sum_{l=0}^{k-1} s_{i, \lfloor l/128 \rfloor} \,
t_{\lfloor j/128 \rfloor, \lfloor l/128 \rfloor} \, A_{il} B_{jl}$$

The numbers are those of the MI300X, `__hip_fp8_e4m3_fnuz`: a sign, 4 bits of exponent with bias 8, and 3 of
mantissa. A word has four of them, the first in its lowest byte, so that `a` is an array of `m * k` bytes.

**Arguments**

- `a`: $A$, row-major, `m * words` words
- `b`: $B$, row-major, `n * words` words: a row of it is a column of the product
- `a_scale`: $s$, row-major, `m` rows of $\lceil k / 128 \rceil$
- `b_scale`: $t$, row-major, $\lceil n / 128 \rceil$ rows of $\lceil k / 128 \rceil$
- `c`: output, $C$, row-major, `m * n` values
- `m`, `n`, `words`: the extents, any numbers from 1

**Constraints**

- No code is NaN (0x80).
- Sum in float32: products of two codes are exact there.
"""

    def cases(self, scale: Scale) -> Sequence[Case]:
        """Return one word, partial tiles and blocks, and extents that all differ."""
        return [
            _case(1, 1, 1, "four products"),
            _case(1, 257, 7, "one row, just over a block"),
            _case(67, 1, 33, "one column, just over a block of scales"),
            _case(17, 33, 8, "one over a tile each way"),
            _case(16, 16, 16, "one tile"),
            _case(31, 129, 65, "a second row of scales", note="the scale of column 128"),
            _case(23, 41, 59, "all prime, whole numbers", draw="whole", note="a lost or doubled term"),
            _case(5, 7, 257, "a long sum"),
            *(_GPU_SIZED if scale is Scale.GPU else _CPU_SIZED),
        ]

    def ranges(self, scale: Scale) -> Mapping[str, Range]:
        """Return extents up to the largest timed ones."""
        on_gpu = scale is Scale.GPU
        extents = Sizes(1, 4200 if on_gpu else 200)
        return {"m": extents, "n": extents, "words": Sizes(1, 1100 if on_gpu else 70)}

    def styles(self, case: Case, dtype: Dtype) -> Sequence[str]:  # noqa: ARG002 - the same for all sizes
        """Return the styles of codes."""
        return ("normal", "whole", "positive", "sparse")

    def inputs(self, case: Case, dtype: Dtype, rng: np.random.Generator) -> Tensors:
        """Draw codes and scales; the scales of whole numbers are powers of two, so that sums are exact."""
        m, n, words = _extents(case)
        shapes = {"a_scale": (m, _blocks(words)), "b_scale": (_rows(n), _blocks(words))}
        scales = {name: _draw_scales(case.draw, shape, dtype, rng) for name, shape in shapes.items()}
        # Nearly all products of two sparse matrices are zero.
        other = "whole" if case.draw == "sparse" else case.draw
        return {
            "a": _draw_codes(case.draw, (m, words * _PER_WORD), rng),
            "b": _draw_codes(other, (n, words * _PER_WORD), rng),
            **scales,
        }

    def output_shapes(self, case: Case) -> Mapping[str, tuple[int, ...]]:
        """Return the rows of A and the rows of B."""
        m, n, _ = _extents(case)
        return {"c": (m, n)}

    def reference(self, case: Case, inputs: Tensors) -> Tensors:
        """Compute in float64, or for large products add up blocks of float32 in float64."""
        import numpy as np  # noqa: PLC0415 - NumPy is imported while the compiler runs

        m, n, words = _extents(case)
        precision = "float64" if m * n * words * _PER_WORD <= _FLOAT64_LIMIT else "float32"
        table = code_values().astype(precision)
        a, b = (table[inputs[name].view("uint8")] for name in ("a", "b"))
        total = np.zeros((m, n))
        length = _PER_WORD * _SCALE_WORDS
        for block in range(_blocks(words)):
            part = slice(block * length, (block + 1) * length)
            columns = inputs["b_scale"][:, block].astype("float64").repeat(_SCALE_COLUMNS)[:n]
            rows = inputs["a_scale"][:, block].astype("float64")
            total += (a[:, part] @ b[:, part].T) * rows[:, None] * columns
        return {"c": total}

    def tolerance(self, case: Case, dtype: Dtype) -> Tolerance:
        """Return the tolerance for sums of products, each with two scales."""
        terms = case.size("words") * _PER_WORD
        if case.draw in {"whole", "sparse"}:
            return rounding.whole_numbers(dtype)
        unscaled = rounding.sum_of("normal", terms, dtype)
        # Two scales of at most 1.5; for positive terms, the root mean square of 1.04, squared.
        return Tolerance(
            rtol=16 * rounding.UNIT[dtype]
            + (unscaled.rtol if case.draw == "normal" else terms * rounding.UNIT[dtype]),
            atol=4 * unscaled.atol,
            why=f"a float32 sum of {terms} terms in any order, with two scales of up to 1.5 each",
        )

    def flops(self, case: Case) -> int:
        """Count a product and an addition per term."""
        m, n, words = _extents(case)
        return 2 * m * n * words * _PER_WORD

    def bytes_moved(self, case: Case, dtype: Dtype) -> int:
        """Count codes and scales read, and the output written."""
        m, n, words = _extents(case)
        scales = (m + _rows(n)) * _blocks(words)
        return (m + n) * words * Dtype.INT32.size + (scales + m * n) * dtype.size


def code_values() -> Array:
    """Return the values of the 256 codes of e4m3 fnuz; the value of the NaN code is NaN."""
    import numpy as np  # noqa: PLC0415 - as above

    codes = np.arange(256)
    exponent, mantissa = codes >> 3 & 15, codes & 7
    significand = mantissa / 8 + (exponent > 0)
    values: Array = np.where(codes & 0x80, -1.0, 1.0) * significand * 2.0 ** (np.maximum(exponent, 1) - 8)
    values[_NAN] = np.nan
    return values


def _draw_codes(style: str, shape: tuple[int, int], rng: np.random.Generator) -> Array:
    """Draw the codes of values in a style, four per word."""
    import numpy as np  # noqa: PLC0415 - as above

    table = _quantile_codes("whole" if style == "sparse" else style)
    codes = table[np.frombuffer(rng.bytes(2 * shape[0] * shape[1]), "<u2")].reshape(shape)
    if style == "sparse":
        codes *= np.frombuffer(rng.bytes(codes.size), "uint8").reshape(shape) < _KEPT_OF_256
    words: Array = codes.view("int32")
    return words


@functools.cache
def _quantile_codes(style: str) -> Array:
    """Return the nearest codes of 65536 quantiles of a style; rounding every value would take seconds."""
    import numpy as np  # noqa: PLC0415 - as above

    shares = (np.arange(2**16) + 0.5) / 2**16
    if style == "whole":
        values: Array = np.floor(9 * shares) - 4
    elif style == "positive":
        values = shares + 0.5
    else:
        # The quantiles of the normal distribution, between points of its distribution function.
        points = np.linspace(-5, 5, 2001)
        values = np.interp(shares, [(1 + erf(point / sqrt(2))) / 2 for point in points], points).clip(-4, 4)
    table = code_values()
    order = np.argsort(np.where(np.isnan(table), np.inf, table), kind="stable")[:255]
    middles = (table[order][1:] + table[order][:-1]) / 2
    codes: Array = order[np.searchsorted(middles, values)].astype("uint8")
    return codes


def _draw_scales(style: str, shape: tuple[int, int], dtype: Dtype, rng: np.random.Generator) -> Array:
    drawn = (
        2.0 ** rng.integers(-1, 1, shape, endpoint=True)
        if style in {"whole", "sparse"}
        else rng.uniform(0.5, 1.5, shape)
    )
    scales: Array = drawn.astype(dtype.value)
    return scales


def _blocks(words: int) -> int:
    return -(-words // _SCALE_WORDS)


def _rows(n: int) -> int:
    return -(-n // _SCALE_COLUMNS)


def _extents(case: Case) -> tuple[int, int, int]:
    return case.size("m"), case.size("n"), case.size("words")


def _case(
    m: int, n: int, words: int, what: str, *, draw: str = "normal", benchmark: bool = False, note: str = ""
) -> Case:
    return Case(
        name=f"m = {m}, n = {n}, k = {words * _PER_WORD}, {what}",
        values={"m": m, "n": n, "words": words},
        draw=draw,
        benchmark=benchmark,
        note=note,
    )


_CPU_SIZED = (
    _case(97, 131, 37, "larger, all prime"),
    _case(128, 160, 64, "whole tiles", benchmark=True),
)

_GPU_SIZED = (
    _case(1021, 1031, 131, "large, all prime", draw="whole"),
    _case(1024, 1536, 1024, "a wide product", benchmark=True),
    _case(4096, 4096, 1024, "16 MiB per matrix", benchmark=True),
)
