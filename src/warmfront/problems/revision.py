"""The revision of a problem: a hash of the source that defines it.

Receipts with the same revision and the same release of Warmfront used the same sizes, reference and
tolerances.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmfront.problems.spec import Problem


def revision_of(problem: Problem) -> str:
    """Return the SHA-256 of the problem's Python source, in hexadecimal."""
    source = problem.definition or inspect.getsource(sys.modules[type(problem).__module__])
    return hashlib.sha256(source.encode()).hexdigest()
