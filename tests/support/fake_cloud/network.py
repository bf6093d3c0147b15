"""Loopback addresses for VMs, and connections into their network namespaces.

Each VM has its own loopback interface, so that all can listen on the same port.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import socket
import threading
from pathlib import Path

_CLONE_NEWNET = 0x40000000
_PORT = 22
#: Host numbers of VMs. Addresses are reused as late as possible: clients cache host keys.
_FIRST, _LAST = 10, 250
#: The blocks from 127.16.x.0 to 127.127.x.0 are candidates; the first free one is claimed.
_SECOND_OCTETS, _THIRD_OCTETS = range(16, 128), 256


class AddressBlock:
    """256 loopback addresses that no other fake cloud on this machine uses."""

    def __init__(self) -> None:
        self._lock, self._prefix = _claim()

    def address(self, number: int) -> str:
        """Return the address of the VM with this number."""
        return f"{self._prefix}.{_FIRST + number % (_LAST - _FIRST)}"

    def close(self) -> None:
        """Release the block."""
        self._lock.close()


def _claim() -> tuple[socket.socket, str]:
    """Claim a block by binding port 22 of its first address, which the kernel releases with this process."""
    start = os.getpid() * 7919 + threading.get_native_id()
    for attempt in range(100):
        at = start + attempt * 31
        prefix = f"127.{_SECOND_OCTETS[at // _THIRD_OCTETS % len(_SECOND_OCTETS)]}.{at % _THIRD_OCTETS}"
        lock = socket.socket()
        try:
            lock.bind((f"{prefix}.1", _PORT))
            lock.listen()
        except PermissionError as error:
            lock.close()
            raise RuntimeError(f"The fake cloud needs port {_PORT}: run as root.") from error
        except OSError:
            lock.close()
            continue
        return lock, prefix
    raise RuntimeError(
        f"The fake cloud needs port {_PORT} on loopback, but a server listens on all addresses."
    )


async def connect(pid: int, port: int) -> socket.socket:
    """Connect to a loopback port in the network namespace of a process."""
    return await asyncio.to_thread(_connect, pid, port)


def _connect(pid: int, port: int) -> socket.socket:
    """Connect in a new thread, because a thread that changed its namespace cannot be reused."""
    result: list[socket.socket | OSError] = []

    def enter() -> None:
        try:
            result.append(_connect_from(Path(f"/proc/{pid}/ns/net"), port))
        except OSError as error:
            result.append(error)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    if isinstance(result[0], OSError):
        raise result[0]
    return result[0]


def _connect_from(namespace: Path, port: int) -> socket.socket:
    libc = ctypes.CDLL(None, use_errno=True)
    handle = os.open(namespace, os.O_RDONLY)
    try:
        if os.path.sameopenfile(handle, ours := os.open("/proc/self/ns/net", os.O_RDONLY)):
            raise ConnectionRefusedError("The container has not started.")
        if libc.setns(handle, _CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    finally:
        os.close(ours)
        os.close(handle)
    connection = socket.create_connection(("127.0.0.1", port))
    connection.setblocking(False)  # noqa: FBT003 - the library's own signature
    return connection
