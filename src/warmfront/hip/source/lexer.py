"""Splits HIP source into tokens, in time linear in its length, and says which brackets belong together.

It knows what a compiler must know to tell code from comments and literals, and nothing of grammar. It
never expands a macro.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class LexError(Exception):
    """The source ends inside a comment or a raw string."""

    def __init__(self, offset: int, message: str) -> None:
        self.offset = offset
        self.message = message
        super().__init__(message)


class Kind(Enum):
    """What a token is. Comments and white space are no tokens."""

    NAME = auto()
    NUMBER = auto()
    STRING = auto()  #: ordinary or raw, with its prefix
    CHARACTER = auto()
    PUNCTUATION = auto()
    END_OF_LINE = auto()  #: only between `_pieces` and `tokenize`


class Token(NamedTuple):
    """A piece of source text and where it begins."""

    kind: Kind
    text: str
    start: int

    @property
    def end(self) -> int:
        """Offset of the first character after it."""
        return self.start + len(self.text)


@dataclass(frozen=True)
class Directive:
    """A preprocessor line, with its continuations."""

    name: str  #: `define`, `if`, `include` …, empty for a lone `#`
    tokens: list[Token]  #: what follows the name
    before: int  #: how many tokens of code come before it


@dataclass(frozen=True)
class Source:
    """The tokens of a file: those of the code itself, and each directive apart."""

    code: list[Token]
    directives: list[Directive]


# Possessive quantifiers keep every alternative linear: an unclosed literal ends with its line, as it
# does for a compiler, instead of being tried again from each quote in it.
_PIECE = re.compile(
    r"""
      (?P<space>(?:[^\S\n]|\\\r?\n)++)
    | (?P<newline>\n)
    | (?P<comment>//(?:[^\\\n]|\\\r?\n|\\)*+)
    | (?P<block>/\*)
    | (?P<raw>(?:u8|[uUL])?R"(?P<delimiter>[^()\s\\"]{0,16})\()
    | (?P<string>(?:u8|[uUL])?"(?:[^"\\\n]|\\\r?\n|\\.|\\)*+"?)
    | (?P<character>(?:u8|[uUL])?'(?:[^'\\\n]|\\\r?\n|\\.|\\)*+'?)
    | (?P<name>[^\W\d]\w*+)
    | (?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*+)
    | (?P<punctuation><<<|<<=|->|::|\#\#|[-+*/%&|^=!<>]=|&&|\|\||<<|\+\+|--|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_KINDS = {
    "newline": Kind.END_OF_LINE,
    "string": Kind.STRING,
    "character": Kind.CHARACTER,
    "name": Kind.NAME,
    "number": Kind.NUMBER,
    "punctuation": Kind.PUNCTUATION,
}


@functools.lru_cache(maxsize=2)  # the rewriter and the X-ray read the same text, one after another
def tokenize(source: str) -> Source:
    """The tokens of `source`, code and directives apart. Nobody changes them."""
    code: list[Token] = []
    directives: list[Directive] = []
    line: list[Token] | None = None  # the directive that is being read
    at_line_start = True
    for token in _pieces(source):
        if token.kind is Kind.END_OF_LINE:
            if line is not None:
                directives.append(_directive(line, before=len(code)))
            line, at_line_start = None, True
        elif line is not None:
            line.append(token)
        elif at_line_start and token.text == "#":
            line = []
        else:
            code.append(token)
            at_line_start = False
    return Source(code, directives)


def _directive(line: list[Token], *, before: int) -> Directive:
    if line and line[0].kind is Kind.NAME:
        return Directive(line[0].text, line[1:], before)
    return Directive("", line, before)


def _pieces(source: str) -> Iterator[Token]:
    position = 0
    while found := _PIECE.match(source, position):
        what = found.lastgroup or ""
        end = found.end()
        if what == "block":
            end = _find_end(source, "*/", end, LexError(position, "this comment never ends"))
        elif what == "delimiter" or found["raw"]:
            close = f'){found["delimiter"]}"'
            end = _find_end(source, close, end, LexError(position, "this raw string never ends"))
            yield Token(Kind.STRING, source[position:end], position)
        elif kind := _KINDS.get(what):
            yield Token(kind, found.group(), position)
        position = end
    yield Token(Kind.END_OF_LINE, "", position)


def _find_end(source: str, close: str, start: int, error: LexError) -> int:
    found = source.find(close, start)
    if found < 0:
        raise error
    return found + len(close)


class _Open(NamedTuple):
    """A bracket that is still open, those around it, and what it means for what is inside."""

    at: int
    text: str
    around: _Open | None
    brace: _Open | None  #: the nearest `{`, itself if it is one
    in_function: bool


@dataclass(frozen=True)
class Brackets:
    """Which brackets of a list of tokens belong together, by index."""

    partner: dict[int, int]
    in_function: list[bool]  #: of each token: is it inside braces other than a namespace's?


_CLOSES = {")": "(", "]": "[", "}": "{"}


def match_brackets(tokens: Sequence[Token], directives: Sequence[Directive] = ()) -> Brackets:
    """Pair the brackets, forgiving what does not match.

    The branches of `#if … #else … #endif` each begin with the brackets open at the `#if`: an author may
    open the same function in both.
    """
    partner: dict[int, int] = {}
    in_function: list[bool] = []
    conditions: list[_Open | None] = []
    pending = iter(directives)
    directive = next(pending, None)
    top: _Open | None = None
    for index, token in enumerate(tokens):
        while directive is not None and directive.before <= index:
            top = _at_condition(directive.name, top, conditions)
            directive = next(pending, None)
        in_function.append(top is not None and top.in_function)
        if token.kind is not Kind.PUNCTUATION:
            continue
        if token.text in {"(", "[", "{"}:
            top = _opened(tokens, index, top)
        elif token.text in _CLOSES:
            opener = top.brace if top and token.text == "}" else top
            if opener and opener.text == _CLOSES[token.text]:
                partner[opener.at], partner[index] = index, opener.at
                top = opener.around
    return Brackets(partner, in_function)


def _at_condition(name: str, top: _Open | None, conditions: list[_Open | None]) -> _Open | None:
    if name in {"if", "ifdef", "ifndef"}:
        conditions.append(top)
    elif name in {"else", "elif"} and conditions:
        return conditions[-1]
    elif name == "endif" and conditions:
        conditions.pop()
    return top


def _opened(tokens: Sequence[Token], index: int, top: _Open | None) -> _Open:
    text = tokens[index].text
    inside = top is not None and top.in_function
    if text != "{":
        return _Open(index, text, top, top.brace if top else None, inside)
    opened = _Open(index, text, top, None, inside or not _opens_namespace(tokens, index))
    return opened._replace(brace=opened)


def _opens_namespace(tokens: Sequence[Token], brace: int) -> bool:
    """Whether the `{` at `brace` is that of `namespace a::b {` or `extern "C" {`."""
    index = brace - 1
    if index >= 1 and tokens[index].kind is Kind.STRING:
        return tokens[index - 1].text == "extern"
    while index >= 0 and (tokens[index].kind is Kind.NAME or tokens[index].text == "::"):
        if tokens[index].text == "namespace":
            return True
        index -= 1
    return False
