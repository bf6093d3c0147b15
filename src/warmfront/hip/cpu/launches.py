"""Turns a launch into a call of the runtime.

It finds where the kernel's name begins and where the configuration ends; what stands between is the
author's and goes over unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.hip.cpu.lexer import Kind
from warmfront.hip.cpu.stretch import spell

if TYPE_CHECKING:
    from warmfront.hip.cpu.lexer import Token
    from warmfront.hip.cpu.stretch import Stretch

#: Names that can stand before a kernel's name without being a part of it.
_STATEMENTS = frozenset({"return", "else", "do", "co_return", "co_yield", "case", "throw"})
_CONTROLS = frozenset({"if", "for", "while", "switch", "constexpr"})
#: Calls whose first argument is a kernel, cast to `const void*` for C's sake.
LAUNCHING_CALLS = frozenset({"hipLaunchKernel", "hipLaunchCooperativeKernel"})


def translate_launch(stretch: Stretch, opening: int, launcher: str) -> None:
    """`K<<<c>>>(x)` becomes `launch("K", __LINE__, config(c), [&](auto&... a) { K(a...); }, x)`."""
    first = _callee_start(stretch, opening)
    closing = _configuration_end(stretch, opening)
    callee = stretch.tokens[first:opening]
    if any(token.text == "<<<" for token in callee):
        raise stretch.error(first, "this is no name of a kernel")
    anchor = callee[0].start
    stretch.replace(first, f"::hipcpu::{launcher}({_quoted(stretch, callee)}, __LINE__, ")
    for index in range(first + 1, opening):
        stretch.replace(index, "")
    stretch.replace(opening, "::hipcpu::config(")
    parenthesis = closing + 3
    if _has_braces(stretch, parenthesis):
        _call_in_place(stretch, closing, callee)
        return
    body = f"[&](auto&... hipcpu_args) {{ {spell(callee)}(hipcpu_args...); }}"
    _replace_closing(stretch, closing, f"), {body}", anchor)
    stretch.replace(parenthesis, _separator(stretch, parenthesis))
    _null_arguments(stretch, parenthesis)


def drop_cast(stretch: Stretch, call: int) -> None:
    """`hipLaunchKernel((const void*)k, …)` loses the cast, and with it what k's parameters are is known."""
    first = call + 2
    if stretch.text(call + 1) != "(" or stretch.text(first) not in {"(", "reinterpret_cast"}:
        return
    opening = first if stretch.text(first) == "(" else first + 1
    end = opening + 1
    while stretch.text(end) in {"const", "void", "*"}:
        end += 1
    cast = {stretch.text(index) for index in range(opening + 1, end)}
    if {"void", "*"} <= cast and stretch.text(end) == {"(": ")", "<": ">"}.get(stretch.text(opening)):
        for index in range(first, end + 1):
            stretch.replace(index, "")


def _replace_closing(stretch: Stretch, closing: int, text: str, anchor: int) -> None:
    """Put `text` in the place of `>>>`."""
    stretch.replace(closing, text, anchor)
    stretch.replace(closing + 1, "", anchor)
    stretch.replace(closing + 2, "", anchor)


def _has_braces(stretch: Stretch, parenthesis: int) -> bool:
    """Whether an argument is `{…}`, whose type only the kernel's parameter tells."""
    index = parenthesis + 1
    end = stretch.partner(parenthesis) or 0
    while index < end:
        if stretch.text(index) == "{" and stretch.text(index - 1) in {"(", ","}:
            return True
        index = max(index, stretch.partner(index) or index) + 1
    return False


def _call_in_place(stretch: Stretch, closing: int, callee: list[Token]) -> None:
    """`K<<<c>>>({1}, x)` becomes `launch("K", __LINE__, config(c), [&](auto&...) { K({1}, x); })`.

    Each thread makes the arguments anew, which is why this is not the way for every launch.
    """
    _replace_closing(stretch, closing, f"), [&](auto&...) {{ {spell(callee)}", callee[0].start)
    stretch.replace(stretch.partner(closing + 3) or closing, "); })")


