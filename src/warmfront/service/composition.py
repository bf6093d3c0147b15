"""The service's composition root: open its components, connect them, and close them in reverse order.

The only decision made here is whether the service may start: without an API key or sign-in, it does not
listen on an address that other machines can reach.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from warmfront.api.app import create_app
from warmfront.api.context import ServiceContext
from warmfront.clock import SystemClock
from warmfront.errors import NoApiKey, StoreLocked
from warmfront.hip.toolchain import open_toolchain
from warmfront.hip.xray.service import XrayService
from warmfront.orchestrator.event_log import EventBus, EventLog
from warmfront.orchestrator.orchestrator import VMOrchestrator
from warmfront.providers import open_listeners, open_provider
from warmfront.providers.ownership import OWNER_ID_DIGITS, Ownership
from warmfront.receipts.keyring import Keyring, open_keyring
from warmfront.receipts.signer import add_signed_receipt
from warmfront.secret import open_secret
from warmfront.service.alert_channels import AlertChannels
from warmfront.service.alert_monitor import AlertMonitor
from warmfront.service.billing_reconciliation import BillingReconciler
from warmfront.service.http_server import HttpServer, call_on_stop_signals, open_socket
from warmfront.service.standby import AppSwitch, exit_if_superseded, standby_context, wait_for_takeover
from warmfront.service.storage_check import check_storage
from warmfront.service.traces import OtlpExporter, TracingBus
from warmfront.sign_in.provider import open_identity_provider
from warmfront.store.sql_database import open_standby_store
from warmfront.values import is_loopback

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
    from socket import socket

    from warmfront.clock import Clock
    from warmfront.providers.base import Provider
    from warmfront.settings import Settings
    from warmfront.store.sql_database import StandbyStore
    from warmfront.store.store import Store

log = logging.getLogger(__name__)


async def run_service(settings: Settings, *, on_listening: Callable[[int], object]) -> None:
    """Run the service until SIGTERM or SIGINT.

    Args:
        settings: The settings of the service.
        on_listening: Called with the port once the service accepts connections.

    Raises:
        NoApiKey: Other machines could reach the service, and there is no API key.
        InfrastructureError: The address is in use, or a component could not be opened.
        asyncio.CancelledError: A signal arrived before the service was listening.
    """
    call_on_stop_signals(asyncio.current_task().cancel)  # type: ignore[union-attr]  # inside a task
    async with AsyncExitStack() as stack:
        bus = _open_bus(settings)
        standby = await open_standby_store(settings, bus=bus)
        store = standby.store
        stack.push_async_callback(store.close)
        if isinstance(bus, TracingBus):
            bus.store = store
            stack.push_async_callback(bus.flush)
        is_active = await _take_over_now(standby, settings)
        if is_active or await standby.is_readable():
            await _require_key(store, settings)
        listening = stack.enter_context(open_socket(settings.host, settings.port))
        events = EventLog(store, bus)
        xray_service = await asyncio.to_thread(XrayService.open, settings)
        stack.callback(xray_service.close)
        await asyncio.to_thread(_build_toolchain, settings)
        switch = AppSwitch()
        server = HttpServer(
            switch,
            settings,
            on_start=lambda: on_listening(listening.getsockname()[1]),
            on_shutdown=events.close,
        )

        async def activate() -> None:
            context = await stack.enter_async_context(_open_context(settings, store, events, xray_service))
            switch.app = create_app(context)

        if is_active:
            await activate()
            await server.serve([listening])
        else:
            switch.app = create_app(_standby_context(settings, store, events))
            async with _serving(server, listening) as serving:
                waiting = wait_for_takeover(standby, bus, open_secret(settings.data_dir))
                if await _comes_first(waiting, serving):
                    started_at = time.monotonic()
                    await _require_key(store, settings)
                    await activate()
                    log.info("took over in %.2f s; this service is active", time.monotonic() - started_at)
        log.info("stopping")


def _open_bus(settings: Settings) -> EventBus:
    """Return the event bus, which exports traces if a collector is configured."""
    if settings.otlp_endpoint is None:
        return EventBus()
    return TracingBus(OtlpExporter(settings.otlp_endpoint))


async def _take_over_now(standby: StandbyStore, settings: Settings) -> bool:
    """Lock the database; return False if another service is active and this one may wait."""
    try:
        await standby.take_over_now()
    except StoreLocked:
        if not settings.standby:
            raise
        return False
    return True


@asynccontextmanager
async def _serving(server: HttpServer, listening: socket) -> AsyncIterator[asyncio.Task[None]]:
    """Serve in the background; on exit, wait until the server has stopped, or stop it after an error."""
    serving = asyncio.create_task(server.serve([listening]))
    try:
        yield serving
    except BaseException:
        server.should_exit = True
        raise
    finally:
        await serving


async def _comes_first(waiting: Coroutine[Any, Any, None], serving: asyncio.Task[None]) -> bool:
    """Return whether `waiting` ends before the server stops; cancel it otherwise."""
    task = asyncio.create_task(waiting)
    await asyncio.wait({serving, task}, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        task.result()
        return True
    task.cancel()
    return False


async def _require_key(store: Store, settings: Settings) -> None:
    is_protected = settings.oidc_issuer is not None or await store.has_active_key()
    if not is_loopback(settings.host) and not is_protected:
        raise NoApiKey(
            f"Other machines can reach the service on {settings.host}, but there is no API key.",
            hint="Create an API key, or set WARMFRONT_HOST to 127.0.0.1.",
        )


def _standby_context(settings: Settings, store: Store, events: EventLog) -> ServiceContext:
    """Return the components of a service on standby."""
    return standby_context(
        settings=settings,
        store=store,
        log=events,
        clock=SystemClock(),
        new_id=_new_id,
        # Without it, a request without a key would count as one of `local`, as on a service without sign-in.
        identity_provider=open_identity_provider(settings),
        signing_keys=open_keyring(settings.data_dir),
    )


@asynccontextmanager
async def _open_context(
    settings: Settings, store: Store, events: EventLog, xray_service: XrayService
) -> AsyncIterator[ServiceContext]:
    """Open all components behind the API and start the orchestrator; on exit, stop and close them."""
    async with AsyncExitStack() as stack:
        clock = SystemClock()
        provider = open_provider(settings, clock, ownership=await _ownership(store, clock))
        stack.push_async_callback(provider.close)
        signing_keys = open_keyring(settings.data_dir)
        channels = AlertChannels.of(settings)
        orchestrator = await stack.enter_async_context(
            _open_orchestrator(
                settings,
                store,
                provider=provider,
                xray_service=xray_service,
                clock=clock,
                signing_keys=signing_keys,
                channels=channels,
            )
        )
        alerts = AlertMonitor(
            orchestrator=orchestrator, provider=provider, store=store, channels=channels, clock=clock
        )
        stack.enter_context(_run_in_background(alerts.run()))
        reconciler = stack.enter_context(_start_reconciler(store, provider, clock))
        stack.enter_context(_run_in_background(exit_if_superseded(store, settings)))
        stack.enter_context(_start_preflight(settings))
        await _warn_without_admin(store, settings)
        yield ServiceContext(
            settings=settings,
            store=store,
            orchestrator=orchestrator,
            log=events,
            provider=provider,
            clock=clock,
            new_id=_new_id,
            xray=xray_service.report,
            billing_reconciler=reconciler,
            identity_provider=open_identity_provider(settings),
            signing_keys=signing_keys,
            alerts=alerts,
            check_storage=partial(
                asyncio.to_thread, check_storage, settings.data_dir, settings.min_free_disk_bytes
            ),
        )


async def _warn_without_admin(store: Store, settings: Settings) -> None:
    """Log how to create the first admin, if there is none: only an admin can invite people."""
    if settings.oidc_issuer is None or settings.admins or await store.accounts.has_admin():
        return
    log.warning(
        "no user is an admin; `warmfront users invite --role admin` on this machine prints a link for one"
    )


async def _ownership(store: Store, clock: Clock) -> Ownership:
    """Return the identity of this service, which distinguishes its VMs from those of other services."""

    async def has_record(vm_id: str) -> bool:
        return await store.get_vm(vm_id) is not None

    owner_id = await store.owner_id(secrets.token_hex(OWNER_ID_DIGITS // 2), clock.now())
    return Ownership(id=owner_id, has_record=has_record)


@asynccontextmanager
async def _open_orchestrator(
    settings: Settings,
    store: Store,
    *,
    provider: Provider,
    xray_service: XrayService,
    clock: Clock,
    signing_keys: Keyring,
    channels: AlertChannels,
) -> AsyncIterator[VMOrchestrator]:
    secret = open_secret(settings.data_dir)
    await store.save_secret_fingerprint(secret.fingerprint, clock.now())
    token_of = secret.token_of
    listeners = open_listeners(provider, token_of)
    try:
        orchestrator = VMOrchestrator(
            store=store,
            provider=provider,
            listeners=listeners,
            xray=xray_service.xray,
            settings=settings,
            clock=clock,
            token_for=token_of,
            new_id=_new_id,
            send_alert=channels,
            sign_receipt=partial(add_signed_receipt, keyring=signing_keys),
        )
        try:
            await orchestrator.start()
            yield orchestrator
        finally:
            await orchestrator.stop()
    finally:
        await listeners.close()


@contextmanager
def _start_reconciler(store: Store, provider: Provider, clock: Clock) -> Iterator[BillingReconciler]:
    reconciler = BillingReconciler(store, provider, clock)
    task = asyncio.create_task(reconciler.run())
    try:
        yield reconciler
    finally:
        task.cancel()


@contextmanager
def _start_preflight(settings: Settings) -> Iterator[None]:
    """Check everything that the first VM will need, in the background, and log what is missing."""
    with _run_in_background(_log_preflight(settings)):
        yield


@contextmanager
def _run_in_background(work: Coroutine[Any, Any, None]) -> Iterator[None]:
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()


async def _log_preflight(settings: Settings) -> None:
    if settings.provider != "dstack":
        return
    from warmfront.providers.dstack.preflight import run_preflight  # noqa: PLC0415 - import only the provider in use

    for check in await run_preflight(settings):
        if check.works:
            log.info("preflight: %s: %s", check.name, check.detail)
        else:
            log.error("preflight: %s: %s %s", check.name, check.detail, check.hint)


def _build_toolchain(settings: Settings) -> None:
    """Build the toolchain of local VMs, so that the first submission does not wait for it."""
    if settings.provider != "local":
        return
    toolchain = open_toolchain(None, settings)
    if not toolchain.is_built:
        log.info("building the CPU runtime and its precompiled header; this happens once")
        toolchain.build()


def _new_id(prefix: str) -> str:
    """Return an id that cannot be guessed."""
    return f"{prefix}_{secrets.token_hex(12)}"
