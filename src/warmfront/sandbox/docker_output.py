"""The output of a container, as Docker's attach call streams it: frames with a header and a payload.

The reader of the Docker SDK times out after a minute without output, which is too short for a box that is
started ahead of time.
"""

from __future__ import annotations

import contextlib
import socket
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The stream's number, three zero bytes, and the length of the payload.
HEADER_BYTES = 8
CHUNK_BYTES = 1 << 16


class DockerOutputStream:
    """A connection to the output of one container. Open it before the container starts."""

    def __init__(self, api: Any, container: str) -> None:  # noqa: ANN401 - the SDK has no types
        self._stream = api.attach_socket(container, params={"stdout": 1, "stderr": 1, "stream": 1})
        # For a UNIX socket the SDK returns a wrapper.
        self._socket: socket.socket = getattr(self._stream, "_sock", self._stream)
        self._socket.settimeout(None)

    def chunks(self) -> Iterator[bytes]:
        """Yield the container's output to stdout and stderr until it ends; each stream is in order."""
        with contextlib.suppress(OSError):  # closed by us, or the daemon has stopped
            while len(header := self._socket.recv(HEADER_BYTES, socket.MSG_WAITALL)) == HEADER_BYTES:
                left = int.from_bytes(header[4:], "big")
                while left:
                    if not (chunk := self._socket.recv(min(left, CHUNK_BYTES))):
                        return
                    left -= len(chunk)
                    yield chunk

    def close(self) -> None:
        """Close the connection, which stops a reader in another thread."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._stream._response.close()  # noqa: SLF001 - the SDK keeps it there and does not close it
        self._stream.close()
        self._socket.close()
