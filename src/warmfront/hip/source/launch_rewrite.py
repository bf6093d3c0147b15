"""Rewrite a launch as a call of the CPU runtime.

The rewriter finds the beginning of the kernel's name and the end of the configuration, and keeps the author's
text in between.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.hip.source import SECOND_FORM
from warmfront.hip.source.edits import spell
from warmfront.hip.source.lexer import TokenKind
from warmfront.hip.source.thread_loops_text import PREFIX

if TYPE_CHECKING:
    from warmfront.hip.source.edits import TokenEditor
    from warmfront.hip.source.lexer import Token

#: Keywords that can precede the name of a kernel without being part of it.
_STATEMENTS = frozenset({"return", "else", "do", "co_return", "co_yield", "case", "throw"})
_CONTROLS = frozenset({"if", "for", "while", "switch", "constexpr"})
#: Calls whose first argument is a kernel, often cast to `const void*` as in C.
LAUNCHING_CALLS = frozenset({"hipLaunchKernel", "hipLaunchCooperativeKernel"})


def translate_launch(editor: TokenEditor, opening: int, launcher: str, two_forms: frozenset[str]) -> None:
    """Rewrite `K<<<c>>>(x)` as `launch("K", __LINE__, config(c), [&](auto&... a) { K(a...); }, x)`."""
    first = _callee_start(editor, opening)
    closing = _configuration_end(editor, opening)
    callee = editor.tokens[first:opening]
    if any(token.text == "<<<" for token in callee):
        raise editor.error(first, "this is not the name of a kernel")
    anchor = callee[0].start
    editor.replace(first, f"::hipcpu::{launcher}({_quoted(editor, callee)}, __LINE__, ")
    for index in range(first + 1, opening):
        editor.replace(index, "")
    editor.replace(opening, "::hipcpu::config(")
    parenthesis = closing + 3
    if _has_braces(editor, parenthesis):
        _call_in_place(editor, closing, callee)
        return
    body = f"[&](auto&... hipcpu_args) {{ {spell(callee)}(hipcpu_args...); }}"
    if second := _second_form(callee, two_forms):
        call = f"return {second}(hipcpu_block, hipcpu_args...);"
        loops = f"[&](const ::hipcpu::Block& hipcpu_block, auto&... hipcpu_args) {{ {call} }}"
        body = f"::hipcpu::forms({body} {SECOND_FORM}(, {loops}))"
    _replace_closing(editor, closing, f"), {body}", anchor)
    editor.replace(parenthesis, _separator(editor, parenthesis))
    _null_arguments(editor, parenthesis)


def drop_cast(editor: TokenEditor, call: int) -> None:
    """Remove the cast in `hipLaunchKernel((const void*)k, …)`, which hides the types of k's parameters."""
    first = call + 2
    if editor.text(call + 1) != "(" or editor.text(first) not in {"(", "reinterpret_cast"}:
        return
    opening = first if editor.text(first) == "(" else first + 1
    end = opening + 1
    while editor.text(end) in {"const", "void", "*"}:
        end += 1
    cast = {editor.text(index) for index in range(opening + 1, end)}
    if {"void", "*"} <= cast and editor.text(end) == {"(": ")", "<": ">"}.get(editor.text(opening)):
        for index in range(first, end + 1):
            editor.replace(index, "")


def _second_form(callee: list[Token], two_forms: frozenset[str]) -> str | None:
    """Return the name of the kernel's second form, as qualified as `callee`; None if it has none."""
    end = next((i for i, token in enumerate(callee) if token.text == "<"), len(callee))
    plain = all(token.kind is TokenKind.NAME or token.text == "::" for token in callee[:end])
    if not end or not plain or callee[end - 1].text not in two_forms:
        return None
    name = callee[end - 1]
    return spell([*callee[: end - 1], name._replace(text=PREFIX + name.text), *callee[end:]])


def _replace_closing(editor: TokenEditor, closing: int, text: str, anchor: int) -> None:
    """Replace `>>>` with `text`."""
    editor.replace(closing, text, anchor)
    editor.replace(closing + 1, "", anchor)
    editor.replace(closing + 2, "", anchor)


def _has_braces(editor: TokenEditor, parenthesis: int) -> bool:
    """Return whether an argument is `{…}`, whose type depends on the kernel's parameter."""
    index = parenthesis + 1
    end = editor.partner(parenthesis) or 0
    while index < end:
        if editor.text(index) == "{" and editor.text(index - 1) in {"(", ","}:
            return True
        index = max(index, editor.partner(index) or index) + 1
    return False


