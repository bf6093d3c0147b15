"""Knows the names that exist with ROCm and a GPU and cannot exist without.

A list of families of names, each with its reason; nothing here reads source.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class GpuOnly:
    """Something that the CPU runtime does not have, and why."""

    message: str
    hint: str = "Run it with --toolchain rocm on a machine with a GPU, or write it without."


#: Families of names, and why each needs a GPU.
_FAMILIES = (
    (r"__builtin_amdgcn_\w*|__builtin_mfma\w*|__ockl_\w*|__ocml_\w*", "it is an instruction of AMD's GPUs"),
    (r"(?:roc|hip)(?:blas|blaslt|sparse|solver|fft|rand|tensor)\w*|miopen\w*|rccl\w*|nccl\w*",
     "it is a library of kernels for GPUs"),
    (r"hipcub|rocprim|rocwmma|wmma|thrust|ck|ck_tile|composable_kernel|cub|hipcub\w*|rocprim\w*",
     "it is a library of templates for GPUs"),
    (r"tex[123]D\w*|texCubemap\w*|surf[123]D\w*|hip(?:Tex|Texture|Surface|Surf|Array|Channel|Mipmap)\w*|texture",
     "the CPU runtime has no textures and surfaces"),
    (r"hipGraph\w*|hipStream(?:Begin|End|Is|Get)Captur\w*", "the CPU runtime has no graphs"),
    (r"hipModule\w*|hiprtc\w*|hipFunction_t|hipLink\w*", "the CPU runtime loads no code for GPUs"),
    (r"hipLaunchCooperative\w*|hipExtLaunch\w*|hipIpc\w*|hipExternal\w*|hipImport\w*",
     "the CPU runtime has one device and one process"),
)  # fmt: skip
_NAMES = re.compile("|".join(f"(?P<f{i}>{names})" for i, (names, _) in enumerate(_FAMILIES)))

#: How compilers say that they do not know a name or a header.
_UNKNOWN = re.compile(
    r"(?:was not declared|has not been declared|does not name a type|is not a member of|"
    r"undeclared identifier|unknown type name|is not a class|no template named|no member named|"
    r"is not a template|No such file or directory|file not found|use of undeclared)"
)
_QUOTED = re.compile(r"'(?P<name>[^']+)'")
_HEADER = re.compile(r"(?P<name>[\w./+-]+): No such file")
_SAYS_SO = " runs on a GPU only"


def gpu_only(text: str) -> GpuOnly | None:
    """What a compiler's message says about a name that needs a GPU, None if it says no such thing."""
    said = text.find(_SAYS_SO)
    if said >= 0:
        name, _, reason = text[text.rfind(": ", 0, said) + 1 :].strip().partition(_SAYS_SO)
        return _with_reason(name, reason.removeprefix(": ") or _reason(name))
    if not _UNKNOWN.search(text):
        return None
    header = _HEADER.search(text)
    names = [header["name"]] if header else [found["name"] for found in _QUOTED.finditer(text)]
    for name in names:
        if reason := _reason(name):
            return _with_reason(name, reason)
    return None


def _with_reason(name: str, reason: str) -> GpuOnly:
    return GpuOnly(f"{name}{_SAYS_SO}: {reason}" if reason else f"{name}{_SAYS_SO}")


def _reason(name: str) -> str:
    """Why a name needs a GPU, empty if it is of no family that does."""
    root = re.split(r"/|::|<", name.removeprefix("hip/").removesuffix(".h").removesuffix(".hpp"))[0]
    family = _NAMES.fullmatch(root)
    return _FAMILIES[int((family.lastgroup or "f0")[1:])][1] if family else ""
