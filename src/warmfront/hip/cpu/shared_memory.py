"""Turns declarations of shared memory into what g++ and clang accept.

`extern __shared__` names the memory that a launch asked for; the rest of `__shared__` is a macro of the
runtime's, which only needs its neighbours in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.hip.cpu.lexer import Kind
from warmfront.hip.cpu.stretch import spell

if TYPE_CHECKING:
    from warmfront.hip.cpu.lexer import Token
    from warmfront.hip.cpu.stretch import Stretch

_ALIGNMENTS = frozenset({"alignas", "__align__", "__attribute__", "__declspec"})


def translate_shared(stretch: Stretch, start: int) -> int:
    """Translate the declaration at `start`, if it is one; the index of the last token dealt with."""
    end = _dynamic_shared(stretch, start)
    if end == start and stretch.text(start) == "__shared__":
        _static_shared(stretch, start)
    return end


def _static_shared(stretch: Stretch, index: int) -> None:
    """Drop `static`, which says nothing new, and put `alignas` first, as `__shared__` is a storage class."""
    for neighbour in (index - 1, index + 1):
        if stretch.text(neighbour) == "static":
            stretch.replace(neighbour, "")
    after = index + 2 if stretch.text(index + 1) == "static" else index + 1
    close = stretch.partner(after + 1)
    if stretch.text(after) == "alignas" and close is not None:
        stretch.replace(index, f"{spell(stretch.tokens[after : close + 1])} __shared__")
        for moved in range(after, close + 1):
            stretch.replace(moved, "")


def _dynamic_shared(stretch: Stretch, start: int) -> int:
    """`extern __shared__ T name[];` becomes a name for the memory that a launch asked for."""
    element, name, bracket = _array_declaration(stretch, start)
    close = stretch.brackets.partner.get(bracket, bracket)
    end = close + 1
    while stretch.text(end) == "[":  # further dimensions belong to the element
        end = stretch.brackets.partner.get(end, end) + 1
    if not name or close == bracket:
        return start
    if stretch.text(end) != ";":
        raise stretch.error(bracket, "declare one array, without a value, in each extern __shared__")
    spelled = spell(element) + spell(stretch.tokens[close + 1 : end])
    declaration = _shared_declaration(stretch, start, spelled, name)
    stretch.replace(start, declaration, anchor=stretch.tokens[bracket - 1].start)
    for index in range(start + 1, end):
        stretch.replace(index, "")
    return end


def _array_declaration(stretch: Stretch, start: int) -> tuple[list[Token], str, int]:
    """Element type, name and `[` of the `extern __shared__` array at `start`; no name if it is none."""
    storage = set()
    element: list[Token] = []
    index = start
    while stretch.kind(index) is not None and stretch.text(index) not in {";", "{", "}", "=", ")"}:
        text = stretch.text(index)
        if text in {"extern", "__shared__"}:
            if text in storage:  # two in a row are the compiler's to refuse
                break
            storage.add(text)
        elif text in _ALIGNMENTS:
            index = stretch.brackets.partner.get(index + 1, index)
        elif text == "[":
            found = len(storage) == 2 and len(element) > 1 and element[-1].kind is Kind.NAME
            return element[:-1], element[-1].text if found else "", index
        else:
            element.append(stretch.tokens[index])
        index += 1
    return [], "", index


def _shared_declaration(stretch: Stretch, start: int, element: str, name: str) -> str:
    """C++ for dynamic shared memory, in a function or at the scope of a file."""
    if stretch.brackets.in_function[start]:
        return f"auto* const {name} = ::hipcpu::dynamic_shared<{element}>()"
    stretch.file_arrays.add(name)
    return f"static ::hipcpu::DynamicShared<{element}> {name}"


def decay(stretch: Stretch, index: int) -> None:
    """Where an array would become a pointer, `+` makes one of the object that stands for it.

    Elsewhere the object converts by itself; casts and template arguments need the help.
    """
    before, after = stretch.text(index - 1), stretch.text(index + 1)
    if before in {"(", ",", ")", "="} and after in {")", ",", ";", "+"}:
        stretch.replace(index, f"+{stretch.text(index)}")