def _call_in_place(editor: TokenEditor, closing: int, callee: list[Token]) -> None:
    """Rewrite `K<<<c>>>({1}, x)` as `launch("K", __LINE__, config(c), [&](auto&...) { K({1}, x); })`.

    Each thread evaluates the arguments again, which is why not every launch is rewritten in this way.
    """
    _replace_closing(editor, closing, f"), [&](auto&...) {{ {spell(callee)}", callee[0].start)
    editor.replace(editor.partner(closing + 3) or closing, "); })")


def _callee_start(editor: TokenEditor, opening: int) -> int:
    """Return the first token of the expression for the kernel: `a::template k<T>`, `(*f)`, `this->k`."""
    index = opening - 1
    while True:
        index = _primary_start(editor, index, opening)
        if editor.text(index - 1) == "template":
            index -= 1
        before = editor.text(index - 1)
        if before not in {"::", ".", "->"}:
            return index
        index -= 1
        qualifies = editor.kind(index - 1) is TokenKind.NAME and editor.text(index - 1) not in _STATEMENTS
        if before == "::" and not qualifies and editor.text(index - 1) != ">":
            return index  # the global ::k
        index -= 1


def _primary_start(editor: TokenEditor, index: int, opening: int) -> int:
    """Return the first token of the `k`, `k<T>`, `f(x)`, `table[i]` or `(*f)` that ends at `index`."""
    while editor.text(index) in {")", "]"}:
        index = editor.brackets.partner.get(index, -1)
        if editor.text(index) == "(" and not _is_called(editor, index):
            return index
        index -= 1
    if editor.text(index) == ">":
        index = _template_start(editor, index, opening) - 1
    if editor.kind(index) is not TokenKind.NAME or editor.text(index) in _STATEMENTS:
        raise editor.error(opening, "expected the name of a kernel before <<<")
    return index


def _is_called(editor: TokenEditor, parenthesis: int) -> bool:
    """Return whether the `(` belongs to a call, not to a parenthesized expression."""
    before = editor.text(parenthesis - 1)
    if before == ")":
        head = editor.brackets.partner.get(parenthesis - 1, 0) - 1
        return editor.text(head) not in _CONTROLS
    return before in {"]", ">"} or (
        editor.kind(parenthesis - 1) is TokenKind.NAME and before not in _STATEMENTS
    )


def _template_start(editor: TokenEditor, index: int, opening: int) -> int:
    """Return the index of the `<` that matches the `>` at `index`."""
    depth = 1
    while depth:
        index -= 1
        text = editor.text(index)
        if text in {")", "]", "}"}:
            index = editor.brackets.partner.get(index, -1)
        elif text == ">":
            depth += 1
        elif text == "<":
            depth -= 1
        if index <= 0 or text in {";", "{", "(", "<<<"}:
            raise editor.error(opening, "the template arguments before <<< have no opening <")
    return index


def _configuration_end(editor: TokenEditor, opening: int) -> int:
    """Return the index of the first `>` of the `>>>` that closes the `<<<` at `opening`."""
    index = opening + 1
    while index < len(editor.tokens) and editor.text(index) not in {";", "}", ")", "]", "<<<"}:
        if editor.text(index) in {"(", "[", "{"}:
            index = editor.brackets.partner.get(index, len(editor.tokens))
        elif editor.text(index) == ">":
            run = _run_length(editor, index)
            if run >= 3 and editor.text(index + run) == "(":
                return index + run - 3
            index += run - 1
        index += 1
    raise editor.error(opening, "this <<< has no matching >>>(")


def _run_length(editor: TokenEditor, index: int) -> int:
    """Return how many adjacent `>` there are from `index` on."""
    end = index + 1
    while editor.text(end) == ">" and editor.tokens[end].start == editor.tokens[end - 1].end:
        end += 1
    return end - index


def _separator(editor: TokenEditor, parenthesis: int) -> str:
    """Return the text between the lambda and the arguments, which begin after `parenthesis`."""
    following = editor.text(parenthesis + 1)
    if following == ")":
        return ""
    if following == "__VA_ARGS__":
        return " __VA_OPT__(,) "
    return ", "


def _null_arguments(editor: TokenEditor, parenthesis: int) -> None:
    """Replace an argument `NULL` with `nullptr`, because NULL would become a number in a template."""
    index = parenthesis + 1
    while index < editor.brackets.partner.get(parenthesis, 0):
        alone = editor.text(index - 1) in {"(", ","} and editor.text(index + 1) in {")", ","}
        if editor.text(index) == "NULL" and alone:
            editor.replace(index, "nullptr")
        index = max(index, editor.brackets.partner.get(index, index)) + 1


def _quoted(editor: TokenEditor, callee: list[Token]) -> str:
    """Return the kernel's name as a string literal, or `#name` if it is a macro's parameter."""
    if len(callee) == 1 and callee[0].text in editor.parameters:
        return f"#{callee[0].text}"
    text = spell(callee).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
