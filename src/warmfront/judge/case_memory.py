"""The memory of a case's tensors: who owns it, and how the guest gets it.

- `FileMemory`: the CPU runtime. The data file of the judge is the device memory of the guest.
- `DeviceMemory`: a GPU. The harness, our own program in a separate box, owns device memory that the guest
  opens by IPC handles. Inputs are revealed, and outputs saved, by copies on the device inside the window.
- `CopiedMemory`: a GPU without IPC. The guest owns the memory and copies; the result says what that cannot
  guarantee.
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

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from warmfront.judge.buffer_layout import BufferLayout
    from warmfront.judge.guest import GuestProcess
    from warmfront.problems.spec import Tensors
    from warmfront.sandbox.base import Box

#: These values are defined in harness.cpp as well.
_ALLOCATE, _FILL, _REVEAL, _SAVE, _COLLECT, _DESCRIBE, _CHECK_DEVICE = 1, 2, 3, 4, 5, 7, 8
_HEADER = struct.Struct("<IIQ")
_ALLOCATE_HEADER = struct.Struct("<IIQ")
_REGION = struct.Struct("<QQ")
_SLOTS = struct.Struct("<I")
_HANDLE_BYTES = 64
_PROBE_BYTES = 4096

#: How long one command of the harness may take, in CPU time.
HARNESS_TIMEOUT_S = 60.0

GUEST_OWNS_MEMORY = (
    "The device memory belongs to the guest, because it cannot be shared between processes here: the guest "
    "sees the inputs before the clock starts, and could compute after it ends."
)


class CaseMemory(Protocol):
    """The memory of the planned case. `data_file` has its bytes between `collect` and the next `fill`."""

    data_file: Path
    missing_guarantees: tuple[str, ...]

    def plan(self, layout: BufferLayout) -> bytes:
        """Allocate the memory of this layout, and return the payload of the guest's PLAN command."""

    def fill(self, layout: BufferLayout, sets: Sequence[Tensors]) -> None:
        """Provide inputs and poisoned outputs for the first slots. The guest is stopped."""

    def reveal(self, slots: int) -> None:
        """Let the guest see them. The clock runs."""

    def save(self, slots: int) -> None:
        """Save the outputs, so that nothing that the guest does from now on changes them. The clock runs."""

    def collect(self, slots: int) -> None:
        """Copy the outputs to the data file."""


class FileMemory:
    """The data file itself, which the guest maps. A stopped guest cannot change it."""

    missing_guarantees: tuple[str, ...] = ()

    def __init__(self, data_file: Path) -> None:
        self.data_file = data_file

    def plan(self, layout: BufferLayout) -> bytes:
        """Give the file its size, since the guest maps it during PLAN."""
        layout.write(self.data_file, [])
        return layout.plan(layout.file_handles(DATA_FILE))

    def fill(self, layout: BufferLayout, sets: Sequence[Tensors]) -> None:
        """Write the file."""
        layout.write(self.data_file, sets)

    def reveal(self, slots: int) -> None:
        """Do nothing: the guest sees the file as soon as it runs."""

    def save(self, slots: int) -> None:
        """Do nothing: the guest is stopped before the file is read."""

    def collect(self, slots: int) -> None:
        """Do nothing: the outputs are in the file."""


