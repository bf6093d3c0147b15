"""Convert arguments that several commands share, or raise a `UsageError` that names the option."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.errors import UnknownDtype, UsageError
from warmfront.problems.spec import Dtype
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from warmfront.problems.spec import Problem


def parse_endpoint(name: str, allowed: Iterable[Endpoint] = tuple(Endpoint)) -> Endpoint:
    """Return the endpoint with this name if it is allowed."""
    names = [endpoint.value for endpoint in allowed]
    if name not in names:
        raise UsageError(
            f"There is no endpoint {name!r}.", hint=f"Use --endpoint with one of: {', '.join(names)}."
        )
    return Endpoint(name)


def parse_dtype(name: str | None, problem: Problem) -> Dtype:
    """Return the problem's dtype with this name, or its default dtype if the name is None."""
    if name is None:
        return problem.dtypes[0]
    names = [dtype.value for dtype in problem.dtypes]
    if name not in names:
        raise UnknownDtype(
            f"{problem.slug} has no dtype {name!r}.", hint=f"Use --dtype {' or '.join(names)}."
        )
    return Dtype(name)


def check_receipt_file(path: Path, endpoint: Endpoint) -> None:
    """Reject --receipt before anything runs, if there will be no receipt or it cannot be saved."""
    if endpoint is not Endpoint.SUBMIT:
        raise UsageError(
            f"--receipt requires --endpoint submit; it is {endpoint.value!r}, which creates no receipt.",
            hint="Omit --receipt, or use --endpoint submit.",
        )
    if path.is_dir() or not path.parent.is_dir():
        problem = "a directory" if path.is_dir() else "in a directory that does not exist"
        raise UsageError(f"--receipt is {str(path)!r}, which is {problem}.", hint="Give a file name.")
