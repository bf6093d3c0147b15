"""The memory of a case's tensors: which process owns it, and how the guest accesses it.

- `FileMemory`: the CPU runtime. The data file of the judge is the device memory of the guest.
- `DeviceMemory`: a GPU. The harness, our own program in a separate box, owns device memory that the guest
  opens by IPC handles. Inputs are revealed, and outputs saved, by copies on the device inside the window.
- `CopiedMemory`: a GPU without IPC. The guest owns the memory and copies the data; the result lists the
  guarantees that are missing.
"""

from __future__ import annotations

import secrets
import struct
from typing import TYPE_CHECKING, Protocol

from warmfront.errors import GpuFailed, ToolchainFailed
from warmfront.hip.device_facts import DeviceFacts, parse_device_facts
from warmfront.hip.toolchain import DATA_FILE
from warmfront.judge import box_messages
from warmfront.judge.plan_format import PLAN_ARGUMENT, PLAN_HEADER
from warmfront.problems.spec import Dtype, Kind
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from warmfront.judge.buffer_layout import BufferLayout
    from warmfront.judge.guest import GuestProcess
    from warmfront.problems.spec import Case, Problem, Tensors, Tolerance
    from warmfront.sandbox.base import Box

#: These values and structures are defined in harness.cpp as well.
_ALLOCATE, _FILL, _REVEAL, _SAVE, _COLLECT, _DESCRIBE, _CHECK_DEVICE = 1, 2, 3, 4, 5, 7, 8
_STORE_BASE, _MIX, _VERIFY = 9, 10, 11
_PROBE_RESIDUE, _MEASURE_COPIES = 20, 21
_HEADER = struct.Struct("<IIQ")
_ALLOCATE_HEADER = struct.Struct("<IIIIQ")
_REGION = struct.Struct("<QQQQIIII")
_NUMBER = struct.Struct("<I")
_COUNT = struct.Struct("<Q")
_MIX_ENTRY = struct.Struct("<IIQ")
_VERIFY_HEADER = struct.Struct("<64sIIQQ")
_TOLERANCE = struct.Struct("<dd")
_SLOT_REPORT = struct.Struct("<QQQ")
_RESIDUE_PROBE = struct.Struct("<QII")
_HANDLE_BYTES = 64

#: The packages of the problems for which the harness may have a reference: the built-in problems, and the
#: variants for health checks. The slug alone is not enough, because an operator's problem can have any slug.
_OUR_PROBLEMS = ("warmfront.problems.", "warmfront.judge.")
_PROBE_BYTES = 4096

#: How long one command of the harness may take, computing or waiting for the GPU.
HARNESS_TIMEOUT_S = 60.0
#: The same for the check of a device, which takes a second or two. A VM whose GPU hangs is billed meanwhile.
CHECK_TIMEOUT_S = 20.0

GUEST_OWNS_MEMORY = (
    "The device memory belongs to the guest, because it cannot be shared between processes here: the guest "
    "sees the inputs before the clock starts, and could compute after it ends."
)


@dataclass(frozen=True, kw_only=True)
class CollectedSlot:
    """The location of a slot's outputs."""

    file_slot: int  #: slot of the data file
    inputs_intact: bool  #: the harness found the inputs unchanged; if not, the judge compares them


class CaseMemory(Protocol):
    """The memory of the planned case. `data_file` has its bytes between `collect` and the next `fill`."""

    data_file: Path
    missing_guarantees: tuple[str, ...]

    def plan(self, layout: BufferLayout) -> bytes:
        """Allocate the memory of this layout, and return the payload of the guest's PLAN command."""

    def fill(self, layout: BufferLayout, sets: Sequence[Tensors]) -> None:
        """Provide inputs and poisoned outputs for the first slots, while the guest is stopped."""

    def reveal(self, slots: int) -> None:
        """Make the inputs visible to the guest, while the clock runs."""

    def save(self, slots: int) -> None:
        """Save the outputs, while the clock runs, so that the guest can no longer change them."""

    def collect(self, slot: int) -> CollectedSlot:
        """Copy the outputs of a slot to the data file."""


class FileMemory:
    """The memory of the data file itself, which the guest maps. A stopped guest cannot change it."""

    missing_guarantees: tuple[str, ...] = ()

    def __init__(self, data_file: Path) -> None:
        self.data_file = data_file

    def plan(self, layout: BufferLayout) -> bytes:
        """Resize the file, because the guest maps it during PLAN."""
        layout.write(self.data_file, [])
        return layout.plan(layout.file_handles(DATA_FILE))

    def fill(self, layout: BufferLayout, sets: Sequence[Tensors]) -> None:
        """Write the file."""
        layout.write(self.data_file, sets)

    def reveal(self, slots: int) -> None:
        """Do nothing: the guest can read the file as soon as it runs."""

    def save(self, slots: int) -> None:
        """Do nothing: the guest is stopped before the file is read."""

    def collect(self, slot: int) -> CollectedSlot:
        """Do nothing: the outputs are in the file."""
        return CollectedSlot(file_slot=slot, inputs_intact=False)


