"""Recognize compiler errors about names that need ROCm and a GPU.

The names are listed as families, each with the reason why the CPU runtime does not support it.
"""

from __future__ import annotations

import re

from warmfront.hip.builtins import PREFIX, why_gpu_only
from warmfront.value_class import dataclass


@dataclass(frozen=True)
class GpuOnlyName:
    """A name that the CPU runtime does not support, and why."""

    message: str
    hint: str = "Use the rocm toolchain on a machine with a GPU, or write the kernel without it."


#: Families of names, and why each needs a GPU.
_FAMILIES = (
    (r"__builtin_mfma\w*|__ockl_\w*|__ocml_\w*", "it is an instruction of AMD GPUs"),
    (r"(?:roc|hip)(?:blas|blaslt|sparse|solver|fft|rand|tensor)\w*|miopen\w*|rccl\w*|nccl\w*",
     "it is a library of GPU kernels"),
    (r"hipcub|rocprim|rocwmma|wmma|thrust|ck|ck_tile|composable_kernel|cub|hipcub\w*|rocprim\w*",
     "it is a template library for GPUs"),
    (r"tex[123]D\w*|texCubemap\w*|surf[123]D\w*|hip(?:Tex|Texture|Surface|Surf|Array|Channel|Mipmap)\w*|texture",
     "the CPU runtime has no textures or surfaces"),
    (r"hipGraph\w*|hipStream(?:Begin|End|Is|Get)Captur\w*", "the CPU runtime has no graphs"),
    (r"hipModule\w*|hiprtc\w*|hipFunction_t|hipLink\w*", "the CPU runtime cannot load GPU code"),
    (r"hipLaunchCooperative\w*|hipExtLaunch\w*|hipIpc\w*|hipExternal\w*|hipImport\w*",
     "the CPU runtime has one device and one process"),
)  # fmt: skip
_NAMES = re.compile("|".join(f"(?P<f{i}>{names})" for i, (names, _) in enumerate(_FAMILIES)))

#: How compilers report an unknown name or header.
_UNKNOWN = re.compile(
    r"(?:was not declared|has not been declared|does not name a type|is not a member of|"
    r"undeclared identifier|unknown type name|is not a class|no template named|no member named|"
    r"is not a template|No such file or directory|file not found|use of undeclared)"
)
_QUOTED = re.compile(r"'(?P<name>[^']+)'")
_HEADER = re.compile(r"(?P<name>[\w./+-]+): No such file")
_GPU_ONLY = " runs on a GPU only"


def find_gpu_only(text: str) -> GpuOnlyName | None:
    """Return the name that needs a GPU in a compiler's message; None if there is none."""
    position = text.find(_GPU_ONLY)
    if position >= 0:
        name, _, reason = text[text.rfind(": ", 0, position) + 1 :].strip().partition(_GPU_ONLY)
        return _with_reason(name, reason.removeprefix(": ") or _reason(name))
    if not _UNKNOWN.search(text):
        return None
    header = _HEADER.search(text)
    names = [header["name"]] if header else [quoted["name"] for quoted in _QUOTED.finditer(text)]
    for name in names:
        if reason := _reason(name):
            return _with_reason(name, reason)
    return None


def _with_reason(name: str, reason: str) -> GpuOnlyName:
    return GpuOnlyName(f"{name}{_GPU_ONLY}: {reason}" if reason else f"{name}{_GPU_ONLY}")


def _reason(name: str) -> str:
    """Return why a name needs a GPU; empty if it does not."""
    if name.startswith(PREFIX):
        return why_gpu_only(name)
    root = re.split(r"/|::|<", name.removeprefix("hip/").removesuffix(".h").removesuffix(".hpp"))[0]
    family = _NAMES.fullmatch(root)
    return _FAMILIES[int((family.lastgroup or "f0")[1:])][1] if family else ""
