"""What the named constants of a source are worth, as far as names, numbers and the four operations go.

Whatever else an expression is made of is not known here, and not guessed. Time is linear in the source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warmfront.hip.source.lexer import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warmfront.hip.source.lexer import Source, Token

#: How far a constant may be defined by other constants.
_MOST_STEPS = 8
#: Tokens of an expression that is read at all.
MOST_TOKENS = 200

#: `size_t(256)` is 256: the name goes, the brackets stay.
_CASTS = frozenset({"size_t", "int", "unsigned", "std", "::", "uint32_t", "static_cast"})
#: Names before a name that do not declare it.
_KEYWORDS = frozenset(
    {"return", "else", "case", "goto", "new", "delete", "throw", "typename", "class", "struct"}
)


class SourceConstants:
    """What names stand for: `constexpr int N = 256;`, `#define N 256`, `const dim3 block(16, 16);`."""

    def __init__(self, tokens: Source) -> None:
        self._values: dict[str, list[Token] | None] = {}
        self._extents: dict[str, list[list[Token]] | None] = {}
        self._numbers: dict[str, int | None] = {}
        for directive in tokens.directives:
            if directive.name == "define" and directive.tokens:
                _keep(self._values, directive.tokens[0].text, directive.tokens[1 : MOST_TOKENS + 1])
        self._read(tokens.code)

    def number(self, expression: Sequence[Token], steps: int = 0) -> int | None:
        """The value of an expression."""
        if len(expression) > MOST_TOKENS:
            return None
        try:
            return _Expression(self._spelled(expression, steps)).value()
        except (ValueError, IndexError, ZeroDivisionError):
            return None

    def extent(self, expression: Sequence[Token]) -> tuple[int, int, int] | None:
        """The three extents that an expression for a block gives."""
        texts = [token.text for token in expression[:3]]
        parts: list[list[Token]] | None = [list(expression)]
        if texts[:1] == ["dim3"] and len(texts) == 3:
            parts = split(expression[2:-1])
        elif len(texts) == 1 and texts[0] in self._extents:
            parts = self._extents[texts[0]]
        if not parts or len(parts) > 3:
            return None
        sizes = [self.number(part) for part in parts]
        known = [size for size in sizes if size is not None and size > 0]
        if len(known) != len(sizes):
            return None
        x, y, z = (*known, 1, 1)[:3]
        return x, y, z

    def _read(self, code: Sequence[Token]) -> None:
        for index in range(1, len(code) - 2):
            name, before, after = code[index], code[index - 1], code[index + 1].text
            if name.kind is not Kind.NAME or before.kind is not Kind.NAME or before.text in _KEYWORDS:
                continue
            if after == "=" and _is_constant(code, index):
                _keep(self._values, name.text, _initialiser(code, index + 2))
            elif after in {"=", ",", ")", ";", ">"}:  # a variable or a parameter of that name
                self._values[name.text] = None
            elif before.text == "dim3" and after in {"(", "{"}:
                _keep(self._extents, name.text, split(_initialiser(code, index + 2)))

    def _spelled(self, expression: Sequence[Token], steps: int) -> list[str]:
        """The expression with numbers for names."""
        if steps > _MOST_STEPS:
            raise ValueError("defined in a circle")
        spelled = []
        for token in expression:
            if token.text in _CASTS:
                continue
            if token.kind is not Kind.NAME:
                spelled.append(token.text)
                continue
            value = self._named(token.text, steps)
            if value is None:
                raise ValueError(token.text)
            spelled.append(str(value))
        return spelled

    def _named(self, name: str, steps: int) -> int | None:
        if name not in self._numbers:
            meaning = self._values.get(name)
            self._numbers[name] = self.number(meaning, steps + 1) if meaning else None
        return self._numbers[name]


def _keep(table: dict[str, Any], name: str, value: object) -> None:
    """A name that means two things means nothing."""
    known = table.get(name, value)
    same = known is not None and _spelling(known) == _spelling(value)
    table[name] = value if same else None


def _spelling(value: object) -> str:
    if isinstance(value, list):
        return " ".join(_spelling(each) for each in value)
    return getattr(value, "text", "")


def _is_constant(code: Sequence[Token], name: int) -> bool:
    """Whether the declaration that `name` ends says const or constexpr."""
    for index in range(name - 1, max(name - 9, -1), -1):
        if code[index].kind is not Kind.NAME and code[index].text != "::":
            return False
        if code[index].text in {"const", "constexpr"}:
            return True
    return False


def _initialiser(code: Sequence[Token], start: int) -> list[Token]:
    """The tokens up to the end of a declaration, or to the bracket that closes it."""
    depth = 0
    for end in range(start, min(start + MOST_TOKENS, len(code))):
        text = code[end].text
        if depth == 0 and text in {";", ")", "}"}:
            return list(code[start:end])
        depth += (text in {"(", "{", "["}) - (text in {")", "}", "]"})
    return []


def split(tokens: Sequence[Token]) -> list[list[Token]]:
    """The expressions between commas."""
    found: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.text in {"(", "[", "{"}) - (token.text in {")", "]", "}"})
        if token.text == "," and depth == 0:
            found.append([])
        else:
            found[-1].append(token)
    return found


class _Expression:
    """Evaluates whole numbers with + - * / % and brackets."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = [*texts, ""]
        self._at = 0

    def value(self) -> int:
        result = self._sum()
        if self._texts[self._at]:
            raise ValueError(self._texts[self._at])
        return result

    def _sum(self) -> int:
        result = self._product()
        while (operator := self._texts[self._at]) in {"+", "-"}:
            self._at += 1
            result += self._product() if operator == "+" else -self._product()
        return result

    def _product(self) -> int:
        result = self._atom()
        while (operator := self._texts[self._at]) in {"*", "/", "%"}:
            self._at += 1
            right = self._atom()
            result = {"*": int.__mul__, "/": int.__floordiv__, "%": int.__mod__}[operator](result, right)
        return result

    def _atom(self) -> int:
        text = self._texts[self._at]
        self._at += 1
        if text != "(":
            return int(text.rstrip("uUlLzZ").replace("'", ""), 0)
        result = self._sum()
        if self._texts[self._at] != ")":
            raise ValueError(text)
        self._at += 1
        return result
