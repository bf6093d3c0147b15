"""Makes a kernel's name of its symbol: as much of C++'s mangling as the names of functions need.

Parameters are left out. What it does not understand stays as it is.
"""

from __future__ import annotations

_TYPES = {
    "v": "void", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short",
    "t": "unsigned short", "i": "int", "j": "unsigned", "l": "long", "m": "unsigned long", "x": "long long",
    "y": "unsigned long long", "f": "float", "d": "double", "DF16_": "_Float16", "DF16b": "__bf16",
}  # fmt: skip
_SUFFIXES = {"i": "", "j": "u", "l": "l", "m": "ul", "x": "ll", "y": "ull"}
_STANDARD = {"St": "std", "Sa": "std::allocator", "Ss": "std::string"}


class _Unknown(Exception):
    """A piece of mangling that is not known here."""


def demangle(symbol: str) -> str:
    """`_Z3addILi4EfEvPT0_` → `add<4, float>`."""
    if not symbol.startswith("_Z"):
        return symbol
    try:
        return _Parser(symbol[2:]).name() or symbol
    except (_Unknown, IndexError, ValueError, RecursionError):
        return symbol


def bare_name(name: str) -> str:
    """`space::add<4, float>` → `add`."""
    return name.partition("<")[0].rpartition("::")[2]


class _Parser:
    """Reads one symbol from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._seen: list[str] = []  # what a substitution may refer to

    def name(self) -> str:
        if not self._take("N"):
            return self._part("")
        self._skip("rVK")
        name = ""
        while not self._take("E"):
            name = self._part(name)
        return name

    def _part(self, before: str) -> str:
        """The next piece of a qualified name."""
        if self._take("I"):
            result = f"{before}<{', '.join(self._arguments())}>"
        elif self._peek() == "S":
            result = self._substitution()
            return self._part(result) if self._peek() == "I" else result
        else:
            self._skip("L")  # of internal linkage
            piece = self._source_name()
            result = f"{before}::{piece}" if before else piece
        self._seen.append(result)
        return self._part(result) if not before and self._peek() == "I" else result

    def _source_name(self) -> str:
        digits = self._at
        while self._peek().isdigit():
            self._at += 1
        end = self._at + int(self._text[digits : self._at])
        if not self._at < end <= len(self._text):
            raise _Unknown
        name, self._at = self._text[self._at : end], end
        return "(anonymous)" if name.startswith("_GLOBAL__N") else name

    def _arguments(self) -> list[str]:
        found = []
        while not self._take("E"):
            if self._take("J"):
                found += self._arguments()
            elif self._take("L"):
                found.append(self._literal())
            else:
                found.append(self._type())
        return found

    def _literal(self) -> str:
        kind = self._type()
        end = self._text.index("E", self._at)
        value, self._at = self._text[self._at : end].replace("n", "-"), end + 1
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
                made = form.format(self._type())
                self._seen.append(made)
                return made
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
        end = self._text.index("_", self._at)
        index, self._at = self._text[self._at + 1 : end], end + 1
        return self._seen[int(index, 36) + 1 if index else 0]

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self, text: str) -> bool:
        if not self._text.startswith(text, self._at):
            return False
        self._at += len(text)
        return True

    def _skip(self, letters: str) -> None:
        while self._peek() and self._peek() in letters:
            self._at += 1
