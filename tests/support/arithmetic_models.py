"""Models of the builtins of one lane in `tests/corpus/programs/builtins.hip`, in NumPy."""

# ruff: noqa: ARG005 - every model has the same parameters

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.support.lane_models import LANES, fields, floats, signed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Words = NDArray[np.uint32]
    Model = Callable[[Words, Words, Words, Words, int], NDArray[np.generic]]

_MASK = 0xFFFFFFFF


def _joined(high: Words, low: Words) -> NDArray[np.uint64]:
    return high.astype(np.uint64) << np.uint64(32) | low.astype(np.uint64)


def _shifted(high: Words, low: Words, by: NDArray[np.integer]) -> NDArray[np.uint64]:
    return (_joined(high, low) >> by.astype(np.uint64)) & np.uint64(_MASK)


def _ubfe(value: Words, offset: Words, width: Words) -> NDArray[np.int64]:
    return value.astype(np.int64) >> (offset % 32) & ((1 << (width % 32).astype(np.int64)) - 1)


def _sbfe(value: Words, offset: Words, width: Words) -> NDArray[np.int64]:
    at, count = (offset % 32).astype(np.int64), (width % 32).astype(np.int64)
    count = np.minimum(count, 32 - at)
    raw = value.astype(np.int64) >> at & ((1 << count) - 1)
    sign = np.where(count > 0, raw >> np.maximum(count - 1, 0) & 1, 0)
    return np.asarray(raw - sign * (1 << count), np.int64)


def _perm(high: Words, low: Words, selector: Words) -> Words:
    result = np.zeros(64, np.uint32)
    for lane in LANES:
        source = [int(low[lane]) >> 8 * i & 255 for i in range(4)]
        source += [int(high[lane]) >> 8 * i & 255 for i in range(4)]
        signs = [255 if source[i] & 128 else 0 for i in (1, 3, 5, 7)]
        table = [*source, *signs, 0, 255, 255, 255]
        chosen = [table[int(selector[lane]) >> 8 * i & 15] for i in range(4)]
        result[lane] = int.from_bytes(bytes(chosen), "little")
    return result


def _sad(a: Words, b: Words, *, masked: bool = False) -> NDArray[np.int64]:
    first, second = fields(a, 8, is_signed=False), fields(b, 8, is_signed=False)
    distances = np.abs(first - second)
    counted = np.where(second == 0, 0, distances) if masked else distances
    return np.asarray(counted.sum(-1), np.int64)


def _quad(
    a: Words, b: Words, reference: Words, sums: NDArray[np.uint64], *, masked: bool
) -> NDArray[np.uint64]:
    result = np.zeros(64, np.uint64)
    for i in range(4):
        window = _shifted(b, a, np.full(64, 8 * i)).astype(np.uint32)
        add = sums >> np.uint64(16 * i) & np.uint64(0xFFFF)
        total = np.minimum(_sad(window, reference, masked=masked).astype(np.uint64) + add, np.uint64(0xFFFF))
        result |= total << np.uint64(16 * i)
    return result


def _dot(a: Words, b: Words, add: Words, bits: int, *, is_signed: bool, clamp: bool) -> NDArray[np.int64]:
    products = fields(a, bits, is_signed=is_signed) * fields(b, bits, is_signed=is_signed)
    total = products.sum(-1) + (signed(add) if is_signed else add.astype(np.int64))
    if clamp:
        total = np.clip(total, -(1 << 31) if is_signed else 0, (1 << 31) - 1 if is_signed else _MASK)
    return np.asarray(total, np.int64)


def _med3(x: NDArray[np.float32], y: NDArray[np.float32], z: NDArray[np.float32]) -> NDArray[np.float32]:
    stacked = np.stack([x, y, z])
    least = np.fmin(np.fmin(x, y), z)
    return np.where(np.isnan(stacked).any(0), least, np.sort(stacked, axis=0)[1])


def _toward_zero(values: NDArray[np.float32]) -> NDArray[np.uint32]:
    nearest = values.astype(np.float16)
    too_large = np.abs(nearest.astype(np.float32)) > np.abs(values)
    smaller = np.nextafter(nearest, np.float16(0))
    return np.where(too_large, smaller, nearest).astype(np.float16).view(np.uint16).astype(np.uint32)


def _pair(low: NDArray[np.integer], high: NDArray[np.integer]) -> NDArray[np.int64]:
    return (low.astype(np.int64) & 0xFFFF) | (high.astype(np.int64) & 0xFFFF) << 16


