"""Rewrite the expressions with vectors that a class cannot have: swizzles, and masks that select elements.

`v.wzyx` becomes a macro with the name and the order of the elements, and `mask ? a : b` becomes a macro with
the three operands. With clang, the macros expand to the original text. Types are inferred from the form of
declarations; an expression that is not recognized is left to the compiler, which rejects it.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from warmfront.hip.source.lexer import TokenKind
from warmfront.hip.source.vector_types import VECTOR_ATTRIBUTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warmfront.hip.source.edits import TokenEditor
    from warmfront.hip.source.lexer import Token

#: The names of several elements. `lo` and `hi` are members of the class.
_SWIZZLE = re.compile(r"[xyzw]{2,4}|[rgba]{2,4}|[sS][0-9a-fA-F]{2,16}|even|odd")
_ACCESS = frozenset({".", "->"})
_ASSIGNMENTS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<="})
#: What can precede the condition of `mask ? a : b`.
_BEFORE_CONDITION = _ASSIGNMENTS | {"", ",", ";", "{", "}", "(", "[", "?", ":", "return"}
#: What ends the last operand.
_AFTER_CHOICE = frozenset({"", ",", ";", ")", "]", "}", ":"})
#: The longest list of template arguments that is searched for its end.
_MAX_TEMPLATE = 24
#: How many tokens are read to find the ends of operands, per token of the file. This keeps the time linear in
#: the length of a file, even if it is nested on purpose. Expressions beyond it are left to the compiler.
_STEPS_PER_TOKEN = 8


def has_vector_expression(tokens: Sequence[Token]) -> bool:
    """Return whether there is a swizzle, if these tokens have vectors, or the choice between two operands."""
    return any(
        following.text == "?" or (token.text in _ACCESS and _SWIZZLE.fullmatch(following.text))
        for token, following in pairwise(tokens)
    )


class VectorNames:
    """The names that denote vectors, in the part of a file that has been read."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._has_vectors = any(token.text in VECTOR_ATTRIBUTES for token in tokens)
        # A name that the author declares is the name of a member, not a swizzle.
        self._declared = {
            token.text
            for before, token in zip([None, *tokens], tokens, strict=False)
            if self._has_vectors and (before is None or before.text not in _ACCESS)
        }
        self._types: set[str] = set()
        self._variables: set[str] = set()
        self._arrays: set[str] = set()  #: arrays and pointers
        self._functions: set[str] = set()
        self._steps_left = _STEPS_PER_TOKEN * len(tokens) if self._has_vectors else 0

    def add_type(self, name: str) -> None:
        """Add the name of a vector type; an empty name is ignored."""
        if name:
            self._types.add(name)

    def translate(self, editor: TokenEditor, index: int) -> None:
        """Rewrite the token if it is a swizzle or the `?` after a mask; remember what it declares.

        Without vectors in the file, nothing is rewritten.
        """
        text = editor.text(index)
        if self._steps_left <= 0:
            return
        if text == "?":
            self._translate_choice(editor, index)
        elif text in self._types:
            self._add_variables(editor, index)
        elif text == "auto" and editor.text(index + 2) == "=":
            if self._is_vector(editor, index + 3, self._end_of_operand(editor, index + 3)):
                self._variables.add(editor.text(index + 1))
        elif editor.text(index - 1) in _ACCESS and _SWIZZLE.fullmatch(text):
            self._translate_swizzle(editor, index)

    def _add_variables(self, editor: TokenEditor, index: int) -> None:
        """Add the names that a declaration with the type at `index` declares."""
        index = _skip_template(editor, index) + 1
        while True:
            is_pointer = False
            while editor.text(index) in {"const", "&", "&&", "*", "__restrict__"}:
                is_pointer = is_pointer or editor.text(index) == "*"
                index += 1
            if editor.kind(index) is not TokenKind.NAME:
                return
            after = editor.text(index + 1)
            if after == "(":
                names = set() if is_pointer else self._functions
            else:
                names = self._arrays if is_pointer or after == "[" else self._variables
            names.add(editor.text(index))
            index = self._end_of_operand(editor, index)
            if editor.text(index) != ",":
                return
            index += 1

    def _translate_swizzle(self, editor: TokenEditor, index: int) -> None:
        name, after = editor.text(index), editor.text(index + 1)
        if name in self._declared or after == "(" or self._changes_part(editor, index):
            return
        macro = "HIPCPU_SWIZZLE_ASSIGNED" if after in _ASSIGNMENTS else "HIPCPU_SWIZZLE"
        editor.replace(index, f"{macro}({name}, {_order(name)})")

    def _translate_choice(self, editor: TokenEditor, question: int) -> None:
        """Rewrite `mask ? a : b`, if the mask is a vector."""
        first = question
        while editor.text(first - 1) not in _BEFORE_CONDITION:
            self._steps_left -= 1
            first = min(first - 1, editor.partner(first - 1) or first - 1)
        if not self._is_vector(editor, first, question):
            return
        colon = self._end_of_operand(editor, question + 1)
        if editor.text(colon) != ":":
            return
        editor.prepend(first, "HIPCPU_SELECT((")
        editor.prepend(self._end_of_operand(editor, colon + 1), "))")
        for index in (question, colon):
            editor.replace(index, "), (")

    def _is_vector(self, editor: TokenEditor, first: int, end: int) -> bool:
        """Return whether an operand of the expression is a vector, and not an element of one."""
        index = first
        while index < end:
            self._steps_left -= 1
            text = editor.text(index)
            last = index
            is_call = editor.kind(index - 1) is TokenKind.NAME and index > first
            if text == "[" or (text == "(" and is_call):
                index = editor.partner(index) or index
            elif (text in self._arrays and editor.text(index + 1) == "[") or (
                text in self._functions and editor.text(index + 1) == "("
            ):
                last = editor.partner(index + 1) or index
            is_vector = text in self._variables or last > index
            if is_vector and editor.text(index - 1) not in _ACCESS and self._keeps_vector(editor, last + 1):
                return True
            index = max(index, last) + 1
        return False

    def _keeps_vector(self, editor: TokenEditor, index: int) -> bool:
        """Return whether what follows a vector does not make it a number: an index, an element or a call."""
        if editor.text(index) not in _ACCESS:
            return editor.text(index) not in {"[", "("}
        name = editor.text(index + 1)
        return bool(_SWIZZLE.fullmatch(name)) and name not in self._declared

    def _changes_part(self, editor: TokenEditor, index: int) -> bool:
        """Return whether a part of the swizzle is changed, or all of it by `++` or `--`.

        That works with the halves that are members of the class (`v.xy.x = 1`).
        """
        end = index + 1
        while editor.text(end) in {".", "["}:
            self._steps_left -= 1
            end = (editor.partner(end) or end) + 1 if editor.text(end) == "[" else end + 2
        if editor.text(end) in {"++", "--"} or (end > index + 1 and editor.text(end) in _ASSIGNMENTS):
            return True
        first = index
        while editor.text(first - 1) in _ACCESS:
            self._steps_left -= 1
            first -= 2
            while editor.text(first) in {"]", ")"}:
                first = (editor.partner(first) or first) - 1
        return editor.text(first - 1) in {"++", "--"}

    def _end_of_operand(self, editor: TokenEditor, index: int) -> int:
        """Return the token after an operand of `mask ? a : b`, which may itself contain such expressions."""
        pending = 0
        while editor.text(index) not in _AFTER_CHOICE or (editor.text(index) == ":" and pending):
            self._steps_left -= 1
            pending += (editor.text(index) == "?") - (editor.text(index) == ":")
            after = max(editor.partner(index) or index, _skip_template(editor, index))
            index = after + 1
        return index


def _skip_template(editor: TokenEditor, index: int) -> int:
    """Return the last token of a name with its template arguments, or `index` if it has none."""
    if editor.kind(index) is not TokenKind.NAME or editor.text(index + 1) != "<":
        return index
    depth = 0
    for i in range(index + 1, index + _MAX_TEMPLATE):
        depth += (editor.text(i) == "<") - (editor.text(i) == ">") - 2 * (editor.text(i) == ">>")
        if depth <= 0 and i > index + 1:
            is_argument_list = editor.text(i + 1) in {"(", "::", "{"} or editor.kind(i + 1) is TokenKind.NAME
            return i if depth == 0 and is_argument_list else index
        if editor.text(i) in {"", ";", "{", "}", "?"}:
            break
    return index


def _order(name: str) -> str:
    """Return the type that says which elements a swizzle has."""
    if name in {"even", "odd"}:
        return f"::hipcpu::EverySecond<{int(name == 'odd')}>"
    if name[0] in "sS":
        indexes = [int(digit, 16) for digit in name[1:]]
    else:
        indexes = [("xyzw" if name[0] in "xyzw" else "rgba").index(letter) for letter in name]
    return f"::hipcpu::Order<{', '.join(map(str, indexes))}>"
