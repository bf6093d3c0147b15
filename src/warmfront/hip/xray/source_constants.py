"""Values of the named constants of a source, evaluated from its tokens.

Integers, names and `+ - * / %` are supported. Any other expression has no known value. Evaluation takes
linear time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warmfront.hip.source.lexer import TokenKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warmfront.hip.source.lexer import Source, Token

#: Limit for chains of constants that are defined by other constants.
_MOST_STEPS = 8
#: Longer expressions are not evaluated.
MOST_TOKENS = 200

#: Casts are ignored, so that `size_t(256)` is read as `(256)`.
_CASTS = frozenset({"size_t", "int", "unsigned", "std", "::", "uint32_t", "static_cast"})
#: Keywords that can precede a name without declaring it.
_KEYWORDS = frozenset(
    {"return", "else", "case", "goto", "new", "delete", "throw", "typename", "class", "struct"}
)


class SourceConstants:
    """The constants of a source: `constexpr int N = 256;`, `#define N 256`, `const dim3 block(16, 16);`."""

    def __init__(self, tokens: Source) -> None:
        self._values: dict[str, list[Token] | None] = {}
        self._extents: dict[str, list[list[Token]] | None] = {}
        self._numbers: dict[str, int | None] = {}
        for directive in tokens.directives:
            if directive.name == "define" and directive.tokens:
                _define(self._values, directive.tokens[0].text, directive.tokens[1 : MOST_TOKENS + 1])
        self._read(tokens.code)

    def number(self, expression: Sequence[Token], steps: int = 0) -> int | None:
        """Return the value of an expression, or None if it is not known."""
        if len(expression) > MOST_TOKENS:
            return None
        try:
            return _Expression(self._substituted(expression, steps)).value()
        except (ValueError, IndexError, ZeroDivisionError):
            return None

    def extent(self, expression: Sequence[Token]) -> tuple[int, int, int] | None:
        """Return the three extents of a grid or block expression, or None if they are not known."""
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
            if (
                name.kind is not TokenKind.NAME
                or before.kind is not TokenKind.NAME
                or before.text in _KEYWORDS
            ):
                continue
            if after == "=" and _is_constant(code, index):
                _define(self._values, name.text, _initializer(code, index + 2))
            elif after in {"=", ",", ")", ";", ">"}:  # a variable or a parameter with this name
                self._values[name.text] = None
            elif before.text == "dim3" and after in {"(", "{"}:
                _define(self._extents, name.text, split(_initializer(code, index + 2)))

    def _substituted(self, expression: Sequence[Token], steps: int) -> list[str]:
        """Return the expression's tokens with the values of constants in place of their names."""
        if steps > _MOST_STEPS:
            raise ValueError("circular definition")
        substituted = []
        for token in expression:
            if token.text in _CASTS:
                continue
            if token.kind is not TokenKind.NAME:
                substituted.append(token.text)
                continue
            value = self._constant(token.text, steps)
            if value is None:
                raise ValueError(token.text)
            substituted.append(str(value))
        return substituted

    def _constant(self, name: str, steps: int) -> int | None:
        if name not in self._numbers:
            definition = self._values.get(name)
            self._numbers[name] = self.number(definition, steps + 1) if definition else None
        return self._numbers[name]


def _define(table: dict[str, Any], name: str, value: object) -> None:
    """Store a definition; a name with two different definitions gets None."""
    known = table.get(name, value)
    same = known is not None and _spelling(known) == _spelling(value)
    table[name] = value if same else None


def _spelling(value: object) -> str:
    if isinstance(value, list):
        return " ".join(_spelling(item) for item in value)
    return getattr(value, "text", "")


def _is_constant(code: Sequence[Token], name: int) -> bool:
    """Return whether the declaration that ends with `name` is const or constexpr."""
    for index in range(name - 1, max(name - 9, -1), -1):
        if code[index].kind is not TokenKind.NAME and code[index].text != "::":
            return False
        if code[index].text in {"const", "constexpr"}:
            return True
    return False


def _initializer(code: Sequence[Token], start: int) -> list[Token]:
    """Return the tokens up to the end of the declaration or its closing bracket."""
    depth = 0
    for end in range(start, min(start + MOST_TOKENS, len(code))):
        text = code[end].text
        if depth == 0 and text in {";", ")", "}"}:
            return list(code[start:end])
        depth += (text in {"(", "{", "["}) - (text in {")", "}", "]"})
    return []


def split(tokens: Sequence[Token]) -> list[list[Token]]:
    """Split tokens at the top-level commas."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.text in {"(", "[", "{"}) - (token.text in {")", "]", "}"})
        if token.text == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


class _Expression:
    """Recursive-descent evaluator for integers with + - * / % and parentheses."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = [*texts, ""]
        self._position = 0

    def value(self) -> int:
        result = self._sum()
        if self._texts[self._position]:
            raise ValueError(self._texts[self._position])
        return result

    def _sum(self) -> int:
        result = self._product()
        while (operator := self._texts[self._position]) in {"+", "-"}:
            self._position += 1
            result += self._product() if operator == "+" else -self._product()
        return result

    def _product(self) -> int:
        result = self._atom()
        while (operator := self._texts[self._position]) in {"*", "/", "%"}:
            self._position += 1
            right = self._atom()
            result = {"*": int.__mul__, "/": int.__floordiv__, "%": int.__mod__}[operator](result, right)
        return result

    def _atom(self) -> int:
        text = self._texts[self._position]
        self._position += 1
        if text != "(":
            return int(text.rstrip("uUlLzZ").replace("'", ""), 0)
        result = self._sum()
        if self._texts[self._position] != ")":
            raise ValueError(text)
        self._position += 1
        return result
