"""Keeps the lanes of a wave in step where code counts on it: assignments through `volatile` pointers.

On an MI300X the lanes of a wave execute an instruction together, and reductions of the last wave are
often written so, with `volatile` shared memory and no barrier. It knows declarations by their look alone,
and leaves alone what it is not sure of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from warmfront.hip.source.edits import spell
from warmfront.hip.source.lexer import Kind

if TYPE_CHECKING:
    from warmfront.hip.source.edits import TokenEditor

_ASSIGNMENTS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="})
_SIDE_EFFECTS = frozenset({"++", "--", *_ASSIGNMENTS})
#: What a statement can follow. A look ahead ends there too, so that no token is looked at twice.
_BEGINNINGS = frozenset({"", ";", "{", "}", ")", "else", "do"})


class Assignment(NamedTuple):
    """`v[i] += x;`, by the indices of its first token, its operator and its semicolon."""

    first: int
    operator: int
    end: int


def find_assignments(editor: TokenEditor) -> dict[int, Assignment]:
    """The statements that assign to an element of a `volatile` array, by their first token.

    Parameters of kernels are left out: they point to global memory, where no one counts on lockstep.
    """
    found: dict[int, Assignment] = {}
    scopes: dict[str, int] = {}  # the volatile arrays known so far, and where each is known no more
    opened: list[int] = []
    of_kernel = False
    for index, token in enumerate(editor.tokens):
        _follow_brackets(editor, index, opened)
        if token.text in {";", "{", "}", "__global__"}:
            of_kernel = token.text == "__global__"
        elif token.text == "volatile" and opened and not of_kernel:
            name = _declared_name(editor, index)
            scopes[name] = _end_of_scope(editor, opened[-1])
        elif scopes.get(token.text, 0) > index and (assignment := _assignment(editor, index, opened[-1:])):
            found[index] = assignment
    return found


def translate_assignment(editor: TokenEditor, assignment: Assignment) -> None:
    """`v[i] += x;` becomes `{ const auto t = v[i] + (x); __syncwarp(); (v[i]) = t; __syncwarp(); }`.

    So every lane has read before the first one writes, and every lane has written before the next reads.
    In parentheses, what is translated is not found again by another translation.
    """
    first, operator, end = assignment
    target = spell(editor.tokens[first:operator])
    compound = editor.text(operator).removesuffix("=")
    left = f"{target} {compound} (" if compound else "("
    editor.replace(first, f"{{ const auto hipcpu_new = {left}")
    for index in range(first + 1, operator + 1):
        editor.replace(index, "")
    editor.replace(end, f"); __syncwarp(); ({target}) = hipcpu_new; __syncwarp(); }}")


def _follow_brackets(editor: TokenEditor, index: int, opened: list[int]) -> None:
    """Keep the list of the brackets that are open after the token at `index`."""
    partner = editor.partner(index)
    if partner is None:
        return
    if partner > index:
        opened.append(index)
    while opened and opened[-1] >= partner:
        opened.pop()


def _declared_name(editor: TokenEditor, index: int) -> str:
    """The name in `volatile T* name` or `volatile T name[`; empty where it is no such declaration."""
    pointer = False
    while _is_of_declaration(editor, index + 1):
        index += 1
        pointer = pointer or editor.text(index) == "*"
    follows = editor.text(index + 1)
    plausible = follows == "[" or (pointer and follows in {",", ")", "=", ";", "{"})
    return editor.text(index) if plausible and editor.kind(index) is Kind.NAME else ""


def _is_of_declaration(editor: TokenEditor, index: int) -> bool:
    name = editor.kind(index) is Kind.NAME and editor.text(index) != "volatile"
    return name or editor.text(index) in {"*", "::"}


def _end_of_scope(editor: TokenEditor, around: int) -> int:
    """Where a name is known no more that is declared right inside the bracket at `around`."""
    close = editor.partner(around) or 0
    if editor.text(around) == "{":
        return close if editor.brackets.in_function[close] else 0
    body = close + 1
    return (editor.partner(body) or 0) if editor.text(body) == "{" else 0


def _assignment(editor: TokenEditor, first: int, around: list[int]) -> Assignment | None:
    """The whole statement `v[i] = x;` that begins at `first`, if it is one and can be taken apart."""
    close = editor.partner(first + 1)
    in_block = bool(around) and editor.text(around[-1]) == "{" and editor.text(first - 1) in _BEGINNINGS
    if not in_block or editor.text(first + 1) != "[" or close is None:
        return None
    operator = close + 1
    if editor.text(operator) not in _ASSIGNMENTS or _look_ahead(editor, first + 2) != close:
        return None
    end = _look_ahead(editor, operator + 1)
    return Assignment(first, operator, end) if editor.text(end) == ";" else None


def _look_ahead(editor: TokenEditor, index: int) -> int:
    """The first token from `index` on that no plain expression has: what ends it, or changes something."""
    depth = 0
    while depth >= 0:
        text = editor.text(index)
        depth += (text in {"(", "["}) - (text in {")", "]"})
        if depth < 0 or text in _SIDE_EFFECTS or (text != ")" and text in _BEGINNINGS):
            break
        index += 1
    return index
