"""The builtins of AMD GPUs: how faithfully the CPU runtime executes each, and the header that defines it.

This is the only list. The rewriter includes the headers that a source needs, error messages take their
reasons from here, and `docs/cdna3.md` shows it as a table.
"""

from __future__ import annotations

import functools
import re
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

PREFIX = "__builtin_amdgcn_"


class Fidelity(StrEnum):
    """How the result of the CPU runtime relates to that of a GPU."""

    EXACT = "exact"  #: every bit is the same, as far as the instruction set's documentation defines it
    APPROXIMATE = "approximate"  #: the last bits can differ, or a case is not documented: see the note
    GPU_ONLY = "GPU only"  #: using it is an error


class Builtin(NamedTuple):
    """One builtin function."""

    name: str
    group: str  #: the heading in the table
    fidelity: Fidelity
    header: str = ""  #: the header of the CPU runtime that defines it; empty if it is GPU only
    note: str = ""  #: why it is approximate or GPU only
    arch: str = ""  #: the only architecture that has it; empty if both gfx942 and gfx950 have it


class UnknownInstruction(NamedTuple):
    """The message and hint about a builtin that the architecture does not have."""

    message: str
    hint: str  #: what to use instead


class _Family(NamedTuple):
    group: str
    fidelity: Fidelity
    header: str
    names: str  #: without the prefix; `a{b,c}` is `ab ac`
    note: str = ""
    arch: str = ""


_LANES, _ARITHMETIC = "hipcpu/builtins/lanes.h", "hipcpu/builtins/arithmetic.h"
_SCHEDULING, _BUFFERS = "hipcpu/builtins/scheduling.h", "hipcpu/builtins/buffers.h"
_MATRIX, _SPARSE_MATRIX = "hipcpu/matrix.h", "hipcpu/sparse_matrix.h"
_GFX950_MATRIX = "hipcpu/gfx950_matrix.h"
GFX942, GFX950 = "gfx942", "gfx950"
_CONVERSIONS = "hipcpu/builtins/conversions.h"
_EXACT, _APPROXIMATE, _GPU_ONLY = Fidelity.EXACT, Fidelity.APPROXIMATE, Fidelity.GPU_ONLY
#: Headers of names other than functions.
_OTHER_NAMES = {
    "__amdgpu_buffer_rsrc_t": _BUFFERS,
    "address_space": "hipcpu/builtins/address_space.h",
    "uintptr_t": "hipcpu/builtins/lds_addresses.h",
    "intptr_t": "hipcpu/builtins/lds_addresses.h",
    "__bf16": "hipcpu/builtins/half_types.h",
    "__fp16": "hipcpu/builtins/half_types.h",
}
_WITHOUT_WAITS = {_ARITHMETIC, _CONVERSIONS}
_TRUNCATED = "sums are rounded after every product; the GPU truncates sums of several products"
_ULP = "the GPU computes it to about one unit in the last place"

