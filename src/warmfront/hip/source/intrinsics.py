"""Translate declarations of LLVM intrinsics, which authors make with an asm label, to definitions.

`float load(int4v, int, int, int) __asm("llvm.amdgcn.raw.buffer.load.f32");` becomes a function that calls the
CPU runtime. A label that is not known is left to the compiler, which reports the missing function.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from warmfront.hip.source.lexer import TokenKind

if TYPE_CHECKING:
    from warmfront.hip.source.edits import TokenEditor

_BUFFERS, _LANES = "hipcpu/builtins/buffers.h", "hipcpu/builtins/lanes.h"
_ARITHMETIC = "hipcpu/builtins/arithmetic.h"

#: Labels without `llvm.amdgcn.` → the function of the runtime, and the header that defines it.
_INTRINSICS = (
    (r"(?:raw|raw\.ptr)\.buffer\.load\.lds", "::hipcpu::intrinsic_buffer_load_lds", _BUFFERS),
    (r"(?:raw|raw\.ptr)\.buffer\.load(?:\.v?\w+)?", "::hipcpu::intrinsic_buffer_load", _BUFFERS),
    (r"(?:raw|raw\.ptr)\.buffer\.store(?:\.v?\w+)?", "::hipcpu::intrinsic_buffer_store", _BUFFERS),
    (r"(?:raw|raw\.ptr)\.buffer\.atomic\.fadd(?:\.(?:f32|f64|v2f16))?",
     "::hipcpu::intrinsic_buffer_atomic_fadd", _BUFFERS),
    (r"(?:raw|raw\.ptr)\.buffer\.atomic\.add(?:\.i(?:32|64))?",
     "::hipcpu::intrinsic_buffer_atomic_add", _BUFFERS),
    (r"writelane(?:\.i32)?", "::hipcpu::intrinsic_writelane", _LANES),
    (r"readlane(?:\.i32)?", "__builtin_amdgcn_readlane", _LANES),
    (r"readfirstlane(?:\.i32)?", "__builtin_amdgcn_readfirstlane", _LANES),
    (r"ds\.bpermute", "__builtin_amdgcn_ds_bpermute", _LANES),
    (r"ds\.permute", "__builtin_amdgcn_ds_permute", _LANES),
    (r"mbcnt\.lo", "__builtin_amdgcn_mbcnt_lo", _LANES),
    (r"mbcnt\.hi", "__builtin_amdgcn_mbcnt_hi", _LANES),
    (r"perm", "__builtin_amdgcn_perm", _ARITHMETIC),
    (r"(?:exp2)\.f32", "__builtin_amdgcn_exp2f", _ARITHMETIC),
    (r"rcp\.f32", "__builtin_amdgcn_rcpf", _ARITHMETIC),
)  # fmt: skip
_PATTERNS = tuple((re.compile(label), function, header) for label, function, header in _INTRINSICS)
_LABEL = re.compile(r'"llvm\.amdgcn\.([\w.]+)"')
_TYPE_WORDS = frozenset(
    {"int", "unsigned", "signed", "short", "long", "char", "float", "double", "bool", "const"}
)


def find_intrinsic(label: str) -> tuple[str, str] | None:
    """Return the function and the header for an asm label with its quotes; None if it is not known."""
    name = _LABEL.fullmatch(label)
    for pattern, function, header in _PATTERNS if name else ():
        if name and pattern.fullmatch(name[1]) and ".format" not in name[1]:
            return function, header
    return None


def translate_intrinsic(editor: TokenEditor, index: int) -> bool:
    """Translate the declaration whose asm label begins at `index`; return whether the label is known.

    The tokens are `( parameters ) __asm ( "label" ) ;`, with `index` at `__asm`.
    """
    opening = editor.partner(index - 1) if editor.text(index - 1) == ")" else None
    intrinsic = find_intrinsic(editor.text(index + 2))
    is_declaration = (
        editor.text(index + 1) == "(" and editor.text(index + 3) == ")" and editor.text(index + 4) == ";"
    )
    if opening is None or intrinsic is None or not is_declaration:
        return False
    names = [_name_parameter(editor, first, last, number) for number, (first, last) in
             enumerate(_parameters(editor, opening, index - 1))]  # fmt: skip
    editor.replace(index, f"{{ return {intrinsic[0]}({', '.join(names)}); }}")
    for used in range(index + 1, index + 5):
        editor.replace(used, "")
    return True


def _parameters(editor: TokenEditor, opening: int, closing: int) -> list[tuple[int, int]]:
    """Return the first and the last token of each parameter."""
    parameters = []
    first = index = opening + 1
    while index < closing:
        if editor.text(index) in {"(", "[", "{"}:
            index = editor.partner(index) or index
        elif editor.text(index) == ",":
            parameters.append((first, index - 1))
            first = index + 1
        index += 1
    return [*parameters, (first, closing - 1)] if closing > first else []


def _name_parameter(editor: TokenEditor, first: int, last: int, number: int) -> str:
    """Return the name of a parameter; insert a name if it has none."""
    has_name = (
        last > first
        and editor.kind(last) is TokenKind.NAME
        and editor.text(last) not in _TYPE_WORDS
        and editor.text(last - 1) not in {"::", "const", "struct"}
    )
    if has_name:
        return editor.text(last)
    name = f"hipcpu_{number}"
    editor.replace(last, f"{editor.text(last)} {name}")
    return name