@dataclass(frozen=True, kw_only=True)
class SlotMix:
    """The base sets from which the inputs of one slot are mixed, and the secret that decides how."""

    first: int
    second: int
    key: int


class DeviceMemory:
    """Device memory of the harness, our own program in a separate box."""

    missing_guarantees: tuple[str, ...] = ()

    def __init__(self, box: Box, *, flush_bytes: int = 0) -> None:
        self._box = box
        self._flush_bytes = flush_bytes  # written between inputs and calls, so that no cache has the inputs
        self.data_file = box.folder / DATA_FILE

    def plan(self, layout: BufferLayout, *, bases: int = 0) -> bytes:
        """Allocate the memory, including space for base sets; raise `ToolchainFailed` if that fails."""
        layout.write(self.data_file, [])
        regions = b"".join(
            _REGION.pack(
                region.bytes,
                region.offset,
                region.front,
                region.data_bytes,
                region.item_bytes,
                region.output,
                layout.pattern(region),
                region.dtype == Dtype.FLOAT16,
            )
            for region in layout.regions
        )
        header = _ALLOCATE_HEADER.pack(layout.slots, len(layout.regions), bases, 0, self._flush_bytes)
        handles = self._command(_ALLOCATE, header + regions)
        if len(handles) != _HANDLE_BYTES * layout.slots * len(layout.regions):
            raise ToolchainFailed("The harness returned a wrong number of memory handles.")
        return layout.plan(handles)

    def fill(self, layout: BufferLayout, sets: Sequence[Tensors]) -> None:
        """Copy the inputs of the first slot to memory that the guest cannot access."""
        [inputs] = sets
        layout.write(self.data_file, [inputs], poisons_outputs=False)
        self._command(_FILL, b"")

    def store_base(self, layout: BufferLayout, base: int, inputs: Tensors) -> None:
        """Copy a base set to the device."""
        layout.write(self.data_file, [inputs], poisons_outputs=False)
        self._command(_STORE_BASE, _NUMBER.pack(base))

    def mix(self, mixes: Sequence[SlotMix]) -> None:
        """Mix the inputs of the first slots from base sets, in memory that the guest cannot access."""
        entries = b"".join(_MIX_ENTRY.pack(mix.first, mix.second, mix.key) for mix in mixes)
        self._command(_MIX, _COUNT.pack(len(mixes)) + entries)

    def reveal(self, slots: int) -> None:
        """Copy the inputs to the guest's memory, on the device."""
        self._command(_REVEAL, _NUMBER.pack(slots))

    def save(self, slots: int) -> None:
        """Copy the outputs from the guest's memory, on the device."""
        self._command(_SAVE, _NUMBER.pack(slots))

    def has_reference(self, problem: Problem) -> bool:
        """Return whether the harness can check the outputs of this problem."""
        is_ours = type(problem).__module__.startswith(_OUR_PROBLEMS)
        return is_ours and self._verify(problem, (), ()) is not None

    def verify(
        self, problem: Problem, case: Case, tolerances: Sequence[Tolerance], *, row_share: int = 1
    ) -> list[bool]:
        """Check inputs, guard zones and saved outputs of the first slots on the device.

        Args:
            problem: a problem for which the harness has a reference.
            case: the sizes.
            tolerances: one for each slot.
            row_share: check one random row out of this many, for outputs whose reference is slow.

        Returns:
            Whether each slot passed. A slot that did not pass may still be correct: the host must check it.
        """
        reports = self._verify(problem, _numbers(problem, case), tolerances, row_share)
        if reports is None or len(reports) != len(tolerances):
            raise ToolchainFailed("The harness returned a wrong number of reports.")
        return reports

    def _verify(
        self,
        problem: Problem,
        numbers: Sequence[float],
        tolerances: Sequence[Tolerance],
        row_share: int = 1,
    ) -> list[bool] | None:
        key = secrets.randbits(64)  # drawn after the calls
        header = _VERIFY_HEADER.pack(problem.slug.encode(), len(tolerances), len(numbers), key, row_share)
        limits = b"".join(_TOLERANCE.pack(tolerance.rtol, tolerance.atol) for tolerance in tolerances)
        answer = self._command(_VERIFY, header + limits + struct.pack(f"<{len(numbers)}d", *numbers))
        if not answer or (len(answer) - _COUNT.size) % _SLOT_REPORT.size:
            return None
        return [not any(report) for report in _SLOT_REPORT.iter_unpack(answer[_COUNT.size :])]

    def collect(self, slot: int) -> CollectedSlot:
        """Copy the saved outputs of a slot to the data file."""
        is_changed = self._command(_COLLECT, _NUMBER.pack(slot)) != bytes(_NUMBER.size)
        return CollectedSlot(file_slot=0, inputs_intact=not is_changed)

    def describe_device(self) -> DeviceFacts:
        """Return the device's description from the harness's HIP runtime, out of reach of submitted code.

        Raises:
            ToolchainFailed: the runtime has no device, or does not describe it.
        """
        return parse_device_facts(self._command(_DESCRIBE, b""))

    def check_device(self) -> box_messages.DeviceCheck:
        """Use the device for a moment; raise `GpuFailed` if it does not work."""
        try:
            return box_messages.parse_device_check(
                self._command(_CHECK_DEVICE, b"", timeout_s=CHECK_TIMEOUT_S)
            )
        except ToolchainFailed as error:
            raise GpuFailed(f"The GPU does not work: {error.message}") from error

    def poison(self, size_bytes: int, pattern: int) -> None:
        """Allocate this much memory, or all that is free, and fill it with a byte value.

        It is never freed.
        """
        self._command(_PROBE_RESIDUE, _RESIDUE_PROBE.pack(size_bytes, pattern, 1))

    def find_residue(self, size_bytes: int, pattern: int) -> box_messages.ResidueResult:
        """Allocate this much memory, or all that is free, and look for pages that another program filled."""
        answer = self._command(_PROBE_RESIDUE, _RESIDUE_PROBE.pack(size_bytes, pattern, 0))
        return box_messages.parse_residue(answer)

    def measure_copies(self, size_bytes: int) -> box_messages.CopyRates:
        """Measure copies of this size between host and device."""
        return box_messages.parse_copy_rates(self._command(_MEASURE_COPIES, _COUNT.pack(size_bytes)))

    def is_open_in(self, guest: GuestProcess) -> bool:
        """Return whether this guest can open memory of the harness."""
        size = _PROBE_BYTES
        with self.data_file.open("r+b") as file:
            file.truncate(size)
        try:
            header = _ALLOCATE_HEADER.pack(1, 1, 0, 0, self._flush_bytes)
            handle = self._command(_ALLOCATE, header + _REGION.pack(size, 0, 0, size, 4, 0, 0, 0))
        except ToolchainFailed:
            return False
        tensor = PLAN_ARGUMENT.pack(0, 0, size, size, 0)
        return guest.accepts_plan(PLAN_HEADER.pack(1, 1, 1, 0, size, 0) + tensor + handle)

    def _command(self, op: int, payload: bytes, *, timeout_s: float = HARNESS_TIMEOUT_S) -> bytes:
        nonce = secrets.randbits(64)
        self._box.send(_HEADER.pack(op, len(payload), nonce) + payload)
        kind, size = box_messages.parse_header(self._receive(box_messages.HEADER_BYTES, timeout_s), nonce)
        body = self._receive(size, timeout_s)
        if kind != box_messages.OK:
            error = box_messages.printable(body.decode(errors="replace"))
            raise ToolchainFailed(f"The harness cannot provide device memory: {error}.")
        return body

    def _receive(self, size: int, timeout_s: float) -> bytes:
        try:
            data = self._box.receive(size, cpu_timeout_s=timeout_s) if size else b""
        except TimeoutError:
            raise GpuFailed(f"The GPU did not respond within {timeout_s:g} s.") from None
        if len(data) < size:
            raise ToolchainFailed("The harness ended unexpectedly.", hint="See the log of the listener.")
        return data


