"""Standby: wait until the active service on the same database ends, and answer reads meanwhile.

Theory of operation. The active service is the one whose session holds PostgreSQL's advisory lock. A standby
waits for that lock in its own session, so it acquires the lock as soon as the database server releases it: at
once when the process of the active service ends, after the TCP keepalives when its machine fails, and after
the lock timeout when it hangs. The service that gets the lock begins the next epoch. A service that finds a
later epoch than its own was superseded: its writes fail, its orchestrator stops where it is, and its process
exits without an orderly stop, which would end VMs that now belong to the other service.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, NoReturn

from warmfront.api.context import ServiceContext
from warmfront.errors import BadSetting, OnStandby, StoreUnavailable, Superseded

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from warmfront.orchestrator.event_log import EventBus
    from warmfront.secret import Secret
    from warmfront.settings import Settings
    from warmfront.store.sql_database import StandbyStore
    from warmfront.store.store import Store

log = logging.getLogger(__name__)

#: How often streams on a standby look for events that the active service has stored.
FOLLOW_S = 0.5
#: How often the active service checks that it still holds the lock: more often with a short lock timeout.
_CHECK_LOCK_S = 5.0
_CHECKS_PER_TIMEOUT = 4
#: The exit code of a service that was superseded, as for every failure of the infrastructure.
_EXIT_SUPERSEDED = 3


class AppSwitch:
    """An ASGI application that passes requests to another one, which can be replaced while it serves."""

    app: ASGIApp  #: set before the first request

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request with the current application."""
        await self.app(scope, receive, send)


class _ActiveOnly:
    """A component that only the active service has: every use of it raises `OnStandby`."""

    def __getattr__(self, name: str) -> NoReturn:
        raise OnStandby

    def __call__(self, *_args: object, **_options: object) -> NoReturn:
        raise OnStandby


def standby_context(**components: Any) -> ServiceContext:  # noqa: ANN401 - the fields of ServiceContext
    """Return the components of a service on standby: the given ones; all others raise `OnStandby`."""
    missing = {
        field.name: _ActiveOnly()
        for field in fields(ServiceContext)
        if field.default is MISSING and field.default_factory is MISSING and field.name not in components
    }
    return ServiceContext(**{**missing, **components, "state": "standby"})


async def wait_for_takeover(standby: StandbyStore, bus: EventBus, secret: Secret) -> None:
    """Wait until this service has locked the database; keep the event streams up to date meanwhile.

    Raises:
        BadSetting: the active service has another secret, so this one could not use its VMs.
    """
    log.info("on standby: another service is active on this database; waiting until it ends")
    is_compared = await _compare_secret(standby, secret)
    following = asyncio.create_task(_follow(standby, bus, secret, is_compared=is_compared))
    taking_over = asyncio.create_task(standby.take_over())
    try:
        await asyncio.wait({following, taking_over}, return_when=asyncio.FIRST_COMPLETED)
        if following.done():
            following.result()
        await taking_over
    finally:
        following.cancel()
        taking_over.cancel()
    bus.reread()


async def _follow(standby: StandbyStore, bus: EventBus, secret: Secret, *, is_compared: bool) -> None:
    """Make open streams read the events that the active service has stored, until cancelled."""
    while True:
        await asyncio.sleep(FOLLOW_S)
        bus.reread()
        is_compared = is_compared or await _compare_secret(standby, secret)


async def _compare_secret(standby: StandbyStore, secret: Secret) -> bool:
    """Raise `BadSetting` if the active service has another secret; return False if that is not known yet."""
    try:
        theirs = await standby.store.secret_fingerprint() if await standby.is_readable() else None
    except StoreUnavailable:
        return False
    if theirs is not None and theirs != secret.fingerprint:
        raise BadSetting(
            "The active service on this database has another secret, so this one could not use its VMs.",
            hint="Give both services the same WARMFRONT_DATA_DIR, or copy `secret` and `signing-keys.json` "
            "from the data directory of the active service.",
        )
    return theirs is not None


async def exit_if_superseded(store: Store, settings: Settings) -> None:
    """Check periodically that this service holds the lock; exit at once if another one has taken over."""
    interval_s = min(_CHECK_LOCK_S, settings.lock_timeout_s / _CHECKS_PER_TIMEOUT)
    while True:
        await asyncio.sleep(interval_s)
        try:
            await store.check_lock()
        except Superseded as error:
            log.critical("%s Exiting.", error.message)
            _exit_at_once()
        except StoreUnavailable as error:
            log.warning("the lock could not be checked: %s; retrying in %.0f s", error.message, interval_s)


def _exit_at_once() -> NoReturn:
    """End the process without an orderly stop, which would end VMs that belong to another service now."""
    logging.shutdown()
    sys.stdout.flush()
    os._exit(_EXIT_SUPERSEDED)
