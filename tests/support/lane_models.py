"""Models of the builtins in `tests/corpus/programs/builtins.hip`, in NumPy, written from their documentation.

A model gets the four input words of each of the 64 lanes and which lanes are active, and returns one word per
lane. It shares no code with the runtime.
"""

# ruff: noqa: ARG005 - every model has the same parameters

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Words = NDArray[np.uint32]
    Mask = NDArray[np.bool_]
    Model = Callable[[Words, Words, Words, Words, Mask], NDArray[np.generic]]

LANES = np.arange(64)


def signed(words: NDArray[np.integer], bits: int = 32) -> NDArray[np.int64]:
    """Return words as signed numbers of `bits` bits."""
    values = words.astype(np.int64) & ((1 << bits) - 1)
    return np.where(values >> (bits - 1), values - (1 << bits), values)


def floats(words: Words) -> NDArray[np.float32]:
    """Return the bits as floating-point numbers."""
    return words.view(np.float32)


def fields(words: Words, bits: int, *, is_signed: bool) -> NDArray[np.int64]:
    """Return the packed elements of each word, lowest first."""
    parts = [(words.astype(np.int64) >> at) & ((1 << bits) - 1) for at in range(0, 32, bits)]
    stacked = np.stack(parts, axis=-1)
    return signed(stacked, bits) if is_signed else stacked


