"""Split HIP source into tokens, in time linear in its length, and match its brackets.

The lexer distinguishes code, comments and literals as a compiler does. It does not parse the grammar or
expand macros.
"""

from __future__ import annotations

import functools
import re
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class LexError(Exception):
    """The source ends inside a comment or a raw string."""

    def __init__(self, offset: int, message: str) -> None:
        self.offset = offset
        self.message = message
        super().__init__(message)


class TokenKind(Enum):
    """The kind of a token. Comments and white space are not tokens."""

    NAME = auto()
    NUMBER = auto()
    STRING = auto()  #: ordinary or raw, with its prefix
    CHARACTER = auto()
    PUNCTUATION = auto()
    END_OF_LINE = auto()  #: internal: only between `_scan` and `tokenize`


class Token(NamedTuple):
    """A token's text and the offset at which it begins."""

    kind: TokenKind
    text: str
    start: int

    @property
    def end(self) -> int:
        """The offset of the first character after the token."""
        return self.start + len(self.text)


@dataclass(frozen=True)
class Directive:
    """A preprocessor line, with its continuation lines."""

    name: str  #: `define`, `if`, `include` …; empty for a lone `#`
    tokens: list[Token]  #: the tokens after the name
    before: int  #: the number of code tokens before it


@dataclass(frozen=True)
class Source:
    """The tokens of a file, with preprocessor directives separate from the code."""

    code: list[Token]
    directives: list[Directive]


# Possessive quantifiers keep every alternative linear: an unclosed literal ends with its line, as it does
# for a compiler, and is not tried again from each quote in it.
_TOKEN = re.compile(
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
    "newline": TokenKind.END_OF_LINE,
    "string": TokenKind.STRING,
    "character": TokenKind.CHARACTER,
    "name": TokenKind.NAME,
    "number": TokenKind.NUMBER,
    "punctuation": TokenKind.PUNCTUATION,
}


@functools.lru_cache(maxsize=2)  # the rewriter and the X-ray read the same text in turn
def tokenize(source: str) -> Source:
    """Return the tokens of `source`. The result is cached, so callers must not change it.

    Raises:
        LexError: the source ends inside a comment or a raw string.
    """
    code: list[Token] = []
    directives: list[Directive] = []
    line: list[Token] | None = None  # the directive that is being read
    at_line_start = True
    for token in _scan(source):
        if token.kind is TokenKind.END_OF_LINE:
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
    if line and line[0].kind is TokenKind.NAME:
        return Directive(line[0].text, line[1:], before)
    return Directive("", line, before)


def split_macro(tokens: list[Token]) -> tuple[frozenset[str], list[Token]]:
    """Return the parameters and the body of a macro, given the tokens after `#define`."""
    if len(tokens) < 2 or tokens[1].text != "(" or tokens[1].start != tokens[0].end:
        return frozenset(), tokens[1:]
    close = next((i for i, token in enumerate(tokens) if token.text == ")"), len(tokens) - 1)
    return frozenset(t.text for t in tokens[2:close] if t.kind is TokenKind.NAME), tokens[close + 1 :]


def _scan(source: str) -> Iterator[Token]:
    position = 0
    while match := _TOKEN.match(source, position):
        group = match.lastgroup or ""
        end = match.end()
        if group == "block":
            end = _find_end(source, "*/", end, LexError(position, "this comment is not terminated"))
        elif group == "delimiter" or match["raw"]:
            close = f'){match["delimiter"]}"'
            end = _find_end(source, close, end, LexError(position, "this raw string is not terminated"))
            yield Token(TokenKind.STRING, source[position:end], position)
        elif kind := _KINDS.get(group):
            yield Token(kind, match.group(), position)
        position = end
    yield Token(TokenKind.END_OF_LINE, "", position)


def _find_end(source: str, close: str, start: int, error: LexError) -> int:
    position = source.find(close, start)
    if position < 0:
        raise error
    return position + len(close)


class _OpenBracket(NamedTuple):
    """A bracket that is still open, the brackets around it, and whether it is inside a function."""

    position: int
    text: str
    around: _OpenBracket | None
    brace: _OpenBracket | None  #: the nearest `{`, itself if it is one
    in_function: bool


@dataclass(frozen=True)
class Brackets:
    """The matching brackets of a list of tokens, by index."""

    partner: dict[int, int]
    in_function: list[bool]  #: for each token: whether it is inside braces other than a namespace's


_CLOSES = {")": "(", "]": "[", "}": "{"}


def match_brackets(tokens: Sequence[Token], directives: Sequence[Directive] = ()) -> Brackets:
    """Match the brackets, and ignore those without a partner.

    Each branch of `#if … #else … #endif` starts with the brackets that are open at the `#if`, because both
    branches may open the same function.
    """
    partner: dict[int, int] = {}
    in_function: list[bool] = []
    conditions: list[_OpenBracket | None] = []
    pending = iter(directives)
    directive = next(pending, None)
    top: _OpenBracket | None = None
    for index, token in enumerate(tokens):
        while directive is not None and directive.before <= index:
            top = _after_directive(directive.name, top, conditions)
            directive = next(pending, None)
        in_function.append(top is not None and top.in_function)
        if token.kind is not TokenKind.PUNCTUATION:
            continue
        if token.text in {"(", "[", "{"}:
            top = _push(tokens, index, top)
        elif token.text in _CLOSES:
            opener = top.brace if top and token.text == "}" else top
            if opener and opener.text == _CLOSES[token.text]:
                partner[opener.position], partner[index] = index, opener.position
                top = opener.around
    return Brackets(partner, in_function)


def _after_directive(
    name: str, top: _OpenBracket | None, conditions: list[_OpenBracket | None]
) -> _OpenBracket | None:
    if name in {"if", "ifdef", "ifndef"}:
        conditions.append(top)
    elif name in {"else", "elif"} and conditions:
        return conditions[-1]
    elif name == "endif" and conditions:
        conditions.pop()
    return top


def _push(tokens: Sequence[Token], index: int, top: _OpenBracket | None) -> _OpenBracket:
    text = tokens[index].text
    inside = top is not None and top.in_function
    if text != "{":
        return _OpenBracket(index, text, top, top.brace if top else None, inside)
    bracket = _OpenBracket(index, text, top, None, inside or not _opens_namespace(tokens, index))
    return bracket._replace(brace=bracket)


def _opens_namespace(tokens: Sequence[Token], brace: int) -> bool:
    """Return whether the `{` at `brace` is the one of `namespace a::b {` or `extern "C" {`."""
    index = brace - 1
    if index >= 1 and tokens[index].kind is TokenKind.STRING:
        return tokens[index - 1].text == "extern"
    while index >= 0 and (tokens[index].kind is TokenKind.NAME or tokens[index].text == "::"):
        if tokens[index].text == "namespace":
            return True
        index -= 1
    return False
