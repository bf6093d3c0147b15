"""Turns declarations of shared memory into what g++ and clang accept.

`extern __shared__` names the memory that a launch asked for; the rest of `__shared__` is a macro of the
runtime's, which only needs its neighbours in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.hip.source.edits import spell
from warmfront.hip.source.lexer import Kind

if TYPE_CHECKING:
    from warmfront.hip.source.edits import TokenEditor
    from warmfront.hip.source.lexer import Token

_ALIGNMENTS = frozenset({"alignas", "__align__", "__attribute__", "__declspec"})


def translate_shared(editor: TokenEditor, start: int) -> int:
    """Translate the declaration at `start`, if it is one; the index of the last token dealt with."""
    end = _dynamic_shared(editor, start)
    if end == start and editor.text(start) == "__shared__":
        _static_shared(editor, start)
    return end


def _static_shared(editor: TokenEditor, index: int) -> None:
    """Drop `static`, which says nothing new, and put `alignas` first, as `__shared__` is a storage class."""
    for neighbour in (index - 1, index + 1):
        if editor.text(neighbour) == "static":
            editor.replace(neighbour, "")
    after = index + 2 if editor.text(index + 1) == "static" else index + 1
    close = editor.partner(after + 1)
    if editor.text(after) == "alignas" and close is not None:
        editor.replace(index, f"{spell(editor.tokens[after : close + 1])} __shared__")
        for moved in range(after, close + 1):
            editor.replace(moved, "")


def _dynamic_shared(editor: TokenEditor, start: int) -> int:
    """`extern __shared__ T name[];` becomes a name for the memory that a launch asked for."""
    element, name, bracket = _array_declaration(editor, start)
    close = editor.brackets.partner.get(bracket, bracket)
    end = close + 1
    while editor.text(end) == "[":  # further dimensions belong to the element
        end = editor.brackets.partner.get(end, end) + 1
    if not name or close == bracket:
        return start
    if editor.text(end) != ";":
        raise editor.error(bracket, "declare one array, without a value, in each extern __shared__")
    spelled = spell(element) + spell(editor.tokens[close + 1 : end])
    declaration = _shared_declaration(editor, start, spelled, name)
    editor.replace(start, declaration, anchor=editor.tokens[bracket - 1].start)
    for index in range(start + 1, end):
        editor.replace(index, "")
    return end


def _array_declaration(editor: TokenEditor, start: int) -> tuple[list[Token], str, int]:
    """Element type, name and `[` of the `extern __shared__` array at `start`; no name if it is none."""
    storage = set()
    element: list[Token] = []
    index = start
    while editor.kind(index) is not None and editor.text(index) not in {";", "{", "}", "=", ")"}:
        text = editor.text(index)
        if text in {"extern", "__shared__"}:
            if text in storage:  # two in a row are the compiler's to refuse
                break
            storage.add(text)
        elif text in _ALIGNMENTS:
            index = editor.brackets.partner.get(index + 1, index)
        elif text == "[":
            found = len(storage) == 2 and len(element) > 1 and element[-1].kind is Kind.NAME
            return element[:-1], element[-1].text if found else "", index
        else:
            element.append(editor.tokens[index])
        index += 1
    return [], "", index


def _shared_declaration(editor: TokenEditor, start: int, element: str, name: str) -> str:
    """C++ for dynamic shared memory, in a function or at the scope of a file."""
    if editor.brackets.in_function[start]:
        return f"auto* const {name} = ::hipcpu::dynamic_shared<{element}>()"
    editor.file_arrays.add(name)
    return f"static ::hipcpu::DynamicShared<{element}> {name}"


def decay(editor: TokenEditor, index: int) -> None:
    """Where an array would become a pointer, `+` makes one of the object that stands for it.

    Elsewhere the object converts by itself; casts and template arguments need the help.
    """
    before, after = editor.text(index - 1), editor.text(index + 1)
    if before in {"(", ",", ")", "="} and after in {")", ",", ";", "+"}:
        editor.replace(index, f"+{editor.text(index)}")