_FAMILIES = (
    _Family("lanes", _EXACT, _LANES,
            "readfirstlane readlane ds_bpermute update_dpp mbcnt_{lo,hi} ballot_w64 inverse_ballot_w64 "
            "read_exec{,_lo,_hi} uicmp{,l} sicmp{,l} fcmp{,f} wave_reduce_{add,sub}_u{32,64} "
            "wave_reduce_{min,max}_{i,u}{32,64} wave_reduce_{and,or,xor}_b{32,64}"),
    _Family("lanes", _EXACT, _LANES, "permlane{16,32}_swap", arch=GFX950),
    _Family("lanes", _APPROXIMATE, _LANES,
            "mov_dpp",
            "a lane that is not written gets 0; on a GPU its value is undefined"),
    _Family("lanes", _APPROXIMATE, _LANES,
            "ds_permute",
            "if several lanes write to one, the highest counts; a GPU does not define which"),
    _Family("lanes", _APPROXIMATE, _LANES,
            "ds_swizzle",
            "patterns from 0xe000 on (FFT) are rejected"),
    _Family("arithmetic", _EXACT, _ARITHMETIC,
            "alignbit alignbyte ubfe sbfe perm lerp sad_u8 sad_hi_u8 sad_u16 msad_u8 {,m}qsad_pk_u16_u8 "
            "{s,u}dot{2,4,8} cvt_pkrtz cvt_pk_{i,u}16 cvt_off_f32_i4 fmed3f fract{,f} ldexp{,f} "
            "frexp_mant{,f} frexp_exp{,f} class{,f}"),
    _Family("arithmetic", _APPROXIMATE, _ARITHMETIC,
            "fdot2",
            "the sum is rounded once; how the GPU rounds it is not documented"),
    _Family("arithmetic", _APPROXIMATE, _ARITHMETIC,
            "cvt_pknorm_{i,u}16 cvt_pk_u8_f32",
            "rounded to nearest even; the GPU's rounding of ties is not documented"),
    _Family("arithmetic", _APPROXIMATE, _ARITHMETIC,
            "rcp{,f} sqrt{,f} rsq{,f} exp2f logf sinf cosf",
            _ULP),
    _Family("matrices", _EXACT, _MATRIX,
            "mfma_f32_{32x32x1,16x16x1,4x4x1,32x32x2,16x16x4}f32 mfma_f64_{16x16x4,4x4x4}f64 "
            "mfma_i32_{32x32x4,16x16x4,4x4x4}i8 mfma_i32_{32x32x16,16x16x32}_i8"),
    _Family("matrices", _APPROXIMATE, _MATRIX,
            "mfma_f32_{32x32x4,16x16x4,4x4x4,32x32x8,16x16x16}{f16,bf16_1k} "
            "mfma_f32_{16x16x32,32x32x16}_{bf8,fp8}_{bf8,fp8}",
            _TRUNCATED),
    _Family("matrices", _APPROXIMATE, _MATRIX, "mfma_f32_{16x16x8,32x32x4}_xf32", _TRUNCATED, GFX942),
    _Family("matrices", _EXACT, _GFX950_MATRIX, "mfma_i32_{16x16x64,32x32x32}_i8", arch=GFX950),
    _Family("matrices", _APPROXIMATE, _GFX950_MATRIX, "mfma_f32_{16x16x32,32x32x16}_{f16,bf16}",
            _TRUNCATED, GFX950),
    _Family("matrices", _APPROXIMATE, _GFX950_MATRIX, "mfma_scale_f32_{16x16x128,32x32x64}_f8f6f4",
            "the sum is rounded once; how the GPU rounds it is not documented", GFX950),
    _Family("matrices", _EXACT, _SPARSE_MATRIX, "smfmac_i32_{16x16x64,32x32x32}_i8"),
    _Family("matrices", _APPROXIMATE, _SPARSE_MATRIX,
            "smfmac_f32_{16x16x32,32x32x16}_{f16,bf16} smfmac_f32_{16x16x64,32x32x32}_{bf8,fp8}_{bf8,fp8}",
            _TRUNCATED),
    _Family("matrices", _GPU_ONLY, "",
            "smfmac_f32_{16x16x64,32x32x32}_{f16,bf16} smfmac_i32_{16x16x128,32x32x64}_i8 "
            "smfmac_f32_{16x16x128,32x32x64}_{bf8,fp8}_{bf8,fp8}",
            "which lane has which elements is not documented for these forms", GFX950),
    _Family("conversions", _EXACT, _CONVERSIONS,
            "cvt_f32_{fp8,bf8} cvt_pk_f32_{fp8,bf8} cvt_pk_{fp8,bf8}_f32"),
    _Family("conversions", _APPROXIMATE, _CONVERSIONS,
            "cvt_sr_{fp8,bf8}_f32",
            "which of the random bits are added is not documented for numbers below the smallest normal one"),
    _Family("scheduling", _EXACT, _SCHEDULING,
            "s_barrier wave_barrier sched_barrier sched_group_barrier iglp_opt s_setprio s_sleep "
            "s_waitcnt fence s_incperflevel s_decperflevel s_dcache_inv s_dcache_wb buffer_wbinvl1"),
    _Family("buffers", _EXACT, _BUFFERS, "make_buffer_rsrc"),
    _Family("buffers", _APPROXIMATE, _BUFFERS,
            "raw_buffer_{load,store}_b{8,16,32,64,96,128} raw_ptr_buffer_atomic_add_i32 "
            "raw_ptr_buffer_atomic_fadd_{f32,v2f16} raw_ptr_buffer_atomic_f{min,max}_f64",
            "the range is checked per word of 4 bytes, with the scalar offset; the documentation of the "
            "hardware does not define partly valid accesses"),
    _Family("buffers", _APPROXIMATE, _BUFFERS, "raw_ptr_buffer_load_lds",
            "a lane that is out of range writes 0 to LDS; that is not documented"),
    _Family("buffers", _EXACT, _BUFFERS,
            "global_load_lds load_to_lds {global,flat,ds}_atomic_fadd_{f32,f64,v2f16,v2bf16} "
            "{global,flat}_atomic_f{min,max}_f64"),
    _Family("buffers", _GPU_ONLY, "", "struct_ptr_buffer_load_lds ds_faddf ds_fminf ds_fmaxf "
            "atomic_{inc,dec}{32,64}", "the CPU runtime does not have it: use functions such as atomicAdd"),
    _Family("buffers", _GPU_ONLY, "", "raw_ptr_buffer_atomic_f{min,max}_f32",
            "gfx942 does not have this instruction"),
    _Family("position", _EXACT, _SCHEDULING,
            "work{item,group}_id_{x,y,z} workgroup_size_{x,y,z} grid_size_{x,y,z} wavefrontsize"),
    _Family("position", _APPROXIMATE, _SCHEDULING,
            "s_memtime s_memrealtime",
            "the clock of the CPU, which says nothing about a GPU's time"),
    _Family("position", _GPU_ONLY, "",
            "dispatch_ptr implicitarg_ptr queue_ptr kernarg_segment_ptr groupstaticsize is_shared "
            "is_private s_getpc s_getreg s_setreg get_fpenv set_fpenv s_sendmsg s_sendmsghalt endpgm",
            "it reads or changes state that only a GPU has"),
    _Family("arithmetic", _GPU_ONLY, "",
            "div_scale{,f} div_fmas{,f} div_fixup{,f,h} trig_preop{,f} cubeid cubema cubesc cubetc "
            "mqsad_u32_u8 fmed3h fracth ldexph frexp_manth frexp_exph classh rcph sqrth rsqh sinh cosh "
            "rsq_clamp{,f} log_clampf interp_{mov,p1,p2,p1_f16,p2_f16}",
            "the CPU runtime does not have this instruction"),
    _Family("scheduling", _GPU_ONLY, "",
            "ds_append ds_consume ds_gws_{barrier,init,sema_br,sema_p,sema_release_all,sema_v} "
            "s_ttracedata{,_imm} s_dcache_inv_vol buffer_wbinvl1_vol",
            "the CPU runtime does not have this instruction"),
    _Family("lanes", _GPU_ONLY, "",
            "ballot_w32 inverse_ballot_w32",
            "a wave of an MI300X has 64 lanes: use the form with w64"),
    _Family("lanes", _GPU_ONLY, "",
            "mov_dpp8 permlane16 permlanex16 permlane16_var permlanex16_var permlane64 "
            "ds_bpermute_fi_b32 permlane_{bcast,down,up,xor,idx_gen} "
            "wave_reduce_f{add,sub,min,max}_f32",
            "gfx942 does not have this instruction: use ds_bpermute, update_dpp or __shfl"),
    _Family("scheduling", _GPU_ONLY, "",
            "s_sleep_var s_barrier_{init,join,leave,signal,signal_isfirst,signal_var,wait} "
            "s_get_barrier_state s_get_named_barrier_state s_wakeup_barrier s_setprio_inc_wg "
            "s_wait_asynccnt s_wait_event_export_ready s_prefetch_data s_buffer_prefetch_data "
            "s_sendmsg_rtn s_sendmsg_rtnl s_monitor_sleep global_prefetch",
            "gfx942 does not have this instruction"),
    _Family("arithmetic", _GPU_ONLY, "",
            "fdot2_{bf16_bf16,f16_f16,f32_bf16} fdot2c_f32_bf16 sudot4 sudot8 "
            "dot4_f32_{bf8,fp8}_{bf8,fp8} bitop3_b{16,32} prng_b32 tanhf tanhh "
            "{rcp,sqrt,rsq,exp2,log,sin,cos,tanh}_bf16 ashr_pk_{i,u}8_i32",
            "gfx942 does not have this instruction"),
)  # fmt: skip

