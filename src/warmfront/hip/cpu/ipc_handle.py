"""The contents of a `hipIpcMemHandle_t` on the CPU runtime; `hipcpu/ipc_handle.h` has the same layout.

A handle names a range of a file that processes share. The allocation is at the end of the range, so that it
ends at a guard page wherever it is mapped.
"""

from __future__ import annotations

import struct
from typing import Final

PAGE_BYTES: Final = 4096
ALIGN_BYTES: Final = 16
NAME_BYTES: Final = 40
_MAGIC: Final = 0x31495057  # "WPI1"
_LAYOUT: Final = struct.Struct(f"<IIQQ{NAME_BYTES}s")


def encode_handle(name: str, *, offset: int, size_bytes: int) -> bytes:
    """Return the 64 bytes of a handle for an allocation in the file `name` of the shared folder.

    Raises:
        ValueError: the name does not fit, or the offset is not a multiple of PAGE_BYTES.
    """
    encoded = name.encode()
    if not 0 < len(encoded) < NAME_BYTES or "/" in name:
        raise ValueError(f"name: {name!r} must have 1 to {NAME_BYTES - 1} bytes and no '/'.")
    if offset < 0 or offset % PAGE_BYTES:
        raise ValueError(f"offset: {offset} is not a multiple of {PAGE_BYTES}.")
    if size_bytes <= 0:
        raise ValueError(f"size_bytes: {size_bytes} is not positive.")
    return _LAYOUT.pack(_MAGIC, len(encoded), offset, size_bytes, encoded)


def mapped_bytes(size_bytes: int) -> int:
    """Return how many bytes of the file an allocation of this size occupies."""
    return _round_up(size_bytes, PAGE_BYTES)


def first_byte(size_bytes: int) -> int:
    """Return the position of the allocation's first byte, counted from the handle's offset."""
    return _round_up(size_bytes, PAGE_BYTES) - _round_up(size_bytes, ALIGN_BYTES)


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
