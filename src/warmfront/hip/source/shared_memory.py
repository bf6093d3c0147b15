"""Rewrite declarations of shared memory so that g++ and clang accept them.

`extern __shared__` names the dynamic shared memory of a launch. Elsewhere `__shared__` is a macro of the
runtime, which requires a certain order of the specifiers around it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.hip.source.edits import spell
from warmfront.hip.source.lexer import TokenKind

if TYPE_CHECKING:
    from warmfront.hip.source.edits import TokenEditor
    from warmfront.hip.source.lexer import Token

_ALIGNMENTS = frozenset({"alignas", "__align__", "__attribute__", "__declspec"})


def translate_shared(editor: TokenEditor, start: int) -> int:
    """Translate the declaration at `start`, if it is of shared memory; return the last token handled."""
    end = _dynamic_shared(editor, start)
    if end == start and editor.text(start) == "__shared__":
        _static_shared(editor, start)
    return end


def _static_shared(editor: TokenEditor, index: int) -> None:
    """Remove the redundant `static`, and move `alignas` first, because `__shared__` is a storage class.

    For a parameter, clang ignores `__shared__`.
    """
    if editor.text(index - 1) in {"(", ","}:
        editor.replace(index, "")
        return
    for neighbor in (index - 1, index + 1):
        if editor.text(neighbor) == "static":
            editor.replace(neighbor, "")
    after = index + 2 if editor.text(index + 1) == "static" else index + 1
    close = editor.partner(after + 1)
    if editor.text(after) == "alignas" and close is not None:
        editor.replace(index, f"{spell(editor.tokens[after : close + 1])} __shared__")
        for moved in range(after, close + 1):
            editor.replace(moved, "")


def _dynamic_shared(editor: TokenEditor, start: int) -> int:
    """Rewrite `extern __shared__ T name[];` as a name for the dynamic shared memory of the launch."""
    element, name, bracket = _array_declaration(editor, start)
    close = editor.brackets.partner.get(bracket, bracket)
    end = close + 1
    while editor.text(end) == "[":  # further dimensions are part of the element type
        end = editor.brackets.partner.get(end, end) + 1
    if not name or close == bracket:
        return start
    if editor.text(end) != ";":
        raise editor.error(
            bracket, "an extern __shared__ declaration must declare one array without an initializer"
        )
    spelled = spell(element) + spell(editor.tokens[close + 1 : end])
    declaration = _shared_declaration(editor, start, spelled, name)
    editor.replace(start, declaration, anchor=editor.tokens[bracket - 1].start)
    for index in range(start + 1, end):
        editor.replace(index, "")
    return end


def _array_declaration(editor: TokenEditor, start: int) -> tuple[list[Token], str, int]:
    """Return element type, name and index of `[` of the array at `start`; an empty name if there is none."""
    storage = set()
    element: list[Token] = []
    index = start
    while editor.kind(index) is not None and editor.text(index) not in {";", "{", "}", "=", ")"}:
        text = editor.text(index)
        if text in {"extern", "__shared__"}:
            if text in storage:  # a repeated specifier is left for the compiler to report
                break
            storage.add(text)
        elif text in _ALIGNMENTS:
            index = editor.brackets.partner.get(index + 1, index)
        elif text == "[":
            is_array = len(storage) == 2 and len(element) > 1 and element[-1].kind is TokenKind.NAME
            return element[:-1], element[-1].text if is_array else "", index
        else:
            element.append(editor.tokens[index])
        index += 1
    return [], "", index


def _shared_declaration(editor: TokenEditor, start: int, element: str, name: str) -> str:
    """Return the C++ declaration of dynamic shared memory, in a function or at file scope."""
    if editor.brackets.in_function[start]:
        return f"auto* const {name} = ::hipcpu::dynamic_shared<{element}>()"
    editor.file_arrays.add(name)
    return f"static ::hipcpu::DynamicShared<{element}> {name}"


def decay(editor: TokenEditor, index: int) -> None:
    """Put `+` before the name of a file-scope array where an array would decay to a pointer.

    The object that replaces the array converts implicitly elsewhere, but not in casts and template arguments.
    """
    before, after = editor.text(index - 1), editor.text(index + 1)
    if before in {"(", ",", ")", "="} and after in {")", ",", ";", "+"}:
        editor.replace(index, f"+{editor.text(index)}")
