"""Matrix instructions (MFMA): shape, element types, FLOPs and cycles, by their names in assembly.

Sources. Shapes, blocks and cycles on gfx90a and gfx942: AMD's matrix instruction calculator
(github.com/ROCm/amd_matrix_instruction_calculator), which prints them for each instruction. The calculator
has no cycles for gfx950; AMD's "Matrix Core Programming on AMD CDNA3 and CDNA4 architecture"
(rocm.blogs.amd.com, 2025) has those of floating-point forms, and those of int8 follow from the published peak
of the MI355X (2.4 GHz, 1,024 matrix cores). Those of forms with several products are not published.
"""

from __future__ import annotations

import functools
import re

from warmfront.value_class import dataclass

#: A compute unit has a matrix core per SIMD.
_MATRIX_CORES = 4
_LANES = 64
#: A pass of a matrix core, and the time in which a SIMD issues one vector instruction of 64 lanes.
CYCLES_PER_PASS = 4

_NAME = re.compile(
    r"v_(?P<operation>mfma|mfma_scale|smfmac)_(?P<result>[fi]\d+)_(?P<m>\d+)x(?P<n>\d+)x(?P<k>\d+)"
    r"_?(?:(?P<blocks>\d+)b_)?(?P<elements>[a-z]+\d+(?:_[a-z]+\d+)?|f8f6f4)(?:_1k)?(?:_e64)?"
)
_RANGE = re.compile(r"[av]\[(\d+):(\d+)\]")


@dataclass(frozen=True, kw_only=True)
class MatrixForm:
    """One form of MFMA: `blocks` products of an m x k and a k x n tile."""

    name: str  #: the mnemonic
    m: int
    n: int
    k: int
    blocks: int
    elements: str  #: type of A and B, such as `f16` or `fp8_bf8`
    sparse: bool

    @property
    def flops(self) -> int:
        """The multiplications and additions of one instruction, zeros of a sparse A included."""
        return 2 * self.m * self.n * self.k * self.blocks

    @property
    def element_type(self) -> str:
        """The type by which AMD publishes peaks: `fp64`, `fp32`, `xf32`, `fp16`, `bf16`, `fp8` or `int8`."""
        return _ELEMENT_TYPES.get(self.elements.partition("_")[0], "fp8")

    def cycles(self, arch: str) -> int | None:
        """Return how many cycles it occupies a matrix core, or None if that is not published."""
        if arch == "gfx950":
            return _GFX950_CYCLES.get((self.element_type, self.m, self.k)) if self.blocks == 1 else None
        if self.element_type == "fp64":
            return {16: 32, 4: 16}.get(self.m)
        halved = arch == "gfx942" and self.blocks == 1 and self.element_type != "fp32"
        cycles = {32: 64, 16: 32, 4: 8}.get(self.m)
        return cycles // 2 if cycles and halved else cycles


_ELEMENT_TYPES = {
    "f64": "fp64",
    "f32": "fp32",
    "xf32": "xf32",
    "f16": "fp16",
    "bf16": "bf16",
    "fp8": "fp8",
    "bf8": "fp8",
    "i8": "int8",
}

_GFX950_CYCLES = {
    ("fp64", 16, 4): 64,
    ("fp32", 32, 2): 64,
    ("fp32", 16, 4): 32,
    ("fp16", 32, 8): 32,
    ("fp16", 16, 16): 16,
    ("fp16", 32, 16): 32,
    ("fp16", 16, 32): 16,
    ("bf16", 32, 8): 32,
    ("bf16", 16, 16): 16,
    ("bf16", 32, 16): 32,
    ("bf16", 16, 32): 16,
    ("int8", 32, 32): 32,
    ("int8", 16, 64): 16,
    ("fp8", 32, 16): 32,
    ("fp8", 16, 32): 16,
    # With fp8 operands; fp6 and fp4 take half as long.
    ("fp8", 32, 64): 64,
    ("fp8", 16, 128): 32,
}

#: FLOP per cycle and compute unit, by architecture and element type: the forms with the most.
MATRIX_RATES = {
    "gfx90a": {"fp64": 256, "fp32": 256, "fp16": 1024, "bf16": 1024, "int8": 1024},
    "gfx942": {
        "fp64": 256,
        "fp32": 256,
        "xf32": 1024,
        "fp16": 2048,
        "bf16": 2048,
        "fp8": 4096,
        "int8": 4096,
    },
    "gfx950": {"fp64": 128, "fp32": 256, "fp16": 4096, "bf16": 4096, "fp8": 8192, "int8": 8192},
}

#: The builtin with the most FLOPs per operand, by architecture and element type.
BEST_BUILTINS = {
    "gfx90a": {
        "fp64": "__builtin_amdgcn_mfma_f64_16x16x4f64",
        "fp32": "__builtin_amdgcn_mfma_f32_32x32x2f32",
        "fp16": "__builtin_amdgcn_mfma_f32_32x32x8f16",
        "bf16": "__builtin_amdgcn_mfma_f32_32x32x8bf16_1k",
        "int8": "__builtin_amdgcn_mfma_i32_32x32x8i8",
    },
    "gfx942": {
        "fp64": "__builtin_amdgcn_mfma_f64_16x16x4f64",
        "fp32": "__builtin_amdgcn_mfma_f32_32x32x2f32",
        "xf32": "__builtin_amdgcn_mfma_f32_32x32x4_xf32",
        "fp16": "__builtin_amdgcn_mfma_f32_32x32x8f16",
        "bf16": "__builtin_amdgcn_mfma_f32_32x32x8bf16_1k",
        "fp8": "__builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8",
        "int8": "__builtin_amdgcn_mfma_i32_32x32x16_i8",
    },
    "gfx950": {
        "fp64": "__builtin_amdgcn_mfma_f64_16x16x4f64",
        "fp32": "__builtin_amdgcn_mfma_f32_32x32x2f32",
        "fp16": "__builtin_amdgcn_mfma_f32_32x32x16_f16",
        "bf16": "__builtin_amdgcn_mfma_f32_32x32x16_bf16",
        "fp8": "__builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4",
        "int8": "__builtin_amdgcn_mfma_i32_32x32x32_i8",
    },
}


def matrix_form(mnemonic: str, operands: str) -> MatrixForm | None:
    """Return the form of a matrix instruction, or None for another instruction."""
    return _form(mnemonic, _registers(operands.partition(",")[0])) if "mfma" in mnemonic else None


@functools.lru_cache(maxsize=256)
def _form(mnemonic: str, result_registers: int) -> MatrixForm | None:
    match = _NAME.fullmatch(mnemonic)
    if match is None:
        return None
    m, n, k = int(match["m"]), int(match["n"]), int(match["k"])
    # Names of gfx90a do not have the number of blocks; the size of the result has.
    words = 2 if match["result"] == "f64" else 1
    blocks = int(match["blocks"] or max(1, result_registers * _LANES // (m * n * words)))
    return MatrixForm(
        name=mnemonic.removesuffix("_e64"),
        m=m,
        n=n,
        k=k,
        blocks=blocks,
        elements=match["elements"],
        sparse=match["operation"] == "smfmac",
    )


def flops_per_cycle(form: MatrixForm, arch: str) -> float | None:
    """Return the FLOPs per cycle and compute unit, or None if the cycles are not published."""
    cycles = form.cycles(arch)
    return form.flops * _MATRIX_CORES / cycles if cycles else None


def _registers(operand: str) -> int:
    found = _RANGE.match(operand.strip())
    return int(found[2]) - int(found[1]) + 1 if found else 1
