"""Convert arguments that several commands share, or raise a `UsageError` that names the option."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from warmfront.errors import UnknownDtype, UsageError
from warmfront.problems.spec import Dtype
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from warmfront.problems.spec import Problem

#: The part of `--case` that is not the value of a parameter.
STYLE = "style"


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


def parse_case(text: str) -> dict[str, Any]:
    """Return the case that `--case` describes, such as `n=1000,m=3,style=wide` or `shape=2x3x4,dim=1`."""
    values: dict[str, Any] = {}
    for part in text.split(","):
        name, _, value = (word.strip() for word in part.partition("="))
        if not name or not value or name in values:
            raise UsageError(
                f"--case is {text!r}; {part.strip()!r} is not NAME=VALUE, or repeats a name.",
                hint="Write it as --case n=1000,m=3,style=wide.",
            )
        values[name] = value if name == STYLE else _case_value(name, value, text)
    style = values.pop(STYLE, None)
    return {"values": values, "style": style}


def _case_value(name: str, value: str, text: str) -> int | float | list[int]:
    try:
        if re.fullmatch(r"\d+(x\d+)+", value):
            return [int(extent) for extent in value.split("x")]
        return int(value) if re.fullmatch(r"[+-]?\d{1,18}", value) else float(value)
    except ValueError:
        raise UsageError(
            f"--case is {text!r}; the value of {name} is {value!r}, which is neither a number nor a shape.",
            hint="Write a shape as 2x3x4.",
        ) from None