class DeviceMemory:
    """Device memory of the harness, our own program in a separate box."""

    missing_guarantees: tuple[str, ...] = ()

    def __init__(self, box: Box) -> None:
        self._box = box
        self.data_file = box.folder / DATA_FILE

    def plan(self, layout: BufferLayout) -> bytes:
        """Allocate the memory; raise `ToolchainFailed` if that fails."""
        layout.write(self.data_file, [])
        regions = b"".join(_REGION.pack(region.bytes, region.offset) for region in layout.regions)
        header = _ALLOCATE_HEADER.pack(layout.slots, len(layout.regions), layout.slot_stride)
        handles = self._command(_ALLOCATE, header + regions)
        if len(handles) != _HANDLE_BYTES * layout.slots * len(layout.regions):
            raise ToolchainFailed("The harness returned a wrong number of memory handles.")
        return layout.plan(handles)

    def fill(self, layout: BufferLayout, sets: Sequence[Tensors]) -> None:
        """Copy to memory that the guest does not see."""
        layout.write(self.data_file, sets)
        self._command(_FILL, _SLOTS.pack(len(sets)))

    def reveal(self, slots: int) -> None:
        """Copy to the guest's memory, on the device."""
        self._command(_REVEAL, _SLOTS.pack(slots))

    def save(self, slots: int) -> None:
        """Copy from the guest's memory, on the device."""
        self._command(_SAVE, _SLOTS.pack(slots))

    def collect(self, slots: int) -> None:
        """Copy what was saved to the data file."""
        self._command(_COLLECT, _SLOTS.pack(slots))

    def describe_device(self) -> DeviceFacts:
        """Return what the device is, by the HIP runtime of the harness; no submitted code has a part in it.

        Raises:
            ToolchainFailed: the runtime has no device, or does not describe it.
        """
        return parse_device_facts(self._command(_DESCRIBE, b""))

    def check_device(self) -> box_messages.DeviceMemoryUse:
        """Use the device for a moment; raise `GpuFailed` if it does not work."""
        try:
            return box_messages.parse_device_check(self._command(_CHECK_DEVICE, b""))
        except ToolchainFailed as error:
            raise GpuFailed(f"The GPU does not work: {error.message}") from error

    def is_open_in(self, guest: GuestProcess) -> bool:
        """Return whether this guest can open memory of the harness."""
        size = _PROBE_BYTES
        with self.data_file.open("r+b") as file:
            file.truncate(size)
        try:
            handle = self._command(_ALLOCATE, _ALLOCATE_HEADER.pack(1, 1, size) + _REGION.pack(size, 0))
        except ToolchainFailed:
            return False
        tensor = PLAN_ARGUMENT.pack(0, 0, size, size, 0)
        return guest.accepts_plan(PLAN_HEADER.pack(1, 1, 1, 0, size, 0) + tensor + handle)

    def _command(self, op: int, payload: bytes) -> bytes:
        nonce = secrets.randbits(64)
        self._box.send(_HEADER.pack(op, len(payload), nonce) + payload)
        kind, size = box_messages.parse_header(self._receive(box_messages.HEADER_BYTES), nonce)
        body = self._receive(size)
        if kind != box_messages.OK:
            error = box_messages.printable(body.decode(errors="replace"))
            raise ToolchainFailed(f"The harness cannot provide device memory: {error}.")
        return body

    def _receive(self, size: int) -> bytes:
        try:
            data = self._box.receive(size, cpu_timeout_s=HARNESS_TIMEOUT_S) if size else b""
        except TimeoutError:
            raise GpuFailed(f"The GPU does not answer: the harness waited {HARNESS_TIMEOUT_S:g} s.") from None
        if len(data) < size:
            raise ToolchainFailed("The harness ended unexpectedly.", hint="See the log of the listener.")
        return data


class CopiedMemory:
    """Memory of the guest, which copies it from and to the data file."""

    missing_guarantees: tuple[str, ...] = (GUEST_OWNS_MEMORY,)

    def __init__(self, data_file: Path, guest: GuestProcess) -> None:
        self.data_file = data_file
        self._guest = guest

    def plan(self, layout: BufferLayout) -> bytes:
        """Give the file its size, since the guest maps it during PLAN."""
        layout.write(self.data_file, [])
        return layout.plan(None)

    def fill(self, layout: BufferLayout, sets: Sequence[Tensors]) -> None:
        """Let the guest copy its inputs, before the clock starts."""
        layout.write(self.data_file, sets)
        self._guest.upload()

    def reveal(self, slots: int) -> None:
        """Do nothing: the guest has the inputs."""

    def save(self, slots: int) -> None:
        """Do nothing: the guest has the outputs."""

    def collect(self, slots: int) -> None:  # noqa: ARG002 - the guest copies all
        """Let the guest copy its outputs."""
        self._guest.download()
