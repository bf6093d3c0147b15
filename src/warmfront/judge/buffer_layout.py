"""The layout of a case's tensors in the data file, with guard zones around them and poison in the outputs.

The data file is memory of the judge. On the CPU runtime, it *is* the device memory: the guest opens each
tensor with an IPC handle, and a call works on the judge's bytes without a copy. Otherwise the guest copies
whole regions to its device and back. In neither case does the guest know the pattern of the guard zones and
the poison, or the expected outputs: they stay outside the sandbox.
"""

from __future__ import annotations

import os
import secrets
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from warmfront.hip.cpu.ipc_handle import encode_handle, first_byte
from warmfront.judge.kernel_failure import KernelFailure
from warmfront.judge.plan_format import PLAN_ARGUMENT, PLAN_HEADER
from warmfront.problems.chunks import parts_of, run_parallel
from warmfront.problems.spec import Kind
from warmfront.value_class import dataclass
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from warmfront.hip.toolchain import GuardZones
    from warmfront.problems.spec import Case, Dtype, Problem, Tensors

    Array = np.ndarray[Any, Any]

_PAGE = 4096

#: A larger tensor is written in parts of this size.
LARGE_BYTES = 1 << 23

#: The bit that makes a NaN quiet, by element size in bytes.
_QUIET = {4: np.uint32(0x00400000), 2: np.uint16(0x0200)}

#: A fault within this distance of a tensor is attributed to it.
NEAR_BYTES = 64 * 1024

#: These values are defined in guest.cpp as well.
_TENSOR, _SHAPE, _VALUE = 0, 1, 2

#: struct formats of scalar arguments, padded to eight bytes, by C type; the empty string is size_t.
_VALUE_BITS = {"float": "<f4x", "int": "<i4x", "": "<Q"}


@dataclass(frozen=True, kw_only=True)
class BufferRegion:
    """The region of one tensor in the data file: guard zone, elements, guard zone."""

    name: str
    argument: int  #: index of the parameter of `solution`, from 0
    output: bool
    dtype: str  #: NumPy dtype name
    shape: tuple[int, ...]
    offset: int  #: of the front guard zone, within a slot
    page: int  #: offset of the first page of the region, within a slot
    front: int  #: size of the front guard zone in bytes
    data_bytes: int
    bytes: int  #: size of the whole region

    @property
    def item_bytes(self) -> int:
        """The size of one element."""
        return np.dtype(self.dtype).itemsize

    def elements(self, raw: Array) -> Array:
        """Return a view of the tensor in the bytes of the region."""
        return raw[self.front : self.front + self.data_bytes].view(self.dtype).reshape(self.shape)


