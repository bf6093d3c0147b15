"""Reduce the errors of an output to a small grid that shows where a kernel is wrong.

For display only: `output_check` decides which elements are wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]

#: Maximum number of rows and of columns: a few kilobytes, whatever the size of the output.
MAX_CELLS = 32


def error_grid(wrong: Array, difference: Array) -> dict[str, Any]:
    """Return the fraction of wrong elements and the largest finite difference per cell, row by row.

    The last dimension runs to the right, all others downward. A one-dimensional output is folded into rows.
    Cell `i` of `rows` begins at row `i * height // rows`; likewise for columns.
    """
    height, width = _extents(wrong.shape)
    rows, columns = min(height, MAX_CELLS), min(width, MAX_CELLS)
    finite = np.where(np.isfinite(difference), difference, 0.0)
    tops = np.arange(rows) * height // rows
    lefts = np.arange(columns) * width // columns
    counts = _reduce_cells(np.add, _fold(wrong, height, width).astype(np.int64), tops, lefts)
    sizes = _reduce_cells(np.add, _fold(np.ones(wrong.shape, np.int64), height, width), tops, lefts)
    largest = _reduce_cells(np.maximum, _fold(finite, height, width), tops, lefts)
    return {
        "shape": [int(extent) for extent in wrong.shape],
        "height": height,
        "width": width,
        "rows": rows,
        "columns": columns,
        "wrong": [_fraction(int(count), int(size)) for count, size in zip(counts, sizes, strict=True)],
        "largest": [float(f"{value:.3g}") for value in largest],
    }


def _fraction(count: int, size: int) -> float | None:
    """Round to three digits, but never to zero if an element is wrong.

    None for a cell past the last element.
    """
    if not size:
        return None
    return max(0.001, round(count / size, 3)) if count else 0.0


def _extents(shape: tuple[int, ...]) -> tuple[int, int]:
    size = int(np.prod(shape))
    if len(shape) > 1 and shape[-1] > 1 and size > shape[-1]:
        return size // shape[-1], shape[-1]
    width = min(size, max(MAX_CELLS, -(-size // MAX_CELLS)))
    return -(-size // width), width


def _fold(values: Array, height: int, width: int) -> Array:
    """Reshape to a matrix; the last row is padded with zeros."""
    flat = values.reshape(-1)
    return np.pad(flat, (0, height * width - flat.size)).reshape(height, width)


def _reduce_cells(combine: np.ufunc, values: Array, tops: Array, lefts: Array) -> Array:
    rows: Array = combine.reduceat(values, tops, axis=0)
    cells: Array = combine.reduceat(rows, lefts, axis=1)
    return cells.reshape(-1)
