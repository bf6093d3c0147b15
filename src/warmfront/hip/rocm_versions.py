"""A table of HIP constructs by ROCm version, with replacements for those that are missing.

The CPU runtime and the X-ray accept what the HIP of `TARGET` accepts; their headers declare nothing else.
`make test-rocm` compares them with real compilers, and `docs/rocm-versions.md` is generated from this table.
"""

from __future__ import annotations

import re

from warmfront.value_class import dataclass

#: The ROCm version of the images for VMs, to which the X-ray's messages refer.
TARGET = "7.2"

NEEDS_ROCM_7 = "NEEDS_ROCM_7"
NOT_IN_HIP = "NOT_IN_HIP"

#: The note in the X-ray's headers for a function that is newer than ROCm 6.4.
NEEDS_NOTE = "needs ROCm 7"


@dataclass(frozen=True)
class Construct:
    """A construct that some versions of HIP do not have."""

    names: str  #: a pattern of the names in compiler messages
    instead: str  #: what to write instead
    code: str = NOT_IN_HIP
    spelling: str = ""  #: how the documentation shows it; by default the name
    is_member: bool = False  #: whether it applies only to members of a class or a namespace

    def describe(self, name: str) -> str:
        """Return a message about `name`."""
        if self.code == NEEDS_ROCM_7:
            return f"'{name}' needs ROCm 7"
        return f"'{name}' is not in HIP"


CONSTRUCTS = (
    Construct("__ldc[sagv]|__ldlu", "__ldg, or __builtin_nontemporal_load for streaming",
              spelling="`__ldcs`, `__ldca`, `__ldcg`, `__ldcv`, `__ldlu` (halves have the first three)"),
    Construct("__stc[sg]|__stw[bt]", "a plain store, or __builtin_nontemporal_store for streaming",
              spelling="`__stcs`, `__stcg`, `__stwb`, `__stwt`"),
    Construct("__nanosleep", "__builtin_amdgcn_s_sleep on a GPU, or nothing"),
    Construct("__dp4a", "amd_mixed_dot with char4, or four products"),
    Construct("u(?:min|max)|ll(?:min|max)", "min or max", spelling="`umin`, `umax`, `llmin`, `llmax`"),
    Construct("__tanhf", "tanhf"),
    Construct("htanh|h2tanh", "tanhf of the value as float", spelling="`htanh`, `h2tanh`"),
    Construct("__hfma2?_relu", "__hmax(__hfma(a, b, c), __half(0))",
              spelling="`__hfma_relu`, `__hfma2_relu`"),
    Construct("__hm(?:ax|in)2", "__hmax or __hmin of the two components",
              spelling="`__hmax2`, `__hmin2` of `__half2`"),
    Construct(r"atomic\w+_block", "the function without _block",
              spelling="`atomicAdd_block` and similar functions"),
    Construct("__float2bfloat16_r[nzdu]|__floats?2bfloat162_rn|make_bfloat162",
              "__float2bfloat16, __float22bfloat162_rn or __halves2bfloat162",
              spelling="`__float2bfloat16_rn`, `__floats2bfloat162_rn`, `make_bfloat162`"),
    Construct(r"__bfloat162\w+_r[nzdu]|__(?!int2)\w+2bfloat16_rn", "a conversion via float",
              spelling="`__bfloat162int_rn`, `__uint2bfloat16_rn` and similar functions"),
    Construct("__double2half", "__half(x)"),
    Construct("reduce|inclusive_scan|exclusive_scan|plus|less|greater|bit_and|bit_or|bit_xor",
              "a loop over tile.shfl_down or tile.shfl_xor",
              spelling="`cg::reduce`, `cg::inclusive_scan`, `cg::exclusive_scan`", is_member=True),
    Construct("labeled_partition", "binary_partition, or __match_any", is_member=True),
    Construct("num_blocks|block_rank|dim_threads", "gridDim, blockIdx and blockDim",
              spelling="`num_blocks`, `block_rank`, `dim_threads` of groups", is_member=True),
    Construct("__grid_constant__", "a plain const parameter"),
    Construct("__AMDGCN_WAVEFRONT_SIZE(?:__)?", "warpSize in device code, or 64",
              spelling="`__AMDGCN_WAVEFRONT_SIZE__` (ROCm 6.4 has it)"),
    Construct("__syncwarp", "__builtin_amdgcn_wave_barrier(), or __syncthreads()", NEEDS_ROCM_7),
    Construct("__reduce_(?:add|min|max|and|or|xor)_sync", "a loop over __shfl_xor", NEEDS_ROCM_7,
              "`__reduce_add_sync` and the other reductions"),
    Construct("__h(?:add|sub|mul)2?_rn", "the function without _rn", NEEDS_ROCM_7,
              "`__hadd_rn`, `__hsub_rn`, `__hmul_rn` and those of pairs"),
    Construct("__int2bfloat16_rn", "__hip_bfloat16(x)", NEEDS_ROCM_7),
    Construct(r"__hip_fp[46]\w*|__hip_cvt_\w*fp[46]\w*", "a type of hip/hip_fp8.h", NEEDS_ROCM_7,
              "`hip/hip_fp4.h` and `hip/hip_fp6.h`"),
    Construct("num_threads", "size()", NEEDS_ROCM_7, "`num_threads()` of groups", is_member=True),
)  # fmt: skip