class CopiedMemory:
    """Memory that the guest owns and copies from and to the data file."""

    missing_guarantees: tuple[str, ...] = (GUEST_OWNS_MEMORY,)

    def __init__(self, data_file: Path, guest: GuestProcess) -> None:
        self.data_file = data_file
        self._guest = guest

    def plan(self, layout: BufferLayout) -> bytes:
        """Resize the file, because the guest maps it during PLAN."""
        layout.write(self.data_file, [])
        return layout.plan(None)

    def fill(self, layout: BufferLayout, sets: Sequence[Tensors]) -> None:
        """Make the guest copy its inputs before the clock starts."""
        layout.write(self.data_file, sets)
        self._guest.upload()

    def reveal(self, slots: int) -> None:
        """Do nothing: the guest has the inputs."""

    def save(self, slots: int) -> None:
        """Do nothing: the guest has the outputs."""

    def collect(self, slot: int) -> CollectedSlot:
        """Make the guest copy the outputs of all slots when the first slot is collected."""
        if slot == 0:
            self._guest.download()
        return CollectedSlot(file_slot=slot, inputs_intact=False)


def _numbers(problem: Problem, case: Case) -> list[float]:
    """Return the values of the parameters that are not tensors, in order; a shape has several values."""
    numbers: list[float] = []
    for parameter in problem.signature:
        if parameter.kind is Kind.SHAPE:
            numbers += case.shape(parameter.name)
        elif parameter.kind not in {Kind.INPUT, Kind.OUTPUT}:
            is_float = parameter.c_type == "float"
            numbers.append(case.c_float(parameter.name) if is_float else case.size(parameter.name))
    return numbers
