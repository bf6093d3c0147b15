"""Decide whether the host code of a source needs a separate compilation.

Clang parses the whole file when it compiles for the device, and reports errors of types and names in host
code as well. It does not report errors that depend on the side: host code that calls a function or reads a
variable of the device, types with another size, and code that only the host's preprocessor sees. Most files
have a `solution` that prepares a launch and uses nothing but HIP's own API; for these a second compilation
finds nothing, and parses all headers again (`bench/xray.py`).

The decision is conservative: code that is not known to be harmless needs the compilation.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from warmfront.hip.source.lexer import LexError, TokenKind, match_brackets, tokenize

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warmfront.hip.source.lexer import Directive, Token

#: Variables that exist in device code only.
_DEVICE_VARIABLES = frozenset({"blockDim", "blockIdx", "gridDim", "threadIdx", "warpSize"})
#: Names that begin with two underscores and are harmless in host code.
_HOST_SPECIFIERS = frozenset({"__host__", "__inline__", "__restrict", "__restrict__"})
#: Keywords and functions with parentheses that are the same on both sides.
_HOST_FUNCTIONS = frozenset(
    {"alignof", "calloc", "decltype", "dim3", "for", "free", "if", "malloc", "memcpy", "memset", "printf"}
    | {"return", "sizeof", "static_assert", "switch", "while"}
)
#: Floating-point types of the host, which the device does not have.
_WIDE = ("__float128", "__float80", "__ibm128", "_Float128", "_Float64x")
_HIP_API = re.compile(r"hip[A-Z]\w*")
#: A name after one of these is not a variable that is being declared.
_NOT_TYPES = frozenset({"case", "co_return", "co_yield", "delete", "do", "else", "new", "return", "throw"})
#: These contain declarations, of either side.
_SCOPES = frozenset({"class", "namespace", "struct", "union"})
#: Words of declarations, which say nothing about a side.
_SHARED_WORDS = frozenset(
    {"auto", "bool", "char", "const", "constexpr", "double", "extern", "float", "half", "inline", "int"}
    | {"long", "short", "signed", "size_t", "static", "template", "typename", "unsigned", "void"}
)
_DEVICE = frozenset({"__constant__", "__device__", "__managed__", "__shared__"})


def needs_host_compilation(source: str) -> bool:
    """Return whether compiling for the host could report errors that compiling for the device does not."""
    try:
        tokens = tokenize(source)
    except LexError:
        return True
    if not all(_is_simple(directive) for directive in tokens.directives) or _has_other_sizes(tokens.code):
        return True
    host: list[Token] = []
    host_names: set[str] = set()
    device_names: set[str] = set()
    for declaration in _declarations(tokens.code):
        texts = {token.text for token in declaration}
        if texts & _SCOPES and texts & (_DEVICE | {"__global__"}):
            return True
        header = _header(declaration)
        specifiers = {token.text for token in header}
        if "__global__" in specifiers:
            continue
        if specifiers & _DEVICE and "__host__" not in specifiers:
            names = {token.text for token in header if token.kind is TokenKind.NAME}
            device_names |= _called(header) or names - _SHARED_WORDS
            continue
        host += declaration
        host_names |= _called(header)
    return any(
        not _is_host_name(host, index, host_names) or token.text in device_names
        for index, token in enumerate(host)
        if token.kind is TokenKind.NAME
    )


def host_functions(code: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Yield the bodies of the functions at file scope that run on the host only. Templates are left out."""
    for declaration in _declarations(code):
        header = _header(declaration)
        words = {token.text for token in header}
        if not words & (_DEVICE | _SCOPES | {"__global__", "template"}):
            yield declaration[len(header) :]


def _has_other_sizes(code: Sequence[Token]) -> bool:
    """Return whether the source, kernels included, uses a type that has another size on the other side."""
    return any(
        (before.text, token.text) in {("long", "double"), ("double", "long")} or token.text.startswith(_WIDE)
        for before, token in itertools.pairwise(code)
    )


def _is_simple(directive: Directive) -> bool:
    """Return whether a directive means the same on both sides: include, pragma or a numeric constant."""
    if directive.name in {"include", "pragma"}:
        return True
    return directive.name == "define" and all(
        token.kind in {TokenKind.NUMBER, TokenKind.PUNCTUATION} for token in directive.tokens[1:]
    )


def _declarations(code: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Yield the declarations at file scope: up to a semicolon, or to the end of a body."""
    partner = match_brackets(code).partner
    start = index = 0
    while index < len(code):
        text = code[index].text
        end = partner.get(index, index) if text in {"(", "[", "{"} else index
        index = max(end, index) + 1
        if text in {";", "{"}:
            yield code[start:index]
            start = index
    if start < len(code):
        yield code[start:]


def _header(declaration: Sequence[Token]) -> Sequence[Token]:
    """Return the part of a declaration before its body."""
    end = next((index for index, token in enumerate(declaration) if token.text == "{"), len(declaration))
    return declaration[:end]


def _called(tokens: Sequence[Token]) -> set[str]:
    """Return the names before a parenthesis."""
    return {
        token.text
        for token, following in itertools.pairwise(tokens)
        if token.kind is TokenKind.NAME and following.text == "("
    }


def _is_host_name(tokens: Sequence[Token], index: int, host_names: set[str]) -> bool:
    """Return whether a name in host code is known to exist on the host."""
    name = tokens[index].text
    before = tokens[index - 1] if index else None
    following = tokens[index + 1].text if index + 1 < len(tokens) else ""
    if name.startswith("__") or name in _DEVICE_VARIABLES or name == "asm":
        return name in _HOST_SPECIFIERS
    if before is not None and before.text == "::":
        return index > 1 and tokens[index - 2].text == "std"
    if following == "::":
        return name == "std"
    declares = before is not None and before.kind is TokenKind.NAME and before.text not in _NOT_TYPES
    is_known = name in _HOST_FUNCTIONS or name in host_names or _HIP_API.fullmatch(name) is not None
    return following != "(" or declares or is_known
