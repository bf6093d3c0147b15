"""What a container prints, as Docker's attach call streams it: frames of a header and a payload.

The SDK's own reader gives up after a minute of silence, which is nothing for a box made ahead of time.
"""

from __future__ import annotations

import contextlib
import socket
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The stream's number, three empty bytes, and the payload's length.
HEADER_BYTES = 8
CHUNK_BYTES = 1 << 16


class DockerOutputStream:
    """A connection to the output of one container. Make it before the container starts."""

    def __init__(self, api: Any, container: str) -> None:  # noqa: ANN401  the SDK has no types
        self._stream = api.attach_socket(container, params={"stdout": 1, "stderr": 1, "stream": 1})
        # Over a UNIX socket the SDK hands out a wrapper of it.
        self._socket: socket.socket = getattr(self._stream, "_sock", self._stream)
        self._socket.settimeout(None)

    def chunks(self) -> Iterator[bytes]:
        """What it prints to stdout and to stderr, each in its own order, until the container ends."""
        with contextlib.suppress(OSError):  # closed by us, or the daemon is gone
            while len(header := self._socket.recv(HEADER_BYTES, socket.MSG_WAITALL)) == HEADER_BYTES:
                left = int.from_bytes(header[4:], "big")
                while left:
                    if not (chunk := self._socket.recv(min(left, CHUNK_BYTES))):
                        return
                    left -= len(chunk)
                    yield chunk

    def close(self) -> None:
        """End the connection, and whoever reads from it."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._stream._response.close()  # noqa: SLF001  the SDK keeps it there, and leaves it open
        self._stream.close()
        self._socket.close()
