"""Demangler for kernel symbols: the part of the Itanium C++ ABI that function names need.

Parameters are left out. A symbol that it cannot parse is returned unchanged.
"""

from __future__ import annotations

_TYPES = {
    "v": "void", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short",
    "t": "unsigned short", "i": "int", "j": "unsigned", "l": "long", "m": "unsigned long", "x": "long long",
    "y": "unsigned long long", "f": "float", "d": "double", "DF16_": "_Float16", "DF16b": "__bf16",
}  # fmt: skip
_SUFFIXES = {"i": "", "j": "u", "l": "l", "m": "ul", "x": "ll", "y": "ull"}
_STANDARD = {"St": "std", "Sa": "std::allocator", "Ss": "std::string"}


class _UnsupportedMangling(Exception):
    """The symbol uses a part of the mangling scheme that this parser does not support."""


def demangle(symbol: str) -> str:
    """Return the readable name: `_Z3addILi4EfEvPT0_` → `add<4, float>`."""
    if not symbol.startswith("_Z"):
        return symbol
    try:
        return _Parser(symbol[2:]).name() or symbol
    except (_UnsupportedMangling, IndexError, ValueError, RecursionError):
        return symbol


def bare_name(name: str) -> str:
    """Strip namespaces and template arguments: `space::add<4, float>` → `add`."""
    return name.partition("<")[0].rpartition("::")[2]


class _Parser:
    """Recursive-descent parser for one symbol."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._substitutions: list[str] = []  # the table that substitutions refer to

    def name(self) -> str:
        if not self._take("N"):
            return self._part("")
        self._skip("rVK")
        name = ""
        while not self._take("E"):
            name = self._part(name)
        return name

    def _part(self, before: str) -> str:
        """Parse the next component of a qualified name."""
        if self._take("I"):
            result = f"{before}<{', '.join(self._arguments())}>"
        elif self._peek() == "S":
            result = self._substitution()
            return self._part(result) if self._peek() == "I" else result
        else:
            self._skip("L")  # marks internal linkage
            component = self._source_name()
            result = f"{before}::{component}" if before else component
        self._substitutions.append(result)
        return self._part(result) if not before and self._peek() == "I" else result

    def _source_name(self) -> str:
        digits = self._position
        while self._peek().isdigit():
            self._position += 1
        end = self._position + int(self._text[digits : self._position])
        if not self._position < end <= len(self._text):
            raise _UnsupportedMangling
        name, self._position = self._text[self._position : end], end
        return "(anonymous)" if name.startswith("_GLOBAL__N") else name

    def _arguments(self) -> list[str]:
        arguments = []
        while not self._take("E"):
            if self._take("J"):
                arguments += self._arguments()
            elif self._take("L"):
                arguments.append(self._literal())
            else:
                arguments.append(self._type())
        return arguments

    def _literal(self) -> str:
        kind = self._type()
        end = self._text.index("E", self._position)
        value, self._position = self._text[self._position : end].replace("n", "-"), end + 1
        if kind == "bool":
            return {"0": "false", "1": "true"}.get(value, value)
        letter = next((letter for letter, name in _TYPES.items() if name == kind), "")
        return value + _SUFFIXES[letter] if letter in _SUFFIXES else f"({kind}){value}"

    def _type(self) -> str:
        for prefix, form in (
            ("P", "{}*"),
            ("R", "{}&"),
            ("O", "{}&&"),
            ("K", "const {}"),
            ("V", "volatile {}"),
        ):
            if self._take(prefix):
                spelled = form.format(self._type())
                self._substitutions.append(spelled)
                return spelled
        for code in ("DF16_", "DF16b", self._peek()):
            if code in _TYPES and self._take(code):
                return _TYPES[code]
        if self._peek() == "N":
            return self.name()
        return self._part("")

    def _substitution(self) -> str:
        for code, name in _STANDARD.items():
            if self._take(code):
                return self._part(name) if code == "St" else name
        end = self._text.index("_", self._position)
        index, self._position = self._text[self._position + 1 : end], end + 1
        return self._substitutions[int(index, 36) + 1 if index else 0]

    def _peek(self) -> str:
        return self._text[self._position : self._position + 1]

    def _take(self, text: str) -> bool:
        if not self._text.startswith(text, self._position):
            return False
        self._position += len(text)
        return True

    def _skip(self, letters: str) -> None:
        while self._peek() and self._peek() in letters:
            self._position += 1
