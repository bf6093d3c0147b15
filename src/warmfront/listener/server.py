"""The listener process: its socket, signals and token, and a shutdown that leaves nothing behind.

The request handlers are in `app`.
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
from typing import TYPE_CHECKING

import uvicorn

from warmfront.errors import InfrastructureError, UsageError, VMUnhealthy, WarmfrontError
from warmfront.http_connections import ConnectionLimits, GuardedServer, affordable_connections
from warmfront.listener.app import ControlPlaneContact, ListenerService, has_token
from warmfront.listener.attempt_registry import AttemptRegistry
from warmfront.listener.protocol import TOKEN_VARIABLE
from warmfront.listener.slot_pool import open_judge
from warmfront.listener.unix_socket import SCHEME, open_unix_socket
from warmfront.listener.vm_status import UnavailableJudge
from warmfront.listener.watchdog import Watchdog
from warmfront.logs import log_to_streams
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, MutableMapping
    from pathlib import Path

    from warmfront.listener.judge_runtime import JudgeRuntime
    from warmfront.listener.slot_pool import SlotPool
    from warmfront.settings import Settings

log = logging.getLogger(__name__)

#: How long open connections may take to close after the attempts have ended.
CLOSE_TIMEOUT_S = 2
#: The most open connections. Beyond it, connections without the token are closed; the control plane's are
#: kept.
MAX_CONNECTIONS = 512
#: How long a client may take to send the token, and the body of its request.
AUTHENTICATION_S = 10.0
BODY_S = 30.0
_BACKLOG = 128


@dataclass(frozen=True, kw_only=True)
class ListenerOptions:
    """The options of the command line."""

    host: str
    port: int  #: 0 for any free port
    watchdog_s: float  #: seconds without contact after which the listener ends itself
    announce: Path | None  #: file for the address, written once the listener accepts connections
    toolchain: str | None
    uds: Path | None = None  #: a UNIX socket to listen on, instead of host and port
    #: Whether a listener that cannot judge keeps running to report the reason, instead of exiting with an
    #: error.
    stay_to_report: bool = False


def serve(options: ListenerOptions, settings: Settings) -> None:
    """Listen until a signal arrives or the watchdog ends the listener.

    Raises:
        UsageError: the token is not set.
        InfrastructureError: the address is in use, or the toolchain or sandbox does not work.
    """
    token = take_token(os.environ)
    log_to_streams()
    # Until the event loop handles signals, SIGTERM raises SystemExit for an orderly exit.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with (
        _open_socket(options) as listening,
        contextlib.closing(_open_judge(options, settings)) as runtime,
    ):
        asyncio.run(_serve(listening, runtime, token, options))
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # only cleanup is left


def _open_judge(options: ListenerOptions, settings: Settings) -> JudgeRuntime | SlotPool | UnavailableJudge:
    """Return the judge; or, with `stay_to_report`, an `UnavailableJudge` if it cannot be opened."""
    try:
        runtime = open_judge(options.toolchain, settings)
        if not runtime.status.failure or options.stay_to_report:
            return runtime
        runtime.close()
        raise VMUnhealthy(runtime.status.failure)
    except WarmfrontError as error:
        if not options.stay_to_report:
            raise
        log.error("this VM cannot judge attempts: %s; the listener keeps running to report it", error.message)  # noqa: TRY400 - expected
        return UnavailableJudge(error, toolchain=options.toolchain or "", gpu=settings.judge_gpu)


def take_token(environ: MutableMapping[str, str]) -> str:
    """Remove the token from the environment, so that child processes do not inherit it, and return it."""
    token = environ.pop(TOKEN_VARIABLE, "").strip()
    if not token:
        raise UsageError(
            f"{TOKEN_VARIABLE} is not set; the listener requires a token.",
            hint=f"{TOKEN_VARIABLE}=$(openssl rand -hex 32) warmfront listener",
        )
    return token


async def _serve(
    listening: socket.socket,
    runtime: JudgeRuntime | SlotPool | UnavailableJudge,
    token: str,
    options: ListenerOptions,
) -> None:
    attempts, contact = AttemptRegistry(runtime, slots=max(1, runtime.status.slots)), ControlPlaneContact()
    service = ListenerService(attempts=attempts, contact=contact, status=lambda: runtime.status)
    config = uvicorn.Config(
        service.app(token),
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=CLOSE_TIMEOUT_S,
    )
    server = ListenerServer(config, attempts, token, on_start=lambda: _announce(listening, options))
    loop = asyncio.get_running_loop()

    def shut_down() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: the process is already exiting
            loop.call_soon_threadsafe(server.shut_down)

    def force() -> None:
        attempts.stop_all()
        runtime.close()

    watchdog = Watchdog(contact, options.watchdog_s, shut_down=shut_down, force=force)
    server.on_shutdown = watchdog.expect_end
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, server.shut_down)
    watchdog.start()
    await server.serve([listening])


class ListenerServer(GuardedServer):
    """A uvicorn server with our signal handling, which stops attempts before it closes connections."""

    def __init__(
        self, config: uvicorn.Config, attempts: AttemptRegistry, token: str, *, on_start: Callable[[], object]
    ) -> None:
        limits = ConnectionLimits(
            total=affordable_connections(MAX_CONNECTIONS),
            head_timeout_s=AUTHENTICATION_S,
            body_timeout_s=BODY_S,
        )
        super().__init__(config, limits, is_trusted=lambda headers: has_token(headers, token))
        self._attempts = attempts
        self._on_start = on_start
        self.on_shutdown: Callable[[], object] = lambda: None

    def shut_down(self) -> None:
        """Start an orderly shutdown."""
        self.on_shutdown()
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do not handle signals: uvicorn would raise them again before the cleanup."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the server, then announce its address."""
        await super().startup(sockets)
        self._on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop all attempts first, so that no stream keeps a connection open."""
        await self._attempts.close()
        await super().shutdown(sockets)


@contextmanager
def _open_socket(options: ListenerOptions) -> Iterator[socket.socket]:
    if options.uds is not None:
        with _open_unix_socket(options.uds) as listening:
            yield listening
        return
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    try:
        listening = socket.create_server((options.host, options.port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise InfrastructureError(
            f"Cannot listen on {options.host}:{options.port}: {error.strerror or error}.",
            hint="Choose another --host or --port; --port 0 uses any free port.",
        ) from None
    with listening:
        yield listening


@contextmanager
def _open_unix_socket(path: Path) -> Iterator[socket.socket]:
    with contextlib.ExitStack() as stack:
        try:
            listening = stack.enter_context(open_unix_socket(path, backlog=_BACKLOG))
        except OSError as error:
            raise InfrastructureError(
                f"Cannot listen on the UNIX socket {path}: {error.strerror or error}.",
                hint="Choose another --uds, in a directory that this user can write to.",
            ) from None
        yield listening


def _address(listening: socket.socket, options: ListenerOptions) -> str:
    if options.uds is not None:
        return f"{SCHEME}{options.uds.absolute()}"
    host = f"[{options.host}]" if ":" in options.host else options.host
    return f"http://{host}:{listening.getsockname()[1]}"


def _announce(listening: socket.socket, options: ListenerOptions) -> None:
    address = _address(listening, options)
    if options.announce is not None:
        # Renamed into place, so that readers never see an incomplete file.
        temporary = options.announce.with_name(f".{options.announce.name}.{os.getpid()}")
        temporary.write_text(json.dumps({"address": address, "pid": os.getpid()}), encoding="utf-8")
        temporary.replace(options.announce)
    log.info("listening on %s", address)