class BufferLayout:
    """The positions of all arguments of one case, in `slots` sets of buffers."""

    def __init__(
        self,
        problem: Problem,
        case: Case,
        dtype: Dtype,
        guards: GuardZones,
        inputs: Tensors,
        *,
        slots: int = 1,
        file_slots: int | None = None,
        shared: bool = False,
    ) -> None:
        self.slots = slots
        self.file_slots = (
            slots if file_slots is None else file_slots
        )  #: number of slots that fit in the data file
        self.shared = shared  #: whether the data file itself is the guest's memory
        self.slot_stride = 0
        self.regions: list[BufferRegion] = []
        self._guards = guards
        self._arguments: list[bytes] = []
        self._shapes: list[int] = []
        # A signaling NaN: a result that depends on it is a NaN, and arithmetic turns it into a quiet NaN.
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

    def describe_address(self, address: int, addresses: Sequence[int]) -> str | None:
        """Describe an address as an element of a tensor; None if no tensor is near."""
        near = [
            (address - addresses[slot * self.argument_count + region.argument], region)
            for slot in range(self.slots)
            for region in self.regions
        ]
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
    def argument_count(self) -> int:
        """The number of arguments of `solution`."""
        return len(self._arguments)

    @property
    def data_bytes(self) -> int:
        """The size of the data file."""
        return self.slot_stride * self.file_slots

    def plan(self, handles: bytes | None) -> bytes:
        """Return the payload of the PLAN command.

        Args:
            handles: an IPC handle for each tensor of each slot; None if the guest allocates and copies.
        """
        header = PLAN_HEADER.pack(
            len(self._arguments),
            self.slots,
            handles is not None,
            len(self._shapes),
            self.slot_stride,
            self._guards.front_bytes,
        )
        shapes = struct.pack(f"<{len(self._shapes)}Q", *self._shapes)
        return header + b"".join(self._arguments) + (handles or b"") + shapes

    def pattern(self, region: BufferRegion) -> int:
        """Return the 32-bit pattern that fills the guard zones, and the outputs before a call."""
        return self._pattern(region)

    def file_handles(self, data_file: str) -> bytes:
        """Return an IPC handle of the CPU runtime for each tensor of each slot, in the file of this name."""
        return b"".join(
            encode_handle(data_file, offset=slot * self.slot_stride + region.page, size_bytes=region.bytes)
            for slot in range(self.slots)
            for region in self.regions
        )

    def image(self, region: BufferRegion, tensor: Array | None = None) -> Array:
        """Return the bytes of a region: the tensor, or poison if there is none, between guard zones."""
        image = np.full(region.bytes // 4, self._pattern(region), np.uint32).view(np.uint8)
        if tensor is not None:
            region.elements(image)[...] = tensor
        return image

    def write(self, path: Path, sets: Sequence[Tensors], *, poisons_outputs: bool = True) -> None:
        """Fill the slots of the data file with their inputs and with poisoned outputs.

        Args:
            path: the data file; it is resized to hold all slots.
            sets: the inputs of the first slots.
            poisons_outputs: False if the harness poisons the outputs in device memory.
        """
        with path.open("r+b", buffering=0) as file:
            file.truncate(max(self.data_bytes, 1))
            for slot, inputs in enumerate(sets):
                for region in self.regions:
                    offset = slot * self.slot_stride + region.offset
                    if not region.output:
                        self._write_tensor(file.fileno(), region, inputs[region.name], offset)
                    elif poisons_outputs:
                        _write_all(file.fileno(), self.image(region), offset)

    def _write_tensor(self, fd: int, region: BufferRegion, tensor: Array, offset: int) -> None:
        """Write a tensor between its guard zones; write a large tensor in parts, without copying it."""
        if region.bytes < LARGE_BYTES:
            _write_all(fd, self.image(region, tensor), offset)
            return
        clean = np.uint32(self._pattern(region)).tobytes()
        end = region.front + region.data_bytes
        _write_all(fd, _repeat(clean, 0, region.front), offset)
        _write_all(fd, _repeat(clean, end, region.bytes - end), offset + end)
        elements = np.ascontiguousarray(tensor, region.dtype).reshape(-1).view(np.uint8)
        start = offset + region.front
        run_parallel(
            lambda part: _write_all(fd, elements[part], start + part.start),
            parts_of(elements.size, chunk=LARGE_BYTES),
        )

    def read(self, path: Path, region: BufferRegion, slot: int = 0) -> Array:
        """Read the bytes of a region. Do not map the file: submitted code may truncate it."""
        raw = np.empty(region.bytes, np.uint8)
        with path.open("rb", buffering=0) as file:
            file.seek(slot * self.slot_stride + region.offset)
            if _read_all(file.fileno(), raw) != region.bytes:
                raise KernelFailure(
                    Verdict.RUNTIME_ERROR,
                    "DATA_TAMPERED",
                    f"The data file was truncated: `{region.name}` is incomplete.",
                    hint="Submitted code must not change the files of its sandbox.",
                )
        return raw

    def describe_guard_write(self, region: BufferRegion, raw: Array) -> str | None:
        """Describe the first write to a guard zone of the region; None if both are intact."""
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

    def count_unwritten(self, region: BufferRegion, raw: Array) -> int:
        """Count the elements that still hold the poison from before the call."""
        bits = f"u{np.dtype(region.dtype).itemsize}"
        poison = region.elements(self.image(region)).view(bits)
        return int(np.count_nonzero(region.elements(raw).view(bits) == poison))

    def count_accumulated(self, region: BufferRegion, raw: Array) -> int:
        """Count the elements that hold poison after arithmetic: added to, but never initialized."""
        size = np.dtype(region.dtype).itemsize
        poison = region.elements(self.image(region)).view(f"u{size}")
        return int(np.count_nonzero(region.elements(raw).view(f"u{size}") == poison | _QUIET[size]))

    def _pattern(self, region: BufferRegion) -> int:
        return self._patterns[np.dtype(region.dtype).itemsize]

    def _add_tensor(self, name: str, shape: tuple[int, ...], dtype: str, *, output: bool) -> None:
        guards = self._guards
        data_bytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        total = _round_up(guards.front_bytes + data_bytes + guards.back_bytes, guards.align)
        span = _round_up(total, _PAGE)
        region = BufferRegion(
            name=name,
            argument=len(self._arguments),
            output=output,
            dtype=dtype,
            shape=tuple(shape),
            # An IPC mapping ends with the page, so that the page after it can be inaccessible.
            offset=self.slot_stride + (first_byte(total) if self.shared else 0),
            page=self.slot_stride,
            front=guards.front_bytes,
            data_bytes=data_bytes,
            bytes=total,
        )
        self.regions.append(region)
        self._arguments.append(PLAN_ARGUMENT.pack(_TENSOR, 0, data_bytes, total, region.offset))
        self.slot_stride += span

    def _add_shape(self, value: object) -> None:
        if not isinstance(value, tuple):
            raise TypeError(f"a shape must be a tuple of integers, not {value!r}")
        self._arguments.append(PLAN_ARGUMENT.pack(_SHAPE, 0, len(value), 0, len(self._shapes)))
        self._shapes += value

    def _add_value(self, c_type: str, value: object) -> None:
        bits = struct.pack(_VALUE_BITS[c_type], value)
        self._arguments.append(PLAN_ARGUMENT.pack(_VALUE, 0, int.from_bytes(bits, "little"), 0, 0))


def _round_up(value: int, step: int) -> int:
    return -(-value // step) * step


def _repeat(pattern: bytes, start: int, size: int) -> Array:
    """Return `size` bytes of the repeated pattern, beginning at position `start`."""
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
