"""Connections: deadlines for half-sent requests, limits, and running out of file descriptors."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import re
import resource
import socket
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
import uvicorn
from fastapi import FastAPI

from warmfront import http_connections
from warmfront.http_connections import ConnectionLimits, GuardedServer
from warmfront.service.http_server import HttpServer
from warmfront.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from starlette.types import Receive, Scope, Send

HALF = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
WHOLE = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
HANGS = b"GET /hangs HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
NEVER_S = 3600.0
#: Only a server that hangs takes this long.
BACKSTOP_S = 300.0


class Server(GuardedServer):
    """A server that leaves signals alone."""

    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        """Handle no signals."""
        yield


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Read the body and answer `ok`; /hangs never answers."""
    while (message := await receive())["type"] == "http.request" and message.get("more_body"):
        pass
    if message["type"] == "http.disconnect":
        return
    if scope["path"] == "/hangs":
        await receive()  # until the client disconnects
        return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@contextlib.asynccontextmanager
async def running(server: uvicorn.Server, listening: socket.socket) -> AsyncIterator[int]:
    """Run a server and yield its port."""
    task = asyncio.create_task(server.serve([listening]))
    try:
        while not server.started:  # noqa: ASYNC110 - Uvicorn has no event for it
            await asyncio.sleep(0)
        yield listening.getsockname()[1]
    finally:
        server.should_exit = server.force_exit = True
        await task
        while Peer.opened:
            Peer.opened.pop().close()


def served(limits: ConnectionLimits, **options: Any) -> Callable[[Callable[..., Awaitable[None]]], None]:
    """Run a test against a server with these limits; it gets the port and the server."""

    def run(test: Callable[..., Awaitable[None]]) -> None:
        async def main() -> None:
            config = uvicorn.Config(application, http="h11", lifespan="off", log_config=None)
            server = Server(config, limits, **options)
            async with asyncio.timeout(BACKSTOP_S):
                async with running(server, socket.create_server(("127.0.0.1", 0))) as port:
                    await test(port, server)

        asyncio.run(main())

    return run


class Peer:
    """A client's side of one connection."""

    opened: ClassVar[list[socket.socket]] = []

    def __init__(self) -> None:
        self._socket = socket.socket()
        self._socket.settimeout(0)
        self._received = b""
        self.opened.append(self._socket)

    @classmethod
    async def connect(cls, port: int, data: bytes = b"") -> Peer:
        """Connect and send some bytes."""
        peer = cls()
        await asyncio.get_running_loop().sock_connect(peer._socket, ("127.0.0.1", port))
        await peer.send(data)
        return peer

    async def send(self, data: bytes) -> None:
        """Send bytes; the server may have closed the connection."""
        with contextlib.suppress(ConnectionError):
            await asyncio.get_running_loop().sock_sendall(self._socket, data)

    async def answer(self) -> bytes:
        """Return the next response; empty if the connection was closed without one."""
        while not re.search(rb"\r\n\r\n(ok)?$", self._received) and await self._receive():
            pass
        answer, self._received = self._received, b""
        return answer

    async def is_closed(self) -> bool:
        """Wait for the end of the connection."""
        while await self._receive():
            pass
        return True

    async def _receive(self) -> bytes:
        data = b""
        with contextlib.suppress(ConnectionError):
            data = await asyncio.get_running_loop().sock_recv(self._socket, 4096)
        self._received += data
        return data


@pytest.mark.slow
def test_half_sent_requests_do_not_keep_others_out() -> None:
    """300 clients never finish their requests; the service allows 64 connections, and still answers."""

    async def main() -> None:
        app = FastAPI()

        @app.get("/health")
        async def health() -> str:
            return ""

        settings = Settings(
            max_connections=64, max_connections_per_address=48, request_head_timeout_s=NEVER_S
        )
        server = HttpServer(app, settings, on_start=lambda: None, on_shutdown=lambda: None)
        async with asyncio.timeout(BACKSTOP_S):
            async with running(server, socket.create_server(("127.0.0.1", 0), backlog=512)) as port:
                for number in range(300):
                    await Peer.connect(port, HALF)
                    if number % 50 == 0:
                        peer = await Peer.connect(port, WHOLE)
                        assert (await peer.answer()).startswith(b"HTTP/1.1 200")
                peer = await Peer.connect(port, WHOLE)
                assert (await peer.answer()).startswith(b"HTTP/1.1 200")
                assert len(server.server_state.connections) <= 48

    asyncio.run(main())


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (HALF, b"HTTP/1.1 408"),
        (b"", b""),
        (WHOLE + HALF, b"HTTP/1.1 200"),
        (b"POST /health HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc", b""),
    ],
)
def test_an_incomplete_request_is_closed(data: bytes, answer: bytes) -> None:
    """The head, the body, and the head of a second request have a deadline."""

    @served(ConnectionLimits(total=10, head_timeout_s=0.05, body_timeout_s=0.05))
    async def _test(port: int, _server: Server) -> None:
        peer = await Peer.connect(port, data)
        assert (await peer.answer()).startswith(answer)
        assert await peer.is_closed()


