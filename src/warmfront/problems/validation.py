"""Validation of problems: signature, names, and the cases with their values.

It checks declarations only; it draws no inputs and computes no reference.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from warmfront.errors import BadProblemFile
from warmfront.problems.spec import Kind, Scale

if TYPE_CHECKING:
    from warmfront.problems.spec import Case, Parameter, Problem

_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_C_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_REQUIRED = ("slug", "title", "difficulty", "tags", "signature", "statement")
_BY_VALUE = (Kind.SCALAR, Kind.SIZE, Kind.SHAPE)


def check(problem: Problem, *, slug: str) -> None:
    """Validate a problem.

    Raises:
        BadProblemFile: The problem is not valid; the message is about the first error.
    """
    missing = [name for name in _REQUIRED if not getattr(problem, name, None)]
    if missing:
        raise BadProblemFile(f"{type(problem).__name__} does not define {', '.join(missing)}")
    if problem.slug != slug or not _SLUG.fullmatch(problem.slug):
        raise BadProblemFile(f"its slug is {problem.slug!r}, but the file's name requires {slug!r}")
    _check_signature(problem)
    for scale in Scale:
        _check_cases(problem, scale)


def _check_signature(problem: Problem) -> None:
    names = [parameter.name for parameter in problem.signature]
    for name in names:
        if not _C_NAME.fullmatch(name):
            raise BadProblemFile(f"{name!r} is not a valid name for a C parameter")
    if len(set(names)) != len(names):
        raise BadProblemFile("two parameters have the same name")
    if not any(parameter.kind is Kind.OUTPUT for parameter in problem.signature):
        raise BadProblemFile("its signature has no output")
    for parameter in problem.signature:
        if parameter.kind is Kind.SCALAR and parameter.c_type not in {"int", "float"}:
            raise BadProblemFile(
                f"the scalar {parameter.name!r} has type {parameter.c_type!r}; allowed: int, float"
            )
    if not problem.dtypes:
        raise BadProblemFile("it has no dtypes")


def _check_cases(problem: Problem, scale: Scale) -> None:
    cases = problem.cases(scale)
    if not cases:
        raise BadProblemFile(f"it has no cases at the {scale} scale")
    names = [case.name for case in cases]
    duplicates = {name for name in names if names.count(name) > 1}
    if duplicates:
        raise BadProblemFile(f"two cases at the {scale} scale have the name {min(duplicates)!r}")
    if not any(case.benchmark for case in cases):
        raise BadProblemFile(f"no case at the {scale} scale has benchmark=True")
    for case in cases:
        _check_values(problem, case)


def _check_values(problem: Problem, case: Case) -> None:
    by_value = {parameter.name: parameter for parameter in problem.signature if parameter.kind in _BY_VALUE}
    if set(case.values) != set(by_value):
        raise BadProblemFile(
            f"case {case.name!r} has values for {sorted(case.values)}; the signature needs {sorted(by_value)}"
        )
    for name, parameter in by_value.items():
        if not _fits(case.values[name], parameter):
            raise BadProblemFile(f"case {case.name!r}: {case.values[name]!r} is not a valid value for {name}")


def _fits(value: object, parameter: Parameter) -> bool:
    if parameter.kind is Kind.SHAPE:
        return isinstance(value, tuple) and all(isinstance(extent, int) and extent >= 0 for extent in value)
    if parameter.kind is Kind.SIZE:
        return isinstance(value, int) and value >= 0
    if parameter.c_type == "int":
        return isinstance(value, int) and -(2**31) <= value < 2**31
    return isinstance(value, int | float)
