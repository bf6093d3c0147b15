"""Keeps the lanes of a wave in step where code counts on it: assignments through `volatile` pointers.

On an MI300X the lanes of a wave execute an instruction together, and reductions of the last wave are
often written so, with `volatile` shared memory and no barrier. It knows declarations by their look alone,
and leaves alone what it is not sure of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from warmfront.hip.cpu.lexer import Kind
from warmfront.hip.cpu.stretch import spell

if TYPE_CHECKING:
    from warmfront.hip.cpu.stretch import Stretch

_ASSIGNMENTS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="})
_SIDE_EFFECTS = frozenset({"++", "--", *_ASSIGNMENTS})
#: What a statement can follow. A look ahead ends there too, so that no token is looked at twice.
_BEGINNINGS = frozenset({"", ";", "{", "}", ")", "else", "do"})


class Assignment(NamedTuple):
    """`v[i] += x;`, by the indices of its first token, its operator and its semicolon."""

    first: int
    operator: int
    end: int


def find_assignments(stretch: Stretch) -> dict[int, Assignment]:
    """The statements that assign to an element of a `volatile` array, by their first token.

    Parameters of kernels are left out: they point to global memory, where no one counts on lockstep.
    """
    found: dict[int, Assignment] = {}
    scopes: dict[str, int] = {}  # the volatile arrays known so far, and where each is known no more
    opened: list[int] = []
    of_kernel = False
    for index, token in enumerate(stretch.tokens):
        _follow_brackets(stretch, index, opened)
        if token.text in {";", "{", "}", "__global__"}:
            of_kernel = token.text == "__global__"
        elif token.text == "volatile" and opened and not of_kernel:
            name = _declared_name(stretch, index)
            scopes[name] = _end_of_scope(stretch, opened[-1])
        elif scopes.get(token.text, 0) > index and (assignment := _assignment(stretch, index, opened[-1:])):
            found[index] = assignment
    return found


def translate_assignment(stretch: Stretch, assignment: Assignment) -> None:
    """`v[i] += x;` becomes `{ const auto t = v[i] + (x); __syncwarp(); (v[i]) = t; __syncwarp(); }`.

    So every lane has read before the first one writes, and every lane has written before the next reads.
    In parentheses, what is translated is not found again by another translation.
    """
    first, operator, end = assignment
    target = spell(stretch.tokens[first:operator])
    compound = stretch.text(operator).removesuffix("=")
    left = f"{target} {compound} (" if compound else "("
    stretch.replace(first, f"{{ const auto hipcpu_new = {left}")
    for index in range(first + 1, operator + 1):
        stretch.replace(index, "")
    stretch.replace(end, f"); __syncwarp(); ({target}) = hipcpu_new; __syncwarp(); }}")


def _follow_brackets(stretch: Stretch, index: int, opened: list[int]) -> None:
    """Keep the list of the brackets that are open after the token at `index`."""
    partner = stretch.partner(index)
    if partner is None:
        return
    if partner > index:
        opened.append(index)
    while opened and opened[-1] >= partner:
        opened.pop()


def _declared_name(stretch: Stretch, index: int) -> str:
    """The name in `volatile T* name` or `volatile T name[`; empty where it is no such declaration."""
    pointer = False
    while _is_of_declaration(stretch, index + 1):
        index += 1
        pointer = pointer or stretch.text(index) == "*"
    follows = stretch.text(index + 1)
    plausible = follows == "[" or (pointer and follows in {",", ")", "=", ";", "{"})
    return stretch.text(index) if plausible and stretch.kind(index) is Kind.NAME else ""


def _is_of_declaration(stretch: Stretch, index: int) -> bool:
    name = stretch.kind(index) is Kind.NAME and stretch.text(index) != "volatile"
    return name or stretch.text(index) in {"*", "::"}


def _end_of_scope(stretch: Stretch, around: int) -> int:
    """Where a name is known no more that is declared right inside the bracket at `around`."""
    close = stretch.partner(around) or 0
    if stretch.text(around) == "{":
        return close if stretch.brackets.in_function[close] else 0
    body = close + 1
    return (stretch.partner(body) or 0) if stretch.text(body) == "{" else 0


def _assignment(stretch: Stretch, first: int, around: list[int]) -> Assignment | None:
    """The whole statement `v[i] = x;` that begins at `first`, if it is one and can be taken apart."""
    close = stretch.partner(first + 1)
    in_block = bool(around) and stretch.text(around[-1]) == "{" and stretch.text(first - 1) in _BEGINNINGS
    if not in_block or stretch.text(first + 1) != "[" or close is None:
        return None
    operator = close + 1
    if stretch.text(operator) not in _ASSIGNMENTS or _look_ahead(stretch, first + 2) != close:
        return None
    end = _look_ahead(stretch, operator + 1)
    return Assignment(first, operator, end) if stretch.text(end) == ";" else None


def _look_ahead(stretch: Stretch, index: int) -> int:
    """The first token from `index` on that no plain expression has: what ends it, or changes something."""
    depth = 0
    while depth >= 0:
        text = stretch.text(index)
        depth += (text in {"(", "["}) - (text in {")", "]"})
        if depth < 0 or text in _SIDE_EFFECTS or (text != ")" and text in _BEGINNINGS):
            break
        index += 1
    return index
