"""Find the sums of products in a kernel's assembly that form a matrix product.

In a matrix product, many outputs use each factor: a row of A is multiplied by all columns of B, and the
reverse. There are two kinds of evidence, either of which is enough:

- between lanes: one factor is the same in some lanes, the other in other lanes (a thread per output);
- between registers: two loaded values are both multiplied by two others, into four sums (a tile per thread).

Convolutions, dot products and matrix-vector products have neither.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING

from warmfront.hip.xray.assembly import InstructionKind, kind_of
from warmfront.hip.xray.lane_analysis import LANES, operands_of, thread_indexes
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from warmfront.hip.xray.assembly import Instruction
    from warmfront.hip.xray.lane_analysis import LaneTrace

#: For each lane the number of its class: lanes of a class have the same value.
Classes = tuple[int, ...]

_UNIFORM: Classes = (0,) * LANES
_REGISTERS = re.compile(r"^[-|]*([vs])(?:\[(\d+):(\d+)\]|(\d+))\|?$")
_ACCUMULATION = re.compile(
    r"v_(?:pk_)?(?:fmac|fma|fma_mix|dot2c?|dot4c?)_(?:f16|f32|f64|f32_f16|f32_bf16|i32_i8)"
)
_SELECTION = re.compile(r"op_sel(?P<high>_hi)?:\[(?P<bits>[01,]+)\]")
_LOADS = frozenset({InstructionKind.GLOBAL_LOAD, InstructionKind.LDS_READ, InstructionKind.SCALAR_LOAD})
#: In a loop with more factors, only the first ones are compared, to avoid quadratic time.
_MOST_FACTORS = 64
#: Kernels have few different classes, and join the same ones in most of their instructions.
_CACHED_CLASSES = 1024


@dataclass(frozen=True)
class _Value:
    """The facts about a register: the instruction that wrote it, and the lanes in which it is the same."""

    identity: tuple[int, int]
    classes: Classes
    loaded: bool  #: from memory, or computed from such values


@dataclass(frozen=True)
class Product:
    """One accumulated product of a loop."""

    index: int  #: of the instruction
    left: tuple[int, int]  #: identity of the first factor
    right: tuple[int, int]
    sum_register: str
    crosses_lanes: bool  #: neither factor decides in which lanes the other one is the same


def matrix_products(
    instructions: Sequence[Instruction], lanes: LaneTrace, block: tuple[int, int, int] | None
) -> list[int]:
    """Return the indexes of the instructions of loops that compute a matrix product one by one."""
    by_loop: dict[str, list[Product]] = defaultdict(list)
    for product in _products(instructions, lanes, block):
        loop = instructions[product.index].loop
        if loop is not None:
            by_loop[loop].append(product)
    found: list[int] = []
    for products in by_loop.values():
        crossing = [product for product in products if product.crosses_lanes]
        if 2 * len(crossing) >= len(products) or _is_outer_product(products):
            found += [product.index for product in products]
    return found


def _is_outer_product(products: Sequence[Product]) -> bool:
    """Return whether two values are both multiplied by two others, and the four sums are different."""
    sums: dict[tuple[int, int], dict[tuple[int, int], str]] = defaultdict(dict)
    for product in products:
        sums[product.left][product.right] = product.sum_register
        sums[product.right][product.left] = product.sum_register
    for first, second in combinations(list(sums)[:_MOST_FACTORS], 2):
        common = [factor for factor in sums[first] if factor in sums[second]]
        for one, other in combinations(common, 2):
            if len({sums[first][one], sums[first][other], sums[second][one], sums[second][other]}) == 4:
                return True
    return False


def _products(
    instructions: Sequence[Instruction], lanes: LaneTrace, block: tuple[int, int, int] | None
) -> Iterable[Product]:
    values: dict[str, _Value] = {
        "v0": _Value((-1, 0), _classes(thread_indexes(block).lanes), loaded=False),
    }
    for index, instruction in enumerate(instructions):
        operands = operands_of(instruction.operands)
        if not operands or not (targets := _names(operands[0])):
            continue
        kind = kind_of(instruction.mnemonic, instruction.operands)
        if kind not in _LOADS and not instruction.mnemonic.startswith("v_"):
            continue
        sources = [values[name] for text in operands[1:] for name in _names(text) if name in values]
        if _ACCUMULATION.match(instruction.mnemonic):
            yield from _accumulated(index, instruction, operands, values)
        known = lanes.results.get(index)
        classes = _classes(known.lanes) if known else _UNIFORM
        if known is None:
            for source in sources:
                classes = _join(classes, source.classes)
        loaded = kind in _LOADS or any(source.loaded for source in sources)
        for offset, name in enumerate(targets):
            values[name] = _Value((index, offset), classes, loaded)


def _accumulated(
    index: int, instruction: Instruction, operands: list[str], values: dict[str, _Value]
) -> Iterable[Product]:
    """Yield the products of an instruction; a packed instruction has two."""
    if len(operands) < 3:
        return
    target, left, right = (_names(operand) for operand in operands[:3])
    packed_in_two = instruction.mnemonic.startswith("v_pk_") and "f32" in instruction.mnemonic
    for half in (0, 1) if packed_in_two else (0,):
        chosen = _selected(instruction.operands, half) if packed_in_two else (0, 0)
        names = [
            factor[min(bit, len(factor) - 1)]
            for factor, bit in zip((left, right), chosen, strict=True)
            if factor
        ]
        factors = [values[name] for name in names if name in values]
        if len(factors) == 2 and all(factor.loaded for factor in factors) and len(target) > half:
            first, second = factors
            together = len(set(_join(first.classes, second.classes)))
            yield Product(
                index,
                first.identity,
                second.identity,
                target[half],
                together > max(len(set(first.classes)), len(set(second.classes))),
            )


def _selected(operands: str, half: int) -> tuple[int, int]:
    """Return which register of each pair a half of a packed instruction reads."""
    bits = (half, half)
    for match in _SELECTION.finditer(operands):
        if bool(match["high"]) == bool(half):
            first, second = match["bits"].split(",")[:2]
            bits = (int(first), int(second))
    return bits


def _names(operand: str) -> list[str]:
    """Return the registers of an operand: `v[2:3]` → `v2`, `v3`."""
    match = _REGISTERS.match(operand.strip())
    if match is None:
        return []
    first = int(match[2] or match[4])
    return [f"{match[1]}{number}" for number in range(first, int(match[3] or first) + 1)]


@functools.lru_cache(_CACHED_CLASSES)
def _classes(lanes: tuple[int, ...]) -> Classes:
    numbers: dict[int, int] = {}
    return tuple(numbers.setdefault(value, len(numbers)) for value in lanes)


@functools.lru_cache(_CACHED_CLASSES)
def _join(first: Classes, second: Classes) -> Classes:
    if first is second or second is _UNIFORM:
        return first
    if first is _UNIFORM:
        return second
    numbers: dict[tuple[int, int], int] = {}
    return tuple(numbers.setdefault(pair, len(numbers)) for pair in zip(first, second, strict=True))
