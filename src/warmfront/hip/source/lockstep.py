"""Keep the lanes of a wave in lockstep where code relies on it: assignments to `volatile` arrays.

On an MI300X the lanes of a wave execute each instruction together. Reductions within the last wave often
rely on that, with `volatile` shared memory and no barrier. Declarations are recognized by their form alone;
code that is not clearly such an assignment is not changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from warmfront.hip.source.edits import spell
from warmfront.hip.source.lexer import TokenKind

if TYPE_CHECKING:
    from warmfront.hip.source.edits import TokenEditor

_ASSIGNMENTS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="})
_SIDE_EFFECTS = frozenset({"++", "--", *_ASSIGNMENTS})
#: The tokens that a statement can follow. Lookahead stops at them too, so that it takes linear time.
_BEGINNINGS = frozenset({"", ";", "{", "}", ")", "else", "do"})


class Assignment(NamedTuple):
    """The statement `v[i] += x;`, as the indices of its first token, its operator and its semicolon."""

    first: int
    operator: int
    end: int


def find_assignments(editor: TokenEditor) -> dict[int, Assignment]:
    """Return the statements that assign to an element of a `volatile` array, by their first token.

    Kernel parameters are not included: they point to global memory, where code does not rely on lockstep.
    """
    assignments: dict[int, Assignment] = {}
    scopes: dict[str, int] = {}  # the volatile arrays so far, and the end of the scope of each
    opened: list[int] = []
    in_kernel_declaration = False
    for index, token in enumerate(editor.tokens):
        _follow_brackets(editor, index, opened)
        if token.text in {";", "{", "}", "__global__"}:
            in_kernel_declaration = token.text == "__global__"
        elif token.text == "volatile" and opened and not in_kernel_declaration:
            name = _declared_name(editor, index)
            scopes[name] = _end_of_scope(editor, opened[-1])
        elif scopes.get(token.text, 0) > index and (assignment := _assignment(editor, index, opened[-1:])):
            assignments[index] = assignment
    return assignments


def translate_assignment(editor: TokenEditor, assignment: Assignment) -> None:
    """Rewrite `v[i] += x;` as `{ const auto t = v[i] + (x); __syncwarp(); (v[i]) = t; __syncwarp(); }`.

    Every lane reads before the first lane writes, and every lane has written before the next statement reads.
    The parentheses keep the result from being translated a second time.
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
    """Update the list of open brackets for the token at `index`."""
    partner = editor.partner(index)
    if partner is None:
        return
    if partner > index:
        opened.append(index)
    while opened and opened[-1] >= partner:
        opened.pop()


def _declared_name(editor: TokenEditor, index: int) -> str:
    """Return the name in `volatile T* name` or `volatile T name[`; empty for anything else."""
    pointer = False
    while _is_part_of_declaration(editor, index + 1):
        index += 1
        pointer = pointer or editor.text(index) == "*"
    follows = editor.text(index + 1)
    plausible = follows == "[" or (pointer and follows in {",", ")", "=", ";", "{"})
    return editor.text(index) if plausible and editor.kind(index) is TokenKind.NAME else ""


def _is_part_of_declaration(editor: TokenEditor, index: int) -> bool:
    name = editor.kind(index) is TokenKind.NAME and editor.text(index) != "volatile"
    return name or editor.text(index) in {"*", "::"}


def _end_of_scope(editor: TokenEditor, around: int) -> int:
    """Return the end of the scope of a name that is declared directly inside the bracket at `around`."""
    close = editor.partner(around) or 0
    if editor.text(around) == "{":
        return close if editor.brackets.in_function[close] else 0
    body = close + 1
    return (editor.partner(body) or 0) if editor.text(body) == "{" else 0


def _assignment(editor: TokenEditor, first: int, around: list[int]) -> Assignment | None:
    """Return the statement `v[i] = x;` that begins at `first`; None if it is anything else."""
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
    """Return the first token from `index` on that ends the expression or has a side effect."""
    depth = 0
    while depth >= 0:
        text = editor.text(index)
        depth += (text in {"(", "["}) - (text in {")", "]"})
        if depth < 0 or text in _SIDE_EFFECTS or (text != ")" and text in _BEGINNINGS):
            break
        index += 1
    return index