#: The message and hint for a rejected constant argument, by the function that words.h calls for it.
_REJECTIONS = {
    "dpp_control": (
        "this is not a DPP control of gfx942",
        (
            "Use quad_perm (0x000-0x0ff), row_shl (0x101-0x10f), row_shr (0x111-0x11f), "
            "row_ror (0x121-0x12f), wave_shl, wave_rol, wave_shr or wave_ror (0x130, 0x134, 0x138, 0x13c), "
            "row_mirror (0x140), row_half_mirror (0x141), row_bcast15 or row_bcast31 (0x142, 0x143), "
            "or row_newbcast (0x150-0x15f)."
        ),
    ),
    "mask_of_four_bits": ("a row mask or bank mask of DPP has four bits", "Use a value from 0 to 0xf."),
    "swizzle_pattern": (
        "the CPU runtime does not support this ds_swizzle pattern",
        "Use a pattern below 0xe000: bit masks (below 0x8000), quad_perm (0x8000) or rotation (0xc000).",
    ),
    "comparison": (
        "this is not the code of a comparison",
        "Use LLVM's codes: 32 to 41 for integers, 1 to 14 for floating-point numbers.",
    ),
    "lds_load_size": (
        "the CPU runtime does not support this size of a load from global memory to LDS",
        "Pass the size 4 bytes per lane; gfx950 also has 12 and 16. The sizes 1 and 2 run on a GPU only.",
    ),
    "byte_selector": ("a word has four bytes", "Use a selector from 0 to 3."),
    "fence_order": (
        "this is not the order of a fence",
        "Use __ATOMIC_ACQUIRE, __ATOMIC_RELEASE, __ATOMIC_ACQ_REL or __ATOMIC_SEQ_CST.",
    ),
}
_UNDECLARED = re.compile(
    rf"'(?P<gcc>{PREFIX}\w+)' was not declared|undeclared identifier '(?P<clang>{PREFIX}\w+)'"
)
_REJECTED = re.compile(r"\brejected_(\w+)\b")
#: In a message of g++ about an operand that is neither this vector nor another one of its size.
_VECTOR_OPERAND = re.compile(r"VectorOperand<(?:\w+::)?ext_vector<(?P<element>[\w ]+), ?(?P<count>\d+)>")


