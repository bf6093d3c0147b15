"""How a case's tensors lie in the data file, with guard zones around them and poison in the outputs.

The worker copies whole regions to the device and back and knows nothing of what is in them. What the
pattern is, which bytes are guards and what an output should be stays outside the sandbox.
"""

from __future__ import annotations

import os
import secrets
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from warmfront.judge.kernel_failure import KernelFailure
from warmfront.problems.spec import Kind
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from warmfront.hip.toolchain import Guards
    from warmfront.problems.spec import Case, Dtype, Problem, Tensors

    Array = np.ndarray[Any, Any]

_PAGE = 4096

#: The bit that makes a NaN quiet, by the size of the element.
_QUIET = {4: np.uint32(0x00400000), 2: np.uint16(0x0200)}

#: A fault this close to a tensor was meant for it.
NEAR_BYTES = 64 * 1024

#: As in worker.cpp.
_TENSOR, _SHAPE, _VALUE = 0, 1, 2
_PLAN_HEADER = struct.Struct("<IIQQ")
_PLAN_ARGUMENT = struct.Struct("<IIQQQ")

#: How a value of a C type is laid out in eight bytes; a size_t has no other type.
_VALUE_BITS = {"float": "<f4x", "int": "<i4x", "": "<Q"}


@dataclass(frozen=True, kw_only=True)
class BufferRegion:
    """One tensor in the data file: guard, elements, guard."""

    name: str
    argument: int  #: which parameter of `solution` it is, from 0
    output: bool
    dtype: str  #: NumPy's name
    shape: tuple[int, ...]
    offset: int  #: of the front guard, within a slot
    front: int  #: bytes of the front guard
    data_bytes: int
    bytes: int  #: of the whole

    def elements(self, raw: Array) -> Array:
        """The tensor in the region's bytes."""
        return raw[self.front : self.front + self.data_bytes].view(self.dtype).reshape(self.shape)


