"""Addresses for VMs on one machine, and a way to the ports that are bound inside of them.

Each VM has a loopback of its own, so that all may listen on the same port. Nothing here knows what is said
there.
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
#: Hosts of a block that are VMs. A released address rests for as long as possible: clients remember hosts.
_FIRST, _LAST = 10, 250
#: Blocks 127.16.x.0 to 127.127.x.0 are candidates; the first that is free is taken.
_SECONDS, _THIRDS = range(16, 128), 256


class AddressBlock:
    """256 addresses of loopback that no other simulated cloud of this machine uses."""

    def __init__(self) -> None:
        self._lock, self._prefix = _claim()

    def address(self, number: int) -> str:
        """The address of the VM with this number."""
        return f"{self._prefix}.{_FIRST + number % (_LAST - _FIRST)}"

    def close(self) -> None:
        """Leave the block to others."""
        self._lock.close()


def _claim() -> tuple[socket.socket, str]:
    """A block is whose who has port 22 of its first address: the kernel sees to it, whatever ends how."""
    start = os.getpid() * 7919 + threading.get_native_id()
    for attempt in range(100):
        at = start + attempt * 31
        prefix = f"127.{_SECONDS[at // _THIRDS % len(_SECONDS)]}.{at % _THIRDS}"
        lock = socket.socket()
        try:
            lock.bind((f"{prefix}.1", _PORT))
            lock.listen()
        except PermissionError as error:
            lock.close()
            raise RuntimeError(f"Simulated VMs need port {_PORT}: run this as root.") from error
        except OSError:
            lock.close()
            continue
        return lock, prefix
    raise RuntimeError(f"Simulated VMs need port {_PORT} of loopback, and a server listens on all addresses.")


async def connect(pid: int, port: int) -> socket.socket:
    """A connection to a port of the loopback that a process sees."""
    return await asyncio.to_thread(_connect, pid, port)


def _connect(pid: int, port: int) -> socket.socket:
    """A thread that moved to another namespace is of no other use, so it is one of its own."""
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
            raise ConnectionRefusedError("The container has not begun.")
        if libc.setns(handle, _CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    finally:
        os.close(ours)
        os.close(handle)
    connection = socket.create_connection(("127.0.0.1", port))
    connection.setblocking(False)  # noqa: FBT003 - the library's own signature
    return connection