#: Constructs without a name: the documentation lists them, and compilers report them.
UNNAMED = (
    ("`warpSize` as a constant, in host code, or deduced as a template argument", "6.4 only",
     "a constant of your own: `constexpr int kWave = 64;`"),
    ("`v[i]` of `float4` and other vectors", "7", "`v.x`, or `(&v.x)[i]`"),
    ("`auto [x, y] = v` of `float2` and other vectors (the X-ray has no finding)", "7", "`v.x` and `v.y`"),
    ("device functions with `...` and `va_arg` (the X-ray has no finding)", "7", "a template with `T... x`"),
    ("`unsafeAtomicAdd` of `__half` and `__hip_bfloat16`", "7", "`unsafeAtomicAdd` of a pair"),
    ("`atomicCAS` of `unsigned short`", "7", "`atomicCAS` of the word around it"),
    ("`__shfl` of `__hip_bfloat16`; `tile.shfl` of `__half`", "7", "a shuffle of the float"),
    ("a tile of a tile: `tiled_partition<8>(tile)`", "7", "`tiled_partition<8>(this_thread_block())`"),
    ("`atomicAdd` of `__half`, `__half2`, `__hip_bfloat16`", "none", "`unsafeAtomicAdd` of a pair"),
    ("atomics of `long` and `long long`, except minimum and maximum", "none", "`unsigned long long`"),
    ("`v <<= 1`, `v &= 1` on vectors", "none", "`v = v << 1`"),
    ("a mask of 32 bits for `__shfl_sync` and similar functions", "none", "`0xffffffffffffffffull`"),
    ("shuffles of structs, vectors and pointers", "none", "a shuffle of each number"),
    ("`exp(x)`, `isnan(x)` and other overloaded functions of a `__half`", "none", "`hexp(x)`, or `expf(x)`"),
    ("`__ldg` of `bool`, pointers and `__hip_bfloat16`", "none", "a plain load"),
    ("`hipFuncSetAttribute(kernel, …)`", "none", "`reinterpret_cast<const void*>(kernel)`"),
    ("`dim3` to `uint3` and back", "none", "its components"),
)  # fmt: skip

#: Functions that ROCm 6.4 has only for other types: a pattern of names, the newer types, and a replacement.
NEWER_OVERLOADS = (
    ("atomicCAS(?:_system)?", "of unsigned short", "atomicCAS of the word around it"),
    (r"__shfl\w*", "of __hip_bfloat16", "a shuffle of the float"),
    (r"shfl\w*", "of a 16-bit floating-point type by a group", "a shuffle of the float"),
    ("tiled_partition", "of a tile", "tiled_partition of this_thread_block()"),
    ("unsafeAtomicAdd", "of a single 16-bit number", "unsafeAtomicAdd of a pair"),
)

_UNKNOWN = re.compile(
    r"(?:'(?P<gcc>[\w:]+)' (?:was not declared|is not a member of|has not been declared|does not name)|"
    r"has no member named '(?P<gcc_member>\w+)'|"
    r"(?:use of undeclared identifier|unknown type name|no member named|no matching function for call to|"
    r"no template named|undefined (?:reference to|symbol:?)) [`']?(?P<clang>[\w:]+))"
)


@dataclass(frozen=True)
class MissingConstruct:
    """A name that a compiler does not know, with the reason."""

    code: str
    message: str
    hint: str


def find_missing(text: str) -> MissingConstruct | None:
    """Return why a compiler does not know the name in its message; None for the author's own names."""
    unknown = _UNKNOWN.search(text.replace("\u2018", "'").replace("\u2019", "'"))
    if unknown is None:
        return None
    name = next(group for group in unknown.groups() if group).rpartition("::")[2]
    for construct in CONSTRUCTS:
        if re.fullmatch(construct.names, name) and (not construct.is_member or "member" in text):
            message = construct.describe(name)
            return MissingConstruct(construct.code, message, f"Write instead: {construct.instead}.")
    return None


def describe_newer(name: str) -> str:
    """Return the message of a finding about `name`, which needs ROCm 7 for the types used."""
    for names, what, _ in NEWER_OVERLOADS:
        if re.fullmatch(names, name):
            return f"{name} {what} {NEEDS_NOTE}: ROCm 6.4 does not have it."
    return f"{name} {NEEDS_NOTE}: ROCm 6.4 does not have it."


def replacement(name: str) -> str:
    """Return a hint with the replacement, in older ROCm, of a construct that needs ROCm 7."""
    for names, _, instead in NEWER_OVERLOADS:
        if re.fullmatch(names, name):
            return f"For ROCm 6.4, write instead: {instead}."
    for construct in CONSTRUCTS:
        if re.fullmatch(construct.names, name):
            return f"For ROCm 6.4, write instead: {construct.instead}."
    return "See docs/rocm-versions.md for what to write for ROCm 6.4."


def is_newer(name: str) -> bool:
    """Return whether the name itself needs ROCm 7, whatever its types."""
    return any(c.code == NEEDS_ROCM_7 and re.fullmatch(c.names, name) for c in CONSTRUCTS)


def table() -> str:
    """Return the table of `docs/rocm-versions.md`."""
    rows = ["| construct | ROCm | instead |", "| --- | --- | --- |"]
    for construct in CONSTRUCTS:
        name = construct.spelling or f"`{construct.names}`"
        version = "7" if construct.code == NEEDS_ROCM_7 else "none"
        rows.append(f"| {name} | {version} | {construct.instead} |".replace(r"\w+", "*"))
    rows += [f"| {name} | {version} | {instead} |" for name, version, instead in UNNAMED]
    return "\n".join(rows) + "\n"
