"""Kernels of the examples and the corpus, with the facts that their file states about them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from warmfront import problems
from warmfront.problems.spec import Dtype
from warmfront.verdicts import Endpoint

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.hip"))


@dataclass(frozen=True)
class Solution:
    """A kernel, and the facts in its header comment."""

    path: Path
    slug: str  #: or an alias of the problem
    dtype: Dtype
    endpoint: Endpoint
    verdict: str


def read(path: Path) -> Solution:
    """Read a solution from its file. Without a header, its name is that of the problem."""
    header = dict(re.findall(r"^// (problem|dtype|endpoint|verdict): (\S+)$", path.read_text(), re.MULTILINE))
    slug = header.get("problem", path.stem.removesuffix("_half").replace("_", "-"))
    default = "float16" if path.stem.endswith("_half") else problems.get(slug).dtypes[0]
    return Solution(
        path=path,
        slug=slug,
        dtype=Dtype(header.get("dtype", default)),
        endpoint=Endpoint(header.get("endpoint", "checker")),
        verdict=header.get("verdict", "CHECKED"),
    )
