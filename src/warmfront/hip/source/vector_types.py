"""Rewrite the attributes that make vectors: `ext_vector_type(N)` and `vector_size(B)`.

g++ ignores the first one, and all elements but one would be lost without a message. Both become a type of the
CPU runtime: `hipcpu::ext_vector<T, N>` and `hipcpu::sized_vector<T, B>`, which are the compiler's own vectors
with clang. An attribute whose element type is not found raises `RewriteError`. `vector_expressions` rewrites
what a class cannot have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from warmfront.hip.source.edits import RewriteError, spell
from warmfront.hip.source.lexer import TokenKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warmfront.hip.source.edits import TokenEditor
    from warmfront.hip.source.lexer import Token

_KINDS = {"ext_vector_type": "ext_vector", "vector_size": "sized_vector"}
#: The names of the attributes, also as `__name__`.
VECTOR_ATTRIBUTES = frozenset(_KINDS) | {f"__{name}__" for name in _KINDS}
_ATTRIBUTE = frozenset({"__attribute__", "__attribute"})
_BEGINNINGS = frozenset({"", ";", "{", "}"})
#: Words of a declaration that are not part of its type.
_SPECIFIERS = frozenset(
    {
        "typedef",
        "const",
        "volatile",
        "static",
        "constexpr",
        "extern",
        "inline",
        "return",
        "thread_local",
        "typename",
    }
    | {
        "__shared__",
        "__device__",
        "__host__",
        "__constant__",
        "__restrict__",
        "__restrict",
        "case",
        "sizeof",
        "new",
    }
)
#: Types of several words, and types of one.
_BUILT_IN = frozenset(
    {"unsigned", "signed", "char", "short", "int", "long", "float", "double", "_Float16", "__bf16"}
)
_HINT = "Write: typedef float floatx4 __attribute__((ext_vector_type(4)));"


class _Attribute(NamedTuple):
    """One `__attribute__((...))` that has a vector attribute."""

    start: int  #: the token `__attribute__`
    end: int  #: its last parenthesis
    name: int  #: the token `ext_vector_type` or `vector_size`


def translate_vector(editor: TokenEditor, index: int) -> tuple[int, str]:
    """Rewrite the vector type whose attribute is named by the token `index`.

    Returns its last token, and the name that it declares; the name is empty if it declares none.
    """
    attribute = _find_attribute(editor, index)
    if attribute is None:
        return index, ""
    first = _statement_start(editor, attribute.start)
    if editor.text(first) == "typedef":
        return _translate_typedef(editor, first, attribute)
    if editor.text(first) == "using" and "=" in _texts(editor, first, _statement_end(editor, first)):
        return _translate_using(editor, first, attribute), editor.text(first + 1)
    return _translate_use(editor, attribute), ""


def _find_attribute(editor: TokenEditor, index: int) -> _Attribute | None:
    """Return the attribute that contains the token; None if `vector_size` is the author's own name."""
    start = index - 1
    while start >= 0 and editor.text(start) not in {*_ATTRIBUTE, ";", "{", "}"}:
        start -= 1
    end = editor.partner(start + 1)
    is_inside = editor.text(start) in _ATTRIBUTE and end is not None and end >= index
    if not is_inside and editor.text(index) == "vector_size":
        return None
    if not is_inside or end is None or editor.text(index + 1) != "(":
        raise _error(editor, index, "has an effect only in __attribute__((...))")
    return _Attribute(start, end, index)


def _translate_typedef(editor: TokenEditor, first: int, attribute: _Attribute) -> tuple[int, str]:
    """Rewrite `typedef T name __attribute__((ext_vector_type(N)));`, with the attribute anywhere in it."""
    end = _statement_end(editor, first)
    others = [i for i in range(first + 1, end) if not attribute.start <= i <= attribute.end]
    names = [i for i in others if editor.kind(i) is TokenKind.NAME and editor.text(i) not in _ATTRIBUTE]
    if not names or "," in _texts(editor, first, end) or "*" in (editor.text(i) for i in others):
        raise _error(editor, attribute.name, "must be in a typedef that declares one type")
    name = next(
        (i for i in reversed(others) if i in names and editor.text(i + 1) in {";", "[", *_ATTRIBUTE}), -1
    )
    element = [editor.tokens[i] for i in others if i < name or name < 0]
    if name < 0 or not element:
        raise _error(editor, attribute.name, "has no element type")
    _remove(editor, attribute)
    kept = [i for i in others if i < name]
    editor.replace(kept[0], _vector(editor, attribute, element), anchor=editor.tokens[attribute.name].start)
    for i in kept[1:]:
        editor.replace(i, "")
    return end - 1, editor.text(name)


