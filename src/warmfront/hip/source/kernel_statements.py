"""Parse the body of a kernel into statements, on tokens.

Only the structure of statements is recognized, not expressions. A construct that is rare in kernels raises
`Unsupported`, and the kernel is left unchanged.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

from warmfront.hip.source.lexer import TokenKind
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warmfront.hip.source.edits import TokenEditor


class Unsupported(Exception):
    """The kernel has a construct that prevents turning its threads into loops."""


class StatementKind(Enum):
    """The kind of a statement."""

    SIMPLE = auto()  #: an expression or a declaration, with its semicolon
    BLOCK = auto()
    IF = auto()
    FOR = auto()
    OTHER_LOOP = auto()  #: while, do, and `for (x : range)`
    SWITCH = auto()
    RETURN = auto()


@dataclass(frozen=True)
class TokenRange:
    """The tokens from `first` to before `end`."""

    first: int
    end: int

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.first, self.end))

    def __len__(self) -> int:
        return max(0, self.end - self.first)


class Statement(NamedTuple):
    """A statement, its nested statements, and the content of its parentheses."""

    kind: StatementKind
    tokens: TokenRange
    parts: tuple[Statement, ...] = ()
    header: tuple[TokenRange, ...] = ()  #: the condition; for FOR: declaration, condition and step
    is_constant: bool = False  #: of an IF: it is `if constexpr`

    def walk(self) -> Iterator[Statement]:
        """Yield the statement and all statements in it."""
        yield self
        for part in self.parts:
            yield from part.walk()


_MAX_DEPTH = 50  # of statements in statements
_REFUSED = frozenset(
    {
        "goto",
        "asm",
        "__asm__",
        "__asm",
        "try",
        "volatile",
        "case",
        "default",
        "thread_local",
        "co_await",
        "alloca",
    }
)


def parse_body(editor: TokenEditor, opening: int) -> tuple[Statement, ...]:
    """Return the statements between the brace at `opening` and its partner.

    Raises:
        Unsupported: the body has a construct that is not recognized.
    """
    return _Parser(editor).statements(opening)


class _Parser:
    def __init__(self, editor: TokenEditor) -> None:
        self._editor = editor
        self._depth = 0

    def statements(self, opening: int) -> tuple[Statement, ...]:
        """Return the statements in braces."""
        end = self._close(opening)
        index = opening + 1
        found = []
        while index < end:
            statement = self._statement(index, end)
            index = statement.tokens.end
            if index > end:
                raise Unsupported
            found.append(statement)
        return tuple(found)

    def _statement(self, first: int, end: int) -> Statement:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise Unsupported
        statement = self._parse(first, end)
        self._depth -= 1
        return statement

    def _parse(self, first: int, end: int) -> Statement:  # noqa: PLR0911 - one per kind
        text = self._editor.text(first)
        if text == "{":
            return Statement(
                StatementKind.BLOCK, TokenRange(first, self._close(first) + 1), self.statements(first)
            )
        if text == "if":
            return self._if(first, end)
        if text == "for":
            return self._for(first, end)
        if text == "while":
            body = self._statement(self._close(first + 1) + 1, end)
            return Statement(
                StatementKind.OTHER_LOOP,
                TokenRange(first, body.tokens.end),
                (body,),
                (self._inside(first + 1),),
            )
        if text == "do":
            body = self._statement(first + 1, end)
            last = self._close(body.tokens.end + 1) + 2
            if self._editor.text(body.tokens.end) != "while" or self._editor.text(last - 1) != ";":
                raise Unsupported
            return Statement(
                StatementKind.OTHER_LOOP,
                TokenRange(first, last),
                (body,),
                (self._inside(body.tokens.end + 1),),
            )
        if text == "switch":
            # Its labels are not parsed: threads run it as it is.
            last = self._close(self._close(first + 1) + 1) + 1
            return Statement(StatementKind.SWITCH, TokenRange(first, last))
        if text == "return":
            return Statement(StatementKind.RETURN, TokenRange(first, self._semicolon(first, end) + 1))
        if text in _REFUSED or (
            self._editor.text(first + 1) == ":" and self._editor.kind(first) is TokenKind.NAME
        ):
            raise Unsupported
        return Statement(StatementKind.SIMPLE, TokenRange(first, self._semicolon(first, end) + 1))

    def _if(self, first: int, end: int) -> Statement:
        is_constant = self._editor.text(first + 1) == "constexpr"
        opening = first + 1 + is_constant
        condition = self._inside(opening)
        parts = [self._statement(self._close(opening) + 1, end)]
        last = parts[0].tokens.end
        if self._editor.text(last) == "else":
            parts.append(self._statement(last + 1, end))
            last = parts[1].tokens.end
        return Statement(StatementKind.IF, TokenRange(first, last), tuple(parts), (condition,), is_constant)

    def _for(self, first: int, end: int) -> Statement:
        inside = self._inside(first + 1)
        body = self._statement(inside.end + 1, end)
        tokens = TokenRange(first, body.tokens.end)
        one = self._next_semicolon(inside.first, inside.end)
        if one is None:
            return Statement(StatementKind.OTHER_LOOP, tokens, (body,), (inside,))
        two = self._next_semicolon(one + 1, inside.end)
        if two is None:
            raise Unsupported
        header = (TokenRange(inside.first, one), TokenRange(one + 1, two), TokenRange(two + 1, inside.end))
        return Statement(StatementKind.FOR, tokens, (body,), header)

    def _close(self, opening: int) -> int:
        partner = self._editor.partner(opening)
        if self._editor.text(opening) not in {"(", "[", "{"} or partner is None or partner < opening:
            raise Unsupported
        return partner

    def _inside(self, opening: int) -> TokenRange:
        if self._editor.text(opening) != "(":
            raise Unsupported
        return TokenRange(opening + 1, self._close(opening))

    def _semicolon(self, index: int, end: int) -> int:
        found = self._next_semicolon(index, end)
        if found is None:
            raise Unsupported
        return found

    def _next_semicolon(self, index: int, end: int) -> int | None:
        """Return the index of the next semicolon outside brackets; None if there is none before `end`."""
        while index < end:
            text = self._editor.text(index)
            if text == ";":
                return index
            if text in {"(", "[", "{"}:
                index = self._close(index)
            elif text in _REFUSED or text in {")", "]", "}"}:
                raise Unsupported
            index += 1
        return None
