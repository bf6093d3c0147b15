"""The matrix instructions of gfx942 as builtins of the compiler: which exist, and how exact they are here.

`hipcpu/matrix_forms.h` declares the same names for the CPU runtime; a test compares the two.
"""

from __future__ import annotations

import difflib
import re

from warmfront.value_class import dataclass

_DENSE = "__builtin_amdgcn_mfma_"
_SPARSE = "__builtin_amdgcn_smfmac_"
_EIGHT_BITS = tuple(f"{a}_{b}" for a in ("bf8", "fp8") for b in ("bf8", "fp8"))

#: The dense forms, without their prefix.
DENSE_FORMS = (
    *(f"f32_{shape}f32" for shape in ("32x32x1", "16x16x1", "4x4x1", "32x32x2", "16x16x4")),
    *(f"f32_{shape}f16" for shape in ("32x32x4", "16x16x4", "4x4x4", "32x32x8", "16x16x16")),
    *(f"f32_{shape}bf16_1k" for shape in ("32x32x4", "16x16x4", "4x4x4", "32x32x8", "16x16x16")),
    *("i32_32x32x4i8", "i32_16x16x4i8", "i32_4x4x4i8", "i32_32x32x16_i8", "i32_16x16x32_i8"),
    *("f32_16x16x8_xf32", "f32_32x32x4_xf32", "f64_16x16x4f64", "f64_4x4x4f64"),
    *(f"f32_{shape}_{types}" for shape in ("16x16x32", "32x32x16") for types in _EIGHT_BITS),
)

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
_NAME = re.compile(rf"(?:{_DENSE}|{_SPARSE})\w+")
_QUOTED = re.compile(r"'(?P<name>__builtin_amdgcn_s?mfma\w+)'")


@dataclass(frozen=True)
class UnknownInstruction:
    """A matrix instruction that gfx942 does not have, and what to do about it."""

    message: str
    hint: str


def is_exact(form: str) -> bool:
    """Return whether the CPU runtime's result of a form has the bits of a GPU's: integers, f32 and f64."""
    return form.startswith(("i32", "f64")) or form.endswith(("x1f32", "x2f32", "x4f32"))


def find_unknown_instruction(text: str) -> UnknownInstruction | None:
    """Return what a compiler's message means that names a matrix instruction which gfx942 does not have."""
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
