"""A model of gfx950's matrix instructions with scales, from their definition: which lane has which element.

The formats are those of PyPI's `ml_dtypes`. The layout of fp8 and of the scales is the one that AMD's tests
of Composable Kernel print for the hardware, in the direction from the element to the lane.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from tests.support.matrix_model import LANES

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The formats by their codes in the instruction, and their bits.
FORMATS: tuple[tuple[Any, int], ...] = (
    (ml_dtypes.float8_e4m3fn, 8),
    (ml_dtypes.float8_e5m2, 8),
    (ml_dtypes.float6_e2m3fn, 6),
    (ml_dtypes.float6_e3m2fn, 6),
    (ml_dtypes.float4_e2m1fn, 4),
)
ITEMS = 32
OPERAND_BYTES = 32


def decode(format_code: int, codes: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the values of codes."""
    values: NDArray[np.float64] = codes.view(FORMATS[format_code][0]).astype(np.float64)
    return values


def encode_lane(format_code: int, codes: NDArray[np.uint8]) -> bytes:
    """Return the 32 bytes of a lane: its codes as consecutive bits, from the lowest on."""
    bits = FORMATS[format_code][1]
    word = sum(int(code) << bits * item for item, code in enumerate(codes))
    return word.to_bytes(OPERAND_BYTES, "little")


def place(rows: int, format_code: int, row: int, k: int) -> tuple[int, int]:
    """Return the lane and the item of A[row][k], or of B[k][row]."""
    depth = 2048 // rows
    if FORMATS[format_code][1] == 8:
        half, within = divmod(k, depth // 2)
        return row + rows * (within // 16), 16 * half + within % 16
    return row + rows * (k // ITEMS), k % ITEMS


def gather(rows: int, format_code: int, codes: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return A, or B transposed, of the codes of all lanes."""
    values = decode(format_code, codes)
    depth = 2048 // rows
    return np.array([[values[place(rows, format_code, i, k)] for k in range(depth)] for i in range(rows)])


def scales_of(rows: int, words: NDArray[np.uint32], select: int) -> NDArray[np.float64]:
    """Return the scale of every element: one byte of a lane's word for 32 elements of its row."""
    codes = (words >> np.uint32(8 * select)).astype(np.uint8)
    values = codes.view(ml_dtypes.float8_e8m0fnu).astype(np.float64)
    depth = 2048 // rows
    return np.array([[values[i + rows * (k // ITEMS)] for k in range(depth)] for i in range(rows)])


def result_place(rows: int, i: int, j: int) -> tuple[int, int]:
    """Return the lane and the item of D[i][j]."""
    if rows == 32:
        return 32 * (i // 4 % 2) + j, 4 * (i // 8) + i % 4
    return 16 * (i // 4) + j, i % 4


def scatter(rows: int, d: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return D by lane and item."""
    results = np.full((LANES, rows * rows // LANES), np.nan)
    for i in range(rows):
        for j in range(rows):
            results[result_place(rows, i, j)] = d[i, j]
    return results
