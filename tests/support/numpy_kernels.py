"""Models of kernels in NumPy, with a kernel's precision: honest ones with several orders of summation."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from warmfront.problems.fp8_matmul import code_values

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from warmfront.problems.spec import Case

    Array = np.ndarray[Any, Any]
    Tensors = Mapping[str, Array]
    Total = Callable[[Array, int], Array]
    Model = Callable[[Case, Tensors, Total], Array]

#: Threads of a block that each sum up every 64th term.
LANES = 64


def sequential(terms: Array, axis: int) -> Array:
    """Sum along an axis one after the other in float32, from the end; the axis keeps extent 1."""
    sums: Array = np.flip(terms, axis).cumsum(axis=axis, dtype=np.float32)
    return sums.take([-1], axis=axis)


def tree(terms: Array, axis: int) -> Array:
    """Sum along an axis by adding halves."""
    sums = np.moveaxis(terms.astype(np.float32, copy=False), axis, 0)
    while len(sums) > 1:
        half = (len(sums) + 1) // 2
        rest = sums[half:]
        sums = np.concatenate([sums[: len(rest)] + rest, sums[len(rest) : half]])
    return np.moveaxis(sums, 0, axis)


def strided(terms: Array, axis: int) -> Array:
    """Sum along an axis as a block does: each thread every 64th term, then a tree."""
    moved = np.moveaxis(terms.astype(np.float32, copy=False), axis, 0)
    padding = -len(moved) % LANES
    padded = np.concatenate([moved, np.zeros((padding, *moved.shape[1:]), np.float32)])
    lanes = padded.reshape(-1, LANES, *moved.shape[1:]).cumsum(axis=0, dtype=np.float32)[-1]
    return np.moveaxis(tree(lanes, 0), 0, axis)


#: The orders of summation.
ORDERS: dict[str, Total] = {"sequential": sequential, "tree": tree, "strided": strided}


def softmax(case: Case, tensors: Tensors, total: Total) -> Array:
    """Compute softmax in three passes."""
    x, dim = tensors["input"], case.size("dim")
    weights: Array = np.exp(x - x.max(axis=dim, keepdims=True))
    return weights / total(weights, dim)


def layer_norm(_: Case, tensors: Tensors, total: Total) -> Array:
    """Compute layer normalization in two passes."""
    x = tensors["X"].reshape(len(tensors["X"]), -1)
    n = np.float32(x.shape[1])
    centered = x - total(x, 1) / n
    normal = centered / np.sqrt(total(centered**2, 1) / n + np.float32(1e-5))
    return (normal * tensors["gamma"].ravel() + tensors["beta"].ravel()).reshape(tensors["X"].shape)


def cumsum(_: Case, tensors: Tensors, total: Total) -> Array:
    """Compute the prefix sums one after the other, or in blocks that start from the sums of those before."""
    x = tensors["input"].astype(np.float32)
    if total is sequential:
        return x.cumsum(dtype=np.float32)
    padded = np.concatenate([x, np.zeros(-x.size % LANES**2, np.float32)]).reshape(-1, LANES**2)
    within = padded.cumsum(axis=1, dtype=np.float32)
    before = np.concatenate([[np.float32(0)], within[:-1, -1].cumsum(dtype=np.float32)])
    return np.asarray((within + before[:, None]).reshape(-1)[: x.size])


def matrix_multiplication(_: Case, tensors: Tensors, total: Total) -> Array:
    """Sum up products, which are exact or rounded to float32."""
    a, b = tensors["input_a"].astype(np.float32), tensors["input_b"].astype(np.float32)
    return np.asarray(total(a[:, :, None] * b[None], 1)[:, 0])


def conv_2d(_: Case, tensors: Tensors, total: Total) -> Array:
    """Sum up one product per element of the kernel."""
    (height, width), (rows, columns) = tensors["A"].shape, tensors["B"].shape
    padded = np.pad(tensors["A"], ((rows // 2, rows // 2), (columns // 2, columns // 2)))
    products = [
        tensors["B"][p, q] * padded[p : p + height, q : q + width]
        for p, q in product(range(rows), range(columns))
    ]
    return np.asarray(total(np.stack(products), 0)[0])


def histogram(case: Case, tensors: Tensors, _: Total) -> Array:
    """Count in float32."""
    counts = np.zeros(case.size("num_bins"), "float32")
    np.add.at(counts, tensors["image"].astype(int).ravel(), np.float32(1))
    return counts


def leaky_relu(case: Case, tensors: Tensors, _: Total) -> Array:
    """Multiply negative values in the dtype of the tensor."""
    x = tensors["input"]
    return np.where(x > 0, x, x * x.dtype.type(case.values["alpha"]))


def fp8_matmul(_: Case, tensors: Tensors, total: Total) -> Array:
    """Sum up the products of each block of 128, and add the scaled sums."""
    table = code_values().astype("float32")
    a, b = (table[tensors[name].view("uint8")] for name in ("a", "b"))
    parts = []
    for block in range(tensors["a_scale"].shape[1]):
        at = slice(128 * block, 128 * block + 128)
        part = total(a[:, None, at] * b[None, :, at], 2)[:, :, 0]
        columns = tensors["b_scale"][:, block].repeat(128)[: len(b)]
        parts.append(part * tensors["a_scale"][:, block, None] * columns)
    return np.asarray(total(np.stack(parts), 0)[0])


def attention(_: Case, tensors: Tensors, total: Total) -> Array:
    """Compute the scores, the weights, rounded to float16, and the weighted sum of the values."""
    q, k, v = (tensors[name].astype("float32") for name in ("q", "k", "v"))
    scores = total(q[:, :, None] * k[:, None], 3)[..., 0] / np.float32(np.sqrt(q.shape[2]))
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    rounded = weights.astype("float16").astype("float32")
    return np.asarray(total(rounded[..., None] * v[:, None], 2)[:, :, 0] / total(weights, 2))


#: Honest kernels by slug.
HONEST: dict[str, Model] = {
    "vector-addition": lambda _case, t, _total: t["d_input1"] + t["d_input2"],
    "relu": lambda _case, t, _total: np.maximum(t["input"], 0),
    "leaky-relu": leaky_relu,
    "matrix-multiplication": matrix_multiplication,
    "matrix-vector": lambda _case, t, total: total(t["input_a"] * t["input_b"], 1)[:, 0],
    "softmax": softmax,
    "sum-dim": lambda case, t, total: total(t["input"], case.size("dim")),
    "cumsum": cumsum,
    "histogram": histogram,
    "layer-norm": layer_norm,
    "conv-2d": conv_2d,
    "array-sort": lambda _case, t, _total: np.sort(t["a"][::-1], kind="stable"),
    "fp8-matmul": fp8_matmul,
    "attention": attention,
}
