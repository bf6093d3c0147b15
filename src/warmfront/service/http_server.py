"""The HTTP server of the service: Uvicorn, with our signal handling and an orderly shutdown."""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING

import uvicorn

from warmfront.errors import InfrastructureError
from warmfront.http_connections import ConnectionLimits, GuardedServer, affordable_connections

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.types import ASGIApp

    from warmfront.settings import Settings

#: Seconds that open requests get to finish at shutdown; event streams are closed immediately.
_SHUTDOWN_S = 5
_BACKLOG = 2048


class HttpServer(GuardedServer):
    """A uvicorn server that reports when it listens.

    At shutdown it closes event streams before it waits for requests.
    """

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        *,
        on_start: Callable[[], object],
        on_shutdown: Callable[[], object],
    ) -> None:
        config = uvicorn.Config(
            app,
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_SHUTDOWN_S,
        )
        limits = ConnectionLimits(
            total=affordable_connections(settings.max_connections),
            per_address=settings.max_connections_per_address,
            head_timeout_s=settings.request_head_timeout_s,
            body_timeout_s=settings.request_body_timeout_s,
        )
        super().__init__(config, limits)
        self._on_start = on_start
        self._on_shutdown = on_shutdown

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Shut down on a signal without raising it again, because other components must be closed first."""
        call_on_stop_signals(self._stop)
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the server, then call `on_start`."""
        await super().startup(sockets)
        self._on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Call `on_shutdown`, which ends the event streams, then wait for the other requests."""
        self._on_shutdown()
        await super().shutdown(sockets)

    def _stop(self) -> None:
        self.force_exit = self.should_exit  # the second signal does not wait for open requests
        self.should_exit = True


def call_on_stop_signals(stop: Callable[[], object]) -> None:
    """Call `stop` on SIGTERM and SIGINT; replaces an earlier handler."""
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop)


@contextmanager
def open_socket(host: str, port: int) -> Iterator[socket.socket]:
    """Open a socket that listens on the address, or raise `InfrastructureError`."""
    host = host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise InfrastructureError(
                f"Port {port} on {host} is in use.",
                hint="Stop the program that listens there, or set WARMFRONT_PORT to another port.",
            ) from None
        raise InfrastructureError(
            f"Cannot listen on port {port} of {host}: {error.strerror or error}.",
            hint="Set WARMFRONT_HOST and WARMFRONT_PORT to an address of this machine.",
        ) from None
    with listening:
        yield listening