def test_the_deadline_does_not_apply_to_the_response() -> None:
    """A request that is complete may take longer than its head and body."""

    @served(ConnectionLimits(total=10, head_timeout_s=0.05, body_timeout_s=0.05))
    async def _test(port: int, server: Server) -> None:
        busy, idle = await Peer.connect(port, HANGS), await Peer.connect(port)
        assert await idle.is_closed()
        assert len(server.server_state.connections) == 1
        await busy.send(b"")


@pytest.mark.parametrize("limits", [{"total": 3}, {"total": 100, "per_address": 3}])
def test_a_connection_beyond_the_limit_is_refused(limits: dict[str, int]) -> None:
    """If every connection has a request in progress, a further one gets 503, and those in progress stay."""

    @served(ConnectionLimits(**limits, head_timeout_s=NEVER_S))
    async def _test(port: int, server: Server) -> None:
        busy = [await Peer.connect(port, HANGS) for _ in range(3)]
        while len(server.server_state.tasks) < 3:  # noqa: ASYNC110 - Uvicorn has no event for it
            await asyncio.sleep(0)
        assert (await (await Peer.connect(port)).answer()).startswith(b"HTTP/1.1 503")
        assert len(server.server_state.tasks) == 3
        del busy


def test_a_trusted_connection_is_kept() -> None:
    """Connections without a trusted request make room for new ones; one that had such a request stays."""

    @served(
        ConnectionLimits(total=4, head_timeout_s=NEVER_S), is_trusted=lambda found: (b"token", b"1") in found
    )
    async def _test(port: int, _server: Server) -> None:
        trusted = await Peer.connect(port, b"GET / HTTP/1.1\r\nHost: x\r\nToken: 1\r\n\r\n")
        assert (await trusted.answer()).startswith(b"HTTP/1.1 200")
        idle = [await Peer.connect(port) for _ in range(20)]
        assert await idle[0].is_closed()
        await trusted.send(WHOLE)
        assert (await trusted.answer()).startswith(b"HTTP/1.1 200")


class Exhausted(socket.socket):
    """A socket whose `accept` fails as if the process had no file descriptors left."""

    calls = 0
    failures = 2

    def accept(self) -> tuple[socket.socket, Any]:
        """Fail twice, then accept."""
        type(self).calls += 1
        if type(self).calls <= self.failures:
            raise OSError(errno.EMFILE, "Too many open files")
        return super().accept()


def test_running_out_of_files_neither_spins_nor_fills_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Each failed accept is logged once and followed by a pause; afterwards clients are served."""
    monkeypatch.setattr(http_connections, "_ACCEPT_RETRY_S", 0.05)
    caplog.set_level(logging.INFO)
    Exhausted.calls = 0

    async def main() -> None:
        config = uvicorn.Config(application, http="h11", lifespan="off", log_config=None)
        server = Server(config, ConnectionLimits(total=10))
        listening = Exhausted(fileno=socket.create_server(("127.0.0.1", 0)).detach())
        async with asyncio.timeout(BACKSTOP_S), running(server, listening) as port:
            peer = await Peer.connect(port, WHOLE)
            assert (await peer.answer()).startswith(b"HTTP/1.1 200")

    asyncio.run(main())
    errors = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert len(errors) == Exhausted.failures
    assert "Too many open files" in errors[0].getMessage()
    assert Exhausted.calls <= Exhausted.failures + 2


def test_connections_stay_below_the_limit_of_open_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """The soft limit is raised to the hard one, and connections leave files for everything else."""
    limits: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _kind: (1024, 2048))
    monkeypatch.setattr(resource, "setrlimit", lambda _kind, values: limits.append(values))
    assert http_connections.affordable_connections(4096) == 2048 - http_connections.RESERVED_FILES
    assert http_connections.affordable_connections(100) == 100
    assert limits == [(2048, 2048)] * 2
