"""Convolution of an image: adjacent outputs share inputs, and the borders need care."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from warmfront.problems import draws, rounding
from warmfront.problems.ranges import Sizes
from warmfront.problems.spec import Case, Difficulty, Dtype, Problem, Scale, size, tensor_in, tensor_out

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from warmfront.problems.ranges import Range
    from warmfront.problems.spec import Tensors, Tolerance


class Conv2d(Problem):
    """Convolve an image with a small kernel."""

    slug = "conv-2d"
    title = "2D convolution"
    difficulty = Difficulty.MEDIUM
    tags = ("stencil", "shared-memory", "constant-memory")
    aliases = ("conv2d",)
    signature = (
        tensor_in("A"),
        tensor_in("B"),
        tensor_out("C"),
        size("H"),
        size("W"),
        size("Kh"),
        size("Kw"),
    )
    statement = r"""
Convolve an image $A$ with a kernel $B$. Outside its borders the image is zero:

$$C_{ij} = \sum_{p=0}^{K_h - 1} \sum_{q=0}^{K_w - 1}
A_{i + p - \lfloor K_h / 2 \rfloor,\; j + q - \lfloor K_w / 2 \rfloor} \, B_{pq}$$

As in neural networks, the kernel is not flipped (this is a cross-correlation).

**Arguments**

- `A`: the image, row-major, `H * W` values
- `B`: the kernel, row-major, `Kh * Kw` values
- `C`: output, `H * W` values
- `H`, `W`: the extents of the image
- `Kh`, `Kw`: the extents of the kernel

**Constraints**

- $H, W \ge 1$ are any numbers.
- $K_h$ and $K_w$ are odd, at most 31, not always equal, and may be larger than the image.
"""

    def cases(self, scale: Scale) -> Sequence[Case]:
        """Return cases with thin, wide and large kernels, and kernels larger than the image."""
        return [
            _case((1, 1), (1, 1), "one product"),
            _case((1, 1), (3, 3), "all but the center outside"),
            _case((5, 4), (11, 7), "a kernel larger than the image"),
            _case((7, 257), (1, 9), "a flat kernel, just over a block"),
            _case((257, 3), (9, 1), "a tall kernel"),
            _case((17, 33), (3, 3), "one over a tile each way"),
            _case((31, 37), (3, 7), "all prime, wider than high"),
            _case((41, 29), (5, 3), "all prime, whole numbers", draw="whole", note="a lost or doubled term"),
            _case((33, 65), (5, 5), "all equal", draw="equal", note="only the edges differ"),
            _case((61, 67), (31, 31), "as large as a kernel gets"),
            *(_GPU_SIZED if scale is Scale.GPU else _CPU_SIZED),
        ]

    def ranges(self, scale: Scale) -> Mapping[str, Range]:
        """Return images of any extents and kernels of odd extents."""
        image, kernel = Sizes(1, 4200 if scale is Scale.GPU else 512), Sizes(1, 31, step=2)
        return {"H": image, "W": image, "Kh": kernel, "Kw": kernel}

    def styles(self, case: Case, dtype: Dtype) -> Sequence[str]:
        """Return the styles for sums of one product per element of the kernel."""
        return draws.sum_styles(case.size("Kh") * case.size("Kw"), dtype, factors=2)

    def inputs(self, case: Case, dtype: Dtype, rng: np.random.Generator) -> Tensors:
        """Draw the image and the kernel."""
        shapes = (case.size("H"), case.size("W")), (case.size("Kh"), case.size("Kw"))
        image, kernel = draws.draw_factors(case.draw, shapes, dtype, rng, terms=prod(shapes[1]))
        return {"A": image, "B": kernel}

    def output_shapes(self, case: Case) -> Mapping[str, tuple[int, ...]]:
        """Return the shape of the image."""
        return {"C": (case.size("H"), case.size("W"))}

    def reference(self, case: Case, inputs: Tensors) -> Tensors:
        """Correlate the flattened padded image with each row of the kernel, in float64."""
        import numpy as np  # noqa: PLC0415 - NumPy is imported while the compiler runs

        height, width = inputs["A"].shape
        rows, columns = case.size("Kh"), case.size("Kw")
        padded = np.pad(inputs["A"].astype("float64"), ((rows // 2,) * 2, (columns // 2,) * 2))
        stride = padded.shape[1]
        line, total = padded.ravel(), np.zeros(height * stride)
        for row, weights in enumerate(inputs["B"].astype("float64")):
            sums = np.correlate(line[row * stride : (row + height) * stride], weights)
            total[: sums.size] += sums
        # Positions that reach from the end of one row into the next are not pixels.
        return {"C": total.reshape(height, stride)[:, :width]}

    def tolerance(self, case: Case, dtype: Dtype) -> Tolerance:
        """Return the tolerance for sums of one product per element of the kernel."""
        return rounding.sum_of(case.draw, case.size("Kh") * case.size("Kw"), dtype)

    def flops(self, case: Case) -> int:
        """Count a product and an addition per pair of pixel and kernel element inside the image."""
        rows = _pairs_inside(case.size("H"), case.size("Kh"))
        return 2 * rows * _pairs_inside(case.size("W"), case.size("Kw"))

    def bytes_moved(self, case: Case, dtype: Dtype) -> int:
        """Count the image read, the output written and the kernel read."""
        return (2 * case.size("H") * case.size("W") + case.size("Kh") * case.size("Kw")) * dtype.size


def _pairs_inside(extent: int, taps: int) -> int:
    """Return the number of (position, tap) pairs along one axis that are inside the image."""
    return sum(max(0, extent - abs(tap - taps // 2)) for tap in range(taps))


def _case(
    image: tuple[int, int],
    kernel: tuple[int, int],
    what: str,
    *,
    draw: str = "normal",
    benchmark: bool = False,
    note: str = "",
) -> Case:
    (height, width), (rows, columns) = image, kernel
    return Case(
        name=f"{height}x{width} image, {rows}x{columns} kernel, {what}",
        values={"H": height, "W": width, "Kh": rows, "Kw": columns},
        draw=draw,
        benchmark=benchmark,
        note=note,
    )


_CPU_SIZED = (
    _case((211, 223), (5, 7), "larger, prime"),
    _case((256, 384), (7, 7), "whole tiles", benchmark=True),
)

_GPU_SIZED = (
    _case((1021, 1031), (31, 29), "large, prime"),
    _case((2048, 2048), (7, 7), "16 MiB", benchmark=True),
    _case((4095, 4097), (3, 3), "64 MiB", benchmark=True),
)
