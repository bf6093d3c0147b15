"""UNIX sockets for listeners on the control plane's own machine. Only its user can connect to them.

The kernel accepts paths of at most 107 bytes, and data directories can be longer, so the socket is addressed
through a descriptor of its directory.
"""

from __future__ import annotations

import os
import socket
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The prefix of an announced address that is a UNIX socket; the rest is its path.
SCHEME = "unix:"


def path_of(address: str) -> Path | None:
    """Return the path of a UNIX socket's address; None for an HTTP address."""
    return Path(address.removeprefix(SCHEME)) if address.startswith(SCHEME) else None


@contextmanager
def short_path(path: Path) -> Iterator[str]:
    """Yield a short path to the same socket, valid in this process inside the `with` block.

    Raises:
        OSError: its directory cannot be opened.
    """
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


@contextmanager
def open_unix_socket(path: Path, *, backlog: int) -> Iterator[socket.socket]:
    """Listen on a socket with mode 0600; remove its file at the end of the `with` block.

    Raises:
        OSError: the socket cannot be created there.
    """
    with socket.socket(socket.AF_UNIX) as listening:
        path.unlink(missing_ok=True)  # left behind by a listener that was killed
        # The mode applies from the beginning: the file must never be accessible to other users.
        previous = os.umask(0o177)
        try:
            with short_path(path) as reachable:
                listening.bind(reachable)
        finally:
            os.umask(previous)
        try:
            listening.listen(backlog)
            yield listening
        finally:
            with suppress(OSError):  # the folder may have been removed
                path.unlink(missing_ok=True)