def dpp_source(control: int, lane: int) -> int | None:
    """Return the lane that `lane` reads; None if there is none."""
    row, column = divmod(lane, 16)
    if control < 0x100:
        return lane // 4 * 4 + [control & 3, control >> 2 & 3, control >> 4 & 3, control >> 6][lane % 4]
    amount = control % 16
    column_of = {
        0x10: column + amount,
        0x11: column - amount,
        0x12: (column - amount) % 16,
        0x15: amount,
    }.get(control // 16)
    if column_of is not None:
        return row * 16 + column_of if 0 <= column_of < 16 else None
    if control in {0x130, 0x138}:
        source = lane + (1 if control == 0x130 else -1)
        return source if 0 <= source < 64 else None
    if control in {0x142, 0x143}:
        source = row * 16 - 1 if control == 0x142 else 31
        return source if 0 <= source < lane else None
    return {
        0x134: (lane + 1) % 64,
        0x13C: (lane - 1) % 64,
        0x140: row * 16 + 15 - column,
        0x141: lane // 8 * 8 + 7 - lane % 8,
    }[control]


def dpp(  # noqa: PLR0917 - the operands of the instruction
    old: Words, value: Words, active: Mask, control: int, rows: int, banks: int, *, zero: bool
) -> Words:
    """Return the value of each lane after a DPP move."""
    result = old.copy()
    for lane in range(64):
        if not (rows >> lane // 16 & 1 and banks >> lane % 16 // 4 & 1):
            continue
        source = dpp_source(control, lane)
        if source is not None and active[source]:
            result[lane] = value[source]
        elif zero:
            result[lane] = 0
    return result


def swizzle(value: Words, active: Mask, pattern: int) -> Words:
    """Return the result of ds_swizzle with this pattern."""
    result = np.zeros(64, np.uint32)
    for lane in range(64):
        base, low = lane // 32 * 32, lane % 32
        if pattern >= 0xC000:
            turn = -(pattern >> 5 & 31) if pattern & 0x400 else pattern >> 5 & 31
            keep = pattern & 31
            source = base + ((low & keep) | ((low + turn) % 32 & ~keep & 31))
        elif pattern >= 0x8000:
            source = lane // 4 * 4 + (pattern >> 2 * (lane % 4) & 3)
        else:
            source = base + ((low & pattern % 32 | pattern >> 5 & 31) ^ (pattern >> 10 & 31))
        result[lane] = value[source] if active[source] else 0
    return result


def mask_of(condition: Mask, active: Mask) -> int:
    """Return the lanes for which a condition holds, as an integer."""
    return sum(1 << int(lane) for lane in LANES[condition & active])


def everywhere(value: int) -> Words:
    """Return the same word for all lanes."""
    return np.full(64, value & 0xFFFFFFFF, np.uint32)


def _permute(value: Words, target: NDArray[np.integer], active: Mask) -> Words:
    result = np.zeros(64, np.uint32)
    for lane in LANES[active]:
        result[target[lane]] = value[lane]
    return result


def _read(value: Words, index: NDArray[np.integer], active: Mask) -> Words:
    return np.where(active[index], value[index], 0).astype(np.uint32)


def _wide(high: Words, low: Words) -> NDArray[np.uint64]:
    return high.astype(np.uint64) << np.uint64(32) | low.astype(np.uint64)


def _first(active: Mask) -> int:
    return int(LANES[active][0])


def _mbcnt(mask: Words, add: Words, first: int) -> NDArray[np.int64]:
    below = [
        (int(m) & ((1 << int(np.clip(lane - first, 0, 32))) - 1)).bit_count()
        for m, lane in zip(mask, LANES, strict=True)
    ]
    return (np.array(below) + add.astype(np.int64)) & 0xFFFFFFFF


_INVERSE = 0x123456789ABCDEF0
_U64 = (1 << 64) - 1

BETWEEN_LANES: dict[str, Model] = {
    "readfirstlane": lambda a, b, c, d, e: everywhere(a[_first(e)]),
    "readlane_37": lambda a, b, c, d, e: everywhere(a[37] if e[37] else 0),
    "readlane_by_first": lambda a, b, c, d, e: _read(a, np.full(64, c[_first(e)] % 64), e),
    "ds_bpermute": lambda a, b, c, d, e: _read(a, c // 4 % 64, e),
    "ds_permute": lambda a, b, c, d, e: _permute(a, (LANES * 5 + 3) % 64, e),
    "ds_permute_collisions": lambda a, b, c, d, e: _permute(a, LANES // 4, e),
    "mbcnt_lo": lambda a, b, c, d, e: _mbcnt(a, b, 0),
    "mbcnt_hi": lambda a, b, c, d, e: _mbcnt(a, b, 32),
    "ballot_lo": lambda a, b, c, d, e: everywhere(mask_of(a % 2 == 1, e)),
    "ballot_hi": lambda a, b, c, d, e: everywhere(mask_of(a % 2 == 1, e) >> 32),
    "exec_lo": lambda a, b, c, d, e: everywhere(mask_of(e, e)),
    "exec_hi": lambda a, b, c, d, e: everywhere(mask_of(e, e) >> 32),
    "exec": lambda a, b, c, d, e: everywhere(mask_of(e, e) >> 16),
    "inverse_ballot": lambda a, b, c, d, e: np.array([_INVERSE >> int(i) & 1 for i in LANES]),
    "uicmp__34": lambda a, b, c, d, e: everywhere(mask_of(a > b, e) >> 8),
    "uicmp__37": lambda a, b, c, d, e: everywhere(mask_of(a <= b, e) >> 8),
    "sicmp__40": lambda a, b, c, d, e: everywhere(mask_of(signed(a) < signed(b), e) >> 8),
    "sicmp__39": lambda a, b, c, d, e: everywhere(mask_of(signed(a) >= signed(b), e) >> 8),
    "fcmpf__4": lambda a, b, c, d, e: everywhere(mask_of(floats(c) < floats(d), e) >> 8),
    "fcmpf__11": lambda a, b, c, d, e: everywhere(mask_of(~(floats(c) < floats(d)), e) >> 8),
    "reduce_add": lambda a, b, c, d, e: everywhere(int(a[e].sum(dtype=np.uint64))),
    "reduce_sub": lambda a, b, c, d, e: everywhere(-int(a[e].sum(dtype=np.uint64))),
    "reduce_min_i": lambda a, b, c, d, e: everywhere(int(signed(a[e]).min())),
    "reduce_max_i": lambda a, b, c, d, e: everywhere(int(signed(a[e]).max())),
    "reduce_min_u": lambda a, b, c, d, e: everywhere(int(a[e].min())),
    "reduce_max_u": lambda a, b, c, d, e: everywhere(int(a[e].max())),
    "reduce_and": lambda a, b, c, d, e: everywhere(int(np.bitwise_and.reduce(a[e] | 0x10))),
    "reduce_or": lambda a, b, c, d, e: everywhere(int(np.bitwise_or.reduce(a[e] & 0x1111))),
    "reduce_xor": lambda a, b, c, d, e: everywhere(int(np.bitwise_xor.reduce(a[e]))),
    "uicmpl": lambda a, b, c, d, e: everywhere(mask_of(_wide(a, b) < _wide(b, a), e) >> 8),
    "sicmpl": lambda a, b, c, d, e: everywhere(
        mask_of(_wide(a, b).view(np.int64) > _wide(b, a).view(np.int64), e) >> 8
    ),
    "fcmp": lambda a, b, c, d, e: everywhere(mask_of(a > b, e) >> 8),
    "reduce_add_64": lambda a, b, c, d, e: everywhere(sum(map(int, _wide(a, b)[e])) >> 32),
    "reduce_sub_64": lambda a, b, c, d, e: everywhere(-sum(map(int, _wide(a, b)[e])) >> 32),
    "reduce_min_i64": lambda a, b, c, d, e: everywhere(int(signed(a[e]).min())),
    "reduce_max_i64": lambda a, b, c, d, e: everywhere(int(signed(a[e]).max())),
    "reduce_min_u64": lambda a, b, c, d, e: everywhere(int(a[e].min())),
    "reduce_max_u64": lambda a, b, c, d, e: everywhere(int(a[e].max())),
    "reduce_and_64": lambda a, b, c, d, e: everywhere(int(np.bitwise_and.reduce(a[e] | 0x100))),
    "reduce_or_64": lambda a, b, c, d, e: everywhere(int(np.bitwise_or.reduce(a[e] & 0x1111))),
    "reduce_xor_64": lambda a, b, c, d, e: everywhere(int(np.bitwise_xor.reduce(a[e]))),
    "mov_dpp": lambda a, b, c, d, e: dpp(np.zeros_like(a), a, e, 0x121, 15, 15, zero=True),
    "float_dpp": lambda a, b, c, d, e: dpp(b, a, e, 0x112, 15, 15, zero=False),
    "double_dpp_lo": lambda a, b, c, d, e: dpp(b, a, e, 0x113, 15, 15, zero=False),
    "double_dpp_hi": lambda a, b, c, d, e: dpp(a, b, e, 0x113, 15, 15, zero=False),
}


def model_between_lanes(name: str) -> Model:
    """Return the model of a case of the kernel `between_lanes`."""
    if swizzled := re.fullmatch(r"swizzle__(0x\w+)", name):
        pattern = int(swizzled[1], 16)
        return lambda a, b, c, d, e: swizzle(a, e, pattern)
    if moved := re.fullmatch(r"dpp__(0x\w+?)__(0x\w+?)__(0x\w+?)__(true|false)", name):
        control, rows, banks = (int(part, 16) for part in moved.groups()[:3])
        return lambda a, b, c, d, e: dpp(b, a, e, control, rows, banks, zero=moved[4] == "true")
    return BETWEEN_LANES[name]