def _translate_using(editor: TokenEditor, first: int, attribute: _Attribute) -> int:
    """Rewrite `using name = T __attribute__((ext_vector_type(N)));`, with the attribute anywhere in it."""
    end = _statement_end(editor, first)
    equals = next(i for i in range(first, end) if editor.text(i) == "=")
    others = [i for i in range(equals + 1, end) if not attribute.start <= i <= attribute.end]
    if not others:
        raise _error(editor, attribute.name, "has no element type")
    _remove(editor, attribute)
    element = [editor.tokens[i] for i in others]
    editor.replace(others[0], _vector(editor, attribute, element), anchor=editor.tokens[attribute.name].start)
    for i in others[1:]:
        editor.replace(i, "")
    return end - 1


def _translate_use(editor: TokenEditor, attribute: _Attribute) -> int:
    """Rewrite `T __attribute__((ext_vector_type(N)))` or the reverse, where a type is used."""
    before = _type_before(editor, attribute.start)
    after = [] if before else _type_after(editor, attribute.end + 1)
    element = before or after
    if not element:
        raise _error(editor, attribute.name, "has no element type next to it")
    _remove(editor, attribute)
    tokens = [editor.tokens[i] for i in element]
    editor.replace(
        element[0], f"{_vector(editor, attribute, tokens)} ", anchor=editor.tokens[attribute.name].start
    )
    for i in element[1:]:
        editor.replace(i, "")
    return max(attribute.end, element[-1])


def _type_before(editor: TokenEditor, index: int) -> list[int]:
    """Return the tokens of the type that ends before `index`: `unsigned char`, `ns::T` or `typename A::T`."""
    first = index
    while _is_type_part(editor, first - 1):
        first -= 1
    return list(range(first, index))


def _type_after(editor: TokenEditor, index: int) -> list[int]:
    """Return the tokens of the type that begins at `index`; the name that it declares is not part of it."""
    last = index
    while editor.text(last) in _BUILT_IN:
        last += 1
    if last == index and _is_type_part(editor, last):
        last += 1
        while editor.text(last) == "::":
            last += 2
    return list(range(index, last))


def _is_type_part(editor: TokenEditor, index: int) -> bool:
    text = editor.text(index)
    return text == "::" or (editor.kind(index) is TokenKind.NAME and text not in _SPECIFIERS)


def _vector(editor: TokenEditor, attribute: _Attribute, element: Sequence[Token]) -> str:
    """Return the vector type; qualifiers of the element become qualifiers of the vector."""
    qualifiers = [token.text for token in element if token.text in {"const", "volatile"}]
    spelled = spell([token for token in element if token.text not in {"const", "volatile"}])
    inside = editor.tokens[attribute.name + 2 : editor.partner(attribute.name + 1)]
    argument = spell(inside) if len(inside) == 1 else f"({spell(inside)})"
    kind = _KINDS[editor.text(attribute.name).strip("_")]
    return "".join(f"{word} " for word in qualifiers) + f"::hipcpu::{kind}<{spelled}, {argument}>"


def _remove(editor: TokenEditor, attribute: _Attribute) -> None:
    """Remove the vector attribute, and the whole `__attribute__` if it has no other."""
    close = editor.partner(attribute.name + 1) or attribute.end
    inside = range(attribute.start + 3, attribute.end - 1)
    alone = inside[0] == attribute.name and close == inside[-1]
    for i in range(attribute.start, attribute.end + 1) if alone else range(attribute.name, close + 1):
        editor.replace(i, "")


def _statement_start(editor: TokenEditor, index: int) -> int:
    """Return the first token of the statement, after a template's parameters and access specifiers."""
    first = index
    while editor.text(first - 1) not in _BEGINNINGS:
        first -= 1
        if editor.text(first) in {")", "]"}:
            first = min(first, editor.partner(first) or first)
        elif editor.text(first) in {"typedef", "using"}:
            return first
    return first


def _statement_end(editor: TokenEditor, first: int) -> int:
    """Return the semicolon at the end of the statement."""
    index = first
    while editor.text(index) not in {"", ";"}:
        index = max(index, editor.partner(index) or index) + 1
    return index


def _texts(editor: TokenEditor, first: int, end: int) -> list[str]:
    """Return the texts of the tokens outside parentheses and template arguments."""
    texts: list[str] = []
    index, depth = first, 0
    while index < end:
        text = editor.text(index)
        depth += (text == "<") - (text == ">")
        if depth == 0:
            texts.append(text)
        index = max(index, editor.partner(index) or index) + 1
    return texts


def _error(editor: TokenEditor, index: int, what: str) -> RewriteError:
    line, column = editor.lines.position(editor.tokens[index].start)
    return RewriteError(line, column, f"'{editor.text(index)}' {what}", hint=_HINT)
