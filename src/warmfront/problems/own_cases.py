"""An author's own cases: sizes and a style, validated against the problem before anything runs.

A check can have a few of them in addition to the problem's cases. They are never part of a timed submission.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, TypeGuard

from warmfront.errors import InvalidCase
from warmfront.problems.ranges import DimensionIn, DimensionsOf, Numbers, Shapes, Sizes
from warmfront.problems.spec import Case, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from warmfront.problems.ranges import Range
    from warmfront.problems.spec import Dtype, Problem, Scale

    Value = int | float | tuple[int, ...]

#: How many own cases an author may add to a check.
MAX_OWN_CASES = 8

#: An own case may move this many times the bytes, and need this many times the operations, of the largest
#: published case: neither the sandbox nor the reference may run out of memory.
LARGEST = 4

#: The fewest bytes and operations that are always allowed, for problems whose published cases are tiny.
_ALWAYS_ALLOWED = 1 << 20

#: The field of a request that has the cases.
FIELD = "own_cases"


def parse_own_cases(text: str | None, problem: Problem, dtype: Dtype, scale: Scale) -> tuple[Case, ...]:
    """Return the cases that `to_json` wrote, validated again. Raises `InvalidCase`."""
    if text is None:
        return ()
    try:
        declared = json.loads(text)
    except ValueError:
        raise InvalidCase(FIELD, f"{FIELD} is not valid JSON.") from None
    if not isinstance(declared, list) or not all(isinstance(item, dict) for item in declared):
        raise InvalidCase(FIELD, f"{FIELD} is not a list of objects.")
    return validate_own_cases(declared, problem, dtype, scale)


def to_json(cases: Sequence[Case]) -> str | None:
    """Return the cases as JSON; None if there are none."""
    if not cases:
        return None
    return json.dumps([{"values": dict(case.values), "style": case.draw} for case in cases])


def validate_own_cases(
    declared: Sequence[Mapping[str, Any]], problem: Problem, dtype: Dtype, scale: Scale
) -> tuple[Case, ...]:
    """Return the cases that objects with `values` and `style` describe.

    Args:
        declared: the objects. `values` has the value of every parameter that is passed by value; a number of
            dimensions may be omitted. `style` is optional.
        problem: the problem.
        dtype: the dtype of the submission.
        scale: the kind of machine that runs them, which decides how large they may be.

    Raises:
        InvalidCase: a case is invalid; the error names its field, the value and what is allowed.
    """
    if len(declared) > MAX_OWN_CASES:
        raise InvalidCase(
            FIELD, f"{FIELD} has {len(declared)} cases; the limit is {MAX_OWN_CASES}.", hint="Remove some."
        )
    cases = [
        _validate_case(item, f"{FIELD}[{index}]", problem, dtype, scale)
        for index, item in enumerate(declared)
    ]
    names = [case.name for case in cases]
    for index, name in enumerate(names):
        if name in names[:index]:
            field = f"{FIELD}[{index}]"
            raise InvalidCase(field, f"{field} is the same as an earlier one.", hint="Remove one of them.")
    return tuple(cases)


def _validate_case(
    declared: Mapping[str, Any], field: str, problem: Problem, dtype: Dtype, scale: Scale
) -> Case:
    given = declared.get("values")
    if not isinstance(given, dict):
        raise InvalidCase(f"{field}.values", f"{field}.values is {given!r:.80}; an object is required.")
    values = _validate_values(given, f"{field}.values", problem, scale)
    published = problem.cases(scale)
    case = Case(name="", values=values, draw=published[0].draw)
    style = _validate_style(declared.get("style"), field, problem.styles(case, dtype), published)
    case = Case(name=_name(values, style), values=values, draw=style)
    _check_work(case, field, problem, dtype, published)
    return case


def _validate_values(
    given: Mapping[str, object], field: str, problem: Problem, scale: Scale
) -> dict[str, Value]:
    ranges = problem.ranges(scale)
    by_value = [p.name for p in problem.signature if p.kind in {Kind.SCALAR, Kind.SIZE, Kind.SHAPE}]
    for name in given:
        if name not in by_value:
            raise InvalidCase(
                f"{field}.{name:.40}", f"{field} has {name!r:.40}; {problem.slug} has {', '.join(by_value)}."
            )
    if not ranges:
        raise InvalidCase(field, f"{problem.slug} declares no ranges of sizes, so it has no own cases.")
    values: dict[str, Value] = {}
    # A shape first: other parameters depend on it.
    for name in sorted(by_value, key=lambda name: not isinstance(ranges[name], Shapes)):
        published = [case.values[name] for case in problem.cases(scale)]
        values[name] = _validate_value(given.get(name), f"{field}.{name}", ranges[name], published, values)
    return {name: values[name] for name in by_value}


def _validate_value(
    value: object, field: str, bounds: Range, published: Sequence[Value], known: Mapping[str, Value]
) -> Value:
    """Return a value within its range, or up to the largest published one."""
    if isinstance(bounds, DimensionsOf):
        count = len(_shape(known, bounds.shape))
        if value is not None and value != count:
            raise _invalid(field, value, f"{count}, the number of dimensions of {bounds.shape}")
        return count
    if value is None:
        raise InvalidCase(field, f"{field} is missing.", hint="Give the value of every parameter.")
    if isinstance(bounds, Shapes):
        return _validate_shape(value, field, bounds, published)
    if isinstance(bounds, Numbers):
        if not _is_number(value) or not bounds.low <= value <= bounds.high:
            raise _invalid(field, value, f"a number from {bounds.low:g} to {bounds.high:g}")
        return float(value)
    if isinstance(bounds, DimensionIn):
        bounds = Sizes(0, len(_shape(known, bounds.shape)) - 1)
    high = max([bounds.high, *(size for size in published if isinstance(size, int))])
    if not _is_integer(value) or not bounds.low <= value <= high or (value - bounds.low) % bounds.step:
        step = f", in steps of {bounds.step}" if bounds.step > 1 else ""
        raise _invalid(field, value, f"a whole number from {bounds.low} to {high}{step}")
    return value


def _validate_shape(value: object, field: str, bounds: Shapes, published: Sequence[Value]) -> tuple[int, ...]:
    shapes = [shape for shape in published if isinstance(shape, tuple)]
    dimensions = max([bounds.dimensions, *map(len, shapes)])
    most = max([bounds.max_elements, *map(math.prod, shapes)])
    extents = list(value) if isinstance(value, list | tuple) else []
    if not 1 <= len(extents) <= dimensions or not all(_is_integer(e) and 1 <= e <= most for e in extents):
        raise _invalid(field, value, f"a list of 1 to {dimensions} sizes from 1 to {most}")
    if math.prod(extents) > most:
        raise _invalid(field, value, f"sizes with a product of at most {most}")
    return tuple(extents)


def _validate_style(style: object, field: str, styles: Sequence[str], published: Sequence[Case]) -> str:
    allowed = list(styles) or list(dict.fromkeys(case.draw for case in published))
    if style is None:
        return published[0].draw if published[0].draw in allowed else allowed[0]
    if style not in allowed:
        raise _invalid(f"{field}.style", style, ", ".join(allowed))
    return str(style)


def _check_work(case: Case, field: str, problem: Problem, dtype: Dtype, published: Sequence[Case]) -> None:
    """Raise `InvalidCase` if a case is so large that it could exhaust the memory of the machine."""
    moved, operations = problem.bytes_moved(case, dtype), problem.flops(case)
    most_bytes = LARGEST * max(problem.bytes_moved(other, dtype) for other in published)
    most_operations = LARGEST * max(problem.flops(other) for other in published)
    hint = "Use smaller sizes: the limit is four times the largest case of the problem."
    if moved > max(most_bytes, _ALWAYS_ALLOWED):
        raise InvalidCase(
            f"{field}.values",
            f"{field}.values ({case.name}) needs {moved:,} bytes of tensors; the limit is {most_bytes:,}.",
            hint=hint,
        )
    if operations > max(most_operations, _ALWAYS_ALLOWED):
        raise InvalidCase(
            f"{field}.values",
            f"{field}.values ({case.name}) needs {operations:,} operations; "
            f"the limit is {most_operations:,}.",
            hint=hint,
        )


def _name(values: Mapping[str, Value], style: str) -> str:
    texts = [
        f"{name} = {'x'.join(map(str, value)) if isinstance(value, tuple) else f'{value:g}'}"
        if not isinstance(value, int)
        else f"{name} = {value}"
        for name, value in values.items()
    ]
    return f"own: {', '.join([*texts, style])}"


def _invalid(field: str, value: object, allowed: str) -> InvalidCase:
    return InvalidCase(field, f"{field} is {value!r:.80}; allowed: {allowed}.")


def _shape(known: Mapping[str, Value], name: str) -> tuple[int, ...]:
    shape = known[name]  # `_validate_values` validates shapes first
    return shape if isinstance(shape, tuple) else ()


def _is_integer(value: object) -> TypeGuard[int]:
    return type(value) is int


def _is_number(value: object) -> TypeGuard[float]:
    return type(value) is int or (type(value) is float and math.isfinite(value))
