"""Explain matrix instructions that gfx942 does not have: those of other GPUs, and misspelled ones."""

from __future__ import annotations

import difflib
import re

from warmfront.hip.builtins import PREFIX, UnknownInstruction, all_builtins

_DENSE = f"{PREFIX}mfma_"
_SPARSE = f"{PREFIX}smfmac_"

#: The dense forms, without their prefix.
DENSE_FORMS = tuple(name.removeprefix(_DENSE) for name in all_builtins() if name.startswith(_DENSE))

#: Forms of other GPUs, and the form of gfx942 to use instead. The X-ray's compiler rejects them for gfx942.
_REPLACED = {
    "f32_32x32x2bf16": "f32_32x32x4bf16_1k",
    "f32_16x16x2bf16": "f32_16x16x4bf16_1k",
    "f32_4x4x2bf16": "f32_4x4x4bf16_1k",
    "f32_32x32x4bf16": "f32_32x32x8bf16_1k",
    "f32_16x16x8bf16": "f32_16x16x16bf16_1k",
    "i32_32x32x8i8": "i32_32x32x16_i8",
    "i32_16x16x16i8": "i32_16x16x32_i8",
    "f32_16x16x32_f16": "f32_16x16x16f16",
    "f32_32x32x16_f16": "f32_32x32x8f16",
    "f32_16x16x32_bf16": "f32_16x16x16bf16_1k",
    "f32_32x32x16_bf16": "f32_32x32x8bf16_1k",
    "i32_16x16x64_i8": "i32_16x16x32_i8",
    "i32_32x32x32_i8": "i32_32x32x16_i8",
}
_QUOTED = re.compile(r"'(?P<name>__builtin_amdgcn_s?mfma\w+)'")


def find_unknown_instruction(text: str) -> UnknownInstruction | None:
    """Return the matrix instruction in a compiler's message that gfx942 does not have.

    None if there is none.
    """
    quoted = _QUOTED.search(text)
    if not quoted:
        return None
    name = quoted["name"]
    prefix = _DENSE if name.startswith(_DENSE) else _SPARSE
    form = name.removeprefix(prefix)
    if prefix == _SPARSE or form in DENSE_FORMS:
        return None
    scaled = form.startswith("scale_")
    if form in _REPLACED or scaled:
        message = f"{name} is not an instruction of gfx942 (MI300X): it belongs to another GPU"
    else:
        message = f"{name} is not a matrix instruction"
    nearest = _REPLACED.get(form) or next(iter(difflib.get_close_matches(form, DENSE_FORMS, 1, 0.7)), "")
    if scaled or not nearest:
        return UnknownInstruction(message, "The docs list the forms of gfx942: docs/cpu-runtime.md.")
    return UnknownInstruction(message, f"Use {_DENSE}{nearest}.")
