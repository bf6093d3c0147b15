"""Collect facts about the names in a file's kernels: which are constant, and which functions wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from warmfront.hip.source.declarations import ASSIGNMENTS, closing_angle
from warmfront.hip.source.kernel_statements import TokenRange
from warmfront.hip.source.lexer import TokenKind, split_macro

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warmfront.hip.source.edits import TokenEditor
    from warmfront.hip.source.lexer import Directive, Token

_SPECIFIERS = frozenset(
    {"static", "inline", "void", "extern", "__launch_bounds__", "__attribute__", "__global__"}
)
_MAX_CALL_DEPTH = 30
_STATEMENT_TOKENS = frozenset(
    {";", "{", "}", "return", "__shared__", "goto", "break", "continue", *ASSIGNMENTS}
)


class Kernel(NamedTuple):
    """The definition of a kernel, as indices of tokens."""

    name: str
    template: TokenRange  #: `template <…>`; empty if it is not a template
    declared: TokenRange  #: the parameters, between the parentheses
    body: TokenRange  #: from `{` to before `}`
    parameters: frozenset[str]
    template_names: frozenset[str]


class FileFacts(NamedTuple):
    """The names in a file on whose meaning kernels depend."""

    constants: frozenset[str]
    statement_macros: frozenset[str]  #: macros that are not just an expression
    waiting_functions: frozenset[str]
    waiting_prefixes: tuple[str, ...]
    shared_names: frozenset[str]  #: the variables in shared memory


def find_kernels(editor: TokenEditor, directives: Sequence[Directive]) -> list[Kernel]:
    """Return the kernels at file scope whose form is understood and whose name is defined once."""
    kernels = [k for i, t in enumerate(editor.tokens) if t.text == "__global__" and (k := _kernel(editor, i))]
    names = [kernel.name for kernel in kernels]
    conditional = [d.before for d in directives if d.name not in {"pragma", "define", "include", ""}]
    pragmas = [
        d.before for d in directives if d.name == "pragma" and d.tokens and "unroll" not in d.tokens[0].text
    ]
    inside = [*conditional, *pragmas, *(d.before for d in directives if d.name == "include")]
    return [
        kernel
        for kernel in kernels
        if names.count(kernel.name) == 1
        and not any(kernel.template.first < at <= kernel.body.end for at in inside)
    ]


def _kernel(editor: TokenEditor, index: int) -> Kernel | None:
    if editor.brackets.in_function[index]:
        return None
    start = index
    while start > 0 and editor.text(start - 1) not in {";", "}", "{"}:
        start -= 1
    template = TokenRange(index, index)
    if editor.text(start) == "template":
        close = closing_angle(editor, start + 1, index)
        if close is None or close == start + 2:  # an explicit specialization
            return None
        template = TokenRange(start, close + 1)
        start = close + 1
    name = _skip_specifiers(editor, start)
    opening = (editor.partner(name + 1) or name) + 1
    close = editor.partner(opening)
    if editor.text(name + 1) != "(" or editor.text(opening) != "{" or close is None:
        return None
    declared = TokenRange(name + 2, opening - 1)
    texts = {editor.text(i) for i in (*declared, *template)}
    if texts & {"&", "&&", ".", "requires"} or "volatile" in texts:
        return None
    return Kernel(
        editor.text(name),
        template,
        declared,
        TokenRange(opening, close),
        frozenset(_last_names(editor, declared)),
        frozenset(
            _last_names(editor, TokenRange(template.first + 2, max(template.end - 1, template.first + 2)))
        ),
    )


def _skip_specifiers(editor: TokenEditor, index: int) -> int:
    while editor.text(index) in _SPECIFIERS or editor.kind(index) is TokenKind.STRING:
        if editor.text(index + 1) == "(":
            index = editor.partner(index + 1) or index
        index += 1
    return index


def _last_names(editor: TokenEditor, tokens: TokenRange) -> Iterator[str]:
    """Yield the name of each parameter of a list."""
    name = ""
    index = tokens.first
    in_default = False
    while index < tokens.end:
        text = editor.text(index)
        if text in {"(", "["}:
            index = editor.partner(index) or index
        elif text == "<" and (close := closing_angle(editor, index, tokens.end)):
            index = close
        elif text == ",":
            yield name
            name, in_default = "", False
        elif text == "=":
            in_default = True
        elif editor.kind(index) is TokenKind.NAME and not in_default:
            name = text
        index += 1
    if name:
        yield name


def file_facts(
    editor: TokenEditor, directives: Sequence[Directive], kernels: Sequence[Kernel], waiting: tuple[str, ...]
) -> FileFacts:
    """Collect the facts about a file. `waiting` has the prefixes of names that make threads wait."""
    macros = {d.tokens[0].text: d.tokens for d in directives if d.name == "define" and d.tokens}
    statement_macros = frozenset(name for name, tokens in macros.items() if _is_statement(tokens))
    waits = {
        name for name, tokens in macros.items() if any(token.text.startswith(waiting) for token in tokens[1:])
    }
    constants = frozenset(_file_constants(editor)) - frozenset(macros)
    constants |= {
        name for name, tokens in macros.items() if _is_number(tokens, constants | frozenset(macros))
    }
    return FileFacts(
        constants,
        statement_macros,
        frozenset(_waiting_functions(editor, kernels, waiting, waits)),
        waiting,
        frozenset(_shared_names(editor)),
    )


def _shared_names(editor: TokenEditor) -> Iterator[str]:
    """Yield the names that are declared in shared memory, anywhere in the file."""
    visited: set[int] = set()  # so that a repeated `__shared__` does not read the same tokens again
    for index, token in enumerate(editor.tokens):
        end = index
        while (
            token.text == "__shared__"
            and end not in visited
            and editor.text(end) not in {"", ";", "{", "}", "="}
        ):
            visited.add(end)
            if editor.kind(end) is TokenKind.NAME and editor.text(end + 1) in {"[", ";", ",", "="}:
                yield editor.text(end)
            end = (editor.partner(end) or end) + 1 if editor.text(end) in {"[", "("} else end + 1


def _is_statement(tokens: list[Token]) -> bool:
    _, body = split_macro(tokens)
    return any(token.text in _STATEMENT_TOKENS or token.text in {"#", "##"} for token in body)


def _is_number(tokens: list[Token], known: frozenset[str]) -> bool:
    parameters, body = split_macro(tokens)
    simple = {"(", ")", "+", "-", "*", "/", "%", "<<"}
    is_object = len(tokens) < 2 or tokens[1].text != "(" or tokens[1].start != tokens[0].end
    return (
        is_object
        and not parameters
        and bool(body)
        and all(t.kind is TokenKind.NUMBER or t.text in simple or t.text in known for t in body)
    )


def _file_constants(editor: TokenEditor) -> Iterator[str]:
    """Yield the names of constants at file scope."""
    is_constant = False
    for index, token in enumerate(editor.tokens):
        if editor.brackets.in_function[index]:
            continue
        if token.text in {";", "}", "{"}:
            is_constant = False
        elif token.text in {"constexpr", "const"}:
            is_constant = True
        elif token.text == "=" and is_constant and editor.kind(index - 1) is TokenKind.NAME:
            yield editor.text(index - 1)


def _waiting_functions(
    editor: TokenEditor, kernels: Sequence[Kernel], waiting: tuple[str, ...], waits: set[str]
) -> set[str]:
    """Return the names of functions, types and macros in which threads may wait, directly or by a call."""
    bodies = [_definition(editor, opening, close) for opening, close in _outer_braces(editor, kernels)]
    known = -1
    for _ in range(_MAX_CALL_DEPTH):
        if known == len(waits):
            return waits
        known = len(waits)
        for names, used in bodies:
            # Assignments to volatile arrays are translated to code that waits.
            if used & waits or "volatile" in used or any(name.startswith(waiting) for name in used):
                waits |= names
    return waits.union(*(names for names, _ in bodies))


def _outer_braces(editor: TokenEditor, kernels: Sequence[Kernel]) -> Iterator[tuple[int, int]]:
    """Yield the braces that are in no function, except those of kernels and namespaces."""
    own = {kernel.body.first for kernel in kernels}
    for index, token in enumerate(editor.tokens):
        close = editor.partner(index)
        if token.text != "{" or close is None or editor.brackets.in_function[index] or index in own:
            continue
        if close == index + 1 or editor.brackets.in_function[index + 1]:
            yield index, close


def _definition(editor: TokenEditor, opening: int, close: int) -> tuple[set[str], set[str]]:
    """Return the names that a definition defines, and those that it uses."""
    start = opening
    while start > 0 and editor.text(start - 1) not in {";", "}", "{"}:
        start -= 1
    heads = {
        editor.text(i)
        for i in range(start, opening)
        if editor.kind(i) is TokenKind.NAME
        and (editor.text(i + 1) in {"(", "="} or editor.text(i - 1) in {"struct", "class", "union"})
    }
    used = {t.text for t in editor.tokens[start:close] if t.kind is TokenKind.NAME} - heads
    if {"struct", "class", "union"} & {editor.text(i) for i in range(start, opening)}:
        heads |= {editor.text(i) for i in range(opening, close) if editor.text(i + 1) == "("}
    return heads, used
