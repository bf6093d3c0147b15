"""The listener as a process: its socket, its signals, its token, and an end that leaves nothing behind.

What it answers is elsewhere; here is only how it lives.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import socket
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import uvicorn

from warmfront.errors import InfrastructureError, UsageError
from warmfront.listener.app import ControlPlaneContact, ListenerService
from warmfront.listener.attempt_registry import AttemptRegistry
from warmfront.listener.judge_runtime import JudgeRuntime
from warmfront.listener.protocol import TOKEN_VARIABLE
from warmfront.listener.watchdog import Watchdog
from warmfront.logs import log_to_streams

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, MutableMapping
    from pathlib import Path

    from warmfront.settings import Settings

log = logging.getLogger(__name__)

#: How long open connections may take once the attempts are gone.
GOODBYE_S = 2
#: Whoever comes beyond is turned away before the token is looked at.
MOST_CONNECTIONS = 512


@dataclass(frozen=True, kw_only=True)
class ListenerOptions:
    """What was typed."""

    host: str
    port: int  #: 0: any that is free
    dead_man_s: float
    announce: Path | None  #: is written when it listens
    toolchain: str | None


def serve(options: ListenerOptions, settings: Settings) -> None:
    """Listen until told to end, or until nobody speaks to us any more."""
    token = take_token(os.environ)
    log_to_streams()
    # Until the event loop has the signals, an end in good order is an exception.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with (
        _listening(options) as listening,
        contextlib.closing(JudgeRuntime.open(options.toolchain, settings)) as runtime,
    ):
        asyncio.run(_serve(listening, runtime, token, options))
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # what is left to do is to clean up


def take_token(environ: MutableMapping[str, str]) -> str:
    """The token, out of the environment: no child shall see it."""
    token = environ.pop(TOKEN_VARIABLE, "").strip()
    if not token:
        raise UsageError(
            f"{TOKEN_VARIABLE} is not set, and a listener answers nobody without a token.",
            hint=f"{TOKEN_VARIABLE}=$(openssl rand -hex 32) warmfront listener",
        )
    return token


async def _serve(
    listening: socket.socket, runtime: JudgeRuntime, token: str, options: ListenerOptions
) -> None:
    attempts, contact = AttemptRegistry(runtime), ControlPlaneContact()
    toolchain = runtime.toolchain
    service = ListenerService(
        attempts=attempts,
        contact=contact,
        toolchain=toolchain.name,
        gpu="MI300X",
        simulated=toolchain.simulated,
    )
    config = uvicorn.Config(
        service.app(token),
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GOODBYE_S,
        limit_concurrency=MOST_CONNECTIONS,
    )
    server = ListenerServer(config, attempts, on_start=lambda: _announce(listening, options))
    loop = asyncio.get_running_loop()

    def end_from_thread() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: it ends already
            loop.call_soon_threadsafe(server.end)

    def force() -> None:
        attempts.stop_all()
        runtime.close()

    dead_man = Watchdog(contact, options.dead_man_s, end=end_from_thread, force=force)
    server.on_end = dead_man.ending
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, server.end)
    dead_man.start()
    await server.serve([listening])


class ListenerServer(uvicorn.Server):
    """Uvicorn, with signals that are ours and attempts that end before their connections."""

    def __init__(
        self, config: uvicorn.Config, attempts: AttemptRegistry, *, on_start: Callable[[], object]
    ) -> None:
        super().__init__(config)
        self._attempts = attempts
        self._on_start = on_start
        self.on_end: Callable[[], object] = lambda: None

    def end(self) -> None:
        """End in good order."""
        self.on_end()
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone: uvicorn would raise them again before everything is cleaned up."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        self._on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End what runs; then nobody has a stream to wait for."""
        await self._attempts.close()
        await super().shutdown(sockets)


@contextmanager
def _listening(options: ListenerOptions) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    try:
        listening = socket.create_server((options.host, options.port), family=family, backlog=128)
    except OSError as error:
        raise InfrastructureError(
            f"Cannot listen on {options.host}:{options.port}: {error.strerror or error}.",
            hint="Choose another --host or --port; --port 0 takes any that is free.",
        ) from None
    with listening:
        yield listening


def _announce(listening: socket.socket, options: ListenerOptions) -> None:
    host = f"[{options.host}]" if ":" in options.host else options.host
    address = f"http://{host}:{listening.getsockname()[1]}"
    if options.announce is not None:
        # Whoever waits for the file finds it whole or not at all.
        unfinished = options.announce.with_name(f".{options.announce.name}.{os.getpid()}")
        unfinished.write_text(json.dumps({"address": address, "pid": os.getpid()}), encoding="utf-8")
        unfinished.replace(options.announce)
    log.info("listening on %s", address)
