"""Histogram: many threads increment few counters, so contention of atomics decides the speed."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from warmfront.problems import rounding
from warmfront.problems.ranges import Sizes
from warmfront.problems.spec import (
    Case,
    Difficulty,
    Dtype,
    Problem,
    Scale,
    scalar,
    size,
    tensor_in,
    tensor_out,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from warmfront.problems.ranges import Range
    from warmfront.problems.spec import Tensors, Tolerance

    Array = np.ndarray[Any, Any]

#: A float represents every integer up to this one.
_LARGEST_COUNT = 2**24

#: Styles in which one bin can have most of the pixels.
_HEAVY_STYLES = ("uneven", "lumpy", "last", "equal", "outliers", "sorted")


class Histogram(Problem):
    """Count how often each value occurs in an image."""

    slug = "histogram"
    title = "Histogram"
    difficulty = Difficulty.MEDIUM
    tags = ("atomics", "shared-memory")
    signature = (
        tensor_in("image"),
        scalar("int", "num_bins"),
        tensor_out("histogram"),
        size("height"),
        size("width"),
    )
    statement = r"""
Count how often each value occurs in an image $I$ of integers:

$$h_b = \left|\{(y, x) : I_{yx} = b\}\right|, \qquad 0 \le b < \text{num\_bins}$$

**Arguments**

- `image`: $I$, row-major, `height * width` floats, each an integer in `[0, num_bins)`
- `num_bins`: the number of possible values
- `histogram`: output, $h$, `num_bins` floats. It is not initialized to zero.
- `height`, `width`: the extents of the image

**Constraints**

- $1 \le$ `num_bins` $\le 1024$: the counts of a block fit into shared memory.
- No count exceeds $2^{24}$, so a float represents every count exactly.
"""

    def cases(self, scale: Scale) -> Sequence[Case]:
        """Return cases with few and many bins, evenly and unevenly used."""
        return [
            _case(1, 1, 1, "one pixel, one bin"),
            _case(1, 1, 16, "one pixel", note="empty bins must be zero"),
            _case(5, 7, 1021, "more bins than pixels"),
            _case(1, 257, 256, "just over a block"),
            _case(17, 19, 10, "all odd"),
            _case(25, 41, 1, "a single bin, just over a large block"),
            _case(31, 37, 64, "all pixels in the last bin", draw="last", note="the most contention"),
            _case(101, 103, 7, "uneven", draw="uneven"),
            _case(127, 131, 1024, "as many bins as there can be"),
            *(_GPU_SIZED if scale is Scale.GPU else _CPU_SIZED),
        ]

    def ranges(self, scale: Scale) -> Mapping[str, Range]:
        """Return images with few and many bins; no bin can have more than 2^24 of 4096x4096 pixels."""
        extents = Sizes(1, 4096 if scale is Scale.GPU else 1100)
        return {"num_bins": Sizes(1, 1024), "height": extents, "width": extents}

    def styles(self, case: Case, dtype: Dtype) -> Sequence[str]:  # noqa: ARG002 - the same for all dtypes
        """Return the styles in which no count exceeds 2^24."""
        is_countable = case.size("height") * case.size("width") <= _LARGEST_COUNT
        return ("uniform", "tilted", *(_HEAVY_STYLES if is_countable else ()))

    def timed_styles(self, case: Case, dtype: Dtype) -> Sequence[str]:  # noqa: ARG002 - the same for all dtypes
        """Return the styles with the same contention as the case, which differ only in their bins."""
        return {"uniform": ("uniform", "tilted"), "uneven": ("uneven", "lumpy")}.get(case.draw, (case.draw,))

    def inputs(self, case: Case, dtype: Dtype, rng: np.random.Generator) -> Tensors:
        """Draw pixels in the style of the case."""
        extents = case.size("height"), case.size("width")
        pixels = _draw(case.draw, extents, case.size("num_bins"), rng)
        return {"image": pixels.astype(dtype.value)}

    def output_shapes(self, case: Case) -> Mapping[str, tuple[int, ...]]:
        """Return one count per bin."""
        return {"histogram": (case.size("num_bins"),)}

    def reference(self, case: Case, inputs: Tensors) -> Tensors:
        """Count in integers."""
        import numpy as np  # noqa: PLC0415 - NumPy is imported while the compiler runs

        pixels = inputs["image"].astype("int32").ravel()
        return {"histogram": np.bincount(pixels, minlength=case.size("num_bins")).astype("float64")}

    def tolerance(self, case: Case, dtype: Dtype) -> Tolerance:  # noqa: ARG002 - the same for all sizes
        """Return an exact comparison."""
        return rounding.exact("counts are integers up to 2^24, which float32 represents exactly")

    def flops(self, case: Case) -> int:  # noqa: ARG002 - 0 for all sizes
        """Return 0, because counting needs no floating-point operations."""
        return 0

    def bytes_moved(self, case: Case, dtype: Dtype) -> int:
        """Count every pixel read and every count written."""
        return (case.size("height") * case.size("width") + case.size("num_bins")) * dtype.size


def _draw(style: str, extents: tuple[int, int], bins: int, rng: np.random.Generator) -> Array:
    """Draw integers. The style determines how often bins occur, and the seed which bins."""
    if style == "last":
        return rng.integers(bins - 1, bins, extents, dtype="int32")
    if style == "equal":
        return rng.integers(0, bins, (1, 1), dtype="int32").repeat(prod(extents)).reshape(extents)
    if style == "outliers":
        pixels = _draw("equal", extents, bins, rng)
        places = rng.integers(0, pixels.size, max(1, pixels.size // 1000))
        pixels.reshape(-1)[places] = rng.integers(0, bins, places.size)
        return pixels
    if style in {"uneven", "lumpy"}:
        pixels = (rng.random(extents, dtype="float32") ** 3 * bins).astype("int32").clip(max=bins - 1)
        return rng.permutation(bins).astype("int32")[pixels] if style == "lumpy" else pixels
    pixels = rng.integers(0, bins, extents, dtype="int32")
    if style == "tilted":
        # One pixel in four is in a random half of the bins.
        favored = rng.permutation(bins)[: (bins + 1) // 2].astype("int32")
        pixels.reshape(-1)[::4] = favored[pixels.reshape(-1)[::4] // 2]
    if style == "sorted":
        pixels.reshape(-1).sort()
    return pixels


def _case(
    height: int,
    width: int,
    bins: int,
    what: str,
    *,
    draw: str = "uniform",
    benchmark: bool = False,
    note: str = "",
) -> Case:
    return Case(
        name=f"{height}x{width}, {bins} bins, {what}",
        values={"num_bins": bins, "height": height, "width": width},
        draw=draw,
        benchmark=benchmark,
        note=note,
    )


_CPU_SIZED = (
    _case(509, 1021, 256, "large", benchmark=True),
    _case(512, 512, 16, "uneven, few bins", draw="uneven", benchmark=True),
)

_GPU_SIZED = (
    _case(4096, 4096, 64, "2^24 pixels in one bin", draw="last"),
    _case(8192, 4096, 1024, "128 MiB", benchmark=True),
    _case(8191, 8209, 256, "256 MiB, uneven", draw="uneven", benchmark=True),
)
