"""A proxy before a Docker daemon, so that it behaves as a newer one: it refuses old versions of the API.

Requests are passed on as bytes, because attached streams are not HTTP. All versions have the same length, so
that no length in a message changes.
"""

from __future__ import annotations

import contextlib
import re
import socket
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: The version that the daemon behind the proxy has, and the newest one that the proxy claims.
REAL, CLAIMED = b"1.41", b"1.52"
_REQUEST = re.compile(rb"(?m)^(GET|POST|DELETE|HEAD) /v(\d\.\d\d)/")


@contextlib.contextmanager
def docker_with_minimum(url: str, minimum: str) -> Iterator[str]:
    """Yield the address of the proxy for the daemon at `url`."""
    with tempfile.TemporaryDirectory(prefix="wf-proxy-") as folder, socket.socket(socket.AF_UNIX) as server:
        server.bind(str(Path(folder) / "socket"))
        server.listen(64)
        pumps: list[tuple[socket.socket, threading.Thread]] = []
        accept = threading.Thread(target=_accept, args=(server, url, minimum.encode(), pumps))
        accept.start()
        try:
            yield f"unix://{folder}/socket"
        finally:
            server.shutdown(socket.SHUT_RDWR)
            accept.join()
            for source, _ in pumps:
                with contextlib.suppress(OSError):
                    source.shutdown(socket.SHUT_RDWR)
            for source, pump in pumps:
                pump.join()
                source.close()


def _accept(
    server: socket.socket, url: str, minimum: bytes, pumps: list[tuple[socket.socket, threading.Thread]]
) -> None:
    """Connect every client to the daemon, until the server is closed."""
    with contextlib.suppress(OSError):
        while True:
            client = server.accept()[0]
            daemon = socket.socket(socket.AF_UNIX)
            daemon.connect(url.removeprefix("unix://"))
            for source, sink, translate in (
                (client, daemon, _translate_request),
                (daemon, client, _translate_answer),
            ):
                pump = threading.Thread(target=_pump, args=(source, sink, translate, minimum))
                pumps.append((source, pump))
                pump.start()


def _pump(
    source: socket.socket, sink: socket.socket, translate: Callable[[bytes, bytes], bytes], minimum: bytes
) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            sink.sendall(translate(data, minimum))
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_RDWR)


def _translate_request(data: bytes, minimum: bytes) -> bytes:
    """Ask the daemon for its own version; end the connection if a client asks for less than the minimum."""
    for match in _REQUEST.finditer(data):
        if match[2] < minimum:
            raise ConnectionRefusedError
    return _REQUEST.sub(rb"\1 /v" + REAL + b"/", data)


def _translate_answer(data: bytes, minimum: bytes) -> bytes:
    data = re.sub(rb'"MinAPIVersion":"\d\.\d\d"', b'"MinAPIVersion":"' + minimum + b'"', data)
    return data.replace(b'"ApiVersion":"' + REAL, b'"ApiVersion":"' + CLAIMED)