def _norm(values: NDArray[np.float32], least: int, most: int) -> NDArray[np.int64]:
    scaled = np.rint(np.clip(np.nan_to_num(values, nan=0.0), -2, 2) * np.float32(most))
    return np.asarray(np.clip(scaled, least, most), np.int64)


def _class_of(words: Words) -> NDArray[np.int64]:
    negative, exponent, fraction = words >> 31, words >> 23 & 255, words & 0x7FFFFF
    size = np.select([exponent == 255, exponent > 0, fraction > 0], [3, 2, 1], 0)
    is_nan = (exponent == 255) & (fraction > 0)
    number = np.where(negative == 1, 5 - size, 6 + size)
    return np.asarray(np.where(is_nan, np.where(fraction >> 22, 1, 0), number), np.int64)


def _pk_u8(c: Words, byte: Words, old: Words) -> NDArray[np.int64]:
    converted = np.clip((c % 1024).astype(np.int64) - 300, 0, 255)
    shift = 8 * (byte % 4).astype(np.int64)
    return np.asarray((old.astype(np.int64) & ~(255 << shift)) | converted << shift, np.int64)


def _turns(function: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> NDArray[np.float32]:
    return function(2 * np.pi * (LANES - 20) / 16).astype(np.float32)


def _squares(a: Words, b: Words) -> NDArray[np.float64]:
    return np.asarray((a % 256 / 16.0) ** 2 + (b % 256 / 8.0) ** 2, np.float64)


def _bits(values: NDArray[np.floating]) -> Words:
    return values.astype(np.float32).view(np.uint32)


#: By the name of the case. A name that begins with `near_` is compared with a tolerance.
IN_A_LANE: dict[str, Model] = {
    "alignbit": lambda a, b, c, d, n: _shifted(a, b, c % 32),
    "alignbyte": lambda a, b, c, d, n: _shifted(a, b, c % 4 * 8),
    "ubfe": lambda a, b, c, d, n: _ubfe(a, b, c),
    "sbfe": lambda a, b, c, d, n: _sbfe(a, b, c),
    "perm": lambda a, b, c, d, n: _perm(a, b, c),
    "lerp": lambda a, b, c, d, n: sum(
        ((a >> i & 255) + (b >> i & 255) + (c >> i & 1)).astype(np.int64) // 2 << i for i in (0, 8, 16, 24)
    ),
    "sad_u8": lambda a, b, c, d, n: _sad(a, b) + c,
    "msad_u8": lambda a, b, c, d, n: _sad(a, b & c, masked=True) + c,
    "sad_hi_u8": lambda a, b, c, d, n: (_sad(a, b) << 16) + c,
    "sad_u16": lambda a, b, c, d, n: (
        np.abs(fields(a, 16, is_signed=False) - fields(b, 16, is_signed=False)).sum(-1) + c
    ),
    "qsad_lo": lambda a, b, c, d, n: _quad(a, b, c, _joined(c, d), masked=False),
    "qsad_hi": lambda a, b, c, d, n: _quad(a, b, c, _joined(c, d), masked=False) >> np.uint64(32),
    "mqsad_lo": lambda a, b, c, d, n: _quad(a, b, c & d, _joined(c, d), masked=True),
    "mqsad_hi": lambda a, b, c, d, n: _quad(a, b, c & d, _joined(c, d), masked=True) >> np.uint64(32),
    "sdot4": lambda a, b, c, d, n: _dot(a, b, c, 8, is_signed=True, clamp=False),
    "sdot4_clamp": lambda a, b, c, d, n: _dot(a, b, c, 8, is_signed=True, clamp=True),
    "udot4": lambda a, b, c, d, n: _dot(a, b, c, 8, is_signed=False, clamp=False),
    "udot4_clamp": lambda a, b, c, d, n: _dot(a, b, c, 8, is_signed=False, clamp=True),
    "sdot8": lambda a, b, c, d, n: _dot(a, b, c, 4, is_signed=True, clamp=False),
    "udot8_clamp": lambda a, b, c, d, n: _dot(a, b, c, 4, is_signed=False, clamp=True),
    "cvt_off": lambda a, b, c, d, n: _bits(signed(a, 4) / 16),
    "fmed3f": lambda a, b, c, d, n: _bits(_med3(floats(c), floats(d), floats(a))),
    "fractf": lambda a, b, c, d, n: _bits(
        np.fmin(floats(c) - np.floor(floats(c)), np.nextafter(np.float32(1), np.float32(0)))
    ),
    "ldexpf": lambda a, b, c, d, n: _bits(np.ldexp(floats(c), LANES - 32)),
    "frexp_mantf": lambda a, b, c, d, n: _bits(np.frexp(floats(c))[0]),
    "frexp_expf": lambda a, b, c, d, n: np.where(np.isfinite(floats(c)), np.frexp(floats(c))[1], 0),
    "classf": lambda a, b, c, d, n: (0x2A5 >> _class_of(c) & 1) | (0x15A >> _class_of(c) & 1) << 1,
    "near_rcpf": lambda a, b, c, d, n: _bits(1 / floats(c).astype(np.float64)),
    "near_sqrtf": lambda a, b, c, d, n: _bits(np.sqrt(floats(c))),
    "near_rsqf": lambda a, b, c, d, n: _bits(1 / np.sqrt(floats(c).astype(np.float64))),
    "near_exp2f": lambda a, b, c, d, n: _bits(np.exp2(floats(c).astype(np.float64))),
    "near_logf": lambda a, b, c, d, n: _bits(np.log2(floats(c))),
    "near_sinf": lambda a, b, c, d, n: _bits(_turns(np.sin)),
    "near_cosf": lambda a, b, c, d, n: _bits(_turns(np.cos)),
    "pkrtz": lambda a, b, c, d, n: _pair(_toward_zero(floats(c)), _toward_zero(floats(d))),
    "pk_i16": lambda a, b, c, d, n: _pair(
        np.clip(signed(a) >> (b % 32), -32768, 32767), np.clip(signed(b) >> (a % 32), -32768, 32767)
    ),
    "pk_u16": lambda a, b, c, d, n: _pair(np.minimum(a >> (b % 32), 65535), np.minimum(b >> (a % 32), 65535)),
    "pknorm_i16": lambda a, b, c, d, n: _pair(
        _norm(floats(c), -32767, 32767), _norm(floats(d), -32767, 32767)
    ),
    "pknorm_u16": lambda a, b, c, d, n: _pair(_norm(floats(c), 0, 65535), _norm(floats(d), 0, 65535)),
    "pk_u8": lambda a, b, c, d, n: _pk_u8(c, d, a),
    "sdot2": lambda a, b, c, d, n: _dot(a, b, c, 16, is_signed=True, clamp=False),
    "sdot2_clamp": lambda a, b, c, d, n: _dot(a, b, c, 16, is_signed=True, clamp=True),
    "udot2_clamp": lambda a, b, c, d, n: _dot(a, b, c, 16, is_signed=False, clamp=True),
    "sdot8_clamp": lambda a, b, c, d, n: _dot(a, b, c, 4, is_signed=True, clamp=True),
    "udot8": lambda a, b, c, d, n: _dot(a, b, c, 4, is_signed=False, clamp=False),
    "near_fdot2": lambda a, b, c, d, n: _bits(_squares(a, b) + 0.5),
    "near_fdot2_clamp": lambda a, b, c, d, n: _bits(np.clip(_squares(a, b) + 0.5, 0, 1)),
    "fract_64": lambda a, b, c, d, n: signed(a) % 1024,
    "frexp_exp_64": lambda a, b, c, d, n: np.frexp(signed(a) / 1024)[1],
    "frexp_mant_64": lambda a, b, c, d, n: _bits(np.frexp(signed(a) / 1024)[0]),
    "ldexp_64": lambda a, b, c, d, n: _bits(signed(a) / 128),
    "class_64": lambda a, b, c, d, n: np.where(signed(a) < 0, 3, np.where(a > 0, 1, 0)),
    "near_rcp_64": lambda a, b, c, d, n: _bits(1 / (signed(a) / 1024)),
    "near_sqrt_64": lambda a, b, c, d, n: _bits(np.sqrt(signed(a) / 1024)),
    "near_rsq_64": lambda a, b, c, d, n: _bits(1 / np.sqrt(signed(a) / 1024)),
    "ids": lambda a, b, c, d, n: LANES | n << 8 | 64 << 16 | 1 << 24,
    "wavefrontsize": lambda a, b, c, d, n: np.full(64, 64),
    "clocks": lambda a, b, c, d, n: np.ones(64),
}
