"""The event log as readers see it: what is stored, then what comes, without gap and without double.

An event is published after it is stored, never before. A reader that falls behind is not waited for: it
reads on from the store.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warmfront.errors import SubmissionNotFound
from warmfront.orchestrator.pulse import Pulse
from warmfront.store import log as stored
from warmfront.store import submissions
from warmfront.submission import SubmissionState

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from sqlalchemy import Connection

    from warmfront.store.base import Store
    from warmfront.store.records import StoredEvent

#: Events that a slow reader may have waiting in memory, and that are read from the store at a time.
BUFFERED = 256


@dataclass(kw_only=True, eq=False)
class _Reader:
    """One who follows a submission."""

    news: deque[tuple[StoredEvent, bool]] = field(default_factory=lambda: deque(maxlen=BUFFERED))
    awake: asyncio.Event = field(default_factory=asyncio.Event)


class EventLog:
    """Hands stored events to those who follow."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._readers: dict[str, set[_Reader]] = {}
        self._closed = False
        self.pulse = Pulse()  #: beats with every write of the orchestrator

    def close(self) -> None:
        """End every stream where it is: the service stops, and readers go on at the next one."""
        self._closed = True
        self.pulse.close()
        for reader in (reader for readers in self._readers.values() for reader in readers):
            reader.awake.set()

    def publish(self, event: StoredEvent, *, last: bool) -> None:
        """Tell the readers of a stored event; `last`: it is the verdict."""
        self.pulse.beat()
        for reader in self._readers.get(event.submission_id, ()):
            reader.news.append((event, last))
            reader.awake.set()

    async def follow(self, submission_id: str, after: int = 0) -> AsyncIterator[StoredEvent]:
        """The events after `after`: those that are stored, then each as it comes, to the last."""
        reader = _Reader()
        self._readers.setdefault(submission_id, set()).add(reader)
        try:
            while not self._closed:
                batch, last_id = await self._store.read(_batch, submission_id, after)
                for event in batch:
                    yield event
                    after = event.id
                if last_id is not None and after >= last_id:
                    return
                if len(batch) < BUFFERED:
                    async for event, last in self._news(reader, after):
                        yield event
                        after = event.id
                        if last:
                            return
        finally:
            self._forget(submission_id, reader)

    async def _news(self, reader: _Reader, after: int) -> AsyncIterator[tuple[StoredEvent, bool]]:
        """What is published after `after`; ends where some was missed."""
        while not self._closed:
            await reader.awake.wait()
            reader.awake.clear()
            while reader.news:
                event, last = reader.news.popleft()
                if event.id > after + 1:
                    return
                if event.id == after + 1:
                    yield event, last
                    after = event.id

    def _forget(self, submission_id: str, reader: _Reader) -> None:
        readers = self._readers[submission_id]
        readers.discard(reader)
        if not readers:
            del self._readers[submission_id]


def _batch(c: Connection, submission_id: str, after: int) -> tuple[list[StoredEvent], int | None]:
    """Events, and the id of the last one if the submission has its verdict."""
    record = submissions.get(c, submission_id)
    if record is None:
        raise SubmissionNotFound(submission_id)
    batch = stored.after(c, submission_id, after, BUFFERED)
    return batch, record.last_event_id if record.state is SubmissionState.DONE else None
