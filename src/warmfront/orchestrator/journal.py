"""Writes what happened, then tells those who follow. A store that is away is waited for.

The orchestrator acts on nothing that is not written here first.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from warmfront.errors import StoreUnavailable
from warmfront.store import log as stored
from warmfront.store import submissions
from warmfront.submission import SubmissionState

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from warmfront.clock import Clock
    from warmfront.events import Event
    from warmfront.orchestrator.log import EventLog
    from warmfront.store.base import Store
    from warmfront.store.records import StoredEvent

P = ParamSpec("P")
T = TypeVar("T")

log = logging.getLogger(__name__)

_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 5.0


class Journal:
    """The store, as one who cannot go on without it sees it."""

    def __init__(self, store: Store, events: EventLog, clock: Clock) -> None:
        self._store = store
        self._events = events
        self._clock = clock

    async def write(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """One transaction, tried until the store takes it."""
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                written = await self._store.write(query, *args, **kwargs)
            except StoreUnavailable as error:
                log.warning("the store is away, trying again: %s", error.message)
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
            else:
                self._events.pulse.beat()
                return written

    async def read(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """A query, tried until the store answers."""
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                return await self._store.read(query, *args, **kwargs)
            except StoreUnavailable:
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    async def tell(self, submission_id: str, event: Event) -> None:
        """An event of ours for a submission; none once it has its verdict."""
        self.publish(await self.write(stored.append, submission_id, event.fields(), self._clock.now()))

    def publish(self, event: StoredEvent | None, *, last: bool = False) -> None:
        """Tell the readers of what was stored, if it was."""
        if event is not None:
            self._events.publish(event, last=last)

    async def tell_waiting(self, submission_id: str, event: Event) -> None:
        """An event of ours for a submission, as long as it waits for a VM."""
        self.publish(await self.write(_append_if_queued, submission_id, event.fields(), self._clock.now()))


def _append_if_queued(
    c: Connection, submission_id: str, fields: dict[str, Any], now: float
) -> StoredEvent | None:
    record = submissions.get(c, submission_id)
    if record is None or record.state is not SubmissionState.QUEUED:
        return None
    return stored.append(c, submission_id, fields, now)
