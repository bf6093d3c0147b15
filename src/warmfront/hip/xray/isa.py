"""Knows the instruction set: what kind an instruction is, and how many bytes a lane moves with it.

One table of mnemonics for CDNA2, CDNA3 and CDNA4; nothing here knows of kernels or source lines.
"""

from __future__ import annotations

import functools
import re
from enum import StrEnum


class Kind(StrEnum):
    """What an instruction does, as an author thinks of it."""

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
    SCRATCH = "scratch"  #: a thread's own memory, which is global memory in disguise
    BRANCH = "branch"
    CALL = "call"
    WAIT = "wait"
    BARRIER = "barrier"
    OTHER = "other"


#: The first that matches decides.
_KINDS = (
    (r"v_mfma_|v_smfmac_", Kind.MFMA),
    (r"v_", Kind.VALU),
    (r"s_waitcnt|s_wait_", Kind.WAIT),
    (r"s_barrier", Kind.BARRIER),
    (r"s_swappc|s_setpc|s_call", Kind.CALL),
    (r"s_cbranch|s_branch|s_endpgm", Kind.BRANCH),
    (r"s_load_|s_buffer_load_|s_scratch_load_", Kind.SCALAR_LOAD),
    (r"s_nop|s_sleep|s_setprio|s_trap|s_sendmsg|s_icache|s_dcache|s_code_end|s_inst_prefetch", Kind.OTHER),
    (r"s_", Kind.SALU),
    (r"scratch_", Kind.SCRATCH),
    (r"(?:global|flat|buffer)_atomic_", Kind.GLOBAL_ATOMIC),
    (r"(?:global|flat|buffer)_load_", Kind.GLOBAL_LOAD),
    (r"(?:global|flat|buffer)_store_", Kind.GLOBAL_STORE),
    (r"ds_(?:b?permute|swizzle|bpermute)", Kind.SHUFFLE),
    (r"ds_(?:read|load)", Kind.LDS_READ),
    (r"ds_(?:write|store)", Kind.LDS_WRITE),
    (r"ds_nop|buffer_(?:wbl2|inv|gl)", Kind.OTHER),
    (r"ds_", Kind.LDS_ATOMIC),
)
_PATTERN = re.compile("|".join(f"(?P<k{i}>{names})" for i, (names, _) in enumerate(_KINDS)))

#: gfx90a reaches scratch through a buffer whose descriptor is always the first four scalar registers.
_SCRATCH_BUFFER = re.compile(r"\bs\[0:3\]")

_WIDTHS = (
    (re.compile(r"dwordx4|b128"), 16),
    (re.compile(r"dwordx3|b96"), 12),
    (re.compile(r"dwordx2|b64|u64|i64|f64|_x2|2_b32|2st64_b32|pk_add_f16|pk_add_bf16"), 8),
    (re.compile(r"byte|_[ui]8|_b8"), 1),
    (re.compile(r"short|_[ui]16|_b16|d16"), 2),
)


def kind_of(mnemonic: str, operands: str = "") -> Kind:
    """What an instruction does."""
    kind = _usual_kind(mnemonic)
    if mnemonic.startswith("buffer_") and kind in {Kind.GLOBAL_LOAD, Kind.GLOBAL_STORE}:
        return Kind.SCRATCH if _SCRATCH_BUFFER.search(operands) else kind
    return kind


@functools.cache  # there are a few hundred mnemonics, and a kernel uses some of them thousands of times
def _usual_kind(mnemonic: str) -> Kind:
    found = _PATTERN.match(mnemonic)
    return _KINDS[int((found.lastgroup or "k0")[1:])][1] if found else Kind.OTHER


@functools.cache
def width_of(mnemonic: str) -> int:
    """Bytes that one lane moves with a load or a store."""
    if "2_b64" in mnemonic or "2st64_b64" in mnemonic:
        return 16
    return next((width for pattern, width in _WIDTHS if pattern.search(mnemonic)), 4)
