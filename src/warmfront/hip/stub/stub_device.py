"""The devices of a stub GPU on this machine: a file with their state, and a folder for their exported memory.

Boxes map the file and advance the virtual time in it. The judge reads it with `read`, never as a mapping,
because submitted code can truncate the file. Submitted code can also set the time: a stub GPU is not a
security boundary, and its results are marked as simulated.
"""

from __future__ import annotations

import contextlib
import os
import struct
import weakref
from typing import TYPE_CHECKING

from warmfront.errors import ToolchainFailed
from warmfront.sandbox.base import Mount
from warmfront.sandbox.box import BoxFolders

if TYPE_CHECKING:
    from pathlib import Path

#: Paths inside a box.
STATE, MEMORY = "/gpu/state", "/gpu/memory"

_PAGE_BYTES = 4096
#: `Device` in stub_gpu.cpp: the virtual time, the ends of three queues, how long the device was busy,
#: launches, boxes, resets, the last box that finds it being reset, and the error of a device that is lost.
_DEVICE = struct.Struct("<5qQ4I")
_NOW, _TIMES = struct.Struct("<q"), struct.Struct("<5q")


class StubMachine:
    """The stub devices of one of our processes. They are removed when it ends."""

    def __init__(self, devices: int, base: Path | None = None) -> None:
        folders = BoxFolders("stub", base)
        for owner in folders.dead_owners():
            folders.remove_owner(owner)
        self.folder = folders.make()
        (self.folder / "memory").mkdir()
        # Boxes may run as any user.
        (self.folder / "memory").chmod(0o777)
        state = self.folder / "state"
        state.write_bytes(bytes(_PAGE_BYTES * devices))
        state.chmod(0o666)
        self._fd = os.open(state, os.O_RDWR | os.O_CLOEXEC)
        self._close = weakref.finalize(self, _close, folders, self._fd)

    @property
    def mounts(self) -> tuple[Mount, ...]:
        """The mounts that a box needs to use the devices."""
        return (
            Mount(host=self.folder / "state", inside=STATE, writable=True),
            Mount(host=self.folder / "memory", inside=MEMORY, writable=True),
        )

    def now_s(self, device: int = 0) -> float:
        """Return the virtual time of a device.

        Raises:
            ToolchainFailed: the file was truncated.
        """
        return float(self._state(device)[0]) / 1e9

    def busy_until_s(self, device: int = 0) -> float:
        """Return the virtual time at which all enqueued work ends."""
        return float(max(self._state(device)[:4])) / 1e9

    def box_count(self, device: int = 0) -> int:
        """Return how many boxes have used the device so far."""
        return int(self._state(device)[6])

    def advance(self, seconds: float, device: int = 0) -> None:
        """Advance virtual time while the device is idle, so that its clocks fall.

        No box may use the device at the same time.
        """
        now_ns = self._state(device)[0] + round(seconds * 1e9)
        os.pwrite(self._fd, _NOW.pack(now_ns), device * _PAGE_BYTES)

    def keep_busy(self, seconds: float, device: int = 0) -> None:
        """Advance virtual time while the device computes, so that its clocks rise.

        No box may use the device at the same time.
        """
        now_ns, kernels_end_ns, uploads_end_ns, downloads_end_ns, warm_ns = self._state(device)[:5]
        busy_ns = round(seconds * 1e9)
        end_ns = max(now_ns, kernels_end_ns) + busy_ns
        times = _TIMES.pack(end_ns, end_ns, uploads_end_ns, downloads_end_ns, warm_ns + busy_ns)
        os.pwrite(self._fd, times, device * _PAGE_BYTES)

    def close(self) -> None:
        """Remove the devices."""
        self._close()

    def _state(self, device: int) -> tuple[int, ...]:
        data = os.pread(self._fd, _DEVICE.size, device * _PAGE_BYTES)
        if len(data) != _DEVICE.size:
            raise ToolchainFailed("The state of the stub GPU was truncated by a program in a box.")
        return _DEVICE.unpack(data)


def _close(folders: BoxFolders, fd: int) -> None:
    with contextlib.suppress(OSError):
        os.close(fd)
    folders.close()
