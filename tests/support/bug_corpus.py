"""The corpus of the bug finder: its two small problems, and the annotations in its kernels."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from warmfront import problems
from warmfront.problems import rounding
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

    from warmfront.problems.spec import Tensors

HERE = Path(__file__).parents[1] / "corpus" / "bugs"
ROOT = HERE.parents[2]

CHUNK = 256


class Copy(Problem):
    """Copy every element: the simplest possible problem."""

    slug = "copy"
    title = "Copy"
    difficulty = Difficulty.EASY
    tags = ()
    signature = (tensor_in("input"), tensor_out("output"), size("n"))
    statement = "output = input"

    def cases(self, scale: Scale) -> Sequence[Case]:  # noqa: ARG002 - small for any machine
        """Return a case of less than a block, and one of several blocks with a partial one."""
        return [Case(name=f"n = {n}", values={"n": n}) for n in (37, 1000)]

    def inputs(self, case: Case, dtype: Dtype, rng: np.random.Generator) -> Tensors:
        """Return normally distributed values."""
        return {"input": rng.standard_normal(case.size("n")).astype(dtype.value)}

    def output_shapes(self, case: Case) -> Mapping[str, tuple[int, ...]]:
        """Return the shape of the input."""
        return {"output": (case.size("n"),)}

    def reference(self, case: Case, inputs: Tensors) -> Tensors:  # noqa: ARG002 - the output is the input
        """Return the input."""
        return {"output": inputs["input"].astype("float64")}

    def tolerance(self, case: Case, dtype: Dtype) -> Tolerance:  # noqa: ARG002 - the same for all sizes
        """Return a very small tolerance."""
        return rounding.elementwise(dtype)

    def flops(self, case: Case) -> int:  # noqa: ARG002 - it computes nothing
        """Return 0."""
        return 0

    def bytes_moved(self, case: Case, dtype: Dtype) -> int:
        """Return the bytes of reading and writing every element."""
        return 2 * case.size("n") * dtype.size


class Sums(Copy):
    """Sum every 256 elements."""

    slug = "sums"
    statement = "output[i] = input[256 i] + ... + input[256 i + 255]"

    def output_shapes(self, case: Case) -> Mapping[str, tuple[int, ...]]:
        """Return one element per chunk."""
        return {"output": (-(-case.size("n") // CHUNK),)}

    def reference(self, case: Case, inputs: Tensors) -> Tensors:
        """Return the sums, computed with NumPy."""
        chunks = range(0, case.size("n"), CHUNK)
        values = inputs["input"].astype("float64")
        return {"output": np.array([values[at : at + CHUNK].sum() for at in chunks])}

    def tolerance(self, case: Case, dtype: Dtype) -> Tolerance:  # noqa: ARG002 - the same for all sizes
        """Return a tolerance for the order of the additions."""
        return Tolerance(rtol=1e-4, atol=1e-4, why="sums in any order")


_OWN = {problem.slug: problem for problem in (Copy(), Sums())}


@dataclass(frozen=True, kw_only=True)
class Specimen:
    """A kernel, and the annotations in its comments."""

    path: Path
    source: str
    problem: Problem
    dtype: Dtype
    finds: str  #: the kind of the planted bug; empty if there is none
    lines: frozenset[int]  #: the lines that are marked as the bug


def read(path: Path) -> Specimen:
    """Return a kernel of the corpus, or an example, whose file name is that of its problem."""
    source = path.read_text()
    header = dict(re.findall(r"^// (problem|dtype|finds): (\S+)$", source, re.MULTILINE))
    slug = header.get("problem", path.stem.removesuffix("_half").replace("_", "-"))
    problem = _OWN.get(slug) or problems.get(slug)
    dtype = header.get("dtype", "float16" if path.stem.endswith("_half") else problem.dtypes[0])
    marked = {n for n, line in enumerate(source.splitlines(), 1) if line.endswith("// <-- here")}
    return Specimen(
        path=path,
        source=source,
        problem=problem,
        dtype=Dtype(dtype),
        finds=header.get("finds", ""),
        lines=frozenset(marked),
    )


def faulty() -> list[Specimen]:
    """Return every kernel with a planted bug."""
    return [read(path) for path in sorted((HERE / "faulty").glob("*.hip"))]


def correct() -> list[Specimen]:
    """Return every correct kernel: those of the corpus, the examples, and the ported ones."""
    folders = (HERE / "correct", ROOT / "examples", ROOT / "tests/corpus/solutions/ported")
    return [read(path) for folder in folders for path in sorted(folder.glob("*.hip"))]
