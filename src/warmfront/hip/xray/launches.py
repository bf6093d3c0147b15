"""Finds where each kernel is declared, and with how many threads it is launched, if the text says so plainly.

It reads names, numbers and the four operations; whatever else a launch is made of is not known here, and
not guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warmfront.hip.cpu.lexer import Kind, LexError, match_brackets, tokenize

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from warmfront.hip.cpu.lexer import Source, Token

#: How far a constant may be defined by other constants.
_MOST_STEPS = 8


@dataclass(frozen=True, kw_only=True)
class Launch:
    """One launch, as far as it is known."""

    kernel: str  #: without namespaces and template arguments
    line: int
    block: tuple[int, int, int] | None
    lds_bytes: int | None  #: asked for at the launch; 0 where nothing was

    @property
    def threads(self) -> int | None:
        """Threads of a block."""
        return self.block[0] * self.block[1] * self.block[2] if self.block else None


def find_launches(source: str) -> list[Launch]:
    """Every `kernel<<<grid, block, …>>>` of a source."""
    try:
        tokens = tokenize(source)
    except LexError:
        return []
    code = tokens.code
    constants = _Constants(tokens)
    found = []
    for index, token in enumerate(code):
        if token.text == "<<<" and index > 0:
            arguments = _arguments(code, index)
            found.append(
                Launch(
                    kernel=_kernel_name(code, index),
                    line=source.count("\n", 0, token.start) + 1,
                    block=constants.extent(arguments[1]) if len(arguments) > 1 else None,
                    lds_bytes=constants.number(arguments[2]) if len(arguments) > 2 else 0,
                )
            )
    return found


def kernel_lines(source: str) -> dict[str, int]:
    """Where each kernel is declared first."""
    try:
        code = tokenize(source).code
    except LexError:
        return {}
    partner = match_brackets(code).partner
    found: dict[str, int] = {}
    for index, token in enumerate(code):
        name = _declared_name(code, index + 1, partner) if token.text == "__global__" else None
        if name is not None:
            found.setdefault(name.text, source.count("\n", 0, name.start) + 1)
    return found


def _declared_name(code: Sequence[Token], index: int, partner: Mapping[int, int]) -> Token | None:
    """The name of the function whose declaration goes on at `index`, past attributes and their brackets."""
    while index + 1 < len(code) and code[index].text not in {";", "{", "}"}:
        if code[index + 1].text == "(" and code[index].text not in _ATTRIBUTES:
            return code[index] if code[index].kind is Kind.NAME else None
        index = partner.get(index + 1, index) + 1 if code[index].text in _ATTRIBUTES else index + 1
    return None


_ATTRIBUTES = frozenset({"__launch_bounds__", "__attribute__", "alignas", "__align__"})


def _kernel_name(code: Sequence[Token], launch: int) -> str:
    """The name before `<<<`, behind template arguments."""
    index = launch - 1
    depth = 0
    while index >= 0:
        text = code[index].text
        depth += text.count(">") - text.count("<") if text in {"<", ">", ">>"} else 0
        if depth == 0 and code[index].kind is Kind.NAME:
            return text
        index -= 1
    return ""


def _arguments(code: Sequence[Token], launch: int) -> list[list[Token]]:
    """The expressions between `<<<` and `>>>`."""
    found: list[list[Token]] = [[]]
    depth = 0
    for index in range(launch + 1, len(code)):
        token = code[index]
        if depth == 0 and [each.text for each in code[index : index + 3]] == [">", ">", ">"]:
            break
        depth += (token.text in {"(", "[", "{"}) - (token.text in {")", "]", "}"})
        if token.text == "," and depth == 0:
            found.append([])
        else:
            found[-1].append(token)
    return found


class _Constants:
    """What names stand for: `constexpr int N = 256;`, `#define N 256`, `const dim3 block(16, 16);`."""

    def __init__(self, tokens: Source) -> None:
        self._values: dict[str, list[Token] | None] = {}
        self._extents: dict[str, list[list[Token]] | None] = {}
        for directive in tokens.directives:
            if directive.name == "define" and directive.tokens:
                self._keep(self._values, directive.tokens[0].text, directive.tokens[1:])
        self._read(tokens.code)

    def _read(self, code: Sequence[Token]) -> None:
        partner = match_brackets(code).partner
        for index in range(1, len(code) - 2):
            name, after = code[index], code[index + 1].text
            if name.kind is not Kind.NAME or code[index - 1].kind is not Kind.NAME:
                continue
            if after == "=" and _is_constant(code, index):
                self._keep(self._values, name.text, _until_end(code, index + 2))
            elif code[index - 1].text == "dim3" and after in {"(", "{"} and index + 1 in partner:
                inside = code[index + 2 : partner[index + 1]]
                self._keep(self._extents, name.text, _split(inside))

    def _keep(self, table: dict[str, Any], name: str, value: object) -> None:
        """A name that means two things means nothing."""
        known = table.get(name, value)
        same = known is not None and _spelling(known) == _spelling(value)
        table[name] = value if same else None

    def number(self, expression: Sequence[Token], steps: int = 0) -> int | None:
        """The value of an expression."""
        try:
            return _Expression(self._spelled(expression, steps)).value()
        except (ValueError, IndexError, ZeroDivisionError):
            return None

    def extent(self, expression: Sequence[Token]) -> tuple[int, int, int] | None:
        """The three extents that an expression for a block gives."""
        texts = [token.text for token in expression]
        parts: list[list[Token]] | None = [list(expression)]
        if texts[:1] == ["dim3"] and len(texts) > 2:
            parts = _split(expression[2:-1])
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

    def _spelled(self, expression: Sequence[Token], steps: int) -> list[str]:
        """The expression with numbers for names."""
        if steps > _MOST_STEPS:
            raise ValueError("defined in a circle")
        spelled = []
        for token in expression:
            if token.kind is Kind.NAME and token.text not in _CASTS:
                meaning = self._values.get(token.text)
                value = self.number(meaning, steps + 1) if meaning else None
                if value is None:
                    raise ValueError(token.text)
                spelled.append(str(value))
            elif token.text not in _CASTS:
                spelled.append(token.text)
        return spelled


#: `size_t(256)` is 256: the name goes, the brackets stay.
_CASTS = frozenset({"size_t", "int", "unsigned", "std", "::", "uint32_t", "static_cast"})


class _Expression:
    """Evaluates whole numbers with + - * / % and brackets, as C does."""

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
            result = {"*": lambda a, b: a * b, "/": lambda a, b: a // b, "%": lambda a, b: a % b}[operator](
                result, right
            )
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


def _is_constant(code: Sequence[Token], name: int) -> bool:
    """Whether the declaration that `name` ends says const or constexpr."""
    index = name - 1
    while index >= 0 and (code[index].kind is Kind.NAME or code[index].text == "::"):
        if code[index].text in {"const", "constexpr"}:
            return True
        index -= 1
    return False


def _until_end(code: Sequence[Token], start: int) -> list[Token]:
    """The tokens of an initialiser."""
    end = start
    depth = 0
    while end < len(code) and not (depth == 0 and code[end].text in {";", ",", ")"}):
        depth += (code[end].text in {"(", "{", "["}) - (code[end].text in {")", "}", "]"})
        end += 1
    return list(code[start:end])


def _split(tokens: Sequence[Token]) -> list[list[Token]]:
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


def _spelling(value: object) -> str:
    if isinstance(value, list):
        return " ".join(_spelling(each) for each in value)
    return getattr(value, "text", "")


def block_of(launches: Sequence[Launch], kernel: str) -> tuple[int, int, int] | None:
    """The block that a kernel is launched with, if every launch of it uses the same known one."""
    blocks = {launch.block for launch in launches if launch.kernel == kernel}
    return blocks.pop() if len(blocks) == 1 else None


def dynamic_lds_of(launches: Sequence[Launch], kernel: str) -> Mapping[int, int]:
    """The bytes of LDS that launches of a kernel ask for, by line, where they are known and not 0."""
    return {
        launch.line: launch.lds_bytes for launch in launches if launch.kernel == kernel and launch.lds_bytes
    }