def _callee_start(stretch: Stretch, opening: int) -> int:
    """The first token of the expression that names the kernel: `a::template k<T>`, `(*f)`, `this->k`."""
    index = opening - 1
    while True:
        index = _primary_start(stretch, index, opening)
        if stretch.text(index - 1) == "template":
            index -= 1
        before = stretch.text(index - 1)
        if before not in {"::", ".", "->"}:
            return index
        index -= 1
        qualifies = stretch.kind(index - 1) is Kind.NAME and stretch.text(index - 1) not in _STATEMENTS
        if before == "::" and not qualifies and stretch.text(index - 1) != ">":
            return index  # the global ::k
        index -= 1


def _primary_start(stretch: Stretch, index: int, opening: int) -> int:
    """The first token of `k`, `k<T>`, `f(x)`, `table[i]` or `(*f)` that ends at `index`."""
    while stretch.text(index) in {")", "]"}:
        index = stretch.brackets.partner.get(index, -1)
        if stretch.text(index) == "(" and not _is_called(stretch, index):
            return index
        index -= 1
    if stretch.text(index) == ">":
        index = _template_start(stretch, index, opening) - 1
    if stretch.kind(index) is not Kind.NAME or stretch.text(index) in _STATEMENTS:
        raise stretch.error(opening, "expected the name of a kernel before <<<")
    return index


def _is_called(stretch: Stretch, parenthesis: int) -> bool:
    """Whether the `(` belongs to a call, not to an expression in parentheses."""
    before = stretch.text(parenthesis - 1)
    if before == ")":
        head = stretch.brackets.partner.get(parenthesis - 1, 0) - 1
        return stretch.text(head) not in _CONTROLS
    return before in {"]", ">"} or (stretch.kind(parenthesis - 1) is Kind.NAME and before not in _STATEMENTS)


def _template_start(stretch: Stretch, index: int, opening: int) -> int:
    """The `<` that the `>` at `index` closes."""
    depth = 1
    while depth:
        index -= 1
        text = stretch.text(index)
        if text in {")", "]", "}"}:
            index = stretch.brackets.partner.get(index, -1)
        elif text == ">":
            depth += 1
        elif text == "<":
            depth -= 1
        if index <= 0 or text in {";", "{", "(", "<<<"}:
            raise stretch.error(opening, "the template arguments before <<< have no beginning")
    return index


def _configuration_end(stretch: Stretch, opening: int) -> int:
    """The first `>` of the `>>>` that closes the `<<<` at `opening`."""
    index = opening + 1
    while index < len(stretch.tokens) and stretch.text(index) not in {";", "}", ")", "]", "<<<"}:
        if stretch.text(index) in {"(", "[", "{"}:
            index = stretch.brackets.partner.get(index, len(stretch.tokens))
        elif stretch.text(index) == ">":
            run = _run_length(stretch, index)
            if run >= 3 and stretch.text(index + run) == "(":
                return index + run - 3
            index += run - 1
        index += 1
    raise stretch.error(opening, "this <<< has no >>>( that closes it")


def _run_length(stretch: Stretch, index: int) -> int:
    """How many `>` follow each other with nothing between, from `index` on."""
    end = index + 1
    while stretch.text(end) == ">" and stretch.tokens[end].start == stretch.tokens[end - 1].end:
        end += 1
    return end - index


def _separator(stretch: Stretch, parenthesis: int) -> str:
    """What stands between the lambda and the arguments that begin after `parenthesis`."""
    following = stretch.text(parenthesis + 1)
    if following == ")":
        return ""
    if following == "__VA_ARGS__":
        return " __VA_OPT__(,) "
    return ", "


def _null_arguments(stretch: Stretch, parenthesis: int) -> None:
    """`NULL` for a whole argument becomes `nullptr`: through a template, NULL would be a number."""
    index = parenthesis + 1
    while index < stretch.brackets.partner.get(parenthesis, 0):
        alone = stretch.text(index - 1) in {"(", ","} and stretch.text(index + 1) in {")", ","}
        if stretch.text(index) == "NULL" and alone:
            stretch.replace(index, "nullptr")
        index = max(index, stretch.brackets.partner.get(index, index)) + 1


def _quoted(stretch: Stretch, callee: list[Token]) -> str:
    """The kernel's name as a string, made by the preprocessor where it is a macro's parameter."""
    if len(callee) == 1 and callee[0].text in stretch.parameters:
        return f"#{callee[0].text}"
    text = spell(callee).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
