"""A run of tokens with the edits that translate it: what every part of the rewriter works on.

It knows no HIP. Edits replace single tokens, so that every line of the source stays on its line.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warmfront.hip.source.lexer import Brackets, Kind, Token


class RewriteError(Exception):
    """The source cannot be translated; `line` and `column` begin at 1."""

    def __init__(self, line: int, column: int, message: str) -> None:
        self.line = line
        self.column = column
        self.message = message
        super().__init__(f"{line}:{column}: {message}")


class Edit(NamedTuple):
    """A token's text replaced. A compiler's complaint about the new text belongs at `anchor`."""

    start: int
    end: int
    text: str
    anchor: int


class LineIndex:
    """Where the lines of a text begin."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *accumulate(len(line) for line in text.split("\n")[:-1])]
        # Each line is followed by a newline that `split` took away.
        self._starts = [start + number for number, start in enumerate(self._starts)]

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of `offset`, both from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """The offset of a line and a column, both from 1."""
        return self._starts[min(line, len(self._starts)) - 1] + column - 1


@dataclass
class TokenEditor:
    """Tokens that follow each other, and the edits that translate them."""

    tokens: list[Token]
    brackets: Brackets
    lines: LineIndex
    parameters: frozenset[str] = frozenset()  #: of the macro whose body it is
    edits: list[Edit] = field(default_factory=list)
    file_arrays: set[str] = field(default_factory=set)  #: dynamic shared memory at the scope of the file
    _replaced: set[int] = field(default_factory=set)

    def text(self, index: int) -> str:
        """The text of a token, empty beyond either end."""
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def kind(self, index: int) -> Kind | None:
        """The kind of a token, None beyond either end."""
        return self.tokens[index].kind if 0 <= index < len(self.tokens) else None

    def replace(self, index: int, text: str, anchor: int | None = None) -> None:
        """Put `text` in the place of a token, keeping the lines that it spans."""
        if index in self._replaced:
            raise self.error(index, "this is too entangled to be translated")
        self._replaced.add(index)
        token = self.tokens[index]
        at = token.start if anchor is None else anchor
        self.edits.append(Edit(token.start, token.end, text + "\n" * token.text.count("\n"), at))

    def partner(self, index: int) -> int | None:
        """The bracket that belongs to the one at `index`."""
        return self.brackets.partner.get(index)

    def error(self, index: int, message: str) -> RewriteError:
        """What cannot be translated, and where."""
        return RewriteError(*self.lines.position(self.tokens[index].start), message)


def spell(tokens: Sequence[Token]) -> str:
    """The tokens as the author wrote them, on one line, white space and comments made one space."""
    pieces: list[str] = []
    for before, token in zip([None, *tokens], tokens, strict=False):
        pieces += (" " if before and before.end != token.start else "", token.text.replace("\n", " "))
    return "".join(pieces)
