"""Draws an output's error together into a small grid, so that a person sees where a kernel is wrong.

It decides nothing: what is wrong is `compare`'s to say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]

#: Rows and columns at the most: a picture of a few kilobytes, whatever the output's size.
MOST = 32


def error_grid(wrong: Array, difference: Array) -> dict[str, Any]:
    """The share of wrong elements in each cell, row by row, and the largest finite difference there.

    The last dimension runs to the right, all others downward. An output of one dimension is folded into rows.
    Cell `i` of `rows` begins at row `i * height // rows`; likewise for columns.
    """
    height, width = _extents(wrong.shape)
    rows, columns = min(height, MOST), min(width, MOST)
    finite = np.where(np.isfinite(difference), difference, 0.0)
    tops = np.arange(rows) * height // rows
    lefts = np.arange(columns) * width // columns
    counts = _cells(np.add, _folded(wrong, height, width).astype(np.int64), tops, lefts)
    sizes = _cells(np.add, _folded(np.ones(wrong.shape, np.int64), height, width), tops, lefts)
    largest = _cells(np.maximum, _folded(finite, height, width), tops, lefts)
    return {
        "shape": [int(extent) for extent in wrong.shape],
        "height": height,
        "width": width,
        "rows": rows,
        "columns": columns,
        "wrong": [_share(int(count), int(size)) for count, size in zip(counts, sizes, strict=True)],
        "largest": [float(f"{value:.3g}") for value in largest],
    }


def _share(count: int, size: int) -> float | None:
    """Three digits; a single wrong element among millions is not rounded away. None past the last element."""
    if not size:
        return None
    return max(0.001, round(count / size, 3)) if count else 0.0


def _extents(shape: tuple[int, ...]) -> tuple[int, int]:
    size = int(np.prod(shape))
    if len(shape) > 1 and shape[-1] > 1 and size > shape[-1]:
        return size // shape[-1], shape[-1]
    width = min(size, max(MOST, -(-size // MOST)))
    return -(-size // width), width


def _folded(values: Array, height: int, width: int) -> Array:
    """As a matrix; what the last row lacks is zero."""
    flat = values.reshape(-1)
    return np.pad(flat, (0, height * width - flat.size)).reshape(height, width)


def _cells(combine: np.ufunc, values: Array, tops: Array, lefts: Array) -> Array:
    rows: Array = combine.reduceat(values, tops, axis=0)
    cells: Array = combine.reduceat(rows, lefts, axis=1)
    return cells.reshape(-1)
