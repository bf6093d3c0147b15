"""Tells what is missing in a problem before a kernel meets it.

It looks only at what a problem declares, its cases included: no input is drawn and no reference is
computed here.
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
    """Raise BadProblemFile with the first thing that is wrong, if anything is."""
    missing = [name for name in _REQUIRED if not getattr(problem, name, None)]
    if missing:
        raise BadProblemFile(f"{type(problem).__name__} does not define {', '.join(missing)}")
    if problem.slug != slug or not _SLUG.fullmatch(problem.slug):
        raise BadProblemFile(f"its slug is {problem.slug!r}, which the file's name says should be {slug!r}")
    _check_signature(problem)
    for scale in Scale:
        _check_cases(problem, scale)


def _check_signature(problem: Problem) -> None:
    names = [parameter.name for parameter in problem.signature]
    for name in names:
        if not _C_NAME.fullmatch(name):
            raise BadProblemFile(f"{name!r} cannot be the name of a C parameter")
    if len(set(names)) != len(names):
        raise BadProblemFile("two parameters have the same name")
    if not any(parameter.kind is Kind.OUTPUT for parameter in problem.signature):
        raise BadProblemFile("its signature has no output")
    for parameter in problem.signature:
        if parameter.kind is Kind.SCALAR and parameter.c_type not in {"int", "float"}:
            raise BadProblemFile(f"the scalar {parameter.name!r} is a {parameter.c_type!r}, not int or float")
    if not problem.dtypes:
        raise BadProblemFile("it is defined for no dtype")


def _check_cases(problem: Problem, scale: Scale) -> None:
    cases = problem.cases(scale)
    if not cases:
        raise BadProblemFile(f"it has no cases at the {scale} scale")
    names = [case.name for case in cases]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise BadProblemFile(f"more than one case at the {scale} scale is called {min(twice)!r}")
    if not any(case.benchmark for case in cases):
        raise BadProblemFile(f"no case at the {scale} scale is for benchmarking")
    for case in cases:
        _check_values(problem, case)


def _check_values(problem: Problem, case: Case) -> None:
    by_value = {parameter.name: parameter for parameter in problem.signature if parameter.kind in _BY_VALUE}
    if set(case.values) != set(by_value):
        raise BadProblemFile(
            f"case {case.name!r} has values for {sorted(case.values)}, the signature needs {sorted(by_value)}"
        )
    for name, parameter in by_value.items():
        if not _fits(case.values[name], parameter):
            raise BadProblemFile(f"case {case.name!r}: {name} cannot be {case.values[name]!r}")


def _fits(value: object, parameter: Parameter) -> bool:
    if parameter.kind is Kind.SHAPE:
        return isinstance(value, tuple) and all(isinstance(extent, int) and extent >= 0 for extent in value)
    if parameter.kind is Kind.SIZE:
        return isinstance(value, int) and value >= 0
    if parameter.c_type == "int":
        return isinstance(value, int) and -(2**31) <= value < 2**31
    return isinstance(value, int | float)