@functools.cache
def all_builtins() -> dict[str, Builtin]:
    """Return every known builtin by its name."""
    return {
        PREFIX + name: Builtin(
            PREFIX + name, family.group, family.fidelity, family.header, family.note, family.arch
        )
        for family in _FAMILIES
        for name in _expand(family.names)
    }


def headers_of(names: Iterable[str], arch: str = GFX942) -> list[str]:
    """Return the headers that define these names, sorted; other names need none.

    A name that `arch` does not have stays undefined, so that the compiler reports it.
    """
    used = set(names)
    known = {
        builtin.header
        for name in used
        if name.startswith(PREFIX)
        for builtin in _meant(name)
        if builtin.arch in {"", arch}
    }
    return sorted((known | {header for name, header in _OTHER_NAMES.items() if name in used}) - {""})


def _meant(name: str) -> list[Builtin]:
    """Return the builtin with this name, or the builtins that a macro can form from the name with `##`."""
    if builtin := all_builtins().get(name):
        return [builtin]
    return [b for b in all_builtins().values() if b.name.startswith(name)] if name.endswith("_") else []


def may_wait(name: str) -> bool:
    """Return whether a builtin can make threads of a block wait for each other."""
    builtin = all_builtins().get(name)
    return builtin is None or builtin.header not in _WITHOUT_WAITS


def approximate_names(names: Iterable[str]) -> list[Builtin]:
    """Return the names of builtins with an approximate result, sorted."""
    known = all_builtins()
    used = {name for name in names if name.startswith(PREFIX) and name in known}
    return [known[name] for name in sorted(used) if known[name].fidelity is Fidelity.APPROXIMATE]


def why_gpu_only(name: str) -> str:
    """Return why the CPU runtime does not support a builtin; empty if gfx942 does not have it."""
    builtin = all_builtins().get(name)
    return builtin.note if builtin else ""


def find_unknown_builtin(text: str, arch: str = GFX942) -> UnknownInstruction | None:
    """Return the builtin in a compiler's message that `arch` does not have, or None."""
    match = _UNDECLARED.search(text)
    name = match["gcc"] or match["clang"] if match else ""
    builtin = all_builtins().get(name)
    if not name or (builtin and builtin.arch in {"", arch}):
        return None
    names = {b.name.removeprefix(PREFIX) for b in all_builtins().values() if b.arch in {"", arch}}
    from difflib import get_close_matches  # noqa: PLC0415 - only misspelt names need it

    similar = get_close_matches(name.removeprefix(PREFIX), sorted(names), n=1, cutoff=0.75)
    hint = (
        f"Did you mean {PREFIX}{similar[0]}?" if similar else f"docs/cdna3.md lists the builtins of {arch}."
    )
    return UnknownInstruction(f"'{name}' is unknown: {arch} does not have this builtin", hint)


def find_rejection(text: str) -> tuple[str, str] | None:
    """Return the message and hint for a rejected argument of a builtin in a compiler's message."""
    if operand := _VECTOR_OPERAND.search(text):
        element = operand["element"].removesuffix(" int")
        return (
            f"this operand of a matrix instruction must be a vector of {operand['count']} {element}",
            "Pass a vector of that type, or one of the same size: clang keeps its bits.",
        )
    match = _REJECTED.search(text)
    return _REJECTIONS.get(match[1]) if match else None


def _expand(names: str) -> Iterable[str]:
    """Yield `ab ac` for `a{b,c}`."""
    for name in names.split():
        match = re.search(r"\{([^}]*)\}", name)
        if match is None:
            yield name
            continue
        yield from _expand(
            " ".join(name[: match.start()] + part + name[match.end() :] for part in match[1].split(","))
        )
