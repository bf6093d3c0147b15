"""A model of the dense matrix instructions of gfx942, from their definition: which lane has which element.

The layouts are those that AMD's matrix instruction calculator prints for CDNA3, in the direction from the
element to the lane. The CPU runtime computes them in the other direction.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LANES = 64
_NAME = re.compile(
    r"(?P<result>[fi]\d\d)_(?P<m>\d+)x(?P<n>\d+)x(?P<k>\d+)_?(?P<a>[a-z]+\d\d?)(?:_(?P<b>[bf]+p?8|1k))?"
)
_BLOCKS = {"32x32x1": 2, "32x32x4": 2, "16x16x1": 4, "16x16x4": 4, "4x4x1": 16, "4x4x4": 16}
_SUMS: dict[str, np.dtype[Any]] = {
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "i32": np.dtype(np.int32),
}
#: Numbers that every type represents, so that sums are exact in any order.
_SMALL = np.array([0, 1, 2, 3, 4, -1, -2, -3, -4], dtype=np.float64)
_STORED = {"f32": 4, "xf32": 4, "f64": 8, "f16": 2, "bf16": 2, "i8": 1, "fp8": 1, "bf8": 1}


def decode(kind: str, raw: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the values of stored elements."""
    if kind in {"f32", "xf32"}:
        bits = raw.view(np.uint32)
        return (bits & np.uint32(0xFFFFE000) if kind == "xf32" else bits).view(np.float32).astype(np.float64)
    if kind == "f64":
        return raw.view(np.float64).copy()
    if kind == "f16":
        return raw.view(np.float16).astype(np.float64)
    if kind == "bf16":
        return (raw.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if kind == "i8":
        return raw.view(np.int8).astype(np.float64)
    return np.array([_decode_8_bits(kind, int(code)) for code in raw])


def encode(kind: str, values: NDArray[np.float64]) -> bytes:
    """Return the stored form of small integers."""
    if kind in {"f32", "xf32"}:
        return values.astype(np.float32).tobytes()
    if kind == "f64":
        return values.tobytes()
    if kind == "f16":
        return values.astype(np.float16).tobytes()
    if kind == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).tobytes()
    if kind == "i8":
        return values.astype(np.int8).tobytes()
    codes = np.arange(256, dtype=np.uint8)
    by_value = dict(zip(decode(kind, codes), codes, strict=True))
    return bytes(int(by_value[value + 0.0]) for value in values)


def encode_small(kind: str, rng: np.random.Generator, count: int) -> bytes:
    """Return the stored form of random small integers."""
    return encode(kind, rng.choice(_SMALL, count))


def _decode_8_bits(kind: str, code: int) -> float:
    """Return the value of an 8-bit code of gfx942, which has one NaN and neither infinity nor -0."""
    if code == 0x80:
        return float("nan")
    bits, bias = (3, 8) if kind == "fp8" else (2, 16)
    exponent, mantissa = (code & 0x7F) >> bits, code & ((1 << bits) - 1)
    significand = mantissa / 2**bits + (1 if exponent else 0)
    value: float = significand * 2.0 ** (max(exponent, 1) - bias)
    return -value if code & 0x80 else value


@dataclass(frozen=True)
class Form:
    """One instruction: its shape, and the elements of its operands."""

    name: str
    m: int
    n: int
    k: int
    blocks: int
    a_kind: str
    b_kind: str
    sum_type: np.dtype[Any]

    @property
    def items(self) -> int:
        """The number of elements of A that a lane has."""
        return self.m * self.k * self.blocks // LANES

    @property
    def results(self) -> int:
        """The number of elements of D that a lane has."""
        return self.m * self.n * self.blocks // LANES

    @property
    def operand_bytes(self) -> int:
        """The size of a lane's part of A."""
        return self.items * _STORED[self.a_kind]

    def operand_place(self, row: int, k: int, block: int) -> tuple[int, int]:
        """Return the lane and the item of A[row][k], or of B[k][row]."""
        return row + self.m * (block + self.blocks * (k // self.items)), k % self.items

    def result_place(self, i: int, j: int, block: int) -> tuple[int, int]:
        """Return the lane and the item of D[i][j]."""
        if self.m == 32:
            return (32 * (i // 4)) % 64 + j, 16 * block + 4 * (i // 8) + i % 4
        if self.m == 16:
            if self.sum_type == np.float64:
                return 16 * (i % 4) + j, i // 4
            return 16 * (i // 4) + j, 4 * block + i % 4
        if self.sum_type == np.float64:
            return 16 * i + 4 * block + j, 0
        return 4 * block + j, i


def parse_form(name: str) -> Form:
    """Return the form of `__builtin_amdgcn_mfma_NAME`."""
    match = _NAME.fullmatch(name)
    assert match, name
    m, n, k = (int(match[key]) for key in "mnk")
    a_kind = match["a"]
    b_kind = match["b"] if match["b"] in {"fp8", "bf8"} else a_kind
    blocks = _BLOCKS.get(f"{m}x{n}x{k}", 1)
    if a_kind == "xf32" or name in {"f32_16x16x4f32", "f64_16x16x4f64"}:
        blocks = 1
    elif name == "f64_4x4x4f64":
        blocks = 4
    return Form(name, m, n, k, blocks, a_kind, b_kind, _SUMS[match["result"]])


def b_source(lane: int, blgp: int) -> int:
    """Return the lane from which a lane gets its part of B."""
    if blgp >= 4:
        return 16 * (blgp - 4) + lane % 16
    return [lane, lane % 32, 32 + lane % 32, (lane + 16) % 64][blgp]


def multiply(
    form: Form, operands: tuple[NDArray[Any], ...], modifiers: tuple[int, int, int]
) -> NDArray[np.float64]:
    """Return D of every lane, given the decoded A and B and the C of every lane, in double precision."""
    a, b, c = operands
    cbsz, abid, blgp = modifiers
    signs = [-1 if form.sum_type == np.float64 and blgp >> bit & 1 else 1 for bit in range(3)]
    pattern = 0 if form.sum_type == np.float64 else blgp
    d = np.full((LANES, form.results), np.nan)
    for block in range(form.blocks):
        source = (block >> cbsz << cbsz) + abid if cbsz else block
        rows = np.array([[a[form.operand_place(i, k, source)] for k in range(form.k)] for i in range(form.m)])
        columns = np.empty((form.k, form.n))
        for k in range(form.k):
            for j in range(form.n):
                lane, item = form.operand_place(j, k, block)
                columns[k, j] = b[b_source(lane, pattern), item]
        product = signs[0] * signs[1] * (rows @ columns)
        for i in range(form.m):
            for j in range(form.n):
                place = form.result_place(i, j, block)
                d[place] = product[i, j] + signs[2] * c[place]
    return d
