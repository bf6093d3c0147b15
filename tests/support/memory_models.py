"""Models of the cases in `tests/corpus/programs/builtins_memory.hip`, in NumPy, in the order of the cases."""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]

LANES = np.arange(64)
BYTES = 400
IN: Words = (np.arange(256, dtype=np.uint64) * 2654435761 + 12345).astype(np.uint32)
_MEMORY = IN.tobytes()


def _read(offset: int, size: int, limit: int = BYTES) -> int:
    """Return `size` bytes of the input at an offset; 0 if they are not all within the buffer."""
    if not 0 <= offset <= limit - size:
        return 0
    return int.from_bytes(_MEMORY[offset : offset + size], "little")


def _reads(stride: int, add: int, size: int) -> list[int]:
    return [_read(int(lane) * stride + add, size) for lane in LANES]


def _stored(*, wide: bool) -> NDArray[np.uint32]:
    """Return the second buffer after the stores of the kernel `buffers`."""
    memory = bytearray(1024)
    for lane in range(64):
        word = int(IN[lane])
        for offset, size in ((lane * 8, 4), (lane * 8 + 5, 1), (lane * 8 + 6, 2)):
            if offset + size <= BYTES:
                memory[offset : offset + size] = (word & (1 << 8 * size) - 1).to_bytes(size, "little")
    for lane in range(64 if wide else 0):
        for part in range(4):
            offset = lane * 16 + part * 4
            if offset + 4 <= BYTES:
                memory[offset : offset + 4] = _read(lane * 8 + 4 + part * 4, 4).to_bytes(4, "little")
    return np.frombuffer(bytes(memory), np.uint32)[:128].reshape(64, 2)


_INSIDE = LANES * 8 + 4 <= BYTES
_INSIDE_ODD = LANES * 8 + 8 <= BYTES


def _bits(value: float) -> int:
    return int(np.float32(value).view(np.uint32))


def buffers() -> dict[str, object]:
    """Return the words of each case of the kernel `buffers`."""
    return {
        "load_b32": _reads(8, 0, 4),
        "load_b32_scalar": _reads(4, 192, 4),
        "load_b32_negative": [0] * 64,
        "load_b8": _reads(7, 0, 1),
        "load_b16": _reads(6, 4, 2),
        "load_b64_0": _reads(8, 0, 4),
        "load_b64_1": _reads(8, 4, 4),
        "load_b96_2": _reads(8, 8, 4),
        "load_b128_0": _reads(8, 4, 4),
        "load_b128_3": _reads(8, 16, 4),
        "stored_0": _stored(wide=False)[:, 0],
        "stored_1": _stored(wide=False)[:, 1],
        "stored_wide_0": _stored(wide=True)[:, 0],
        "stored_wide_1": _stored(wide=True)[:, 1],
        "atomic_add_old": np.where(_INSIDE, LANES, 0),
        "atomic_add": np.where(_INSIDE, LANES + IN[:64].astype(np.int64), LANES),
        "atomic_fadd_old": [0] * 64,
        "atomic_fadd": np.where(_INSIDE_ODD, _bits(1.5), 0),
        "global_fadd_old": [0] * 64,
        "flat_fadd_old": LANES,
        "fadd": [_bits(lane + 0.5) for lane in range(64)],
        "bounded_64": np.clip(LANES, 20, 40),
        "fadd_v2f16": [0x4200 | int(np.float16(2 * lane).view(np.uint16)) << 16 for lane in range(64)],
        "fadd_v2bf16": [0x40404040] * 64,
        "ds_fadd": [_bits(2.5)] * 64,
        "load_to_lds": IN[(63 - LANES) ^ 2],
        "global_load_lds": IN[(63 - LANES) ^ 1],
        "buffer_load_lds": _reads(8, 0, 4)[::-1],
    }


def _half(value: float) -> int:
    """Return the bits of a number as a half, rounded toward zero."""
    nearest = np.float16(value)
    if abs(float(nearest)) > abs(value):
        nearest = np.nextafter(nearest, np.float16(0))
    return int(nearest.view(np.uint16))


def assembly() -> dict[str, object]:
    """Return the words of each case of the kernel `assembly`."""
    a, b = IN[:64].astype(np.int64), IN[64:128].astype(np.int64)
    x, y = (a % 4096) / 16.0, (b % 4096) / -8.0
    shared = np.concatenate([a, b, a ^ b, a + b]).astype(np.uint32)
    shared_bytes = shared.tobytes()
    at = 4 * (LANES % 60)
    pairs = zip(x.astype(np.float32) * np.float32(2), y.astype(np.float32) * np.float32(4), strict=True)
    return {
        "add_u32": a + b,
        "lshl_add": (a << 3) + b,
        "mul_add": [_bits(2 * p + q) for p, q in zip(x, y, strict=True)],
        "fma": [_bits(p * q + p) for p, q in zip(x, y, strict=True)],
        "pkrtz": [_half(p) | _half(q) << 16 for p, q in zip(x, y, strict=True)],
        "cvt_i32": np.trunc(y).astype(np.int64),
        "bfi": (a & b) | (~a & 0xFF00FF),
        "max_zero": [_bits(max(q, 0.0)) for q in y],
        "element": a ^ b,
        "pk_mul": [_bits(p) ^ _bits(q) for p, q in pairs],
        "global_load_x": IN[LANES + 4],
        "global_load_w": IN[LANES + 7],
        "global_load_ushort": IN[:64] >> 16,
        "global_store": b,
        "ds_read_y": shared[at + 5],
        "ds_read_u8": [struct.unpack_from("B", shared_bytes, int(i) * 4 + 3)[0] for i in at],
        "ds_read2": shared[at + 3].astype(np.int64) ^ 3 * shared[at + 7].astype(np.int64),
        "ds_write": b[63 - LANES],
        "ds_write2": a[63 - LANES] ^ 3 * b,
        "cndmask": np.where(a < b, a, b),
        "cmp": np.full(64, _folded_mask(a < b)),
        "dot2c": np.full(64, _bits(1.0 + 1 * 3 + 2 * 4)),
        "halves": np.full(64, _half(4.0)),
        "mfma": [_bits(value) for value in _products(a % 8, b % 8)],
    }


def _folded_mask(lanes: NDArray[np.bool_]) -> int:
    """Return the exclusive or of both halves of a mask with one bit per lane."""
    mask = sum(1 << lane for lane in np.flatnonzero(lanes).tolist())
    return (mask ^ mask >> 32) & 0xFFFFFFFF


def _products(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return two items of each lane of A times B plus its transpose, of 16 x 4 by 4 x 16 items."""
    left, right = a.reshape(4, 16).T, b.reshape(4, 16)
    sums = left @ right + (left @ right).T
    row = 4 * (LANES // 16)
    result: NDArray[np.int64] = sums[row, LANES % 16] + 1024 * sums[row + 3, LANES % 16]
    return result


def intrinsics() -> dict[str, object]:
    """Return the words of each case of the kernel `intrinsics`."""
    writes = IN[:64].astype(np.int64).copy()
    writes[9] = 77
    return {
        "intrinsic_load_four": _reads(8, 12, 4),
        "intrinsic_load_one": _reads(4, 200, 4),
        "intrinsic_store": np.where(_INSIDE, IN[:64], 0),
        "intrinsic_writelane": writes,
    }
