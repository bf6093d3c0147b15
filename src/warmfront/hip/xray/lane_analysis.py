"""Abstract interpretation of a kernel's vector registers: values that depend only on the thread's index.

A known value is one number per lane, plus an unknown offset that is the same in all lanes (a pointer, the
block index). All other values are unknown. The code is read once, from top to bottom.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from warmfront.hip.xray.assembly import InstructionKind, kind_of
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from warmfront.hip.xray.assembly import Instruction

LANES = 64


@dataclass(frozen=True)
class LaneValue:
    """One number per lane; if not `exact`, plus an unknown number that is the same in all lanes."""

    lanes: tuple[int, ...]
    exact: bool

    @property
    def uniform(self) -> bool:
        """Whether all lanes hold the same value."""
        return self.lanes.count(self.lanes[0]) == LANES


#: An unknown value that is the same in all lanes.
UNIFORM = LaneValue((0,) * LANES, exact=False)


@dataclass(frozen=True)
class MemoryAccess:
    """A load from or store to global memory or LDS, with the address of each lane."""

    index: int  #: index of the instruction
    address: LaneValue


@dataclass(frozen=True)
class LaneTrace:
    """The results of the analysis of one kernel."""

    accesses: tuple[MemoryAccess, ...]
    #: Indexes of instructions that mask off lanes by a condition that depends on the thread's index.
    divergent: frozenset[int]
    results: Mapping[int, LaneValue]  #: known results, by the index of the instruction


def trace_lanes(instructions: Sequence[Instruction], block: tuple[int, int, int] | None) -> LaneTrace:
    """Trace the first wave of a block; a block of unknown size is treated as one row of threads."""
    interpreter = _Interpreter(block)
    for index, instruction in enumerate(instructions):
        interpreter.step(index, instruction)
    return LaneTrace(
        tuple(interpreter.accesses), frozenset(interpreter.divergent), MappingProxyType(interpreter.results)
    )


def thread_indexes(block: tuple[int, int, int] | None) -> LaneValue:
    """Return the initial value of v0: the x, y and z of the thread, ten bits each."""
    width, height, _ = block or (1024, 1, 1)
    packed = (
        lane % width | lane // width % height << 10 | lane // (width * height) << 20 for lane in range(LANES)
    )
    return LaneValue(tuple(packed), exact=True)


_REGISTER = re.compile(r"^v(?:\[(\d+)(?::\d+)?\]|(\d+))$")
_NUMBER = re.compile(r"^-?(?:0x[0-9a-f]+|\d+)$")
_SUFFIX = re.compile(r"_(?:e32|e64|sdwa|dpp|e64_dpp)$")


class _Interpreter:
    """The state of the registers while the code is read."""

    def __init__(self, block: tuple[int, int, int] | None) -> None:
        self.accesses: list[MemoryAccess] = []
        self.divergent: set[int] = set()
        self.results: dict[int, LaneValue] = {}
        self._values: dict[int, LaneValue] = {0: thread_indexes(block)}
        #: Scalar registers that hold a mask → whether the mask depends on the thread's index.
        self._conditions: dict[str, bool] = {}

    def step(self, index: int, instruction: Instruction) -> None:
        name = _SUFFIX.sub("", instruction.mnemonic)
        operands = operands_of(instruction.operands)
        kind = kind_of(instruction.mnemonic, instruction.operands)
        if kind in _ACCESSES:
            self._access(index, kind, operands)
            if kind in _WRITING_ACCESSES and operands:
                self._forget(operands[0])
        elif name.startswith("v_cmp_"):
            self._conditions[operands[0]] = any(self._varies(operand) for operand in operands[1:])
        elif name.startswith("v_") and operands:
            result = self._compute(name, operands)
            if result is not None:
                self.results[index] = result
        elif name.startswith("s_"):
            self._mask(index, name, operands)
        elif operands:
            self._forget(operands[0])

    def _access(self, index: int, kind: InstructionKind, operands: list[str]) -> None:
        position = 1 if kind in {InstructionKind.GLOBAL_LOAD, InstructionKind.LDS_READ} else 0
        if position < len(operands) and (address := self._value(operands[position])):
            self.accesses.append(MemoryAccess(index, address))

    def _compute(self, name: str, operands: list[str]) -> LaneValue | None:
        operation = _OPERATIONS.get(name)
        inputs = operands[1:]
        if name in _WITH_CARRY:  # the second operand receives the carry
            inputs = operands[2:]
        result = None
        if operation is not None:
            values = [self._value(operand) for operand in inputs]
            known = [value for value in values if value is not None]
            if len(known) == len(values):
                result = operation(known)
        self._set(operands[0], result)
        return result

    def _set(self, target: str, value: LaneValue | None) -> None:
        register = _register(target)
        if register is None:
            return
        self._forget(target)
        if value is not None:
            self._values[register] = value
            if ":" in target:  # the upper half of an address is the same in all lanes
                self._values[register + 1] = UNIFORM

    def _forget(self, target: str) -> None:
        first = _register(target)
        if first is None:
            return
        last = re.search(r":(\d+)\]", target)
        for register in range(first, (int(last[1]) if last else first) + 1):
            self._values.pop(register, None)

    def _value(self, operand: str) -> LaneValue | None:
        if _NUMBER.match(operand):
            return LaneValue((int(operand, 0),) * LANES, exact=True)
        register = _register(operand)
        if register is not None:
            return self._values.get(register)
        return UNIFORM if operand[:1] in {"s", "e", "v"} and not operand.startswith("v[") else None

    def _varies(self, operand: str) -> bool:
        value = self._value(operand) if _register(operand) is not None else None
        return value is not None and not value.uniform

    def _mask(self, index: int, name: str, operands: list[str]) -> None:
        """Track conditions that are combined in scalar registers before they mask lanes."""
        differs = any(self._conditions.get(operand, False) for operand in operands[1:])
        if "saveexec" in name or (operands and operands[0] == "exec" and name.startswith(("s_and", "s_mov"))):
            if differs:
                self.divergent.add(index)
            if "saveexec" in name:
                self._conditions[operands[0]] = differs
        elif operands and name.startswith(("s_and", "s_or", "s_xor", "s_mov", "s_nor", "s_not")):
            self._conditions[operands[0]] = differs
        elif operands:
            self._conditions.pop(operands[0], None)


_ACCESSES = frozenset(
    {
        InstructionKind.GLOBAL_LOAD,
        InstructionKind.GLOBAL_STORE,
        InstructionKind.GLOBAL_ATOMIC,
        InstructionKind.LDS_READ,
        InstructionKind.LDS_WRITE,
        InstructionKind.LDS_ATOMIC,
    }
)
#: Accesses that can write their first operand, a register.
_WRITING_ACCESSES = frozenset(
    {
        InstructionKind.GLOBAL_LOAD,
        InstructionKind.LDS_READ,
        InstructionKind.GLOBAL_ATOMIC,
        InstructionKind.LDS_ATOMIC,
    }
)
_WITH_CARRY = frozenset({"v_add_co_u32", "v_sub_co_u32", "v_mad_u64_u32", "v_mad_i64_i32"})


def operands_of(text: str) -> list[str]:
    """Return the operands before the modifiers: `v1, v[2:3], off offset:16` → `v1`, `v[2:3]`, `off`."""
    parts = [part.strip() for part in text.split(",")]
    if parts and " " in parts[-1]:
        parts[-1] = parts[-1].split(" ")[0]
    return [part for part in parts if part]


def _register(operand: str) -> int | None:
    match = _REGISTER.match(operand)
    return int(match[1] or match[2]) if match else None


# Operations on known values. Each returns None where the result is unknown.


def _add(values: Sequence[LaneValue]) -> LaneValue | None:
    return LaneValue(
        tuple(map(sum, zip(*(v.lanes for v in values), strict=True))), all(v.exact for v in values)
    )


def _subtract(values: Sequence[LaneValue]) -> LaneValue | None:
    a, b = values[:2]
    return LaneValue(tuple(x - y for x, y in zip(a.lanes, b.lanes, strict=True)), a.exact and b.exact)


def _multiply(values: Sequence[LaneValue]) -> LaneValue | None:
    a, b = values[:2]
    if not a.exact and not b.exact:
        return UNIFORM if a.uniform and b.uniform else None
    if not (a.exact and b.exact):  # the product with an unknown offset is known only for a uniform factor
        known, unknown = (a, b) if a.exact else (b, a)
        if not known.uniform:
            return None
        return LaneValue(tuple(x * known.lanes[0] for x in unknown.lanes), exact=False)
    return LaneValue(tuple(x * y for x, y in zip(a.lanes, b.lanes, strict=True)), exact=True)


def _shift_left(values: Sequence[LaneValue]) -> LaneValue | None:
    by, value = values[:2]
    if not (by.exact and by.uniform and 0 <= by.lanes[0] < 64):
        return None
    return LaneValue(tuple(x << by.lanes[0] for x in value.lanes), value.exact)


def _bitwise(operation: Callable[[int, int], int]) -> Callable[[Sequence[LaneValue]], LaneValue | None]:
    def apply(values: Sequence[LaneValue]) -> LaneValue | None:
        if not all(value.exact for value in values):
            return UNIFORM if all(value.uniform for value in values) else None
        result = values[0].lanes
        for value in values[1:]:
            result = tuple(operation(x & _WORD, y & _WORD) for x, y in zip(result, value.lanes, strict=True))
        return LaneValue(result, exact=True)

    return apply


_WORD = 0xFFFFFFFF
_and = _bitwise(lambda x, y: x & y)
_xor = _bitwise(lambda x, y: x ^ y)
_shift_right = _bitwise(lambda by, x: x >> (by & 31))


def _or(values: Sequence[LaneValue]) -> LaneValue | None:
    """Treat `or` with a uniform value as `+`: the compiler emits it for sums whose bits do not overlap."""
    if all(value.exact for value in values):
        return _bitwise(lambda x, y: x | y)(values)
    return _add(values) if any(value.uniform for value in values) else None


def _extract(values: Sequence[LaneValue]) -> LaneValue | None:
    field, offset, width = values
    if not (field.exact and offset.exact and width.exact):
        return None
    mask = (1 << width.lanes[0]) - 1
    return LaneValue(tuple((x & _WORD) >> offset.lanes[0] & mask for x in field.lanes), exact=True)


def _then(
    first: Callable[[Sequence[LaneValue]], LaneValue | None],
    second: Callable[[Sequence[LaneValue]], LaneValue | None],
) -> Callable[[Sequence[LaneValue]], LaneValue | None]:
    """Return the operation `second(first(a, b), c)`."""

    def apply(values: Sequence[LaneValue]) -> LaneValue | None:
        result = first(values[:2])
        return second([result, values[2]]) if result is not None else None

    return apply


def _same(values: Sequence[LaneValue]) -> LaneValue | None:
    return values[0]


def _flipped(
    operation: Callable[[Sequence[LaneValue]], LaneValue | None],
) -> Callable[[Sequence[LaneValue]], LaneValue | None]:
    return lambda values: operation([values[1], values[0], *values[2:]])


def _lane_number(_values: Sequence[LaneValue]) -> LaneValue | None:
    return LaneValue(tuple(range(LANES)), exact=True)


_OPERATIONS: dict[str, Callable[[Sequence[LaneValue]], LaneValue | None]] = {
    "v_mov_b32": _same,
    "v_mov_b64": _same,
    "v_add_u32": _add,
    "v_add_co_u32": _add,
    "v_add3_u32": _add,
    "v_sub_u32": _subtract,
    "v_subrev_u32": _flipped(_subtract),
    "v_and_b32": _and,
    "v_xor_b32": _xor,
    "v_or_b32": _or,
    "v_or3_b32": _or,
    "v_and_or_b32": _then(_and, _or),
    "v_lshlrev_b32": _shift_left,
    "v_lshlrev_b64": _shift_left,
    "v_lshrrev_b32": _shift_right,
    "v_bfe_u32": _extract,
    "v_lshl_add_u32": _then(_flipped(_shift_left), _add),
    "v_lshl_add_u64": _then(_flipped(_shift_left), _add),
    "v_lshl_or_b32": _then(_flipped(_shift_left), _or),
    "v_add_lshl_u32": _then(_add, _flipped(_shift_left)),
    "v_mul_u32_u24": _multiply,
    "v_mul_lo_u32": _multiply,
    "v_mad_u32_u24": _then(_multiply, _add),
    "v_mad_u64_u32": _then(_multiply, _add),
    "v_mbcnt_hi_u32_b32": _lane_number,
}
