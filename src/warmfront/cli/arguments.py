"""Convert arguments that several commands share, or raise a `UsageError` that names the option."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.errors import UnknownDtype, UsageError
from warmfront.problems.spec import Dtype
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from collections.abc import Iterable

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
