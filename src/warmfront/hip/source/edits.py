"""Token edits: replace single tokens of a source so that every line keeps its number.

This module does not depend on HIP.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import field
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warmfront.hip.source.lexer import Brackets, Token, TokenKind


class RewriteError(Exception):
    """The source cannot be translated; `line` and `column` begin at 1."""

    def __init__(
        self,
        line: int,
        column: int,
        message: str,
        *,
        code: str = "COMPILE_ERROR",
        hint: str = "Fix the error and run again.",
    ) -> None:
        self.line = line
        self.column = column
        self.message = message
        self.code = code
        self.hint = hint
        super().__init__(f"{line}:{column}: {message}")


class Edit(NamedTuple):
    """The replacement of a token's text. `anchor` is the offset for compiler messages about the new text."""

    start: int
    end: int
    text: str
    anchor: int


class LineIndex:
    """The offsets at which the lines of a text begin."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *accumulate(len(line) for line in text.split("\n")[:-1])]
        # Each line is followed by a newline, which `split` removed.
        self._starts = [start + number for number, start in enumerate(self._starts)]

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of `offset`; both begin at 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a line and a column, which begin at 1."""
        return self._starts[min(line, len(self._starts)) - 1] + column - 1


@dataclass
class TokenEditor:
    """Consecutive tokens, and the edits that were made to them."""

    tokens: list[Token]
    brackets: Brackets
    lines: LineIndex
    parameters: frozenset[str] = frozenset()  #: the parameters of the macro, if this is its body
    edits: list[Edit] = field(default_factory=list)
    file_arrays: set[str] = field(default_factory=set)  #: the names of dynamic shared memory at file scope
    _replaced: dict[int, int] = field(default_factory=dict)  #: of a token, the number of its edit

    def text(self, index: int) -> str:
        """Return the text of a token; empty beyond either end."""
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def kind(self, index: int) -> TokenKind | None:
        """Return the kind of a token; None beyond either end."""
        return self.tokens[index].kind if 0 <= index < len(self.tokens) else None

    def replace(self, index: int, text: str, anchor: int | None = None) -> None:
        """Replace a token with `text`, keeping its line breaks; `anchor` defaults to the token's offset."""
        if index in self._replaced:
            raise self.error(index, "this code is too complex to translate")
        self._replaced[index] = len(self.edits)
        token = self.tokens[index]
        position = token.start if anchor is None else anchor
        self.edits.append(Edit(token.start, token.end, text + "\n" * token.text.count("\n"), position))

    def prepend(self, index: int, text: str) -> None:
        """Insert `text` before a token, or before its replacement."""
        if index not in self._replaced:
            self.replace(index, f"{text}{self.tokens[index].text}")
            return
        edit = self.edits[self._replaced[index]]
        self.edits[self._replaced[index]] = edit._replace(text=f"{text}{edit.text}")

    def partner(self, index: int) -> int | None:
        """Return the index of the bracket that matches the one at `index`; None if there is none."""
        return self.brackets.partner.get(index)

    def error(self, index: int, message: str) -> RewriteError:
        """Return an error at the token `index`."""
        return RewriteError(*self.lines.position(self.tokens[index].start), message)


def spell(tokens: Sequence[Token]) -> str:
    """Return the text of the tokens on one line, with one space for white space and comments."""
    pieces: list[str] = []
    for before, token in zip([None, *tokens], tokens, strict=False):
        pieces += (" " if before and before.end != token.start else "", token.text.replace("\n", " "))
    return "".join(pieces)
