"""Two small problems that the corpus solves, and how a kernel of it says what is wrong with it."""

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
ROOT = HERE.parents[1]

CHUNK = 256


class Copy(Problem):
    """Every element as it is: the least that a kernel can be asked for."""

    slug = "copy"
    title = "Copy"
    difficulty = Difficulty.EASY
    tags = ()
    signature = (tensor_in("input"), tensor_out("output"), size("n"))
    statement = "output = input"

    def cases(self, scale: Scale) -> Sequence[Case]:  # noqa: ARG002 - small for any machine
        """A part of a block, and some blocks with a tail."""
        return [Case(name=f"n = {n}", values={"n": n}) for n in (37, 1000)]

    def inputs(self, case: Case, dtype: Dtype, rng: np.random.Generator) -> Tensors:
        """Normal values."""
        return {"input": rng.standard_normal(case.size("n")).astype(dtype.value)}

    def output_shapes(self, case: Case) -> Mapping[str, tuple[int, ...]]:
        """As the input."""
        return {"output": (case.size("n"),)}

    def reference(self, case: Case, inputs: Tensors) -> Tensors:  # noqa: ARG002 - the input says it all
        """The input."""
        return {"output": inputs["input"].astype("float64")}

    def tolerance(self, case: Case, dtype: Dtype) -> Tolerance:  # noqa: ARG002 - the same for all sizes
        """Next to nothing."""
        return rounding.elementwise(dtype)

    def flops(self, case: Case) -> int:  # noqa: ARG002 - it computes nothing
        """None."""
        return 0

    def bytes_moved(self, case: Case, dtype: Dtype) -> int:
        """Every element read and written."""
        return 2 * case.size("n") * dtype.size


class Sums(Copy):
    """The sum of every 256 elements."""

    slug = "sums"
    statement = "output[i] = input[256 i] + ... + input[256 i + 255]"

    def output_shapes(self, case: Case) -> Mapping[str, tuple[int, ...]]:
        """One for each chunk."""
        return {"output": (-(-case.size("n") // CHUNK),)}

    def reference(self, case: Case, inputs: Tensors) -> Tensors:
        """By NumPy."""
        chunks = range(0, case.size("n"), CHUNK)
        values = inputs["input"].astype("float64")
        return {"output": np.array([values[at : at + CHUNK].sum() for at in chunks])}

    def tolerance(self, case: Case, dtype: Dtype) -> Tolerance:  # noqa: ARG002 - the same for all sizes
        """What the order of a sum may change."""
        return Tolerance(rtol=1e-4, atol=1e-4, why="sums in any order")


_OWN = {problem.slug: problem for problem in (Copy(), Sums())}


@dataclass(frozen=True, kw_only=True)
class Specimen:
    """A kernel, and what its comments say of it."""

    path: Path
    source: str
    problem: Problem
    dtype: Dtype
    finds: str  #: the kind of the planted bug; empty where there is none
    lines: frozenset[int]  #: marked as where it is


def read(path: Path) -> Specimen:
    """A kernel of the corpus, or one of the examples, whose name says which problem it solves."""
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
    """Every kernel with a planted bug."""
    return [read(path) for path in sorted((HERE / "faulty").glob("*.hip"))]


def correct() -> list[Specimen]:
    """Every kernel with none: those of the corpus, the examples, and the ported ones."""
    folders = (HERE / "correct", ROOT / "examples", ROOT / "tests/corpus/solutions/ported")
    return [read(path) for folder in folders for path in sorted(folder.glob("*.hip"))]
