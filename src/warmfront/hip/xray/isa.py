"""Instruction set: the kind of each instruction, and the bytes that it moves per lane.

One table of mnemonics covers CDNA2, CDNA3 and CDNA4.
"""

from __future__ import annotations

import functools
import re
from enum import StrEnum


class InstructionKind(StrEnum):
    """Kinds of instructions, in an author's terms."""

    VALU = "vector ALU"
    MFMA = "matrix (MFMA)"
    SALU = "scalar ALU"
    SCALAR_LOAD = "scalar load"
    GLOBAL_LOAD = "global load"
    GLOBAL_STORE = "global store"
    GLOBAL_ATOMIC = "global atomic"
    LDS_READ = "LDS read"
    LDS_WRITE = "LDS write"
    LDS_ATOMIC = "LDS atomic"
    SHUFFLE = "shuffle"  #: between lanes, through the LDS crossbar
    SCRATCH = "scratch"  #: private memory of a thread, which is located in global memory
    BRANCH = "branch"
    CALL = "call"
    WAIT = "wait"
    BARRIER = "barrier"
    OTHER = "other"


#: The first match decides.
_KINDS = (
    (r"v_mfma_|v_smfmac_", InstructionKind.MFMA),
    (r"v_", InstructionKind.VALU),
    (r"s_waitcnt|s_wait_", InstructionKind.WAIT),
    (r"s_barrier", InstructionKind.BARRIER),
    (r"s_swappc|s_setpc|s_call", InstructionKind.CALL),
    (r"s_cbranch|s_branch|s_endpgm", InstructionKind.BRANCH),
    (r"s_load_|s_buffer_load_|s_scratch_load_", InstructionKind.SCALAR_LOAD),
    (
        r"s_nop|s_sleep|s_setprio|s_trap|s_sendmsg|s_icache|s_dcache|s_code_end|s_inst_prefetch",
        InstructionKind.OTHER,
    ),
    (r"s_", InstructionKind.SALU),
    (r"scratch_", InstructionKind.SCRATCH),
    (r"(?:global|flat|buffer)_atomic_", InstructionKind.GLOBAL_ATOMIC),
    (r"(?:global|flat|buffer)_load_", InstructionKind.GLOBAL_LOAD),
    (r"(?:global|flat|buffer)_store_", InstructionKind.GLOBAL_STORE),
    (r"ds_(?:b?permute|swizzle|bpermute)", InstructionKind.SHUFFLE),
    (r"ds_(?:read|load)", InstructionKind.LDS_READ),
    (r"ds_(?:write|store)", InstructionKind.LDS_WRITE),
    (r"ds_nop|buffer_(?:wbl2|inv|gl)", InstructionKind.OTHER),
    (r"ds_", InstructionKind.LDS_ATOMIC),
)
_PATTERN = re.compile("|".join(f"(?P<k{i}>{names})" for i, (names, _) in enumerate(_KINDS)))

#: gfx90a accesses scratch through a buffer whose descriptor is always in the first four scalar registers.
_SCRATCH_BUFFER = re.compile(r"\bs\[0:3\]")

_WIDTHS = (
    (re.compile(r"dwordx4|b128"), 16),
    (re.compile(r"dwordx3|b96"), 12),
    (re.compile(r"dwordx2|b64|u64|i64|f64|_x2|2_b32|2st64_b32|pk_add_f16|pk_add_bf16"), 8),
    (re.compile(r"byte|_[ui]8|_b8"), 1),
    (re.compile(r"short|_[ui]16|_b16|d16"), 2),
)


def kind_of(mnemonic: str, operands: str = "") -> InstructionKind:
    """Return the kind of an instruction."""
    kind = _kind_by_mnemonic(mnemonic)
    if mnemonic.startswith("buffer_") and kind in {InstructionKind.GLOBAL_LOAD, InstructionKind.GLOBAL_STORE}:
        return InstructionKind.SCRATCH if _SCRATCH_BUFFER.search(operands) else kind
    return kind


@functools.cache  # a few hundred mnemonics exist, and a kernel uses some of them thousands of times
def _kind_by_mnemonic(mnemonic: str) -> InstructionKind:
    match = _PATTERN.match(mnemonic)
    return _KINDS[int((match.lastgroup or "k0")[1:])][1] if match else InstructionKind.OTHER


@functools.cache
def width_of(mnemonic: str) -> int:
    """Return the bytes that a load or store moves per lane."""
    if "2_b64" in mnemonic or "2st64_b64" in mnemonic:
        return 16
    return next((width for pattern, width in _WIDTHS if pattern.search(mnemonic)), 4)
