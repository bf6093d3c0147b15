"""`warmfront serve`: opens the parts of the service, puts them together, and closes them in order.

It decides nothing but whether the service may start: not on a door that is open to others without keys.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import secrets
import signal
import socket
from contextlib import AsyncExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import uvicorn

from warmfront import __version__, settings
from warmfront.api.app import create_app
from warmfront.api.auth import is_loopback
from warmfront.api.context import ServiceContext
from warmfront.cli.error_report import report_error
from warmfront.clock import SystemClock
from warmfront.errors import InfrastructureError, UsageError, WarmfrontError
from warmfront.hip.toolchain import open_toolchain
from warmfront.hip.xray.service import XrayService
from warmfront.logs import log_to_streams
from warmfront.orchestrator.log import EventLog
from warmfront.orchestrator.orchestrator import VMOrchestrator
from warmfront.providers import open_listeners, open_provider
from warmfront.secret import open_secret
from warmfront.service.alert_webhook import AlertWebhook
from warmfront.service.billing_reconciliation import BillingReconciler
from warmfront.store import keys
from warmfront.store.engine import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from warmfront.providers.base import Provider
    from warmfront.settings import Settings

log = logging.getLogger(__name__)

#: What an open request may still take when the service stops; streams are ended at once.
_GOODBYE_S = 5


def serve(*, host: str | None, port: int | None) -> int:
    """Serve until told to stop; the exit code."""
    try:
        configured = settings.load()
        configured = replace(
            configured,
            host=configured.host if host is None else host,
            port=configured.port if port is None else port,
        )
        log_to_streams()
        asyncio.run(_serve(configured))
    except WarmfrontError as error:
        return report_error(error)
    except asyncio.CancelledError:  # stopped before it listened
        return 0
    return 0


async def _serve(configured: Settings) -> None:
    """Everything is opened in the order in which it is needed, and closed the other way round."""
    _on_signals(asyncio.current_task().cancel)  # type: ignore[union-attr]  # this is one
    async with AsyncExitStack() as stack:
        store = await open_store(configured)
        stack.push_async_callback(store.close)
        if not is_loopback(configured.host) and not await store.read(keys.any_active):
            raise UsageError(
                f"On {configured.host} others can reach the service, and there is no API key yet.",
                hint="Make one: `warmfront keys create --user NAME --role operator`; or serve on 127.0.0.1.",
            )
        listening = stack.enter_context(_listening(configured))
        xrays = await asyncio.to_thread(XrayService.open, configured)
        stack.callback(xrays.close)
        await asyncio.to_thread(_build, configured)
        token_of = open_secret(configured.data_dir).token_of
        clock = SystemClock()
        provider = open_provider(configured, clock)
        stack.push_async_callback(_leave, provider)
        listeners = open_listeners(provider, token_of)
        stack.push_async_callback(listeners.close)
        events = EventLog(store)
        orchestrator = VMOrchestrator(
            store=store,
            provider=provider,
            listeners=listeners,
            examine=xrays.xray,
            settings=configured,
            clock=clock,
            log=events,
            token_of=token_of,
            new_id=_new_id,
            alert=AlertWebhook(configured.alert_webhook) if configured.alert_webhook else None,
        )
        stack.push_async_callback(orchestrator.stop)
        await orchestrator.start()
        billing_reconciler = BillingReconciler(store, provider, clock)
        reconciling = asyncio.create_task(billing_reconciler.run())
        stack.callback(reconciling.cancel)
        service = ServiceContext(
            settings=configured,
            store=store,
            orchestrator=orchestrator,
            log=events,
            provider=provider,
            clock=clock,
            new_id=_new_id,
            xray=xrays.report,
            billing_reconciler=billing_reconciler,
        )
        server = _Server(service, on_start=lambda: _welcome(listening, configured), on_end=events.close)
        await server.serve([listening])
        log.info("stopping")


async def _leave(provider: Provider) -> None:
    """Local VMs end with the service that was stopped: nobody else would own them. A cloud's are kept."""
    if provider.name == "local":
        ended = [provider.release(lease.vm_id) for lease in await provider.leases()]
        await asyncio.gather(*ended)
        log.info("local VMs ended: %d", len(ended))
    await provider.close()


def _build(configured: Settings) -> None:
    """What VMs on this machine compile with is made before the first author waits for it."""
    if configured.provider != "local":
        return
    toolchain = open_toolchain(None, configured)
    if not toolchain.is_built:
        log.info("building the runtime and its precompiled header, once")
        toolchain.build()


def _new_id(prefix: str) -> str:
    """An id that nobody can guess: whoever knows a submission's may ask for it."""
    return f"{prefix}_{secrets.token_hex(12)}"


class _Server(uvicorn.Server):
    """Uvicorn with our signals: it says when it listens, and ends streams before it waits for requests."""

    def __init__(
        self, service: ServiceContext, *, on_start: Callable[[], object], on_end: Callable[[], object]
    ) -> None:
        config = uvicorn.Config(
            create_app(service),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_GOODBYE_S,
        )
        super().__init__(config)
        self._on_start = on_start
        self._on_end = on_end

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals ask for an end, and are not raised again before everything is closed."""
        _on_signals(self._stop)
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        self._on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, which would be waited for otherwise, and then all else."""
        self._on_end()
        await super().shutdown(sockets)

    def _stop(self) -> None:
        self.force_exit = self.should_exit  # asked twice: open requests are not waited for
        self.should_exit = True


def _on_signals(stop: Callable[[], object]) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop)


@contextmanager
def _listening(configured: Settings) -> Iterator[socket.socket]:
    host, port = configured.host.strip("[]"), configured.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise InfrastructureError(
                f"Port {port} of {host} is in use.",
                hint="Stop what listens there, or choose another: `warmfront serve --port 3001`.",
            ) from None
        raise InfrastructureError(
            f"Cannot listen on port {port} of {host}: {error.strerror or error}.",
            hint="Set WARMFRONT_HOST and WARMFRONT_PORT, or --host and --port, to what this machine has.",
        ) from None
    with listening:
        yield listening


def _welcome(listening: socket.socket, configured: Settings) -> None:
    host = f"[{configured.host.strip('[]')}]" if ":" in configured.host else configured.host
    port = listening.getsockname()[1]
    address = f"http://{host}:{port}"
    where = "" if address == "http://127.0.0.1:3000" else f"WARMFRONT_URL={address} "
    log.info("the state is in %s", configured.data_dir)
    print(f"Warmfront {__version__} listens on {address}", flush=True)
    print(
        f"  → in another terminal: {where}warmfront submit examples/leaky_relu.hip --problem leaky-relu",
        flush=True,
    )