class BufferLayout:
    """Where everything of one case lies, in `slots` sets of buffers."""

    def __init__(
        self, problem: Problem, case: Case, dtype: Dtype, guards: Guards, inputs: Tensors, *, slots: int = 1
    ) -> None:
        self.slots = slots
        self.slot_stride = 0
        self.regions: list[BufferRegion] = []
        self._guards = guards
        self._arguments: list[bytes] = []
        self._shapes: list[tuple[int, bytes]] = []
        # Signalling NaN: whatever reads it shows, and arithmetic on it leaves a quiet one behind.
        half = 0x7D01 | secrets.randbits(6) << 1
        self._patterns = {4: 0x7FA00001 | secrets.randbits(19) << 1, 2: half << 16 | half}
        output_shapes = problem.output_shapes(case)
        for parameter in problem.signature:
            if parameter.kind in {Kind.INPUT, Kind.OUTPUT}:
                output = parameter.kind is Kind.OUTPUT
                shape = output_shapes[parameter.name] if output else inputs[parameter.name].shape
                self._add_tensor(parameter.name, shape, (parameter.dtype or dtype).value, output=output)
            elif parameter.kind is Kind.SHAPE:
                self._add_shape(case.values[parameter.name])
            else:
                self._add_value(parameter.c_type, case.values[parameter.name])

    def whereabouts(self, address: int, addresses: Sequence[int]) -> str | None:
        """Which element of which tensor an address would be, in words; None if no tensor is near."""
        near = [(address - addresses[region.argument], region) for region in self.regions]
        near = [
            (offset, region)
            for offset, region in near
            if -NEAR_BYTES < offset < region.data_bytes + NEAR_BYTES
        ]
        if not near:
            return None
        offset, region = min(near, key=lambda pair: max(-pair[0], pair[0] - pair[1].data_bytes))
        size = np.dtype(region.dtype).itemsize
        elements = region.data_bytes // size
        return f"`{region.name}[{offset // size}]`, where `{region.name}` has {elements:,} elements"

    @property
    def data_bytes(self) -> int:
        """The size of the data file."""
        return self.slot_stride * self.slots

    def plan(self) -> bytes:
        """The PLAN command's payload."""
        front = self._guards.front_bytes
        header = _PLAN_HEADER.pack(len(self._arguments), self.slots, self.slot_stride, front)
        return header + b"".join(self._arguments)

    def image(self, region: BufferRegion, tensor: Array | None = None) -> Array:
        """A region's bytes: the pattern, and within it the tensor; without one, poison all through."""
        image = np.full(region.bytes // 4, self._pattern(region), np.uint32).view(np.uint8)
        if tensor is not None:
            region.elements(image)[...] = tensor
        return image

    def write(self, path: Path, sets: Sequence[Tensors]) -> None:
        """Fill every slot of the data file: one set of inputs each, and poisoned outputs."""
        with path.open("r+b", buffering=0) as file:
            file.truncate(max(self.data_bytes, 1))
            for offset, data in self._shapes:
                os.pwrite(file.fileno(), data, offset)
            for slot, inputs in enumerate(sets):
                for region in self.regions:
                    image = self.image(region, None if region.output else inputs[region.name])
                    _write_all(file.fileno(), image, slot * self.slot_stride + region.offset)

    def read(self, path: Path, region: BufferRegion, slot: int = 0) -> Array:
        """A region's bytes as they came back. Never a mapping: the sandboxed code may cut the file short."""
        raw = np.empty(region.bytes, np.uint8)
        with path.open("rb", buffering=0) as file:
            file.seek(slot * self.slot_stride + region.offset)
            if _read_all(file.fileno(), raw) != region.bytes:
                raise KernelFailure(
                    Verdict.RUNTIME_ERROR,
                    "DATA_TAMPERED",
                    f"The data of `{region.name}` did not come back whole: the file that carries it was cut.",
                    hint="Submitted code must leave the files of its sandbox alone.",
                )
        return raw

    def strayed(self, region: BufferRegion, raw: Array) -> str | None:
        """Where around a tensor a call wrote, in words, or None if it did not."""
        clean = np.uint32(self._pattern(region)).tobytes()
        front = raw[: region.front]
        end = region.front + region.data_bytes
        back = raw[end:]
        changed = np.flatnonzero(back != _repeat(clean, end, back.size))
        if changed.size:
            return f"{int(changed[0])} bytes past the end"
        changed = np.flatnonzero(front != _repeat(clean, 0, front.size))
        if changed.size:
            return f"{region.front - int(changed[-1])} bytes before the start"
        return None

    def unwritten(self, region: BufferRegion, raw: Array) -> int:
        """How many elements still are the poison that was put there before the call."""
        bits = f"u{np.dtype(region.dtype).itemsize}"
        poison = region.elements(self.image(region)).view(bits)
        return int(np.count_nonzero(region.elements(raw).view(bits) == poison))

    def accumulated(self, region: BufferRegion, raw: Array) -> int:
        """How many elements are the poison after arithmetic: they were added to and never cleared."""
        size = np.dtype(region.dtype).itemsize
        poison = region.elements(self.image(region)).view(f"u{size}")
        return int(np.count_nonzero(region.elements(raw).view(f"u{size}") == poison | _QUIET[size]))

    def _pattern(self, region: BufferRegion) -> int:
        return self._patterns[np.dtype(region.dtype).itemsize]

    def _add_tensor(self, name: str, shape: tuple[int, ...], dtype: str, *, output: bool) -> None:
        guards = self._guards
        data_bytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        total = _round_up(guards.front_bytes + data_bytes + guards.back_bytes, guards.align)
        region = BufferRegion(
            name=name,
            argument=len(self._arguments),
            output=output,
            dtype=dtype,
            shape=tuple(shape),
            offset=self.slot_stride,
            front=guards.front_bytes,
            data_bytes=data_bytes,
            bytes=total,
        )
        self.regions.append(region)
        self._arguments.append(_PLAN_ARGUMENT.pack(_TENSOR, 0, data_bytes, total, region.offset))
        self.slot_stride += _round_up(total, _PAGE)

    def _add_shape(self, value: object) -> None:
        if not isinstance(value, tuple):
            raise TypeError(f"a shape must be a tuple of whole numbers, not {value!r}")
        self._shapes.append((self.slot_stride, np.asarray(value, np.uint64).tobytes()))
        self._arguments.append(_PLAN_ARGUMENT.pack(_SHAPE, 0, len(value), 0, self.slot_stride))
        self.slot_stride += _PAGE

    def _add_value(self, c_type: str, value: object) -> None:
        bits = struct.pack(_VALUE_BITS[c_type], value)
        self._arguments.append(_PLAN_ARGUMENT.pack(_VALUE, 0, int.from_bytes(bits, "little"), 0, 0))


def _round_up(value: int, step: int) -> int:
    return -(-value // step) * step


def _repeat(pattern: bytes, start: int, size: int) -> Array:
    """The repeated pattern's bytes from `start` on."""
    phase = start % len(pattern)
    return np.frombuffer((pattern * (size // len(pattern) + 2))[phase : phase + size], np.uint8)


def _write_all(fd: int, data: Array, offset: int) -> None:
    view = data.data
    while view:
        written = os.pwrite(fd, view, offset)
        view, offset = view[written:], offset + written


def _read_all(fd: int, into: Array) -> int:
    view, total = into.data, 0
    while view:
        got = os.readv(fd, [view])
        if got == 0:
            break
        view, total = view[got:], total + got
    return total
