"""Explain matrix instructions that the GPU does not have: those of other GPUs, and misspelled ones."""

from __future__ import annotations

import re

from warmfront.hip.builtins import GFX942, GFX950, PREFIX, Builtin, UnknownInstruction, all_builtins

#: Forms that an architecture does not have, and the form to use instead.
_INSTEAD = {
    GFX942: {
        "mfma_f32_32x32x2bf16": "mfma_f32_32x32x4bf16_1k",
        "mfma_f32_16x16x2bf16": "mfma_f32_16x16x4bf16_1k",
        "mfma_f32_4x4x2bf16": "mfma_f32_4x4x4bf16_1k",
        "mfma_f32_32x32x4bf16": "mfma_f32_32x32x8bf16_1k",
        "mfma_f32_16x16x8bf16": "mfma_f32_16x16x16bf16_1k",
        "mfma_i32_32x32x8i8": "mfma_i32_32x32x16_i8",
        "mfma_i32_16x16x16i8": "mfma_i32_16x16x32_i8",
        "mfma_f32_16x16x32_f16": "mfma_f32_16x16x16f16",
        "mfma_f32_32x32x16_f16": "mfma_f32_32x32x8f16",
        "mfma_f32_16x16x32_bf16": "mfma_f32_16x16x16bf16_1k",
        "mfma_f32_32x32x16_bf16": "mfma_f32_32x32x8bf16_1k",
        "mfma_i32_16x16x64_i8": "mfma_i32_16x16x32_i8",
        "mfma_i32_32x32x32_i8": "mfma_i32_32x32x16_i8",
        "mfma_scale_f32_16x16x128_f8f6f4": "mfma_f32_16x16x32_fp8_fp8",
        "mfma_scale_f32_32x32x64_f8f6f4": "mfma_f32_32x32x16_fp8_fp8",
    },
    GFX950: {
        "mfma_f32_32x32x2bf16": "mfma_f32_32x32x4bf16_1k",
        "mfma_f32_16x16x2bf16": "mfma_f32_16x16x4bf16_1k",
        "mfma_f32_4x4x2bf16": "mfma_f32_4x4x4bf16_1k",
        "mfma_f32_32x32x4bf16": "mfma_f32_32x32x16_bf16",
        "mfma_f32_16x16x8bf16": "mfma_f32_16x16x32_bf16",
        "mfma_i32_32x32x8i8": "mfma_i32_32x32x32_i8",
        "mfma_i32_16x16x16i8": "mfma_i32_16x16x64_i8",
        "mfma_f32_16x16x8_xf32": "mfma_f32_16x16x4f32",
        "mfma_f32_32x32x4_xf32": "mfma_f32_32x32x2f32",
    },
}
_GPUS = {GFX942: "MI300X", GFX950: "MI355X"}
_QUOTED = re.compile(rf"'(?P<name>{PREFIX}s?mfma\w+)'")
_SCALED = "; multiply the sums by the scales in float"


def find_unknown_instruction(text: str, arch: str = GFX942) -> UnknownInstruction | None:
    """Return the matrix instruction in a compiler's message that `arch` does not have.

    None if there is none.
    """
    quoted = _QUOTED.search(text)
    if not quoted or arch not in _INSTEAD:
        return None
    form = quoted["name"].removeprefix(PREFIX)
    if form in _forms(arch):
        return None
    nearest = _INSTEAD[arch].get(form) or _most_similar(form, _forms(arch))
    if form in _INSTEAD[arch] or PREFIX + form in all_builtins():
        message = f"{PREFIX}{form} is not an instruction of {arch} ({_GPUS[arch]}): it belongs to another GPU"
    else:
        message = f"{PREFIX}{form} is not a matrix instruction"
    if not nearest:
        return UnknownInstruction(message, f"docs/cdna3.md lists the forms of {arch}.")
    scales = _SCALED if "scale" in form and "scale" not in nearest else ""
    return UnknownInstruction(message, f"Use {PREFIX}{nearest}{scales}.")


def _forms(arch: str) -> list[str]:
    """Return the names of the matrix instructions of an architecture, without their prefix."""
    return [
        builtin.name.removeprefix(PREFIX)
        for builtin in all_builtins().values()
        if builtin.group == "matrices" and _has(arch, builtin)
    ]


def _has(arch: str, builtin: Builtin) -> bool:
    return builtin.arch in {"", arch}


def _most_similar(form: str, forms: list[str]) -> str:
    """Return the most similar form, dense or sparse like the given one; empty if there is none."""
    of_kind = [each for each in forms if each.startswith(form.partition("_")[0] + "_")]
    from difflib import get_close_matches  # noqa: PLC0415 - only misspelt names need it

    return next(iter(get_close_matches(form, of_kind, 1, 0.7)), "")
